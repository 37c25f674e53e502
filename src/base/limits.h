/* limits.h - the most of everything that outside bytes can make grow.
 *
 * One row a limit: name, value, what it bounds. `talaria help limits` prints the table. */
#ifndef TALARIA_BASE_LIMITS_H
#define TALARIA_BASE_LIMITS_H

#include <stddef.h>

#define KIB(n) ((size_t)(n) << 10)
#define MIB(n) ((size_t)(n) << 20)

#define LIMITS(X)                                                                                  \
    X(LIMIT_JSON_BYTES, MIB(64), "one JSON document")                                              \
    X(LIMIT_JSON_DEPTH, 512, "levels of nesting in JSON")                                          \
    X(LIMIT_TEMPLATE_BYTES, MIB(8), "one template file")                                           \
    X(LIMIT_TEMPLATES, 10000, "template files in a folder")                                        \
    X(LIMIT_EXAMPLE_CHARS, 4000, "result text of one template example, in bytes")                  \
    X(LIMIT_TEMPLATE_TOKENS, 8000, "estimated tokens of a whole template")                         \
    X(LIMIT_EXAMPLES, 1000, "examples in a template")                                              \
    X(LIMIT_STDIN_BYTES, MIB(64), "messages read from standard input")                             \
    X(LIMIT_CELL_BYTES, MIB(64), "one message of a session")                                       \
    X(LIMIT_LINEAGE_PARTS, 1000, "parts of one lineage")                                           \
    X(LIMIT_HOMES, 64, "homes read as one history")                                                \
    X(LIMIT_CONFIG_BYTES, MIB(1), "the configuration file")                                        \
    X(LIMIT_SETTING_DEPTH, 8, "levels of nesting in the configuration file")                       \
    X(LIMIT_PATH_BYTES, 4096, "a path")                                                            \
    X(LIMIT_OUTPUT_BYTES, MIB(256), "text put together in memory before it is written")            \
    X(LIMIT_HTTP_CONNECTIONS, 4096, "connections of the server")                                   \
    X(LIMIT_HTTP_HEAD, KIB(16), "head of a request, and what the server keeps of a connection")    \
    X(LIMIT_HTTP_BODY, MIB(8), "body of a request")                                                \
    X(LIMIT_HTTP_JOBS, 1024, "requests that wait for a worker")                                    \
    X(LIMIT_HTTP_STREAMS, 2048, "open event streams")                                              \
    X(LIMIT_HTTP_BACKLOG, KIB(256), "events that wait for one slow reader, in bytes")              \
    X(LIMIT_HTTP_PAGE, 500, "sessions or messages in one answer")                                  \
    X(LIMIT_HTTP_PAGE_BYTES, MIB(4), "bytes after which a page of messages ends")                  \
    X(LIMIT_HTTP_TEXT, KIB(256), "text of one message on the page; the rest is left out")          \
    X(LIMIT_HTTP_HEAD_MS, 10000, "milliseconds for the head of a request")                         \
    X(LIMIT_HTTP_BODY_MS, 30000, "milliseconds for the body of a request")                         \
    X(LIMIT_HTTP_IDLE_MS, 75000, "milliseconds until the next request on a connection")            \
    X(LIMIT_HTTP_DRAIN_MS, 5000, "milliseconds that the end of the server waits for requests")     \
    X(LIMIT_TRANSCRIPT_LINE, MIB(4), "a line of a transcript; longer ones are read in passing")    \
    X(LIMIT_TRANSCRIPT_BYTES, MIB(256), "text of one transcript shown or exported at once")        \
    X(LIMIT_TRANSCRIPT_FILES, 1000000, "transcripts below a root")                                 \
    X(LIMIT_REDACT_WINDOW, KIB(64), "text the redactor holds back while a secret may go on")

enum {
#define X(name, value, what) name = (value),
    LIMITS(X)
#undef X
};

#endif

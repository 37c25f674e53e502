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
    X(LIMIT_SNAPSHOT_BYTES, MIB(64), "an answer of the achievements that is read back")            \
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
    X(LIMIT_SLEEP_ANSWERS, 200000, "answers of models that sleep keeps")                           \
    X(LIMIT_TRACE_TEXT, KIB(16), "one request or answer, as a night keeps it")                     \
    X(LIMIT_TRACE_TURNS, 500, "requests of one session that a night looks at")                     \
    X(LIMIT_TRANSCRIPT_FILES, 1000000, "transcripts below a root")                                 \
    X(LIMIT_SLEEP_PATTERN, KIB(4), "a regular expression in a judge")                              \
    X(LIMIT_SLEEP_CHECKS, 64, "checks of one judge")                                               \
    X(LIMIT_SLEEP_DOCUMENT, MIB(1), "a skill or memory document")                                  \
    X(LIMIT_SLEEP_RULE_CHARS, 2000, "characters of one learned rule")                              \
    X(LIMIT_SLEEP_RULES, 1000, "learned rules in a document")                                      \
    X(LIMIT_SLEEP_FILE, MIB(32), "state, report or journal of sleep")                              \
    X(LIMIT_SLEEP_NIGHTS, 10000, "nights in the staging folder")                                   \
    X(LIMIT_SLEEP_SKILLS, 256, "skills that one night proposes to change")                         \
    X(LIMIT_SLEEP_ROOTS, 1024, "folders in which skills are looked up")                            \
    X(LIMIT_SLEEP_ARCHIVE, 300, "tasks of a project that sleep remembers")                         \
    X(LIMIT_SLEEP_HISTORY, 1000, "nights in the history of sleep's state")                         \
    X(LIMIT_SLEEP_EVIDENCE, 4000, "characters of one text in the evidence of a night")             \
    X(LIMIT_CRONTAB_BYTES, MIB(1), "the user's crontab")                                           \
    X(LIMIT_NET_REQUESTS, 4096, "outgoing requests at once")                                       \
    X(LIMIT_NET_IDLE_CONNECTIONS, 64, "connections kept for the next request")                     \
    X(LIMIT_NET_HEAD, KIB(64), "head of an answer to us")                                          \
    X(LIMIT_SSE_LINE, MIB(1), "a line of an event stream that we read")                            \
    X(LIMIT_SSE_EVENT, MIB(4), "an event of such a stream")                                        \
    X(LIMIT_NDJSON_LINE, MIB(16), "a line that a child writes")                                    \
    X(LIMIT_CHILDREN, 64, "child processes at once")                                               \
    X(LIMIT_CHILD_INPUT, MIB(16), "input that a child has not read yet")                           \
    X(LIMIT_MODEL_REQUEST, MIB(32), "a request to a model")                                        \
    X(LIMIT_MODEL_ANSWER, MIB(16), "an answer of a model: text, reasoning and calls")              \
    X(LIMIT_MODEL_CALLS, 128, "tool calls in one answer of a model")                               \
    X(LIMIT_MODEL_QUEUE, 4096, "calls of one model that wait for their turn")                      \
    X(LIMIT_MODEL_TRIES, 5, "times that a call of a model is tried")                               \
    X(LIMIT_MODEL_RETRY_MS, 120000, "milliseconds in which a failed call is tried again")          \
    X(LIMIT_MODEL_CONNECT_MS, 5000, "milliseconds until a model has to be connected")              \
    X(LIMIT_MODEL_FIRST_MS, 120000, "milliseconds until the first byte of an answer")              \
    X(LIMIT_MODEL_IDLE_MS, 120000, "milliseconds between two bytes of an answer")                  \
    X(LIMIT_MODEL_TOTAL_MS, 600000, "milliseconds for a call of a model, with all tries")          \
    X(LIMIT_RECALL_SAID, KIB(64), "text of one message that the search index takes")               \
    X(LIMIT_RECALL_DOCS, 65535, "messages, and calls with results, of a session in the index")     \
    X(LIMIT_SEARCH_QUERY, KIB(4), "a search query")                                                \
    X(LIMIT_SEARCH_TERMS, 24, "words of a search query; more are left out")                        \
    X(LIMIT_SEARCH_HITS, 500, "hits of one search")                                                \
    X(LIMIT_REDACT_WINDOW, KIB(64), "text the redactor holds back while a secret may go on")

enum {
#define X(name, value, what) name = (value),
    LIMITS(X)
#undef X
};

#endif

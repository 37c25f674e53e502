/* limits.h - the most of everything that outside bytes can make grow.
 *
 * One row a limit: name, value, what it bounds. `talaria help limits` prints the table. */
#ifndef TALARIA_BASE_LIMITS_H
#define TALARIA_BASE_LIMITS_H

#include <stdint.h>

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
    X(LIMIT_READ_STEP_MS, 30000, "milliseconds of one step in a database that is only read")       \
    X(LIMIT_ACTIVITY_KEPT, 4096, "sessions of a home before their last activity is kept")          \
    X(LIMIT_ACTIVITY_NEW, 20000, "new messages that are added to what is kept")                    \
    X(LIMIT_CODEX_INDEX_BYTES, MIB(32), "the names of Codex threads")                              \
    X(LIMIT_CODEX_BASES, 64, "rollouts of Codex that go on from each other")                       \
    X(LIMIT_LINEAGE_PARTS, 1000, "parts of one lineage")                                           \
    X(LIMIT_HOMES, 64, "homes read as one history")                                                \
    X(LIMIT_CONFIG_BYTES, MIB(1), "the configuration file")                                        \
    X(LIMIT_SETTING_DEPTH, 8, "levels of nesting in the configuration file")                       \
    X(LIMIT_PATH_BYTES, 4096, "a path")                                                            \
    X(LIMIT_OUTPUT_BYTES, MIB(256), "text put together in memory before it is written")            \
    X(LIMIT_SNAPSHOT_BYTES, MIB(64), "an answer of the achievements that is read back")            \
    X(LIMIT_HTTP_CONNECTIONS, 16384, "connections of the server")                                  \
    X(LIMIT_HTTP_HEAD, KIB(16), "head of a request, and what the server keeps of a connection")    \
    X(LIMIT_HTTP_BODY, MIB(8), "body of a request that carries files or a whole conversation")     \
    X(LIMIT_HTTP_FIELDS, KIB(64), "body of a request that carries a few fields")                   \
    X(LIMIT_HTTP_AUTH, KIB(4), "body of a request that signs in")                                  \
    X(LIMIT_HTTP_BODIES, MIB(64), "bodies of all requests with a token, together")                 \
    X(LIMIT_HTTP_OPEN_BODIES, MIB(16), "bodies of all requests without a token, together")         \
    X(LIMIT_HTTP_JOBS, 1024, "requests that wait for a worker")                                    \
    X(LIMIT_HTTP_STREAMS, 12288, "open event streams")                                             \
    X(LIMIT_HTTP_BACKLOG, KIB(256), "events that wait for one slow reader, in bytes")              \
    X(LIMIT_HTTP_PAGE, 500, "sessions or messages in one answer")                                  \
    X(LIMIT_HTTP_PAGE_BYTES, MIB(4), "bytes after which a page of messages ends")                  \
    X(LIMIT_HTTP_TEXT, KIB(256), "text of one message on the page; the rest is left out")          \
    X(LIMIT_HTTP_HEAD_MS, 10000, "milliseconds for the head of a request")                         \
    X(LIMIT_HTTP_BODY_MS, 30000, "milliseconds for the body of a request")                         \
    X(LIMIT_HTTP_IDLE_MS, 75000, "milliseconds until the next request on a connection")            \
    X(LIMIT_HTTP_DRAIN_MS, 5000, "milliseconds that the end of the server waits for requests")     \
    X(LIMIT_OPENAI_CHATS, 4096, "turns of OpenAI's clients that are known when they go on")        \
    X(LIMIT_SERVICE_MODELS, 512, "models that the conversations of one process ask")               \
    X(LIMIT_RUNS, 4096, "runs at once")                                                            \
    X(LIMIT_RUN_TEXT, MIB(16), "text of one answer")                                               \
    X(LIMIT_RUN_LOG, MIB(64), "events of one run: words, thoughts, tools")                         \
    X(LIMIT_RUN_ASK, MIB(1), "text of one request to an agent")                                    \
    X(LIMIT_FILE_FOLDERS, 1000000, "conversations with files that are looked through")             \
    X(LIMIT_TITLE, 1000, "bytes in the title that is given to a conversation")                     \
    X(LIMIT_MODEL_NAME, 256, "bytes in the name of a model that a turn asks for")                  \
    X(LIMIT_RUN_HISTORY, 40, "turns of a conversation that a runtime without memory is given")     \
    X(LIMIT_RUN_GAP, KIB(16), "what a runtime is told of turns made elsewhere")                    \
    X(LIMIT_RUN_BEAT_MS, 15000, "milliseconds of silence before a sign of life on a stream")       \
    X(LIMIT_RUN_SLOW_MS, 10000, "milliseconds in which the reader of a stream must read")          \
    X(LIMIT_RUN_KEEP_DAYS, 30, "days for which the events of a run are kept")                      \
    X(LIMIT_CHAT_HISTORY, 1000, "messages that the terminal's arrow keys bring back")              \
    X(LIMIT_CHAT_HISTORY_ENTRY, KIB(4), "such a message; longer ones are not remembered")          \
    X(LIMIT_CHAT_HISTORY_BYTES, MIB(16), "the file that they are kept in")                         \
    X(LIMIT_CHAT_ID, 200, "bytes of what a platform calls a chat")                                 \
    X(LIMIT_CHAT_QUEUE, 16, "messages that wait in the terminal for the turn under way")           \
    X(LIMIT_FILE_BYTES, MIB(5), "a file given to a conversation")                                  \
    X(LIMIT_FILES, 64, "files of one conversation")                                                \
    X(LIMIT_FILE_NAME, 200, "bytes in the name of such a file")                                    \
    X(LIMIT_TRANSCRIPT_LINE, MIB(4), "a line of a transcript; longer ones are read in passing")    \
    X(LIMIT_TRANSCRIPT_BYTES, MIB(256), "text of one transcript shown or exported at once")        \
    X(LIMIT_SLEEP_ANSWERS, 200000, "answers of models that sleep keeps")                           \
    X(LIMIT_TRACE_TEXT, KIB(16), "one request or answer, as a night keeps it")                     \
    X(LIMIT_TRACE_TURNS, 500, "requests of one session that a night looks at")                     \
    X(LIMIT_PACKED_BYTES, MIB(256), "a compressed transcript, unpacked")                           \
    X(LIMIT_TRANSCRIPT_FILES, 1000000, "transcripts below a root")                                 \
    X(LIMIT_SLEEP_PATTERN, KIB(4), "a regular expression in a judge")                              \
    X(LIMIT_SLEEP_CHECKS, 64, "checks of one judge")                                               \
    X(LIMIT_SLEEP_DOCUMENT, MIB(1), "a skill or memory document")                                  \
    X(LIMIT_SLEEP_RULE_CHARS, 2000, "characters of one learned rule")                              \
    X(LIMIT_SLEEP_RULES, 1000, "learned rules in a document")                                      \
    X(LIMIT_SLEEP_FILE, MIB(32), "state, report or journal of sleep")                              \
    X(LIMIT_SLEEP_KEPT, MIB(64), "what a harvest gave out, kept for the next")                     \
    X(LIMIT_SLEEP_NIGHTS, 10000, "nights in the staging folder")                                   \
    X(LIMIT_SLEEP_SKILLS, 256, "skills that one night proposes to change")                         \
    X(LIMIT_SLEEP_ROOTS, 1024, "folders in which skills are looked up")                            \
    X(LIMIT_SLEEP_ARCHIVE, 300, "tasks of a project that sleep remembers")                         \
    X(LIMIT_SLEEP_HAD, 10000, "tasks of a project that sleep knows it has had")                    \
    X(LIMIT_SLEEP_HISTORY, 1000, "nights in the history of sleep's state")                         \
    X(LIMIT_SLEEP_EVIDENCE, 4000, "characters of one text in the evidence of a night")             \
    X(LIMIT_SLEEP_EVIDENCE_BYTES, MIB(64), "the evidence of a night")                              \
    X(LIMIT_SLEEP_EDITS, 64, "edits that a night may propose at a time")                           \
    X(LIMIT_SLEEP_ROLLOUTS, 64, "attempts at a task that teaches")                                 \
    X(LIMIT_SLEEP_DREAMS, 64, "variants of a task that teaches")                                   \
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
    X(LIMIT_RUN_TOOLS, 256, "tools of a runtime that are under way at once")                       \
    X(LIMIT_RUN_MESSAGE, MIB(1), "one message of a runtime, as it is kept for a restart")          \
    X(LIMIT_RUN_TRACE, KIB(256), "trace of a turn: what a runtime really sent, the newest of it")  \
    X(LIMIT_RUN_HANDLE, KIB(512), "what a runtime needs to go on with a conversation")             \
    X(LIMIT_RUN_PROMPT, MIB(4), "what a runtime is told in a turn")                                \
    X(LIMIT_RUN_FILE, KIB(64), "a file that is put into the prompt; larger ones are named")        \
    X(LIMIT_RUN_ROUNDS, 12, "rounds of tools in a turn of the native runtime")                     \
    X(LIMIT_RUN_LINES, 20, "lines of a runtime that make no sense before it counts as broken")     \
    X(LIMIT_RUN_TRIES, 3, "times that a turn is begun while nothing was said")                     \
    X(LIMIT_RUN_CONNECT_MS, 5000, "milliseconds until a runtime has to be connected")              \
    X(LIMIT_RUN_FIRST_MS, 60000, "milliseconds until a runtime says anything")                     \
    X(LIMIT_RUN_IDLE_MS, 120000, "milliseconds in which a runtime sends nothing")                  \
    X(LIMIT_RUN_PROGRESS_MS, 600000, "milliseconds in which a runtime says nothing new")           \
    X(LIMIT_MODELS, 32, "models with a name of their own in the configuration")                    \
    X(LIMIT_RUN_TOTAL_MS, 3600000, "milliseconds for a turn")                                      \
    X(LIMIT_RECALL_SAID, KIB(64), "text of one message that the search index takes")               \
    X(LIMIT_RECALL_DOCS, 65535, "messages, and calls with results, of a session in the index")     \
    X(LIMIT_SEARCH_QUERY, KIB(4), "a search query")                                                \
    X(LIMIT_SEARCH_TERMS, 24, "words of a search query; more are left out")                        \
    X(LIMIT_SEARCH_HITS, 500, "hits of one search")                                                \
    X(LIMIT_SKILLS, 2000, "skills on this machine")                                                \
    X(LIMIT_SKILL_ROOTS, 128, "folders in which skills are looked up for a request")               \
    X(LIMIT_SKILL_BYTES, KIB(512), "one SKILL.md")                                                 \
    X(LIMIT_NOTES, 5000, "files in the folder of notes")                                           \
    X(LIMIT_NOTE_BYTES, MIB(1), "one file of notes")                                               \
    X(LIMIT_MEMORY_BYTES, KIB(256), "a file of what is remembered of the user")                    \
    X(LIMIT_REQUEST_READ, KIB(16), "of a request that is looked at for steps and words")           \
    X(LIMIT_STEP_TEXT, KIB(1), "of a step that is put together of several lines")                  \
    X(LIMIT_CONTEXT_MS, 400, "milliseconds after which a turn goes on without more context")       \
    X(LIMIT_CONTEXT_BYTES, KIB(512), "context that is put together for a turn")                    \
    X(LIMIT_HANDOFF_MS, 900000, "milliseconds in which a gateway has to take a handoff")           \
    X(LIMIT_HANDOFFS_RECENT, 1000, "handoffs that are looked at again after they were done")       \
    X(LIMIT_LOG_AGAIN_MS, 60000, "milliseconds after which a warning is repeated")                 \
    X(LIMIT_LONGEST_WAIT_MS, 3600000,                                                              \
      "milliseconds for which a handoff or a queued message may be put off")                       \
    X(LIMIT_HANDOFF_LOCK_MS, 2000,                                                                 \
      "milliseconds for which a handoff waits for a database of others")                           \
    X(LIMIT_HANDOFF_COPY_MS, 10000,                                                                \
      "milliseconds in which the copy of a session has to be written, once it was promised")       \
    X(LIMIT_COPY_MESSAGES, 20000, "messages of a session that goes to Hermes as a copy")           \
    X(LIMIT_PLACE_BYTES, KIB(64),                                                                  \
      "a place in a chat, its session key, an entry of the routing table")                         \
    X(LIMIT_CALL_BODY, MIB(16), "answer of a chat platform, and one of its frames")                \
    X(LIMIT_WS_CONNECT_S, 10, "seconds for each step until a WebSocket is open")                   \
    X(LIMIT_WS_CLOSE_S, 2, "seconds for the other end to agree that a WebSocket closes")           \
    X(LIMIT_WS_SILENT_S, 30, "seconds of silence after which its other end is asked for a sign")   \
    X(LIMIT_PLATFORM_CALL_MS, 20000, "milliseconds for one call of a chat platform")               \
    X(LIMIT_DISCORD_FRAMES, MIB(64), "what Discord's gateway has sent and nobody has read yet")    \
    X(LIMIT_DISCORD_CHANNELS, 100000, "channels of Discord that are remembered")                   \
    X(LIMIT_UPDATE_BYTES, MIB(1), "one update of a chat platform")                                 \
    X(LIMIT_INBOUND_FILES, 10, "files of one message of a chat platform that are read")            \
    X(LIMIT_INBOUND_FILES_MS, 60000, "milliseconds in which they are fetched")                     \
    X(LIMIT_GATEWAY_TURNS, 32, "turns of chat platforms at once")                                  \
    X(LIMIT_GATEWAY_WAITING, 1000,                                                                 \
      "messages of chat platforms that wait in memory for their turn")                             \
    X(LIMIT_APPROVAL_MS, 300000, "milliseconds for an answer to what an agent asks in a chat")     \
    X(LIMIT_LEFT_NOTE_MS, 3600000,                                                                 \
      "milliseconds in which a place is told that its session has left")                           \
    X(LIMIT_GATEWAY_HANDOFFS, 16, "handoffs that are carried out at once")                         \
    X(LIMIT_GATEWAY_END_MS, 8000, "milliseconds that the end of the gateway may take")             \
    X(LIMIT_INBOX, 100000, "updates that wait; beyond it platforms are not read for a while")      \
    X(LIMIT_INBOX_IGNORED, 10000, "ignored updates that are remembered, without their text")       \
    X(LIMIT_INBOX_KEEP_DAYS, 30, "days for which an update is remembered, and what was answered")  \
    X(LIMIT_LOCAL_TEXT, KIB(64), "a message that is written in the local chat")                    \
    X(LIMIT_ENTITIES, 100, "stretches of one message that look different from the rest")           \
    X(LIMIT_MARKDOWN_BYTES, KIB(64), "text that is shown as Markdown; longer text is shown plain") \
    X(LIMIT_MARKDOWN_CELLS, 20000, "cells of the tables in one text; more are shown as typed")     \
    X(LIMIT_MARKDOWN_NESTING, 1000000, "lines times levels of nesting in Markdown")                \
    X(LIMIT_MARKDOWN_MEMORY, 512, "bytes of memory for a byte of Markdown")                        \
    X(LIMIT_MARKDOWN_OUTPUT, 64, "bytes of HTML for a byte of Markdown")                           \
    X(LIMIT_YAML_BYTES, MIB(1), "a YAML document")                                                 \
    X(LIMIT_YAML_FLOW, 32, "levels of [ and { in YAML")                                            \
    X(LIMIT_YAML_DEPTH, 64, "levels of nesting in YAML")                                           \
    X(LIMIT_YAML_NODES, 50000, "values in a YAML document, with those that aliases repeat")        \
    X(LIMIT_YAML_ANCHORS, 1000, "anchors in a YAML document")                                      \
    X(LIMIT_FRONT_MATTER, KIB(64), "front matter of a skill")                                      \
    X(LIMIT_REDACT_WINDOW, KIB(64), "text the redactor holds back while a secret may go on")

enum {
#define X(name, value, what) name = (value),
    LIMITS(X)
#undef X
};

/* What a history may claim of one session or call, tokens for example; more is cut, so that
 * millions can be added. Not in the table, whose values are ints. */
#define LIMIT_COUNT INT64_C(1000000000000)

#endif

/* session.h - a session, its messages and tool calls, as every feature sees them.
 *
 * The fields are one table each: it makes the struct, the SELECT of the reader and the INSERT of
 * the writer. A column that a database does not have reads as its default. All text is borrowed
 * from the arena or batch that it was read into. */
#ifndef TALARIA_STORE_SESSION_H
#define TALARIA_STORE_SESSION_H

#include "base/arena.h"
#include "base/err.h"

/* The source of a conversation that was one question on the command line; a second turn makes it an
 * ordinary one. */
#define SOURCE_ASK "ask"

/* X(kind, name): TEXT may be absent (p NULL), REAL and INT are 0 where absent.
 * REAL_OR_NULL is written as NULL when 0. */
#define SESSION_FIELDS(X)                                                                          \
    X(TEXT, id)                                                                                    \
    X(TEXT, source)                                                                                \
    X(TEXT, model)                                                                                 \
    X(TEXT, model_config)                                                                          \
    X(TEXT, title)                                                                                 \
    X(TEXT, parent_session_id)                                                                     \
    X(TEXT, end_reason)                                                                            \
    X(TEXT, cwd)                                                                                   \
    X(TEXT, git_branch)                                                                            \
    X(REAL, started_at)                                                                            \
    X(REAL_OR_NULL, ended_at)                                                                      \
    X(REAL_OR_NULL, last_activity_at)                                                              \
    X(REAL_OR_NULL, estimated_cost_usd)                                                            \
    X(REAL_OR_NULL, actual_cost_usd)                                                               \
    X(INT, message_count)                                                                          \
    X(INT, tool_call_count)                                                                        \
    X(INT, input_tokens)                                                                           \
    X(INT, output_tokens)                                                                          \
    X(INT, cache_read_tokens)                                                                      \
    X(INT, cache_write_tokens)                                                                     \
    X(INT, reasoning_tokens)                                                                       \
    X(INT, api_call_count)                                                                         \
    X(INT, archived)

#define MESSAGE_FIELDS(X)                                                                          \
    X(TEXT, session_id)                                                                            \
    X(TEXT, role)                                                                                  \
    X(TEXT, content)                                                                               \
    X(TEXT, tool_call_id)                                                                          \
    X(TEXT, tool_calls) /* JSON text in the OpenAI shape */                                        \
    X(TEXT, tool_name)                                                                             \
    X(TEXT, finish_reason)                                                                         \
    X(TEXT, reasoning)                                                                             \
    X(TEXT, display_kind) /* how it is shown, where that is special: "side_chain" */               \
    X(REAL, timestamp)                                                                             \
    X(INT, token_count)                                                                            \
    X(INT, active)                                                                                 \
    X(INT, compacted)

#define FIELD_TYPE_TEXT         Str
#define FIELD_TYPE_REAL         double
#define FIELD_TYPE_REAL_OR_NULL double
#define FIELD_TYPE_INT          int64_t

/* The display_kind of a message that was copied from the session which a conversation continues: it
 * is part of the conversation, but counted and found in the session alone. */
#define MESSAGE_CONTINUED "continued"

typedef struct Session {
#define X(kind, name) FIELD_TYPE_##kind name;
    SESSION_FIELDS(X)
#undef X
    size_t home;   /* which of the store's homes */
    int64_t rowid; /* its place there; breaks ties in order */
} Session;

typedef struct Message {
#define X(kind, name) FIELD_TYPE_##kind name;
    MESSAGE_FIELDS(X)
#undef X
    int64_t id;
} Message;

/* A column that we have no field for, as it is stored: its program's own, which we only pass on. */
typedef struct StoredCell {
    Str name;
    enum { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT } kind; /* a blob is CELL_NULL */
    int64_t n;
    double x;
    Str text;
} StoredCell;

/* Whether sessions of this source stand beside a person's own: runs of sub-agents. They are in no
 * list and no count unless they are asked for. */
bool session_is_aside(Str source);

/* A copy with its text. */
Session session_dup(Arena *a, const Session *s);

/* -- tool calls -- */

typedef struct ToolCall {
    Str id, name;
    Str arguments; /* JSON text of an object; "{}" where there was none */
} ToolCall;

/* The calls of one message, in order; calls without a name are passed over. False where the text
 * is no JSON array. */
MUST_CHECK bool toolcalls_read(Arena *a, Str tool_calls, ToolCall **ret, size_t *ret_n);

/* A call and what came back. */
typedef struct Exchange {
    ToolCall call;
    size_t message; /* index of the assistant message that made it */
    bool has_result;
    size_t result; /* index of the tool message, where has_result */
    Str content;   /* its content; empty where there is none */
    bool failed;   /* its program says that it failed, whatever the text */
    size_t turn;   /* how many user messages stand before it */
} Exchange;

/* All calls of a session paired with their results: by tool_call_id; only where a result carries
 * no id, by order among the calls that are still open. */
void exchanges_pair(Arena *a, const Message *messages, size_t n, Exchange **ret, size_t *ret_n);

/* Content as text: structured content (JSON behind a NUL mark) becomes the text of its parts. */
Str message_text(Arena *a, Str content);

#endif

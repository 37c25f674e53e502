/* model.h - what is said to a model, and what it says: the same for every dialect.
 *
 * A request is messages, tools and bounds. An answer is a row of events that ends with exactly one
 * terminal, MODEL_FINISH or MODEL_ERROR. An answer whose stream ends without its own mark of the
 * end is an error (cut), and so is one without text and tool calls (empty): success has to be
 * proved. */
#ifndef TALARIA_MODEL_MODEL_H
#define TALARIA_MODEL_MODEL_H

#include "base/str.h"

/* -- what is said -- */

/* id, name in settings */
#define MODEL_DIALECTS(X)                                                                          \
    X(MODEL_OPENAI_CHAT, "openai-chat")                                                            \
    X(MODEL_OPENAI_RESPONSES, "openai-responses")                                                  \
    X(MODEL_ANTHROPIC, "anthropic")

typedef enum ModelDialect {
#define X(id, name) id,
    MODEL_DIALECTS(X)
#undef X
        MODEL_DIALECT_COUNT
} ModelDialect;

typedef enum ModelRole { MODEL_SYSTEM, MODEL_USER, MODEL_ASSISTANT, MODEL_TOOL } ModelRole;

typedef struct ModelToolCall {
    Str id, name;
    Str arguments; /* one JSON object, checked */
} ModelToolCall;

typedef struct ModelMessage {
    ModelRole role;
    Str text;
    const ModelToolCall *calls; /* of the assistant */
    size_t n_calls;
    Str call_id; /* of a tool: which call its text answers */
    bool failed; /* of a tool: the text says why it did not work */
} ModelMessage;

typedef struct ModelTool {
    Str name, description;
    Str schema; /* JSON schema of the arguments */
} ModelTool;

typedef struct ModelRequest {
    const ModelMessage *messages;
    size_t n_messages;
    const ModelTool *tools;
    size_t n_tools;
    int64_t max_tokens;        /* 0: the server's default; 4096 where the dialect needs one */
    const double *temperature; /* NULL: the server's default */
    const Str *stop;           /* sequences that end the answer; not in openai-responses */
    size_t n_stop;
    bool whole;          /* the answer in one piece instead of a stream */
    int64_t deadline_ms; /* for all of it, waiting and tries included; 0: the model's default */
    /* Hears the bodies of answers as they come, on the loop, with the handler's ctx; NULL:
     * nobody. */
    void (*raw)(void *ctx, Str bytes);
} ModelRequest;

/* -- what comes back -- */

#define MODEL_EVENTS(X)                                                                            \
    X(MODEL_TEXT, "text")                                                                          \
    X(MODEL_REASONING, "reasoning")                                                                \
    X(MODEL_TOOL_CALL, "tool_call")                                                                \
    X(MODEL_RETRY, "retry")                                                                        \
    X(MODEL_USAGE, "usage")                                                                        \
    X(MODEL_FINISH, "finish")                                                                      \
    X(MODEL_ERROR, "error")

typedef enum ModelEventKind {
#define X(id, name) id,
    MODEL_EVENTS(X)
#undef X
} ModelEventKind;

#define MODEL_FINISHES(X)                                                                          \
    X(MODEL_STOP, "stop")                                                                          \
    X(MODEL_LENGTH, "length")                                                                      \
    X(MODEL_TOOL_CALLS, "tool_calls")                                                              \
    X(MODEL_REFUSAL, "refusal")                                                                    \
    X(MODEL_OTHER, "other")

typedef enum ModelFinish {
#define X(id, name) id,
    MODEL_FINISHES(X)
#undef X
} ModelFinish;

/* The closed set of failures: id, name, tried again while nothing was said yet. */
#define MODEL_FAILS(X)                                                                             \
    X(MODEL_FAIL_NONE, "none", false)                                                              \
    X(MODEL_FAIL_AUTH, "auth", false)                                                              \
    X(MODEL_FAIL_RATE_LIMITED, "rate_limited", true)                                               \
    X(MODEL_FAIL_OVERLOADED, "overloaded", true)                                                   \
    X(MODEL_FAIL_TIMEOUT, "timeout", false)                                                        \
    X(MODEL_FAIL_NETWORK, "network", true)                                                         \
    X(MODEL_FAIL_BAD_REQUEST, "bad_request", false)                                                \
    X(MODEL_FAIL_CONTEXT, "context_too_long", false)                                               \
    X(MODEL_FAIL_FILTER, "content_filter", false)                                                  \
    X(MODEL_FAIL_MALFORMED, "malformed", false)                                                    \
    X(MODEL_FAIL_CUT, "cut", true)                                                                 \
    X(MODEL_FAIL_EMPTY, "empty", false)                                                            \
    X(MODEL_FAIL_CANCELLED, "cancelled", false)

typedef enum ModelFailKind {
#define X(id, name, again) id,
    MODEL_FAILS(X)
#undef X
} ModelFailKind;

typedef struct ModelFail {
    ModelFailKind kind;
    int status;             /* of HTTP; 0: none */
    int64_t retry_after_ms; /* as the server asked; -1: it did not */
    bool final;             /* trying again cannot help: no credit left */
    Str message;            /* for people, without secrets */
} ModelFail;

typedef struct ModelUsage {
    int64_t input, output;     /* all tokens, those of the next line included */
    int64_t cached, reasoning; /* read from the server's cache; thought, not said */
    bool estimated;            /* the server told nothing */
} ModelUsage;

/* What it points at lives until the handler returns. */
typedef struct ModelEvent {
    ModelEventKind kind;
    Str text;           /* text, reasoning */
    ModelToolCall call; /* tool_call: whole, arguments are a JSON object */
    ModelUsage usage;   /* usage: before finish, where the server counts */
    ModelFinish finish; /* finish */
    ModelFail fail;     /* error; retry: why */
    int attempt;        /* retry: the number of the next try, from 2 */
    int64_t wait_ms;    /* retry: until then */
} ModelEvent;

typedef void ModelEventFn(void *ctx, const ModelEvent *event);

static inline bool model_event_is_last(const ModelEvent *e)
{
    return e->kind == MODEL_FINISH || e->kind == MODEL_ERROR;
}

const char *model_dialect_name(ModelDialect dialect);
MUST_CHECK bool model_dialect_of(Str name, ModelDialect *ret);
const char *model_event_name(ModelEventKind kind);
const char *model_finish_name(ModelFinish finish);
const char *model_fail_name(ModelFailKind kind);
bool model_fail_is_retried(const ModelFail *fail);

#endif

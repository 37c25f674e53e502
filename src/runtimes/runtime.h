/* runtime.h - what every agent runtime must be able to do, and what it may say.
 *
 * A runtime is a row of functions: one file each knows its peer's protocol and nothing of sessions.
 * It is given a request that was put together for it, and says what happens through one callback,
 * on the loop's thread (net/net.h), in order. After `start` succeeded exactly one terminal event
 * comes, FINISH or FAIL, whatever happens: a peer that hangs is ended by the timers, one that dies
 * is a failure, and success has to be proved (the peer's own mark of success, and text or tool
 * activity). Nothing comes after the terminal event. Error texts of a peer are never TEXT.
 *
 * Handles of continuity are opaque text: only the runtime that wrote one reads it. */
#ifndef TALARIA_RUNTIMES_RUNTIME_H
#define TALARIA_RUNTIMES_RUNTIME_H

#include "base/arena.h"
#include "base/err.h"
#include "model/client.h"
#include "net/net.h"
#include "text/settings.h"

/* X(id, "name") */
#define RUNTIME_EVENTS(X)                                                                          \
    X(RUNTIME_SESSION, "session") /* handle, model, version; mode says how it began */             \
    X(RUNTIME_TEXT, "text")       /* of the answer; a new segment where `segment` grew */          \
    X(RUNTIME_THINK, "thinking")                                                                   \
    X(RUNTIME_TOOL_BEGIN, "tool_begin") /* call_id, name, text: preview of the arguments */        \
    X(RUNTIME_TOOL_UPDATE, "tool_update")                                                          \
    X(RUNTIME_TOOL_END, "tool_end") /* call_id, failed, text: preview of the result */             \
    X(RUNTIME_PLAN, "plan")                                                                        \
    X(RUNTIME_APPROVAL, "approval") /* call_id: its id; text: what is asked; choices */            \
    X(RUNTIME_RETRY, "retry")       /* attempt, text: why */                                       \
    X(RUNTIME_COMPACT, "compaction")                                                               \
    X(RUNTIME_SUBAGENT, "subagent")                                                                \
    X(RUNTIME_USAGE, "usage")                                                                      \
    X(RUNTIME_NOTICE, "notice")                                                                    \
    X(RUNTIME_TRACE, "trace")   /* raw frames and stderr, for the trace alone */                   \
    X(RUNTIME_FINISH, "finish") /* terminal: status, reason */                                     \
    X(RUNTIME_FAIL, "fail")     /* terminal: code, text, http_status */

typedef enum RuntimeEventKind {
#define X(id, name) id,
    RUNTIME_EVENTS(X)
#undef X
} RuntimeEventKind;

/* The closed set of error codes; retryable while nothing was said yet. */
#define RUN_ERRORS(X)                                                                              \
    X(RUN_BAD_REQUEST, "bad_request", false)                                                       \
    X(RUN_UNAUTHORISED, "unauthorised", false)                                                     \
    X(RUN_NOT_FOUND, "not_found", false)                                                           \
    X(RUN_CONFLICT, "conflict", false)                                                             \
    X(RUN_RATE_LIMITED, "rate_limited", true)                                                      \
    X(RUN_STORE_UNAVAILABLE, "store_unavailable", false)                                           \
    X(RUN_RUNTIME_UNAVAILABLE, "runtime_unavailable", true)                                        \
    X(RUN_RUNTIME_AUTH, "runtime_auth", false)                                                     \
    X(RUN_RUNTIME_REJECTED, "runtime_rejected", false)                                             \
    X(RUN_UPSTREAM_ERROR, "upstream_error", true)                                                  \
    X(RUN_EMPTY_RESPONSE, "empty_response", false)                                                 \
    X(RUN_STREAM_TRUNCATED, "stream_truncated", false)                                             \
    X(RUN_PROTOCOL_VIOLATION, "protocol_violation", false)                                         \
    X(RUN_TIMEOUT_CONNECT, "timeout_connect", false)                                               \
    X(RUN_TIMEOUT_FIRST, "timeout_first", false)                                                   \
    X(RUN_TIMEOUT_IDLE, "timeout_idle", false)                                                     \
    X(RUN_TIMEOUT_TOTAL, "timeout_total", false)                                                   \
    X(RUN_CONTINUITY_LOST, "continuity_lost", false)                                               \
    X(RUN_CONTEXT_TOO_LARGE, "context_too_large", false)                                           \
    X(RUN_APPROVAL_DENIED, "approval_denied", false)                                               \
    X(RUN_APPROVAL_TIMEOUT, "approval_timeout", false)                                             \
    X(RUN_CANCELLED, "cancelled", false)                                                           \
    X(RUN_INTERNAL, "internal", false)

typedef enum RunError {
#define X(id, name, retryable) id,
    RUN_ERRORS(X)
#undef X
        RUN_ERROR_COUNT
} RunError;

const char *run_error_name(RunError e);
bool run_error_is_retryable(RunError e);
const char *runtime_event_name(RuntimeEventKind k);

typedef enum RuntimeStatus {
    RUNTIME_COMPLETED,
    RUNTIME_CANCELLED,
    RUNTIME_TRUNCATED
} RuntimeStatus;
typedef enum ContinuityMode {
    CONTINUITY_NEW,
    CONTINUITY_RESUMED,
    CONTINUITY_ROTATED,
    CONTINUITY_LOST
} ContinuityMode;

typedef struct RuntimeUsage {
    int64_t input, output, reasoning, cached, total;
    bool estimated, known;
} RuntimeUsage;

/* What it points at lives until the callback returns. */
typedef struct RuntimeEvent {
    RuntimeEventKind kind;
    Str text;
    int segment; /* of the answer: counts from 0, grows when the agent speaks again after a tool */
    Str name, call_id;
    bool failed;
    int attempt;
    int64_t duration_ms; /* -1: not known */
    Str choices[4];      /* of an approval: once, session, always, deny */
    size_t n_choices;
    Str handle;           /* SESSION, FINISH: how to go on from here; empty: unchanged */
    ContinuityMode mode;  /* SESSION */
    Str model, version;   /* SESSION */
    RuntimeUsage usage;   /* USAGE, FINISH */
    RuntimeStatus status; /* FINISH */
    Str reason;           /* FINISH: "stop", "length", "refusal", ... as the peer said */
    RunError code;        /* FAIL */
    int http_status;      /* FAIL; 0: none */
    Str runtime_code;     /* FAIL: the peer's own word */
} RuntimeEvent;

typedef void RuntimeEventFn(void *ctx, const RuntimeEvent *e);

/* -- what a runtime is given -- */

typedef struct RuntimeFile {
    Str id, name, mime, path; /* a readable file of ours */
    int64_t size;
} RuntimeFile;

typedef struct RuntimeTurn {
    bool from_user;
    Str text;
    double at;
} RuntimeTurn;

/* The prepared context: the only thing an adapter sees of us. */
typedef struct RuntimeRequest {
    Str run_id, conversation_id;
    Str text;      /* what the user said */
    bool internal; /* the user did not: a runtime that keeps the words itself leaves it out */
    const RuntimeFile *files;
    size_t n_files;
    Str context;  /* memory, skills and graph, rendered as one text, fenced; may be empty */
    Str examples; /* of a template, fenced, or as messages (takes_messages); may be empty */
    const RuntimeTurn *history; /* recent turns, oldest first, for runtimes that keep none */
    size_t n_history;
    Str handle; /* of this runtime in this conversation; empty: start again */
    Str gap;    /* turns made elsewhere since that handle, as text; may be empty */
    Str cwd;
    Str model; /* as asked for; empty: the runtime's default */
    int64_t deadline_ms, idle_ms, first_ms, connect_ms;
    int64_t max_tokens;
} RuntimeRequest;

typedef struct RuntimeCaps {
    Str version, model, detail; /* detail: for people, why it is not available where it is not */
    bool available, approvals, resumes, has_model, tools, streams;
    int max_parallel;
} RuntimeCaps;

/* A tool that the native loop may call; runs on a worker, not on the loop. */
typedef struct RuntimeTool {
    Str name, description, schema;
    /* ret: text; false: it failed, err is told to the model. */
    bool (*run)(void *ctx, Arena *a, Str conversation_id, Str arguments, Str *ret, Err *err);
    void *ctx;
} RuntimeTool;

/* What a runtime may use of us. */
typedef struct RuntimeHost {
    Net *net;
    const Settings *settings;
    Str data; /* our own home */
    const RuntimeTool *tools;
    size_t n_tools;
    const RuntimeTool
        *withheld; /* tools whose results in earlier turns are not for whoever asks now */
    size_t n_withheld;
    void (*work)(void *ctx, void (*fn)(void *arg), void *arg); /* runs fn on a worker */
    void *work_ctx;
    /* The configured model, by a name that the user gave or "": shared by all runs, and alive until
     * model_done is called for it. NULL and err: there is none. */
    ModelClient *(*model)(void *ctx, Str name, Err *err);
    void (*model_done)(void *ctx, ModelClient *client); /* or NULL: it outlives all runs */
    void *model_ctx;
    /* The offline runtime's source of passages: fills text for a question. */
    bool (*recall)(void *ctx, Arena *a, Str question, Str conversation_id, Str *ret_text, Err *err);
    void *recall_ctx;
} RuntimeHost;

typedef struct RuntimeRun RuntimeRun;

typedef struct Runtime {
    const char *name;    /* as in RUNTIMES (runtimes.h) */
    const char *alias;   /* "jarvis" for native, as agent_state calls it; or NULL */
    const char *title;   /* for people */
    bool takes_messages; /* examples are given as a JSON list of OpenAI's messages, not as text */
    bool own_tools;      /* it has tools and files of its own: not for guests */
    /* Whether a handle is one that it wrote; NULL: it tells by itself. What others wrote stays as
     * it is. */
    bool (*owns)(Str handle);
    int branches; /* steps of one request that it can do at once; 0, 1: one after the other */

    /* What it can do, and whether it is there; may block up to 2 s. Called on a worker. */
    MUST_CHECK bool (*probe)(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err);

    /* Begins; copies what it needs of the request. Never blocks. On failure no event comes. */
    MUST_CHECK RuntimeRun *(*start)(const RuntimeHost *host, const RuntimeRequest *request,
                                    RuntimeEventFn *fn, void *ctx, Err *err);
    /* Any thread. An answer to an APPROVAL: its id and one of its choices. May be NULL. */
    void (*approve)(RuntimeRun *run, Str id, Str choice);
    /* Any thread, idempotent: leads to a terminal event soon. */
    void (*cancel)(RuntimeRun *run);
    /* After the terminal event, from any thread but inside the callback. */
    void (*free)(RuntimeRun *run);

    /* A recorded stream through the adapter's own parser. dialect may be empty. */
    MUST_CHECK bool (*replay)(Str dialect, Str bytes, RuntimeEventFn *fn, void *ctx, Err *err);
} Runtime;

/* Every runtime there is, in order of preference; ended by NULL. */
extern const Runtime *const runtimes[];
const Runtime *runtime_find(Str name_or_alias); /* NULL: there is none */

#endif

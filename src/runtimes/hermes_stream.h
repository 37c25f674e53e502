/* hermes_stream.h - what a Hermes API server sends, in its four dialects, as events. Knows nothing
 * of connections: a recorded stream goes through here as a live one does. */
#ifndef TALARIA_RUNTIMES_HERMES_STREAM_H
#define TALARIA_RUNTIMES_HERMES_STREAM_H

#include "net/sse.h"
#include "runtimes/teller.h"
#include "text/json.h"

/* id, name, in order of preference */
#define HERMES_DIALECTS(X)                                                                         \
    X(HERMES_SESSION, "session")     /* POST /api/sessions/{id}/chat/stream */                     \
    X(HERMES_RUNS, "runs")           /* POST /v1/runs, GET /v1/runs/{id}/events */                 \
    X(HERMES_RESPONSES, "responses") /* POST /v1/responses */                                      \
    X(HERMES_CHAT, "chat")           /* POST /v1/chat/completions */

typedef enum HermesDialect {
#define X(id, name) id,
    HERMES_DIALECTS(X)
#undef X
        HERMES_DIALECT_COUNT
} HermesDialect;

const char *hermes_dialect_name(HermesDialect d);
MUST_CHECK bool hermes_dialect_of(Str name, HermesDialect *ret);

/* How a turn ended, as far as the stream has told. */
typedef enum HermesEnd {
    HERMES_OPEN, /* it has not */
    HERMES_COMPLETED,
    HERMES_TRUNCATED,
    HERMES_CANCELLED,
    HERMES_FAILED
} HermesEnd;

typedef enum HermesKept { HERMES_NOT_TOLD, HERMES_IS_KEPT, HERMES_IS_NOT_KEPT } HermesKept;

typedef struct HermesStream {
    Teller *t;
    Arena *arena, *line; /* of the turn, of the event at hand */
    HermesDialect dialect;
    SseParser *sse;
    HermesEnd end;
    bool closed;                /* the mark of the end has come: [DONE], done */
    bool waiting;               /* an approval was asked for and not answered */
    Str session, run, response; /* ids that it gave */
    Str text, code, reason;     /* of the failure; of the end */
    RuntimeUsage usage;
    bool has_usage, counts_output;
    size_t pieces;   /* deltas of text that came */
    Buf unsure;      /* text that may be Hermes' own words, held back until the end tells */
    Str whole;       /* the answer as the end has it */
    HermesKept kept; /* whether it is among the messages that the turn has left */
    bool is_empty;   /* it failed because the model said nothing */
    size_t junk;
} HermesStream;

void hermes_stream_init(HermesStream *s, HermesDialect dialect, Teller *t, Arena *a);
void hermes_stream_done(HermesStream *s);

/* False: nothing more is needed, or it cannot be read. */
bool hermes_stream_feed(HermesStream *s, Str bytes);

/* The answer as it is at the server, after a loss: says what is missing of it. */
void hermes_stream_truth(HermesStream *s, Json status);

/* The terminal event. */
void hermes_stream_verdict(HermesStream *s, Str handle);

RunError hermes_code_of(Str text, int status); /* what the words of a failure mean */

/* -- whose words (hermes_verdict.c) -- */

bool hermes_looks_like_error(Str text); /* or may still become such */
HermesKept hermes_kept(Json messages, Str answer);

#endif

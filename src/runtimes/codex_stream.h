/* codex_stream.h - what Codex writes, as events: the lines of `codex exec --json` and those of
 * `codex app-server`, told apart line by line. Knows nothing of processes. */
#ifndef TALARIA_RUNTIMES_CODEX_STREAM_H
#define TALARIA_RUNTIMES_CODEX_STREAM_H

#include "runtimes/teller.h"
#include "text/json.h"

typedef struct CodexStream {
    Teller *t;
    Arena *arena, *line; /* of the turn, of the line at hand */
    bool resuming;
    bool any;        /* a line that made sense */
    bool ready;      /* the app server has introduced itself */
    bool pieces;     /* the message at hand came in pieces */
    bool restarting; /* a try broke off: the next message is the same one again */
    bool over;       /* the turn has ended */
    bool failed, interrupted;
    Str version, thread, turn;
    Str text, kind; /* of the failure */
    int status;     /* of HTTP, in the failure; 0: none */
    Str asked;      /* id of the approval that waits for an answer, as JSON; empty: none */
    Str refused;    /* id of another request of the app server, which is refused; empty: none */
    struct CodexAsk {
        Str id, what;
    } queue[8]; /* approvals that are asked for when that one is answered */
    size_t n_queue;
    int retries;
    size_t junk;
} CodexStream;

void codex_stream_init(CodexStream *s, Teller *t, Arena *a, bool resuming);
void codex_stream_line(CodexStream *s, Str line, bool cut);
/* The approval that waited has its answer: the next one is asked for. */
void codex_stream_answered(CodexStream *s);
void codex_stream_end(CodexStream *s, Str obituary);

#endif

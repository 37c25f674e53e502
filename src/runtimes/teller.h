/* teller.h - how a parser says what happened: one voice for all runtimes.
 *
 * Keeps what every runtime has to keep and none should have to think of: one terminal event and
 * nothing after it; text that is valid UTF-8, however the peer cut it; segments that grow when the
 * agent speaks again after a tool, with a blank line between them; tools that were begun and never
 * ended, closed before the end; previews that are short, without controls and secrets; success only
 * where something was said or done. Knows nothing of connections, so that a recorded stream goes
 * through it as a live one does. Not thread-safe. */
#ifndef TALARIA_RUNTIMES_TELLER_H
#define TALARIA_RUNTIMES_TELLER_H

#include "base/buf.h"
#include "runtimes/runtime.h"

typedef struct OpenTool {
    char *id, *name;
    bool made_up; /* the id: the peer gave none */
    bool begun;   /* the peer said so, before it said the end */
} OpenTool;

typedef struct Teller {
    RuntimeEventFn *fn;
    void *ctx;
    Arena *scratch; /* of one event */
    bool over;
    bool acted; /* a tool was used */
    bool again; /* the next text begins a segment */
    int segment;
    size_t chars;  /* bytes of text that were said */
    size_t breaks; /* line ends at the end of it, up to two */
    size_t late;   /* events that came after the end */
    char held[4];  /* the beginning of a code point whose rest has not come */
    size_t n_held;
    Buf message; /* what was said since the segment began */
    bool replaying;
    size_t replayed; /* bytes of the message that the peer has said again */
    OpenTool *tools;
    size_t n_tools, cap_tools, last_tool;
    OpenTool ended[32]; /* the last ones, in a ring: an end that is said twice is one */
    size_t n_ended;
    RuntimeUsage usage;
} Teller;

void teller_init(Teller *t, RuntimeEventFn *fn, void *ctx);
void teller_done(Teller *t);

/* -- on the way -- */

void teller_session(Teller *t, Str handle, ContinuityMode mode, Str model, Str version);
void teller_text(Teller *t, Str bytes);
void teller_segment(Teller *t); /* what is said next is its own message */
/* The peer begins the present message anew, after a broken connection: what it says again is not
 * said twice; where it says something else, that is its own segment. */
void teller_restart(Teller *t);
void teller_think(Teller *t, Str text);

/* An empty id: one is made up. Begun twice is begun once. */
void teller_tool_begin(Teller *t, Str id, Str name, Str arguments);
void teller_tool_update(Teller *t, Str id, Str text);
/* An empty id: the oldest open one of that name. One that was never begun is begun first; the end
 * of one that was begun and has ended is said twice, and counts once. */
void teller_tool_end(Teller *t, Str id, Str name, bool failed, Str result, int64_t duration_ms);

void teller_approval(Teller *t, Str id, Str what, const char *choices); /* "once|deny" */
void teller_approved(Teller *t, Str id, Str choice);
void teller_retry(Teller *t, int attempt, Str why);
void teller_usage(Teller *t, const RuntimeUsage *usage);
/* NOTICE, PLAN, COMPACT, SUBAGENT. */
void teller_say(Teller *t, RuntimeEventKind kind, Str name, Str text);
void teller_trace(Teller *t, Str bytes);

/* -- the end: the first of these counts -- */

/* COMPLETED without text and without a tool is a failure: empty_response. */
void teller_finish(Teller *t, RuntimeStatus status, Str reason, Str handle);
void teller_fail(Teller *t, RunError code, Str text, int http_status, Str runtime_code);

/* -- helpers -- */

/* For people: at most 500 characters, escapes and controls gone, secrets taken out. */
Str preview(Arena *a, Str text);
/* The code of an HTTP answer that is no success. */
RunError run_error_of_status(int status);

#endif

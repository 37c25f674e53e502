/* run.h - what all running turns have in common, for the files of this room.
 *
 * A run begins with a RuntimeRun and is touched on the loop's thread alone; start, cancel, approve
 * and free come from other threads as posted work. It counts what is out for it (a request, a
 * child, a tool on a worker): run_hold before it goes out, run_drop when it has come back. When the
 * last one is back, the run must have said its terminal event; where it was stopped, run_drop says
 * it. Freed when its owner has let go of it and nothing is out. */
#ifndef TALARIA_RUNTIMES_RUN_H
#define TALARIA_RUNTIMES_RUN_H

#include "runtimes/teller.h"

typedef struct RunKind {
    size_t size;                    /* of the struct that begins with a RuntimeRun */
    void (*begin)(RuntimeRun *run); /* the first thing on the loop */
    void (*stop)(RuntimeRun *run);  /* cancels what is out; may be called twice */
    void (*approve)(RuntimeRun *run, Str id, Str choice); /* or NULL */
    void (*dispose)(RuntimeRun *run);                     /* or NULL */
} RunKind;

struct RuntimeRun {
    const RunKind *kind;
    RuntimeHost host;
    Net *net;
    Arena *arena;
    RuntimeRequest request; /* a copy */
    Teller teller;
    NetTimer timer;
    int64_t began, heard, moved; /* heard: any byte; moved: something that was not a sign of life */
    int64_t linger_at;           /* it has said all; when it is made to end; 0: not yet */
    bool first;                  /* something was heard */
    bool waiting;                /* for an answer to an approval: nobody is late meanwhile */
    bool cancelled, stopping, timed_out, released;
    RunError late; /* which time it was that passed */
    int out;
};

/* Copies the request; a limit of 0 is the one of limits.h. */
RuntimeRun *run_new(const RunKind *kind, const RuntimeHost *host, const RuntimeRequest *request,
                    RuntimeEventFn *fn, void *ctx);
void run_begin(RuntimeRun *run); /* from here on exactly one terminal event comes */

/* -- any thread: the rows of a Runtime -- */

void run_approve(RuntimeRun *run, Str id, Str choice);
void run_cancel(RuntimeRun *run);
void run_free(RuntimeRun *run);

/* -- on the loop -- */

void run_hold(RuntimeRun *run);
void run_drop(RuntimeRun *run); /* the run may be gone afterwards */

void run_heard(RuntimeRun *run, bool moved);
/* All was said; what is still there is made to end after so many milliseconds. */
void run_linger(RuntimeRun *run, int64_t ms);
int64_t run_left_ms(const RuntimeRun *run); /* of the whole turn; at least 1 */

#endif

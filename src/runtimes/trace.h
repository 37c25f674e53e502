/* trace.h - the last of what a runtime really sent, without its secrets: for the attachment that
 * shows what happened, never for the visible text. Keeps the newest LIMIT_RUN_TRACE bytes. */
#ifndef TALARIA_RUNTIMES_TRACE_H
#define TALARIA_RUNTIMES_TRACE_H

#include "base/arena.h"
#include "base/buf.h"

typedef struct RunTrace {
    Buf text;
    size_t dropped; /* bytes that had to go */
} RunTrace;

void run_trace_init(RunTrace *t);
void run_trace_done(RunTrace *t);

/* One frame or some lines; a line feed is added where there is none. */
void run_trace_add(RunTrace *t, Str bytes);

/* All of it, from a whole line on; borrowed. */
Str run_trace_text(const RunTrace *t);

#endif

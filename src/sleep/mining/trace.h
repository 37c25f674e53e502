/* trace.h - a session reduced to its requests, answers and outcome.
 *
 * Built from events of any source. Only messages of a person count as requests: not meta lines,
 * side chains, summaries, commands or interruptions. All text is redacted and bounded, because
 * traces are cached in index.db and sent to files and models. */
#ifndef TALARIA_SLEEP_MINING_TRACE_H
#define TALARIA_SLEEP_MINING_TRACE_H

#include "sleep/task/types.h"
#include "transcripts/catalogue.h"

typedef struct TraceBuilder TraceBuilder;

TraceBuilder *trace_begin(void);
TraceBuilder *trace_drop(TraceBuilder *b);
AUTO_FREE(TraceBuilder, trace_drop)

void trace_event(TraceBuilder *b, const Event *e);

/* The trace so far, in the arena; the builder can be used again. The entry gives id, project,
 * times. */
void trace_finish(TraceBuilder *b, Arena *a, const Entry *entry, Trace *ret);

/* Sets remark and corrects of every turn, as trace_finish does. For traces made otherwise. */
void trace_judge(Arena *a, Trace *t);

/* The kinds of events that a builder uses, as a bit set. */
unsigned trace_kinds(void);

const SessionDigest *trace_digest(const Trace *t);

/* success, fail, mixed or unknown: the person's last remark on the result; without one, the last
 * test run or revert; without that, mixed for many turns. */
Str trace_outcome(const Trace *t);

/* Whether a person wrote the requests, not sleep, a memory agent or a harness. */
bool trace_is_human(const Trace *t);

#endif

/* trace.h - a session as the night sees it: who asked what, what came of it, how it ended.
 *
 * Built from events of any source. Only words of a person count as requests: meta lines, side chains,
 * summaries, commands and interruptions do not. All text is redacted on its way in, and bounded: a
 * trace is kept in index.db and goes on to files and models. */
#ifndef TALARIA_SLEEP_MINING_TRACE_H
#define TALARIA_SLEEP_MINING_TRACE_H

#include "sleep/task/types.h"
#include "transcripts/catalogue.h"

typedef struct TraceBuilder TraceBuilder;

TraceBuilder *trace_begin(void);
TraceBuilder *trace_drop(TraceBuilder *b);
AUTO_FREE(TraceBuilder, trace_drop)

void trace_event(TraceBuilder *b, const Event *e);

/* What was gathered, in the arena; the builder may begin anew. The entry gives id, project, times. */
void trace_finish(TraceBuilder *b, Arena *a, const Entry *entry, Trace *ret);

/* Fills remark and corrects of every turn: what trace_finish does. For traces made otherwise. */
void trace_judge(Arena *a, Trace *t);

/* The kinds of events that a builder wants, for readers. */
unsigned trace_kinds(void);

const SessionDigest *trace_digest(const Trace *t);

/* success, fail, mixed or unknown: the last judgement of the person; without one, what tools showed
 * at the end; without that, many turns are mixed. */
Str trace_outcome(const Trace *t);

/* Whether a person wrote it, of whose session nothing else is known to the contrary: not one of our own
 * prompts, no memory agent, no replay of a harness. */
bool trace_is_human(const Trace *t);

#endif

/* attribution.h - one consolidation at work: trying documents on tasks, and what each rule is worth.
 *
 * Inside of consolidate only. */
#ifndef TALARIA_SLEEP_LEARNING_ATTRIBUTION_H
#define TALARIA_SLEEP_LEARNING_ATTRIBUTION_H

#include "sleep/learning/consolidate.h"
#include "sleep/learning/edits.h"
#include "sleep/learning/known.h"
#include "sleep/task/split.h"

typedef struct Work {
    Arena *arena;
    Backend *backend;
    const ConsolidateRules *rules;
    KnownEdits *known;
    Budget *budget;
    const ConsolidateWatch *watch;
    Sides sides;
    Docs live, now; /* as they were, and with what was accepted so far */
    Consolidation out;
    bool stopped;      /* the budget is spent */
    const char *spent; /* what of it */
    bool waiting;      /* the skill's edits wait for another night's: so does the memory */
    double alpha_left; /* for the trials that are still to come */
    StrList sources;   /* sessions that tonight's failures come from */
    bool failed, proposed, applied, underpowered; /* for no_edits_reason */
} Work;

Str *work_doc(Docs *docs, Str target);

/* What a result is worth to the gate. */
double work_value(const Work *w, const ReplayResult *r);

/* Sets w->stopped where the budget has no room for so many calls. */
void work_stop(Work *w, int64_t calls);

/* One replay, told to the watch; sets w->stopped instead where the budget is spent. */
MUST_CHECK bool work_replay(Work *w, const ReplayAsk *ask, ReplayResult *ret, Err *err);

/* Mean value of the tasks under the documents; by a few fresh draws where answers vary.
 * values: those of the tasks, or NULL. */
MUST_CHECK bool work_mean(Work *w, const char *phase, const TaskRecords *tasks, Docs docs,
                          double *values, double *ret, Err *err);

/* The document with these edits and without the i-th of them; i = edits->n: with all. */
MUST_CHECK bool work_without(Work *w, Str target, const EditRecords *edits, size_t i, Docs *ret,
                             Err *err);

/* propose.c: edits of the target that are worth a trial, out of what train tasks show. */
MUST_CHECK bool work_propose(Work *w, Str target, EditRecords *ret, Err *err);

/* Edits that make train worse are taken out of the list and rejected. */
MUST_CHECK bool work_screen(Work *w, Str target, EditRecords *edits, Err *err);

/* What each accepted edit adds on val; with a deterministic backend those that add nothing are taken
 * out of the list. trial: that of all of them. */
MUST_CHECK bool work_attribute(Work *w, Str target, EditRecords *edits, const GateResult *trial,
                               Err *err);

/* Counts the rules that are there already, and proposes to delete the ones that are out of date. */
MUST_CHECK bool work_review(Work *w, Str target, Err *err);

void work_reject(Work *w, const EditRecord *edit, Str why, bool remember);

#endif

/* attribution.h - the working state of one consolidation: replaying tasks, and measuring each rule.
 *
 * Only for the files of consolidate. */
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
    Docs live, now; /* before, and with the accepted edits so far */
    Consolidation out;
    bool stopped;      /* the budget is spent */
    const char *spent; /* which limit */
    bool waiting;      /* the skill's edits are pending: so the memory is not tried */
    double alpha_left; /* for the remaining trials */
    StrList sources;   /* sessions of tonight's failing tasks */
    bool failed, proposed, applied, underpowered; /* for no_edits_reason */
} Work;

Str *work_doc(Docs *docs, Str target);

/* The score of a result for the gate. */
double work_value(const Work *w, const ReplayResult *r);

/* Sets w->stopped if the budget does not allow so many calls. */
void work_stop(Work *w, int64_t calls);

/* One replay, reported to the watch; sets w->stopped instead if the budget is spent. */
MUST_CHECK bool work_replay(Work *w, const ReplayAsk *ask, ReplayResult *ret, Err *err);

/* Mean score of the tasks under the documents; by a few fresh draws if answers vary.
 * values: the score of each task, or NULL. */
MUST_CHECK bool work_mean(Work *w, const char *phase, const TaskRecords *tasks, Docs docs,
                          double *values, double *ret, Err *err);

/* The document with these edits and without the i-th of them; i = edits->n: with all. */
MUST_CHECK bool work_without(Work *w, Str target, const EditRecords *edits, size_t i, Docs *ret,
                             Err *err);

/* propose.c: edits of the target that are worth a trial, from the failures of train tasks. */
MUST_CHECK bool work_propose(Work *w, Str target, EditRecords *ret, Err *err);

/* Rejects edits that make train worse and removes them from the list. */
MUST_CHECK bool work_screen(Work *w, Str target, EditRecords *edits, Err *err);

/* Measures what each accepted edit adds on val; with a deterministic backend, removes those that
 * add nothing. trial: the result with all of them. */
MUST_CHECK bool work_attribute(Work *w, Str target, EditRecords *edits, const GateResult *trial,
                               Err *err);

/* Measures existing rules and proposes to delete expired ones. */
MUST_CHECK bool work_review(Work *w, Str target, Err *err);

void work_reject(Work *w, const EditRecord *edit, Str why, bool remember);

#endif

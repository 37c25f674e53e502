/* nights.h - published nights, for the command line and the page: the list, and one in full.
 *
 * Read from the files of each night on every call. A night whose report cannot be read is still
 * listed, with the reason among its notes. */
#ifndef TALARIA_SLEEP_ADOPTION_NIGHTS_H
#define TALARIA_SLEEP_ADOPTION_NIGHTS_H

#include "sleep/adoption/receipts.h"
#include "sleep/adoption/reject.h"
#include "sleep/adoption/report.h"
#include "sleep/task/places.h"

typedef struct NightSummary {
    Str staging; /* its name */
    NightReport report;
    Manifest manifest;
    Receipts receipts;
    bool adopted; /* some of its proposals are adopted */
    bool undone;  /* some were, none is now */
    bool rejected;
    Rejection rejection;
    Str verdict; /* report_verdict of the report */
    bool simulated;
} NightSummary;

/* One night, by its name. */
MUST_CHECK bool night_summary(Arena *a, const SleepHome *home, Str night, NightSummary *ret,
                              Err *err);

/* Newest first; of one project, or of all if project is empty. */
MUST_CHECK bool nights_list(Arena *a, const SleepHome *home, Str project, NightSummary **ret,
                            size_t *ret_n, Err *err);

/* {night, started_at, ended_at, project, backend, model, accepted, gate_action, baseline,
 * candidate, interval, n_tasks, n_sessions, tokens, cost_usd, staging, adopted, undone, rejected,
 *  no_edits_reason, n_proposals} */
void night_put_summary(JsonWriter *w, const NightSummary *n);

/* X(state, word): the live document now. */
#define LIVE_STATES(X)                                                                             \
    X(LIVE_AS_BEFORE, "as_before") /* as the night read it: it can be adopted */                   \
    X(LIVE_ADOPTED, "adopted")     /* as proposed */                                               \
    X(LIVE_CHANGED, "changed")     /* neither */                                                   \
    X(LIVE_UNREADABLE, "unreadable")

typedef enum LiveState {
#define X(state, word) state,
    LIVE_STATES(X)
#undef X
} LiveState;

typedef struct NightSkill {
    StagedItem item;
    Str before, after; /* before: as the night read it, or the live text if that is lost */
    Str diff;
    LiveState live;
    bool adopted;
} NightSkill;

typedef struct Night {
    NightSummary summary;
    LIST_OF(NightSkill) skills;
    Str report_md;
} Night;

MUST_CHECK bool night_load(Arena *a, const SleepHome *home, Str night, Night *ret, Err *err);

/* The summary's fields, then skills, edits, rejected_edits, unmatched_edits, edit_shares, tasks,
 * gate_trials, skill_groups, notes, report_md. */
void night_put(JsonWriter *w, const Night *n);

#endif

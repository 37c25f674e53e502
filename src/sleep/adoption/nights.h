/* nights.h - nights as they are looked at: a list, and one whole, for the command line and the page.
 *
 * Read from the files of each night; nothing is kept. A night whose report cannot be read is still
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
    bool adopted; /* something of it is in place */
    bool undone;  /* something was, and nothing is any more */
    bool rejected;
    Rejection rejection;
} NightSummary;

/* One of them, by its name. */
MUST_CHECK bool night_summary(Arena *a, const SleepHome *home, Str night, NightSummary *ret,
                              Err *err);

/* Newest first; of one project, or of all where project is empty. */
MUST_CHECK bool nights_list(Arena *a, const SleepHome *home, Str project, NightSummary **ret,
                            size_t *ret_n, Err *err);

/* {night, started_at, ended_at, project, backend, model, accepted, gate_action, baseline, candidate,
 *  interval, n_tasks, n_sessions, tokens, cost_usd, staging, adopted, undone, rejected,
 *  no_edits_reason, n_proposals} */
void night_put_summary(JsonWriter *w, const NightSummary *n);

/* X(state, word): what the live document is now. */
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

const char *live_state_name(LiveState state);

typedef struct NightSkill {
    StagedItem item;
    Str before, after; /* before: as the night read it, or what is live now where that is gone */
    Str diff;
    LiveState live;
    bool adopted;
} NightSkill;

typedef struct Night {
    NightSummary summary;
    NightSkill *skills;
    size_t n;
    Str report_md;
} Night;

MUST_CHECK bool night_load(Arena *a, const SleepHome *home, Str night, Night *ret, Err *err);

/* The summary's fields, then skills, edits, rejected_edits, unmatched_edits, edit_shares, tasks,
 * gate_trials, skill_groups, notes, report_md. */
void night_put(JsonWriter *w, const Night *n);

#endif

/* night.h - one night: from people's sessions to a proposal that can be reviewed.
 *
 * harvest -> mine -> replay -> consolidate -> stage. The tasks of the night are saved before the
 * first model call (tonight.json; dryrun.json for a dry run): an interrupted night resumes with the
 * same tasks, takes the answers it has paid for from the store, and comes to the same end. The file
 * is removed once the state is saved. One night runs at a time. Live documents are not changed
 * here. */
#ifndef TALARIA_SLEEP_NIGHT_NIGHT_H
#define TALARIA_SLEEP_NIGHT_NIGHT_H

#include "sleep/adoption/report.h"
#include "sleep/learning/consolidate.h"
#include "sleep/mining/harvest.h"
#include "sleep/mining/mine.h"
#include "sleep/task/places.h"
#include "sleep/task/split.h"
#include "text/settings.h"

#define NIGHT_MANAGED "talaria-learned" /* the skill that sleep manages */

/* Receives the progress of a night instead of the terminal. total is a guess. */
typedef struct NightWatch {
    void *ctx;
    void (*show)(void *ctx, int64_t night, const char *phase, size_t done, size_t total);
} NightWatch;

typedef struct NightOptions {
    HarvestQuery harvest;
    Str target;             /* --target: the one skill that gets all rules; or empty */
    StrList skill_roots;    /* additional skills folders */
    const char *tasks_file; /* reviewed tasks, instead of a harvest; or NULL */
    size_t max_tasks;
    SplitRule split;
    ConsolidateRules rules;
    int64_t dream_factor, recall_k;
    Budget budget;
    bool dry_run;          /* stages nothing and saves no state */
    bool auto_adopt;       /* the caller adopts the managed skill as soon as it is staged */
    bool evidence;         /* record answers and scores */
    size_t evidence_chars; /* of one text in the evidence; see evidence.h */
    bool model_miner;      /* ask the backend how to judge tasks without rules */
    NightWatch watch;      /* show NULL: progress goes to the terminal */
} NightOptions;

/* Options as configured (sleep.* of config.yaml); the caller sets the sources. */
MUST_CHECK bool night_options(Arena *a, const Settings *settings, NightOptions *ret, Err *err);

/* Checks the options after flags were applied. */
MUST_CHECK bool night_options_check(const NightOptions *options, Err *err);

typedef struct NightDone {
    NightReport report;
    Str staging; /* name of the published night; "": nothing was staged */
    Str folder;
    StrList staged_skills; /* names */
    bool has_managed;      /* the managed skill or the memory is among them */
    bool resumed;
    bool tasks_reviewed; /* the tasks file said so */
    bool adopted;        /* for the caller to set */
} NightDone;

/* On failure nothing is staged, and the next run resumes the night. */
MUST_CHECK bool night_run(Arena *a, const NightOptions *options, Backend *backend, NightDone *ret,
                          Err *err);

/* The target skill that a tasks file names; or empty. */
MUST_CHECK bool night_tasks_target(Arena *a, const char *tasks_file, Str *ret, Err *err);

/* The tasks of a night, without replaying anything. */
typedef struct NightPlan {
    TaskRecords tasks;       /* with their splits */
    TaskRecords mined;       /* all new tasks, before the selection */
    SessionDigests sessions; /* that the tasks come from */
    bool reviewed;           /* they come from a file that says so */
    size_t n_sessions, recurring, checkable;
    size_t train, val, test;
    size_t asks;    /* tasks that a model would be asked to describe */
    size_t waiting; /* pending edits of earlier nights */
    bool old_rules; /* there may be expired rules */
} NightPlan;
MUST_CHECK bool night_plan(Arena *a, const NightOptions *options, Backend *backend, NightPlan *ret,
                           Err *err);

/* The maximum cost of a night and what it could learn. */
typedef struct NightWorth {
    NightPlan plan;
    int64_t max_calls, max_tokens;
    double max_usd;      /* < 0: prices are unknown */
    double detectable;   /* the smallest gain that the gate detects with a power of 80 % */
    BudgetPlan good_for; /* what the token budget allows with these tasks */
    Str verdict;         /* "worth", "thin", "nothing" */
    Str text;            /* one sentence for people */
} NightWorth;
MUST_CHECK bool night_worth(Arena *a, const NightOptions *options, Backend *backend,
                            double usd_per_token, NightWorth *ret, Err *err);
/* {sessions, tasks, recurring, checkable, train, val, test, max_calls, max_tokens, max_cost_usd,
 *  detectable_effect, budget_plan: {nights, rollouts}, verdict, text} */
void night_worth_put(JsonWriter *w, const NightWorth *worth);

#endif

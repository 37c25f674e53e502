/* night.h - one night, from what people asked to a proposal that can be reviewed.
 *
 * harvest -> mine -> replay -> consolidate -> stage. What tonight is about is written down before the
 * first model call (tonight.json, dryrun.json for a dry run): a night that was killed goes on with the
 * same tasks, takes the answers it has paid for from the store, and ends as it would have. It is
 * forgotten once the state of the next night is saved. One night at a time. Nothing live is changed
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

#define NIGHT_MANAGED "talaria-learned" /* the skill that sleep keeps by itself */

/* Told how far a night is, where somebody other than a terminal wants to know. total is a guess. */
typedef struct NightWatch {
    void *ctx;
    void (*show)(void *ctx, int64_t night, const char *phase, size_t done, size_t total);
} NightWatch;

typedef struct NightOptions {
    HarvestQuery harvest;
    Str target;             /* --target: the one skill that everything goes to; or empty */
    StrList skill_roots;    /* further folders in which skills are looked up */
    const char *tasks_file; /* tasks that were reviewed, instead of a harvest; or NULL */
    size_t max_tasks;
    SplitRule split;
    ConsolidateRules rules;
    int64_t dream_factor, recall_k;
    Budget budget;
    bool dry_run;          /* everything but staging and the memory of it */
    bool auto_adopt;       /* the caller adopts what sleep keeps itself, as soon as it is staged */
    bool evidence;         /* keep what was said and scored */
    size_t evidence_chars; /* of one text in it; see evidence.h */
    bool model_miner;      /* ask the backend what people insist on, where rules do not tell */
    NightWatch watch;      /* show NULL: progress goes to the terminal */
} NightOptions;

/* As it is configured (sleep.* of config.yaml); whose sessions it is about is for the caller to say. */
MUST_CHECK bool night_options(Arena *a, const Settings *settings, NightOptions *ret, Err *err);

/* What flags have made of it. */
MUST_CHECK bool night_options_check(const NightOptions *options, Err *err);

typedef struct NightDone {
    NightReport report;
    Str staging; /* name of the published night; empty: nothing was staged */
    Str folder;
    StrList staged_skills; /* names */
    bool has_managed;      /* the skill that sleep keeps itself, or the memory, is among them */
    bool resumed;
    bool tasks_reviewed; /* the tasks file said so */
    bool adopted;        /* for the caller to set */
} NightDone;

/* False where something failed: nothing is staged then, and the next run goes on here. */
MUST_CHECK bool night_run(Arena *a, const NightOptions *options, Backend *backend, NightDone *ret,
                          Err *err);

/* The skill that a tasks file is for; empty where it does not say. */
MUST_CHECK bool night_tasks_target(Arena *a, const char *tasks_file, Str *ret, Err *err);

/* What a night would be about, without replaying anything. */
typedef struct NightPlan {
    TaskRecords tasks;       /* with their splits */
    TaskRecords mined;       /* all that is new, before it was chosen from */
    SessionDigests sessions; /* that the tasks come from */
    bool reviewed;           /* they come from a file that says so */
    size_t n_sessions, recurring, checkable;
    size_t train, val, test;
    size_t asks;    /* tasks that a model would be asked about before */
    size_t waiting; /* edits of earlier nights that are tried again */
    bool old_rules; /* there may be rules whose nights are over */
} NightPlan;
MUST_CHECK bool night_plan(Arena *a, const NightOptions *options, Backend *backend, NightPlan *ret,
                           Err *err);

/* Whether it is worth paying for. */
typedef struct NightWorth {
    NightPlan plan;
    int64_t max_calls, max_tokens;
    double max_usd;      /* < 0: prices are not known */
    double detectable;   /* the smallest gain that the gate would see four times in five */
    BudgetPlan good_for; /* what the budget in tokens is good for, with these tasks */
    Str verdict;         /* "worth", "thin", "nothing" */
    Str text;            /* one sentence for people */
} NightWorth;
MUST_CHECK bool night_worth(Arena *a, const NightOptions *options, Backend *backend,
                            double usd_per_token, NightWorth *ret, Err *err);
/* {sessions, tasks, recurring, checkable, train, val, test, max_calls, max_tokens, max_cost_usd,
 *  detectable_effect, budget_plan: {nights, rollouts}, verdict, text} */
void night_worth_put(JsonWriter *w, const NightWorth *worth);

#endif

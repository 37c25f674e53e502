/* night_inside.h - what the files of a night share. */
#ifndef TALARIA_SLEEP_NIGHT_NIGHT_INSIDE_H
#define TALARIA_SLEEP_NIGHT_NIGHT_INSIDE_H

#include "base/file.h"
#include "sleep/adoption/evidence.h"
#include "sleep/adoption/live.h"
#include "sleep/adoption/manifest.h"
#include "sleep/learning/known.h"
#include "sleep/learning/state.h"
#include "sleep/night/night.h"

/* The night in progress: saved before the first call, loaded after a crash. */
typedef struct Tonight {
    int64_t format; /* of the file */
    bool dry_run;   /* in the file's name */
    bool has_tasks; /* false until the mining model has answered everything */
    bool reviewed;
    int64_t paid_before; /* see Backend */
    Str key;             /* hash of the options: with other options a new night begins */
    Str night;           /* name of the folder; empty in a dry run */
    Str started_at;
    Str project;
    int64_t number, n_sessions;
    Str call_error; /* why the backend failed on the last attempt */
    TaskRecords tasks;
} Tonight;

/* Tonight's tasks: those of the file, else those that no night has used or whose sessions were
 * active since the last night. until: see HarvestQuery. budget NULL: only a plan, no model is
 * asked. */
MUST_CHECK bool tonight_tasks(Arena *a, const NightOptions *options, double until, Backend *backend,
                              const StateProject *past, Budget *budget, NightPlan *ret, Err *err);

Str tonight_key(Arena *a, const NightOptions *options, const Backend *backend);
MUST_CHECK bool tonight_load(Arena *a, const SleepHome *home, bool dry_run, Tonight *ret,
                             bool *ret_found, Err *err);
MUST_CHECK bool tonight_save(Arena *a, const SleepHome *home, const Tonight *t, Err *err);
/* The time the night has taken so far, in its own file because it is written often: a crash loses
 * at most a second. 0 if unknown; a failed write is ignored. */
int64_t tonight_elapsed(Arena *a, const SleepHome *home, bool dry_run);
void tonight_note_elapsed(const char *path, int64_t ms);
const char *tonight_clock_path(Arena *a, const SleepHome *home, bool dry_run);
MUST_CHECK bool tonight_forget(Arena *a, const SleepHome *home, bool dry_run, Err *err);

/* Remove what a crash leaves: temporary files, here and in the folder of the night (empty: none);
 * and folders of nights that were never published. */
MUST_CHECK bool tonight_sweep(Arena *a, const SleepHome *home, Str night, Err *err);
MUST_CHECK bool tonight_discard_others(Arena *a, const SleepHome *home, Err *err);

/* -- Night_report.c: what happened, gathered as it happens -- */

/* Reports progress to the watch of the options, else to the terminal. */
void night_show(const NightOptions *options, int64_t night, const char *phase, size_t done,
                size_t total);

typedef LIST_OF(Heard) HeardList;

typedef struct Recorder {
    Arena *arena;
    const NightOptions *options;
    Evidence *evidence;
    bool begun;
    HeardList early;         /* exchanges with the miner, before the evidence file exists */
    SessionDigests sessions; /* of tonight's tasks, and all mined tasks; for the evidence */
    TaskRecords mined;
    NightReport report;
    NoEdits no_edits;           /* of the group that got furthest */
    size_t groups;              /* that learned */
    Docs live;                  /* of the current group */
    size_t done, expected;      /* replays, for progress */
    double baseline, candidate; /* sums over val tasks */
    size_t val;
    double squares;                 /* of the differences, for the interval */
    double test_before, test_after; /* sums over test tasks */
    size_t test;
} Recorder;

ConsolidateWatch recorder_watch(Recorder *r);
/* For Backend.heard; exchanges before recorder_begin are recorded then. */
void recorder_heard(void *ctx, const Heard *exchange);
void recorder_begin(Recorder *r, const Tonight *t, const Backend *b);
/* Adds the result of one skill. */
void recorder_group(Recorder *r, Str skill, const SkillGroup *group, const Consolidation *c);
/* Adds a skill that does not learn tonight: "skipped" or "failed". Its tasks go to the managed
 * skill. */
void recorder_left_out(Recorder *r, const SkillGroup *group, const char *status, Str why);
/* Adds a test task under the old and the new documents. */
void recorder_test(Recorder *r, const TaskRecord *task, const ReplayResult *before,
                   const ReplayResult *after);
void recorder_end(Recorder *r, const Backend *b);
void recorder_note(Recorder *r, Str note);

/* -- The night and its parts -- */

/* One skill that learns tonight, with its live document. */
typedef struct Target {
    Str skill; /* its name */
    ItemKind kind;
    LiveDoc live, memory;
    Docs docs; /* as replayed: a new skill starts with a scaffold */
    SkillGroup group;
    Consolidation done;
} Target;

/* A running night. */
typedef struct Night {
    Arena *arena;
    const NightOptions *options;
    Backend *backend;
    SleepHome home;
    FileLock *lock; /* no other night runs meanwhile */
    SleepState state;
    StateProject *past;
    KnownBook known;
    Tonight tonight;
    bool resumed;
    const char *clock_path;
    Recorder recorder;
    Budget budget;
    PlaceQuery place;
    StrList roots;
    Str managed_path;
    Target *targets;
    size_t n_targets;
} Night;

/* Finds the skills that would learn from these tasks. */
MUST_CHECK bool night_targets(Arena *a, const NightOptions *options, Backend *backend,
                              const TaskRecords *tasks, Night *ret, Err *err);

/* night_learn.c: sets w->targets, lets each of them learn, and measures the result on test
 * tasks. */
MUST_CHECK bool night_find_targets(Night *w, Err *err);
MUST_CHECK bool night_learn(Night *w, Err *err);
MUST_CHECK bool night_measure(Night *w, Err *err);

#endif

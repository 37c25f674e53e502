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

/* What tonight is about: written before the first call, read again after a crash. */
typedef struct Tonight {
    int64_t format; /* of the file */
    bool dry_run;   /* in the file's name */
    bool has_tasks; /* false while the model that mines has not answered everything */
    bool reviewed;
    int64_t paid_before; /* see Backend */
    Str key;             /* of the options: other options are another night */
    Str night;           /* name of the folder; empty in a dry run */
    Str started_at;
    Str project;
    int64_t number, n_sessions;
    Str call_error; /* why it did not end the last time it was tried: who answers had failed */
    TaskRecords tasks;
} Tonight;

/* Tasks of this night: those of the file, else those that no night has had, or whose sessions went on
 * since the last one. until: see HarvestQuery. budget NULL: it is but a plan, and no model is asked. */
MUST_CHECK bool tonight_tasks(Arena *a, const NightOptions *options, double until, Backend *backend,
                              const StateProject *past, Budget *budget, NightPlan *ret, Err *err);

Str tonight_key(Arena *a, const NightOptions *options, const Backend *backend);
MUST_CHECK bool tonight_load(Arena *a, const SleepHome *home, bool dry_run, Tonight *ret,
                             bool *ret_found, Err *err);
MUST_CHECK bool tonight_save(Arena *a, const SleepHome *home, const Tonight *t, Err *err);
/* How long it has taken so far, beside that file: written often, and so by itself. A kill loses the last
 * second at most. 0 where it is not known; what cannot be written does not end a night. */
int64_t tonight_elapsed(Arena *a, const SleepHome *home, bool dry_run);
void tonight_note_elapsed(const char *path, int64_t ms);
const char *tonight_clock_path(Arena *a, const SleepHome *home, bool dry_run);
MUST_CHECK bool tonight_forget(Arena *a, const SleepHome *home, bool dry_run, Err *err);

/* Takes away what only a crash leaves: files that were about to be renamed, here and in the folder of
 * the night (empty: none); and folders of nights that were never published. */
MUST_CHECK bool tonight_sweep(Arena *a, const SleepHome *home, Str night, Err *err);
MUST_CHECK bool tonight_discard_others(Arena *a, const SleepHome *home, Err *err);

/* -- night_report.c: what happened, gathered as it happens ------------------------------------------ */

/* To who watches, else to the terminal. */
void night_show(const NightOptions *options, int64_t night, const char *phase, size_t done,
                size_t total);

typedef LIST_OF(Heard) HeardList;

typedef struct Recorder {
    Arena *arena;
    const NightOptions *options;
    Evidence *evidence;
    bool begun;
    HeardList early;         /* with the miner, before there was a folder for evidence */
    SessionDigests sessions; /* that tonight's tasks come from, and all that was mined; likewise */
    TaskRecords mined;
    NightReport report;
    NoEdits no_edits;           /* of the group that came furthest */
    size_t groups;              /* that learned */
    Docs live;                  /* of the group at hand */
    size_t done, expected;      /* replays, for progress */
    double baseline, candidate; /* sums over val tasks */
    size_t val;
    double squares;                 /* of the differences, for the interval */
    double test_before, test_after; /* sums over test tasks */
    size_t test;
} Recorder;

ConsolidateWatch recorder_watch(Recorder *r);
/* For Backend.heard; before recorder_begin it is kept for later. */
void recorder_heard(void *ctx, const Heard *exchange);
void recorder_begin(Recorder *r, const Tonight *t, const Backend *b);
/* One skill's share of the night. */
void recorder_group(Recorder *r, Str skill, const SkillGroup *group, const Consolidation *c);
/* A skill that does not learn tonight, and why: "skipped" or "failed". Its tasks go elsewhere. */
void recorder_left_out(Recorder *r, const SkillGroup *group, const char *status, Str why);
/* A task that nothing is decided by, under the documents as they were and as they are now. */
void recorder_test(Recorder *r, const TaskRecord *task, const ReplayResult *before,
                   const ReplayResult *after);
void recorder_end(Recorder *r, const Backend *b);
void recorder_note(Recorder *r, Str note);

/* -- the night and its parts --------------------------------------------------------------------------- */

/* One document that is worked on: where it lives, and what it was. */
typedef struct Target {
    Str skill; /* its name */
    ItemKind kind;
    LiveDoc live, memory;
    Docs docs; /* the skill as it is replayed: scaffolded where there is none yet */
    SkillGroup group;
    Consolidation done;
} Target;

/* A night while it lasts. */
typedef struct Night {
    Arena *arena;
    const NightOptions *options;
    Backend *backend;
    SleepHome home;
    FileLock *lock; /* nobody else sleeps meanwhile */
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

/* Who would learn from these tasks. */
MUST_CHECK bool night_targets(Arena *a, const NightOptions *options, Backend *backend,
                              const TaskRecords *tasks, Night *ret, Err *err);

/* night_learn.c: w->targets; what each of them learns; what that is worth on tasks that nothing was decided
 * by. */
MUST_CHECK bool night_find_targets(Night *w, Err *err);
MUST_CHECK bool night_learn(Night *w, Err *err);
MUST_CHECK bool night_measure(Night *w, Err *err);

#endif

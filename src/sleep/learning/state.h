/* state.h - what sleep remembers from one night to the next.
 *
 * One file, state.json, written whole; its lock dies with its holder. A night takes the lock, loads,
 * changes the value and saves. A file that cannot be read is put aside and the defaults are used, with
 * a note: losing the memory must not stop the nights.
 *
 * Nights, stamps, tasks and what is known of edits are counted for each project by itself: what one
 * project learned is not another's. Nights over all projects have the empty project. */
#ifndef TALARIA_SLEEP_LEARNING_STATE_H
#define TALARIA_SLEEP_LEARNING_STATE_H

#include "base/file.h"
#include "sleep/task/types.h"

typedef struct StateProject {
    Str project;
    int64_t night;     /* nights so far */
    Str last_harvest;  /* an instant, 2026-11-15T03:17:00Z; "" before the first night */
    TaskRecords tasks; /* the archive: one of each id, newest last, at most LIMIT_SLEEP_ARCHIVE */
    StrList had; /* ids of tasks that a night has had, newest last: many more than the archive's */
    Str pending; /* edits that are known, by skill, as JSON (see rejected.h); "" for none */
} StateProject;

typedef struct HistoryRow {
    int64_t night;
    Str project;
    bool accepted;
    double baseline, candidate;
    int64_t n_tasks;
    Str staging; /* name of the night; "" where nothing was staged */
} HistoryRow;

typedef LIST_OF(StateProject) StateProjects;
typedef LIST_OF(HistoryRow) HistoryRows;

typedef struct SleepState {
    int64_t night; /* of all projects together */
    Str slow_memory, last_model_key;
    StateProjects projects;
    HistoryRows history;
} SleepState;

/* Waits for another night to let go, up to wait_ms. */
MUST_CHECK FileLock *state_lock(Arena *a, Str path, int wait_ms, Err *err);

/* ret_note: "" or what was done with a file that could not be read. */
MUST_CHECK bool state_load(Arena *a, Str path, SleepState *ret, Str *ret_note, Err *err);
MUST_CHECK bool state_save(Str path, const SleepState *s, Err *err);

/* The row of a project; made where it is missing. Valid until another one is made. */
StateProject *state_project(Arena *a, SleepState *s, Str project);

/* Adds tasks to the archive: one that is there already is replaced; dreams are left out. */
void state_archive(Arena *a, StateProject *p, const TaskRecords *tasks);
/* Whether a night has had the task. */
bool state_had(const StateProject *p, Str id);

void state_add_history(Arena *a, SleepState *s, HistoryRow row);

#endif

/* state.h - the state that sleep keeps from one night to the next.
 *
 * One file, state.json, written atomically. A night takes its lock, which the kernel releases if
 * the night dies, loads the state, changes it and saves it. A file that cannot be read is renamed
 * and a new state begins, with a note: a lost state must not stop the nights.
 *
 * Nights, times, tasks and known edits are kept per project. Nights over all projects have the
 * empty project. */
#ifndef TALARIA_SLEEP_LEARNING_STATE_H
#define TALARIA_SLEEP_LEARNING_STATE_H

#include "base/file.h"
#include "sleep/task/types.h"

typedef struct StateProject {
    Str project;
    int64_t night;     /* nights so far */
    Str last_harvest;  /* 2026-11-15T03:17:00Z; "" before the first night */
    TaskRecords tasks; /* the archive: one of each id, newest last, at most LIMIT_SLEEP_ARCHIVE */
    StrList had; /* ids of tasks that a night has used, newest last: many more than the archive's */
    Str pending; /* known edits by skill, as JSON (see known.h); "" for none */
} StateProject;

typedef struct HistoryRow {
    int64_t night;
    Str project;
    bool accepted;
    double baseline, candidate;
    int64_t n_tasks;
    Str staging; /* name of the night; "" if nothing was staged */
} HistoryRow;

typedef LIST_OF(StateProject) StateProjects;
typedef LIST_OF(HistoryRow) HistoryRows;
extern const RecordTable history_row_record;

typedef struct SleepState {
    int64_t night; /* of all projects together */
    Str slow_memory, last_model_key;
    StateProjects projects;
    HistoryRows history;
} SleepState;

/* Waits up to wait_ms for another night to end. */
MUST_CHECK FileLock *state_lock(Arena *a, Str path, int wait_ms, Err *err);

/* ret_note: "", or a message about a file that could not be read. */
MUST_CHECK bool state_load(Arena *a, Str path, SleepState *ret, Str *ret_note, Err *err);
MUST_CHECK bool state_save(Str path, const SleepState *s, Err *err);

/* The row of a project; made if it is missing. Valid until another one is made. */
StateProject *state_project(Arena *a, SleepState *s, Str project);

/* Adds tasks to the archive: replaces those with the same id, leaves out dreams. */
void state_archive(Arena *a, StateProject *p, const TaskRecords *tasks);
/* Whether a night has used the task. */
bool state_had(const StateProject *p, Str id);

void state_add_history(Arena *a, SleepState *s, HistoryRow row);

#endif

/* schedule.h - running a night every night, by a systemd timer or a crontab entry.
 *
 * A systemd user timer if systemd runs for this user, else a line in the crontab. Both catch up on
 * a missed night: the timer is persistent; the crontab line runs every hour and asks schedule_due
 * whether that night has begun yet. A project has one schedule: setting it again replaces it. The
 * command keeps all flags of the run, quoted for systemd or for cron and the shell; control
 * characters are refused.
 *
 * schedules.json lists the schedules, for `status` and for schedule_due. */
#ifndef TALARIA_SLEEP_SCHEDULE_SCHEDULE_H
#define TALARIA_SLEEP_SCHEDULE_SCHEDULE_H

#include "sleep/task/places.h"

/* X(kind, word) */
#define SCHEDULERS(X)                                                                              \
    X(SCHEDULER_SYSTEMD, "systemd")                                                                \
    X(SCHEDULER_CRON, "cron")

typedef enum Scheduler {
#define X(kind, word) kind,
    SCHEDULERS(X)
#undef X
} Scheduler;

const char *scheduler_name(Scheduler kind);
MUST_CHECK bool scheduler_parse(Str word, Scheduler *ret);

typedef struct ScheduleSpec {
    Str project; /* absolute */
    int hour, minute;
    Str binary;          /* absolute */
    StrList args;        /* of the run, one word each: "--backend", "mock" */
    StrList environment; /* NAME=value */
} ScheduleSpec;

/* A file that was, or would be, written; the crontab's path is "crontab". */
typedef struct ScheduleFile {
    Str path, text;
} ScheduleFile;

typedef struct Scheduled {
    Scheduler kind;
    ScheduleFile files[2];
    size_t n;
} Scheduled;

/* Whether `systemctl --user` answers. */
Scheduler scheduler_here(Arena *a);

/* dry_run: writes and starts nothing. */
MUST_CHECK bool schedule_set(Arena *a, const SleepHome *home, Scheduler kind,
                             const ScheduleSpec *spec, bool dry_run, Scheduled *ret, Err *err);

/* Removes the schedule of one project, or of all if project is empty; both kinds. */
MUST_CHECK bool schedule_remove(Arena *a, const SleepHome *home, Str project, size_t *ret_n,
                                Err *err);

typedef struct ScheduleRow {
    Str project;
    Scheduler kind;
    int hour, minute;
    double since; /* when it was made, or last begun */
} ScheduleRow;
typedef LIST_OF(ScheduleRow) ScheduleRows;
extern const RecordTable schedule_row_record; /* {project, kind, hour, minute} */

MUST_CHECK bool schedule_list(Arena *a, const SleepHome *home, ScheduleRows *ret, Err *err);

/* Whether the last HH:MM has passed and its night has not begun. True only once for each. */
MUST_CHECK bool schedule_due(Arena *a, const SleepHome *home, Str project, double now, bool *ret,
                             Err *err);

/* -- For the files of this room -- */

/* 64 digits that represent the project in names and marks. */
Str schedule_key(Arena *a, Str project);

MUST_CHECK bool cron_text(Arena *a, const SleepHome *home, const ScheduleSpec *spec, Str *ret_line,
                          Err *err);
/* The crontab with this line instead of the project's; an empty line removes it; an empty key means
 * all projects. *ret_n counts removed lines. */
Str cron_merge(Arena *a, Str crontab, Str key, Str line, size_t *ret_n);
MUST_CHECK bool cron_set(Arena *a, Str key, Str line, Err *err);
/* Without a crontab there is nothing to remove. */
MUST_CHECK bool cron_remove(Arena *a, Str key, size_t *ret_n, Err *err);

MUST_CHECK bool systemd_units(Arena *a, const ScheduleSpec *spec, ScheduleFile ret[2], Err *err);
MUST_CHECK bool systemd_enable(Arena *a, const ScheduleFile units[2], Err *err);
MUST_CHECK bool systemd_remove(Arena *a, Str key, size_t *ret_n, Err *err);

typedef struct ProgramResult {
    int exit_code; /* 127: no such program; -1: killed, or too slow */
    Str output;    /* at most LIMIT_CRONTAB_BYTES */
    Str errors;    /* the beginning of standard error */
} ProgramResult;

/* Runs crontab or systemctl: found in $PATH, started without a shell, killed after some seconds.
 * Fails only if no child could be made. */
MUST_CHECK bool program_run(Arena *a, const char *const *argv, Str input, ProgramResult *ret,
                            Err *err);

#endif

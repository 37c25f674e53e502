/* schedule.h - a night every night, by the system's own clock.
 *
 * A systemd user timer where systemd runs for this user, else a line in the crontab. Both catch up: the
 * timer is persistent; the line in the crontab comes every hour and asks schedule_due whether the night
 * of that hour has begun yet. One schedule a project: making it again replaces it. All flags of the run
 * are kept in the command, quoted for who reads it; a control character is refused.
 *
 * What is scheduled stands in schedules.json besides, for `status` and for the question above. */
#ifndef TALARIA_SLEEP_SCHEDULE_SCHEDULE_H
#define TALARIA_SLEEP_SCHEDULE_SCHEDULE_H

#include "base/buf.h"
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
    Str binary;      /* absolute */
    const Str *args; /* of the run, one word each: "--backend", "mock" */
    size_t n_args;
    const Str *environment; /* NAME=value, to be kept */
    size_t n_environment;
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

/* With dry_run nothing is written or started. */
MUST_CHECK bool schedule_set(Arena *a, const SleepHome *home, Scheduler kind,
                             const ScheduleSpec *spec, bool dry_run, Scheduled *ret, Err *err);

/* The schedule of one project, or of all where project is empty; both kinds. */
MUST_CHECK bool schedule_remove(Arena *a, const SleepHome *home, Str project, size_t *ret_n,
                                Err *err);

typedef struct ScheduleRow {
    Str project;
    Scheduler kind;
    int hour, minute;
    double since; /* made, or last begun */
} ScheduleRow;

MUST_CHECK bool schedule_list(Arena *a, const SleepHome *home, ScheduleRow **ret, size_t *ret_n,
                              Err *err);

/* Whether the last HH:MM is past and has not been begun. True only once for each. */
MUST_CHECK bool schedule_due(Arena *a, const SleepHome *home, Str project, double now, bool *ret,
                             Err *err);

/* -- one file each: cron.c, systemd.c --------------------------------------------------------- */

/* 64 digits that stand for the project in names and marks. */
Str schedule_key(Arena *a, Str project);

MUST_CHECK bool cron_text(Arena *a, const SleepHome *home, const ScheduleSpec *spec, Str *ret_line,
                          Err *err);
/* The crontab with this line instead of the project's; an empty line takes it away; an empty key
 * means all. *ret_n counts lines that went. */
Str cron_merge(Arena *a, Str crontab, Str key, Str line, size_t *ret_n);
MUST_CHECK bool cron_read(Arena *a, Str *ret, Err *err);
MUST_CHECK bool cron_write(Arena *a, Str crontab, Err *err);

MUST_CHECK bool systemd_units(Arena *a, const ScheduleSpec *spec, ScheduleFile ret[2], Err *err);
MUST_CHECK bool systemd_enable(Arena *a, const ScheduleFile units[2], Err *err);
MUST_CHECK bool systemd_remove(Arena *a, Str key, size_t *ret_n, Err *err);

#endif

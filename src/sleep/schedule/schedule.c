#include "sleep/schedule/schedule.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/sha256.h"

#define FILE_NAME "schedules.json"
enum { FORMAT = 1, MAX_ROWS = 10000, WAIT_MS = 5000 };

static const char *const names[] = {
#define X(kind, word) word,
    SCHEDULERS(X)
#undef X
};

const char *scheduler_name(Scheduler kind)
{
    return names[kind];
}

bool scheduler_parse(Str word, Scheduler *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eqz(word, names[i])) {
            *ret = (Scheduler)i;
            return true;
        }
    return false;
}

Str schedule_key(Arena *a, Str project)
{
    return sha256_hex(a, project);
}

/* -- The list -- */

#define SHARED_ROWS                                                                                \
    RECORD_FIELD(ScheduleRow, project, .required = true),                                          \
        RECORD_ENUM(ScheduleRow, kind, names, .required = true),                                   \
        RECORD_FIELD(ScheduleRow, hour, .required = true),                                         \
        RECORD_FIELD(ScheduleRow, minute, .required = true)
static const RecordField row_fields[] = { SHARED_ROWS };
static const RecordField file_fields[] = {
    SHARED_ROWS,
    RECORD_FIELD(ScheduleRow, since, .required = true),
};
const RecordTable schedule_row_record = RECORD(ScheduleRow, "schedule", row_fields);
static const RecordTable file_record = RECORD(ScheduleRow, "schedule", file_fields);

bool schedule_list(Arena *a, const SleepHome *home, ScheduleRows *ret, Err *err)
{
    char *path = str_z(a, str_join_path(a, home->folder, STR(FILE_NAME)));
    AUTO(JsonDoc) *doc = NULL;
    ScheduleRows rows = { 0 };
    ScheduleRow row;
    JsonIter it;
    Err ignored;
    Str text;
    Json item;

    if (access(path, F_OK) == 0) {
        if (!file_read(a, path, LIMIT_SLEEP_FILE, &text, err))
            return false;
        doc = json_parse(text, err);
        if (!doc)
            return err_wrap(err, "cannot read '%s'", path);
        it = json_each(json_get(json_root(doc), STR("schedules")));
        while (rows.n < MAX_ROWS && json_next(&it, &text, &item))
            if (record_read(a, &file_record, item, &row, &ignored) && row.project.n)
                LIST_PUSH(a, &rows, row);
    }
    *ret = rows;
    return true;
}

static bool save_rows(Arena *a, const SleepHome *home, const ScheduleRows *rows, Err *err)
{
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&text, 2);

    json_begin(&w, '{');
    json_field_int(&w, "format", FORMAT);
    json_key(&w, "schedules");
    record_put_list(&w, &file_record, rows);
    json_end(&w, '}');
    buf_addc(&text, '\n');
    return file_write_atomic(str_z(a, str_join_path(a, home->folder, STR(FILE_NAME))),
                             buf_str(&text), err);
}

/* Removes the rows of the project, or all if it is empty, and adds a new one, if given. */
static bool replace_rows(Arena *a, const SleepHome *home, Str project, const ScheduleRow *new_row,
                         Err *err)
{
    ScheduleRows rows, kept = { 0 };

    if (!schedule_list(a, home, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (project.n && !str_eq(rows.items[i].project, project))
            LIST_PUSH(a, &kept, rows.items[i]);
    if (new_row)
        LIST_PUSH(a, &kept, *new_row);
    return save_rows(a, home, &kept, err);
}

static FileLock *take_lock(Arena *a, const SleepHome *home, Err *err)
{
    return sleep_home_make(home, err)
               ? lock_take(str_z(a, str_join_path(a, home->folder, STR("schedule.lock"))), WAIT_MS,
                           err)
               : NULL;
}

/* -- Setting -- */

static bool check_word(Str word, const char *what, Err *err)
{
    for (size_t i = 0; i < word.n; i++)
        if ((unsigned char)word.p[i] < 0x20 || word.p[i] == 0x7f)
            return err_set(err, ERR_REFUSED, "%s holds a control character", what);
    return true;
}

static bool check_spec(const SleepHome *home, const ScheduleSpec *spec, Err *err)
{
    if (spec->hour < 0 || spec->hour > 23 || spec->minute < 0 || spec->minute > 59)
        return err_set(err, ERR_USAGE, "--hour is 0 to 23, --minute 0 to 59");
    if (!check_word(spec->project, "the project's path", err) ||
        !check_word(spec->binary, "the program's path", err) ||
        !check_word(home->folder, "the path of the data folder", err))
        return false;
    for (size_t i = 0; i < spec->args.n; i++)
        if (!check_word(spec->args.items[i], "a flag", err))
            return false;
    for (size_t i = 0; i < spec->environment.n; i++)
        if (!check_word(spec->environment.items[i], "an environment variable", err))
            return false;
    return true;
}

static bool set_cron(Arena *a, const SleepHome *home, const ScheduleSpec *spec, bool dry_run,
                     Scheduled *ret, Err *err)
{
    Str line;

    if (!cron_text(a, home, spec, &line, err))
        return false;
    ret->files[ret->n++] = (ScheduleFile){ STR("crontab"), line };
    return dry_run || cron_set(a, schedule_key(a, spec->project), line, err);
}

static bool set_systemd(Arena *a, const ScheduleSpec *spec, bool dry_run, Scheduled *ret, Err *err)
{
    if (!systemd_units(a, spec, ret->files, err))
        return false;
    ret->n = 2;
    return dry_run || systemd_enable(a, ret->files, err);
}

bool schedule_set(Arena *a, const SleepHome *home, Scheduler kind, const ScheduleSpec *spec,
                  bool dry_run, Scheduled *ret, Err *err)
{
    ScheduleRow row = { .project = spec->project,
                        .kind = kind,
                        .hour = spec->hour,
                        .minute = spec->minute,
                        .since = clock_wall() };
    Str key = schedule_key(a, spec->project);
    AUTO(FileLock) *lock = NULL;
    Scheduled done = { .kind = kind };
    size_t n;

    if (!check_spec(home, spec, err))
        return false;
    lock = dry_run ? NULL : take_lock(a, home, err);
    if (!dry_run && !lock)
        return false;
    if (kind == SCHEDULER_CRON ? !set_cron(a, home, spec, dry_run, &done, err)
                               : !set_systemd(a, spec, dry_run, &done, err))
        return false;
    *ret = done;
    if (dry_run)
        return true;
    /* The other kind must not run the same night a second time. */
    if (kind == SCHEDULER_CRON ? !systemd_remove(a, key, &n, err) : !cron_remove(a, key, &n, err))
        return false;
    return replace_rows(a, home, spec->project, &row, err);
}

bool schedule_remove(Arena *a, const SleepHome *home, Str project, size_t *ret_n, Err *err)
{
    AUTO(FileLock) *lock = take_lock(a, home, err);
    Str key = project.n ? schedule_key(a, project) : STR("");
    size_t timers, lines;

    if (!lock || !systemd_remove(a, key, &timers, err) || !cron_remove(a, key, &lines, err) ||
        !replace_rows(a, home, project, NULL, err))
        return false;
    *ret_n = timers + lines;
    return true;
}

/* -- Catching up -- */

/* The last HH:MM by the local clock that is not after now. */
static double last_time(double now, int hour, int minute)
{
    time_t seconds = (time_t)now, at = 0;

    for (int days_ago = 0; days_ago < 2; days_ago++) {
        struct tm tm;

        localtime_r(&seconds, &tm);
        tm.tm_mday -= days_ago;
        tm.tm_hour = hour;
        tm.tm_min = minute;
        tm.tm_sec = 0;
        tm.tm_isdst = -1;
        at = mktime(&tm);
        if (at <= seconds)
            break;
    }
    return (double)at;
}

bool schedule_due(Arena *a, const SleepHome *home, Str project, double now, bool *ret, Err *err)
{
    AUTO(FileLock) *lock = take_lock(a, home, err);
    ScheduleRows rows;

    if (!lock || !schedule_list(a, home, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        ScheduleRow *row = &rows.items[i];

        if (!str_eq(row->project, project))
            continue;
        *ret = last_time(now, row->hour, row->minute) > row->since;
        row->since = *ret ? now : row->since;
        return !*ret || save_rows(a, home, &rows, err);
    }
    return err_set(err, ERR_NOT_FOUND, "'%.*s' is not scheduled", STR_FMT(project));
}

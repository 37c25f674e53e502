#include "sleep/schedule/schedule.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/json.h"
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

/* -- our list ----------------------------------------------------------------------------------- */

static bool read_row(Arena *a, Json v, ScheduleRow *ret)
{
    ScheduleRow row = { .project = str_dup(a, json_str(json_get(v, STR("project")))) };
    int64_t hour, minute;

    if (!row.project.n || !json_int(json_get(v, STR("hour")), &hour) ||
        !json_int(json_get(v, STR("minute")), &minute) ||
        !scheduler_parse(json_str(json_get(v, STR("kind"))), &row.kind) ||
        !json_double(json_get(v, STR("since")), &row.since))
        return false;
    row.hour = (int)hour;
    row.minute = (int)minute;
    *ret = row;
    return true;
}

bool schedule_list(Arena *a, const SleepHome *home, ScheduleRow **ret, size_t *ret_n, Err *err)
{
    char *path = str_z(a, str_join_path(a, home->folder, STR(FILE_NAME)));
    AUTO(JsonDoc) *doc = NULL;
    ScheduleRow *rows = NULL, row;
    size_t n = 0, cap = 0;
    JsonIter it;
    Str text;
    Json item;

    if (access(path, F_OK) == 0) {
        if (!file_read(a, path, LIMIT_SLEEP_FILE, &text, err))
            return false;
        doc = json_parse(text, err);
        if (!doc)
            return err_wrap(err, "cannot read '%s'", path);
        it = json_each(json_get(json_root(doc), STR("schedules")));
        while (n < MAX_ROWS && json_next(&it, &text, &item))
            if (read_row(a, item, &row))
                ARENA_PUSH(a, rows, n, cap, row);
    }
    *ret = rows;
    *ret_n = n;
    return true;
}

static bool save(Arena *a, const SleepHome *home, const ScheduleRow *rows, size_t n, Err *err)
{
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&text, 2);

    json_begin(&w, '{');
    json_field_int(&w, "format", FORMAT);
    json_key(&w, "schedules");
    json_begin(&w, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "project", rows[i].project);
        json_field_str(&w, "kind", str_of(names[rows[i].kind]));
        json_field_int(&w, "hour", rows[i].hour);
        json_field_int(&w, "minute", rows[i].minute);
        json_field_double(&w, "since", rows[i].since);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
    buf_addc(&text, '\n');
    return file_write_atomic(str_z(a, str_join_path(a, home->folder, STR(FILE_NAME))),
                             buf_str(&text), err);
}

/* Without the rows of the project (of all, where it is empty); room for one more. */
static bool list_without(Arena *a, const SleepHome *home, Str project, ScheduleRow **ret,
                         size_t *ret_n, Err *err)
{
    ScheduleRow *rows, *kept;
    size_t n, m = 0;

    if (!schedule_list(a, home, &rows, &n, err))
        return false;
    kept = ARENA_ARRAY(a, ScheduleRow, n + 1);
    for (size_t i = 0; i < n; i++)
        if (project.n && !str_eq(rows[i].project, project))
            kept[m++] = rows[i];
    *ret = kept;
    *ret_n = m;
    return true;
}

static FileLock *take_lock(Arena *a, const SleepHome *home, Err *err)
{
    return sleep_home_make(home, err)
               ? lock_take(str_z(a, str_join_path(a, home->folder, STR("schedule.lock"))), WAIT_MS,
                           err)
               : NULL;
}

/* -- setting ------------------------------------------------------------------------------------ */

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
    for (size_t i = 0; i < spec->n_args; i++)
        if (!check_word(spec->args[i], "a flag", err))
            return false;
    for (size_t i = 0; i < spec->n_environment; i++)
        if (!check_word(spec->environment[i], "an environment variable", err))
            return false;
    return true;
}

static bool set_cron(Arena *a, const SleepHome *home, const ScheduleSpec *spec, bool dry_run,
                     Scheduled *ret, Err *err)
{
    Str line, old, merged;
    size_t replaced;

    if (!cron_text(a, home, spec, &line, err))
        return false;
    ret->files[ret->n++] = (ScheduleFile){ STR("crontab"), line };
    if (dry_run)
        return true;
    if (!cron_read(a, &old, err))
        return false;
    merged = cron_merge(a, old, schedule_key(a, spec->project), line, &replaced);
    return cron_write(a, merged, err);
}

static bool set_systemd(Arena *a, const ScheduleSpec *spec, bool dry_run, Scheduled *ret, Err *err)
{
    if (!systemd_units(a, spec, ret->files, err))
        return false;
    ret->n = 2;
    return dry_run || systemd_enable(a, ret->files, err);
}

/* The other kind must not run the same night a second time. */
static bool remove_other(Arena *a, Scheduler kind, Str project, Err *err)
{
    Str key = schedule_key(a, project), crontab, merged;
    size_t n;
    Err none;

    if (kind == SCHEDULER_CRON)
        return systemd_remove(a, key, &n, err);
    if (!cron_read(a, &crontab, &none))
        return true; /* no cron, no line */
    merged = cron_merge(a, crontab, key, STR(""), &n);
    return !n || cron_write(a, merged, err);
}

bool schedule_set(Arena *a, const SleepHome *home, Scheduler kind, const ScheduleSpec *spec,
                  bool dry_run, Scheduled *ret, Err *err)
{
    ScheduleRow *rows, row = { .project = spec->project,
                               .kind = kind,
                               .hour = spec->hour,
                               .minute = spec->minute,
                               .since = clock_wall() };
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
    if (!remove_other(a, kind, spec->project, err) ||
        !list_without(a, home, spec->project, &rows, &n, err))
        return false;
    rows[n++] = row;
    return save(a, home, rows, n, err);
}

bool schedule_remove(Arena *a, const SleepHome *home, Str project, size_t *ret_n, Err *err)
{
    AUTO(FileLock) *lock = take_lock(a, home, err);
    Str key = project.n ? schedule_key(a, project) : STR(""), crontab, merged;
    size_t n, timers, lines = 0;
    ScheduleRow *rows;
    Err none;

    if (!lock || !systemd_remove(a, key, &timers, err))
        return false;
    if (cron_read(a, &crontab, &none)) {
        merged = cron_merge(a, crontab, key, STR(""), &lines);
        if (lines && !cron_write(a, merged, err))
            return false;
    }
    if (!list_without(a, home, project, &rows, &n, err) || !save(a, home, rows, n, err))
        return false;
    *ret_n = timers + lines;
    return true;
}

/* -- catching up -------------------------------------------------------------------------------- */

/* The last HH:MM by the local clock that is not after now. */
static double last_time(double now, int hour, int minute)
{
    time_t seconds = (time_t)now;
    struct tm tm;
    time_t at;

    localtime_r(&seconds, &tm);
    tm.tm_hour = hour;
    tm.tm_min = minute;
    tm.tm_sec = 0;
    tm.tm_isdst = -1;
    at = mktime(&tm);
    if (at > seconds) {
        localtime_r(&seconds, &tm);
        tm.tm_mday--;
        tm.tm_hour = hour;
        tm.tm_min = minute;
        tm.tm_sec = 0;
        tm.tm_isdst = -1;
        at = mktime(&tm);
    }
    return (double)at;
}

bool schedule_due(Arena *a, const SleepHome *home, Str project, double now, bool *ret, Err *err)
{
    AUTO(FileLock) *lock = take_lock(a, home, err);
    ScheduleRow *rows;
    size_t n;

    if (!lock || !schedule_list(a, home, &rows, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(rows[i].project, project))
            continue;
        *ret = last_time(now, rows[i].hour, rows[i].minute) > rows[i].since;
        rows[i].since = *ret ? now : rows[i].since;
        return !*ret || save(a, home, rows, n, err);
    }
    return err_set(err, ERR_NOT_FOUND, "'%.*s' is not scheduled", STR_FMT(project));
}

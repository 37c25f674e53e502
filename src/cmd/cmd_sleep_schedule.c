/* talaria sleep schedule and unschedule. */
#include "cmd/cmd_sleep.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "sleep/schedule/schedule.h"

const Option sleep_schedule_options[] = {
    SLEEP_RUN_OPTIONS,
    { OPT_NUMBER("hour", "H", "hour, 0 to 23, local time"), .fallback = "3" },
    { OPT_NUMBER("minute", "M", "minute, 0 to 59"), .fallback = "17" },
    { OPT_CHOICE("using", "WHAT", "scheduler to use"), .fallback = "auto",
      .choices = "auto|systemd|cron" },
    { OPT_FLAG("print", "print what would be written, write nothing") },
    { OPT_FLAG("dry-run", "same as --print") },
    { OPT_FLAG("due", "used by the crontab entry: exit 0 once per night when due, else 4") },
    { 0 },
};

const Option sleep_unschedule_options[] = {
    SLEEP_PROJECT_OPTION,
    { OPT_FLAG("all", "every project") },
    { 0 },
};

const Example sleep_schedule_examples[] = {
    { "talaria sleep schedule", "this project, every night at 03:17" },
    { "talaria sleep schedule --hour 4 --backend model --model gpt-5-mini",
      "keep these flags of 'sleep run'" },
    { "talaria sleep schedule --print", "print the unit or crontab entry" },
    { 0 },
};

/* -- The command of the night -- */

/* Options of the schedule itself, and those that only say how to print. */
static bool is_kept(const char *name)
{
    static const char *const ours[] = { "hour", "minute", "using", "print", "dry-run", "due",
                                        "json", "quiet",  "color", "help",  "version", "project" };

    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (strcmp(name, ours[i]) == 0)
            return false;
    return true;
}

/* Paths become absolute: a scheduled night has another working directory. */
static Str value_to_keep(Cli *cli, const Option *o, Str value)
{
    bool below_project = strcmp(o->name, "skill-root") == 0; /* where it is relative */
    bool is_path =
        (o->kind == OPTION_FOLDER && !below_project) || strcmp(o->name, "tasks-file") == 0;
    char real[LIMIT_PATH_BYTES];

    if (is_path && realpath(str_z(cli->arena, value), real))
        return str_dup(cli->arena, str_of(real));
    return value;
}

static StrList night_args(Cli *cli, const Args *args, Str project)
{
    StrList w = { 0 };
    const Option *o;
    size_t at = 0;
    Str value;

    LIST_PUSH(cli->arena, &w, STR("--project"));
    LIST_PUSH(cli->arena, &w, project);
    while (args_each(args, &at, &o, &value)) {
        if (!is_kept(o->name))
            continue;
        LIST_PUSH(cli->arena, &w, str_printf(cli->arena, "--%s", o->name));
        if (o->kind != OPTION_FLAG)
            LIST_PUSH(cli->arena, &w, value_to_keep(cli, o, value));
    }
    return w;
}

/* The variables that choose the history folders; API keys are not stored. */
static StrList environment_of(Cli *cli)
{
    static const char *const names[] = { "TALARIA_HOME",    "HERMES_HOME", "XDG_STATE_HOME",
                                         "XDG_CONFIG_HOME", "CODEX_HOME",  "CLAUDE_CONFIG_DIR" };
    StrList w = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            LIST_PUSH(cli->arena, &w, str_printf(cli->arena, "%s=%s", names[i], value));
    }
    return w;
}

static bool own_path(Cli *cli, Str *ret, Err *err)
{
    char path[LIMIT_PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);

    if (n <= 0)
        return err_errno(err, "cannot find the path of the talaria program");
    *ret = str_dup(cli->arena, (Str){ path, (size_t)n });
    return true;
}

/* -- Schedule -- */

static bool due(Cli *cli, const SleepHome *home, Str project, Err *err)
{
    bool is_due = false;

    if (!schedule_due(cli->arena, home, project, clock_wall(), &is_due, err))
        return false;
    cli->told = true;
    return is_due || err_set(err, ERR_CONFLICT, "no night is due");
}

static void print_scheduled(Cli *cli, const ScheduleSpec *spec, const Scheduled *s, bool dry_run)
{
    if (!dry_run) {
        say(cli, "every night at %02d:%02d by %s: ", spec->hour, spec->minute,
            scheduler_name(s->kind));
        say_text(cli, spec->project, false);
        say(cli, "\n");
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        say(cli, "%s# ", style(cli, STYLE_DIM));
        say_text(cli, s->files[i].path, false);
        say(cli, "%s\n", style(cli, STYLE_OFF));
        say_text(cli, s->files[i].text, true);
        say(cli, "%s", i + 1 < s->n ? "\n" : s->kind == SCHEDULER_CRON ? "\n" : "");
    }
}

static void put_scheduled(Cli *cli, const ScheduleSpec *spec, const Scheduled *s, bool dry_run)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_bool(&w, "ok", true);
    json_field_bool(&w, "dry_run", dry_run);
    json_field_str(&w, "project", spec->project);
    json_field_str(&w, "kind", str_of(scheduler_name(s->kind)));
    json_field_int(&w, "hour", spec->hour);
    json_field_int(&w, "minute", spec->minute);
    json_field_begin(&w, "files", '[');
    for (size_t i = 0; i < s->n; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "path", s->files[i].path);
        json_field_str(&w, "text", s->files[i].text);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

/* --json: {format, ok, dry_run, project, kind, hour, minute, files: [{path, text}]} */
bool sleep_schedule(Cli *cli, const Args *args, Err *err)
{
    bool dry_run = args_flag(args, "print") || args_flag(args, "dry-run");
    ScheduleSpec spec = { .hour = (int)args_number(args, "hour"),
                          .minute = (int)args_number(args, "minute") };
    Scheduler kind;
    SleepHome home;
    Scheduled done;

    if (!sleep_home_of(cli, &home, err) || !sleep_project_of(cli, args, &spec.project, err))
        return false;
    if (args_flag(args, "due"))
        return due(cli, &home, spec.project, err);
    if (!own_path(cli, &spec.binary, err))
        return false;
    spec.args = night_args(cli, args, spec.project);
    spec.environment = environment_of(cli);
    if (!scheduler_parse(args_text(args, "using"), &kind))
        kind = scheduler_here(cli->arena);
    if (!schedule_set(cli->arena, &home, kind, &spec, dry_run, &done, err))
        return false;
    if (cli->json)
        put_scheduled(cli, &spec, &done, dry_run);
    else
        print_scheduled(cli, &spec, &done, dry_run);
    return true;
}

bool sleep_schedule_here(Cli *cli, int hour, int minute, Err *err)
{
    ScheduleSpec spec = { .hour = hour, .minute = minute, .environment = environment_of(cli) };
    char here[LIMIT_PATH_BYTES];
    Scheduled done;
    SleepHome home;

    if (!getcwd(here, sizeof here))
        return err_errno(err, "cannot find the current folder");
    spec.project = str_dup(cli->arena, str_of(here));
    LIST_PUSH(cli->arena, &spec.args, STR("--project"));
    LIST_PUSH(cli->arena, &spec.args, spec.project);
    if (!sleep_home_of(cli, &home, err) || !own_path(cli, &spec.binary, err) ||
        !schedule_set(cli->arena, &home, scheduler_here(cli->arena), &spec, false, &done, err))
        return false;
    say(cli, "  ");
    print_scheduled(cli, &spec, &done, false);
    return true;
}

/* --json: {format, ok, removed} */
bool sleep_unschedule(Cli *cli, const Args *args, Err *err)
{
    Str project = STR("");
    SleepHome home;
    JsonWriter w;
    size_t n;

    if (!sleep_home_of(cli, &home, err) ||
        (!args_flag(args, "all") && !sleep_project_of(cli, args, &project, err)) ||
        !schedule_remove(cli->arena, &home, project, &n, err))
        return false;
    if (!cli->json) {
        say(cli, n ? "removed %zu schedule%s\n" : "nothing was scheduled\n", n, n == 1 ? "" : "s");
        return true;
    }
    w = cli_json_begin(cli);
    json_field_bool(&w, "ok", true);
    json_field_int(&w, "removed", (int64_t)n);
    cli_json_end(cli, &w);
    return true;
}

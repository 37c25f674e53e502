/* talaria sleep harvest: what a night would learn from, before anything is paid for. */
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "cmd/cmd_sleep.h"
#include "sleep/harvest.h"
#include "sleep/mine.h"
#include "sleep/split.h"
#include "text/human.h"

static bool current_folder(Arena *a, Str *ret, Err *err)
{
    char here[LIMIT_PATH_BYTES];

    if (!getcwd(here, sizeof here))
        return err_errno(err, "cannot tell the current folder");
    *ret = str_dup(a, str_of(here));
    return true;
}

bool sleep_sources(Cli *cli, const Args *args, HarvestQuery *ret, Err *err)
{
    const char *source = args_z(args, "source");
    bool all = !source || strcmp(source, "all") == 0;
    const char *scope = args_z(args, "scope"), *project = args_z(args, "project");
    const Homes *homes;

    if (!cli_homes(cli, &homes, err) ||
        !transcript_roots(cli->arena, args_z(args, "claude-home"), args_z(args, "codex-home"),
                          &ret->sources.roots, err))
        return false;
    ret->sources.homes = homes;
    ret->sources.hermes = !all && strcmp(source, "hermes") == 0;
    ret->sources.claude = !all && strcmp(source, "claude") == 0;
    ret->sources.codex = !all && strcmp(source, "codex") == 0;
    if (scope && strcmp(scope, "all") == 0)
        return true;
    if (project)
        ret->project = str_of(project);
    else if (scope)
        return current_folder(cli->arena, &ret->project, err);
    return true;
}

/* -- printing ----------------------------------------------------------------------------------------- */

static void put_tasks_file(JsonWriter *w, const Args *args, const HarvestQuery *query,
                           const SleepHarvest *h, const Mined *mined)
{
    json_field_str(w, "format", STR("skillopt_sleep.tasks.v1"));
    json_field_str(w, "project", query->project.n ? query->project : STR(""));
    json_field_str(w, "transcript_source",
                   args_text(args, "source").p ? args_text(args, "source") : STR("all"));
    json_field_int(w, "n_sessions", (int64_t)h->n);
    json_field_str(w, "target_skill_path", STR(""));
    json_field_bool(w, "reviewed", false);
    json_key(w, "tasks");
    json_begin(w, '[');
    for (size_t i = 0; i < mined->tasks.n; i++)
        task_put(w, &mined->tasks.items[i]);
    json_end(w, ']');
}

static bool write_tasks_file(Cli *cli, const Args *args, const HarvestQuery *query,
                             const SleepHarvest *h, const Mined *mined, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    JsonWriter w = JSON_WRITER(&out, 2);
    const char *path = args_z(args, "output");

    if (!path)
        return true;
    json_begin(&w, '{');
    put_tasks_file(&w, args, query, h, mined);
    json_end(&w, '}');
    buf_addc(&out, '\n');
    if (buf_full(&out))
        return err_set(err, ERR_TOO_LARGE, "the tasks do not fit into one file");
    (void)cli;
    return file_write_atomic(path, buf_str(&out), err);
}

static void print_json(Cli *cli, const SleepHarvest *h, const Mined *mined)
{
    JsonWriter w = cli_json_begin(cli);

    json_key(&w, "digests");
    json_begin(&w, '[');
    for (size_t i = 0; i < h->n; i++)
        digest_put(&w, trace_digest(h->traces[i]));
    json_end(&w, ']');
    json_key(&w, "tasks");
    json_begin(&w, '[');
    for (size_t i = 0; i < mined->tasks.n; i++)
        task_put(&w, &mined->tasks.items[i]);
    json_end(&w, ']');
    json_key(&w, "outcomes");
    json_begin(&w, '{');
    for (size_t i = 0; i < h->n; i++) {
        json_key_str(&w, trace_digest(h->traces[i])->session_id);
        json_put_str(&w, trace_outcome(h->traces[i]));
    }
    json_end(&w, '}');
    json_field_int(&w, "not_human", (int64_t)h->not_human);
    json_field_int(&w, "elsewhere", (int64_t)h->elsewhere);
    json_field_int(&w, "left_out", (int64_t)h->left_out);
    cli_json_end(cli, &w);
}

static void print_task(Cli *cli, const TaskRecord *task)
{
    say(cli, "  %s%3zu×%s  ", style(cli, STYLE_BOLD), task->source_sessions.n,
        style(cli, STYLE_OFF));
    say_text(cli, task->intent, false);
    say(cli, "\n        %s%.*s", style(cli, STYLE_DIM), STR_FMT(task->outcome));
    if (!str_eqz(task->reference_kind, "none"))
        say(cli, ", judged by %s",
            str_eqz(task->reference_kind, "rule") ? "checks" : "what was insisted on");
    if (task->project.n) {
        say(cli, ", ");
        say_text(cli, task->project, false);
    }
    say(cli, "%s\n", style(cli, STYLE_OFF));
}

static void print_people(Cli *cli, const SleepHarvest *h, const Mined *mined)
{
    enum { SHOWN = 12 };

    say(cli, "%s sessions of people, %s tasks: %s came back, %s can be checked by rules\n",
        human_count(cli->arena, (int64_t)h->n).p,
        human_count(cli->arena, (int64_t)mined->tasks.n).p,
        human_count(cli->arena, (int64_t)mined->recurring).p,
        human_count(cli->arena, (int64_t)mined->checkable).p);
    for (size_t i = 0; i < mined->tasks.n && i < SHOWN; i++)
        print_task(cli, &mined->tasks.items[i]);
    if (mined->tasks.n > SHOWN)
        say(cli, "  and %zu more; --json tells all\n", mined->tasks.n - SHOWN);
}

/* --json: {format, digests, tasks, outcomes: {session: outcome}, not_human, elsewhere, left_out} */
bool sleep_harvest_command(Cli *cli, const Args *args, Err *err)
{
    const MineOptions options = { .most = (size_t)args_number(args, "max-tasks") };
    HarvestQuery query = { 0 };
    SleepHarvest h;
    Mined mined;

    if (!sleep_sources(cli, args, &query, err))
        return false;
    query.most = (size_t)args_number(args, "max-sessions");
    query.since = args_time(args, "since");
    query.tasks_alone = !cli->json; /* people are not shown the sessions */
    if (!sleep_harvest(cli->arena, &query, &options, &h, &mined, err))
        return false;
    split_assign(cli->arena, SPLIT_RULE_DEFAULT, &mined.tasks);
    if (!write_tasks_file(cli, args, &query, &h, &mined, err))
        return false;
    if (cli->json)
        print_json(cli, &h, &mined);
    else
        print_people(cli, &h, &mined);
    return true;
}

/* talaria sleep harvest: what a night would learn from, before anything is paid for. */
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "cmd/cmd_sleep.h"
#include "sleep/mining/kept.h"
#include "sleep/mining/mine.h"
#include "sleep/task/split.h"
#include "text/human.h"

bool sleep_sources(Cli *cli, const Args *args, HarvestQuery *ret, Err *err)
{
    const char *source = args_z(args, "source");
    bool all = !source || strcmp(source, "all") == 0;
    const char *scope = args_z(args, "scope"), *project = args_z(args, "project");
    char here[LIMIT_PATH_BYTES];
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
    if (project) {
        ret->project = str_of(project);
    } else if (scope) {
        if (!getcwd(here, sizeof here))
            return err_errno(err, "cannot determine the current folder");
        ret->project = str_dup(cli->arena, str_of(here));
    }
    return true;
}

/* -- Printing -- */

/* Writes --output, if given; *out then has what was written. */
static bool write_tasks_file(Buf *out, const Args *args, const HarvestQuery *query,
                             const SleepHarvest *h, const Mined *mined, Err *err)
{
    JsonWriter w = JSON_WRITER(out, 2);
    const char *path = args_z(args, "output");

    if (!path)
        return true;
    json_begin(&w, '{');
    json_field_str(&w, "format", STR("skillopt_sleep.tasks.v1"));
    json_field_str(&w, "project", query->project.n ? query->project : STR(""));
    json_field_str(&w, "transcript_source",
                   args_text(args, "source").p ? args_text(args, "source") : STR("all"));
    json_field_int(&w, "n_sessions", (int64_t)h->n);
    json_field_str(&w, "target_skill_path", STR(""));
    json_field_bool(&w, "reviewed", false);
    json_key(&w, "tasks");
    record_put_list(&w, &task_record, &mined->tasks);
    json_end(&w, '}');
    buf_addc(out, '\n');
    if (buf_full(out))
        return err_set(err, ERR_TOO_LARGE, "the tasks do not fit into one file");
    return file_write_atomic(path, buf_str(out), err);
}

static void print_json(Cli *cli, const SleepHarvest *h, const Mined *mined)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_begin(&w, "digests", '[');
    for (size_t i = 0; i < h->n; i++)
        digest_put(&w, trace_digest(h->traces[i]));
    json_end(&w, ']');
    json_key(&w, "tasks");
    record_put_list(&w, &task_record, &mined->tasks);
    json_field_begin(&w, "outcomes", '{');
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
        say(cli, ", checked by %s",
            str_eqz(task->reference_kind, "rule") ? "rules" : "what you insisted on");
    if (task->project.n) {
        say(cli, ", ");
        say_text(cli, task->project, false);
    }
    say(cli, "%s\n", style(cli, STYLE_OFF));
}

static void print_people(Cli *cli, const SleepHarvest *h, const Mined *mined)
{
    enum { SHOWN = 12 };

    say(cli,
        "%s of your sessions contain%s %s, %s of them repeated; %s can be checked "
        "automatically\n",
        human_count(cli->arena, (int64_t)h->sessions).p, h->sessions == 1 ? "s" : "",
        human_n(cli->arena, (int64_t)mined->tasks.n, "task").p,
        human_count(cli->arena, (int64_t)mined->recurring).p,
        human_count(cli->arena, (int64_t)mined->checkable).p);
    for (size_t i = 0; i < mined->tasks.n && i < SHOWN; i++)
        print_task(cli, &mined->tasks.items[i]);
    if (mined->tasks.n > SHOWN)
        say(cli, "  and %zu more; --json lists all\n", mined->tasks.n - SHOWN);
}

/* -- The same again -- */

static Str key_of(Cli *cli, const Args *args, const HarvestQuery *query, const MineOptions *options,
                  Stamp stamp)
{
    Str source = args_text(args, "source");

    return kept_key(cli->arena, query, options, stamp, source.p ? source : STR(""));
}

static bool give_kept(Cli *cli, const Kept *kept, const char *tasks_path, Err *err)
{
    Str tasks;

    if (tasks_path && (!kept_read(kept, cli->arena, KEPT_TASKS, &tasks, err) ||
                       !file_write_atomic(tasks_path, tasks, err)))
        return false;
    buf_flush(cli->out);
    return kept_copy(kept, KEPT_PRINTED, STDOUT_FILENO, err);
}

/* Prints the result of the last harvest again if no session has changed since. */
static bool give_again(Cli *cli, const Args *args, const HarvestQuery *query,
                       const MineOptions *options, bool *ret_given, Err *err)
{
    Str data = query->sources.homes->data;
    const char *tasks_path = args_z(args, "output");
    Stamp stamp;
    Kept kept;
    bool ok;

    *ret_given = false;
    if (!cli->json || !kept_is_there(cli->arena, data))
        return true;
    if (!catalogue_stamp(&query->sources, &stamp, err))
        return false;
    if (!stamp_is_sound(stamp) ||
        !kept_open(cli->arena, data, key_of(cli, args, query, options, stamp), &kept))
        return true;
    *ret_given = kept.n[KEPT_PRINTED] && (!tasks_path || kept.n[KEPT_TASKS]);
    ok = !*ret_given || give_kept(cli, &kept, tasks_path, err);
    kept_close(&kept);
    return ok;
}

/* Prints, and keeps a copy of what is printed. */
typedef struct Tee {
    KeptWriter *kept;
    bool (*sink)(void *ctx, const char *p, size_t n);
    void *ctx;
} Tee;

static bool to_both(void *ctx, const char *p, size_t n)
{
    Tee *tee = ctx;

    kept_add(tee->kept, KEPT_PRINTED, (Str){ p, n });
    return tee->sink(tee->ctx, p, n);
}

static void print_and_keep(Cli *cli, Str key, const SleepHarvest *h, const Mined *mined, Str tasks)
{
    Tee tee = { stamp_is_sound(h->stamp) ? kept_begin(cli->arena, cli->homes.data, key) : NULL,
                cli->out->sink, cli->out->sink_ctx };

    if (!tee.kept) {
        print_json(cli, h, mined);
        return;
    }
    buf_flush(cli->out);
    cli->out->sink = to_both;
    cli->out->sink_ctx = &tee;
    print_json(cli, h, mined);
    buf_flush(cli->out);
    cli->out->sink = tee.sink;
    cli->out->sink_ctx = tee.ctx;
    kept_add(tee.kept, KEPT_TASKS, tasks);
    kept_end(tee.kept, !cli->out->full);
}

static bool harvest_anew(Cli *cli, const Args *args, HarvestQuery *query,
                         const MineOptions *options, Err *err)
{
    AUTO_BUF tasks = BUF(LIMIT_OUTPUT_BYTES);
    SleepHarvest h;
    Mined mined;

    query->tasks_alone = !cli->json; /* people are not shown the sessions */
    if (!sleep_harvest(cli->arena, query, options, &h, &mined, err))
        return false;
    split_assign(cli->arena, SPLIT_RULE_DEFAULT, &mined.tasks);
    if (!write_tasks_file(&tasks, args, query, &h, &mined, err))
        return false;
    if (cli->json)
        print_and_keep(cli, key_of(cli, args, query, options, h.stamp), &h, &mined,
                       buf_str(&tasks));
    else
        print_people(cli, &h, &mined);
    return true;
}

/* --json: {format, digests, tasks, outcomes: {session: outcome}, not_human, elsewhere, left_out} */
bool sleep_harvest_command(Cli *cli, const Args *args, Err *err)
{
    const MineOptions options = { .max = (size_t)args_number(args, "max-tasks") };
    HarvestQuery query = { 0 };
    bool given;

    if (!sleep_sources(cli, args, &query, err))
        return false;
    query.max = (size_t)args_number(args, "max-sessions");
    query.since = args_time(args, "since");
    if (!give_again(cli, args, &query, &options, &given, err))
        return false;
    return given || harvest_anew(cli, args, &query, &options, err);
}

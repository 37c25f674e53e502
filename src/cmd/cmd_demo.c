/* talaria demo: sample data to look around in, apart from the user's own. */
#include "base/clock.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "demo/checklist.h"
#include "demo/demo.h"
#include "text/human.h"

static const Option options[] = {
    { OPT_FLAG("remove", "remove the demo and everything done in it") },
    { OPT_FLAG("force", "replace an existing demo") },
    { OPT_TIME("now", "TIME", "the demo ends at this time (default: now)") },
    { OPT_FLAG("dry-run", "print what would be done, change nothing"), .letter = 'n' },
    { 0 },
};

static const Example examples[] = {
    { "talaria demo", "create three months of sample sessions" },
    { "talaria --demo sessions list", "any command with --demo uses them" },
    { "talaria up --demo", "open the page with the sample data" },
    { "talaria demo --remove", "remove the sample data" },
    { 0 },
};

static void json_made(Cli *cli, Str root, bool dry_run, const DemoReport *r)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_str(&w, "action", r->already ? STR("none") : STR("make"));
    json_field_str(&w, "folder", root);
    json_field_bool(&w, "dry_run", dry_run);
#define X(name) json_field_int(&w, #name, r->name);
    DEMO_COUNTS(X)
#undef X
    json_field_double(&w, "oldest", r->oldest);
    json_field_double(&w, "newest", r->newest);
    demo_checklist_put(&w);
    cli_json_end(cli, &w);
}

static void json_removed(Cli *cli, Str root, bool dry_run, const DemoReport *r)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_str(&w, "action", STR("remove"));
    json_field_str(&w, "folder", root);
    json_field_bool(&w, "dry_run", dry_run);
    json_field_bool(&w, "removed", r->removed);
    json_field_int(&w, "old_sessions", (int64_t)r->old_sessions);
    json_field_int(&w, "old_files", (int64_t)r->old_files);
    json_field_begin(&w, "left", '[');
    for (size_t i = 0; i < r->n_left; i++)
        json_put_str(&w, r->left[i]);
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

static void print_checklist(Cli *cli)
{
    say(cli, "\n%s%s%s\n", style(cli, STYLE_BOLD), DEMO_CHECKLIST_TITLE, style(cli, STYLE_OFF));
    for (size_t i = 0; i < demo_checklist_count; i++)
        say(cli, "  %s%s%s%s\n    %s%s%s\n", demo_checklist[i].title,
            *demo_checklist[i].needs ? " (" : "", demo_checklist[i].needs,
            *demo_checklist[i].needs ? ")" : "", style(cli, STYLE_CYAN), demo_checklist[i].command,
            style(cli, STYLE_OFF));
    say(cli, "  See it all on the page\n    %stalaria up --demo%s\n", style(cli, STYLE_CYAN),
        style(cli, STYLE_OFF));
    say(cli, "\nYour own sessions are not touched. 'talaria demo --remove' removes the demo.\n");
}

static void print_made(Cli *cli, Str root, bool dry_run, const DemoReport *r)
{
    Arena *a = cli->arena;

    say(cli, "%s in %.*s\n",
        dry_run      ? "Would create the demo"
        : r->already ? "The demo exists (--force replaces it)"
                     : "Created the demo",
        STR_FMT(root));
    say(cli,
        "  %lld sessions: %lld of Hermes, %lld of Claude Code, %lld of Codex, %lld of Talaria\n",
        (long long)r->sessions, (long long)r->hermes, (long long)r->claude, (long long)r->codex,
        (long long)r->talaria);
    say(cli, "  %.*s messages, %.*s tool calls\n", STR_FMT(human_count(a, r->messages)),
        STR_FMT(human_count(a, r->tool_calls)));
    if (!dry_run)
        print_checklist(cli);
}

static void print_removed(Cli *cli, bool dry_run, const DemoReport *r)
{
    const char *verb = dry_run ? "Would remove" : "Removed";

    if (r->removed)
        say(cli, "%s the demo\n", verb);
    if (r->old_sessions || r->old_files)
        say(cli, "%s the demo of an older version: %zu sessions, %zu files\n", verb,
            r->old_sessions, r->old_files);
    if (!r->removed && !r->old_sessions && !r->old_files)
        say(cli, "There is no demo to remove\n");
    for (size_t i = 0; i < r->n_left; i++)
        log_note("kept '%.*s': it was changed since the demo was created", STR_FMT(r->left[i]));
}

static bool make(Cli *cli, const Args *args, Str data, bool dry_run, Err *err)
{
    DemoOptions wanted = { .now = args_time(args, "now"),
                           .force = args_flag(args, "force"),
                           .dry_run = dry_run };
    Str root = demo_folders(cli->arena, data).root;
    DemoReport r;

    /* Three months earlier is still after 1970, and a year has four digits: ids and dates need
     * both. */
    if (args_given(args, "now") && (wanted.now < 1e7 || wanted.now > 2.5e11))
        return err_set(err, ERR_USAGE, "--now must be between 1970-04-27 and the year 9892");
    if (args_given(args, "now"))
        clock_fix_wall(wanted.now);
    wanted.now = clock_wall();
    if (!demo_make(cli->arena, data, &wanted, &r, err))
        return false;
    if (cli->json)
        json_made(cli, root, dry_run, &r);
    else if (!cli->quiet)
        print_made(cli, root, dry_run, &r);
    return true;
}

static bool remove_it(Cli *cli, Str data, bool dry_run, Err *err)
{
    DemoReport r;

    if (!demo_remove(cli->arena, data, dry_run, &r, err))
        return false;
    if (cli->json)
        json_removed(cli, demo_folders(cli->arena, data).root, dry_run, &r);
    else if (!cli->quiet)
        print_removed(cli, dry_run, &r);
    return true;
}

static bool run_demo(Cli *cli, const Args *args, Err *err)
{
    bool dry_run = args_flag(args, "dry-run");
    const Homes *homes;

    if (args_flag(args, "remove") && (args_flag(args, "force") || args_given(args, "now")))
        return err_set(err, ERR_USAGE, "--remove takes neither --force nor --now");
    if (!cli_homes(cli, &homes, err))
        return false;
    if (args_flag(args, "remove"))
        return remove_it(cli, homes->data, dry_run, err);
    return make(cli, args, homes->data, dry_run, err);
}

const Command cmd_demo = {
    .name = "demo",
    .summary = "create three months of sample sessions (undo: --remove)",
    .details =
        "Sample sessions of one invented user of Hermes, Claude Code and Codex, with everything "
        "that the other commands work on: repeated tasks, corrections, failed calls, templates, "
        "a chat, a handoff, five nights. They are stored in the folder 'demo' of Talaria's data "
        "folder. A command with the option --demo (or TALARIA_DEMO=1) uses that folder and nothing "
        "of your own; without it, nothing of the demo. Every title ends in (demo).\n\n"
        "The same --now creates the same bytes. --remove deletes the folder, with everything that "
        "was done in it, and also the sessions that earlier versions put among your own.",
    .options = options,
    .examples = examples,
    .outside_demo = true,
    .acts = true,
    .run = run_demo,
};

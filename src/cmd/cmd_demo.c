/* talaria demo: a history to look at, for a home that has none yet. */
#include "base/clock.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "demo/demo.h"
#include "text/human.h"

static const Option options[] = {
    { OPTION_FLAG, "remove", NULL, "take the demo out again, and nothing else", NULL, NULL, 0 },
    { OPTION_FLAG, "force", NULL, "replace a demo that is there", NULL, NULL, 0 },
    { OPTION_TIME, "now", "TIME", "unix seconds or a date: the demo ends an hour before", NULL,
      NULL, 0 },
    { OPTION_FLAG, "dry-run", NULL, "say what would be done, and change nothing", NULL, NULL, 'n' },
    { 0 },
};

static const Example examples[] = {
    { "talaria demo", "three months of sessions, skills, memory and notes" },
    { "talaria demo --dry-run", "what that would be" },
    { "talaria demo --remove", "take exactly these out again" },
    { 0 },
};

static void json_report(Cli *cli, const char *action, Str data, bool dry_run, const DemoReport *r)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_str(&w, "action", str_of(action));
    json_field_str(&w, "data", data);
    json_field_bool(&w, "dry_run", dry_run);
    json_field_int(&w, "sessions", (int64_t)r->sessions);
    json_field_int(&w, "messages", (int64_t)r->messages);
    json_field_int(&w, "tool_calls", (int64_t)r->tool_calls);
    json_field_int(&w, "tools", (int64_t)r->tools);
    json_field_int(&w, "models", (int64_t)r->models);
    json_field_int(&w, "skills", (int64_t)r->skills);
    json_field_int(&w, "notes", (int64_t)r->notes);
    json_field_int(&w, "memories", (int64_t)r->memories);
    json_field_double(&w, "oldest", r->oldest);
    json_field_double(&w, "newest", r->newest);
    json_key(&w, "left");
    json_begin(&w, '[');
    for (size_t i = 0; i < r->n_left; i++)
        json_put_str(&w, r->left[i]);
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

static void tell_left(const DemoReport *r, const char *why)
{
    for (size_t i = 0; i < r->n_left; i++)
        log_note("left alone: '%.*s' %s", STR_FMT(r->left[i]), why);
}

static void print_filled(Cli *cli, Str data, bool dry_run, const DemoReport *r)
{
    Arena *a = cli->arena;

    say(cli, "%s in %.*s\n", dry_run ? "Would make the demo" : "Made the demo", STR_FMT(data));
    say(cli, "  sessions  %.*s, from %.*s to %.*s\n", STR_FMT(human_count(a, (int64_t)r->sessions)),
        STR_FMT(human_time(a, r->oldest)), STR_FMT(human_time(a, r->newest)));
    say(cli, "  messages  %.*s, with %.*s calls of %zu tools, by %zu models\n",
        STR_FMT(human_count(a, (int64_t)r->messages)),
        STR_FMT(human_count(a, (int64_t)r->tool_calls)), r->tools, r->models);
    say(cli, "  files     %zu skills, %zu notes, %zu memory files\n", r->skills, r->notes,
        r->memories);
    if (dry_run)
        return;
    say(cli, "\nIts sessions are called \"... (demo)\". Try:\n"
             "  talaria sessions list\n"
             "  talaria templates harvest\n"
             "  talaria templates study\n\n"
             "talaria demo --remove takes it out again.\n");
}

static void print_removed(Cli *cli, bool dry_run, const DemoReport *r)
{
    size_t files = r->skills + r->notes + r->memories;

    if (r->sessions == 0 && files == 0)
        say(cli, "There is no demo to remove\n");
    else
        say(cli, "%s %zu sessions and %zu files of the demo\n",
            dry_run ? "Would remove" : "Removed", r->sessions, files);
}

static bool fill(Cli *cli, const Args *args, Str data, bool dry_run, Err *err)
{
    DemoWish wish = { .now = args_time(args, "now"),
                      .force = args_flag(args, "force"),
                      .dry_run = dry_run };
    DemoReport r;

    /* Three months earlier is still after 1970, and a year has four digits: ids and dates need both. */
    if (args_given(args, "now") && (wish.now < 1e7 || wish.now > 2.5e11))
        return err_set(err, ERR_USAGE, "--now must lie between 1970-04-27 and the year 9892");
    if (args_given(args, "now"))
        clock_fix_wall(wish.now);
    wish.now = clock_wall();
    if (!demo_fill(cli->arena, data, &wish, &r, err))
        return false;
    if (cli->json)
        json_report(cli, r.already ? "none" : "fill", data, dry_run, &r);
    else if (r.already)
        say(cli, "The demo is there already (%zu sessions); --force replaces it\n", r.sessions);
    else
        print_filled(cli, data, dry_run, &r);
    tell_left(&r, "is not the demo's");
    return true;
}

static bool run_demo(Cli *cli, const Args *args, Err *err)
{
    bool dry_run = args_flag(args, "dry-run");
    const Homes *homes;
    DemoReport r;

    if (args_flag(args, "remove") && (args_flag(args, "force") || args_given(args, "now")))
        return err_set(err, ERR_USAGE, "--remove goes with neither --force nor --now");
    if (!cli_homes(cli, &homes, err))
        return false;
    if (!args_flag(args, "remove"))
        return fill(cli, args, homes->data, dry_run, err);
    if (!demo_remove(cli->arena, homes->data, dry_run, &r, err))
        return false;
    if (cli->json)
        json_report(cli, "remove", homes->data, dry_run, &r);
    else
        print_removed(cli, dry_run, &r);
    tell_left(&r, "was changed since it was made");
    return true;
}

const Command cmd_demo = {
    .name = "demo",
    .summary = "fill our own home with a labelled history to look at",
    .details =
        "Three months of one user's work, invented throughout, with everything that the other "
        "commands look for: recurring tasks, corrections, failed and parallel calls, a "
        "session in several parts, Chinese text, fabricated secrets, skills, memory and notes. "
        "Every session id begins with demo_, every title ends in (demo), every file says where it "
        "comes from. The same --now makes the same bytes.\n\n"
        "Files that are there already are left alone. Removal takes out what was made and nothing "
        "else; a file that was edited since stays.",
    .options = options,
    .examples = examples,
    .run = run_demo,
};

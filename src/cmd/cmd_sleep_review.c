/* talaria sleep review, reject: a night's proposal, read like a pull request, and turned down. */
#include "cmd/cmd_sleep.h"

#include "sleep/adoption/adopt.h"
#include "sleep/adoption/nights.h"
#include "sleep/adoption/reject.h"
#include "sleep/adoption/stage.h"
#include "sleep/task/rules.h"
#include "text/human.h"
#include "text/utf8.h"

enum { SHOWN = 200 };

const Option sleep_review_options[] = {
    { OPT_TEXT("staging", "NIGHT", "this night, by name or folder") },
    { OPT_FLAG("full", "show whole answers, unchanged tasks and what is kept of each rule") },
    { 0 },
};

const Option sleep_reject_options[] = {
    { OPT_TEXT("reason", "TEXT", "reason, passed on to later nights") },
    { OPT_FLAG("dry-run", "check everything, change nothing") },
    { 0 },
};

/* What is known of a rule stands behind it, for programs. */
static bool take_note(Arena *a, Str *line)
{
    Str rest = str_skip(*line, 1); /* behind the sign of the diff */
    RuleNote note;

    if (!rule_note_take(a, &rest, &note))
        return false;
    line->n = (size_t)(rest.p + rest.n - line->p);
    return true;
}

/* Whether the diff has the rule with another sign, so that only what is known of it has changed. */
static bool stays(Arena *a, Str diff, Str rule)
{
    Str line;

    while (diff.n && str_split(&diff, '\n', &line))
        if (line.n && line.p[0] == (rule.p[0] == '+' ? '-' : '+') && take_note(a, &line) &&
            str_eq(str_skip(line, 1), str_skip(rule, 1)))
            return true;
    return false;
}

/* `full`: as it is in the files. */
static void print_diff(Cli *cli, Str diff, bool full)
{
    Str all = diff, line;

    if (str_ends(diff, STR("\n")))
        diff.n--;
    while (diff.n && str_split(&diff, '\n', &line)) {
        Style colour = STYLE_OFF;

        if (!full && take_note(cli->arena, &line) && line.n && strchr("+-", line.p[0]) &&
            stays(cli->arena, all, line)) {
            if (line.p[0] == '-')
                continue;
            line = str_printf(cli->arena, " %.*s", STR_FMT(str_skip(line, 1)));
        }
        if (str_starts(line, STR("+++")) || str_starts(line, STR("---")))
            colour = STYLE_BOLD;
        else if (str_starts(line, STR("@@")))
            colour = STYLE_CYAN;
        else if (str_starts(line, STR("+")))
            colour = STYLE_GREEN;
        else if (str_starts(line, STR("-")))
            colour = STYLE_RED;
        say(cli, "%s", colour == STYLE_OFF ? "" : style(cli, colour));
        say_text(cli, line, false);
        say(cli, "%s\n", colour == STYLE_OFF ? "" : style(cli, STYLE_OFF));
    }
}

static void print_head(Cli *cli, const NightSummary *n)
{
    const SleepReport *s = &n->report.report;

    say(cli, "%snight %lld%s  ", style(cli, STYLE_BOLD), (long long)s->night,
        style(cli, STYLE_OFF));
    say_text(cli, n->staging, false);
    say(cli, "  ");
    say_text(cli, s->project, false);
    say(cli, "\n  score    %.1f → %.1f of 100", 100 * s->baseline_score, 100 * s->candidate_score);
    if (n->report.interval.n == 2)
        say(cli, "  (gain %+.1f to %+.1f)", 100 * n->report.interval.items[0],
            100 * n->report.interval.items[1]);
    if (report_simulated(&n->report))
        say(cli, "  %ssimulated: no model answered%s", style(cli, STYLE_YELLOW),
            style(cli, STYLE_OFF));
    say(cli, "\n  verdict  ");
    say_text(cli, report_verdict(s), false);
    if (n->rejected) {
        say(cli, "\n  rejected ");
        say_text(cli, n->rejection.reason, false);
    }
    say(cli, "\n  tasks    %lld from %lld session%s\n  backend  ", (long long)s->n_tasks,
        (long long)s->n_sessions, s->n_sessions == 1 ? "" : "s");
    say_text(cli, n->report.backend, false);
    say(cli, " ");
    say_text(cli, n->report.model, false);
    say(cli, "  %.*s tokens  %.*s\n", STR_FMT(human_count(cli->arena, s->tokens_used)),
        STR_FMT(human_cost(cli->arena, n->report.cost_usd)));
}

static void print_skills(Cli *cli, const Night *n, bool full)
{
    if (!n->skills.n)
        say(cli, "\nno proposal\n");
    for (size_t i = 0; i < n->skills.n; i++) {
        const NightSkill *s = &n->skills.items[i];

        say(cli, "\n%s%s%s ", style(cli, STYLE_BOLD), item_kind_name(s->item.kind),
            style(cli, STYLE_OFF));
        say_text(cli, s->item.name, false);
        say(cli, s->adopted                   ? "  adopted\n"
                 : s->live == LIVE_CHANGED    ? "  changed since the night\n"
                 : s->live == LIVE_UNREADABLE ? "  cannot be read\n"
                                              : "\n");
        print_diff(cli, s->diff, full);
    }
}

static void print_edits(Cli *cli, const char *title, const EditRecords *edits,
                        const EditShares *shares)
{
    if (edits->n)
        say(cli, "\n%s%s%s\n", style(cli, STYLE_BOLD), title, style(cli, STYLE_OFF));
    for (size_t i = 0; i < edits->n; i++) {
        const EditRecord *e = &edits->items[i];

        say(cli, "  ");
        say_text(cli, e->op, false);
        say(cli, " ");
        say_text(cli, e->content.n ? e->content : e->anchor, false);
        if (shares && i < shares->n) {
            const EditShare *s = &shares->items[i];

            say(cli, "  %s%.0f %% of the gain, %zu task%s changed%s", style(cli, STYLE_DIM),
                100 * s->share, s->moved_tasks.n, s->moved_tasks.n == 1 ? "" : "s",
                style(cli, STYLE_OFF));
        }
        say(cli, "\n");
        if (!e->rationale.n)
            continue;
        say(cli, "    %s", style(cli, STYLE_DIM));
        say_text(cli, e->rationale, false);
        say(cli, "%s\n", style(cli, STYLE_OFF));
    }
}

static void print_answer(Cli *cli, const char *label, const ReplayResult *r, double score,
                         bool full)
{
    Str shown = full ? r->response : utf8_head(r->response, SHOWN);

    say(cli, "    %s %s%5.1f%s  ", label, style(cli, r->hard >= 1 ? STYLE_GREEN : STYLE_YELLOW),
        100 * score, style(cli, STYLE_OFF));
    say_text(cli, shown, full);
    say(cli, shown.n < r->response.n ? "…\n" : "\n");
}

static void print_tasks(Cli *cli, const TaskPairs *tasks, bool full)
{
    bool begun = false;

    for (size_t i = 0; i < tasks->n; i++) {
        const TaskPair *t = &tasks->items[i];

        if (!full && (!t->before || !t->after || str_eq(t->before->response, t->after->response)))
            continue;
        if (!begun)
            say(cli, "\n%stasks whose answers changed%s\n", style(cli, STYLE_BOLD),
                style(cli, STYLE_OFF));
        begun = true;
        say(cli, "  ");
        say_text(cli, utf8_fit(cli->arena, t->intent, cli_width(cli) - 12), false);
        say(cli, "  %s", style(cli, STYLE_DIM));
        say_text(cli, t->split, false);
        say(cli, "%s\n", style(cli, STYLE_OFF));
        if (t->before)
            print_answer(cli, "before", t->before, t->score_before, full);
        if (t->after)
            print_answer(cli, "after ", t->after, t->score_after, full);
    }
}

static void print_night(Cli *cli, const Night *n, bool full)
{
    const SleepReport *s = &n->summary.report.report;

    print_head(cli, &n->summary);
    print_skills(cli, n, full);
    print_edits(cli, "edits", &s->edits, &n->summary.report.shares);
    print_edits(cli, "rejected edits", &s->rejected_edits, NULL);
    print_tasks(cli, &n->summary.report.tasks, full);
    for (size_t i = 0; i < s->notes.n; i++) {
        say(cli, "%s%s", i ? "" : "\n", style(cli, STYLE_DIM));
        say_text(cli, s->notes.items[i], false);
        say(cli, "%s\n", style(cli, STYLE_OFF));
    }
}

/* --json: {format, proposal}: everything of the night, as the page is given it. */
bool sleep_review(Cli *cli, const Args *args, Err *err)
{
    Str night = args_count(args) ? args_operand(args, 0) : args_text(args, "staging");
    Recovery recovery = { 0 };
    SleepHome home;
    JsonWriter w;
    Night n;

    if (args_count(args) && args_given(args, "staging"))
        return err_set(err, ERR_USAGE, "give NIGHT or --staging, not both");
    if (!sleep_home_of(cli, &home, err) || !adopt_recover(cli->arena, &home, &recovery, err) ||
        (!night.n && !night_proposed(cli->arena, &home, &night, err)) ||
        !night_load(cli->arena, &home, night, &n, err))
        return false;
    if (!cli->json) {
        print_night(cli, &n, args_flag(args, "full"));
        return true;
    }
    w = cli_json_begin(cli);
    json_key(&w, "proposal");
    night_put(&w, &n);
    cli_json_end(cli, &w);
    return true;
}

/* --json: {format, ok, dry_run, rejection: {night, at, reason, n_edits}} */
bool sleep_reject(Cli *cli, const Args *args, Err *err)
{
    Str night = args_count(args) ? args_operand(args, 0) : STR("");
    bool dry_run = args_flag(args, "dry-run");
    Rejection done;
    SleepHome home;
    JsonWriter w;

    if (!sleep_home_of(cli, &home, err) ||
        !night_reject(cli->arena, &home, night, args_text(args, "reason"), dry_run, &done, err))
        return false;
    if (!cli->json) {
        say(cli, "%s night ", dry_run ? "would reject" : "rejected");
        say_text(cli, done.night, false);
        say(cli, ": %lld edit%s will not be proposed again\n", (long long)done.n_edits,
            done.n_edits == 1 ? "" : "s");
        return true;
    }
    w = cli_json_begin(cli);
    json_field_bool(&w, "ok", true);
    json_field_bool(&w, "dry_run", dry_run);
    json_key(&w, "rejection");
    rejection_put(&w, &done);
    cli_json_end(cli, &w);
    return true;
}

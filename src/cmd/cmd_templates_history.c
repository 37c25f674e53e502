/* talaria templates: harvest, study. */
#include "cmd/cmd_sessions.h"
#include "cmd/cmd_templates.h"

#include "base/limits.h"
#include "base/log.h"
#include "cmd/table.h"
#include "templates/harvest.h"
#include "templates/study.h"
#include "templates/template_json.h"
#include "text/human.h"

/* -- what they share -- */

static void close_past(Past *p)
{
    history_close(p->history);
    index_close(p->index);
}
#define AUTO_PAST __attribute__((cleanup(close_past))) Past

static bool open_past(Cli *cli, const Args *args, Past *ret, Err *err)
{
    const Homes *homes;

    if (!cli_homes(cli, &homes, err))
        return false;
    ret->history = sessions_history(cli, err);
    ret->index = index_open(homes->data);
    ret->source = args_text(args, "source");
    return ret->history && cli_store(cli, &ret->store, err);
}

/* -- harvest -- */

static void print_created(Cli *cli, const HarvestItem *item, bool dry_run)
{
    say(cli, "%s template: %.*s\n  Type: %s\n  Examples: %zu\n  Session: ",
        dry_run ? "Would create" : "Created", STR_FMT(item->template_name),
        tasktype_name(item->type), item->examples);
    say_text(cli, item->session, false);
    say(cli, "\n  Why: %.*s\n", STR_FMT(item->reason));
}

static void print_left_out(Cli *cli, const Harvest *h)
{
    enum { TOLD = 5 };

    if (h->n_left_out)
        say(cli, "Left out:\n");
    for (size_t i = 0; i < h->n_left_out && i < TOLD; i++) {
        say(cli, "  ");
        say_text(cli, h->left_out[i].session, false);
        say(cli, " (%s): %.*s\n", tasktype_name(h->left_out[i].type),
            STR_FMT(h->left_out[i].reason));
    }
    if (h->n_left_out > TOLD)
        say(cli, "  and %zu more; --json tells all\n", h->n_left_out - TOLD);
}

static void put_items(JsonWriter *w, const char *key, const HarvestItem *items, size_t n)
{
    json_field_begin(w, key, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(w, '{');
        if (items[i].template_name.n) {
            json_field_str(w, "name", items[i].template_name);
            json_field_int(w, "examples", (int64_t)items[i].examples);
        }
        json_field_str(w, "session", items[i].session);
        json_field_str(w, "type", str_of(tasktype_name(items[i].type)));
        json_field_str(w, "reason", items[i].reason);
        json_end(w, '}');
    }
    json_end(w, ']');
}

/* --json: {format, dry_run, sessions, created: [{name, examples, session, type, reason}],
 *          left_out: [{session, type, reason}]}; sessions is how many were looked at. */
bool templates_harvest(Cli *cli, const Args *args, Err *err)
{
    HarvestOptions options = { .limit = (size_t)args_number(args, "limit"),
                               .dry_run = args_flag(args, "dry-run") };
    AUTO_PAST past = { 0 };
    const Homes *homes;
    JsonWriter w;
    Harvest h;

    if (options.limit > LIMIT_TEMPLATES)
        return err_set(err, ERR_USAGE, "--limit %zu: at most %d templates", options.limit,
                       LIMIT_TEMPLATES);
    if (!cli_homes(cli, &homes, err) || !open_past(cli, args, &past, err) ||
        !harvest_run(&past, cli->arena, homes, &options, &h, err))
        return false;
    if (cli->json) {
        w = cli_json_begin(cli);
        json_field_bool(&w, "dry_run", options.dry_run);
        json_field_int(&w, "sessions", (int64_t)h.sessions);
        put_items(&w, "created", h.created, h.n_created);
        put_items(&w, "left_out", h.left_out, h.n_left_out);
        cli_json_end(cli, &w);
        return true;
    }
    for (size_t i = 0; i < h.n_created; i++)
        print_created(cli, &h.created[i], options.dry_run);
    if (!h.sessions)
        say(cli, "No sessions found to make templates from\n");
    else if (!h.n_created && h.sessions == 1)
        say(cli, "No new templates: the only session does not qualify\n");
    else if (!h.n_created)
        say(cli, "No new templates: none of the %zu sessions qualifies\n", h.sessions);
    print_left_out(cli, &h);
    return true;
}

/* -- study -- */

/* Confidence intervals go first where there is no room for them. */
static const TableColumn study_columns[] = {
    { .title = "TENTH", .right = true },      { .title = "CODE-HEAVY", .right = true },
    { .title = "FAILED", .right = true },     { .title = "95 %", .drop = 1 },
    { .title = "FILE-HEAVY", .right = true }, { .title = "FAILED", .right = true },
    { .title = "95 %", .drop = 1 },           { .title = "OTHER", .right = true },
    { .title = "FAILED", .right = true },     { .title = "95 %", .drop = 1 },
};

static void study_cells(Table *t, const StudyShare *s)
{
    table_cellf(t, "%llu/%llu", (unsigned long long)s->failed, (unsigned long long)s->calls);
    if (s->calls) {
        table_cellf(t, "%.1f%%", s->share * 100);
        table_cellf(t, "%.1f-%.1f", s->low * 100, s->high * 100);
    } else {
        table_cell(t, STR("-"));
        table_cell(t, STR("-"));
    }
}

static void print_table(Cli *cli, const Study *study)
{
    AUTO(Table) *t = table_begin(cli, study_columns, ARRAY_LEN(study_columns));

    for (size_t d = 0; d < STUDY_DECILES; d++) {
        table_cellf(t, "%zu", d + 1);
        for (StudyKind k = 0; k < STUDY_KIND_COUNT; k++)
            study_cells(t, &study->lines[k].deciles[d]);
    }
    table_end(t);
}

static double largest_share(const Study *study)
{
    double max = 0;

    for (StudyKind k = 0; k < STUDY_KIND_COUNT; k++)
        for (size_t d = 0; study->lines[k].enough && d < STUDY_DECILES; d++)
            if (study->lines[k].deciles[d].share > max)
                max = study->lines[k].deciles[d].share;
    return max;
}

/* One row of ten bars each: the part of every bar in that row, in eighths. A kind with too few
 * sessions has none: its few calls would set the scale for the others. */
static void print_bars(Cli *cli, const Study *study, int row, int rows, double max)
{
    static const char *const eighths[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const Style colors[] = { STYLE_GREEN, STYLE_YELLOW, STYLE_BLUE };

    for (StudyKind k = 0; k < STUDY_KIND_COUNT; k++) {
        say(cli, "%s%s", k ? "   " : " ", style(cli, colors[k]));
        for (size_t d = 0; d < STUDY_DECILES; d++) {
            double share = study->lines[k].enough ? study->lines[k].deciles[d].share : 0;
            int height = (int)(share / max * rows * 8 + 0.5) - row * 8;

            say(cli, "%s ", eighths[height < 0 ? 0 : height > 8 ? 8 : height]);
        }
        say(cli, "%s", style(cli, STYLE_OFF));
    }
    say(cli, "\n");
}

static void print_plot(Cli *cli, const Study *study)
{
    enum { ROWS = 4 };
    double max = largest_share(study);

    if (!(max > 0))
        return;
    say(cli, "\n");
    for (int row = ROWS - 1; row >= 0; row--) {
        if (row == ROWS - 1)
            say(cli, "%5.1f%% ", max * 100);
        else
            say(cli, "%6s ", row == 0 ? "0%" : "");
        print_bars(cli, study, row, ROWS, max);
    }
}

static void print_line(Cli *cli, StudyKind kind, const StudyLine *line)
{
    const StudyFit *fit = &line->fit;

    say(cli, "%s%-11s%s%.*s, %.*s", style(cli, STYLE_BOLD), study_kind_name(kind),
        style(cli, STYLE_OFF), STR_FMT(human_n(cli->arena, (int64_t)line->sessions, "session")),
        STR_FMT(human_n(cli->arena, (int64_t)line->calls, "call")));
    if (line->enough && fit->known)
        say(cli, ", slope %+.2f points per tenth (error %.2f; 95 %%: %+.2f to %+.2f): %s\n",
            fit->slope * 100, fit->error * 100, fit->low * 100, fit->high * 100,
            study_verdict(line));
    else
        say(cli, ": %s (needs %d sessions)\n", study_verdict(line), STUDY_MIN_SESSIONS);
}

/* --json: {format, sessions, kinds: [{kind, sessions, calls, failed, enough,
 *          slope: {per_decile, standard_error, low, high, differs_from_zero} or null, verdict,
 *          deciles: [{decile, calls, failed, share, low, high}]}], method}. Shares are 0 to 1,
 *          null in a decile without calls. */
bool templates_study(Cli *cli, const Args *args, Err *err)
{
    AUTO_PAST past = { 0 };
    Study study;
    JsonWriter w;

    if (!open_past(cli, args, &past, err) || !study_run(&past, &study, err))
        return false;
    if (cli->json) {
        w = cli_json_begin(cli);
        study_put(&w, &study);
        cli_json_end(cli, &w);
        return true;
    }
    if (!study.sessions) {
        log_note("no sessions found");
        return true;
    }
    if (!cli_on_terminal(cli)) {
        print_table(cli, &study);
        for (StudyKind k = 0; k < STUDY_KIND_COUNT; k++)
            log_note("%s: %s", study_kind_name(k), study_verdict(&study.lines[k]));
        return true;
    }
    say(cli, "Failure rate of tool calls over the course of a session\n\n");
    print_table(cli, &study);
    print_plot(cli, &study);
    say(cli, "\n");
    for (StudyKind k = 0; k < STUDY_KIND_COUNT; k++)
        print_line(cli, k, &study.lines[k]);
    say(cli, "\n%s%s%s\n", style(cli, STYLE_DIM), study_method, style(cli, STYLE_OFF));
    return true;
}

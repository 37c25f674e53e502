/* talaria sleep status: the nights as a table, and the report of the last one as a person reads it. */
#include "base/limits.h"
#include "cmd/cmd_sleep_adopt.h"
#include "cmd/table.h"
#include "sleep/adoption/nights.h"
#include "terminal/paint.h"
#include "text/human.h"

/* The words of the page. */
static const char *state_of(const NightSummary *n)
{
    return n->adopted                                   ? "adopted"
           : n->rejected                                ? "rejected"
           : n->undone                                  ? "adoption undone"
           : n->report.report.accepted && n->manifest.n ? "to review"
                                                        : "no proposal";
}

static Str answers_of(const NightSummary *n)
{
    return report_simulated(&n->report) ? STR("simulated")
           : n->report.model.n          ? n->report.model
                                        : n->report.backend;
}

bool sleep_print_nights(Cli *cli, const SleepHome *home, Str project, Err *err)
{
    static const TableColumn columns[] = {
        { .title = "NIGHT" },
        { .title = "PROJECT", .min = 12 },
        { .title = "BEFORE", .right = true },
        { .title = "AFTER", .right = true },
        { .title = "ANSWERS", .min = 9, .drop = 1 },
        { .title = "STATUS" },
    };
    AUTO(Table) *t = NULL;
    NightSummary *all;
    size_t n;

    if (!nights_list(cli->arena, home, project, &all, &n, err))
        return false;
    t = table_begin(cli, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < n; i++) {
        const SleepReport *r = &all[i].report.report;

        table_cell(t, all[i].staging);
        table_cell(t, r->project);
        table_cellf(t, "%.1f", 100 * r->baseline_score);
        table_cellf(t, "%.1f", 100 * r->candidate_score);
        table_cell(t, answers_of(&all[i]));
        table_cell(t, str_of(state_of(&all[i])));
    }
    table_end(t);
    return true;
}

void sleep_print_report(Cli *cli, Str md)
{
    paint_text(&(PaintOptions){ .columns = cli_width(cli), .color = cli->color }, md, cli->out);
}

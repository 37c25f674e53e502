/* The report for people. Everything that is not a word of ours goes through md_text. */
#include "sleep/adoption/report.h"

#include "text/utf8.h"

enum { LINE = 300, NAME = 120 };

/* Controls, line ends and what turns the direction of text are blanks; utf8_show would print them. */
static bool is_plain(uint32_t c)
{
    return c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && c != 0x2028 && c != 0x2029 &&
           c != 0x200b && !(c >= 0x200e && c <= 0x200f) && !(c >= 0x202a && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

void md_text(Buf *out, Str s, size_t max)
{
    size_t n = 0;
    bool blank = true; /* none at the beginning */

    while (s.n && n < max) {
        uint32_t c = utf8_next(&s);
        char bytes[4];

        if (!is_plain(c) || c == ' ') {
            blank = blank || (buf_addc(out, ' '), true);
            continue;
        }
        if (c < 0x80 && strchr("\\`*_{}[]()#+-.!|<>~&$:@\"", (int)c))
            buf_addc(out, '\\');
        buf_add(out, (Str){ bytes, utf8_put(bytes, c) });
        blank = false;
        n++;
    }
    if (s.n)
        buf_addz(out, "…");
}

static void item(Buf *out, const char *name, Str value)
{
    buf_addf(out, "- %s: ", name);
    md_text(out, value, LINE);
    buf_addc(out, '\n');
}

static void put_head(Buf *out, const NightReport *r)
{
    const SleepReport *s = &r->report;

    buf_addf(out, "# Night %lld\n\n", (long long)s->night);
    buf_addz(out, "**");
    md_text(out, report_verdict(s), LINE);
    buf_addf(out, "**, score %.1f → %.1f of 100", 100 * s->baseline_score,
             100 * s->candidate_score);
    if (r->has_interval)
        buf_addf(out, " (gain between %+.1f and %+.1f)", 100 * r->low, 100 * r->high);
    buf_addz(out, "\n\n");
    if (report_simulated(r))
        buf_addz(out, "> **Simulated.** No model answered: the program made up the answers, so the "
                      "scores show how sleep works, not how good the rules are.\n\n");
    item(out, "project", s->project.n ? s->project : STR("all"));
    item(out, "started", s->started_at);
    item(out, "finished", s->ended_at);
    item(out, "answers from", report_simulated(r) ? STR("simulation (mock)") : r->backend);
    if (r->model.n)
        item(out, "model", r->model);
    buf_addf(out, "- sessions: %lld\n- tasks: %lld, replayed %lld times in total\n",
             (long long)s->n_sessions, (long long)s->n_tasks, (long long)s->n_replayed);
    buf_addf(out, "- tokens: %lld\n- cost: $%.4f\n", (long long)s->tokens_used, r->cost_usd);
    if (s->holdout_leaked)
        buf_addz(out, "\n> **Not validated.** There were too few tasks to hold some out, so the "
                      "rules were validated on the tasks they came from. No proposal.\n");
}

/* A task by its words; by its id where the report does not hold them. */
static Str task_name(const NightReport *r, Str id)
{
    for (size_t i = 0; i < r->tasks.n; i++)
        if (str_eq(r->tasks.items[i].id, id) && r->tasks.items[i].intent.n)
            return r->tasks.items[i].intent;
    return id;
}

static bool has_moved(const TaskDelta *d)
{
    return d->baseline_score != d->candidate_score;
}

static void put_moved(Buf *out, const NightReport *r, const TaskDeltas *deltas)
{
    buf_addz(out, "\n| task | before | after | |\n|---|---:|---:|---|\n");
    for (size_t i = 0; i < deltas->n; i++) {
        const TaskDelta *d = &deltas->items[i];

        if (!has_moved(d))
            continue;
        buf_addz(out, "| ");
        md_text(out, task_name(r, d->task_id), NAME);
        buf_addf(out, " | %.1f | %.1f | ", 100 * d->baseline_score, 100 * d->candidate_score);
        md_text(out, d->status, NAME);
        buf_addz(out, " |\n");
    }
}

static void put_trial(Buf *out, const NightReport *r, const GateTrial *t)
{
    size_t moved = 0, still;

    buf_addz(out, "\n### ");
    md_text(out, t->target, NAME);
    buf_addf(out, ": %.1f → %.1f, %s%s\n", 100 * t->baseline_score, 100 * t->candidate_score,
             t->accepted ? "accepted" : "rejected",
             t->blocked_by_regression ? " because a task got worse" : "");
    for (size_t i = 0; i < t->task_deltas.n; i++)
        moved += has_moved(&t->task_deltas.items[i]);
    if (moved)
        put_moved(out, r, &t->task_deltas);
    still = t->task_deltas.n - moved;
    if (still)
        buf_addf(out, "\n%zu task%s unchanged\n", still, still == 1 ? "" : "s");
}

static void put_edits(Buf *out, const char *title, const EditRecords *edits,
                      const EditShares *shares)
{
    if (!edits->n)
        return;
    buf_addf(out, "\n## %s\n\n", title);
    for (size_t i = 0; i < edits->n; i++) {
        const EditRecord *e = &edits->items[i];

        buf_addz(out, "- **");
        md_text(out, e->op, NAME);
        buf_addz(out, "** in ");
        md_text(out, e->target, NAME);
        buf_addz(out, ": ");
        md_text(out, e->content.n ? e->content : e->anchor, LINE);
        if (shares && i < shares->n)
            buf_addf(out, " (%.0f %% of the gain)", 100 * shares->items[i].share);
        buf_addc(out, '\n');
        if (e->rationale.n) {
            buf_addz(out, "  - ");
            md_text(out, e->rationale, LINE);
            buf_addc(out, '\n');
        }
    }
}

/* A group that was skipped gives its reason in words; one that was tried has a reason's name. */
static Str group_verdict(const SkillGroupReport *g)
{
    SleepReport s = { .gate_action = g->gate_action, .no_edits_reason = g->reason };
    Str text = report_verdict(&s);

    return text.n ? text : g->reason;
}

static void put_skills(Buf *out, const SkillGroupReports *groups)
{
    if (!groups->n)
        return;
    buf_addz(out, "\n## Skills\n\n| skill | status | tasks | before | after | edits | verdict |\n"
                  "|---|---|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < groups->n; i++) {
        const SkillGroupReport *g = &groups->items[i];

        buf_addz(out, "| ");
        md_text(out, g->skill_name, NAME);
        buf_addz(out, " | ");
        md_text(out, g->status, NAME);
        buf_addf(out, " | %lld | %.1f | %.1f | %lld | ", (long long)g->n_tasks,
                 100 * g->baseline_score, 100 * g->candidate_score, (long long)g->n_applied_edits);
        md_text(out, group_verdict(g), NAME);
        buf_addz(out, " |\n");
    }
}

void report_md(Buf *out, const NightReport *r)
{
    const SleepReport *s = &r->report;

    put_head(out, r);
    if (s->gate_trials.n)
        buf_addz(out, "\n## Validation\n");
    for (size_t i = 0; i < s->gate_trials.n; i++)
        put_trial(out, r, &s->gate_trials.items[i]);
    put_edits(out, "Accepted edits", &s->edits, &r->shares);
    put_edits(out, s->holdout_leaked ? "Unverified edits" : "Rejected edits", &s->rejected_edits,
              NULL);
    put_edits(out, "Edits that could not be applied", &s->unmatched_edits, NULL);
    put_skills(out, &s->skill_groups);
    if (s->notes.n)
        buf_addz(out, "\n## Notes\n\n");
    for (size_t i = 0; i < s->notes.n; i++) {
        buf_addz(out, "- ");
        md_text(out, s->notes.items[i], LINE);
        buf_addc(out, '\n');
    }
}

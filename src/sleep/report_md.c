/* The report for people. Everything that is not a word of ours goes through md_text. */
#include "sleep/report.h"

#include "text/utf8.h"

enum { LINE = 300, NAME = 120 };

/* Controls, line ends and what turns the direction of text are blanks; utf8_show would print them. */
static bool is_plain(uint32_t c)
{
    return c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && c != 0x2028 && c != 0x2029 &&
           c != 0x200b && !(c >= 0x200e && c <= 0x200f) && !(c >= 0x202a && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

void md_text(Buf *out, Str s, size_t most)
{
    size_t n = 0;
    bool blank = true; /* none at the beginning */

    while (s.n && n < most) {
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
    item(out, "project", s->project.n ? s->project : STR("all"));
    item(out, "from", s->started_at);
    item(out, "to", s->ended_at);
    item(out, "backend", r->backend);
    if (r->model.n)
        item(out, "model", r->model);
    buf_addf(out, "- sessions: %lld\n- tasks: %lld, tried %lld times in all\n",
             (long long)s->n_sessions, (long long)s->n_tasks, (long long)s->n_replayed);
    buf_addf(out, "- score: %.3f before, %.3f after", s->baseline_score, s->candidate_score);
    if (r->has_interval)
        buf_addf(out, " (gain between %+.3f and %+.3f)", r->low, r->high);
    buf_addf(out, "\n- tokens: %lld\n- cost: $%.4f\n", (long long)s->tokens_used, r->cost_usd);
    item(out, "verdict", s->gate_action);
    if (s->no_edits_reason.n)
        item(out, "why nothing is proposed", s->no_edits_reason);
    if (s->holdout_leaked)
        buf_addz(out, "\n> **Not validated.** There were too few tasks to keep some aside, so the "
                      "same tasks were learned from and judged by. Nothing is proposed.\n");
}

static void put_trial(Buf *out, const GateTrial *t)
{
    buf_addz(out, "\n### ");
    md_text(out, t->target, NAME);
    buf_addf(out, ": %.3f → %.3f, %s%s\n", t->baseline_score, t->candidate_score,
             t->accepted ? "accepted" : "rejected",
             t->blocked_by_regression ? " because a task got worse" : "");
    if (!t->task_deltas.n)
        return;
    buf_addz(out, "\n| task | before | after | |\n|---|---:|---:|---|\n");
    for (size_t i = 0; i < t->task_deltas.n; i++) {
        const TaskDelta *d = &t->task_deltas.items[i];

        buf_addz(out, "| ");
        md_text(out, d->task_id, NAME);
        buf_addf(out, " | %.3f | %.3f | ", d->baseline_score, d->candidate_score);
        md_text(out, d->status, NAME);
        buf_addz(out, " |\n");
    }
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
        buf_addf(out, " | %lld | %.3f | %.3f | %lld | ", (long long)g->n_tasks, g->baseline_score,
                 g->candidate_score, (long long)g->n_applied_edits);
        md_text(out, g->reason.n ? g->reason : g->gate_action, NAME);
        buf_addz(out, " |\n");
    }
}

void report_md(Buf *out, const NightReport *r)
{
    const SleepReport *s = &r->report;

    put_head(out, r);
    if (s->gate_trials.n)
        buf_addz(out, "\n## Gate\n");
    for (size_t i = 0; i < s->gate_trials.n; i++)
        put_trial(out, &s->gate_trials.items[i]);
    put_edits(out, "Accepted edits", &s->edits, &r->shares);
    put_edits(out, s->holdout_leaked ? "Unverified edits" : "Rejected edits", &s->rejected_edits,
              NULL);
    put_edits(out, "Edits that fit nowhere", &s->unmatched_edits, NULL);
    put_skills(out, &s->skill_groups);
    if (s->notes.n)
        buf_addz(out, "\n## Notes\n\n");
    for (size_t i = 0; i < s->notes.n; i++) {
        buf_addz(out, "- ");
        md_text(out, s->notes.items[i], LINE);
        buf_addc(out, '\n');
    }
}

/* In the report for people, all text that is not Talaria's own goes through md_text. */
#include "sleep/adoption/report.h"

#include "base/limits.h"
#include "sleep/learning/consolidate.h"
#include "sleep/task/score.h"
#include "text/utf8.h"

/* -- Result in words -- */

/* X(gate_action, text for people) */
#define GATE_ACTIONS(X)                                                                            \
    X("accept_new_best", "Accepted: best score so far")                                            \
    X("accept", "Accepted")                                                                        \
    X("reject", "Rejected: no improvement in validation")                                          \
    X("reject_unverified", "Rejected: too few tasks to validate")                                  \
    X("greedy_applied", "Accepted without validation")                                             \
    X("greedy_noop", "No change")

Str report_verdict(const SleepReport *s)
{
#define X(reason, name, text)                                                                      \
    if (s->no_edits_reason.n && str_eqz(s->no_edits_reason, name))                                 \
        return STR("No proposal: " text);
    NO_EDITS(X)
#undef X
#define X(name, text)                                                                              \
    if (str_eqz(s->gate_action, name))                                                             \
        return STR(text);
    GATE_ACTIONS(X)
#undef X
    return s->gate_action;
}

bool report_simulated(const NightReport *r)
{
    return str_eqz(r->backend, "mock");
}

/* -- JSON -- */

static const RecordField pair_fields[] = {
    RECORD_FIELD(TaskPair, id),
    RECORD_FIELD(TaskPair, intent),
    RECORD_FIELD(TaskPair, split),
    RECORD_FIELD(TaskPair, reference_kind),
    RECORD_OPTIONAL(TaskPair, before, &replay_result_record, .when_empty = RECORD_OMIT),
    RECORD_FIELD(TaskPair, score_before, .when_empty = RECORD_OMIT_NEGATIVE, .fallback = "-1"),
    RECORD_OPTIONAL(TaskPair, after, &replay_result_record, .when_empty = RECORD_OMIT),
    RECORD_FIELD(TaskPair, score_after, .when_empty = RECORD_OMIT_NEGATIVE, .fallback = "-1"),
};
const RecordTable task_pair_record = RECORD(TaskPair, "task", pair_fields);

static const RecordField share_fields[] = {
    RECORD_FIELD(EditShare, skill),
    RECORD_FIELD(EditShare, share),
    RECORD_FIELD(EditShare, moved_tasks),
    RECORD_FIELD(EditShare, sessions),
};
const RecordTable edit_share_record = RECORD(EditShare, "edit share", share_fields);

static const RecordField report_fields[] = {
    RECORD_EMBED(NightReport, report, &sleep_report_record),
    RECORD_FIELD(NightReport, backend),
    RECORD_FIELD(NightReport, model, .when_empty = RECORD_NULL_STR),
    RECORD_FIELD(NightReport, n_calls),
    RECORD_FIELD(NightReport, cost_usd),
    RECORD_FIELD(NightReport, interval, .when_empty = RECORD_NULL),
    RECORD_LIST(NightReport, shares, &edit_share_record, .key = "edit_shares"),
    RECORD_LIST(NightReport, tasks, &task_pair_record),
    RECORD_FIELD(NightReport, call_error),
};
static const RecordTable report_record = RECORD(NightReport, "report", report_fields);

void report_init(NightReport *r)
{
    record_init(&report_record, r);
    r->reflect_head = STR("");
}

void report_json(Buf *out, const NightReport *r)
{
    JsonWriter w = JSON_WRITER(out, 2);

    record_put(&w, &report_record, r);
    buf_addc(out, '\n');
}

bool report_parse(Arena *a, Str json, NightReport *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(json, err);

    if (!doc || !record_read(a, &report_record, json_root(doc), ret, err))
        return false;
    for (size_t i = 0; i < ret->tasks.n; i++) { /* reports of earlier versions have no scores */
        TaskPair *t = &ret->tasks.items[i];

        if (t->before && t->score_before < 0)
            t->score_before = score_of(SCORE_RULE_DEFAULT, t->before->hard, t->before->soft);
        if (t->after && t->score_after < 0)
            t->score_after = score_of(SCORE_RULE_DEFAULT, t->after->hard, t->after->soft);
    }
    return true;
}

/* -- Diagnostics -- */

enum { REFLECT_HEAD = 1200, ANSWER_HEAD = 200 };

static Str head(Str s, size_t max)
{
    Str rest = s;

    for (size_t i = 0; i < max && rest.n; i++)
        (void)utf8_next(&rest);
    return str_head(s, s.n - rest.n);
}

static const RecordField diagnostics_fields[] = {
    RECORD_FIELD(NightReport, report.night, .key = "night"),
    RECORD_FIELD(NightReport, backend),
    RECORD_FIELD(NightReport, report.accepted, .key = "accepted"),
    RECORD_FIELD(NightReport, report.gate_action, .key = "gate_action"),
    RECORD_FIELD(NightReport, report.baseline_score, .key = "baseline"),
    RECORD_FIELD(NightReport, report.candidate_score, .key = "candidate"),
    RECORD_FIELD(NightReport, report.n_tasks, .key = "n_tasks"),
    RECORD_FIELD(NightReport, report.edits.n, .key = "n_edits"),
    RECORD_FIELD(NightReport, report.rejected_edits.n, .key = "n_rejected_edits"),
    RECORD_FIELD(NightReport, report.unmatched_edits.n, .key = "n_unmatched_edits"),
    RECORD_FIELD(NightReport, call_error),
};
static const RecordTable diagnostics_record = RECORD(NightReport, "report", diagnostics_fields);

static void put_val_task(JsonWriter *w, const TaskPair *t)
{
    static const ReplayResult none;
    const ReplayResult *r = t->after ? t->after : t->before ? t->before : &none;

    json_begin(w, '{');
    json_field_str(w, "id", t->id);
    json_field_str(w, "reference_kind", t->reference_kind);
    json_field_double(w, "hard", r->hard);
    json_field_double(w, "soft", r->soft);
    json_field_int(w, "response_len", (int64_t)utf8_count(r->response));
    json_field_str(w, "response_head", head(r->response, ANSWER_HEAD));
    json_field_str(w, "why", head(r->fail_reason, ANSWER_HEAD));
    json_end(w, '}');
}

void report_diagnostics(Buf *out, const NightReport *r)
{
    JsonWriter w = JSON_WRITER(out, 2);

    json_begin(&w, '{');
    record_put_fields(&w, &diagnostics_record, r);
    json_field_str(&w, "reflect_head", head(r->reflect_head, REFLECT_HEAD));
    json_field_begin(&w, "val_tasks", '[');
    for (size_t i = 0; i < r->tasks.n; i++)
        if (str_eqz(r->tasks.items[i].split, "val"))
            put_val_task(&w, &r->tasks.items[i]);
    json_end(&w, ']');
    json_key(&w, "gate_trials");
    record_put_list(&w, &gate_trial_record, &r->report.gate_trials);
    json_end(&w, '}');
    buf_addc(out, '\n');
}

/* -- Markdown -- */

enum { LINE = 300, NAME = 120 };

/* Controls, line ends and characters that change the direction of text are written as blanks. */
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

static void put_item(Buf *out, const char *name, Str value)
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
    if (r->interval.n == 2)
        buf_addf(out, " (gain between %+.1f and %+.1f)", 100 * r->interval.items[0],
                 100 * r->interval.items[1]);
    buf_addz(out, "\n\n");
    if (report_simulated(r))
        buf_addz(out, "> **Simulated.** No model answered: the program made up the answers, so the "
                      "scores show how sleep works, not how good the rules are.\n\n");
    put_item(out, "project", s->project.n ? s->project : STR("all"));
    put_item(out, "started", s->started_at);
    put_item(out, "finished", s->ended_at);
    put_item(out, "answers from", report_simulated(r) ? STR("simulation (mock)") : r->backend);
    if (r->model.n)
        put_item(out, "model", r->model);
    buf_addf(out, "- sessions: %lld\n- tasks: %lld, replayed %lld times in total\n",
             (long long)s->n_sessions, (long long)s->n_tasks, (long long)s->n_replayed);
    buf_addf(out, "- tokens: %lld\n- cost: $%.4f\n", (long long)s->tokens_used, r->cost_usd);
    if (s->holdout_leaked)
        buf_addz(out, "\n> **Not validated.** There were too few tasks to hold some out, so the "
                      "rules were validated on the tasks they came from. No proposal.\n");
}

/* The intent of a task, or its id if the report does not have it. */
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

/* A skipped group has its reason as text; a tried one has the name of a reason. */
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

/* The JSON of a report: the fields of SleepReport by their table, then ours. */
#include "sleep/adoption/report.h"

#include "base/limits.h"
#include "sleep/learning/consolidate.h"
#include "sleep/task/score.h"
#include "text/utf8.h"

void report_init(NightReport *r)
{
    *r = (NightReport){
        .backend = STR(""), .model = STR(""), .call_error = STR(""), .reflect_head = STR("")
    };
    sleep_report_init(&r->report);
}

/* -- in words ------------------------------------------------------------------------------------ */

/* X(gate_action, what people read) */
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

/* -- writing ------------------------------------------------------------------------------------ */

static void put_texts(JsonWriter *w, const char *key, const StrList *list)
{
    json_key(w, key);
    json_begin(w, '[');
    for (size_t i = 0; i < list->n; i++)
        json_put_str(w, list->items[i]);
    json_end(w, ']');
}

static void put_pair(JsonWriter *w, const TaskPair *t)
{
    json_begin(w, '{');
    json_field_str(w, "id", t->id);
    json_field_str(w, "intent", t->intent);
    json_field_str(w, "split", t->split);
    json_field_str(w, "reference_kind", t->reference_kind);
    if (t->has_before) {
        json_key(w, "before");
        replay_result_put(w, &t->before);
        json_field_double(w, "score_before", t->score_before);
    }
    if (t->has_after) {
        json_key(w, "after");
        replay_result_put(w, &t->after);
        json_field_double(w, "score_after", t->score_after);
    }
    json_end(w, '}');
}

static void put_share(JsonWriter *w, const EditShare *s)
{
    json_begin(w, '{');
    json_field_str(w, "skill", s->skill.p ? s->skill : STR(""));
    json_field_double(w, "share", s->share);
    put_texts(w, "moved_tasks", &s->moved_tasks);
    put_texts(w, "sessions", &s->sessions);
    json_end(w, '}');
}

/* The record's own writer makes a whole object; its fields are taken over into this one. */
static void put_record(JsonWriter *w, const SleepReport *r)
{
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    JsonWriter inner = JSON_WRITER(&text, 0);
    AUTO(JsonDoc) *doc = NULL;
    JsonIter it;
    Err ignored;
    Str key;
    Json item;

    sleep_report_put(&inner, r);
    doc = json_parse(buf_str(&text), &ignored);
    if (!doc)
        return;
    it = json_each(json_root(doc));
    while (json_next(&it, &key, &item)) {
        json_key_str(w, key);
        json_put(w, item);
    }
}

void report_json(Buf *out, const NightReport *r)
{
    JsonWriter w = JSON_WRITER(out, 2);

    json_begin(&w, '{');
    put_record(&w, &r->report);
    json_field_str(&w, "backend", r->backend);
    json_field_str(&w, "model", r->model);
    json_field_int(&w, "n_calls", r->n_calls);
    json_field_double(&w, "cost_usd", r->cost_usd);
    json_key(&w, "interval");
    if (r->has_interval) {
        json_begin(&w, '[');
        json_put_double(&w, r->low);
        json_put_double(&w, r->high);
        json_end(&w, ']');
    } else {
        json_put_null(&w);
    }
    json_key(&w, "edit_shares");
    json_begin(&w, '[');
    for (size_t i = 0; i < r->shares.n; i++)
        put_share(&w, &r->shares.items[i]);
    json_end(&w, ']');
    json_key(&w, "tasks");
    json_begin(&w, '[');
    for (size_t i = 0; i < r->tasks.n; i++)
        put_pair(&w, &r->tasks.items[i]);
    json_end(&w, ']');
    json_field_str(&w, "call_error", r->call_error);
    json_end(&w, '}');
    buf_addc(out, '\n');
}

/* -- reading ------------------------------------------------------------------------------------ */

static Str text_of(Arena *a, Json v, Str key)
{
    return str_dup(a, json_str(json_get(v, key)));
}

static void read_texts(Arena *a, Json list, StrList *ret)
{
    JsonIter it = json_each(list);
    Str ignored;
    Json item;

    while (json_next(&it, &ignored, &item))
        LIST_PUSH(a, ret, str_dup(a, json_str(item)));
}

static bool read_pairs(Arena *a, Json list, NightReport *r, Err *err)
{
    JsonIter it = json_each(list);
    Str ignored;
    Json item;

    while (json_next(&it, &ignored, &item)) {
        Json before = json_get(item, STR("before")), after = json_get(item, STR("after"));
        TaskPair t = { .id = text_of(a, item, STR("id")),
                       .intent = text_of(a, item, STR("intent")),
                       .split = text_of(a, item, STR("split")),
                       .reference_kind = text_of(a, item, STR("reference_kind")),
                       .has_before = json_type(before) == JSON_OBJECT,
                       .has_after = json_type(after) == JSON_OBJECT };

        if ((t.has_before && !replay_result_read(a, before, &t.before, err)) ||
            (t.has_after && !replay_result_read(a, after, &t.after, err)))
            return false;
        /* Reports of earlier versions lack them. */
        t.score_before = score_of(SCORE_RULE_DEFAULT, t.before.hard, t.before.soft);
        t.score_after = score_of(SCORE_RULE_DEFAULT, t.after.hard, t.after.soft);
        (void)json_double(json_get(item, STR("score_before")), &t.score_before);
        (void)json_double(json_get(item, STR("score_after")), &t.score_after);
        LIST_PUSH(a, &r->tasks, t);
    }
    return true;
}

static void read_shares(Arena *a, Json list, NightReport *r)
{
    JsonIter it = json_each(list);
    Str ignored;
    Json item;

    while (json_next(&it, &ignored, &item)) {
        EditShare s = { .skill = text_of(a, item, STR("skill")) };

        (void)json_double(json_get(item, STR("share")), &s.share);
        read_texts(a, json_get(item, STR("moved_tasks")), &s.moved_tasks);
        read_texts(a, json_get(item, STR("sessions")), &s.sessions);
        LIST_PUSH(a, &r->shares, s);
    }
}

bool report_parse(Arena *a, Str json, NightReport *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(json, err);
    Json root = doc ? json_root(doc) : (Json){ 0 }, interval = json_get(root, STR("interval"));
    NightReport r;

    if (!doc)
        return false;
    report_init(&r);
    if (!sleep_report_read(a, root, &r.report, err) ||
        !read_pairs(a, json_get(root, STR("tasks")), &r, err))
        return false;
    r.backend = text_of(a, root, STR("backend"));
    r.model = text_of(a, root, STR("model"));
    r.call_error = text_of(a, root, STR("call_error"));
    (void)json_double(json_get(root, STR("cost_usd")), &r.cost_usd);
    (void)json_int(json_get(root, STR("n_calls")), &r.n_calls);
    r.has_interval =
        json_double(json_at(interval, 0), &r.low) && json_double(json_at(interval, 1), &r.high);
    read_shares(a, json_get(root, STR("edit_shares")), &r);
    *ret = r;
    return true;
}

/* -- diagnostics -------------------------------------------------------------------------------- */

enum { REFLECT_HEAD = 1200, ANSWER_HEAD = 200 };

static Str head(Str s, size_t max)
{
    Str rest = s;

    for (size_t i = 0; i < max && rest.n; i++)
        (void)utf8_next(&rest);
    return str_head(s, s.n - rest.n);
}

static void put_val_task(JsonWriter *w, const TaskPair *t)
{
    const ReplayResult *r = t->has_after ? &t->after : &t->before;

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
    const SleepReport *s = &r->report;
    JsonWriter w = JSON_WRITER(out, 2);

    json_begin(&w, '{');
    json_field_int(&w, "night", s->night);
    json_field_str(&w, "backend", r->backend);
    json_field_bool(&w, "accepted", s->accepted);
    json_field_str(&w, "gate_action", s->gate_action);
    json_field_double(&w, "baseline", s->baseline_score);
    json_field_double(&w, "candidate", s->candidate_score);
    json_field_int(&w, "n_tasks", s->n_tasks);
    json_field_int(&w, "n_edits", (int64_t)s->edits.n);
    json_field_int(&w, "n_rejected_edits", (int64_t)s->rejected_edits.n);
    json_field_int(&w, "n_unmatched_edits", (int64_t)s->unmatched_edits.n);
    json_field_str(&w, "call_error", r->call_error);
    json_field_str(&w, "reflect_head", head(r->reflect_head, REFLECT_HEAD));
    json_key(&w, "val_tasks");
    json_begin(&w, '[');
    for (size_t i = 0; i < r->tasks.n; i++)
        if (str_eqz(r->tasks.items[i].split, "val"))
            put_val_task(&w, &r->tasks.items[i]);
    json_end(&w, ']');
    json_key(&w, "gate_trials");
    json_begin(&w, '[');
    for (size_t i = 0; i < s->gate_trials.n; i++)
        gate_trial_put(&w, &s->gate_trials.items[i]);
    json_end(&w, ']');
    json_end(&w, '}');
    buf_addc(out, '\n');
}

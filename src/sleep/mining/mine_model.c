#include "sleep/mining/mine_model.h"

#include "sleep/task/answer.h"
#include "text/utf8.h"

enum { SHOWN_SESSIONS = 3, SHOWN_TURNS = 6, SHOWN_BYTES = 400, MINE_TOKENS = 800, MIN_INTENT = 8 };

static const Trace *find_trace(const Trace *const *traces, size_t n, Str session)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(trace_digest(traces[i])->session_id, session))
            return traces[i];
    return NULL;
}

/* Only tasks with a correction: an answer that pleased at once teaches nothing. */
static bool is_asked_about(const TaskRecord *task, const Trace *const *traces, size_t n)
{
    if (str_eqz(task->reference_kind, "rule") || task->derived_from.n)
        return false;
    for (size_t i = 0; i < task->source_sessions.n; i++) {
        const Trace *t = find_trace(traces, n, task->source_sessions.items[i]);

        for (size_t k = 1; t && k < t->turns.n; k++)
            if (t->turns.items[k].corrects)
                return true;
    }
    return false;
}

static Str prompt_of(Arena *a, const TaskRecord *task, const Trace *const *traces, size_t n)
{
    AUTO_BUF out = BUF((size_t)1 << 20);
    size_t shown = 0;

    buf_addz(
        &out, SLEEP_MARK
        "\nBelow are sessions in which a user asked an agent for the same thing. Say what the user "
        "wants of every answer to it, so that a program can check it. Reply with one JSON array of "
        "at most one object and nothing else:\n"
        "[{\"intent\": \"the request, in general words\", \"checks\": [{\"op\": "
        "\"contains|not_contains|regex|section_present|max_chars|min_chars|no_refusal\", \"arg\": "
        "...}], \"rubric\": \"one sentence, where no check can tell; else empty\", \"satisfied\": "
        "true}]\nAn empty array where the sessions do not tell.\n");
    for (size_t i = 0; i < task->source_sessions.n && shown < SHOWN_SESSIONS; i++) {
        const Trace *t = find_trace(traces, n, task->source_sessions.items[i]);

        if (!t)
            continue;
        buf_addf(&out, "\n# Session %zu\n", ++shown);
        for (size_t k = 0; k < t->turns.n && k < SHOWN_TURNS; k++)
            buf_addf(&out, "user: %.*s\nagent: %.*s\n",
                     STR_FMT(utf8_head(t->turns.items[k].request, SHOWN_BYTES)),
                     STR_FMT(utf8_head(t->turns.items[k].answer, SHOWN_BYTES)));
    }
    return str_dup(a, buf_str(&out));
}

/* Checks that make sense, as a judge; "{}" where there are none. */
static Str judge_in(Arena *a, Json checks)
{
    AUTO_BUF out = BUF((size_t)1 << 20);
    JsonWriter w = JSON_WRITER(&out, 0);
    size_t kept = 0;
    JsonIter it = json_each(checks);
    Json check;
    Str key;

    json_begin(&w, '{');
    json_field_str(&w, "kind", STR("rule"));
    json_field_begin(&w, "checks", '[');
    while (json_next(&it, &key, &check)) {
        AUTO_BUF one = BUF((size_t)1 << 16);
        JsonWriter ow = JSON_WRITER(&one, 0);
        AUTO(JsonDoc) *doc = NULL;
        Err err;

        buf_addz(&one, "{\"kind\": \"rule\", \"checks\": [");
        json_put(&ow, check);
        buf_addz(&one, "]}");
        doc = json_parse(buf_str(&one), &err);
        if (doc && !judge_review(a, json_root(doc)).errors.n && judge_of(a, buf_str(&one)).n == 1 &&
            judge_of(a, buf_str(&one)).checks[0].op != CHECK_OTHER) {
            json_put(&w, check);
            kept++;
        }
    }
    json_end(&w, ']');
    json_end(&w, '}');
    return kept ? str_dup(a, buf_str(&out)) : STR("{}");
}

/* Sets the judge of the task by the model's reply, if that names checks or a rubric. */
static void apply_reply(Arena *a, Json said, TaskRecord *task)
{
    Str intent = str_trim(json_str(json_get(said, STR("intent"))));
    Str rubric = str_trim(json_str(json_get(said, STR("rubric")))), judge = STR("{}");
    bool satisfied;

    if (utf8_count(intent) < MIN_INTENT)
        return;
    if (!rubric.n)
        judge = judge_in(a, json_get(said, STR("checks")));
    if (!rubric.n && str_eqz(judge, "{}"))
        return;
    task->judge = judge;
    task->reference_kind = rubric.n ? STR("rubric") : STR("rule");
    if (rubric.n)
        task->reference = str_dup(a, rubric);
    if (json_bool(json_get(said, STR("satisfied")), &satisfied))
        task->outcome = satisfied ? STR("success") : STR("fail");
    strs_add_new(a, &task->tags, STR("mined:llm"));
}

/* The other wordings of a task are judged as it is. */
static void copy_judges(TaskRecords *tasks)
{
    const TaskRecord *first = NULL;

    for (size_t i = 0; i < tasks->n; i++) {
        TaskRecord *t = &tasks->items[i];

        if (!t->derived_from.n)
            first = t;
        if (first && str_eq(t->derived_from, first->id)) {
            t->judge = first->judge;
            t->reference = first->reference;
            t->reference_kind = first->reference_kind;
        }
    }
}

static bool ask_about(Arena *a, Backend *b, const Trace *const *traces, size_t n, Budget *budget,
                      TaskRecord *task, Err *err)
{
    int64_t calls = b->calls, tokens = b->tokens;
    AUTO(JsonDoc) *doc = NULL;
    double usd = b->usd;
    Str reply, array;
    Err ignored;

    if (!b->call(b, a, prompt_of(a, task, traces, n), MINE_TOKENS, &reply, err))
        return err_wrap(err, "cannot ask about task '%.*s'", STR_FMT(task->id));
    budget_spend(budget, b->calls - calls, b->tokens - tokens, b->usd - usd);
    array = answer_array(reply);
    doc = array.p ? json_parse(array, &ignored) : NULL;
    if (doc)
        apply_reply(a, json_at(json_root(doc), 0), task);
    return true;
}

bool mine_by_model(Arena *a, Backend *b, const Trace *const *traces, size_t n, size_t max,
                   Budget *budget, TaskRecords *tasks, Err *err)
{
    size_t judged = 0;

    for (size_t i = 0; i < tasks->n && (!max || judged < max) && budget_left(budget); i++) {
        TaskRecord *task = &tasks->items[i];

        if (is_asked_about(task, traces, n) && !ask_about(a, b, traces, n, budget, task, err))
            return false;
        judged += !str_eqz(task->reference_kind, "none");
    }
    copy_judges(tasks);
    return backend_settled(b, err);
}

size_t mine_model_asks(const Trace *const *traces, size_t n, const TaskRecords *tasks)
{
    size_t asks = 0;

    for (size_t i = 0; i < tasks->n; i++)
        asks += is_asked_about(&tasks->items[i], traces, n);
    return asks;
}

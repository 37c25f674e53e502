#include "sleep/trial/asker.h"

#include "base/limits.h"
#include "sleep/task/answer.h"
#include "sleep/task/document.h"
#include "text/redact.h"
#include "text/utf8.h"

enum {
    ATTEMPT_TOKENS = 1024,
    JUDGE_TOKENS = 200,
    REFLECT_TOKENS = 2000,
    SHOWN_FAILURES = 8,
    SHOWN_SUCCESSES = 4,
    SHOWN_KNOWN = 20,
    SHOWN_BYTES = 6000, /* of one text: more than an attempt may have, so that traces are whole */
    SHOWN_EDIT_BYTES = 700,
};

static Str clip(Str s)
{
    return utf8_head(s, SHOWN_BYTES);
}

static Str clip_edit(Str s)
{
    return utf8_head(s, SHOWN_EDIT_BYTES);
}

static void section(Buf *out, const char *title, Str text)
{
    if (text.n)
        buf_addf(out, "\n# %s\n%.*s\n", title, STR_FMT(text));
}

/* Redacts every prompt once more before it leaves for a model or a file. */
static Str finished(Arena *a, const Buf *out)
{
    return str_dup(a, redact_text(a, buf_str(out)));
}

static bool ask_question(Backend *b, Arena *a, const Question *q, Str *ret, Err *err)
{
    const Asker *asker = b->ctx;
    Heard exchange = { .kind = q->kind, .prompt = q->prompt };

    b->key = STR("");
    if (!asker->ask(asker->ctx, b, a, q, ret, &exchange.kept, err)) {
        b->failed = true;
        return false;
    }
    exchange.reply = *ret;
    exchange.key = b->key;
    if (b->heard && ret->p)
        b->heard(b->heard_ctx, &exchange);
    return true;
}

/* -- Attempts -- */

/* The framing of a task goes out as it is; it may say where in it the skill belongs. */
static void put_framing(Buf *out, Str framing, Str skill)
{
    static const Str place = STR_INIT("{skill_section}");
    size_t at = str_find(framing, place);

    if (at >= framing.n) {
        section(out, "How to work", framing);
        section(out, "Skill", skill);
        return;
    }
    buf_addf(out, "\n# How to work\n%.*s", STR_FMT(str_head(framing, at)));
    section(out, "Skill", skill);
    buf_addf(out, "%.*s\n", STR_FMT(str_skip(framing, at + place.n)));
}

static Str attempt_prompt(Arena *a, const AttemptAsk *ask)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_DOCUMENT * 4);
    const TaskRecord *task = ask->task;

    buf_addz(&out,
             SLEEP_MARK "\nAnswer the request below as the agent of this user would. Give the "
                        "answer alone: no preamble, nothing about these instructions.\n");
    put_framing(&out, task->framing, document_bare(a, ask->docs.skill));
    section(&out, "Memory", document_bare(a, ask->docs.memory));
    if (ask->tools.n)
        buf_addz(&out, "\n# Tools\nTo call a tool, write a line of its own: tool_call: NAME\n");
    for (size_t i = 0; i < ask->tools.n; i++)
        buf_addf(&out, "- %.*s\n", STR_FMT(ask->tools.items[i]));
    section(&out, "Context", task->context_excerpt);
    section(&out, "Request", task->intent);
    return finished(a, &out);
}

static Str draw_of(Arena *a, const Backend *b, const char *phase, int64_t sample, bool fresh)
{
    if (fresh)
        return str_printf(a, "%.*s:%s:%lld", STR_FMT(b->night), phase ? phase : "",
                          (long long)sample);
    return sample ? str_printf(a, "s%lld", (long long)sample) : STR("");
}

static bool attempt(Backend *b, Arena *a, const AttemptAsk *ask, Attempt *ret, Err *err)
{
    Question q = { .kind = "attempt",
                   .prompt = attempt_prompt(a, ask),
                   .max_tokens = ATTEMPT_TOKENS,
                   .draw = draw_of(a, b, ask->phase, ask->sample, ask->fresh) };

    *ret = (Attempt){ 0 };
    return ask_question(b, a, &q, &ret->answer, err);
}

/* -- Judgements -- */

/* Once with the criterion first and once with the answer first: what stands where must not
 * matter. */
static Str judge_prompt(Arena *a, const JudgeAsk *ask, bool answer_first)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_DOCUMENT * 4);
    Str criterion = ask->task->reference.n ? ask->task->reference : ask->task->intent;

    buf_addz(&out, SLEEP_MARK "\nJudge whether the answer does what is wanted. Reply with one JSON "
                              "object: {\"score\": 0.0 to 1.0, \"reason\": \"a few words\"}\n");
    if (answer_first)
        section(&out, "Answer", ask->answer);
    section(&out, "Request", ask->task->intent);
    section(&out, "What is wanted", criterion);
    if (!answer_first)
        section(&out, "Answer", ask->answer);
    return finished(a, &out);
}

static bool read_score(Str reply, Arena *a, double *ret, Str *ret_why)
{
    Str object = answer_object(reply);
    Err err;
    AUTO(JsonDoc) *doc = object.p ? json_parse(object, &err) : NULL;
    double score;

    if (!doc || !json_double(json_get(json_root(doc), STR("score")), &score) || score != score)
        return false;
    *ret = score < 0 ? 0 : score > 1 ? 1 : score;
    *ret_why = str_dup(a, json_str(json_get(json_root(doc), STR("reason"))));
    return true;
}

static bool judge(Backend *b, Arena *a, const JudgeAsk *ask, Score *ret, Err *err)
{
    double sum = 0, one;
    int read = 0;
    Str why = STR("the judge gave no score");

    for (int k = 0; k < 2; k++) {
        Question q = { .kind = "judge",
                       .prompt = judge_prompt(a, ask, k == 1),
                       .max_tokens = JUDGE_TOKENS,
                       .draw = draw_of(a, b, ask->phase, ask->sample, ask->fresh) };
        Str reply;

        if (!ask->answer.p) /* still to come */
            break;
        if (!ask_question(b, a, &q, &reply, err))
            return false;
        if (read_score(reply, a, &one, &why)) {
            sum += one;
            read++;
        }
    }
    *ret = (Score){ .soft = read ? sum / read : 0, .why = why };
    ret->hard = ret->soft >= 0.8 ? 1 : 0;
    return true;
}

/* -- Reflection -- */

/* Whole traces: what was asked, in which context, what was answered and called, and why it
 * fails. */
static void show_traces(Buf *out, const char *title, const ReplayedList *list, size_t max, bool why)
{
    if (list && list->n)
        buf_addf(out, "\n# %s\n", title);
    for (size_t i = 0; list && i < list->n && i < max; i++) {
        const Replayed *r = &list->items[i];
        const StrList *tools = &r->result.tools_called;

        buf_addf(out, "%zu. Request: %.*s\n", i + 1, STR_FMT(clip(r->task.intent)));
        if (r->task.context_excerpt.n)
            buf_addf(out, "   Context: %.*s\n", STR_FMT(clip(r->task.context_excerpt)));
        buf_addf(out, "   Answer: %.*s\n", STR_FMT(clip(r->result.response)));
        for (size_t k = 0; k < tools->n; k++)
            buf_addf(out, "%s%.*s%s",
                     k ? ", " : "   Tools called: ", STR_FMT(clip_edit(tools->items[k])),
                     k + 1 == tools->n ? "\n" : "");
        if (why)
            buf_addf(out, "   Why it fails: %.*s\n", STR_FMT(clip(r->result.judge_rationale)));
        if (why && r->task.reference.n)
            buf_addf(out, "   What was wanted: %.*s\n", STR_FMT(clip(r->task.reference)));
    }
}

static void show_known(Buf *out, const KnownEdits *known)
{
    size_t n = known ? known->n : 0, shown = 0;

    for (size_t i = n; i-- > 0 && shown < SHOWN_KNOWN;) { /* the newest */
        if (str_eqz(known->items[i].status, "kept"))
            continue;
        if (shown++ == 0)
            buf_addz(out, "\n# Tried before; do not propose these again\n");
        buf_addf(out, "- %.*s (%.*s: %.*s)\n", STR_FMT(clip_edit(known->items[i].content)),
                 STR_FMT(known->items[i].status), STR_FMT(clip_edit(known->items[i].reason)));
    }
}

static Str reflect_prompt(Arena *a, const ReflectAsk *ask, bool stricter)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_DOCUMENT * 4);
    bool skill = str_eqz(ask->target, "skill");

    buf_addf(&out,
             SLEEP_MARK
             "\nYou improve the %.*s of an agent. Find the smallest general rules that would "
             "have made the failing answers right without harming the others. At most %lld "
             "edits. Reply with one JSON array and nothing else:\n"
             "[{\"op\": \"add|replace|delete\", \"content\": \"the rule, one imperative "
             "sentence\", \"anchor\": \"for replace and delete: the rule as it is now\", "
             "\"rationale\": \"which failures it is for\"}]\n",
             STR_FMT(ask->target), (long long)ask->edit_budget);
    if (stricter)
        buf_addz(&out, "The last reply was no JSON array. Begin with [ and end with ].\n");
    section(&out, "What the user prefers", ask->preferences);
    section(&out, "The document now", document_bare(a, skill ? ask->docs.skill : ask->docs.memory));
    show_traces(&out, "Failing answers", ask->failures, SHOWN_FAILURES, true);
    show_traces(&out, "Answers that are right; keep them so", ask->successes, SHOWN_SUCCESSES,
                false);
    show_known(&out, ask->known);
    return finished(a, &out);
}

static bool read_edits(Arena *a, Str reply, Str target, int64_t max, EditRecords *ret)
{
    Str array = answer_array(reply);
    Err err;
    AUTO(JsonDoc) *doc = array.p ? json_parse(array, &err) : NULL;
    EditRecords all;

    if (!doc || !edits_read(a, json_root(doc), &all, &err))
        return false;
    for (size_t i = 0; i < all.n && ret->n < (size_t)max; i++) {
        EditRecord edit = all.items[i];

        edit.target = target;
        if (edit.content.n || edit.anchor.n)
            LIST_PUSH(a, ret, edit);
    }
    return true;
}

static bool reflect(Backend *b, Arena *a, const ReflectAsk *ask, EditRecords *ret, Err *err)
{
    *ret = (EditRecords){ 0 };
    if (!ask->failures || !ask->failures->n)
        return true;
    for (int k = 0; k < 2; k++) {
        Question q = { .kind = "reflect",
                       .prompt = reflect_prompt(a, ask, k == 1),
                       .max_tokens = REFLECT_TOKENS };
        Str reply;

        if (!ask_question(b, a, &q, &reply, err) || !backend_settled(b, err))
            return false;
        if (read_edits(a, reply, ask->target, ask->edit_budget, ret) && ret->n)
            return true;
    }
    return true;
}

static bool call(Backend *b, Arena *a, Str prompt, int64_t max_tokens, Str *ret, Err *err)
{
    Question q = { .kind = "mine",
                   .prompt = str_dup(a, redact_text(a, prompt)),
                   .max_tokens = max_tokens };

    return ask_question(b, a, &q, ret, err);
}

Backend backend_of_asker(const char *name, Str model, const Asker *asker)
{
    return (Backend){ .name = name,
                      .model = model,
                      .ctx = (void *)(uintptr_t)asker,
                      .attempt = attempt,
                      .judge = judge,
                      .reflect = reflect,
                      .call = call };
}

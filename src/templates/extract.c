/* Redaction comes before clipping, or half of a secret could stay at the cut.
 *
 * A session that compression cut has several parts, each with its own id. A template takes the
 * calls of the part that was named, since that is whose id it bears; --chain takes all parts and
 * names them. */
#include "templates/extract.h"

#include "base/clock.h"
#include "base/limits.h"
#include "text/outcome.h"
#include "text/pyjson.h"
#include "text/redact.h"
#include "text/tokens.h"
#include "text/utf8.h"

/* -- clipping -- */

Str extract_clip(Arena *a, Str text, size_t max)
{
    enum { WORDS = 64 }; /* what the sentence about the cut takes, at most */
    AUTO_BUF out = BUF(LIMIT_EXAMPLE_CHARS);
    Str head, tail, left_out;

    if (max > LIMIT_EXAMPLE_CHARS)
        max = LIMIT_EXAMPLE_CHARS;
    if (text.n <= max)
        return text;
    max = max > WORDS ? max - WORDS : 0;
    head = utf8_head(text, max - max / 2);
    tail = utf8_tail(text, max / 2);
    left_out = (Str){ text.p + head.n, text.n - head.n - tail.n };
    buf_add(&out, head);
    buf_addf(&out, "\n[… %zu characters left out …]\n", utf8_count(left_out));
    buf_add(&out, tail);
    return str_dup(a, buf_str(&out));
}

/* -- redaction -- */

static const Str redacted = STR_INIT("[REDACTED]");

static void put_redacted(Arena *a, JsonWriter *w, const PyValue *v, bool secret)
{
    if (v->type == PY_STR) {
        json_put_str(w, secret && v->text.n ? redacted : redact_text(a, v->text));
    } else if (v->type == PY_LIST) {
        json_begin(w, '[');
        for (size_t i = 0; i < v->n; i++)
            put_redacted(a, w, &v->items[i], secret);
        json_end(w, ']');
    } else if (v->type == PY_DICT) {
        json_begin(w, '{');
        for (size_t i = 0; i < v->n; i++) {
            Str key = v->items[2 * i].text;

            json_key_str(w, redact_text(a, key));
            put_redacted(a, w, &v->items[2 * i + 1],
                         secret || (key.n && redact_key_is_secret(key)));
        }
        json_end(w, '}');
    } else if (secret && (v->type == PY_INT || v->type == PY_FLOAT)) {
        json_put_str(w, redacted); /* a PIN is a number */
    } else {
        pyjson_put(w, v);
    }
}

Str extract_redact_arguments(Arena *a, Str json)
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);
    PyValue v;

    if (!pyjson_read(a, json, &v) || v.type != PY_DICT)
        return STR("{}");
    w.python = true;
    put_redacted(a, &w, &v, false);
    return buf_full(&out) ? STR("{}") : str_dup(a, buf_str(&out));
}

/* -- from messages -- */

/* Makes the result smaller until the example fits into what is left; false where it cannot. */
static bool fit(Arena *a, TemplateExample *e, size_t left, size_t *ret_cost)
{
    enum { LEAST = 256 }; /* less of a result shows nothing */
    size_t fixed = tokens_estimate(e->tool) + tokens_estimate(e->arguments);
    Str whole = e->result;

    for (size_t max = LIMIT_EXAMPLE_CHARS; max >= LEAST; max /= 2) {
        e->result = extract_clip(a, whole, max);
        *ret_cost = fixed + tokens_estimate(e->result);
        if (*ret_cost <= left)
            return true;
        if (e->result.n < LEAST)
            break;
    }
    return false;
}

Outcome extract_outcome(const Exchange *x, Str content)
{
    return x->failed ? OUTCOME_ERROR : outcome_of_result(content);
}

static void keep_example(Arena *a, const Exchange *x, const ExtractOptions *options, Extract *ret)
{
    TemplateExample e = { .tool = x->call.name, .success = true };
    Str content = message_text(a, x->content);
    size_t cost;

    e.success = !x->has_result || extract_outcome(x, content) == OUTCOME_OK;
    ret->failed += !e.success;
    if (ret->n >= options->max_examples || (!e.success && !options->include_failed))
        return;
    e.arguments = extract_redact_arguments(a, x->call.arguments);
    e.result = redact_text(a, content);
    if (!fit(a, &e, LIMIT_TEMPLATE_TOKENS - ret->tokens, &cost)) {
        ret->too_large++;
        return;
    }
    ret->tokens += cost;
    ret->examples[ret->n++] = e;
}

void extract_examples(Arena *a, const Message *messages, size_t n, const ExtractOptions *options,
                      Extract *ret)
{
    Exchange *exchanges;
    size_t n_exchanges, n_calls;
    ToolCall *calls;

    *ret = (Extract){ 0 };
    if (options->max_messages && n > options->max_messages)
        n = options->max_messages;
    exchanges_pair(a, messages, n, &exchanges, &n_exchanges);
    ret->calls = n_exchanges;
    for (size_t i = 0; !n_exchanges && i < n; i++)
        if (str_eqz(messages[i].role, "assistant") && messages[i].tool_calls.n)
            ret->unreadable += !toolcalls_read(a, messages[i].tool_calls, &calls, &n_calls);
    ret->examples = ARENA_ARRAY(a, TemplateExample, n_exchanges + 1);
    for (size_t i = 0; i < n_exchanges; i++)
        keep_example(a, &exchanges[i], options, ret);
}

/* -- from the store -- */

static bool no_usable_call(const Extract *x, bool more_parts, Err *err)
{
    if (x->unreadable)
        return err_set(err, ERR_INVALID, "its tool calls do not parse (%zu message%s)",
                       x->unreadable, x->unreadable == 1 ? "" : "s");
    if (!x->calls && more_parts)
        return err_set(
            err, ERR_INVALID,
            "it has no tool calls itself; --chain takes those of all parts of the chain");
    if (!x->calls)
        return err_set(err, ERR_INVALID, "it has no tool calls");
    if (x->failed == x->calls)
        return err_set(err, ERR_INVALID,
                       "all of its %zu tool calls failed; --include-failed keeps them", x->calls);
    if (x->too_large)
        return err_set(err, ERR_INVALID,
                       "none of its tool calls fits into the %d tokens of a template",
                       LIMIT_TEMPLATE_TOKENS);
    return err_set(err, ERR_INVALID, "no tool call was kept");
}

/* The part whose id begins with what was typed; the exact one first, then the newest. */
static size_t named_part(const Lineage *lineage, Str typed)
{
    for (size_t i = 0; i < lineage->n_parts; i++)
        if (str_eq(lineage->parts[i].id, typed))
            return i;
    for (size_t i = lineage->n_parts; i > 0; i--)
        if (str_starts(lineage->parts[i - 1].id, typed))
            return i - 1;
    return lineage->n_parts ? lineage->n_parts - 1 : 0;
}

/* "Fix coupon rounding (10 calls: terminal, read_file, patch)", and of which sessions if of
 * several. */
static Str describe(Arena *a, Str title, const Extract *x)
{
    enum { TITLE_BYTES = 120, TOOLS_NAMED = 4 };
    AUTO_BUF out = BUF(KIB(4));
    const Str *named[TOOLS_NAMED];
    size_t n = 0;

    title = str_trim(redact_text(a, title));
    if (title.n && !str_eqz(title, "Untitled"))
        buf_addf(&out, "%.*s (", STR_FMT(utf8_head(title, TITLE_BYTES)));
    buf_addf(&out, "%zu call%s: ", x->n, x->n == 1 ? "" : "s");
    for (size_t i = 0; i < x->n && n < TOOLS_NAMED; i++) {
        bool known = false;

        for (size_t k = 0; k < n; k++)
            known |= str_eq(*named[k], x->examples[i].tool);
        if (known)
            continue;
        buf_addf(&out, "%s%.*s", n ? ", " : "", STR_FMT(x->examples[i].tool));
        named[n++] = &x->examples[i].tool;
    }
    for (size_t i = 0; x->n_sessions > 1 && i < x->n_sessions; i++)
        buf_addf(&out, "%s%.*s", i ? ", " : "; sessions ", STR_FMT(x->sessions[i]));
    if (title.n && !str_eqz(title, "Untitled"))
        buf_addc(&out, ')');
    return str_dup(a, buf_str(&out));
}

bool extract_template(History *h, Arena *a, Str session, const ExtractOptions *options,
                      Template *ret, Extract *ret_extract, Err *err)
{
    const Lineage *lineage;
    HistoryItem item;
    Message *messages;
    size_t n, part;
    Extract x;
    Str *tools;

    if (!history_find(h, a, session, &item, err))
        return false;
    lineage = &item.lineage;
    part = named_part(lineage, session);
    if (!(options->chain
              ? history_load(h, a, &item, options->max_messages, &messages, &n, err)
              : history_load_part(h, a, &item, part, options->max_messages, &messages, &n, err)))
        return false;
    extract_examples(a, messages, n, options, &x);
    if (!x.n)
        return no_usable_call(&x, !options->chain && lineage->n_parts > 1, err);
    x.sessions = ARENA_ARRAY(a, Str, lineage->n_parts + 1);
    for (size_t i = 0; i < lineage->n_parts; i++)
        if (options->chain || i == part)
            x.sessions[x.n_sessions++] = lineage->parts[i].id;
    tools = ARENA_ARRAY(a, Str, x.n);
    for (size_t i = 0; i < x.n; i++)
        tools[i] = x.examples[i].tool;
    *ret_extract = x;
    *ret = (Template){ .name = STR(""),
                       .type = tasktype_of(tools, x.n),
                       .description = describe(a, item.lineage.title, &x),
                       .created_at = clock_wall(),
                       .source_session_id = lineage->parts[part].id,
                       .examples = x.examples,
                       .n_examples = x.n,
                       .path = STR(""),
                       .title = redact_text(a, item.lineage.title),
                       .transcript = item.is_file };
    return true;
}

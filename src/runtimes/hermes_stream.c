/* What a Hermes sends. A failed turn may look like success here: Hermes puts its own words about
 * the failure where the answer goes. Those come in one piece, at the end, while a model speaks in
 * many; so text that came in one piece is held back until the end tells whose words it is
 * (hermes_verdict.c). */
#include "runtimes/hermes_stream.h"

#include "base/limits.h"
#include "runtimes/hermes_link.h"
#include "runtimes/lines.h"

const char *hermes_dialect_name(HermesDialect d)
{
    static const char *const names[] = {
#define X(id, name) [id] = name,
        HERMES_DIALECTS(X)
#undef X
    };

    return names[d];
}

bool hermes_dialect_of(Str name, HermesDialect *ret)
{
    for (int d = 0; d < HERMES_DIALECT_COUNT; d++) {
        if (!str_eqz(name, hermes_dialect_name((HermesDialect)d)))
            continue;
        *ret = (HermesDialect)d;
        return true;
    }
    return false;
}

/* -- text -- */

/* One piece is not yet the model's: over responses Hermes sends its own words as a delta, too, and
 * over chat an early version did. */
static bool is_held(const HermesStream *s)
{
    if (s->t->chars || s->t->acted || buf_full(&s->unsure))
        return false;
    return (s->dialect == HERMES_RESPONSES && s->pieces < 2) ||
           hermes_looks_like_error(buf_str(&s->unsure));
}

static void say(HermesStream *s, Str text)
{
    if (!text.n)
        return;
    s->pieces++;
    buf_add(&s->unsure, text);
    if (is_held(s))
        return;
    teller_text(s->t, buf_str(&s->unsure));
    buf_clear(&s->unsure);
}

/* The answer as the end has it. Where nothing was streamed, it is all there is, and held back. */
static void say_whole(HermesStream *s, Str text)
{
    if (!text.n)
        return;
    s->whole = str_dup(s->arena, text);
    if (!s->t->chars && !s->unsure.n)
        buf_add(&s->unsure, text);
}

static void set_usage(HermesStream *s, Json usage)
{
    if (json_type(usage) != JSON_OBJECT)
        return;
    s->has_usage = true;
    s->counts_output = json_type(at(usage, "output_tokens")) != JSON_NONE ||
                       json_type(at(usage, "completion_tokens")) != JSON_NONE;
    s->usage = (RuntimeUsage){
        .input = int_at(usage, "input_tokens") + int_at(usage, "prompt_tokens"),
        .output = int_at(usage, "output_tokens") + int_at(usage, "completion_tokens"),
        .total = int_at(usage, "total_tokens"),
        .cached = int_at(usage, "cache_read_tokens"),
        .reasoning = int_at(usage, "reasoning_tokens"),
    };
}

static void set_failed(HermesStream *s, Str text, Str code)
{
    if (s->end != HERMES_OPEN)
        return;
    s->end = HERMES_FAILED;
    s->text = str_dup(s->arena, text.n ? text : STR("Hermes failed and did not say why"));
    s->code = str_dup(s->arena, code);
}

static void set_end(HermesStream *s, HermesEnd end, Str reason)
{
    if (s->end != HERMES_OPEN)
        return;
    s->end = end;
    s->reason = str_dup(s->arena, reason);
}

/* -- tools: the fields have had several names -- */

static Str first_of(Json v, const char *const *keys)
{
    for (; *keys; keys++)
        if (str_at(v, *keys).n)
            return str_at(v, *keys);
    return STR("");
}

static Str tool_name(Json v)
{
    static const char *const keys[] = { "tool", "tool_name", "name", NULL };

    return first_of(v, keys);
}

static Str tool_id(Json v)
{
    static const char *const keys[] = { "tool_call_id", "toolCallId", "call_id", NULL };

    return first_of(v, keys);
}

static Str tool_preview(HermesStream *s, Json v)
{
    static const char *const keys[] = {
        "preview", "label", "args", "arguments", "result", "error"
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        JsonType type = json_type(at(v, keys[i]));

        if (type == JSON_STRING || type == JSON_OBJECT)
            return text_of(s->line, at(v, keys[i]));
    }
    return STR("");
}

static void tool_begin(HermesStream *s, Json v)
{
    if (s->unsure.n) { /* an error does not go on to use tools */
        teller_text(s->t, buf_str(&s->unsure));
        buf_clear(&s->unsure);
    }
    teller_tool_begin(s->t, tool_id(v), tool_name(v), tool_preview(s, v));
}

static void tool_end(HermesStream *s, Json v, bool failed)
{
    double seconds;
    JsonType error = json_type(at(v, "error"));

    failed = failed || true_at(v, "error") || (error == JSON_STRING && str_at(v, "error").n);
    teller_tool_end(s->t, tool_id(v), tool_name(v), failed, tool_preview(s, v),
                    json_double(at(v, "duration"), &seconds) && seconds >= 0 && seconds < 1e9
                        ? (int64_t)(seconds * 1000)
                        : -1);
}

/* -- runs and sessions: events with names -- */

static void ask_approval(HermesStream *s, Json v)
{
    Str id = str_at(v, "approval_id");

    s->waiting = true;
    if (!s->run.n && hermes_id_is_clean(str_at(v, "run_id")))
        s->run = str_dup(s->arena, str_at(v, "run_id"));
    teller_approval(s->t, id.n ? id : STR("approval"), text_of(s->line, at(v, "command")),
                    "once|session|always|deny");
    if (!s->run.n)
        teller_say(
            s->t, RUNTIME_NOTICE, STR(""),
            STR("Hermes asks over a transport that takes no answers; set hermes.transport to "
                "'runs'"));
}

/* An early version repeats the text that was just said as reasoning. */
static void reasoning(HermesStream *s, Str text)
{
    if (!str_eq(str_trim(text), str_trim(buf_str(&s->t->message))))
        teller_think(s->t, text);
}

static void completed(HermesStream *s, Json v)
{
    Str output = str_at(v, "output");

    set_usage(s, at(v, "usage"));
    if (str_at(v, "session_id").n)
        s->session = str_dup(s->arena, str_at(v, "session_id"));
    say_whole(s, output);
    s->kept = hermes_kept(at(v, "messages"), s->whole);
    set_end(s, HERMES_COMPLETED, STR("stop"));
}

static void named_event(HermesStream *s, Str name, Json v)
{
    if (str_eqz(name, "message.delta") || str_eqz(name, "assistant.delta")) {
        say(s, str_at(v, "delta"));
    } else if (str_eqz(name, "message.started")) {
        teller_segment(s->t);
    } else if (str_eqz(name, "assistant.completed")) {
        say_whole(s, str_at(v, "content"));
    } else if (str_eqz(name, "reasoning.available")) {
        reasoning(s, str_at(v, "text"));
    } else if (str_eqz(name, "tool.progress")) {
        teller_think(s->t, str_at(v, "delta").n ? str_at(v, "delta") : str_at(v, "text"));
    } else if (str_eqz(name, "tool.started")) {
        tool_begin(s, v);
    } else if (str_eqz(name, "tool.completed") || str_eqz(name, "tool.failed")) {
        tool_end(s, v, str_eqz(name, "tool.failed"));
    } else if (str_starts(name, STR("subagent."))) {
        teller_say(s->t, RUNTIME_SUBAGENT, str_skip(name, 9), text_of(s->line, at(v, "goal")));
    } else if (str_eqz(name, "approval.responded")) {
        s->waiting = false;
        teller_approved(s->t,
                        str_at(v, "approval_id").n ? str_at(v, "approval_id") : STR("approval"),
                        str_at(v, "choice").n ? str_at(v, "choice") : STR("answered"));
    } else if (str_eqz(name, "run.completed")) {
        completed(s, v);
    } else if (str_eqz(name, "run.cancelled")) {
        set_end(s, HERMES_CANCELLED, STR("cancelled"));
    } else if (str_eqz(name, "run.failed") || str_eqz(name, "error")) {
        set_failed(s,
                   error_text(s->line, json_type(at(v, "error")) == JSON_NONE ? v : at(v, "error")),
                   str_at(at(v, "error"), "code"));
    } else if (str_eqz(name, "done")) {
        s->closed = true;
    }
}

/* -- responses -- */

static void response_item(HermesStream *s, Json item, bool over)
{
    if (is_at(item, "type", "function_call") && !over)
        tool_begin(s, item);
    else if (is_at(item, "type", "function_call_output") && over)
        teller_tool_end(s->t, str_at(item, "call_id"), STR(""), is_at(item, "status", "failed"),
                        text_of(s->line, at(item, "output")), -1);
    else if (is_at(item, "type", "message") && !over)
        teller_segment(s->t);
}

static void response_event(HermesStream *s, Json v)
{
    Str type = str_at(v, "type");
    Json response = at(v, "response");

    if (str_at(response, "id").n)
        s->response = str_dup(s->arena, str_at(response, "id"));
    set_usage(s, at(response, "usage"));
    if (str_eqz(type, "response.output_text.delta"))
        say(s, str_at(v, "delta"));
    else if (str_eqz(type, "response.output_item.added"))
        response_item(s, at(v, "item"), false);
    else if (str_eqz(type, "response.output_item.done"))
        response_item(s, at(v, "item"), true);
    else if (str_eqz(type, "response.completed"))
        set_end(s, HERMES_COMPLETED, STR("stop"));
    else if (str_eqz(type, "response.incomplete"))
        set_end(s, HERMES_TRUNCATED, STR("incomplete"));
    else if (str_eqz(type, "response.failed") || str_eqz(type, "error"))
        set_failed(s, error_text(s->line, str_eqz(type, "error") ? v : at(response, "error")),
                   str_at(at(response, "error"), "code"));
    s->closed = s->end != HERMES_OPEN;
}

/* -- chat completions -- */

static void chat_event(HermesStream *s, Str name, Json v)
{
    Json choice = json_at(at(v, "choices"), 0);
    Str reason = str_at(choice, "finish_reason");

    if (str_eqz(name, "hermes.tool.progress")) {
        if (is_at(v, "status", "completed"))
            tool_end(s, v, false);
        else
            tool_begin(s, v);
        return;
    }
    set_usage(s, at(v, "usage"));
    if (json_type(at(v, "error")) == JSON_OBJECT)
        set_failed(s, error_text(s->line, v), str_at(at(v, "error"), "code"));
    say(s, str_at(at(choice, "delta"), "content"));
    if (reason.n) {
        Json hermes = at(v, "hermes");

        if (true_at(hermes, "failed") || str_eqz(reason, "error"))
            set_failed(s, text_of(s->line, at(hermes, "error")), str_at(hermes, "error_code"));
        else if (str_eqz(reason, "length") || true_at(hermes, "partial"))
            set_end(s, HERMES_TRUNCATED, reason);
        else
            set_end(s, HERMES_COMPLETED, reason);
    }
}

/* -- events -- */

static bool on_event(void *ctx, const SseEvent *e)
{
    HermesStream *s = ctx;
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = NULL;
    Json root;
    Str name;

    teller_trace(s->t, e->data);
    if (str_eqz(e->data, "[DONE]")) {
        s->closed = true;
        return true;
    }
    s->line = a;
    doc = json_parse_mended(a, e->data);
    if (!doc)
        return ++s->junk < LIMIT_RUN_LINES;
    root = json_root(doc);
    name = str_at(root, "event").n ? str_at(root, "event") : e->name;
    if (str_eqz(name, "approval.request"))
        ask_approval(s, root);
    else if (s->dialect == HERMES_CHAT)
        chat_event(s, e->name, root);
    else if (s->dialect == HERMES_RESPONSES)
        response_event(s, root);
    else
        named_event(s, name, root);
    return true;
}

void hermes_stream_init(HermesStream *s, HermesDialect dialect, Teller *t, Arena *a)
{
    *s = (HermesStream){ .t = t, .arena = a, .dialect = dialect };
    s->sse = sse_parser_new(on_event, s);
    s->unsure = BUF(LIMIT_RUN_FILE);
}

void hermes_stream_done(HermesStream *s)
{
    s->sse = sse_parser_free(s->sse);
    buf_done(&s->unsure);
}

bool hermes_stream_feed(HermesStream *s, Str bytes)
{
    if (sse_parser_feed(s->sse, bytes))
        return !s->closed;
    if (s->end == HERMES_OPEN)
        set_failed(s, STR("what came cannot be read as a stream of events"), STR("protocol"));
    return false;
}

/* Of the message that `output` is: nothing where the line broke before it had begun. */
static Str said_of(const HermesStream *s, Str output)
{
    Str said = buf_str(s->unsure.n ? &s->unsure : &s->t->message);

    return s->t->again && !s->unsure.n && !str_eq(output, said) ? STR("") : said;
}

void hermes_stream_truth(HermesStream *s, Json status)
{
    Str state = str_at(status, "status"), output = str_at(status, "output");
    Str said = said_of(s, output);
    AUTO(Arena) *a = arena_new();

    s->line = a;
    set_usage(s, at(status, "usage"));
    if (str_eqz(state, "completed")) {
        if (!s->t->chars && !s->unsure.n)
            say_whole(s, output);
        else if (str_starts(output, said))
            say(s, str_skip(output, said.n));
        set_end(s, str_starts(output, said) ? HERMES_COMPLETED : HERMES_TRUNCATED, STR("stop"));
    } else if (str_eqz(state, "cancelled")) {
        set_end(s, HERMES_CANCELLED, STR("cancelled"));
    } else if (str_eqz(state, "failed")) {
        set_failed(s, error_text(a, at(status, "error")), STR(""));
    }
}

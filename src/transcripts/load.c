/* Events put together again as messages. Text and calls that follow each other without a result
 * between them are one message of the assistant, as the model made it; the program may have written
 * it in several lines. */
#include "transcripts/load.h"

#include "base/limits.h"
#include "text/json.h"

enum { CALLS_KEPT = 256 };

typedef struct Loading {
    Arena *a;
    LoadOptions options;
    Loaded *ret;
    size_t cap, sides_n, sides_cap;
    size_t bytes;
    ToolCall calls[CALLS_KEPT]; /* the last ones, by which results find their tool's name */
    size_t calls_n;
    Buf open_calls; /* of the last message, as JSON, without the brackets */
    bool has_open;  /* the last message is the assistant's and may go on */
} Loading;

/* -- messages -- */

static void close_message(Loading *l)
{
    if (l->has_open && l->open_calls.n)
        l->ret->messages[l->ret->n - 1].tool_calls =
            str_printf(l->a, "[%.*s]", STR_FMT(buf_str(&l->open_calls)));
    buf_clear(&l->open_calls);
    l->has_open = false;
}

static Message *add_message(Loading *l, const Event *e, Str role)
{
    Message m = { .id = e->where,
                  .role = role,
                  .session_id = l->ret->session.id,
                  .timestamp = e->at,
                  .active = 1 };

    close_message(l);
    ARENA_PUSH(l->a, l->ret->messages, l->ret->n, l->cap, m);
    ARENA_PUSH(l->a, l->ret->side_chain, l->sides_n, l->sides_cap,
               (e->flags & EVENT_IS_SIDE_CHAIN) != 0);
    return &l->ret->messages[l->ret->n - 1];
}

/* The assistant's message at hand, or a new one: after calls, or on the other side, words begin
 * another. */
static Message *assistant(Loading *l, const Event *e)
{
    bool side = (e->flags & EVENT_IS_SIDE_CHAIN) != 0;

    if (l->has_open && l->ret->side_chain[l->ret->n - 1] == side &&
        (e->kind == EVENT_TOOL_CALL || !l->open_calls.n))
        return &l->ret->messages[l->ret->n - 1];
    (void)add_message(l, e, STR("assistant"));
    l->has_open = true;
    return &l->ret->messages[l->ret->n - 1];
}

static Str text_of(Loading *l, const Event *e)
{
    Str text = str_dup(l->a, event_text(l->a, e));

    l->bytes += text.n;
    return text;
}

static void append(Loading *l, Str *place, Str text)
{
    *place = place->n ? str_printf(l->a, "%.*s\n%.*s", STR_FMT(*place), STR_FMT(text)) : text;
}

static void add_call(Loading *l, const Event *e)
{
    ToolCall call = { str_dup(l->a, e->id), str_dup(l->a, e->name), str_dup(l->a, e->arguments) };
    JsonWriter w = JSON_WRITER(&l->open_calls, 0);

    (void)assistant(l, e);
    if (l->open_calls.n)
        buf_addc(&l->open_calls, ',');
    json_begin(&w, '{');
    json_field_str(&w, "id", call.id.p ? call.id : STR(""));
    json_field_str(&w, "type", STR("function"));
    json_field_begin(&w, "function", '{');
    json_field_str(&w, "name", call.name.p ? call.name : STR(""));
    json_field_str(&w, "arguments", call.arguments.n ? call.arguments : STR("{}"));
    json_end(&w, '}');
    json_end(&w, '}');
    l->bytes += e->arguments.n;
    l->calls[l->calls_n++ % CALLS_KEPT] = call;
    l->ret->session.tool_call_count++;
}

/* A result whose line says that it failed is marked: its text alone may not tell. */
static void add_result(Loading *l, const Event *e)
{
    Message *m = add_message(l, e, STR("tool"));

    m->content = text_of(l, e);
    m->tool_call_id = str_dup(l->a, e->id);
    m->tool_name = str_dup(l->a, e->name);
    if (e->flags & EVENT_HAS_FAILED)
        m->finish_reason = STR("error");
    for (size_t i = 0; i < CALLS_KEPT && i < l->calls_n && e->id.n; i++)
        if (str_eq(l->calls[i].id, e->id))
            m->tool_name = l->calls[i].name;
}

/* -- the session -- */

static void take(Arena *a, Str *place, Str value)
{
    if (value.n)
        *place = str_dup(a, value);
}

static void add_facts(Loading *l, const SessionFacts *f)
{
    Session *s = &l->ret->session;

    if (!s->cwd.n)
        take(l->a, &s->cwd, f->cwd);
    if (!s->git_branch.n)
        take(l->a, &s->git_branch, f->branch);
    take(l->a, &s->model, f->model);
    take(l->a, &s->title, f->title);
    take(l->a, &s->parent_session_id, f->parent);
    if (f->cost_usd > 0)
        s->actual_cost_usd = f->cost_usd;
}

static void add_usage(Session *s, const EventUsage *u)
{
    int64_t keep = u->total ? 0 : 1;

    s->input_tokens = s->input_tokens * keep + u->input;
    s->output_tokens = s->output_tokens * keep + u->output;
    s->cache_read_tokens = s->cache_read_tokens * keep + u->cache_read;
    s->cache_write_tokens = s->cache_write_tokens * keep + u->cache_write;
    s->reasoning_tokens = s->reasoning_tokens * keep + u->reasoning;
    s->api_call_count++;
}

static void add_time(Session *s, double at)
{
    if (at <= 0)
        return;
    if (s->started_at == 0 || at < s->started_at)
        s->started_at = at;
    if (at > s->last_activity_at)
        s->last_activity_at = at;
}

/* Claude Code keeps the summary as a message of the user's, Codex with the compaction itself. */
static bool is_summary(const Loading *l, const Event *e)
{
    return (e->kind == EVENT_USER && (e->flags & EVENT_IS_SUMMARY)) ||
           (e->kind == EVENT_COMPACTION && str_eqz(l->ret->session.source, "codex"));
}

static bool is_wanted(const Loading *l, const Event *e)
{
    enum { ASIDE = EVENT_IS_META | EVENT_IS_COMMAND | EVENT_IS_SUMMARY | EVENT_IS_INTERRUPT };

    if (e->kind == EVENT_THINKING)
        return l->options.thinking;
    if ((l->options.summaries && is_summary(l, e)) || event_is_shell(e))
        return true;
    if (e->kind == EVENT_META || (e->flags & ASIDE && e->kind != EVENT_TOOL_RESULT))
        return l->options.meta;
    return true;
}

/* "<bash-input>ls</bash-input>" is "! ls"; of what it printed the tags go. */
static Str shell_text(Arena *a, Str text)
{
    AUTO_BUF out = BUF(text.n + 64);
    Str rest = text;

    while (rest.n) {
        size_t at = str_find(rest, STR("<"));
        bool begin, end;

        buf_add(&out, str_head(rest, at));
        rest = str_skip(rest, at);
        begin = str_starts(rest, STR("<bash-"));
        end = str_starts(rest, STR("</bash-"));
        if (str_starts(rest, STR("<bash-input>")))
            buf_addz(&out, "! ");
        if (begin || end)
            rest = str_skip(rest, str_find(rest, STR(">")) + 1);
        else if (rest.n) {
            buf_addc(&out, '<');
            rest = str_skip(rest, 1);
        }
    }
    return str_dup(a, str_trim(buf_str(&out)));
}

static void add_event(Loading *l, const Event *e)
{
    switch (e->kind) {
    case EVENT_USER:
        add_message(l, e, STR("user"))->content =
            event_is_shell(e) ? shell_text(l->a, text_of(l, e)) : text_of(l, e);
        break;
    case EVENT_ASSISTANT:
        append(l, &assistant(l, e)->content, text_of(l, e));
        break;
    case EVENT_THINKING:
        append(l, &assistant(l, e)->reasoning, text_of(l, e));
        break;
    case EVENT_TOOL_CALL:
        add_call(l, e);
        break;
    case EVENT_TOOL_RESULT:
        add_result(l, e);
        break;
    case EVENT_ERROR:
    case EVENT_META:
    case EVENT_COMPACTION:
        add_message(l, e, STR("system"))->content = text_of(l, e);
        break;
    default:
        break;
    }
}

static bool on_event(void *ctx, const Event *e, Err *err)
{
    Loading *l = ctx;

    add_time(&l->ret->session, e->at);
    if (e->kind == EVENT_SESSION)
        add_facts(l, &e->facts);
    else if (e->kind == EVENT_USAGE && !(e->flags & EVENT_IS_COPY))
        add_usage(&l->ret->session, &e->usage);
    else if (e->kind != EVENT_USAGE && is_wanted(l, e))
        add_event(l, e);
    if (l->options.summaries && is_summary(l, e) && l->ret->n)
        l->ret->messages[l->ret->n - 1].display_kind = STR(MESSAGE_SUMMARY);
    if (l->bytes > LIMIT_TRANSCRIPT_BYTES || buf_full(&l->open_calls))
        return err_set(err, ERR_TOO_LARGE, "more than %zu bytes of text in one transcript",
                       (size_t)LIMIT_TRANSCRIPT_BYTES);
    return true;
}

bool transcript_load(Arena *a, const TranscriptFile *f, const LoadOptions *options, Loaded *ret,
                     Err *err)
{
    AUTO(Reader) *reader = reader_new();
    Loaded loaded = { .session = { .id = str_dup(a, f->stem),
                                   .source = str_of(source_name(f->source)),
                                   .parent_session_id = str_dup(a, f->parent),
                                   .archived = f->archived } };
    Loading *l = ARENA_NEW(a, Loading);
    Cursor cursor = { 0 };
    bool ok;

    l->a = a;
    l->options = options ? *options : (LoadOptions){ 0 };
    l->ret = &loaded;
    l->open_calls = BUF(LIMIT_TRANSCRIPT_BYTES);
    ok = transcript_read(reader, f, &(ReadOptions){ .inherited = l->options.inherited }, &cursor,
                         on_event, NULL, l, &loaded.stats, err);
    close_message(l);
    buf_done(&l->open_calls);
    if (!ok)
        return false;
    loaded.session.message_count = (int64_t)loaded.n;
    *ret = loaded;
    return true;
}

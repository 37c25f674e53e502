/* Sessions of a Hermes-shaped home as the same events: one message is up to three of them.
 *
 * Text is taken as it is in the database: a structured message (a list of parts) becomes the
 * text of its parts. Rows that were rewound or compacted away are told, and flagged. */
#include "store/session.h"
#include "text/outcome.h"
#include "transcripts/line.h"

typedef struct HermesRun {
    Arena *a;
    EventFn *fn;
    void *ctx;
    int64_t where;
    int part;
    double at;
    unsigned flags;
} HermesRun;

static bool emit(HermesRun *run, Event *e, Err *err)
{
    e->flags |= run->flags;
    e->at = run->at;
    e->where = run->where;
    e->part = run->part++;
    return run->fn(run->ctx, e, err);
}

static bool emit_text(HermesRun *run, EventKind kind, unsigned flags, Str text, Err *err)
{
    Event e = { .kind = kind, .flags = flags, .text = { &text, 1, 0 } };

    return !text.n || emit(run, &e, err);
}

static bool assistant(HermesRun *run, const RowEvent *m, Str text, Err *err)
{
    ToolCall *calls;
    size_t n;

    if (!emit_text(run, EVENT_THINKING, 0, m->reasoning, err) ||
        !emit_text(run, EVENT_ASSISTANT, 0, text, err))
        return false;
    if (!toolcalls_read(run->a, m->tool_calls, &calls, &n))
        return true;
    for (size_t i = 0; i < n; i++) {
        Event e = { .kind = EVENT_TOOL_CALL,
                    .name = calls[i].name,
                    .id = calls[i].id,
                    .arguments = calls[i].arguments };

        if (!emit(run, &e, err))
            return false;
    }
    return true;
}

/* "exit_code": 2 anywhere near the end or the beginning of a result that is JSON. */
static bool exit_code_of(Str text, int64_t *ret)
{
    static const Str mark = STR_INIT("\"exit_code\":");
    Str parts[] = { str_head(text, 300), text.n > 300 ? str_skip(text, text.n - 300) : STR("") };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        size_t at = str_find(parts[i], mark), n = 0;
        Str rest;

        if (at == parts[i].n)
            continue;
        rest = str_trim(str_skip(parts[i], at + mark.n));
        while (n < rest.n && (rest.p[n] == '-' || (rest.p[n] >= '0' && rest.p[n] <= '9')))
            n++;
        if (str_to_int(str_head(rest, n), INT32_MIN, INT32_MAX, ret))
            return true;
    }
    return false;
}

static bool tool_result(HermesRun *run, const RowEvent *m, Str text, Err *err)
{
    Event e = { .kind = EVENT_TOOL_RESULT,
                .name = m->tool_name,
                .id = m->tool_call_id,
                .text = { &text, text.n ? 1 : 0, 0 } };

    if (text.n && text.p[0] == '{' && exit_code_of(text, &e.exit_code))
        e.flags |= EVENT_HAS_EXIT_CODE;
    if (e.exit_code != 0 || outcome_of_result(text) != OUTCOME_OK)
        e.flags |= EVENT_HAS_FAILED;
    return emit(run, &e, err);
}

static bool message(void *ctx, const RowEvent *m, Err *err)
{
    HermesRun *run = ctx;
    Str text;

    arena_reset(run->a);
    run->where = m->id;
    run->part = 0;
    run->at = m->at;
    run->flags = m->active      ? 0u
                 : m->compacted ? EVENT_IS_INACTIVE
                                : EVENT_IS_INACTIVE | EVENT_IS_REWOUND;
    run->flags |= m->guest ? EVENT_IS_GUEST : 0u;
    text = message_text(run->a, m->content);
    if (str_eqz(m->role, "user"))
        return emit_text(run, EVENT_USER, line_text_flags(text), text, err);
    if (str_eqz(m->role, "assistant"))
        return assistant(run, m, text, err);
    if (str_eqz(m->role, "tool"))
        return tool_result(run, m, text, err);
    return emit_text(run, EVENT_META, EVENT_IS_META, text, err);
}

/* What the session's own row says, in front of its messages. */
static bool session(HermesRun *run, const Session *s, Err *err)
{
    Event facts = { .kind = EVENT_SESSION,
                    .facts = { .id = s->id,
                               .cwd = s->cwd,
                               .branch = s->git_branch,
                               .model = s->model,
                               .title = s->title,
                               .entrypoint = s->source,
                               .parent = s->parent_session_id } };
    Event usage = { .kind = EVENT_USAGE,
                    .usage = { .input = s->input_tokens,
                               .output = s->output_tokens,
                               .cache_read = s->cache_read_tokens,
                               .cache_write = s->cache_write_tokens,
                               .reasoning = s->reasoning_tokens,
                               .total = true } };

    run->at = s->started_at;
    return emit(run, &facts, err) && emit(run, &usage, err);
}

bool hermes_read(Rows *rows, Str id, int64_t after, EventFn *fn, void *ctx, int64_t *ret_last,
                 Err *err)
{
    AUTO(Arena) *a = arena_new();
    HermesRun run = { .a = a, .fn = fn, .ctx = ctx };
    Session s;

    if (!rows_session(rows, a, id, &s, err) || !session(&run, &s, err))
        return false;
    return rows_events(rows, id, after, message, &run, ret_last, err);
}

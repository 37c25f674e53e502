/* One voice for all runtimes. Every event leaves through give(), which is where the end is kept. */
#include "runtimes/teller.h"

#include "base/limits.h"
#include "text/redact.h"
#include "text/utf8.h"

enum { PREVIEW_CHARS = 500, PREVIEW_BYTES = 16 * 1024, NAME_BYTES = 256, ESCAPE = 0x1b };

void teller_init(Teller *t, RuntimeEventFn *fn, void *ctx)
{
    *t = (Teller){ .fn = fn, .ctx = ctx, .scratch = arena_new() };
    t->message = BUF(LIMIT_RUN_MESSAGE);
}

static void free_tool(OpenTool *tool)
{
    mem_free(tool->id);
    mem_free(tool->name);
}

/* It is no longer open, and among those that ended last. */
static void keep_ended(Teller *t, size_t i)
{
    OpenTool *place = &t->ended[t->n_ended++ % ARRAY_LEN(t->ended)];

    free_tool(place);
    *place = t->tools[i];
    t->n_tools--;
    memmove(&t->tools[i], &t->tools[i + 1], (t->n_tools - i) * sizeof *t->tools);
}

void teller_done(Teller *t)
{
    while (t->n_tools)
        free_tool(&t->tools[--t->n_tools]);
    for (size_t i = 0; i < ARRAY_LEN(t->ended); i++)
        free_tool(&t->ended[i]);
    t->tools = mem_free(t->tools);
    buf_done(&t->message);
    t->scratch = arena_free(t->scratch);
}

static void give(Teller *t, const RuntimeEvent *e)
{
    if (t->over) {
        t->late++;
        return;
    }
    t->over = e->kind == RUNTIME_FINISH || e->kind == RUNTIME_FAIL;
    t->fn(t->ctx, e);
    arena_reset(t->scratch);
}

/* -- text -- */

static size_t sequence_length(unsigned char lead)
{
    return lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
}

/* How many bytes at the end may be the beginning of a code point. */
static size_t open_tail(Str s)
{
    for (size_t back = 1; back <= 3 && back <= s.n; back++) {
        unsigned char c = (unsigned char)s.p[s.n - back];

        if (c >= 0xc0)
            return c <= 0xf4 && sequence_length(c) > back ? back : 0;
        if (c < 0x80)
            return 0;
    }
    return 0;
}

/* How many line ends the text has at its end, or at its beginning; more than two count as two. */
static size_t breaks_at_end(Str s)
{
    size_t n = 0;

    while (n < 2 && n < s.n && s.p[s.n - 1 - n] == '\n')
        n++;
    return n;
}

static size_t breaks_at_start(Str s)
{
    size_t n = 0;

    while (n < 2 && n < s.n && s.p[n] == '\n')
        n++;
    return n;
}

/* The blank line between two segments, or what of it the agent has not written itself. It is part
 * of the text, so that wherever the text is read the segments stand apart. */
static Str gap_before(const Teller *t, Str text)
{
    size_t there = t->breaks + breaks_at_start(text);

    return str_skip(STR("\n\n"), there < 2 ? there : 2);
}

static void say_text_of(Teller *t, Str bytes)
{
    RuntimeEvent e = { .kind = RUNTIME_TEXT, .duration_ms = -1 };
    Str text, gap = STR("");

    if (!bytes.n || t->over)
        return;
    text = utf8_repair(t->scratch, bytes);
    if (t->again && t->chars > 0) {
        t->segment++;
        gap = gap_before(t, text);
    }
    if (t->again)
        buf_clear(&t->message);
    t->again = false;
    buf_add(&t->message, text);
    e.text = gap.n ? str_printf(t->scratch, "%.*s%.*s", STR_FMT(gap), STR_FMT(text)) : text;
    e.segment = t->segment;
    t->chars += e.text.n;
    t->breaks = breaks_at_end(e.text);
    give(t, &e);
}

static void flush_held(Teller *t)
{
    size_t n = t->n_held;

    t->n_held = 0;
    say_text_of(t, (Str){ t->held, n });
}

/* Steps over what was said before the restart. Where the peer says something else now, all of its
 * new message is said, as its own segment. */
static Str skip_replayed(Teller *t, Str bytes, Buf *all)
{
    Str old = str_skip(buf_str(&t->message), t->replayed);
    size_t n = 0;

    while (n < bytes.n && n < old.n && bytes.p[n] == old.p[n])
        n++;
    t->replayed += n;
    t->replaying = n < old.n && n == bytes.n;
    if (n == bytes.n || n == old.n)
        return str_skip(bytes, n);
    buf_add(all, str_head(buf_str(&t->message), t->replayed));
    buf_add(all, str_skip(bytes, n));
    t->again = true;
    return buf_str(all);
}

void teller_restart(Teller *t)
{
    flush_held(t);
    t->replaying = t->message.n > 0 && !t->again;
    t->replayed = 0;
}

void teller_text(Teller *t, Str bytes)
{
    AUTO_BUF all = BUF(SIZE_MAX / 4);
    AUTO_BUF again = BUF(SIZE_MAX / 4);
    size_t tail;

    if (t->replaying)
        bytes = skip_replayed(t, bytes, &again);
    if (t->n_held) {
        buf_add(&all, (Str){ t->held, t->n_held });
        buf_add(&all, bytes);
        bytes = buf_str(&all);
        t->n_held = 0;
    }
    tail = open_tail(bytes);
    memcpy(t->held, bytes.p + bytes.n - tail, tail);
    t->n_held = tail;
    say_text_of(t, str_head(bytes, bytes.n - tail));
}

void teller_segment(Teller *t)
{
    flush_held(t);
    t->again = true;
}

/* -- previews -- */

/* Behind an escape sequence: CSI up to its final byte, OSC up to BEL or ST, others two bytes. */
static size_t escape_length(Str s)
{
    size_t i = 2;

    if (s.n < 2)
        return s.n;
    if (s.p[1] == '[') {
        while (i < s.n && (s.p[i] < 0x40 || s.p[i] > 0x7e))
            i++;
        return i < s.n ? i + 1 : s.n;
    }
    if (s.p[1] == ']') {
        while (i < s.n && s.p[i] != '\a' && s.p[i] != ESCAPE)
            i++;
        return i < s.n && s.p[i] == ESCAPE && i + 1 < s.n ? i + 2 : i < s.n ? i + 1 : s.n;
    }
    return 2;
}

static void add_clean(Buf *out, Str text)
{
    while (text.n) {
        Str before = text;
        uint32_t c;

        if (*text.p == ESCAPE) {
            text = str_skip(text, escape_length(text));
            continue;
        }
        c = utf8_next(&text);
        if (c == '\n' || c == '\t')
            buf_addc(out, ' ');
        else if (c >= 0x20 && !(c >= 0x7f && c < 0xa0))
            buf_add(out, (Str){ before.p, before.n - text.n });
    }
}

Str preview(Arena *a, Str text)
{
    AUTO_BUF clean = BUF(PREVIEW_BYTES * 2);
    bool cut = text.n > PREVIEW_BYTES;
    Str safe, rest;
    size_t count = 0;

    if (!text.n)
        return STR("");
    add_clean(&clean, utf8_repair(a, utf8_head(text, PREVIEW_BYTES)));
    safe = rest = redact_text(a, str_trim(buf_str(&clean)));
    while (rest.n && count < PREVIEW_CHARS - 1) {
        (void)utf8_next(&rest);
        count++;
    }
    if (!rest.n && !cut)
        return str_dup(a, safe);
    return str_printf(a, "%.*s\xe2\x80\xa6", (int)(safe.n - rest.n), safe.p);
}

/* -- on the way -- */

void teller_session(Teller *t, Str handle, ContinuityMode mode, Str model, Str version)
{
    give(t, &(RuntimeEvent){ .kind = RUNTIME_SESSION,
                             .handle = handle,
                             .mode = mode,
                             .model = preview(t->scratch, model),
                             .version = preview(t->scratch, version),
                             .duration_ms = -1 });
}

void teller_think(Teller *t, Str text)
{
    if (text.n)
        give(t, &(RuntimeEvent){ .kind = RUNTIME_THINK,
                                 .text = utf8_repair(t->scratch, text),
                                 .duration_ms = -1 });
}

/* Of a tool or a call: what of it counts. */
static Str short_name(Str name)
{
    return utf8_head(name, NAME_BYTES);
}

/* Whether an event with this id and name is of this tool. Where one of the two has no id, its name
 * counts. */
static bool is_tool(const OpenTool *tool, Str id, Str name)
{
    return id.n && str_eqz(id, tool->id) ? true
           : id.n && !tool->made_up      ? false
                                         : name.n && str_eqz(name, tool->name);
}

static size_t find_tool(const Teller *t, Str id, Str name)
{
    for (size_t i = 0; i < t->n_tools; i++)
        if (is_tool(&t->tools[i], id, name))
            return i;
    return SIZE_MAX;
}

/* A Hermes says the end of a call twice. One that never says beginnings says each end once. */
static bool is_repeated_end(const Teller *t, Str id, Str name)
{
    for (size_t i = 0; i < ARRAY_LEN(t->ended); i++)
        if (t->ended[i].id && is_tool(&t->ended[i], id, name) &&
            (t->ended[i].begun || str_eqz(id, t->ended[i].id)))
            return true;
    return false;
}

static void end_tool(Teller *t, size_t i, bool failed, Str result, int64_t duration_ms)
{
    OpenTool *tool = &t->tools[i];
    RuntimeEvent e = { .kind = RUNTIME_TOOL_END,
                       .call_id = str_dup(t->scratch, str_of(tool->id)),
                       .name = preview(t->scratch, str_of(tool->name)),
                       .failed = failed,
                       .text = preview(t->scratch, result),
                       .duration_ms = duration_ms };

    keep_ended(t, i);
    give(t, &e);
}

void teller_tool_begin(Teller *t, Str id, Str name, Str arguments)
{
    OpenTool *tool;
    bool made_up;

    id = short_name(id);
    name = short_name(name);
    if (t->over || (id.n && find_tool(t, id, STR("")) != SIZE_MAX))
        return;
    flush_held(t);
    if (t->n_tools == LIMIT_RUN_TOOLS)
        end_tool(t, 0, true, STR("unknown"), -1);
    made_up = !id.n;
    if (made_up)
        id = str_printf(t->scratch, "call-%zu", ++t->last_tool);
    if (t->n_tools == t->cap_tools) {
        t->cap_tools = t->cap_tools ? t->cap_tools * 2 : 8;
        t->tools = mem_resize(t->tools, t->cap_tools, sizeof *t->tools);
    }
    tool = &t->tools[t->n_tools++];
    *tool = (OpenTool){ mem_strdup(id), mem_strdup(name), made_up, true };
    t->acted = t->again = true;
    give(t, &(RuntimeEvent){ .kind = RUNTIME_TOOL_BEGIN,
                             .call_id = id,
                             .name = preview(t->scratch, name),
                             .text = preview(t->scratch, arguments),
                             .duration_ms = -1 });
}

void teller_tool_update(Teller *t, Str id, Str text)
{
    size_t i = find_tool(t, short_name(id), STR(""));

    if (i != SIZE_MAX)
        give(t, &(RuntimeEvent){ .kind = RUNTIME_TOOL_UPDATE,
                                 .call_id = str_of(t->tools[i].id),
                                 .name = preview(t->scratch, str_of(t->tools[i].name)),
                                 .text = preview(t->scratch, text),
                                 .duration_ms = -1 });
}

void teller_tool_end(Teller *t, Str id, Str name, bool failed, Str result, int64_t duration_ms)
{
    size_t i;

    id = short_name(id);
    name = short_name(name);
    i = find_tool(t, id, name);
    if (i == SIZE_MAX) {
        if (!name.n || is_repeated_end(t, id, name))
            return;
        teller_tool_begin(t, id, name, STR(""));
        i = find_tool(t, id, name);
        if (i == SIZE_MAX)
            return;
        t->tools[i].begun = false;
    }
    end_tool(t, i, failed, result, duration_ms);
}

void teller_approval(Teller *t, Str id, Str what, const char *choices)
{
    RuntimeEvent e = { .kind = RUNTIME_APPROVAL, .call_id = id, .duration_ms = -1 };
    Str rest = str_of(choices), one;

    while (e.n_choices < ARRAY_LEN(e.choices) && str_split(&rest, '|', &one))
        e.choices[e.n_choices++] = one;
    e.text = preview(t->scratch, what);
    give(t, &e);
}

void teller_approved(Teller *t, Str id, Str choice)
{
    give(t, &(RuntimeEvent){
                .kind = RUNTIME_APPROVAL, .call_id = id, .name = choice, .duration_ms = -1 });
}

void teller_retry(Teller *t, int attempt, Str why)
{
    give(t, &(RuntimeEvent){ .kind = RUNTIME_RETRY,
                             .attempt = attempt,
                             .text = preview(t->scratch, why),
                             .duration_ms = -1 });
}

void teller_usage(Teller *t, const RuntimeUsage *usage)
{
    t->usage = *usage;
    t->usage.known = true;
    if (!t->usage.total)
        t->usage.total = usage->input + usage->output;
    give(t, &(RuntimeEvent){ .kind = RUNTIME_USAGE, .usage = t->usage, .duration_ms = -1 });
}

void teller_say(Teller *t, RuntimeEventKind kind, Str name, Str text)
{
    give(t, &(RuntimeEvent){ .kind = kind,
                             .name = preview(t->scratch, name),
                             .text = preview(t->scratch, text),
                             .duration_ms = -1 });
}

void teller_trace(Teller *t, Str bytes)
{
    if (!t->over)
        give(t, &(RuntimeEvent){ .kind = RUNTIME_TRACE, .text = bytes, .duration_ms = -1 });
}

/* -- the end -- */

/* What was held back, and the tools of which nobody will hear again. */
static void close_all(Teller *t)
{
    flush_held(t);
    while (t->n_tools && !t->over)
        end_tool(t, 0, true, STR("unknown"), -1);
}

void teller_finish(Teller *t, RuntimeStatus status, Str reason, Str handle)
{
    if (t->over) {
        t->late++;
        return;
    }
    close_all(t);
    if (status == RUNTIME_COMPLETED && !t->chars && !t->acted) {
        teller_fail(t, RUN_EMPTY_RESPONSE, STR("the runtime ended without an answer"), 0, reason);
        return;
    }
    give(t, &(RuntimeEvent){ .kind = RUNTIME_FINISH,
                             .status = status,
                             .reason = preview(t->scratch, reason),
                             .handle = handle,
                             .usage = t->usage,
                             .duration_ms = -1 });
}

void teller_fail(Teller *t, RunError code, Str text, int http_status, Str runtime_code)
{
    if (t->over) {
        t->late++;
        return;
    }
    close_all(t);
    give(t, &(RuntimeEvent){ .kind = RUNTIME_FAIL,
                             .code = code,
                             .text = preview(t->scratch, text.n ? text : STR("the runtime failed")),
                             .http_status = http_status,
                             .runtime_code = preview(t->scratch, runtime_code),
                             .usage = t->usage,
                             .duration_ms = -1 });
}

RunError run_error_of_status(int status)
{
    switch (status) {
    case 401:
    case 403:
        return RUN_RUNTIME_AUTH;
    case 413:
        return RUN_CONTEXT_TOO_LARGE;
    case 429:
        return RUN_RATE_LIMITED;
    default:
        return status >= 500 ? RUN_UPSTREAM_ERROR : RUN_RUNTIME_REJECTED;
    }
}

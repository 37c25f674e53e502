#include "terminal/render.h"

#include "base/limits.h"
#include "text/human.h"
#include "text/utf8.h"

enum { ARGUMENT_COLUMNS = 60, LINE_COLUMNS = 100, THOUGHT_KEPT = 400 };

const char *tint(bool color, Tint t)
{
    static const char *const codes[] = {
        [TINT_OFF] = "\033[0m",  [TINT_DIM] = "\033[2m",     [TINT_BOLD] = "\033[1m",
        [TINT_RED] = "\033[31m", [TINT_YELLOW] = "\033[33m", [TINT_CYAN] = "\033[36m"
    };

    return color ? codes[t] : "";
}

Render *render_new(bool color, size_t columns, const Homes *homes)
{
    PaintOptions options = {
        .columns = columns, .color = color, .hyperlinks = color, .homes = homes
    };
    Render *r = mem_alloc(sizeof *r);

    *r = (Render){ .color = color,
                   .arena = arena_new(),
                   .paint = columns ? paint_new(&options) : NULL,
                   .before = BUF(LIMIT_RUN_TEXT * 2),
                   .quiet = BUF(MIB(1)),
                   .words = BUF(LIMIT_RUN_TEXT),
                   .thought = BUF(LIMIT_RUN_TEXT) };
    return r;
}

Render *render_free(Render *r)
{
    if (!r)
        return NULL;
    paint_free(r->paint);
    buf_done(&r->before);
    buf_done(&r->quiet);
    buf_done(&r->words);
    buf_done(&r->thought);
    arena_free(r->arena);
    return mem_free(r);
}

/* A carriage return at the end of a piece belongs to a line feed that is still to come. */
void render_text(Buf *out, Str s)
{
    Str line;

    while (str_split(&s, '\n', &line)) {
        if (str_ends(line, STR("\r")))
            line.n--;
        utf8_show(out, line, true);
        if (s.p)
            buf_addc(out, '\n');
    }
}

/* -- one quiet line -- */

static void begin_line(Render *r, Tint t)
{
    buf_addz(&r->quiet, tint(r->color, t));
}

static void end_line(Render *r)
{
    buf_addz(&r->quiet, tint(r->color, TINT_OFF));
    buf_addc(&r->quiet, '\n');
}

static void add_fit(Render *r, Str s, size_t columns)
{
    buf_add(&r->quiet, utf8_fit(r->arena, s, columns));
}

static Str field(Json data, const char *key)
{
    return json_str(json_get(data, str_of(key)));
}

static int64_t number(Json data, const char *key, int64_t otherwise)
{
    int64_t n = otherwise;

    (void)json_int(json_get(data, str_of(key)), &n);
    return n;
}

static void add_time(Buf *out, int64_t ms)
{
    if (ms < 1000)
        buf_addf(out, "%lld ms", (long long)ms);
    else
        buf_addf(out, "%.1f s", (double)ms / 1000);
}

static void set_activity(Render *r, Str what, Str name)
{
    Str shown = utf8_head(utf8_fit(r->arena, name, 20), sizeof r->activity - 1 - what.n);

    snprintf(r->activity, sizeof r->activity, "%.*s%.*s", STR_FMT(what), STR_FMT(shown));
}

/* -- thinking -- */

/* When something else comes, what was thought becomes one line. */
static void fold_thought(Render *r)
{
    Str all = str_trim(buf_str(&r->thought));

    if (all.n) {
        begin_line(r, TINT_DIM);
        buf_addz(&r->quiet, "  thought: ");
        add_fit(r, utf8_head(all, THOUGHT_KEPT), LINE_COLUMNS - 30);
        buf_addf(&r->quiet, " (%zu characters)", utf8_count(all));
        end_line(r);
    }
    buf_clear(&r->thought);
}

/* -- tools -- */

Str render_argument(Arena *a, Str preview)
{
    static const char *const telling[] = { "command", "cmd",     "path", "file_path", "file",
                                           "query",   "pattern", "url",  "name",      "action" };
    Err err;
    AUTO(JsonDoc) *doc = json_parse(preview, &err);
    Json root = doc ? json_root(doc) : (Json){ 0 }, item;
    JsonIter it;
    Str key;

    if (!doc || json_type(root) != JSON_OBJECT)
        return str_dup(a, preview);
    for (size_t i = 0; i < ARRAY_LEN(telling); i++)
        if (field(root, telling[i]).n)
            return str_dup(a, field(root, telling[i]));
    it = json_each(root);
    while (json_next(&it, &key, &item))
        if (json_str(item).n)
            return str_dup(a, json_str(item));
    return json_count(root) ? str_dup(a, preview) : STR_NONE;
}

static void tool_begins(Render *r, Json data)
{
    RenderTool *t = ARENA_NEW(r->arena, RenderTool);

    *t = (RenderTool){ .next = r->tools,
                       .id = str_dup(r->arena, field(data, "call_id")),
                       .name = str_dup(r->arena, field(data, "tool")),
                       .argument = render_argument(r->arena, field(data, "args_preview")),
                       .began_ms = number(data, "ts", 0) };
    r->tools = t;
    set_activity(r, STR("tool "), t->name);
}

static RenderTool *take_tool(Render *r, Str id)
{
    for (RenderTool **t = &r->tools; *t; t = &(*t)->next)
        if (str_eq((*t)->id, id)) {
            RenderTool *found = *t;

            *t = found->next;
            return found;
        }
    return NULL;
}

static void tool_ends(Render *r, Json data, bool failed)
{
    RenderTool none = { .name = field(data, "tool") }, *t = take_tool(r, field(data, "call_id"));
    int64_t ms = number(data, "duration_ms", t ? number(data, "ts", 0) - t->began_ms : -1);

    t = t ? t : &none;
    begin_line(r, TINT_DIM);
    buf_addz(&r->quiet, "  tool: ");
    add_fit(r, t->name.n ? t->name : STR("?"), 40);
    if (t->argument.n) {
        buf_addc(&r->quiet, ' ');
        add_fit(r, t->argument, ARGUMENT_COLUMNS);
    }
    buf_addz(&r->quiet, failed ? " · " : " · ok");
    if (failed)
        buf_addf(&r->quiet, "%s%sfailed", tint(r->color, TINT_OFF), tint(r->color, TINT_RED));
    if (ms >= 0) {
        buf_addz(&r->quiet, " · ");
        add_time(&r->quiet, ms);
    }
    end_line(r);
    if (r->tools)
        set_activity(r, STR("tool "), r->tools->name);
    else
        r->activity[0] = 0;
}

static void tool(Render *r, Json data)
{
    Str status = field(data, "status");

    if (str_eqz(status, "started"))
        tool_begins(r, data);
    else if (str_eqz(status, "completed") || str_eqz(status, "failed"))
        tool_ends(r, data, str_eqz(status, "failed"));
}

/* -- what the turn was given -- */

static const char *part(Buf *line, const char *otherwise)
{
    return line->n ? otherwise : "";
}

static void add_context(Buf *line, Json context)
{
    static const struct {
        const char *key, *one, *many;
    } parts[] = { { "user", "memory", "memories" },
                  { "summary", "summary", "summaries" },
                  { "recalled", "recalled", "recalled" },
                  { "brain", "note", "notes" } };
    size_t before = line->n;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        int64_t n = number(context, parts[i].key, 0);

        if (n > 0)
            buf_addf(line, "%s%lld %s", line->n == before ? "context: " : ", ", (long long)n,
                     n == 1 ? parts[i].one : parts[i].many);
    }
}

static void add_skills(Render *r, Buf *line, Json skills)
{
    for (size_t i = 0; i < json_count(skills); i++) {
        Str name = field(json_at(skills, i), "name");

        buf_addz(line, i ? ", " : part(line, " · "));
        buf_addz(line, i ? "" : "skills: ");
        buf_add(line, utf8_fit(r->arena, name, 40));
    }
}

static void metadata(Render *r, Json data)
{
    AUTO_BUF line = BUF(KIB(16));
    Json graph = json_get(data, STR("graph"));
    int64_t nodes = number(graph, "nodes", 0);

    add_context(&line, json_get(data, STR("context")));
    add_skills(r, &line, json_get(data, STR("skills")));
    if (nodes > 1)
        buf_addf(&line, "%s%s %lld", part(&line, " · "),
                 str_eqz(field(graph, "decision"), "parallel") ? "parallel" : "steps",
                 (long long)nodes);
    if (!line.n)
        return;
    begin_line(r, TINT_DIM);
    buf_add(&r->quiet, buf_str(&line));
    end_line(r);
}

/* -- on the way -- */

static void ask(Render *r, Json data)
{
    Json approval = json_get(data, STR("approval")), choices = json_get(approval, STR("choices"));

    r->approval.id = STR_NONE;
    if (!str_eqz(field(data, "status"), "waiting"))
        return;
    r->approval.id = str_dup(r->arena, field(approval, "id"));
    r->approval.n = 0;
    for (size_t i = 0; i < json_count(choices) && r->approval.n < ARRAY_LEN(r->approval.choices);
         i++)
        r->approval.choices[r->approval.n++] = str_dup(r->arena, json_str(json_at(choices, i)));
    begin_line(r, TINT_YELLOW);
    buf_addz(&r->quiet, "approval needed: ");
    add_fit(r, field(approval, "command"), 400);
    end_line(r);
}

/* One line about something that is neither words nor a tool: why it is poorer, tried again, ... */
static void remark(Render *r, Json data, Str stage)
{
    bool poorer = str_eqz(field(data, "status"), "degraded");
    Str said = field(data, "detail").n ? field(data, "detail") : field(data, "label");

    if (!poorer && !str_is_one_of(stage, "plan|retry|compaction|subagent|notice"))
        return;
    begin_line(r, poorer ? TINT_YELLOW : TINT_DIM);
    buf_addz(&r->quiet, "  ");
    add_fit(r, stage, 20);
    if (poorer)
        buf_addz(&r->quiet, " degraded");
    if (said.n) {
        buf_addz(&r->quiet, ": ");
        add_fit(r, said, LINE_COLUMNS);
    }
    end_line(r);
}

static void progress(Render *r, Json data)
{
    Str stage = field(data, "stage");

    if (str_eqz(stage, "thinking")) {
        buf_add(&r->thought, field(data, "text"));
        set_activity(r, STR("thinking"), STR_NONE);
        return;
    }
    fold_thought(r);
    if (str_eqz(stage, "tool"))
        tool(r, data);
    else if (str_eqz(stage, "approval"))
        ask(r, data);
    else
        remark(r, data, stage);
}

/* -- the end -- */

/* X(code, what it means where the words are a provider's own, what one can do about it) */
typedef struct Advice {
    const char *code, *meaning, *advice;
} Advice;

static Advice advice_of(Str code)
{
    static const Advice rows[] = {
        { "runtime_unavailable", "", "is it running? /runtime lists the alternatives" },
        { "runtime_auth", "not authorised", "check its API key or log in to it, then /retry" },
        { "runtime_rejected", "the request was refused", "try another /model or /runtime" },
        { "rate_limited", "too many requests", "wait a moment, then /retry" },
        { "upstream_error", "the model's server failed",
          "/retry sends it again, /runtime lists the alternatives" },
        { "context_too_large", "the conversation is too long for the model",
          "start without the earlier turns: /new" },
        { "store_unavailable", "", "run 'talaria doctor' to check the database" },
        { "approval_denied", "", "ask in another way" },
        { "approval_timeout", "", "/retry, and answer in time" },
        { "conflict", "", "a turn of this conversation is running elsewhere; /retry later" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eqz(code, rows[i].code))
            return rows[i];
    return (Advice){ "", "", "/retry sends it again, /runtime lists the alternatives" };
}

static void error(Render *r, Json data)
{
    Advice advice = advice_of(field(data, "code"));
    Str said = field(data, "message");
    bool partial = false;

    fold_thought(r);
    (void)json_bool(json_get(data, STR("partial")), &partial);
    if (!said.n)
        r->error = str_of(*advice.meaning ? advice.meaning : "no reason was given");
    else if (*advice.meaning)
        r->error = str_printf(r->arena, "%s (%.*s)", advice.meaning, STR_FMT(said));
    else
        r->error = str_dup(r->arena, said);
    begin_line(r, TINT_RED);
    buf_addz(&r->quiet, "error: ");
    add_fit(r, r->error, 400);
    end_line(r);
    begin_line(r, TINT_DIM);
    buf_addf(&r->quiet, "  %s%s", partial ? "the partial answer is kept; " : "", advice.advice);
    end_line(r);
}

static void add_tokens(Render *r, Json usage)
{
    int64_t in = number(usage, "input", 0), out = number(usage, "output", 0);
    bool estimated = false;

    (void)json_bool(json_get(usage, STR("estimated")), &estimated);
    if (in + out > 0)
        buf_addf(&r->quiet, " · %s%.*s tokens in, %.*s out", estimated ? "about " : "",
                 STR_FMT(human_count(r->arena, in)), STR_FMT(human_count(r->arena, out)));
}

static void done(Render *r, Json data)
{
    fold_thought(r);
    r->activity[0] = 0;
    r->approval.id = STR_NONE;
    r->status = str_dup(r->arena, field(data, "status"));
    begin_line(r, TINT_DIM);
    buf_addz(&r->quiet, "-- ");
    if (str_eqz(r->status, "cancelled"))
        buf_addz(&r->quiet, "cancelled; the partial answer is kept");
    else if (str_eqz(r->status, "truncated"))
        buf_addz(&r->quiet, "cut off at a limit");
    else
        add_fit(r, r->status, 20);
    add_tokens(r, json_get(data, STR("usage")));
    buf_addz(&r->quiet, " · ");
    add_time(&r->quiet, number(data, "elapsed_ms", 0));
    end_line(r);
}

void render_resize(Render *r, size_t columns)
{
    if (r && r->paint)
        paint_resize(r->paint, columns);
}

static void chunk(Render *r, Str text)
{
    fold_thought(r);
    r->activity[0] = 0;
    if (r->paint) {
        paint_add(r->paint, text, &r->words);
        return;
    }
    while (r->after_line && str_starts(text, STR("\n")))
        text = str_skip(text, 1); /* one of our lines already separates the segments */
    r->after_line = r->after_line && !text.n;
    render_text(&r->words, text);
}

/* Words that wait go out before the lines that come now. */
static void finish_words(Render *r, FrameEvent event)
{
    if (!r->paint || event == FRAME_CHUNK || (!r->quiet.n && event != FRAME_DONE))
        return;
    if (event == FRAME_DONE || event == FRAME_ERROR)
        paint_end(r->paint, &r->before);
    else
        paint_break(r->paint, &r->before);
}

void render_frame(Render *r, FrameEvent event, Json data)
{
    buf_clear(&r->before);
    buf_clear(&r->quiet);
    buf_clear(&r->words);
    switch (event) {
    case FRAME_METADATA:
        metadata(r, data);
        break;
    case FRAME_PROGRESS:
        progress(r, data);
        break;
    case FRAME_CHUNK:
        chunk(r, field(data, "text"));
        break;
    case FRAME_ERROR:
        error(r, data);
        break;
    case FRAME_DONE:
        done(r, data);
        break;
    }
    finish_words(r, event);
    r->after_line = r->after_line || (r->quiet.n && event != FRAME_CHUNK);
}

#include "demo/tools.h"

#include "base/limits.h"
#include "demo/steps.h"
#include "text/utf8.h"

/* -- JSON of calls and results ---------------------------------------------------------- */

/* A JSON text under construction; ends in the arena. */
typedef struct Paper {
    Buf buf;
    JsonWriter w;
} Paper;

static JsonWriter *paper_begin(Paper *p)
{
    p->buf = BUF(MIB(1));
    p->w = JSON_WRITER(&p->buf, 0);
    json_begin(&p->w, '{');
    return &p->w;
}

static Str paper_end(Paper *p, Arena *a)
{
    Str text;

    json_end(&p->w, '}');
    text = str_dup(a, buf_str(&p->buf));
    buf_done(&p->buf);
    return text;
}

static Str filled(Scene *s, Json v)
{
    AUTO_BUF buf = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&buf, 0);

    words_json(s, v, &w);
    return str_dup(s->arena, buf_str(&buf));
}

/* One of the ways in which this tool fails. */
static Str failure(Scene *s, Str tool)
{
    Json ways = world_get(s->world->tools, "bad"), own = json_get(ways, tool);

    if (json_type(own) == JSON_NONE)
        own = world_get(ways, "other");
    return filled(s, dice_pick(&s->dice, own));
}

static Str one_field(Scene *s, const char *key, Str value)
{
    Paper p;

    json_field_str(paper_begin(&p), key, value);
    return paper_end(&p, s->arena);
}

static Str absolute(Scene *s, Str path)
{
    return str_printf(s->arena, "%.*s/%.*s", STR_FMT(s->cwd), STR_FMT(path));
}

/* -- files ------------------------------------------------------------------------------ */

/* Where one would look for the file and not find it. */
static Str wrong_path(Arena *a, Str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return str_skip(path, i);
    return str_printf(a, "docs/%.*s", STR_FMT(path));
}

static Str replace(Arena *a, Str text, Str old, Str new)
{
    size_t at = str_find(text, old);

    return at == text.n ? text
                        : str_printf(a, "%.*s%.*s%.*s", (int)at, text.p, STR_FMT(new),
                                     (int)(text.n - at - old.n), text.p + at + old.n);
}

/* A file of the project, as this session has left it. */
static Str file_text(Scene *s, Str path)
{
    Str text = words_fill(s, json_get(world_get(s->project, "files"), path));

    for (size_t i = 0; i < s->n_edits; i++) {
        const SceneEdit *e = &s->edits[i];

        if (e->made && str_eq(world_str(e->edit, "file"), path))
            text = replace(s->arena, text, e->old, e->new);
    }
    return text;
}

static Str numbered(Scene *s, Str text, int64_t *ret_lines)
{
    AUTO_BUF out = BUF(MIB(1));
    Str line;

    for (*ret_lines = 0; str_split(&text, '\n', &line);)
        buf_addf(&out, "%6lld|%.*s\n", (long long)++*ret_lines, STR_FMT(line));
    return str_dup(s->arena, buf_str(&out));
}

static void make_read(Scene *s, Str path, bool fails, Move *m)
{
    Str text = file_text(s, path);
    int64_t lines;
    JsonWriter *w;
    Paper p;

    m->tool = STR("read_file");
    if (fails)
        path = wrong_path(s->arena, path);
    scene_set(s, "path", path);
    m->arguments = one_field(s, "path", absolute(s, path));
    if (fails)
        return;
    w = paper_begin(&p);
    json_field_str(w, "content", numbered(s, text, &lines));
    json_field_int(w, "total_lines", lines);
    json_field_int(w, "file_size", (int64_t)text.n);
    json_field_bool(w, "truncated", false);
    m->result = paper_end(&p, s->arena);
}

static int64_t matches_in(Scene *s, Str path, Str text, Str pattern, JsonWriter *w)
{
    int64_t n = 0, at = 0;
    Str line;

    while (str_split(&text, '\n', &line)) {
        at++;
        if (str_find(line, pattern) == line.n)
            continue;
        json_begin(w, '{');
        json_field_str(w, "path", absolute(s, path));
        json_field_int(w, "line", at);
        json_field_str(w, "content", line);
        json_end(w, '}');
        n++;
    }
    return n;
}

static void make_grep(Scene *s, Str pattern, Move *m)
{
    JsonIter it = json_each(world_get(s->project, "files"));
    int64_t n = 0;
    JsonWriter *w;
    Json lines;
    Paper p;
    Str path;

    m->tool = STR("search_files");
    scene_set(s, "what", pattern);
    w = paper_begin(&p);
    json_field_str(w, "pattern", pattern);
    json_field_str(w, "target", STR("content"));
    json_field_str(w, "path", s->cwd);
    m->arguments = paper_end(&p, s->arena);
    w = paper_begin(&p);
    json_key(w, "matches");
    json_begin(w, '[');
    while (json_next(&it, &path, &lines))
        n += matches_in(s, path, file_text(s, path), pattern, w);
    json_end(w, ']');
    json_field_int(w, "total_count", n);
    m->result = paper_end(&p, s->arena);
}

static void diff_lines(Buf *out, char mark, Str text)
{
    Str line;

    while (str_split(&text, '\n', &line))
        buf_addf(out, "%c%.*s\n", mark, STR_FMT(line));
}

/* The line that holds the changed words stands in the diff, not the words alone. */
static Str diff_of(Scene *s, Str path, Str text, Str old, Str new)
{
    AUTO_BUF out = BUF(MIB(1)), after = BUF(MIB(1));
    size_t at = str_find(text, old), from = at, to = at + old.n, line = 1;

    while (from > 0 && text.p[from - 1] != '\n')
        from--;
    while (to < text.n && text.p[to] != '\n')
        to++;
    for (size_t i = 0; i < from; i++)
        line += text.p[i] == '\n';
    buf_addf(&after, "%.*s%.*s%.*s", (int)(at - from), text.p + from, STR_FMT(new),
             (int)(to - at - old.n), text.p + at + old.n);
    buf_addf(&out, "--- a/%.*s\n+++ b/%.*s\n@@ -%zu +%zu @@\n", STR_FMT(path), STR_FMT(path), line,
             line);
    diff_lines(&out, '-', (Str){ text.p + from, to - from });
    diff_lines(&out, '+', buf_str(&after));
    return str_dup(s->arena, buf_str(&out));
}

static void make_edit(Scene *s, Json edit, bool fails, Move *m)
{
    SceneEdit *e = step_edit(s, edit);
    Str path = world_str(edit, "file"), text = file_text(s, path);
    Str old = e->made ? e->new : e->old, new = e->made ? e->old : e->new;
    JsonWriter *w;
    Paper p;

    m->tool = STR("patch");
    scene_set(s, "why", e->made ? words_say(s, "undo") : words_fill(s, world_get(edit, "why")));
    w = paper_begin(&p);
    json_field_str(w, "mode", STR("replace"));
    json_field_str(w, "path", absolute(s, path));
    json_field_str(w, "old_string", old);
    json_field_str(w, "new_string", new);
    m->arguments = paper_end(&p, s->arena);
    if (fails)
        return;
    e->made = !e->made;
    w = paper_begin(&p);
    json_field_bool(w, "success", true);
    json_field_str(w, "diff", diff_of(s, path, text, old, new));
    json_key(w, "files_modified");
    json_begin(w, '[');
    json_put_str(w, absolute(s, path));
    json_end(w, ']');
    m->result = paper_end(&p, s->arena);
}

static void make_write(Scene *s, Json file, Move *m)
{
    Str path = words_fill(s, world_get(file, "path")),
        content = words_fill(s, world_get(file, "content"));
    JsonWriter *w;
    Paper p;

    m->tool = STR("write_file");
    scene_set(s, "path", path);
    w = paper_begin(&p);
    json_field_str(w, "path", absolute(s, path));
    json_field_str(w, "content", content);
    m->arguments = paper_end(&p, s->arena);
    w = paper_begin(&p);
    json_field_int(w, "bytes_written", (int64_t)content.n);
    json_field_bool(w, "dirs_created", false);
    m->result = paper_end(&p, s->arena);
}

/* -- commands and code ------------------------------------------------------------------ */

static Str shell_result(Scene *s, Str output, int64_t exit_code)
{
    JsonWriter *w;
    Paper p;

    w = paper_begin(&p);
    json_field_str(w, "output", output);
    json_field_int(w, "exit_code", exit_code);
    json_field_null(w, "error");
    return paper_end(&p, s->arena);
}

/* A command that can fail in a way of its own does so mostly in that way. */
static void make_run(Scene *s, Json command, bool fails, Move *m)
{
    Str line = words_fill(s, world_get(command, "command")), output;
    Json bad = world_get(command, "bad");

    m->tool = STR("terminal");
    scene_set(s, "what", str_head(line, str_find(line, STR(" 2>"))));
    m->arguments = one_field(s, "command", line);
    if (!fails) {
        m->result = shell_result(s, words_fill(s, world_get(command, "ok")), 0);
    } else if (json_type(bad) != JSON_NONE && dice_chance(&s->dice, 80)) {
        output = words_fill(s, bad);
        m->result = shell_result(s, output, dice_span(&s->dice, 1, 2));
    }
}

static void make_code(Scene *s, Json snippet, Move *m)
{
    JsonWriter *w;
    Paper p;

    m->tool = STR("execute_code");
    scene_set(s, "why", words_fill(s, world_get(snippet, "why")));
    m->arguments = one_field(s, "code", words_fill(s, world_get(snippet, "code")));
    w = paper_begin(&p);
    json_field_str(w, "status", STR("success"));
    json_field_str(w, "output", words_fill(s, world_get(snippet, "ok")));
    json_field_int(w, "tool_calls_made", 0);
    json_field_double(w, "duration_seconds", (double)dice_span(&s->dice, 11, 940) / 100);
    m->result = paper_end(&p, s->arena);
}

/* -- the web ---------------------------------------------------------------------------- */

static void make_search(Scene *s, Json topic, Move *m)
{
    Str query = words_fill(s, world_get(topic, "query")), unused;
    JsonIter it = json_each(world_get(topic, "pages"));
    int64_t position = 0;
    JsonWriter *w;
    Json page;
    Paper p;

    m->tool = STR("web_search");
    scene_set(s, "what", query);
    w = paper_begin(&p);
    json_field_str(w, "query", query);
    json_field_int(w, "limit", 5);
    m->arguments = paper_end(&p, s->arena);
    w = paper_begin(&p);
    json_field_bool(w, "success", true);
    json_key(w, "data");
    json_begin(w, '{');
    json_key(w, "web");
    json_begin(w, '[');
    while (json_next(&it, &unused, &page)) {
        json_begin(w, '{');
        json_field_int(w, "position", ++position);
        json_field_str(w, "title", words_fill(s, world_get(page, "title")));
        json_field_str(w, "url", words_fill(s, world_get(page, "url")));
        json_field_str(w, "description", utf8_head(words_fill(s, world_get(page, "text")), 96));
        json_end(w, '}');
    }
    json_end(w, ']');
    json_end(w, '}');
    m->result = paper_end(&p, s->arena);
}

static void make_extract(Scene *s, Json topic, Move *m)
{
    Json page = dice_pick(&s->dice, world_get(topic, "pages"));
    Str url = words_fill(s, world_get(page, "url"));
    JsonWriter *w;
    Paper p;

    m->tool = STR("web_extract");
    w = paper_begin(&p);
    json_key(w, "urls");
    json_begin(w, '[');
    json_put_str(w, url);
    json_end(w, ']');
    m->arguments = paper_end(&p, s->arena);
    w = paper_begin(&p);
    json_key(w, "results");
    json_begin(w, '[');
    json_begin(w, '{');
    json_field_str(w, "url", url);
    json_field_str(w, "title", words_fill(s, world_get(page, "title")));
    json_field_str(w, "content", words_fill(s, world_get(page, "text")));
    json_field_null(w, "error");
    json_end(w, '}');
    json_end(w, ']');
    m->result = paper_end(&p, s->arena);
}

static void make_browse(Scene *s, Json page, Move *m)
{
    Str url = words_fill(s, world_get(page, "url"));
    JsonWriter *w;
    Paper p;

    m->tool = STR("browser_navigate");
    scene_set(s, "what", url);
    m->arguments = one_field(s, "url", url);
    w = paper_begin(&p);
    json_field_bool(w, "success", true);
    json_field_str(w, "url", url);
    json_field_str(w, "title", words_fill(s, world_get(page, "title")));
    json_field_str(w, "snapshot", words_fill(s, world_get(page, "snapshot")));
    json_field_int(w, "element_count", dice_span(&s->dice, 8, 60));
    m->result = paper_end(&p, s->arena);
}

/* -- one call --------------------------------------------------------------------------- */

static void make_extra(Scene *s, Str tool, Move *m)
{
    Json extra = world_find(world_get(s->world->tools, "extras"), "tool", tool);

    m->tool = tool;
    m->arguments = filled(s, world_get(extra, "args"));
    m->result = filled(s, world_get(extra, "ok"));
}

static void make(Scene *s, Str verb, Str object, bool fails, Move *m)
{
    int64_t page = 0;

    if (str_eqz(verb, "read"))
        make_read(s, object, fails, m);
    else if (str_eqz(verb, "grep"))
        make_grep(s, object, m);
    else if (str_eqz(verb, "edit"))
        make_edit(s, step_named(s, "edits", object), fails, m);
    else if (str_eqz(verb, "write"))
        make_write(s, step_named(s, "writes", object), m);
    else if (str_eqz(verb, "run"))
        make_run(s, step_named(s, "commands", object), fails, m);
    else if (str_eqz(verb, "code"))
        make_code(s, step_named(s, "code", object), m);
    else if (str_eqz(verb, "search"))
        make_search(s, step_named(s, "topics", object), m);
    else if (str_eqz(verb, "extract"))
        make_extract(s, step_named(s, "topics", object), m);
    else if (str_eqz(verb, "extra"))
        make_extra(s, object, m);
    else {
        ASSERT(str_eqz(verb, "browse") && str_to_int(object, 0, 100, &page));
        make_browse(s, json_at(world_get(s->project, "pages"), (size_t)page), m);
    }
}

static Str remark(Scene *s, Str tool)
{
    Json say = world_get(s->world->tools, "say"), own = json_get(say, tool);

    if (json_type(own) == JSON_NONE)
        own = world_get(say, "other");
    return words_pick(s, json_get(own, s->lang));
}

Move step_make(Scene *s, Str step, bool fails)
{
    Str object, verb = step_split(step, &object);
    Move m = { 0 };

    scene_move_begin(s);
    make(s, verb, object, fails, &m);
    m.say = remark(s, m.tool);
    /* A command that fails in its own words has its result already. */
    if (fails && !(str_eqz(verb, "run") && m.result.p))
        m.result = failure(s, m.tool);
    scene_move_end(s);
    return m;
}

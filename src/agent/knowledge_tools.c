/* Tools of the native runtime. All of them are local; the user's memory is the only thing that one
 * writes. What they hand out is a JSON object with the secrets taken out, cut to what a model can
 * read. */
#include "agent/knowledge_inside.h"
#include "base/limits.h"
#include "recall/snippet.h"
#include "text/human.h"
#include "text/redact.h"
#include "text/utf8.h"

enum {
    HITS = 8,
    MAX_HITS = 20,
    READ = 20,
    MAX_READ = 100,
    SAID = 2000,
    SNIPPET = 400,
    LOOK_MS = 2000,
    OWN = 4
};

/* What a call works with. */
typedef struct Desk {
    Knowledge *knowledge;
    Shelf *shelf;
    Arena *arena;
    Str conversation_id; /* of the turn: what is said there is known already */
} Desk;

/* X(function, "name", description, properties, required) */
#define TOOLS(X)                                                                                   \
    X(session_search, "session_search",                                                            \
      "Search everything that the user and their agents said and did in earlier sessions. Words, " \
      "or a question. Returns the best passages with the id of their session.",                    \
      "\"query\":{\"type\":\"string\"},\"limit\":{\"type\":\"integer\",\"minimum\":1,"             \
      "\"maximum\":20}",                                                                           \
      "\"query\"")                                                                                 \
    X(session_read, "session_read",                                                                \
      "Read one earlier session, in order. `from` counts messages from 1.",                        \
      "\"session\":{\"type\":\"string\",\"description\":\"its id, or an unambiguous beginning\"}," \
      "\"from\":{\"type\":\"integer\",\"minimum\":1},\"limit\":{\"type\":\"integer\","             \
      "\"minimum\":1,\"maximum\":100}",                                                            \
      "\"session\"")                                                                               \
    X(skill_view, "skill_view",                                                                    \
      "Read the whole text of a skill of this machine, by its name. Reading changes nothing.",     \
      "\"name\":{\"type\":\"string\"}", "\"name\"")

/* -- Arguments and answers -- */

static int64_t number_of(Json args, const char *key, int64_t fallback, int64_t max)
{
    int64_t n = fallback;

    (void)json_int(json_get(args, str_of(key)), &n);
    return n < 1 ? 1 : n > max ? max : n;
}

static bool text_of(Json args, const char *key, Str *ret, Err *err)
{
    *ret = str_trim(json_str(json_get(args, str_of(key))));
    return ret->n || err_set(err, ERR_USAGE, "'%s' is missing", key);
}

static void field_said(Arena *a, JsonWriter *w, const char *key, Str text, size_t bytes)
{
    Str clean = redact_text(a, text), head = utf8_head(clean, bytes);

    json_field_str(w, key, head.n < clean.n ? str_printf(a, "%.*s…", STR_FMT(head)) : head);
}

static void field_day(Arena *a, JsonWriter *w, double at)
{
    json_field_str(w, "date", str_head(human_iso(a, at), 10));
}

/* -- Session_search -- */

static void put_hit(Arena *a, JsonWriter *w, const SearchHit *h)
{
    AUTO_BUF text = BUF(KIB(64));

    for (size_t i = 0; i < h->n_snippet; i++)
        buf_add(&text, h->snippet[i].text);
    json_begin(w, '{');
    json_field_str(w, "session", h->entry.id);
    field_said(a, w, "title", h->entry.title, 80);
    field_day(a, w, h->at.at);
    json_field_str(w, "role", str_of(doc_role_name(h->at.role)));
    field_said(a, w, "text", buf_str(&text), SNIPPET);
    json_end(w, '}');
}

static bool session_search(const Desk *d, Json args, JsonWriter *w, Err *err)
{
    const Shelf *s = d->shelf;
    size_t limit = (size_t)number_of(args, "limit", HITS, MAX_HITS), n = 0;
    SearchOptions options = { .filter = SEARCH_FILTER_NONE, .max = limit + OWN };
    SearchAnswer answer;

    options.filter.no_guests = true;
    if (!text_of(args, "query", &options.text, err))
        return false;
    if (!s->recall)
        return err_set(err, ERR_IO, "%s", s->no_history.text);
    if (!recall_search(s->recall, s->catalogue, knowledge_homes(d->knowledge), d->arena, &options,
                       &answer, err))
        return false;
    json_field_begin(w, "hits", '[');
    for (size_t i = 0; i < answer.n && n < limit; i++)
        if (!str_eq(answer.hits[i].entry.id, d->conversation_id)) {
            put_hit(d->arena, w, &answer.hits[i]);
            n++;
        }
    json_end(w, ']');
    json_field_bool(w, "more", answer.more || n == limit);
    return true;
}

/* -- Session_read -- */

typedef struct Reading {
    Arena *arena;
    JsonWriter *w;
    int64_t at, from, until;
    bool more;
} Reading;

static bool put_doc(void *ctx, const Doc *d)
{
    Reading *r = ctx;

    if (d->guest)
        return true;
    r->at++;
    if (r->at < r->from)
        return true;
    r->more = r->at >= r->until || r->w->out->n > LIMIT_RUN_FILE - KIB(8);
    if (r->more)
        return false;
    json_begin(r->w, '{');
    json_field_int(r->w, "number", r->at);
    json_field_str(r->w, "role", str_of(doc_role_name(d->role)));
    if (d->tool.n)
        json_field_str(r->w, "tool", d->tool);
    field_said(r->arena, r->w, "text", d->text, SAID);
    json_end(r->w, '}');
    return true;
}

static bool session_read(const Desk *d, Json args, JsonWriter *w, Err *err)
{
    AUTO(DocReader) *reader = doc_reader_new(knowledge_homes(d->knowledge));
    const Shelf *s = d->shelf;
    Arena *a = d->arena;
    Reading r = { .arena = a, .w = w, .from = number_of(args, "from", 1, INT32_MAX) };
    Entry e;
    Str id;
    bool ok;

    r.until = r.from + number_of(args, "limit", READ, MAX_READ);
    if (!text_of(args, "session", &id, err))
        return false;
    if (!s->recall)
        return err_set(err, ERR_IO, "%s", s->no_history.text);
    if (!catalogue_find(s->catalogue, a, id, &e, err))
        return false;
    json_field_str(w, "session", e.id);
    field_said(a, w, "title", e.title, 80);
    field_day(a, w, e.started_at);
    json_field_begin(w, "messages", '[');
    ok = doc_each(reader, &e, put_doc, &r, err);
    json_end(w, ']');
    json_field_bool(w, "more", r.more);
    return ok;
}

/* -- Skill_view -- */

static bool skill_view(const Desk *d, Json args, JsonWriter *w, Err *err)
{
    const Shelf *s = d->shelf;
    const Skill *skill;
    Str name;

    if (!text_of(args, "name", &name, err))
        return false;
    if (!s->skills)
        return err_set(err, ERR_IO, "%s", s->no_skills.text);
    if (!skills_refresh(s->skills, LOOK_MS, err))
        return false;
    skill = skills_find(s->skills, name);
    if (!skill)
        return err_set(err, ERR_NOT_FOUND, "there is no skill '%.*s'", STR_FMT(name));
    json_field_str(w, "name", skill->name);
    json_field_str(w, "description", skill->description);
    json_field_str(w, "path", skill->path);
    json_field_str(w, "body", redact_text(d->arena, utf8_head(skill->body, LIMIT_RUN_FILE / 2)));
    json_field_bool(w, "cut", skill->body.n > LIMIT_RUN_FILE / 2);
    return true;
}

/* -- The table -- */

typedef bool ToolFn(const Desk *d, Json args, JsonWriter *w, Err *err);

static bool run_tool(Desk *d, ToolFn *fn, Str arguments, Str *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(arguments, err);
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 0);
    bool ok;

    if (!doc)
        return false;
    d->shelf = shelf_take(d->knowledge);
    json_begin(&w, '{');
    ok = fn(d, json_root(doc), &w, err);
    json_end(&w, '}');
    if (ok)
        *ret = str_dup(d->arena, buf_str(&out));
    shelf_give(d->knowledge, d->shelf);
    return ok;
}

#define X(fn, name, description, properties, required)                                             \
    static bool run_##fn(void *ctx, Arena *a, Str conversation_id, Str arguments, Str *ret,        \
                         Err *err)                                                                 \
    {                                                                                              \
        Desk d = { ctx, NULL, a, conversation_id };                                                \
                                                                                                   \
        return run_tool(&d, fn, arguments, ret, err);                                              \
    }
TOOLS(X)
#undef X

static bool run_memory(void *ctx, Arena *a, Str conversation_id, Str arguments, Str *ret, Err *err)
{
    (void)conversation_id;
    return memory_tool_run(a, knowledge_homes(ctx), arguments, ret, err);
}

void knowledge_tools(Knowledge *k, RuntimeTool ret[KNOWLEDGE_TOOLS])
{
    size_t n = 0;

#define X(fn, name_, description_, properties, required)                                           \
    ret[n++] = (RuntimeTool){ .name = STR(name_),                                                  \
                              .description = STR(description_),                                    \
                              .schema = STR("{\"type\":\"object\",\"properties\":{" properties     \
                                            "},\"required\":[" required "]}"),                     \
                              .run = run_##fn,                                                     \
                              .ctx = k };
    TOOLS(X)
#undef X
    ret[n++] = (RuntimeTool){ .name = STR("memory"),
                              .description = str_of(memory_tool_description),
                              .schema = str_of(memory_tool_schema),
                              .run = run_memory,
                              .ctx = k };
    ASSERT(n == KNOWLEDGE_TOOLS);
}

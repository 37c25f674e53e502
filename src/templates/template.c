/* Reading is tolerant in one direction only: keys may be missing or unknown, but a key of the
 * table with a value of another type is a file that somebody broke, and is told so. */
#include "templates/template.h"

#include "base/limits.h"

enum { NAME_BYTES = 128 };

/* -- names -------------------------------------------------------------------------------- */

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_name_byte(char c)
{
    return is_alnum(c) || c == '.' || c == '_' || c == '-';
}

bool template_name_check(Str name, Err *err)
{
    bool good = name.n > 0 && name.n <= NAME_BYTES && is_alnum(name.p[0]);

    for (size_t i = 0; good && i < name.n; i++)
        good = is_name_byte(name.p[i]);
    if (good)
        return true;
    return err_set(err, ERR_USAGE,
                   "'%.*s' cannot name a template: 1 to %d letters, digits, '.', '_' and '-', "
                   "the first a letter or digit",
                   STR_FMT(str_head(name, 200)), NAME_BYTES);
}

/* Words of letters and digits with '-' between them; cut behind a whole word. */
static size_t slug_of(Str title, char *out, size_t most)
{
    size_t n = 0, word_end = 0;
    bool gap = false;

    for (size_t i = 0; i < title.n && n < most; i++) {
        if (!is_alnum(title.p[i])) {
            gap = gap || title.p[i] != '\'';
            continue;
        }
        if (gap && n) {
            word_end = n;
            out[n++] = '-';
        }
        gap = false;
        if (n < most)
            out[n++] =
                title.p[i] >= 'A' && title.p[i] <= 'Z' ? (char)(title.p[i] + 32) : title.p[i];
    }
    if (n == most && word_end)
        n = word_end;
    while (n && out[n - 1] == '-')
        n--;
    return n;
}

Str template_name_default(Arena *a, const Template *t)
{
    enum { SLUG_BYTES = 48, SLUG_LEAST = 3, ID_BYTES = 8 };
    char slug[SLUG_BYTES], first[ID_BYTES];
    size_t n = slug_of(t->title, slug, sizeof slug), id = 0;

    if (n >= SLUG_LEAST)
        return str_printf(a, "%.*s", (int)n, slug);
    for (; id < sizeof first && id < t->source_session_id.n; id++)
        first[id] = is_name_byte(t->source_session_id.p[id]) ? t->source_session_id.p[id] : '-';
    return str_printf(a, "%s-%.*s", tasktype_name(t->type), (int)id, first);
}

/* -- one file's bytes --------------------------------------------------------------------- */

/* The member where it has the type, JSON_NONE where it is missing, failure where it is another. */
static bool member(Json object, const char *where, const char *key, JsonType type, Json *ret,
                   Err *err)
{
    Json v = json_get(object, str_of(key));
    JsonType has = json_type(v);

    if (has != type && has != JSON_NONE)
        return err_set(err, ERR_INVALID, "'%s%s' must be %s, not %s", where, key,
                       json_type_name(type), json_type_name(has));
    *ret = v;
    return true;
}

static bool text_member(Arena *a, Json object, const char *where, const char *key, Str *ret,
                        Err *err)
{
    Json v;

    if (!member(object, where, key, JSON_STRING, &v, err))
        return false;
    if (json_type(v) == JSON_STRING)
        *ret = str_dup(a, json_str(v));
    return true;
}

static Str json_to_text(Arena *a, Json v)
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_put(&w, v);
    return str_dup(a, buf_str(&out));
}

static bool parse_example(Arena *a, Json v, size_t i, TemplateExample *ret, Err *err)
{
    TemplateExample e = { .arguments = STR("{}"), .result = STR(""), .success = true };
    char where[40];
    Json arguments, success;

    snprintf(where, sizeof where, "examples[%zu].", i);
    if (json_type(v) != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "'examples[%zu]' must be an object, not %s", i,
                       json_type_name(json_type(v)));
    if (!text_member(a, v, where, "tool_name", &e.tool, err) ||
        !member(v, where, "arguments", JSON_OBJECT, &arguments, err) ||
        !text_member(a, v, where, "result", &e.result, err) ||
        !member(v, where, "success", JSON_BOOL, &success, err))
        return false;
    if (!e.tool.p)
        return err_set(err, ERR_INVALID, "'%stool_name' is missing", where);
    if (json_type(arguments) == JSON_OBJECT)
        e.arguments = json_to_text(a, arguments);
    (void)json_bool(success, &e.success);
    *ret = e;
    return true;
}

static bool parse_examples(Arena *a, Json root, Template *t, Err *err)
{
    JsonIter it;
    Json list, item;
    Str key;

    if (!member(root, "", "examples", JSON_ARRAY, &list, err))
        return false;
    if (json_count(list) > LIMIT_EXAMPLES)
        return err_set(err, ERR_TOO_LARGE, "more than %d examples", LIMIT_EXAMPLES);
    t->examples = ARENA_ARRAY(a, TemplateExample, json_count(list) + 1);
    it = json_each(list);
    while (json_next(&it, &key, &item)) {
        if (!parse_example(a, item, t->n_examples, &t->examples[t->n_examples], err))
            return false;
        t->n_examples++;
    }
    return true;
}

static bool parse_type(Arena *a, Json root, TaskType *ret, Err *err)
{
    Str type = STR_NONE;

    if (!text_member(a, root, "", "task_type", &type, err))
        return false;
    if (!type.p)
        return err_set(err, ERR_INVALID, "'task_type' is missing");
    if (!tasktype_parse(type, ret))
        return err_set(err, ERR_INVALID, "unknown task_type '%.*s'", STR_FMT(str_head(type, 64)));
    return true;
}

static bool parse_numbers(Json root, double mtime, Template *t, Err *err)
{
    Json created = json_get(root, STR("created_at")), used = json_get(root, STR("usage_count"));

    t->created_at = 0;
    if (json_type(created) != JSON_NONE && !json_double(created, &t->created_at))
        return err_set(err, ERR_INVALID, "'created_at' must be a number, not %s",
                       json_type_name(json_type(created)));
    if (!(t->created_at > 0))
        t->created_at = mtime;
    t->usage_count = 0;
    if (json_type(used) != JSON_NONE && (!json_int(used, &t->usage_count) || t->usage_count < 0))
        return err_set(err, ERR_INVALID, "'usage_count' must be a whole number, not negative");
    return true;
}

static bool parse_source(Arena *a, Json root, Str *ret, Err *err)
{
    *ret = STR_NONE;
    if (json_type(json_get(root, STR("source_session_id"))) == JSON_NULL)
        return true;
    return text_member(a, root, "", "source_session_id", ret, err);
}

bool template_parse(Arena *a, Str json, Str stem, double mtime, Template *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(json, err);
    Template t = { .name = STR_NONE, .description = STR(""), .path = STR("") };
    Json root;

    if (!doc)
        return false;
    root = json_root(doc);
    if (json_type(root) != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "the file must hold an object, not %s",
                       json_type_name(json_type(root)));
    if (!text_member(a, root, "", "name", &t.name, err))
        return false;
    if (!t.name.p)
        return err_set(err, ERR_INVALID, "'name' is missing");
    if (!parse_type(a, root, &t.type, err) ||
        !text_member(a, root, "", "description", &t.description, err) ||
        !parse_numbers(root, mtime, &t, err) || !parse_source(a, root, &t.source_session_id, err) ||
        !parse_examples(a, root, &t, err))
        return false;
    t.name_in_file = t.name;
    t.name = str_dup(a, stem);
    *ret = t;
    return true;
}

/* -- writing ------------------------------------------------------------------------------ */

static void put_arguments(JsonWriter *w, Str arguments)
{
    Err ignored;
    AUTO(JsonDoc) *doc = json_parse(arguments, &ignored);

    json_key(w, "arguments");
    if (doc && json_type(json_root(doc)) == JSON_OBJECT)
        json_put(w, json_root(doc));
    else
        json_put_raw(w, STR("{}"));
}

void template_put(JsonWriter *w, const Template *t)
{
    json_begin(w, '{');
    json_field_str(w, "name", t->name);
    json_field_str(w, "task_type", str_of(tasktype_name(t->type)));
    json_key(w, "examples");
    json_begin(w, '[');
    for (size_t i = 0; i < t->n_examples; i++) {
        const TemplateExample *e = &t->examples[i];

        json_begin(w, '{');
        json_field_str(w, "tool_name", e->tool);
        put_arguments(w, e->arguments);
        json_field_str(w, "result", e->result);
        json_field_bool(w, "success", e->success);
        json_end(w, '}');
    }
    json_end(w, ']');
    json_field_str(w, "description", t->description);
    json_field_double(w, "created_at", t->created_at);
    json_field_int(w, "usage_count", t->usage_count);
    json_field_str(w, "source_session_id", t->source_session_id);
    json_end(w, '}');
}

void template_write(const Template *t, Buf *out)
{
    JsonWriter w = JSON_WRITER(out, 2);

    template_put(&w, t);
    buf_addc(out, '\n');
}

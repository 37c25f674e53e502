/* The files are shared with a Python program, so they are read as Python reads JSON and written so
 * that it finds its values again. Keys may be missing or unknown; `arguments` may be any value,
 * since the other side keeps there whatever a model wrote; any other key with a value of another
 * type is an error. */
#include "templates/template.h"

#include <math.h>

#include "base/limits.h"
#include "text/pyjson.h"
#include "text/utf8.h"

enum { NAME_BYTES = 128 };

static const double MAX_COUNT = 1LL << 53; /* a double is exact so far */

/* -- names -- */

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
static size_t slug_of(Str title, char *out, size_t max)
{
    size_t n = 0, word_end = 0;
    bool gap = false;

    for (size_t i = 0; i < title.n && n < max; i++) {
        if (!is_alnum(title.p[i])) {
            gap = gap || title.p[i] != '\'';
            continue;
        }
        if (gap && n) {
            word_end = n;
            out[n++] = '-';
        }
        gap = false;
        if (n < max)
            out[n++] =
                title.p[i] >= 'A' && title.p[i] <= 'Z' ? (char)(title.p[i] + 32) : title.p[i];
    }
    if (n == max && word_end)
        n = word_end;
    while (n && out[n - 1] == '-')
        n--;
    return n;
}

Str template_name_default(Arena *a, const Template *t)
{
    enum { SLUG_BYTES = 48, MIN_SLUG = 3, ID_BYTES = 8 };
    char slug[SLUG_BYTES], first[ID_BYTES];
    size_t n = slug_of(t->title, slug, sizeof slug), id = 0;

    if (n >= MIN_SLUG)
        return str_printf(a, "%.*s", (int)n, slug);
    for (; id < sizeof first && id < t->source_session_id.n; id++)
        first[id] = is_name_byte(t->source_session_id.p[id]) ? t->source_session_id.p[id] : '-';
    return str_printf(a, "%s-%.*s", tasktype_name(t->type), (int)id, first);
}

/* -- one file's bytes -- */

static const char *type_name(const PyValue *v)
{
    static const char *const names[] = {
        [PY_NULL] = "null",     [PY_FALSE] = "a boolean", [PY_TRUE] = "a boolean",
        [PY_INT] = "a number",  [PY_FLOAT] = "a number",  [PY_STR] = "a string",
        [PY_LIST] = "an array", [PY_DICT] = "an object",
    };

    return names[v->type];
}

/* A text member as it is, *ret untouched where it is missing. */
static bool text_member(Arena *a, const PyValue *object, const char *where, const char *key,
                        Str *ret, Err *err)
{
    const PyValue *v = pyjson_get(object, str_of(key));

    if (v && v->type != PY_STR)
        return err_set(err, ERR_INVALID, "'%s%s' must be a string, not %s", where, key,
                       type_name(v));
    if (v)
        *ret = str_dup(a, v->text);
    return true;
}

static bool parse_example(Arena *a, const PyValue *v, size_t i, TemplateExample *ret, Err *err)
{
    TemplateExample e = { .arguments = STR("{}"), .result = STR(""), .success = true };
    const PyValue *arguments = pyjson_get(v, STR("arguments"));
    const PyValue *success = pyjson_get(v, STR("success"));
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    JsonWriter w = { .out = &out, .first = true, .python = true };
    char where[40];

    snprintf(where, sizeof where, "examples[%zu].", i);
    if (v->type != PY_DICT)
        return err_set(err, ERR_INVALID, "'examples[%zu]' must be an object, not %s", i,
                       type_name(v));
    if (!text_member(a, v, where, "tool_name", &e.tool, err) ||
        !text_member(a, v, where, "result", &e.result, err))
        return false;
    if (!e.tool.p)
        return err_set(err, ERR_INVALID, "'%stool_name' is missing", where);
    if (success && success->type != PY_TRUE && success->type != PY_FALSE)
        return err_set(err, ERR_INVALID, "'%ssuccess' must be a boolean, not %s", where,
                       type_name(success));
    if (arguments) { /* kept as text, since only a writer looks at it again */
        pyjson_put(&w, arguments);
        e.arguments = str_dup(a, buf_str(&out));
    }
    e.success = !success || success->type == PY_TRUE;
    *ret = e;
    return true;
}

static bool parse_examples(Arena *a, const PyValue *root, Template *t, Err *err)
{
    const PyValue *list = pyjson_get(root, STR("examples"));
    size_t n = list && list->type == PY_LIST ? list->n : 0;

    if (list && list->type != PY_LIST)
        return err_set(err, ERR_INVALID, "'examples' must be an array, not %s", type_name(list));
    if (n > LIMIT_EXAMPLES)
        return err_set(err, ERR_TOO_LARGE, "more than %d examples", LIMIT_EXAMPLES);
    t->examples = ARENA_ARRAY(a, TemplateExample, n + 1);
    for (; t->n_examples < n; t->n_examples++)
        if (!parse_example(a, &list->items[t->n_examples], t->n_examples,
                           &t->examples[t->n_examples], err))
            return false;
    return true;
}

static bool parse_type(Arena *a, const PyValue *root, TaskType *ret, Err *err)
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

static bool number_of(Arena *a, const PyValue *v, double *ret)
{
    if (v->type == PY_FLOAT)
        *ret = v->real;
    else if (v->type == PY_INT)
        *ret = strtod(str_z(a, v->text), NULL);
    return v->type == PY_FLOAT || v->type == PY_INT;
}

static bool parse_numbers(Arena *a, const PyValue *root, double mtime, Template *t, Err *err)
{
    const PyValue *created = pyjson_get(root, STR("created_at"));
    const PyValue *used = pyjson_get(root, STR("usage_count"));
    double count = 0;

    t->created_at = 0;
    if (created && !number_of(a, created, &t->created_at))
        return err_set(err, ERR_INVALID, "'created_at' must be a number, not %s",
                       type_name(created));
    if (!(t->created_at > 0) || !isfinite(t->created_at))
        t->created_at = mtime;
    if (used && (!number_of(a, used, &count) || !(count >= 0) || count > MAX_COUNT ||
                 count != (double)(int64_t)count))
        return err_set(err, ERR_INVALID, "'usage_count' must be a whole number, not negative");
    t->usage_count = (int64_t)count;
    return true;
}

bool template_parse(Arena *a, Str json, Str stem, double mtime, Template *ret, Err *err)
{
    Template t = { .name = STR_NONE, .description = STR(""), .path = STR("") };
    AUTO(JsonDoc) *doc = NULL;
    const PyValue *source;
    PyValue root;

    /* The strict reader says where a text is wrong; what only it refuses is read, as Python
     * does. */
    if (utf8_valid_prefix(json) != json.n || !pyjson_read(a, json, &root)) {
        doc = json_parse(json, err);
        return doc &&
               err_set(err, ERR_INVALID, "too deeply nested, or a number with too many digits");
    }
    source = pyjson_get(&root, STR("source_session_id"));
    if (root.type != PY_DICT)
        return err_set(err, ERR_INVALID, "the file must hold an object, not %s", type_name(&root));
    if (!text_member(a, &root, "", "name", &t.name, err))
        return false;
    if (!t.name.p)
        return err_set(err, ERR_INVALID, "'name' is missing");
    if (!parse_type(a, &root, &t.type, err) ||
        !text_member(a, &root, "", "description", &t.description, err) ||
        !parse_numbers(a, &root, mtime, &t, err) ||
        (!(source && source->type == PY_NULL) &&
         !text_member(a, &root, "", "source_session_id", &t.source_session_id, err)) ||
        !parse_examples(a, &root, &t, err))
        return false;
    t.name_in_file = t.name;
    t.name = str_dup(a, stem);
    *ret = t;
    return true;
}

/* -- writing -- */

static void put_arguments(JsonWriter *w, Str arguments)
{
    AUTO(Arena) *a = arena_new();
    PyValue v;

    json_key(w, "arguments");
    if (pyjson_read(a, arguments, &v))
        pyjson_put(w, &v);
    else
        json_put_raw(w, STR("{}"));
}

void template_put(JsonWriter *w, const Template *t)
{
    json_begin(w, '{');
    json_field_str(w, "name", t->name);
    json_field_str(w, "task_type", str_of(tasktype_name(t->type)));
    json_field_begin(w, "examples", '[');
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

    w.python = true; /* what another program put into its file stays in it */
    template_put(&w, t);
    buf_addc(out, '\n');
}

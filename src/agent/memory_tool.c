/* Memory as a model calls it, and as a conversation keeps it from its beginning. */
#include "agent/memory.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/json.h"

enum { MAX_OPERATIONS = 32 };

const char memory_tool_description[] =
    "Remember something about the user (target 'user') or for yourself (target 'memory') beyond "
    "this conversation. Entries are short sentences. Space is small: when it is full, replace or "
    "remove entries first. What you write is shown from the next conversation on.";

const char memory_tool_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"action\":{\"type\":\"string\",\"enum\":[\"add\",\"replace\",\"remove\"]},"
    "\"target\":{\"type\":\"string\",\"enum\":[\"user\",\"memory\"]},"
    "\"content\":{\"type\":\"string\",\"description\":\"the entry: add, replace\"},"
    "\"old_text\":{\"type\":\"string\",\"description\":\"a piece of the one entry meant: replace, "
    "remove\"},"
    "\"operations\":{\"type\":\"array\",\"description\":\"several at once, all or none\","
    "\"items\":{\"type\":\"object\",\"properties\":{\"action\":{\"type\":\"string\"},"
    "\"content\":{\"type\":\"string\"},\"old_text\":{\"type\":\"string\"}}}}},"
    "\"required\":[\"target\"]}";

/* -- Arguments -- */

static bool read_edit(Arena *a, Json v, MemoryEdit *ret, Err *err)
{
    static const char *const actions[] = {
        [MEMORY_ADD] = "add", [MEMORY_REPLACE] = "replace", [MEMORY_REMOVE] = "remove"
    };
    Str action = json_str(json_get(v, STR("action")));

    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (str_eqz(action, actions[i])) {
            *ret = (MemoryEdit){ .action = (MemoryAction)i,
                                 .content = str_dup(a, json_str(json_get(v, STR("content")))),
                                 .old_text = str_dup(a, json_str(json_get(v, STR("old_text")))) };
            return true;
        }
    return err_set(err, ERR_USAGE, "action must be add, replace or remove");
}

static bool read_kind(Json v, MemoryKind *ret, Err *err)
{
    Str target = json_str(json_get(v, STR("target")));

    for (int i = 0; i < MEMORY_KIND_COUNT; i++)
        if (str_eqz(target, memory_name((MemoryKind)i))) {
            *ret = (MemoryKind)i;
            return true;
        }
    return err_set(err, ERR_USAGE, "target must be user or memory");
}

static bool read_edits(Arena *a, Json root, MemoryEdit *edits, size_t *ret_n, Err *err)
{
    Json list = json_get(root, STR("operations"));
    size_t n = json_count(list);

    if (json_type(list) != JSON_ARRAY) {
        *ret_n = 1;
        return read_edit(a, root, edits, err);
    }
    if (n == 0 || n > MAX_OPERATIONS)
        return err_set(err, ERR_USAGE, "operations must be from 1 to %d", MAX_OPERATIONS);
    for (size_t i = 0; i < n; i++)
        if (!read_edit(a, json_at(list, i), &edits[i], err))
            return false;
    *ret_n = n;
    return true;
}

/* -- Answers -- */

static Str answer(Arena *a, MemoryKind kind, const MemoryFile *f, const Err *failed)
{
    AUTO_BUF b = BUF(LIMIT_MEMORY_BYTES * 2);
    JsonWriter w = JSON_WRITER(&b, 0);

    json_begin(&w, '{');
    json_field_bool(&w, "success", !failed);
    json_field_str(&w, "target", str_of(memory_name(kind)));
    if (failed)
        json_field_str(&w, "error", str_of(failed->text));
    json_field_str(&w, "usage",
                   str_printf(a, "%zu%% - %zu/%zu chars", f->chars * 100 / memory_limit(kind),
                              f->chars, memory_limit(kind)));
    json_field_int(&w, "entry_count", (int64_t)f->n);
    json_field_begin(&w, "entries", '[');
    for (size_t i = 0; i < f->n; i++)
        json_put_str(&w, f->entries[i]);
    json_end(&w, ']');
    json_end(&w, '}');
    return str_dup(a, buf_str(&b));
}

bool memory_tool_run(Arena *a, const Homes *homes, Str arguments, Str *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(arguments, err);
    MemoryEdit edits[MAX_OPERATIONS];
    MemoryFile f = { 0 };
    MemoryKind kind;
    Err why, other;
    size_t n;

    if (!doc || !read_kind(json_root(doc), &kind, err) ||
        !read_edits(a, json_root(doc), edits, &n, err))
        return false;
    if (memory_change(a, homes, kind, edits, n, &f, &why)) {
        *ret = answer(a, kind, &f, NULL);
        return true;
    }
    /* A refusal tells what is there, so that the model can choose what has to go. */
    (void)!memory_load(a, homes, kind, &f, &other);
    *ret = answer(a, kind, &f, &why);
    return true;
}

/* -- Snapshots -- */

bool memory_snapshot(Arena *a, const Homes *homes, MemorySnapshot *ret, Err *err)
{
    MemorySnapshot s;

    for (int i = 0; i < MEMORY_KIND_COUNT; i++)
        if (!memory_load(a, homes, (MemoryKind)i, &s.files[i], err))
            return false;
    *ret = s;
    return true;
}

Str memory_snapshot_json(Arena *a, const MemorySnapshot *s)
{
    AUTO_BUF b = BUF(LIMIT_MEMORY_BYTES * 4);
    JsonWriter w = JSON_WRITER(&b, 0);

    json_begin(&w, '{');
    for (int i = 0; i < MEMORY_KIND_COUNT; i++)
        json_field_str(&w, memory_name((MemoryKind)i), memory_write(a, &s->files[i]));
    json_end(&w, '}');
    return str_dup(a, buf_str(&b));
}

bool memory_snapshot_read(Arena *a, Str json, MemorySnapshot *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(json, err);

    if (!doc)
        return err_wrap(err, "the memory of the conversation's beginning");
    for (int i = 0; i < MEMORY_KIND_COUNT; i++) {
        Str text = json_str(json_get(json_root(doc), str_of(memory_name((MemoryKind)i))));

        memory_parse(a, (MemoryKind)i, str_dup(a, text), &ret->files[i]);
    }
    return true;
}

/* Tool calls are searched for file names as Python writes them again, not as they are stored. For a
 * plain cell that makes no difference: white space between values is no part of a name, and a name
 * cannot go beyond its string. Plain means: a list of objects, no repeated keys (Python keeps one
 * of the values), no escape that represents an ASCII character, and names without any escape. Bytes
 * beyond ASCII would be written as escapes, so they end a run here. */
#include "achievements/calls.h"

#include "text/pyjson.h"

enum { MAX_CALLS = 64, MAX_KEYS = 24, MAX_DEPTH = 24 };

typedef struct Walk {
    const char *p, *end;
    const char *begin;
    const char *path; /* where a file name may begin for the first time; NULL: nowhere */
    int depth;
    Str names[MAX_CALLS];
    size_t n;
} Walk;

static bool walk_value(Walk *w);

static inline char next(Walk *w)
{
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\n' || *w->p == '\r' || *w->p == '\t'))
        w->p++;
    return w->p < w->end ? *w->p : '\0';
}

static inline bool take(Walk *w, char c)
{
    if (next(w) != c)
        return false;
    w->p++;
    return true;
}

/* -- strings -- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Behind the backslash. Only an escape that stays an escape when it is written again is plain. */
static bool walk_escape(Walk *w)
{
    const char *p = w->p;

    if (p == w->end)
        return false;
    if (*p != 'u') {
        w->p++;
        return *p == '"' || *p == '\\' || *p == 'n' || *p == 't' || *p == 'r' || *p == 'b' ||
               *p == 'f';
    }
    if (w->end - p < 5)
        return false;
    w->p += 5;
    return is_hex(p[1]) && is_hex(p[2]) && is_hex(p[3]) && is_hex(p[4]) &&
           !(p[1] == '0' && p[2] == '0' && p[3] < '8');
}

/* 1: ends or changes a string, 2: may begin a file name. */
static const unsigned char string_class[256] = {
    [0 ... 31] = 1, ['"'] = 1, ['\\'] = 1, ['/'] = 2, ['~'] = 2
};

/* Behind the opening quote; takes the closing one. ret: the string where it has neither escapes nor
 * bytes beyond ASCII, else p NULL. */
static bool walk_string(Walk *w, Str *ret)
{
    const char *from = w->p;
    bool simple = true;

    for (;;) {
        while (w->p < w->end && !string_class[(unsigned char)*w->p])
            w->p++;
        if (w->p == w->end)
            return false;
        if (*w->p == '"')
            break;
        if (string_class[(unsigned char)*w->p] == 2) {
            if (!w->path && path_begins(w->p, w->begin, w->end))
                w->path = w->p;
            w->p++;
            continue;
        }
        simple = false;
        if (*w->p != '\\')
            return false;
        w->p++;
        if (!walk_escape(w))
            return false;
    }
    *ret = simple ? (Str){ from, (size_t)(w->p - from) } : STR_NONE;
    w->p++;
    return true;
}

static bool is_ascii(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return s.p != NULL;
}

static bool walk_simple_string(Walk *w, Str *ret)
{
    return take(w, '"') && walk_string(w, ret) && is_ascii(*ret);
}

/* -- other values -- */

/* Short integers only: whatever else a number can be is rare in tool calls. */
static bool walk_number(Walk *w)
{
    const char *from = w->p + (*w->p == '-');
    const char *p = from;

    while (p < w->end && *p >= '0' && *p <= '9')
        p++;
    w->p = p;
    return p > from && p - from < 19 && (*from != '0' || p == from + 1) && p < w->end &&
           *p != '.' && *p != 'e' && *p != 'E';
}

static bool walk_word(Walk *w)
{
    static const Str words[] = { STR_INIT("true"), STR_INIT("false"), STR_INIT("null") };
    Str rest = { w->p, (size_t)(w->end - w->p) };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts(rest, words[i])) {
            w->p += words[i].n;
            return true;
        }
    return false;
}

static bool walk_list(Walk *w)
{
    if (take(w, ']'))
        return true;
    do {
        if (!walk_value(w))
            return false;
    } while (take(w, ','));
    return take(w, ']');
}

static bool is_repeated(const Str *keys, size_t n, Str key)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(keys[i], key))
            return true;
    return false;
}

/* Behind '{'. ret_name, ret_function: where "name" and the "name" of "function" go, if wanted. */
static bool walk_object(Walk *w, Str *ret_name, Str *ret_function)
{
    Str keys[MAX_KEYS];
    size_t n = 0;

    if (take(w, '}'))
        return true;
    do {
        Str key;

        if (!walk_simple_string(w, &key) || !take(w, ':') || n == MAX_KEYS ||
            is_repeated(keys, n, key))
            return false;
        keys[n++] = key;
        if (ret_name && str_eqz(key, "name")) {
            if (!walk_simple_string(w, ret_name))
                return false;
        } else if (ret_function && str_eqz(key, "function")) {
            if (!take(w, '{') || !walk_object(w, ret_function, NULL))
                return false;
        } else if (!walk_value(w)) {
            return false;
        }
    } while (take(w, ','));
    return take(w, '}');
}

static bool walk_value(Walk *w)
{
    char c = next(w);
    bool ok;
    Str s;

    if (c == '"') {
        w->p++;
        return walk_string(w, &s);
    }
    if (c == '{' || c == '[') {
        if (++w->depth > MAX_DEPTH)
            return false;
        w->p++;
        ok = c == '{' ? walk_object(w, NULL, NULL) : walk_list(w);
        w->depth--;
        return ok;
    }
    return c == '-' || (c >= '0' && c <= '9') ? walk_number(w) : walk_word(w);
}

static bool walk_calls(Walk *w)
{
    if (!take(w, '['))
        return false;
    if (!take(w, ']')) {
        do {
            Str name = STR(""), function = STR("");

            if (!take(w, '{') || !walk_object(w, &name, &function) || w->n == MAX_CALLS)
                return false;
            w->names[w->n++] = name.n ? name : function;
        } while (take(w, ','));
        if (!take(w, ']'))
            return false;
    }
    (void)next(w);
    return w->p == w->end;
}

bool calls_read_plain(Str cell, Names *names, Paths *paths)
{
    Walk w;

    w.p = w.begin = cell.p;
    w.end = cell.p + cell.n;
    w.path = NULL;
    w.depth = 0;
    w.n = 0;
    if (!walk_calls(&w))
        return false;
    for (size_t i = 0; i < w.n; i++)
        if (w.names[i].n)
            names_see(names, w.names[i], true);
    if (w.path) /* with the character before: it may be the dot of "./" */
        paths_add_all(paths, str_skip(cell, (size_t)(w.path - cell.p) - (w.path > cell.p)), true);
    return true;
}

/* -- the exact way -- */

/* The name of a call; empty where it has none or it is not a string. */
static Str name_of(const PyValue *call)
{
    const PyValue *name = pyjson_get(call, STR("name"));
    const PyValue *function = pyjson_get(call, STR("function"));

    if (!name || !pyjson_truthy(name))
        name = function ? pyjson_get(function, STR("name")) : NULL;
    return name && name->type == PY_STR ? name->text : STR("");
}

void calls_read_exact(Str cell, Arena *scratch, Buf *json, Names *names, Paths *paths)
{
    PyValue calls;

    if (!pyjson_read(scratch, cell, &calls) || !pyjson_truthy(&calls))
        return;
    for (size_t i = 0; calls.type == PY_LIST && i < calls.n; i++) {
        Str name = name_of(&calls.items[i]);

        if (name.n)
            names_see(names, name, true);
    }
    buf_clear(json);
    pyjson_write(json, &calls);
    paths_add_all(paths, buf_str(json), true);
}

/* -- counted otherwise -- */

Str calls_unwrap(Str cell, Arena *scratch)
{
    PyValue v;

    if (!str_starts(str_trim(cell), STR("\"")) || !pyjson_read(scratch, cell, &v) ||
        v.type != PY_STR)
        return cell;
    return v.text;
}

/* As the needles of the metric see it: any name with "memory" in it. */
static bool is_memory(Str name)
{
    return str_find_nocase(name, STR("memory")) < name.n &&
           str_find_nocase(name, STR("mnemosyne_remember")) == name.n;
}

static bool writes(const PyValue *call, Arena *scratch)
{
    const PyValue *function = pyjson_get(call, STR("function"));
    const PyValue *arguments = pyjson_get(function ? function : call, STR("arguments")), *action;
    PyValue parsed;

    if (arguments && arguments->type == PY_STR && pyjson_read(scratch, arguments->text, &parsed))
        arguments = &parsed;
    action = arguments ? pyjson_get(arguments, STR("action")) : NULL;
    return action && action->type == PY_STR &&
           (str_eqz(action->text, "add") || str_eqz(action->text, "replace"));
}

int64_t calls_memory_reads(Str cell, Arena *scratch)
{
    int64_t reads = 0;
    PyValue calls;

    if (str_find_nocase(cell, STR("memory")) == cell.n || !pyjson_read(scratch, cell, &calls))
        return 0;
    for (size_t i = 0; calls.type == PY_LIST && i < calls.n; i++)
        reads += is_memory(name_of(&calls.items[i])) && !writes(&calls.items[i], scratch);
    return reads;
}

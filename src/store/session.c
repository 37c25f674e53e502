/* Tool calls as they lie in a message, and which result belongs to which call. */
#include "store/session.h"

#include "text/pyjson.h"

bool session_is_aside(Str source)
{
    return str_eqz(source, "subagent");
}

Session session_dup(Arena *a, const Session *s)
{
    Session copy = *s;

#define DUP_TEXT(name) copy.name = s->name.p ? str_dup(a, s->name) : STR_NONE;
#define DUP_REAL(name)
#define DUP_REAL_OR_NULL(name)
#define DUP_INT(name)
#define X(kind, name) DUP_##kind(name)
    SESSION_FIELDS(X)
#undef X
    return copy;
}

static const Str none = STR_INIT("{}");

/* Arguments are JSON text in JSON; some writers put the object itself. */
static Str arguments_of(Arena *a, Json function)
{
    Json value = json_get(function, STR("arguments"));
    Str text = json_str(value);
    AUTO(JsonDoc) *doc = NULL;
    AUTO_BUF out = BUF(SIZE_MAX);
    JsonWriter w = JSON_WRITER(&out, 0);
    PyValue as_python; /* Hermes keeps what json.loads() takes: NaN, integers of any length */
    Err ignored;

    if (text.p) {
        doc = json_parse(text, &ignored);
        if (doc ? json_type(json_root(doc)) == JSON_OBJECT
                : pyjson_read(a, text, &as_python) && as_python.type == PY_DICT)
            return str_dup(a, text);
        return none;
    }
    if (json_type(value) != JSON_OBJECT)
        return none;
    json_put(&w, value);
    return str_dup(a, buf_str(&out));
}

static Str first_text(Json first, Json second)
{
    Str s = json_str(first);

    return s.n ? s : json_str(second);
}

bool toolcalls_read(Arena *a, Str tool_calls, ToolCall **ret, size_t *ret_n)
{
    AUTO(JsonDoc) *doc = NULL;
    ToolCall *calls = NULL;
    size_t n = 0, cap = 0;
    JsonIter it;
    Json item;
    Err ignored;
    Str key;

    *ret = NULL;
    *ret_n = 0;
    if (!str_trim(tool_calls).n)
        return true;
    doc = json_parse(tool_calls, &ignored);
    if (!doc || json_type(json_root(doc)) != JSON_ARRAY)
        return false;
    it = json_each(json_root(doc));
    while (json_next(&it, &key, &item)) {
        Json function = json_get(item, STR("function"));
        Str name = first_text(json_get(function, STR("name")), json_get(item, STR("name")));
        Str id = first_text(json_get(item, STR("id")), json_get(item, STR("call_id")));

        if (name.n) {
            ToolCall call = { .id = str_dup(a, id),
                              .name = str_dup(a, name),
                              .arguments = arguments_of(
                                  a, json_type(function) == JSON_OBJECT ? function : item) };
            ARENA_PUSH(a, calls, n, cap, call);
        }
    }
    *ret = calls;
    *ret_n = n;
    return true;
}

typedef struct Pairing {
    Exchange *all;
    size_t n, cap;
    size_t first_open; /* everything before it has its result */
} Pairing;

/* The call that this result answers, newest use of the id first: ids may be used again later. */
static Exchange *answered_by(Pairing *p, const Message *m)
{
    if (m->tool_call_id.n) {
        for (size_t i = p->n; i > p->first_open; i--)
            if (!p->all[i - 1].has_result && str_eq(p->all[i - 1].call.id, m->tool_call_id))
                return &p->all[i - 1];
        return NULL;
    }
    for (size_t i = p->first_open; i < p->n; i++)
        if (!p->all[i].has_result && (!m->tool_name.n || str_eq(p->all[i].call.name, m->tool_name)))
            return &p->all[i];
    return NULL;
}

static void take_result(Pairing *p, const Message *m, size_t at)
{
    Exchange *e = answered_by(p, m);

    if (!e)
        return; /* a result whose call was compacted away */
    e->has_result = true;
    e->failed = str_eqz(m->finish_reason, "error");
    e->result = at;
    e->content = m->content.p ? m->content : STR("");
    while (p->first_open < p->n && p->all[p->first_open].has_result)
        p->first_open++;
}

static void take_calls(Arena *a, Pairing *p, const Message *m, size_t at, size_t turn)
{
    ToolCall *calls;
    size_t n;

    if (!toolcalls_read(a, m->tool_calls, &calls, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        Exchange e = { .call = calls[i], .message = at, .turn = turn, .content = STR("") };

        ARENA_PUSH(a, p->all, p->n, p->cap, e);
    }
}

void exchanges_pair(Arena *a, const Message *messages, size_t n, Exchange **ret, size_t *ret_n)
{
    Pairing p = { 0 };
    size_t turn = 0;

    for (size_t i = 0; i < n; i++) {
        const Message *m = &messages[i];

        if (str_eqz(m->role, "user"))
            turn++;
        else if (str_eqz(m->role, "assistant") && m->tool_calls.n)
            take_calls(a, &p, m, i, turn);
        else if (str_eqz(m->role, "tool"))
            take_result(&p, m, i);
    }
    *ret = p.all;
    *ret_n = p.n;
}

/* Structured content is JSON behind this mark: parts with text, images and more. */
static const Str mark = STR_INIT("\0json:");

static void add_part(Buf *out, Json part)
{
    Str text = json_str(part);

    if (!text.p)
        text = json_str(json_get(part, STR("text")));
    if (!text.p && json_type(part) == JSON_OBJECT) {
        Str type = json_str(json_get(part, STR("type")));

        buf_addf(out, "[%.*s]", STR_FMT(type.n ? type : STR("attachment")));
        return;
    }
    buf_add(out, text);
}

Str message_text(Arena *a, Str content)
{
    AUTO(JsonDoc) *doc = NULL;
    AUTO_BUF out = BUF(content.n * 2 + 64);
    JsonIter it;
    Json item;
    Err ignored;
    Str key;

    if (!str_starts(content, mark))
        return content;
    doc = json_parse(str_skip(content, mark.n), &ignored);
    if (!doc)
        return content;
    if (json_type(json_root(doc)) != JSON_ARRAY) {
        add_part(&out, json_root(doc));
        return str_dup(a, buf_str(&out));
    }
    it = json_each(json_root(doc));
    while (json_next(&it, &key, &item)) {
        if (out.n)
            buf_addc(&out, '\n');
        add_part(&out, item);
    }
    return str_dup(a, buf_str(&out));
}

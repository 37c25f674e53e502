#include "recall/lines_hermes.h"

#include <math.h>

#include "base/limits.h"
#include "text/redact.h"
#include "text/utf8.h"

static const Str structured = STR_INIT("\0json:");

/* -- writing -- */

static bool is_json(Str s)
{
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;

    doc = s.n ? json_parse(s, &ignored) : NULL;
    return doc != NULL;
}

static void put_text(JsonWriter *w, const char *name, Str s, bool raw)
{
    AUTO(Arena) *a = arena_new();
    bool calls = strcmp(name, "tool_calls") == 0;

    if (s.p && !raw && !line_field_stays(name))
        s = redact_text(a, s);
    json_key(w, name);
    if (!s.p || (calls && !s.n))
        json_put_null(w);
    else if (calls && is_json(s))
        json_put_raw(w, s);
    else if (str_starts(s, structured) && is_json(str_skip(s, structured.n)))
        json_put_raw(w, str_skip(s, structured.n));
    else
        json_put_str(w, s);
}

static void put_TEXT(JsonWriter *w, const char *name, Str s, bool raw)
{
    put_text(w, name, s, raw);
}

static void put_REAL(JsonWriter *w, const char *name, double n, bool raw)
{
    (void)raw;
    json_field_double(w, name, n);
}

/* What is not known is null, never 0. */
static void put_REAL_OR_NULL(JsonWriter *w, const char *name, double n, bool raw)
{
    (void)raw;
    if (n != 0)
        json_field_double(w, name, n);
    else
        json_field_null(w, name);
}

static void put_INT(JsonWriter *w, const char *name, int64_t n, bool raw)
{
    (void)raw;
    if (n == 0 && strcmp(name, "token_count") == 0)
        json_field_null(w, name);
    else
        json_field_int(w, name, n);
}

static void put_cells(JsonWriter *w, StoredCells cells, bool raw)
{
    for (size_t i = 0; i < cells.n; i++) {
        const StoredCell *c = &cells.all[i];

        if (c->kind == CELL_INT)
            json_field_int(w, c->name.p, c->n);
        else if (c->kind == CELL_REAL)
            json_field_double(w, c->name.p, c->x);
        else
            put_text(w, c->name.p, c->kind == CELL_TEXT ? c->text : STR_NONE, raw);
    }
}

void hermes_put_begin(JsonWriter *w, const Session *s, StoredCells cells, bool raw)
{
    json_begin(w, '{');
#define X(kind, name) put_##kind(w, #name, s->name, raw);
    SESSION_FIELDS(X)
#undef X
    put_cells(w, cells, raw);
    json_field_begin(w, "messages", '[');
}

void hermes_put_message(JsonWriter *w, const Session *s, const Message *m, StoredCells cells,
                        bool raw)
{
    Message copy = *m;

    copy.session_id = s->id;
    json_begin(w, '{');
    json_field_int(w, "id", m->id);
#define X(kind, name) put_##kind(w, #name, copy.name, raw);
    MESSAGE_FIELDS(X)
#undef X
    put_cells(w, cells, raw);
    json_end(w, '}');
}

void hermes_put_end(JsonWriter *w)
{
    json_end(w, ']');
    json_end(w, '}');
    buf_addc(w->out, '\n');
}

/* -- reading -- */

bool hermes_is_session(Json line)
{
    return json_type(json_get(line, STR("messages"))) == JSON_ARRAY &&
           json_str(json_get(line, STR("id"))).n > 0;
}

static bool is_absent(Json v)
{
    return json_type(v) == JSON_NONE || json_type(v) == JSON_NULL;
}

/* Objects and arrays become text again, as Hermes keeps them. */
static bool read_TEXT(Arena *a, Json v, const char *name, Str *ret, Err *err)
{
    AUTO_BUF text = BUF(LIMIT_TRANSCRIPT_BYTES);
    JsonWriter w = JSON_WRITER(&text, 0);

    if (is_absent(v))
        return true;
    if (json_type(v) == JSON_STRING) {
        *ret = str_dup(a, json_str(v));
        return true;
    }
    if (strcmp(name, "content") == 0)
        buf_add(&text, structured);
    json_put(&w, v);
    *ret = str_dup(a, buf_str(&text));
    return !buf_full(&text) || err_set(err, ERR_TOO_LARGE, "'%s' is too large", name);
}

static bool read_REAL(Arena *a, Json v, const char *name, double *ret, Err *err)
{
    (void)a;
    return is_absent(v) || json_double(v, ret) ||
           err_set(err, ERR_INVALID, "'%s' must be a number", name);
}

static bool read_REAL_OR_NULL(Arena *a, Json v, const char *name, double *ret, Err *err)
{
    return read_REAL(a, v, name, ret, err);
}

static bool read_INT(Arena *a, Json v, const char *name, int64_t *ret, Err *err)
{
    bool flag;

    (void)a;
    if (json_bool(v, &flag)) {
        *ret = flag;
        return true;
    }
    return is_absent(v) || json_int(v, ret) ||
           err_set(err, ERR_INVALID, "'%s' must be a whole number", name);
}

static bool read_message(Arena *a, Json v, Message *ret, Err *err)
{
    ret->active = 1;
#define X(kind, name)                                                                              \
    if (!read_##kind(a, json_get(v, STR(#name)), #name, &ret->name, err))                          \
        return false;
    MESSAGE_FIELDS(X)
#undef X
    ret->session_id = STR_NONE;
    return ret->role.n || err_set(err, ERR_INVALID, "'role' of a message must be there");
}

bool hermes_line_read(Arena *a, Json line, Line *ret, Err *err)
{
    Json messages = json_get(line, STR("messages")), item;
    JsonIter it = json_each(messages);
    Str key;

    ret->kind = LINE_WHOLE;
#define X(kind, name)                                                                              \
    if (!read_##kind(a, json_get(line, STR(#name)), #name, &ret->session.name, err))               \
        return false;
    SESSION_FIELDS(X)
#undef X
    if (!ret->session.source.n)
        return err_set(err, ERR_INVALID, "'source' of a session must be there");
    ret->all = ARENA_ARRAY(a, Message, json_count(messages) + 1);
    while (json_next(&it, &key, &item))
        if (!read_message(a, item, &ret->all[ret->messages++], err))
            return false;
    return true;
}

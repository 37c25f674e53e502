#include "recall/lines.h"

#include <math.h>

#include "recall/lines_hermes.h"
#include "text/json.h"
#include "text/redact.h"
#include "text/utf8.h"

enum { LINES_FORMAT = 1 };

/* -- base64, for what is no text -- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_base64(Buf *out, Str bytes)
{
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        uint32_t v = 0;

        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)bytes.p[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_addc(out, k <= n ? digits[v >> (18 - 6 * k) & 63] : '=');
    }
}

static bool read_base64(Arena *a, Str text, Str *ret)
{
    char *out = arena_alloc(a, text.n / 4 * 3 + 1);
    size_t n = 0;

    if (text.n % 4)
        return false;
    for (size_t i = 0; i < text.n; i += 4) {
        uint32_t v = 0;
        size_t pad = 0;

        for (size_t k = 0; k < 4; k++) {
            const char *at = text.p[i + k] ? strchr(digits, text.p[i + k]) : NULL;
            bool is_pad = text.p[i + k] == '=' && i + 4 == text.n && k >= 2;

            if ((!at && !is_pad) || (at && pad))
                return false;
            pad += is_pad;
            v = v << 6 | (at ? (uint32_t)(at - digits) : 0);
        }
        for (size_t k = 0; k < 3 - pad; k++)
            out[n++] = (char)(v >> (16 - 8 * k));
    }
    *ret = (Str){ out, n };
    return true;
}

/* -- writing -- */

bool line_field_stays(const char *name)
{
    return str_is_one_of(str_of(name), "id|source|model|parent_session_id|end_reason|role|"
                                       "tool_call_id|tool_name|finish_reason|display_kind");
}

static void put_TEXT(JsonWriter *w, const char *name, Str s, bool raw)
{
    AUTO(Arena) *a = NULL;

    if (!s.p)
        return;
    if (!raw && !line_field_stays(name)) {
        a = arena_new();
        s = redact_text(a, s);
    }
    json_key(w, name);
    if (utf8_valid_prefix(s) == s.n) {
        json_put_str(w, s);
        return;
    }
    json_begin(w, '{');
    json_key(w, "base64");
    json_put_raw(w, STR("\""));
    put_base64(w->out, s);
    buf_addc(w->out, '"');
    json_end(w, '}');
}

static void put_REAL(JsonWriter *w, const char *name, double n, bool raw)
{
    (void)raw;
    if (isinf(n))
        json_field_str(w, name, n > 0 ? STR("Infinity") : STR("-Infinity"));
    else if (n != 0)
        json_field_double(w, name, n);
}

static void put_REAL_OR_NULL(JsonWriter *w, const char *name, double n, bool raw)
{
    put_REAL(w, name, n, raw);
}

static void put_INT(JsonWriter *w, const char *name, int64_t n, bool raw)
{
    (void)raw;
    if (n != 0 || strcmp(name, "active") == 0)
        json_field_int(w, name, n);
}

void line_put_session(Buf *out, const Session *s, bool raw)
{
    JsonWriter w = JSON_WRITER(out, 0);
    Session copy = *s;

    if (!copy.title.n)
        copy.title = STR_NONE; /* an empty one is none */
    json_begin(&w, '{');
    json_field_int(&w, "format", LINES_FORMAT);
    json_field_str(&w, "kind", STR("session"));
#define X(kind, name) put_##kind(&w, #name, copy.name, raw);
    SESSION_FIELDS(X)
#undef X
    json_end(&w, '}');
    buf_addc(out, '\n');
}

void line_put_message(Buf *out, const Message *m, bool raw)
{
    JsonWriter w = JSON_WRITER(out, 0);
    Message copy = *m;

    copy.session_id = STR_NONE; /* the line of the session says it */
    json_begin(&w, '{');
    json_field_str(&w, "kind", STR("message"));
#define X(kind, name) put_##kind(&w, #name, copy.name, raw);
    MESSAGE_FIELDS(X)
#undef X
    json_end(&w, '}');
    buf_addc(out, '\n');
}

void line_put_end(Buf *out, int64_t messages)
{
    buf_addf(out, "{\"kind\":\"end\",\"messages\":%lld}\n", (long long)messages);
}

/* -- reading -- */

static bool is_absent(Json v)
{
    return json_type(v) == JSON_NONE || json_type(v) == JSON_NULL;
}

static bool read_TEXT(Arena *a, Json v, const char *name, Str *ret, Err *err)
{
    Str base64 = json_str(json_get(v, STR("base64")));

    if (is_absent(v))
        return true;
    if (json_type(v) == JSON_STRING) {
        *ret = str_dup(a, json_str(v));
        return true;
    }
    return (json_type(v) == JSON_OBJECT && base64.p && read_base64(a, base64, ret)) ||
           err_set(err, ERR_INVALID, "'%s' must be a string", name);
}

static bool read_REAL(Arena *a, Json v, const char *name, double *ret, Err *err)
{
    (void)a;
    if (str_eqz(json_str(v), "Infinity") || str_eqz(json_str(v), "-Infinity")) {
        *ret = json_str(v).p[0] == '-' ? -INFINITY : INFINITY;
        return true;
    }
    return is_absent(v) || json_double(v, ret) ||
           err_set(err, ERR_INVALID, "'%s' must be a number", name);
}

static bool read_REAL_OR_NULL(Arena *a, Json v, const char *name, double *ret, Err *err)
{
    return read_REAL(a, v, name, ret, err);
}

static bool read_INT(Arena *a, Json v, const char *name, int64_t *ret, Err *err)
{
    (void)a;
    return is_absent(v) || json_int(v, ret) ||
           err_set(err, ERR_INVALID, "'%s' must be a whole number", name);
}

static bool read_session(Arena *a, Json line, Session *ret, Err *err)
{
    int64_t format = 0;

    if (!json_int(json_get(line, STR("format")), &format) || format < 1)
        return err_set(err, ERR_INVALID, "'format' must be 1");
    if (format > LINES_FORMAT)
        return err_set(err, ERR_INVALID, "format %lld is of a newer talaria; this one reads %d",
                       (long long)format, LINES_FORMAT);
#define X(kind, name)                                                                              \
    if (!read_##kind(a, json_get(line, STR(#name)), #name, &ret->name, err))                       \
        return false;
    SESSION_FIELDS(X)
#undef X
    if (!ret->id.n || !ret->source.n)
        return err_set(err, ERR_INVALID, "'id' and 'source' of a session must be there");
    return true;
}

static bool read_message(Arena *a, Json line, Message *ret, Err *err)
{
    ret->active = 1;
#define X(kind, name)                                                                              \
    if (!read_##kind(a, json_get(line, STR(#name)), #name, &ret->name, err))                       \
        return false;
    MESSAGE_FIELDS(X)
#undef X
    ret->session_id = STR_NONE;
    return ret->role.n || err_set(err, ERR_INVALID, "'role' of a message must be there");
}

bool line_read(Arena *a, Str text, Line *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(text, err);
    Line line = { 0 };
    Str kind;
    Json root;
    bool ok;

    if (!doc) {
        err->kind = ERR_INVALID;
        return false;
    }
    root = json_root(doc);
    kind = json_str(json_get(root, STR("kind")));
    if (str_eqz(kind, "session")) {
        ok = read_session(a, root, &line.session, err);
    } else if (str_eqz(kind, "message")) {
        line.kind = LINE_MESSAGE;
        ok = read_message(a, root, &line.message, err);
    } else if (str_eqz(kind, "end")) {
        line.kind = LINE_END;
        ok = json_int(json_get(root, STR("messages")), &line.messages) ||
             err_set(err, ERR_INVALID, "'messages' must be a whole number");
    } else if (!kind.n && hermes_is_session(root)) {
        ok = hermes_line_read(a, root, &line, err);
    } else {
        ok = err_set(err, ERR_INVALID,
                     "no line of an export: 'kind' must be session, message or "
                     "end");
    }
    if (ok)
        *ret = line;
    return ok;
}

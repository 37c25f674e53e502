/* Decoding happens once and late: the router compares raw segments, so that an escaped slash can
 * never change which route is meant. */
#include "http/query.h"

#include <math.h>

#include "text/human.h"
#include "text/utf8.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_clean(Str s)
{
    if (utf8_valid_prefix(s) != s.n)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return true;
}

bool url_decode(Arena *a, Str raw, bool plus, Str *ret)
{
    char *out = arena_alloc(a, raw.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];

        if (c == '%') {
            if (i + 2 >= raw.n || hex(raw.p[i + 1]) < 0 || hex(raw.p[i + 2]) < 0)
                return false;
            c = (char)(hex(raw.p[i + 1]) << 4 | hex(raw.p[i + 2]));
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        out[n++] = c;
    }
    if (!is_clean((Str){ out, n }))
        return false;
    *ret = (Str){ out, n };
    return true;
}

/* -- parameters -- */

bool query_text(Arena *a, Str query, const char *key, Str *ret, Err *err)
{
    Str rest = query, pair, found = STR_NONE;

    while (str_split(&rest, '&', &pair)) {
        size_t eq = str_find(pair, STR("="));
        Str name;

        if (!url_decode(a, str_head(pair, eq), true, &name))
            return err_set(err, ERR_USAGE, "malformed query in the address");
        if (!str_eqz(name, key))
            continue;
        if (found.p)
            return err_set(err, ERR_USAGE, "parameter '%s' is given twice", key);
        if (!url_decode(a, str_skip(pair, eq + 1), true, &found))
            return err_set(err, ERR_USAGE, "malformed parameter '%s'", key);
    }
    *ret = found;
    return true;
}

bool query_number(Arena *a, Str query, const char *key, int64_t min, int64_t max, int64_t fallback,
                  int64_t *ret, Err *err)
{
    int64_t n = fallback;
    Str text;

    if (!query_text(a, query, key, &text, err))
        return false;
    if (text.p && !str_to_int(text, min, max, &n))
        return err_set(err, ERR_USAGE, "parameter '%s' must be a number from %lld to %lld", key,
                       (long long)min, (long long)max);
    *ret = n;
    return true;
}

bool query_flag(Arena *a, Str query, const char *key, bool *ret, Err *err)
{
    Str text;

    if (!query_text(a, query, key, &text, err))
        return false;
    if (text.p && !str_is_one_of(text, "1|true|0|false"))
        return err_set(err, ERR_USAGE, "parameter '%s' must be 1, true, 0 or false", key);
    *ret = str_eqz(text, "1") || str_eqz(text, "true");
    return true;
}

bool query_time(Arena *a, Str query, const char *key, double *ret, Err *err)
{
    double when = 0;
    Str text;

    if (!query_text(a, query, key, &text, err))
        return false;
    if (text.p && !human_parse_time(text, &when))
        return err_set(err, ERR_USAGE, "parameter '%s' must be unix seconds or a date", key);
    *ret = when;
    return true;
}

/* -- marks -- */

/* "<index>_<time>_<number>"; the time with all its digits, so that it compares equal. */
static Str mark(Arena *a, size_t index, double time, int64_t number)
{
    return str_printf(a, "%zu_%.17g_%lld", index, time, (long long)number);
}

static bool parse_mark(Str text, size_t max, size_t *ret_index, double *ret_time,
                       int64_t *ret_number, Err *err)
{
    Str index, time, number;
    int64_t i;

    if (str_split(&text, '_', &index) && str_split(&text, '_', &time) &&
        str_split(&text, '_', &number) && !text.p && str_to_int(index, 0, (int64_t)max - 1, &i) &&
        str_to_double(time, ret_time) && isfinite(*ret_time) &&
        str_to_int(number, INT64_MIN, INT64_MAX, ret_number)) {
        *ret_index = (size_t)i;
        return true;
    }
    return err_set(err, ERR_USAGE, "unknown cursor; start again without it");
}

Str cursor_of_session(Arena *a, const Session *s)
{
    return mark(a, s->home, s->started_at, s->rowid);
}

bool cursor_parse_session(Str text, size_t homes, Session *ret, Err *err)
{
    Session s = { 0 };

    if (!parse_mark(text, homes, &s.home, &s.started_at, &s.rowid, err))
        return false;
    *ret = s;
    return true;
}

Str cursor_of_message(Arena *a, size_t part, const Message *m)
{
    return mark(a, part, m->timestamp, m->id);
}

bool cursor_parse_message(Str text, size_t parts, MessageMark *ret, Err *err)
{
    MessageMark m = { 0 };

    if (!parse_mark(text, parts, &m.part, &m.last.timestamp, &m.last.id, err))
        return false;
    *ret = m;
    return true;
}

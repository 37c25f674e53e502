#include "http/framing.h"

#include "base/limits.h"

static void find_trouble(Framing *f, bool bad, const char *what)
{
    if (bad && !f->trouble)
        f->trouble = what;
}

/* What RFC 9110 lets a name consist of: a space before the colon is another name to some. */
static bool is_token(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!word && (!c || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return s.n > 0;
}

/* A bare CR ends the line to some, and is a part of it to libmicrohttpd. */
static bool has_control(Str s, unsigned char min, unsigned char but)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if ((c < min && c != but) || c == 0x7f)
            return true;
    }
    return false;
}

/* libmicrohttpd takes a line up to its first NUL and drops the rest without a word. Lines lie in
 * the buffer as they came, so what was dropped lies before the next one. A line that was folded is
 * not in place any more, and is refused for that. */
static bool nothing_between(const char *from, const char *to)
{
    if (to < from || to - from > LIMIT_HTTP_HEAD)
        return false;
    for (; from < to; from++)
        if (*from && !strchr("\r\n\t ", *from))
            return false;
    return true;
}

void framing_line(Framing *f, const char *method, Str target, const char *at, const char *version)
{
    find_trouble(f, !is_token(str_of(method)) || method + strlen(method) + 1 != at,
                 "the method of the request is malformed");
    f->http11 = strcmp(version, "HTTP/1.1") == 0;
    find_trouble(f, at + target.n + 1 != version || has_control(target, ' ' + 1, 0),
                 "the target of the request has a space or a control character");
}

void framing_header(Framing *f, Str name, Str value)
{
    static const char *const names[] = {
#define X(name, field) field,
        FRAMING_SINGLE(X)
#undef X
    };

    find_trouble(f, !value.p || (f->end && !nothing_between(f->end, name.p)),
                 "the head of the request is ambiguous");
    find_trouble(f, !is_token(name) || has_control(value, ' ', '\t'),
                 "a header of the request has a control character or a malformed name");
    f->end = value.p ? value.p + value.n : NULL;
    for (size_t i = 0; i < FRAMING_SINGLE_COUNT; i++)
        if (str_eq_nocase(name, str_of(names[i]))) {
            find_trouble(f, f->single[i].p, "a header of the request is there twice");
            f->single[i] = value.p ? value : STR("");
        }
}

void framing_end(Framing *f, const char *end)
{
    find_trouble(f, f->end && end && !nothing_between(f->end, end),
                 "the head of the request is ambiguous");
}

bool framing_check(const Framing *f, bool reads, int64_t *ret_length, Err *err)
{
    Str length = f->single[FRAMING_LENGTH], encoding = f->single[FRAMING_ENCODING];

    *ret_length = 0;
    if (f->trouble)
        return err_set(err, ERR_USAGE, "%s", f->trouble);
    if (f->http11 && !f->single[FRAMING_HOST].p)
        return err_set(err, ERR_USAGE, "the request has no Host");
    if (length.p && encoding.p)
        return err_set(err, ERR_USAGE, "the request has a Content-Length and a Transfer-Encoding");
    if (encoding.p && !f->http11)
        return err_set(err, ERR_USAGE, "HTTP/1.0 has no Transfer-Encoding");
    if (encoding.p && !str_eq_nocase(encoding, STR("chunked")))
        return err_set(err, ERR_USAGE, "the only Transfer-Encoding understood is chunked");
    if (length.p && !str_to_int(length, 0, INT64_MAX, ret_length))
        return err_set(err, ERR_USAGE, "Content-Length is not a number");
    if (encoding.p)
        *ret_length = FRAMING_CHUNKS;
    if (*ret_length && reads)
        return err_set(err, ERR_USAGE, "a request of this kind has no body");
    return true;
}

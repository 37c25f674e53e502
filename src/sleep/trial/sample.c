/* Recursive descent over the pattern: of alternatives the first, of repetitions the least, of
 * classes the first member. Assertions give nothing. Bounded in depth and length. */
#include "sleep/trial/sample.h"

#include "base/buf.h"
#include "base/limits.h"
#include "sleep/task/regex.h"
#include "text/utf8.h"

enum { DEPTH = 32, SAMPLE_BYTES = 4096 };

typedef struct Sampler {
    Str rest;
    int depth;
} Sampler;

static int peek(const Sampler *s)
{
    return s->rest.n ? (unsigned char)s->rest.p[0] : -1;
}

static int peek_second(const Sampler *s)
{
    return s->rest.n > 1 ? (unsigned char)s->rest.p[1] : -1;
}

static void skip(Sampler *s, size_t n)
{
    s->rest = str_skip(s->rest, n);
}

static void alternatives(Sampler *s, Buf *out);

static void add_escaped(int c, Buf *out)
{
    static const char from[] = "dwsntrDWSbBAZ";
    static const char *const to[] = {
        "1", "a", " ", "\n", "\t", "\r", "x", "-", "x", "", "", "", ""
    };
    const char *at = c > 0 ? strchr(from, c) : NULL;

    if (at)
        buf_addz(out, to[at - from]);
    else if (c > 0)
        buf_addc(out, (char)c);
}

static bool in_class(Str members, char c)
{
    AUTO(Arena) *a = arena_new();
    Err err;

    return regex_search(str_printf(a, "[%.*s]", STR_FMT(members)), (Str){ &c, 1 }, &err) ==
           REGEX_YES;
}

/* A member of the class, by trying letters that a person would write. */
static void one_of_class(Sampler *s, Buf *out)
{
    static const char likely[] = "a1A x_-.:/0bBzZ9,;!?#\"'()[]{}<>+*=%&@$|~^\\\t\n";
    size_t end = 1;
    Str members;

    if (s->rest.n > end && s->rest.p[end] == '^')
        end++;
    for (end++; end < s->rest.n && s->rest.p[end] != ']'; end++)
        if (s->rest.p[end] == '\\')
            end++;
    members = str_skip(str_head(s->rest, end), 1);
    skip(s, end + 1);
    for (const char *c = likely; *c; c++)
        if (in_class(members, *c)) {
            buf_addc(out, *c);
            return;
        }
    if (members.n && members.p[0] != '^')
        buf_add(out, utf8_head(members, 4));
}

/* Behind "(": what kind of group it is; false for one that matches nothing by itself. */
static bool open_group(Sampler *s)
{
    size_t name;

    if (peek(s) != '?')
        return true;
    if (str_starts(s->rest, STR("?P<"))) {
        name = str_find(s->rest, STR(">"));
        skip(s, name + 1);
        return true;
    }
    if (str_starts(s->rest, STR("?=")) || str_starts(s->rest, STR("?!")) ||
        str_starts(s->rest, STR("?<"))) {
        skip(s, peek_second(s) == '<' ? 3 : 2);
        return false;
    }
    while (peek(s) >= 0 && peek(s) != ':' && peek(s) != ')')
        skip(s, 1);
    if (peek(s) == ':')
        skip(s, 1);
    return true;
}

static void group_of(Sampler *s, Buf *out)
{
    AUTO_BUF nothing = BUF(SAMPLE_BYTES);
    bool counts;

    skip(s, 1);
    counts = open_group(s);
    if (++s->depth < DEPTH)
        alternatives(s, counts ? out : &nothing);
    s->depth--;
    if (peek(s) == ')')
        skip(s, 1);
}

static void atom(Sampler *s, Buf *out)
{
    int c = peek(s);

    if (c == '(') {
        group_of(s, out);
    } else if (c == '[') {
        one_of_class(s, out);
    } else if (c == '\\') {
        add_escaped(peek_second(s), out);
        skip(s, 2);
    } else {
        if (c == '.')
            buf_addc(out, 'a');
        else if (c != '^' && c != '$')
            buf_addc(out, (char)c);
        skip(s, 1);
    }
}

/* How often the last atom stands at least; takes the quantifier. */
static int64_t min(Sampler *s)
{
    int64_t n = 1;
    int c = peek(s);

    if (c == '{') {
        size_t end = str_find(s->rest, STR("}")), comma;
        Str number = str_skip(str_head(s->rest, end), 1);

        comma = str_find(number, STR(","));
        if (end == s->rest.n)
            return 1;
        if (!str_to_int(str_head(number, comma), 0, 1000, &n))
            n = 0;
        skip(s, end + 1);
    } else if (c == '*' || c == '?' || c == '+') {
        n = c == '+';
        skip(s, 1);
    } else {
        return 1;
    }
    if (peek(s) == '?' || peek(s) == '+')
        skip(s, 1);
    return n;
}

static void sequence(Sampler *s, Buf *out)
{
    while (peek(s) >= 0 && peek(s) != '|' && peek(s) != ')') {
        AUTO_BUF one = BUF(SAMPLE_BYTES);

        atom(s, &one);
        for (int64_t n = min(s); n > 0 && !buf_full(out); n--)
            buf_add(out, buf_str(&one));
    }
}

static void alternatives(Sampler *s, Buf *out)
{
    sequence(s, out);
    while (peek(s) == '|') {
        AUTO_BUF other = BUF(SAMPLE_BYTES);

        skip(s, 1);
        sequence(s, &other);
    }
}

bool sample_of(Arena *a, Str pattern, Str *ret)
{
    AUTO_BUF out = BUF(SAMPLE_BYTES);
    Sampler s = { .rest = pattern };
    Err err;

    alternatives(&s, &out);
    if (buf_full(&out) || regex_search(pattern, buf_str(&out), &err) != REGEX_YES)
        return false;
    *ret = str_dup(a, buf_str(&out));
    return true;
}

/* simdjson's document reader is strict but does not say where; this small checker does. It
 * is slow and plain, walks without recursion, and the fuzz target holds the two to the same
 * verdict on every text. */
#include "text/json_locate.h"

#include "base/limits.h"
#include "text/utf8.h"

typedef struct Walk {
    Str text;
    size_t at;
    const char *why;
} Walk;

static bool fault(Walk *w, const char *why)
{
    if (!w->why)
        w->why = why;
    return false;
}

static int peek(const Walk *w)
{
    return w->at < w->text.n ? (unsigned char)w->text.p[w->at] : -1;
}

static void skip_blanks(Walk *w)
{
    while (peek(w) == ' ' || peek(w) == '\t' || peek(w) == '\n' || peek(w) == '\r')
        w->at++;
}

static bool digits(Walk *w)
{
    size_t before = w->at;

    while (peek(w) >= '0' && peek(w) <= '9')
        w->at++;
    return w->at > before || fault(w, "a digit was expected");
}

/* Whole numbers must fit 64 bits, fractions a double: nothing is rounded away in silence. */
static bool in_range(Str s, bool whole)
{
    double real;

    if (!whole) {
        char text[400];

        if (s.n >= sizeof text)
            return true; /* the reader decides; no message is better than a wrong one */
        memcpy(text, s.p, s.n);
        text[s.n] = '\0';
        real = strtod(text, NULL);
        return real - real == 0;
    }
    s = str_skip(s, s.p[0] == '-');
    if (s.n != 19 && s.n != 20)
        return s.n < 19;
    return true;
}

static bool number(Walk *w)
{
    size_t start = w->at;
    bool whole = true;

    if (peek(w) == '-')
        w->at++;
    if (peek(w) == '0')
        w->at++;
    else if (!digits(w))
        return false;
    if (peek(w) == '.') {
        whole = false;
        w->at++;
        if (!digits(w))
            return false;
    }
    if (peek(w) == 'e' || peek(w) == 'E') {
        whole = false;
        w->at++;
        if (peek(w) == '+' || peek(w) == '-')
            w->at++;
        if (!digits(w))
            return false;
    }
    if (!in_range((Str){ w->text.p + start, w->at - start }, whole)) {
        w->at = start;
        return fault(w, "the number is out of range");
    }
    return true;
}

static int hex4(Walk *w)
{
    int value = 0;

    for (int i = 0; i < 4; i++) {
        int c = peek(w);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0) {
            (void)fault(w, "four hexadecimal digits were expected after \\u");
            return -1;
        }
        value = value * 16 + digit;
        w->at++;
    }
    return value;
}

static bool escape(Walk *w)
{
    size_t start = w->at++;
    int c = peek(w), high;

    if (c < 0 || !strchr("\"\\/bfnrtu", c))
        return fault(w, "unknown escape");
    w->at++;
    if (c != 'u')
        return true;
    high = hex4(w);
    if (high < 0)
        return false;
    if (high >= 0xd800 && high < 0xdc00) {
        if (peek(w) == '\\' && w->at + 1 < w->text.n && w->text.p[w->at + 1] == 'u') {
            int low;

            w->at += 2;
            low = hex4(w);
            if (low < 0)
                return false;
            if (low >= 0xdc00 && low < 0xe000)
                return true;
        }
        w->at = start;
        return fault(w, "half of a surrogate pair");
    }
    if (high >= 0xdc00 && high < 0xe000) {
        w->at = start;
        return fault(w, "half of a surrogate pair");
    }
    return true;
}

static bool string(Walk *w)
{
    w->at++;
    for (;;) {
        int c = peek(w);

        if (c < 0)
            return fault(w, "the string is not closed");
        if (c < 0x20)
            return fault(w, "a control character in a string");
        if (c == '"') {
            w->at++;
            return true;
        }
        if (c == '\\') {
            if (!escape(w))
                return false;
        } else {
            w->at++;
        }
    }
}

static bool word(Walk *w, Str expected)
{
    if (!str_starts(str_skip(w->text, w->at), expected))
        return fault(w, "a value was expected");
    w->at += expected.n;
    return true;
}

/* A number, true, false, null or a string. */
static bool scalar(Walk *w)
{
    int c = peek(w);

    switch (c) {
    case '"':
        return string(w);
    case 't':
        return word(w, STR("true"));
    case 'f':
        return word(w, STR("false"));
    case 'n':
        return word(w, STR("null"));
    case -1:
        return fault(w, "the text ends where a value was expected");
    default:
        return c == '-' || (c >= '0' && c <= '9') ? number(w) : fault(w, "a value was expected");
    }
}

static bool key_and_colon(Walk *w)
{
    skip_blanks(w);
    if (peek(w) != '"')
        return fault(w, "a key in quotes was expected");
    if (!string(w))
        return false;
    skip_blanks(w);
    if (peek(w) != ':')
        return fault(w, "':' was expected after the key");
    w->at++;
    return true;
}

/* After a value: closes what ends here, and says whether the whole text is done. */
static bool after_value(Walk *w, const char *open, size_t *depth, bool *ret_done)
{
    for (;;) {
        char closing;

        skip_blanks(w);
        *ret_done = *depth == 0;
        if (*ret_done)
            return w->at == w->text.n || fault(w, "more text after the value");
        closing = open[*depth - 1] == '{' ? '}' : ']';
        if (peek(w) == ',') {
            w->at++;
            return open[*depth - 1] != '{' || key_and_colon(w);
        }
        if (peek(w) != closing)
            return fault(w, closing == '}' ? "',' or '}' was expected" : "',' or ']' was expected");
        w->at++;
        --*depth;
    }
}

static bool document(Walk *w)
{
    char open[LIMIT_JSON_DEPTH];
    size_t depth = 0;

    for (bool done = false; !done;) {
        int c;

        skip_blanks(w);
        c = peek(w);
        if (c == '{' || c == '[') {
            if (depth == LIMIT_JSON_DEPTH)
                return fault(w, "too many levels");
            open[depth++] = (char)c;
            w->at++;
            skip_blanks(w);
            if (peek(w) == (c == '{' ? '}' : ']')) {
                w->at++;
                depth--;
            } else if (c == '{') {
                if (!key_and_colon(w))
                    return false;
                continue;
            } else {
                continue;
            }
        } else if (!scalar(w)) {
            return false;
        }
        if (!after_value(w, open, &depth, &done))
            return false;
    }
    return true;
}

JsonFault json_locate(Str text)
{
    Walk w = { .text = text };
    JsonFault f = { .line = 1, .column = 1 };
    size_t valid = utf8_valid_prefix(text);

    if (document(&w) && valid == text.n)
        return f;
    if (valid < text.n && (!w.why || valid < w.at)) {
        w.at = valid;
        w.why = "not valid UTF-8";
    }
    f.why = w.why;
    f.at = w.at;
    for (size_t i = 0; i < w.at; i++) {
        f.column++;
        if (text.p[i] == '\n') {
            f.line++;
            f.column = 1;
        }
    }
    return f;
}

/* A peer may cut a text in the middle of a surrogate pair and write each half as an escape; that is no JSON that a
 * strict reader takes, but no reason to lose the line either. */
#include "text/json_mend.h"

#include "base/limits.h"
#include "text/utf8.h"

static int hex_value(Str s)
{
    int value = 0;

    if (s.n < 6 || s.p[0] != '\\' || s.p[1] != 'u')
        return -1;
    for (size_t i = 2; i < 6; i++) {
        char c = s.p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* How many bytes at an escape stand together; *half where it is half of a pair. */
static size_t escape_size(Str s, bool *half)
{
    int first = hex_value(s), second;

    *half = false;
    if (first < 0)
        return s.n < 2 ? s.n : 2;
    if (first < 0xd800 || first > 0xdfff)
        return 6;
    second = hex_value(str_skip(s, 6));
    if (first < 0xdc00 && second >= 0xdc00 && second <= 0xdfff)
        return 12;
    *half = true;
    return 6;
}

static Str mend_halves(Arena *a, Str line)
{
    AUTO_BUF out = BUF(LIMIT_JSON_BYTES);

    while (line.n) {
        size_t n = str_find(line, STR("\\"));
        bool half;

        buf_add(&out, str_head(line, n));
        line = str_skip(line, n);
        if (!line.n)
            break;
        n = escape_size(line, &half);
        buf_add(&out, half ? STR("\\ufffd") : str_head(line, n));
        line = str_skip(line, n);
    }
    return str_dup(a, buf_str(&out));
}

JsonDoc *json_parse_mended(Arena *a, Str text)
{
    JsonDoc *doc;
    Err ignored;

    text = utf8_repair(a, text);
    doc = json_parse(text, &ignored);
    if (!doc && str_find(text, STR("\\u")) < text.n)
        doc = json_parse(mend_halves(a, text), &ignored);
    return doc;
}

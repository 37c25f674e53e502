/* A candidate ends where its brackets balance outside of strings, and counts when the strict reader
 * takes it. How many candidates are tried is bounded, so that a page of '[' costs nothing. */
#include "sleep/task/answer.h"

#include "text/json.h"

enum { MAX_CANDIDATES = 64 };

/* Length of the bracketed text at the beginning of s, or 0. */
static size_t balanced(Str s)
{
    size_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if ((c == ']' || c == '}') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* The first valid value that begins with `open`; values that begin with `skip` are passed over. */
static Str first_value(Str text, char open, char skip)
{
    int tries = MAX_CANDIDATES;

    for (size_t i = 0; i < text.n && tries > 0; i++) {
        AUTO(JsonDoc) *doc = NULL;
        Err err;
        Str here;

        if (text.p[i] != open && (!skip || text.p[i] != skip))
            continue;
        tries--;
        here = str_head(str_skip(text, i), balanced(str_skip(text, i)));
        doc = here.n ? json_parse(here, &err) : NULL;
        if (!doc)
            continue;
        if (text.p[i] == open)
            return here;
        i += here.n - 1;
    }
    return STR_NONE;
}

Str answer_array(Str text)
{
    return first_value(text, '[', '{');
}

Str answer_object(Str text)
{
    return first_value(text, '{', 0);
}

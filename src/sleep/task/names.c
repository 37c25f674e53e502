/* Versions: "2.0" is below "2.0.0-beta", as the shorter list of numbers is; text decides last, so
 * that the order is the same everywhere. */
#include "sleep/task/names.h"

#include <stdlib.h>
#include <utf8proc.h>

#include "text/utf8.h"

Str name_to_look_up(Str name)
{
    Str trimmed = str_trim(name), rest = trimmed;

    if (!trimmed.n || trimmed.n > 200 || str_eqz(trimmed, ".") || str_eqz(trimmed, "..") ||
        trimmed.p[0] == '~' || utf8_valid_prefix(trimmed) != trimmed.n)
        return STR("");
    while (rest.n) {
        uint32_t c = utf8_next(&rest);
        utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);

        if (c == '/' || c == '\\' || category == UTF8PROC_CATEGORY_CC ||
            category == UTF8PROC_CATEGORY_CF)
            return STR("");
    }
    return trimmed;
}

Str name_to_stage(Str name)
{
    Str looked_up = name_to_look_up(name);

    for (size_t i = 0; i < looked_up.n; i++)
        if (strchr("<>:\"|?*", looked_up.p[i]))
            return STR("");
    return str_ends(looked_up, STR(".")) ? STR("") : looked_up;
}

Str name_key(Arena *a, Str name)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)name.p, (utf8proc_ssize_t)name.n, &folded,
                     UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
    Str key = n < 0 ? name : str_dup(a, (Str){ (const char *)folded, (size_t)n });

    free(folded);
    return key;
}

/* -- Versions -- */

/* Takes the next number off, with the dot before it; false where there is none. */
static bool next_number(Str *rest, bool first, uint64_t *ret)
{
    Str s = *rest;
    uint64_t n = 0;
    size_t digits = 0;

    if (!first && str_starts(s, STR(".")))
        s = str_skip(s, 1);
    else if (!first)
        return false;
    while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9') {
        n = n > UINT64_MAX / 10 - 10 ? UINT64_MAX / 10 : n * 10 + (uint64_t)(s.p[digits] - '0');
        digits++;
    }
    if (!digits)
        return false;
    *rest = str_skip(s, digits);
    *ret = n;
    return true;
}

int version_cmp(Str a, Str b)
{
    Str rest_a = a, rest_b = b;
    bool is_release_a, is_release_b;

    for (bool first = true;; first = false) {
        uint64_t x = 0, y = 0;
        bool has_x = next_number(&rest_a, first, &x), has_y = next_number(&rest_b, first, &y);

        if (has_x != has_y)
            return has_x ? 1 : -1;
        if (!has_x)
            break;
        if (x != y)
            return x > y ? 1 : -1;
    }
    is_release_a = !rest_a.n || rest_a.p[0] == '+';
    is_release_b = !rest_b.n || rest_b.p[0] == '+';
    if (is_release_a != is_release_b)
        return is_release_a ? 1 : -1;
    return str_cmp(rest_a, rest_b);
}

/* Tokens that are known by their shape, and private keys. */
#include "text/redact_table.h"

#include "base/limits.h"

/* -- tokens that are known by their shape -- */

size_t redact_lead_end(Scan *s, const Rule *r, size_t i)
{
    for (const char *want = r->lead; *want; want++, i++)
        if (!redact_lead_takes(r, *want, scan_at(s, i)))
            return 0;
    return i;
}

/* Each shape answers from where on the rest is just a run of r->set, or 0. */
/* Letters and digits without a break, among the first bytes of a run: sk_X509_STORE_new_null has
 * only short ones. */
static bool is_mixed(Scan *s, const Rule *r, size_t from)
{
    size_t to = scan_run_end(s, from, r->set, MAX_MIXED);

    for (size_t i = from, end; i < to; i = end + 1) {
        for (end = i; end < to && in_set((unsigned char)s->p[end], SET_ALNUM);)
            end++;
        if (end >= i + MIN_MIXED && scan_contains(s, i, end, SET_DIGIT) &&
            scan_contains(s, i, end, SET_ALPHA))
            return true;
    }
    return false;
}

size_t redact_shape_run(Scan *s, const Rule *r, size_t from)
{
    size_t i = scan_run_end(s, from, r->set, r->before) == from + r->before
                   ? redact_lead_end(s, r, from + r->before)
                   : 0;

    if (!i || scan_run_end(s, i, r->set, r->min) != i + r->min ||
        (r->follows == EXACT && in_set(scan_at(s, i + r->min), r->set | SET_ALNUM)) ||
        (r->follows == MIXED && !is_mixed(s, r, i)))
        return 0;
    return i + r->min;
}

size_t redact_shape_jwt(Scan *s, const Rule *r, size_t from)
{
    size_t i = redact_lead_end(s, r, from);

    if (!i)
        return 0;
    for (int part = 0; part < 2; part++) {
        size_t end = scan_run_end(s, i, SET_WORD, LIMIT_REDACT_WINDOW / 4);

        if (end < i + MIN_JWT_PART)
            return 0;
        if (scan_at(s, end) != '.') /* one without a signature has two parts */
            return part == 1 && scan_has(s, i, STR("eyJ")) ? end : 0;
        i = end + 1;
    }
    return scan_run_end(s, i, SET_WORD, MIN_JWT_PART) == i + MIN_JWT_PART ? i + MIN_JWT_PART : 0;
}

/* 24 to 28 bytes, six, and at least 27, with dots between. */
size_t redact_shape_discord(Scan *s, const Rule *r, size_t from)
{
    size_t end = redact_lead_end(s, r, from) ? scan_run_end(s, from, SET_WORD, 29) : 0;

    if (end < from + 24 || end > from + 28 || scan_at(s, end) != '.')
        return 0;
    if (scan_run_end(s, end + 1, SET_WORD, 7) != end + 7 || scan_at(s, end + 7) != '.')
        return 0;
    return scan_run_end(s, end + 8, SET_WORD, 27) == end + 35 ? end + 35 : 0;
}

/* A number of the bot and 35 bytes; the capitals tell it from a time and a hash. */
size_t redact_shape_telegram(Scan *s, const Rule *r, size_t from)
{
    size_t end = scan_run_end(s, from, SET_DIGIT, 11);

    if (end < from + 8 || end > from + 10 || scan_at(s, end) != ':' ||
        scan_run_end(s, end + 1, SET_WORD, r->min) != end + 1 + r->min)
        return 0;
    return scan_contains(s, end + 1, end + 1 + r->min, SET_UPPER) ? end + 1 + r->min : 0;
}

bool redact_check_token(Scan *s, const Rule *r, size_t start)
{
    size_t rest;

    if (start < s->floor + r->before)
        return false;
    start -= r->before;
    rest = !in_set((unsigned char)s->p[start], SET_ALNUM) || scan_word_begins(s, start)
               ? r->shape(s, r, start)
               : 0;

    return rest &&
           !(r->set == SET_CAPS &&
             redact_is_example(s, start, scan_run_end(s, rest, r->set, MAX_MIXED))) &&
           scan_take_out(s, r->label, start, rest, (Skip){ .kind = SKIP_SET, .set = r->set });
}

bool redact_check_telegram(Scan *s, const Rule *r, size_t start)
{
    size_t rest, max = 10;

    if (!in_set(scan_before(s, start, 7), SET_DIGIT)) /* the minutes of a time, mostly */
        return false;
    for (; max && in_set(scan_before(s, start, 1), SET_DIGIT); max--)
        start--;
    if (!scan_word_begins(s, start) && scan_word_before(s, start, STR("bot")) == start)
        return false;
    rest = redact_shape_telegram(s, r, start);
    return rest &&
           scan_take_out(s, r->label, start, rest, (Skip){ .kind = SKIP_SET, .set = r->set });
}

/* The rule whose shape begins at i, or NULL. */
const Rule *redact_token_at(Scan *s, size_t i)
{
    for (const Rule *r = redact_rules; r < redact_rules + redact_rules_n; r++)
        if (r->shape && !r->before && r->shape(s, r, i))
            return r;
    return NULL;
}

/* -- private keys -- */

bool redact_check_pem(Scan *s, const Rule *r, size_t start)
{
    size_t end;

    return scan_pem_at(s, start, &end) &&
           scan_take_out(s, r->label, start, end,
                         (Skip){ .kind = SKIP_PEM, .left = (size_t)LIMIT_REDACT_WINDOW });
}

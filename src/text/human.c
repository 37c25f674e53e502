#include "text/human.h"

#include <math.h>
#include <time.h>

Str human_count(Arena *a, int64_t n)
{
    char digits[32], out[48];
    uint64_t size =
        n < 0 ? 0 - (uint64_t)n : (uint64_t)n; /* also of the smallest, which has no opposite */
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)size), at = 0;

    if (n < 0)
        out[at++] = '-';
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    return str_dup(a, (Str){ out, (size_t)at });
}

Str human_n(Arena *a, int64_t n, const char *noun)
{
    Str count = human_count(a, n), many = str_of(noun), one;
    bool irregular;

    (void)str_split(&many, '|', &one);
    irregular = many.p != NULL;
    if (n == 1)
        return str_printf(a, "%.*s %.*s", STR_FMT(count), STR_FMT(one));
    return str_printf(a, "%.*s %.*s%s", STR_FMT(count), STR_FMT(irregular ? many : one),
                      irregular ? "" : "s");
}

/* Three digits are enough for a glance. */
static Str scaled(Arena *a, double n, double step, const char *const *units, const char *between)
{
    size_t unit = 0;

    while (n >= step && units[unit + 1]) {
        n /= step;
        unit++;
    }
    if (unit == 0)
        return str_printf(a, "%.0f%s%s", n, units[0][0] ? between : "", units[0]);
    return str_printf(a, "%.*f%s%s", n < 9.95 ? 1 : 0, n, between, units[unit]);
}

Str human_short(Arena *a, int64_t n)
{
    static const char *const units[] = { "", "k", "M", "G", "T", NULL };

    return scaled(a, (double)n, 1000, units, "");
}

Str human_bytes(Arena *a, int64_t n)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", NULL };

    return scaled(a, (double)n, 1000, units, " ");
}

Str human_cost(Arena *a, double usd)
{
    if (!(usd > 0))
        return STR("-");
    return str_printf(a, "$%.*f", usd < 0.1 ? 3 : 2, usd);
}

Str human_ago(Arena *a, double when, double now)
{
    static const struct {
        double seconds;
        const char *unit;
    } steps[] = {
        { 31557600, "y" }, { 2629800, "mo" }, { 86400, "d" }, { 3600, "h" }, { 60, "min" }
    };
    double age = now - when;

    if (when <= 0 || !isfinite(when))
        return STR("-");
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (age >= steps[i].seconds)
            return str_printf(a, "%.0f %s ago", floor(age / steps[i].seconds), steps[i].unit);
    return age < -60 ? human_time(a, when) : STR("just now");
}

static bool representable(double when)
{
    return isfinite(when) && when > -62135596800.0 && when < 253402300800.0;
}

Str human_time(Arena *a, double when)
{
    time_t t = (time_t)floor(when);
    struct tm tm;

    if (when == 0 || !representable(when) || !localtime_r(&t, &tm))
        return STR("-");
    return str_printf(a, "%04d-%02d-%02d %02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                      tm.tm_hour, tm.tm_min);
}

Str human_iso(Arena *a, double when)
{
    time_t t = (time_t)floor(when);
    struct tm tm;

    if (!representable(when) || !gmtime_r(&t, &tm))
        return STR("-");
    return str_printf(a, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
                      tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static bool field(Str *s, size_t digits, int64_t min, int64_t max, int *ret)
{
    int64_t value;

    if (s->n < digits || !str_to_int(str_head(*s, digits), min, max, &value))
        return false;
    *s = str_skip(*s, digits);
    *ret = (int)value;
    return true;
}

static bool skip_one(Str *s, const char *of)
{
    if (!s->n || !strchr(of, s->p[0]))
        return false;
    *s = str_skip(*s, 1);
    return true;
}

bool human_parse_time(Str s, double *ret)
{
    struct tm tm = { .tm_isdst = -1 };
    bool utc;
    time_t t;

    if (str_to_double(s, ret))
        return representable(*ret);
    if (!field(&s, 4, 1, 9999, &tm.tm_year) || !skip_one(&s, "-") ||
        !field(&s, 2, 1, 12, &tm.tm_mon) || !skip_one(&s, "-") || !field(&s, 2, 1, 31, &tm.tm_mday))
        return false;
    if (skip_one(&s, "T ") && (!field(&s, 2, 0, 23, &tm.tm_hour) || !skip_one(&s, ":") ||
                               !field(&s, 2, 0, 59, &tm.tm_min) ||
                               (skip_one(&s, ":") && !field(&s, 2, 0, 60, &tm.tm_sec))))
        return false;
    utc = skip_one(&s, "Z");
    if (s.n)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    t = utc ? timegm(&tm) : mktime(&tm);
    *ret = (double)t;
    return true;
}

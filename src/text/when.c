/* Text is cut into at most four lower-case words, and each form is tried on them. Calendar
 * arithmetic is mktime's: it normalises "day 0" and "month -1", and knows about daylight saving
 * time. */
#include "text/when.h"

#include <math.h>
#include <time.h>

#include "text/human.h"

enum { MAX_WORDS = 4, MAX_WORD = 16 };

typedef struct Phrase {
    char text[MAX_WORDS][MAX_WORD];
    Str words[MAX_WORDS];
    size_t n;
} Phrase;

/* -- the calendar -- */

static bool local(double when, struct tm *ret)
{
    time_t t = (time_t)floor(when);

    return isfinite(when) && fabs(when) < 1e11 && localtime_r(&t, ret) != NULL;
}

/* Midnight at the beginning of a date whose fields may be out of range. */
static double midnight(int year, int month, int day)
{
    struct tm tm = { .tm_year = year, .tm_mon = month, .tm_mday = day, .tm_isdst = -1 };

    return (double)mktime(&tm);
}

static void days_from(const struct tm *today, int first, int count, When *ret)
{
    ret->from = midnight(today->tm_year, today->tm_mon, today->tm_mday + first);
    ret->until = midnight(today->tm_year, today->tm_mon, today->tm_mday + first + count);
}

static void month_range(int year, int month, When *ret)
{
    ret->from = midnight(year, month, 1);
    ret->until = midnight(year, month + 1, 1);
}

/* -- named ranges -- */

/* A day, week, month or year that is `back` of them ago. */
static bool calendar_unit(Str unit, int back, const struct tm *today, When *ret)
{
    if (str_eqz(unit, "day"))
        days_from(today, -back, 1, ret);
    else if (str_eqz(unit, "week"))
        days_from(today, -((today->tm_wday + 6) % 7) - 7 * back, 7, ret); /* from Monday on */
    else if (str_eqz(unit, "month"))
        month_range(today->tm_year, today->tm_mon - back, ret);
    else if (str_eqz(unit, "year"))
        *ret = (When){ midnight(today->tm_year - back, 0, 1),
                       midnight(today->tm_year - back + 1, 0, 1) };
    else
        return false;
    return true;
}

/* The index of a name in a list, or -1; abbreviations have three letters. */
static int name_index(Str word, const char *const *names, int n, bool prose)
{
    for (int i = 0; i < n; i++)
        if (str_eqz(word, names[i]) || (!prose && word.n == 3 && memcmp(word.p, names[i], 3) == 0))
            return i;
    return -1;
}

/* The latest such weekday; with `before` not today itself. */
static bool weekday(Str word, bool before, bool prose, const struct tm *today, When *ret)
{
    static const char *const names[] = { "sunday",   "monday", "tuesday", "wednesday",
                                         "thursday", "friday", "saturday" };
    int day = name_index(word, names, ARRAY_LEN(names), prose), back;

    if (day < 0)
        return false;
    back = (today->tm_wday - day + 7) % 7;
    if (back == 0 && before)
        back = 7;
    days_from(today, -back, 1, ret);
    return true;
}

/* The latest such month that has begun. In a sentence "march" and "may" are too often something
 * else. */
static bool month_name(Str word, bool prose, const struct tm *today, When *ret)
{
    static const char *const names[] = { "january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december" };
    int month = prose ? -1 : name_index(word, names, ARRAY_LEN(names), false);

    if (month < 0)
        return false;
    month_range(today->tm_year - (month > today->tm_mon), month, ret);
    return true;
}

/* -- distances -- */

typedef enum Step { STEP_SECONDS, STEP_MONTHS } Step;

static bool unit_of(Str word, Step *ret_step, double *ret_size)
{
    static const struct {
        const char *names;
        Step step;
        double size;
    } units[] = {
        { "min|mins|minute|minutes", STEP_SECONDS, 60 },
        { "h|hour|hours", STEP_SECONDS, 3600 },
        { "d|day|days", STEP_SECONDS, 86400 },
        { "w|week|weeks", STEP_SECONDS, 7 * 86400 },
        { "mo|month|months", STEP_MONTHS, 1 },
        { "y|year|years", STEP_MONTHS, 12 },
    };

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (word.n && str_is_one_of(word, units[i].names)) {
            *ret_step = units[i].step;
            *ret_size = units[i].size;
            return true;
        }
    return false;
}

/* The same clock time some months ago; 31 March less a month is the end of February. */
static double months_back(double now, int months)
{
    struct tm tm, target;
    double last;

    if (!local(now, &tm))
        return now;
    if (!local(midnight(tm.tm_year, tm.tm_mon - months + 1, 0), &target))
        return now;
    last = target.tm_mday;
    target.tm_hour = tm.tm_hour;
    target.tm_min = tm.tm_min;
    target.tm_sec = tm.tm_sec;
    target.tm_mday = tm.tm_mday < last ? tm.tm_mday : (int)last;
    target.tm_isdst = -1;
    return (double)mktime(&target);
}

static bool distance(Str number, Str unit, double now, When *ret)
{
    double size = 0;
    int64_t n;
    Step step;

    if (!str_to_int(number, 1, 100000, &n) || !unit_of(unit, &step, &size))
        return false;
    ret->until = now;
    if (step == STEP_SECONDS)
        ret->from = now - (double)n * size;
    else if ((double)n * size > 12 * 1000)
        return false;
    else
        ret->from = months_back(now, (int)((double)n * size));
    return true;
}

/* "36h": digits and a unit in one word. */
static bool short_distance(Str word, double now, When *ret)
{
    size_t digits = 0;

    while (digits < word.n && word.p[digits] >= '0' && word.p[digits] <= '9')
        digits++;
    return digits && digits < word.n &&
           distance(str_head(word, digits), str_skip(word, digits), now, ret);
}

/* -- dates -- */

static bool date(Str text, When *ret)
{
    int64_t year, month;

    if (text.n == 7 && text.p[4] == '-' && str_to_int(str_head(text, 4), 1, 9999, &year) &&
        str_to_int(str_skip(text, 5), 1, 12, &month)) {
        month_range((int)year - 1900, (int)month - 1, ret);
        return true;
    }
    if (!human_parse_time(text, &ret->from))
        return false;
    ret->until = ret->from;
    if (text.n == 10 && text.p[4] == '-') {
        struct tm tm;

        if (local(ret->from, &tm))
            ret->until = midnight(tm.tm_year, tm.tm_mon, tm.tm_mday + 1);
    }
    return true;
}

/* -- phrases -- */

static bool one_word(const Phrase *p, double now, bool prose, const struct tm *today, When *ret)
{
    Str word = p->words[0];

    if (str_eqz(word, "today"))
        return calendar_unit(STR("day"), 0, today, ret);
    if (str_eqz(word, "yesterday"))
        return calendar_unit(STR("day"), 1, today, ret);
    if (!prose && str_eqz(word, "now")) {
        *ret = (When){ now, now };
        return true;
    }
    return weekday(word, false, prose, today, ret) || month_name(word, prose, today, ret) ||
           (!prose && short_distance(word, now, ret));
}

static bool two_words(const Phrase *p, double now, bool prose, const struct tm *today, When *ret)
{
    Str first = p->words[0], second = p->words[1];
    bool last = str_is_one_of(first, "last|past|previous");

    if (str_eqz(first, "this") && calendar_unit(second, 0, today, ret))
        return true;
    if (last && (calendar_unit(second, 1, today, ret) || weekday(second, true, prose, today, ret)))
        return true;
    if (str_eqz(second, "ago") && short_distance(first, now, ret))
        return true;
    return !prose && distance(first, second, now, ret);
}

static bool phrase(const Phrase *p, double now, bool prose, When *ret)
{
    struct tm today;
    When found = { 0 };
    bool ok = false;

    if (!local(now, &today))
        return false;
    if (p->n == 1)
        ok = one_word(p, now, prose, &today, &found);
    else if (p->n == 2)
        ok = two_words(p, now, prose, &today, &found);
    else if (p->n == 3) /* "last 7 days", "2 weeks ago" */
        ok = (str_is_one_of(p->words[0], "last|past") &&
              distance(p->words[1], p->words[2], now, &found)) ||
             (str_eqz(p->words[2], "ago") && distance(p->words[0], p->words[1], now, &found));
    if (ok)
        *ret = found;
    return ok;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* Adds a word in lower case; false for one that no form has. */
static bool add_word(Phrase *p, Str word)
{
    char *to = p->text[p->n];

    if (p->n == MAX_WORDS || !word.n || word.n >= MAX_WORD)
        return false;
    for (size_t i = 0; i < word.n; i++)
        to[i] = word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] + 32) : word.p[i];
    p->words[p->n++] = (Str){ to, word.n };
    return true;
}

bool when_parse(Str text, double now, When *ret)
{
    Phrase p = { .n = 0 };
    Str rest = str_trim(text), word;
    When found;

    if (date(rest, &found)) {
        *ret = found;
        return true;
    }
    while (str_split(&rest, ' ', &word))
        if (word.n && !add_word(&p, word))
            return false;
    return phrase(&p, now, false, ret);
}

/* The next run of letters and digits; p NULL at the end. */
static Str next_word(Str *rest)
{
    size_t skip = 0, n = 0;
    Str word;

    while (skip < rest->n && !is_letter_or_digit(rest->p[skip]))
        skip++;
    *rest = str_skip(*rest, skip);
    while (n < rest->n && is_letter_or_digit(rest->p[n]))
        n++;
    if (!n)
        return STR_NONE;
    word = str_head(*rest, n);
    *rest = str_skip(*rest, n);
    return word;
}

/* The longest phrase that begins with this word, three words at most. */
static bool phrase_at(Str word, Str rest, double now, When *ret, Str *ret_place)
{
    Phrase p = { .n = 0 };
    bool found = false;

    while (word.n && p.n < 3 && add_word(&p, word)) {
        if (phrase(&p, now, true, ret)) {
            *ret_place = (Str){ ret_place->p, (size_t)(word.p + word.n - ret_place->p) };
            found = true;
        }
        word = next_word(&rest);
    }
    return found;
}

bool when_find(Str text, double now, When *ret, Str *ret_place)
{
    Str rest = text, word;

    while ((word = next_word(&rest)).n) {
        Str place = { word.p, word.n };
        When found;

        if (phrase_at(word, rest, now, &found, &place)) {
            *ret = found;
            *ret_place = place;
            return true;
        }
    }
    return false;
}

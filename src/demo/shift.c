#include "demo/shift.h"

#include <math.h>
#include <time.h>

/* Guillemets occur in no other text of the demo. */
static const Str OPEN = STR_INIT("«"), CLOSE = STR_INIT("»");

/* A time, split once: milliseconds since the epoch, and the calendar of its second in UTC. */
typedef struct Moment {
    int64_t ms;
    struct tm tm;
    int64_t months_back;
} Moment;

typedef void Format(Buf *out, const Moment *m);

/* Digits of the date and of the time of day, each with what separates them. */
static void put_day(Buf *out, const Moment *m, const char *between)
{
    buf_addf(out, "%04d%s%02d%s%02d", m->tm.tm_year + 1900, between, m->tm.tm_mon + 1, between,
             m->tm.tm_mday);
}

static void put_time(Buf *out, const Moment *m, const char *between)
{
    buf_addf(out, "%02d%s%02d%s%02d", m->tm.tm_hour, between, m->tm.tm_min, between, m->tm.tm_sec);
}

static void put_unix(Buf *out, const Moment *m)
{
    buf_addf(out, "%lld.%03lld", (long long)(m->ms / 1000), (long long)(m->ms % 1000));
}

static void put_sec(Buf *out, const Moment *m)
{
    buf_addf(out, "%lld", (long long)(m->ms / 1000));
}

static void put_ms(Buf *out, const Moment *m)
{
    buf_addf(out, "%lld", (long long)m->ms);
}

static void put_iso(Buf *out, const Moment *m)
{
    put_day(out, m, "-");
    buf_addc(out, 'T');
    put_time(out, m, ":");
    buf_addc(out, 'Z');
}

static void put_isoms(Buf *out, const Moment *m)
{
    put_day(out, m, "-");
    buf_addc(out, 'T');
    put_time(out, m, ":");
    buf_addf(out, ".%03dZ", (int)(m->ms % 1000));
}

static void put_date(Buf *out, const Moment *m)
{
    put_day(out, m, "-");
}

static void put_long(Buf *out, const Moment *m)
{
    static const char *const months[] = { "January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December" };

    buf_addf(out, "%d %s %d", m->tm.tm_mday, months[m->tm.tm_mon % 12], m->tm.tm_year + 1900);
}

static void put_year(Buf *out, const Moment *m)
{
    buf_addf(out, "%04d", m->tm.tm_year + 1900);
}

static void put_month(Buf *out, const Moment *m)
{
    int64_t n = (m->tm.tm_year + 1900) * 12LL + m->tm.tm_mon - m->months_back;

    buf_addf(out, "%04lld-%02lld", (long long)(n / 12), (long long)(n % 12 + 1));
}

static void put_stamp(Buf *out, const Moment *m)
{
    put_day(out, m, "");
    buf_addc(out, '_');
    put_time(out, m, "");
}

static void put_folder(Buf *out, const Moment *m)
{
    put_day(out, m, "/");
}

static void put_file(Buf *out, const Moment *m)
{
    put_day(out, m, "-");
    buf_addc(out, 'T');
    put_time(out, m, "-");
}

#define KINDS(X)                                                                                   \
    X(unix) X(sec) X(ms) X(iso) X(isoms) X(date) X(long) X(year) X(month) X(stamp) X(folder) X(file)

static Format *find_format(Str kind)
{
#define X(name)                                                                                    \
    if (str_eqz(kind, #name))                                                                      \
        return put_##name;
    KINDS(X)
#undef X
    return NULL;
}

static bool put_marker(Str marker, double now, Buf *out, double *latest, Err *err)
{
    Str rest = marker, kind, distance = STR_NONE;
    double seconds = 0;
    Moment m = { 0 };
    Format *format;
    time_t whole;

    (void)str_split(&rest, ':', &kind);
    (void)str_split(&rest, ':', &distance);
    format = find_format(kind);
    if (!format || !str_to_double(distance, &seconds) ||
        (rest.n && !str_to_int(rest, 0, 1200, &m.months_back)))
        return err_set(err, ERR_INVALID, "unknown marker '%.*s' in the recorded demo",
                       STR_FMT(marker));
    m.ms = llround((now + seconds) * 1000);
    whole = (time_t)(m.ms / 1000);
    gmtime_r(&whole, &m.tm);
    format(out, &m);
    *latest = fmax(*latest, (double)m.ms / 1000);
    return true;
}

bool demo_shift(Str text, double now, Buf *out, double *ret_latest, Err *err)
{
    double latest = 0;

    for (;;) {
        size_t open = str_find(text, OPEN), close = str_find(str_skip(text, open), CLOSE);

        buf_add(out, str_head(text, open));
        if (open + close >= text.n) {
            buf_add(out, str_skip(text, open));
            break;
        }
        if (!put_marker((Str){ text.p + open + OPEN.n, close - OPEN.n }, now, out, &latest, err))
            return false;
        text = str_skip(text, open + close + CLOSE.n);
    }
    *ret_latest = latest;
    if (buf_full(out))
        return err_set(err, ERR_INVALID, "the recorded demo is larger than it may be");
    return true;
}

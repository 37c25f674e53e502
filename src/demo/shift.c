#include "demo/shift.h"

#include <math.h>
#include <time.h>

#include "base/limits.h"
#include "text/json.h"
#include "text/sha256.h"

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

static void put_night(Buf *out, const Moment *m)
{
    put_day(out, m, "");
    buf_addc(out, '-');
    put_time(out, m, "");
}

#define KINDS(X)                                                                                   \
    X(unix)                                                                                        \
    X(sec)                                                                                         \
    X(ms)                                                                                          \
    X(iso)                                                                                         \
    X(isoms)                                                                                       \
    X(date)                                                                                        \
    X(long)                                                                                        \
    X(year)                                                                                        \
    X(month)                                                                                       \
    X(stamp)                                                                                       \
    X(folder)                                                                                      \
    X(file)                                                                                        \
    X(night)

static Format *find_format(Str kind)
{
#define X(name)                                                                                    \
    if (str_eqz(kind, #name))                                                                      \
        return put_##name;
    KINDS(X)
#undef X
    return NULL;
}

static bool put_time_marker(Str marker, double now, Buf *out, double *latest, Err *err)
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

/* As in a JSON string: the markers of the root occur in JSON. */
static void put_root(const Recording *r, Buf *out)
{
    AUTO_BUF quoted = BUF(KIB(32));
    JsonWriter w = JSON_WRITER(&quoted, 0);

    json_put_str(&w, r->root);
    buf_add(out, (Str){ quoted.p + 1, quoted.n - 2 });
}

static bool put_digest(const Recording *r, Str path, Buf *out, Err *err)
{
    Str text = demo_recorded(r->files, r->n, str_z(r->arena, path)), unused = path;
    double latest;

    if (!text.p)
        return err_set(err, ERR_INVALID, "the recorded demo has no file '%.*s'", STR_FMT(path));
    text = demo_shifted(r, text, &latest, err);
    if (!text.p || !demo_take_path(r, &text, &unused, err))
        return false;
    buf_add(out, sha256_hex(r->arena, text));
    return true;
}

static bool put_marker(const Recording *r, Str marker, Buf *out, double *latest, Err *err)
{
    static const Str DIGEST = STR_INIT("sha256:");

    if (str_starts(marker, DIGEST))
        return put_digest(r, str_skip(marker, DIGEST.n), out, err);
    if (!str_eqz(marker, "root"))
        return put_time_marker(marker, r->now, out, latest, err);
    put_root(r, out);
    return true;
}

bool demo_shift(const Recording *r, Str text, Buf *out, double *ret_latest, Err *err)
{
    double latest = 0;

    for (;;) {
        size_t open = str_find(text, OPEN), close = str_find(str_skip(text, open), CLOSE);

        buf_add(out, str_head(text, open));
        if (open + close >= text.n) {
            buf_add(out, str_skip(text, open));
            break;
        }
        if (!put_marker(r, (Str){ text.p + open + OPEN.n, close - OPEN.n }, out, &latest, err))
            return false;
        text = str_skip(text, open + close + CLOSE.n);
    }
    *ret_latest = latest;
    if (buf_full(out))
        return err_set(err, ERR_INVALID, "the recorded demo is larger than it may be");
    return true;
}

Str demo_shifted(const Recording *r, Str text, double *ret_latest, Err *err)
{
    AUTO_BUF out = BUF(MIB(32));

    if (!demo_shift(r, text, &out, ret_latest, err))
        return STR_NONE;
    return str_dup(r->arena, buf_str(&out));
}

bool demo_take_path(const Recording *r, Str *text, Str *path, Err *err)
{
    Str rest = *text, line = STR_NONE;
    AUTO(JsonDoc) *doc = NULL;

    if (!str_starts(*text, STR("{\"demo_path\"")) || !str_split(&rest, '\n', &line))
        return true;
    doc = json_parse(line, err);
    if (!doc)
        return false;
    *path = str_dup(r->arena, json_str(json_get(json_root(doc), STR("demo_path"))));
    *text = rest.p ? rest : STR("");
    return true;
}

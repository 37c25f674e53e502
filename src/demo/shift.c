#include "demo/shift.h"

#include <math.h>
#include <time.h>

#include "base/limits.h"
#include "text/json.h"
#include "text/sha256.h"

/* Guillemets occur in no other text of the demo. */
static const Str OPEN = STR_INIT("«"), CLOSE = STR_INIT("»");

/* Kinds made of the date and perhaps the time of day, with what separates their digits. */
static const struct {
    const char *kind, *day, *between, *time, *after;
} formats[] = {
    { "iso", "-", "T", ":", "Z" }, { "isoms", "-", "T", ":", "" }, /* milliseconds follow */
    { "date", "-", NULL, "", "" }, { "folder", "/", NULL, "", "" }, { "stamp", "", "_", "", "" },
    { "night", "", "-", "", "" },  { "file", "-", "T", "-", "" },
};

/* ms: since the epoch. False: there is no such kind. */
static bool put_time(Buf *out, Str kind, int64_t ms, int64_t months_back)
{
    static const char *const months[] = { "January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December" };
    time_t whole = (time_t)(ms / 1000);
    long long seconds = whole, month;
    struct tm tm = { 0 };

    gmtime_r(&whole, &tm);
    month = (tm.tm_year + 1900) * 12LL + tm.tm_mon - months_back;
    if (str_eqz(kind, "unix"))
        buf_addf(out, "%lld.%03d", seconds, (int)(ms % 1000));
    else if (str_eqz(kind, "sec"))
        buf_addf(out, "%lld", seconds);
    else if (str_eqz(kind, "ms"))
        buf_addf(out, "%lld", (long long)ms);
    else if (str_eqz(kind, "long"))
        buf_addf(out, "%d %s %d", tm.tm_mday, months[tm.tm_mon % 12], tm.tm_year + 1900);
    else if (str_eqz(kind, "year"))
        buf_addf(out, "%04d", tm.tm_year + 1900);
    else if (str_eqz(kind, "month"))
        buf_addf(out, "%04lld-%02lld", month / 12, month % 12 + 1);
    else
        for (size_t i = 0;; i++) {
            if (i == ARRAY_LEN(formats))
                return false;
            if (!str_eqz(kind, formats[i].kind))
                continue;
            buf_addf(out, "%04d%s%02d%s%02d", tm.tm_year + 1900, formats[i].day, tm.tm_mon + 1,
                     formats[i].day, tm.tm_mday);
            if (formats[i].between)
                buf_addf(out, "%s%02d%s%02d%s%02d%s", formats[i].between, tm.tm_hour,
                         formats[i].time, tm.tm_min, formats[i].time, tm.tm_sec, formats[i].after);
            if (str_eqz(kind, "isoms"))
                buf_addf(out, ".%03dZ", (int)(ms % 1000));
            break;
        }
    return true;
}

static bool put_time_marker(Str marker, double now, Buf *out, double *latest, Err *err)
{
    Str rest = marker, kind, distance = STR_NONE;
    int64_t ms, months_back = 0;
    double seconds = 0;

    (void)str_split(&rest, ':', &kind);
    (void)str_split(&rest, ':', &distance);
    ms = str_to_double(distance, &seconds) ? llround((now + seconds) * 1000) : -1;
    if (ms < 0 || (rest.n && !str_to_int(rest, 0, 1200, &months_back)) ||
        !put_time(out, kind, ms, months_back))
        return err_set(err, ERR_INVALID, "unknown marker '%.*s' in the recorded demo",
                       STR_FMT(marker));
    *latest = fmax(*latest, (double)ms / 1000);
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

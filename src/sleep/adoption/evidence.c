/* A line is put together in memory and written by one call, so that a reader and a crash see whole
 * lines but for the last. */
#include "sleep/adoption/evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/human.h"
#include "text/redact.h"
#include "text/utf8.h"

enum { MIN_CHARS = 200 };

struct Evidence {
    int fd;
    bool failed;
    size_t max_chars, bytes; /* bytes: of the file so far */
    int64_t seq;
    Arena *arena; /* of one event */
    Buf line;
    JsonWriter w;
};

/* -- opening -- */

/* Whole lines, and how many bytes they are. */
static void count_lines(Str text, int64_t *ret_lines, size_t *ret_bytes)
{
    int64_t lines = 0;
    size_t end = 0;

    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\n') {
            lines++;
            end = i + 1;
        }
    *ret_lines = lines;
    *ret_bytes = end;
}

static bool resume(Evidence *e, const char *path, Err *err)
{
    AUTO(Arena) *a = arena_new();
    size_t whole;
    Str text;

    if (!file_read_fd(a, e->fd, path, LIMIT_OUTPUT_BYTES, &text, err))
        return false;
    count_lines(text, &e->seq, &whole);
    e->bytes = whole;
    if (whole < text.n && ftruncate(e->fd, (off_t)whole) != 0)
        return err_errno(err, "cannot mend '%s'", path);
    return lseek(e->fd, 0, SEEK_END) >= 0 || err_errno(err, "cannot read '%s'", path);
}

Evidence *evidence_open(const char *path, EvidenceOptions options, Err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    size_t max = options.max_chars ? options.max_chars : LIMIT_SLEEP_EVIDENCE;
    Evidence *e;

    if (fd < 0) {
        (void)err_errno(err, "cannot write '%s'", path);
        return NULL;
    }
    e = mem_alloc(sizeof *e);
    *e = (Evidence){ .fd = fd,
                     .max_chars = max < MIN_CHARS ? MIN_CHARS : max,
                     .arena = arena_new(),
                     .line = BUF(MIB(16)) };
    if (!resume(e, path, err)) {
        (void)evidence_close(e);
        return NULL;
    }
    return e;
}

bool evidence_close(Evidence *e)
{
    bool ok;

    if (!e)
        return true;
    ok = !e->failed;
    close(e->fd);
    buf_done(&e->line);
    (void)arena_free(e->arena);
    mem_free(e);
    return ok;
}

/* -- an event -- */

/* Redacted first: cutting before could leave half a secret that no pattern knows. */
static Str fit(Evidence *e, Str s)
{
    Str clean = redact_text(e->arena, s), rest = clean;
    size_t all = utf8_count(clean);

    if (all <= e->max_chars)
        return clean;
    for (size_t i = 0; i < e->max_chars; i++)
        (void)utf8_next(&rest);
    return str_printf(e->arena, "%.*s… [%zu characters left out]", (int)(clean.n - rest.n), clean.p,
                      all - e->max_chars);
}

void evidence_begin(Evidence *e, const char *stage, const char *event)
{
    if (!e)
        return;
    arena_reset(e->arena);
    buf_clear(&e->line);
    e->w = JSON_WRITER(&e->line, 0);
    json_begin(&e->w, '{');
    json_field_str(&e->w, "ts", human_iso(e->arena, clock_wall()));
    json_field_str(&e->w, "stage", str_of(stage));
    json_field_str(&e->w, "event", str_of(event));
}

void evidence_str(Evidence *e, const char *key, Str s)
{
    if (e)
        json_field_str(&e->w, key, fit(e, s));
}

void evidence_int(Evidence *e, const char *key, int64_t n)
{
    if (e)
        json_field_int(&e->w, key, n);
}

void evidence_real(Evidence *e, const char *key, double n)
{
    if (e)
        json_field_double(&e->w, key, n);
}

void evidence_bool(Evidence *e, const char *key, bool b)
{
    if (e)
        json_field_bool(&e->w, key, b);
}

static void put_value(Evidence *e, Json v)
{
    JsonType type = json_type(v);
    JsonIter it = json_each(v);
    Str key;
    Json item;

    if (type == JSON_STRING) {
        json_put_str(&e->w, fit(e, json_str(v)));
    } else if (type == JSON_OBJECT || type == JSON_ARRAY) {
        json_begin(&e->w, type == JSON_OBJECT ? '{' : '[');
        while (json_next(&it, &key, &item)) {
            if (type == JSON_OBJECT)
                json_key_str(&e->w, key);
            if (type == JSON_OBJECT && redact_key_is_secret(key))
                json_put_str(&e->w, STR("[REDACTED]"));
            else
                put_value(e, item);
        }
        json_end(&e->w, type == JSON_OBJECT ? '}' : ']');
    } else {
        json_put(&e->w, v);
    }
}

void evidence_json(Evidence *e, const char *key, Str json)
{
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;

    if (!e)
        return;
    doc = json_parse(json, &ignored);
    if (!doc) {
        evidence_str(e, key, json);
        return;
    }
    json_key(&e->w, key);
    put_value(e, json_root(doc));
}

void evidence_end(Evidence *e)
{
    Str rest;

    if (!e)
        return;
    json_field_int(&e->w, "seq", e->seq);
    json_end(&e->w, '}');
    buf_addc(&e->line, '\n');
    rest = buf_str(&e->line);
    if (buf_full(&e->line) || e->bytes + rest.n > LIMIT_SLEEP_EVIDENCE_BYTES) {
        e->failed = true;
        return;
    }
    e->seq++;
    e->bytes += rest.n;
    while (rest.n) {
        ssize_t put = write(e->fd, rest.p, rest.n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            e->failed = true;
            return;
        }
        rest = str_skip(rest, (size_t)put);
    }
}

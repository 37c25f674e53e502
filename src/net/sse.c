#include "net/sse.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"

struct SseParser {
    SseEventFn *fn;
    void *ctx;
    Buf line; /* the part of a line that has come */
    Buf data, name, id;
    bool has_data;
    bool after_cr; /* an LF that comes now belongs to the CR before it */
    bool begun;    /* the first line is over, and with it the place of a byte order mark */
    bool stopped, too_large;
    int64_t retry;
};

SseParser *sse_parser_new(SseEventFn *fn, void *ctx)
{
    SseParser *p = mem_alloc(sizeof *p);

    *p = (SseParser){ .fn = fn,
                      .ctx = ctx,
                      .line = BUF(LIMIT_SSE_LINE),
                      .data = BUF(LIMIT_SSE_EVENT),
                      .name = BUF(LIMIT_SSE_LINE),
                      .id = BUF(LIMIT_SSE_LINE),
                      .retry = -1 };
    return p;
}

SseParser *sse_parser_free(SseParser *p)
{
    if (p) {
        buf_done(&p->line);
        buf_done(&p->data);
        buf_done(&p->name);
        buf_done(&p->id);
    }
    return mem_free(p);
}

static void dispatch(SseParser *p)
{
    SseEvent e = { .name = p->name.n ? buf_str(&p->name) : STR("message"),
                   .data = buf_str(&p->data),
                   .id = buf_str(&p->id) };

    if (p->has_data) {
        e.data.n--; /* the LF after the last line */
        p->stopped = !p->fn(p->ctx, &e);
    }
    buf_clear(&p->data);
    buf_clear(&p->name);
    p->has_data = false;
}

static void take_retry(SseParser *p, Str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] < '0' || value.p[i] > '9')
            return;
    (void)!str_to_int(value, 0, INT32_MAX, &p->retry);
}

static void take_field(SseParser *p, Str name, Str value)
{
    if (str_eqz(name, "data")) {
        buf_add(&p->data, value);
        buf_addc(&p->data, '\n');
        p->has_data = true;
        p->too_large = buf_full(&p->data);
    } else if (str_eqz(name, "event")) {
        buf_clear(&p->name);
        buf_add(&p->name, value);
    } else if (str_eqz(name, "id") && (!value.n || !memchr(value.p, 0, value.n))) {
        buf_clear(&p->id);
        buf_add(&p->id, value);
    } else if (str_eqz(name, "retry")) {
        take_retry(p, value);
    }
}

static void take_line(SseParser *p, Str line)
{
    size_t colon;
    Str value;

    if (!p->begun && str_starts(line, STR("\xEF\xBB\xBF")))
        line = str_skip(line, 3);
    p->begun = true;
    if (line.n == 0) {
        dispatch(p);
        return;
    }
    colon = str_find(line, STR(":"));
    if (colon == 0)
        return; /* a comment */
    value = str_skip(line, colon + 1);
    if (value.n && value.p[0] == ' ')
        value = str_skip(value, 1);
    take_field(p, str_head(line, colon), value);
}

static size_t line_end(Str s)
{
    const char *lf = memchr(s.p, '\n', s.n);
    const char *cr = memchr(s.p, '\r', lf ? (size_t)(lf - s.p) : s.n);

    return cr ? (size_t)(cr - s.p) : lf ? (size_t)(lf - s.p) : s.n;
}

/* One line, or what there is of it; returns what is left. */
static Str take_some(SseParser *p, Str bytes)
{
    size_t end;

    if (p->after_cr && bytes.p[0] == '\n')
        bytes = str_skip(bytes, 1);
    p->after_cr = false;
    if (!bytes.n)
        return bytes;
    end = line_end(bytes);
    if (p->line.n || end == bytes.n)
        buf_add(&p->line, str_head(bytes, end));
    p->too_large = buf_full(&p->line) || end > LIMIT_SSE_LINE;
    if (end == bytes.n || p->too_large)
        return str_skip(bytes, end);
    p->after_cr = bytes.p[end] == '\r';
    take_line(p, p->line.n ? buf_str(&p->line) : str_head(bytes, end));
    buf_clear(&p->line);
    return str_skip(bytes, end + 1);
}

bool sse_parser_feed(SseParser *p, Str bytes)
{
    while (bytes.n && !p->stopped && !p->too_large)
        bytes = take_some(p, bytes);
    return !p->stopped && !p->too_large;
}

bool sse_parser_too_large(const SseParser *p)
{
    return p->too_large;
}

int64_t sse_parser_retry(const SseParser *p)
{
    return p->retry;
}

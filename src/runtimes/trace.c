/* A buffer that lets go of its older half whenever it is full: each byte is moved at most once. */
#include "runtimes/trace.h"

#include "base/limits.h"
#include "text/redact.h"

void run_trace_init(RunTrace *t)
{
    *t = (RunTrace){ .text = BUF(2 * LIMIT_RUN_TRACE) };
}

void run_trace_done(RunTrace *t)
{
    buf_done(&t->text);
}

static void drop(RunTrace *t, size_t n)
{
    memmove(t->text.p, t->text.p + n, t->text.n - n);
    t->text.n -= n;
    t->dropped += n;
}

void run_trace_add(RunTrace *t, Str bytes)
{
    AUTO(Arena) *a = arena_new();
    Str safe;

    if (bytes.n > LIMIT_RUN_TRACE / 2)
        bytes.n = LIMIT_RUN_TRACE / 2;
    safe = redact_text(a, bytes);
    if (safe.n > LIMIT_RUN_TRACE)
        safe.n = LIMIT_RUN_TRACE;
    if (t->text.n + safe.n + 1 > 2 * LIMIT_RUN_TRACE)
        drop(t, t->text.n - (LIMIT_RUN_TRACE - safe.n) / 2);
    buf_add(&t->text, safe);
    if (safe.n && safe.p[safe.n - 1] != '\n')
        buf_addc(&t->text, '\n');
}

Str run_trace_text(const RunTrace *t)
{
    Str all = buf_str(&t->text);
    size_t line;

    if (all.n > LIMIT_RUN_TRACE)
        all = str_skip(all, all.n - LIMIT_RUN_TRACE);
    else if (!t->dropped)
        return all;
    line = str_find(all, STR("\n"));
    return str_skip(all, line < all.n ? line + 1 : 0);
}

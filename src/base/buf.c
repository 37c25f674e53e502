#include "base/buf.h"

#include <stdarg.h>

#include "base/arena.h"

enum { SINK_AT = 64 * 1024 };

void buf_done(Buf *b)
{
    b->p = mem_free(b->p);
    b->n = b->cap = 0;
    b->full = false;
}

void buf_clear(Buf *b)
{
    b->n = 0;
    b->full = false;
    if (b->p)
        b->p[0] = '\0';
}

void buf_flush(Buf *b)
{
    if (b->n && !b->full && !b->sink(b->sink_ctx, b->p, b->n))
        b->full = true;
    b->n = 0;
}

char *buf_room(Buf *b, size_t n)
{
    if (b->sink && b->n >= SINK_AT)
        buf_flush(b);
    if (b->full || n > b->max || b->n > b->max - n) {
        b->full = true;
        return NULL;
    }
    if (b->n + n + 1 > b->cap) {
        size_t cap = b->cap ? b->cap : 256;

        while (cap < b->n + n + 1)
            cap *= 2;
        b->p = mem_resize(b->p, cap, 1);
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_add(Buf *b, Str s)
{
    char *room = buf_room(b, s.n);

    if (!room)
        return;
    if (s.n)
        memcpy(room, s.p, s.n);
    b->n += s.n;
    b->p[b->n] = '\0';
}

void buf_addz(Buf *b, const char *z)
{
    buf_add(b, str_of(z));
}

void buf_addc(Buf *b, char c)
{
    buf_add(b, (Str){ &c, 1 });
}

void buf_pad(Buf *b, char c, size_t n)
{
    char *room = buf_room(b, n);

    if (!room)
        return;
    memset(room, c, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_addf(Buf *b, const char *fmt, ...)
{
    va_list args, again;
    char *room;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    ASSERT(n >= 0);
    room = buf_room(b, (size_t)n);
    if (room) {
        vsnprintf(room, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

/* buf.h - a growing text with a most, given at birth.
 *
 * Past its maximum a Buf takes nothing more and remembers it: look at buf_full() once,
 * at the end, instead of at every append. With a sink it passes its bytes on whenever
 * 64 KiB have gathered, and the maximum counts only what waits. Not thread-safe. */
#ifndef TALARIA_BASE_BUF_H
#define TALARIA_BASE_BUF_H

#include "base/str.h"

/* Takes n bytes; false ends the writing, and the Buf counts as full. */
typedef bool BufSink(void *ctx, const char *p, size_t n);

typedef struct Buf {
    char *p; /* NUL-terminated whenever it is not NULL */
    size_t n, cap, max;
    bool full;
    BufSink *sink;
    void *sink_ctx;
} Buf;

#define BUF(max_bytes) ((Buf){ .max = (max_bytes) })

/* buf_done releases; the Buf may be used again afterwards. */
void buf_done(Buf *b);
#define AUTO_BUF __attribute__((cleanup(buf_done))) Buf

void buf_add(Buf *b, Str s);
void buf_addz(Buf *b, const char *z);
void buf_addc(Buf *b, char c);
void buf_pad(Buf *b, char c, size_t n);
void buf_addf(Buf *b, const char *fmt, ...) PRINTF(2, 3);

/* Room for n more bytes to be written at the returned place, then b->n += what was; NULL when
 * full. */
char *buf_room(Buf *b, size_t n);

void buf_clear(Buf *b);

static inline Str buf_str(const Buf *b)
{
    return (Str){ b->p ? b->p : "", b->n };
}

static inline bool buf_full(const Buf *b)
{
    return b->full;
}

/* Gives what waits to the sink. */
void buf_flush(Buf *b);

#endif

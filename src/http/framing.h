/* framing.h - whether a head can be read in one way only.
 *
 * A request that libmicrohttpd would take, and that another program on the way might read in a
 * different manner (two lengths, a length beside chunks, a NUL, a bare CR), is refused and its
 * connection ended: that is how requests are smuggled. Pure: header lines go in, a verdict comes
 * out. The texts lie in one buffer, in their order, as they came; tests/fuzz/fuzz_head.c feeds any
 * bytes. */
#ifndef TALARIA_HTTP_FRAMING_H
#define TALARIA_HTTP_FRAMING_H

#include "base/err.h"

/* X(name, field): headers of which a request has one at most: two of them would be two opinions. */
#define FRAMING_SINGLE(X)                                                                          \
    X(HOST, "host")                                                                                \
    X(LENGTH, "content-length")                                                                    \
    X(ENCODING, "transfer-encoding")                                                               \
    X(ORIGIN, "origin")                                                                            \
    X(SITE, "sec-fetch-site")                                                                      \
    X(MODE, "sec-fetch-mode")                                                                      \
    X(AUTHORIZATION, "authorization")                                                              \
    X(COOKIE, "cookie")                                                                            \
    X(TYPE, "content-type")                                                                        \
    X(PAGE, "x-talaria-page")                                                                      \
    X(KEY, "idempotency-key")

enum {
#define X(name, field) FRAMING_##name,
    FRAMING_SINGLE(X)
#undef X
        FRAMING_SINGLE_COUNT
};

typedef struct Framing {
    Str single[FRAMING_SINGLE_COUNT]; /* p NULL: absent */
    const char *end;                  /* of the line before, in the buffer */
    bool http11;
    const char *trouble; /* NULL: none so far */
} Framing;

/* The request line: the method up to its first NUL, in the buffer; the target up to its first NUL,
 * where it began in the buffer (parts of it may be overwritten there by now), and the version where
 * the parser found it. */
void framing_line(Framing *f, const char *method, Str target, const char *at, const char *version);
void framing_header(Framing *f, Str name, Str value);
/* `end`: where the head ends in the buffer; NULL: not known. */
void framing_end(Framing *f, const char *end);

enum { FRAMING_CHUNKS = -1 };

/* False and why, for a status of 400; *ret_length: bytes of the body, or FRAMING_CHUNKS. */
MUST_CHECK bool framing_check(const Framing *f, bool reads, int64_t *ret_length, Err *err);

#endif

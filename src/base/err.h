/* err.h - how a function says why it failed.
 *
 * A fallible function takes `Err *err` last and returns false (or NULL). Whoever
 * knows the reason sets it, once; callers on the way up say what they were doing.
 * Outputs are left alone on failure. Only cmd/, http/ and the daemon loops show it.
 *
 * One that nobody set is ERR_INTERNAL without words: variables begin as zero (meson.build). */
#ifndef TALARIA_BASE_ERR_H
#define TALARIA_BASE_ERR_H

#include "base/str.h"

/* One row a kind: name in JSON, exit code, HTTP status. Nothing else keeps these in step. */
#define ERR_KINDS(X)                                                                               \
    X(ERR_INTERNAL, "internal", 1, 500)                                                            \
    X(ERR_USAGE, "usage", 2, 400)                                                                  \
    X(ERR_INVALID, "invalid", 1, 422)                                                              \
    X(ERR_NOT_FOUND, "not_found", 3, 404)                                                          \
    X(ERR_CONFLICT, "conflict", 4, 409)                                                            \
    X(ERR_BUSY, "busy", 4, 503)                                                                    \
    X(ERR_REFUSED, "refused", 5, 403)                                                              \
    X(ERR_TOO_LARGE, "too_large", 1, 413)                                                          \
    X(ERR_CORRUPT, "corrupt", 1, 500)                                                              \
    X(ERR_NO_SPACE, "no_space", 1, 507)                                                            \
    X(ERR_READ_ONLY, "read_only", 1, 500)                                                          \
    X(ERR_IO, "io", 1, 500)                                                                        \
    X(ERR_INTERRUPTED, "interrupted", 130, 503)

typedef enum ErrKind {
#define X(kind, name, exit_code, http_status) kind,
    ERR_KINDS(X)
#undef X
} ErrKind;

enum { ERR_TEXT_BYTES = 2048 }; /* what a platform or a peer says for itself has to fit */

typedef struct Err {
    ErrKind kind;
    char text[ERR_TEXT_BYTES]; /* lower case, subject quoted, no full stop; cut, never overrun */
} Err;

/* err_set(err, ERR_NOT_FOUND, "no session '%s'", id): sets err and is false, so that
 * `return err_set(err, ...)` reads as what it is, and compilers see it too. */
#define err_set(...) (err_set_to(__VA_ARGS__), false)
void err_set_to(Err *err, ErrKind kind, const char *fmt, ...) PRINTF(3, 4);

/* The same for a failed system call: kind and reason from errno, the text says what was tried. */
#define err_errno(...) (err_set_errno(__VA_ARGS__), false)
void err_set_errno(Err *err, const char *fmt, ...) PRINTF(2, 3);

/* Puts what the caller was doing in front: "cannot adopt 'x'" + ": " + the reason. False too. */
#define err_wrap(...) (err_put_before(__VA_ARGS__), false)
void err_put_before(Err *err, const char *fmt, ...) PRINTF(2, 3);

int err_exit_code(const Err *err);
int err_http_status(const Err *err);
const char *err_name(const Err *err);

#endif

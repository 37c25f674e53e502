#include "base/err.h"

#include <errno.h>
#include <stdarg.h>

static const struct {
    const char *name;
    int exit_code, http_status;
} kinds[] = {
#define X(kind, name, exit_code, http_status) [kind] = { name, exit_code, http_status },
    ERR_KINDS(X)
#undef X
};

void err_set_to(Err *err, ErrKind kind, const char *fmt, ...)
{
    va_list args;

    err->kind = kind;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
}

static ErrKind kind_of_errno(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return ERR_NOT_FOUND;
    case EEXIST:
        return ERR_CONFLICT;
    case EAGAIN:
    case EBUSY:
    case EMFILE:
    case ENFILE:
        return ERR_BUSY;
    case ENOSPC:
    case EDQUOT:
        return ERR_NO_SPACE;
    case EFBIG:
        return ERR_TOO_LARGE;
    default:
        return ERR_IO;
    }
}

void err_set_errno(Err *err, const char *fmt, ...)
{
    int number = errno;
    char doing[320];
    va_list args;

    va_start(args, fmt);
    vsnprintf(doing, sizeof doing, fmt, args);
    va_end(args);
    err_set_to(err, kind_of_errno(number), "%s: %s", doing, strerror(number));
}

/* The reason matters more than the places: when both do not fit, the places are cut. */
void err_put_before(Err *err, const char *fmt, ...)
{
    char reason[sizeof err->text], place[128];
    va_list args;

    memcpy(reason, err->text, sizeof reason);
    va_start(args, fmt);
    vsnprintf(place, sizeof place, fmt, args);
    va_end(args);
    snprintf(err->text, sizeof err->text, "%s: %.*s", place,
             (int)(sizeof err->text - sizeof place - 2), reason);
}

int err_exit_code(const Err *err)
{
    return kinds[err->kind].exit_code;
}

int err_http_status(const Err *err)
{
    return kinds[err->kind].http_status;
}

const char *err_name(const Err *err)
{
    return kinds[err->kind].name;
}

/* str.h - text as a slice, and the few words about ownership.
 *
 * A Str is borrowed: it points into memory that somebody else keeps alive, usually
 * the arena of the request, the row or the file at hand. It is passed by value and
 * is not NUL-terminated. What owns memory has a name ending in _dup or a type with
 * x_free(); x_free accepts NULL and returns NULL. */
#ifndef TALARIA_BASE_STR_H
#define TALARIA_BASE_STR_H

#include "base/banned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MUST_CHECK              __attribute__((warn_unused_result))
#define PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#define ARRAY_LEN(a)            (sizeof(a) / sizeof *(a))
/* For a large array of a function that is called often: not zero at first, as all other variables
 * are (meson.build). */
#define NOT_CLEARED __attribute__((uninitialized))

/* AUTO(Store) *s = ...;  is freed by store_free when it leaves scope; TAKE(s) hands it on.
 * A type opts in with AUTO_FREE(Store, store_free) beside its declaration. */
#define AUTO(Type) __attribute__((cleanup(auto_free_##Type))) Type
#define AUTO_FREE(Type, fn)                                                                        \
    static inline void auto_free_##Type(Type **p)                                                  \
    {                                                                                              \
        (void)fn(*p);                                                                              \
    }
#define TAKE(p)                                                                                    \
    ({                                                                                             \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

/* A broken invariant is a bug, in release too: say where and stop before it spreads. */
#define ASSERT(condition) ((condition) ? (void)0 : assert_failed(#condition, __FILE__, __LINE__))
void assert_failed(const char *what, const char *file, int line) __attribute__((noreturn, cold));

typedef struct Str {
    const char *p;
    size_t n;
} Str;

#define STR(literal) ((Str){ "" literal, sizeof(literal) - 1 })
#define STR_INIT(literal)                                                                          \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }                                /* for static tables */
#define STR_FMT(s) (int)(s).n, (s).p /* printf("%.*s", STR_FMT(s)); s is evaluated twice */
#define STR_NONE   ((Str){ NULL, 0 })

static inline Str str_of(const char *z)
{
    return (Str){ z, z ? strlen(z) : 0 };
}

static inline bool str_eq(Str a, Str b)
{
    return a.n == b.n && (a.n == 0 || a.p == b.p || (a.p && b.p && memcmp(a.p, b.p, a.n) == 0));
}

static inline bool str_eqz(Str a, const char *z)
{
    return str_eq(a, str_of(z));
}

static inline bool str_starts(Str s, Str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(Str s, Str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

Str str_base_name(Str path); /* what follows the last slash */

static inline Str str_skip(Str s, size_t n)
{
    if (n > s.n)
        n = s.n;
    return n ? (Str){ s.p + n, s.n - n } : s; /* p may be NULL */
}

static inline Str str_head(Str s, size_t n)
{
    return (Str){ s.p, n < s.n ? n : s.n };
}

/* Byte order, as memcmp; the shorter first where one begins the other. */
int str_cmp(Str a, Str b);

/* ASCII letters without regard to case; every other byte exact. */
bool str_eq_nocase(Str a, Str b);

/* First place of needle in s, or s.n where there is none. */
size_t str_find(Str s, Str needle);
size_t str_find_nocase(Str s, Str needle);

/* Without ASCII white space at both ends. */
Str str_trim(Str s);

/* Takes what stands before the next `sep` off *rest; false when *rest is used up. */
bool str_split(Str *rest, char sep, Str *ret_part);

/* The part of a path behind its last slash, and the folder before it ("/" for a file in the
 * root). */
Str str_file_name(Str path);
Str str_folder(Str path);

/* Whether s is one of "a|b|c". */
bool str_is_one_of(Str s, const char *choices);

/* -- strict numbers: the whole text, in range, or false -- */

MUST_CHECK bool str_to_int(Str s, int64_t min, int64_t max, int64_t *ret);
MUST_CHECK bool str_to_double(Str s, double *ret);

/* Edit distance (Damerau, adjacent swaps count once), for "did you mean". */
size_t str_distance(Str a, Str b);

#endif

/* paths.h - file names in a text, and the set of those seen in a session.
 *
 * A file name begins with "/home/", "/mnt/", "./" or "~", continues as a run of word characters,
 * '.',
 * '/' and '-', and ends behind the last dot of the run that an extension follows, with at least one
 * character before the dot. The first extension in the order of the table that fits ends it: a.json
 * is seen as a.js, as the rules have it. */
#ifndef TALARIA_ACHIEVEMENTS_PATHS_H
#define TALARIA_ACHIEVEMENTS_PATHS_H

#include "base/str.h"

typedef struct Paths Paths;

Paths *paths_new(void);
Paths *paths_free(Paths *set);
void paths_clear(Paths *set);
size_t paths_count(const Paths *set);

/* The run that was looked at last, so that many beginnings in one run cost no more than one. Begin
 * each text with {0}. */
typedef struct PathRun {
    const char *end;              /* behind the run */
    const char *dot, *behind_dot; /* its last dot with an extension, and the end of that */
    const char *done;             /* end of the last name taken */
} PathRun;

/* A name that begins with the n bytes at p, one of the four beginnings. Beginnings come in order.
 * The text continues to `end`; only ASCII counts as word characters where `ascii` is true. */
void paths_add_at(Paths *set, PathRun *run, const char *p, size_t n, const char *end, bool ascii);

/* Whether a beginning stands around the '/' or '~' at p. */
static inline bool path_begins(const char *p, const char *begin, const char *end)
{
    return *p == '~' || (p > begin && p[-1] == '.') ||
           (end - p > 1 && (p[1] == 'h' || p[1] == 'm'));
}

/* All names in a text, which has a byte that is no part of a name behind it unless it is ASCII. */
void paths_add_all(Paths *set, Str text, bool ascii);

#endif

/* match.h - every place of every literal of the rules in a text, by one pass of Vectorscan.
 *
 * The words are compiled once a process, which takes about five milliseconds, and shared; a Matcher
 * is what one thread needs beside that. */
#ifndef TALARIA_ACHIEVEMENTS_MATCH_H
#define TALARIA_ACHIEVEMENTS_MATCH_H

#include "base/err.h"

typedef struct Hit {
    uint32_t end; /* offset behind its last byte */
    uint32_t literal;
} Hit;

typedef struct Matcher Matcher;

MUST_CHECK Matcher *matcher_new(Err *err);
Matcher *matcher_free(Matcher *m);

/* In order of their ends. The hits are the matcher's until the next call. Text is less than 4
 * GiB. */
const Hit *matcher_scan(Matcher *m, Str text, size_t *ret_n);

#endif

/* human.h - numbers and times as people read them, and times as they write them. */
#ifndef TALARIA_TEXT_HUMAN_H
#define TALARIA_TEXT_HUMAN_H

#include "base/arena.h"

Str human_count(Arena *a, int64_t n); /* 1,234,567 */
/* "1 session", "1,234 sessions". A noun with an irregular plural is "match|matches". */
Str human_n(Arena *a, int64_t n, const char *noun);
Str human_short(Arena *a, int64_t n);             /* 1.2M, 847k, 950 */
Str human_bytes(Arena *a, int64_t n);             /* 5.3 MB */
Str human_cost(Arena *a, double usd);             /* $1.23; "-" where not known */
Str human_ago(Arena *a, double when, double now); /* "3 h ago"; "-" for 0 */
Str human_time(Arena *a, double when);            /* 2026-11-15 20:30, local; "-" for 0 */
Str human_iso(Arena *a, double when);             /* 2026-11-15T20:30:05Z */

/* Unix seconds, or a date with or without a time: 2026-11-15, 2026-11-15T08:00:00Z,
 * 2026-11-15 08:00. Without a zone it is local time. */
MUST_CHECK bool human_parse_time(Str s, double *ret);

#endif

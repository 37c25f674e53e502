/* when.h - times as people type them: "7d", "yesterday", "last week", "monday", "2026-11-15".
 *
 * Every form means a range in the local time zone: "yesterday" is the whole day, "7d" the seven
 * times 24 hours before now. A filter "since X" takes the beginning of the range; so does "until
 * X", so that "since yesterday, until today" is exactly yesterday. Weeks begin on Monday. */
#ifndef TALARIA_TEXT_WHEN_H
#define TALARIA_TEXT_WHEN_H

#include "base/str.h"

typedef struct When {
    double from, until; /* unix seconds; `until` is not part of the range */
} When;

/* What options take, for help and error messages. */
#define WHEN_FORMS "7d, 24h, 2w, 3mo, today, yesterday, last week, monday or 2026-11-15"

/* The whole text as a time: unix seconds, a date or a month (as human_parse_time; 2026-11), a
 * distance (36h, "2 weeks ago", "last 7 days"), a day, week, month or year ("today", "this month"),
 * the name of a weekday (the latest one, today included) or of a month. Case does not matter. */
MUST_CHECK bool when_parse(Str text, double now, When *ret);

/* The first such phrase within a sentence ("what did we fix last week?"). Abbreviations and bare
 * numbers do not count there. *ret_place is the phrase within `text`. */
MUST_CHECK bool when_find(Str text, double now, When *ret, Str *ret_place);

#endif

/* harvest.h - the history, looked through for sessions worth a template.
 *
 * A session (a lineage, all of its parts) counts as successful when neither its last tool result
 * nor its last user message shows a failure; a first request that describes a problem is the task,
 * not a complaint. Of the successful ones the best of each type come first, then the second best:
 * by share of calls that worked (the low end of its 95 % interval, so that 40 of 41 is better than
 * 3 of 3), then distinct tools that worked, then recency. What is nearly an existing template is
 * left out, and so is everything else that is not taken: always with the reason. */
#ifndef TALARIA_TEMPLATES_HARVEST_H
#define TALARIA_TEMPLATES_HARVEST_H

#include "templates/extract.h"
#include "templates/past.h"

typedef struct HarvestOptions {
    size_t limit; /* most templates to make */
    bool dry_run; /* make none, tell which */
} HarvestOptions;

typedef struct HarvestItem {
    Str session;
    TaskType type;
    Str template_name; /* where one was made, or would be */
    size_t examples;
    Str reason;
} HarvestItem;

typedef struct Harvest {
    size_t sessions; /* looked at */
    HarvestItem *created, *left_out;
    size_t n_created, n_left_out;
} Harvest;

/* Reads only sessions that changed since the last time; without an index, all. */
MUST_CHECK bool harvest_run(const Past *past, Arena *a, const Homes *homes,
                            const HarvestOptions *options, Harvest *ret, Err *err);

/* What one session is worth; reason.p NULL: it is a candidate. Pure, for the tests. */
typedef struct HarvestScore {
    size_t calls, good, tools; /* calls with a result, those that worked, their distinct tools */
    TaskType type;
    Str reason;
} HarvestScore;

HarvestScore harvest_score(Arena *a, const Message *messages, size_t n);

#endif

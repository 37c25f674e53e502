/* harvest.h - people's sessions as traces.
 *
 * Traces are cached in index.db beside the cursor of their session, so a night reads only new
 * sessions. The pass that indexes a new transcript makes its trace too; a session that grew is read
 * again from the beginning, since its end changes the meaning of its beginning. */
#ifndef TALARIA_SLEEP_MINING_HARVEST_H
#define TALARIA_SLEEP_MINING_HARVEST_H

#include "sleep/mining/mine.h"

typedef struct HarvestQuery {
    CatalogueQuery sources;
    Str project;      /* sessions of this folder and those above and below it; empty = all */
    double since;     /* only sessions active after this time; 0 = all */
    double until;     /* only sessions that began before this time; 0 = all */
    size_t max;       /* sessions, the newest; 0 = all */
    bool tasks_alone; /* traces are not needed */
} HarvestQuery;

typedef struct SleepHarvest {
    const Trace **traces; /* newest first; NULL with tasks_alone */
    size_t n;
    size_t sessions;  /* as lists count them: parts of one session count once */
    size_t not_human; /* headless runs, side chains, sleep's own prompts, no request */
    size_t elsewhere; /* other projects, or outside the window */
    size_t left_out;  /* beyond `max`: left for the next night */
    UpdateStats update;
    Stamp stamp; /* of the sources; not sound if some are missing */
} SleepHarvest;

/* The sessions and the tasks mined from them; from the cache if nothing has changed. */
MUST_CHECK bool sleep_harvest(Arena *a, const HarvestQuery *query, const MineOptions *mine,
                              SleepHarvest *ret, Mined *ret_mined, Err *err);

#endif

/* harvest.h - the sessions of people, as traces; read once.
 *
 * What a session's trace was is kept in index.db beside its cursor: a night costs what is new. In the
 * pass that reads a new transcript anyway the trace is made on the side; one that grew is read again
 * whole, since its end changes what its beginning meant. */
#ifndef TALARIA_SLEEP_MINING_HARVEST_H
#define TALARIA_SLEEP_MINING_HARVEST_H

#include "sleep/mining/mine.h"

typedef struct HarvestQuery {
    CatalogueQuery sources;
    Str project; /* sessions of this folder, of what lies below it and of what it lies in; empty = all */
    double since;     /* only sessions that went on after this instant; 0 = ever */
    double until;     /* only sessions that began up to this instant; 0 = all */
    size_t max;       /* sessions, the newest; 0 = all */
    bool tasks_alone; /* no traces are wanted, where the tasks can be had without */
} HarvestQuery;

typedef struct SleepHarvest {
    const Trace **traces; /* the newest first; NULL where they were not wanted */
    size_t n;
    size_t
        sessions; /* as lists count them: parts of one that compression split, or that goes on in a
                         conversation, are one */
    size_t not_human; /* headless runs, side chains, our own prompts, sessions without a request */
    size_t elsewhere; /* other projects, or outside the window */
    size_t left_out;  /* beyond `most`: they stay for the next night */
    UpdateStats update;
    Stamp stamp; /* of what all this was made from; not sound where some of it is missing */
} SleepHarvest;

/* The sessions, and the tasks that are mined from them: read, where neither has changed. */
MUST_CHECK bool sleep_harvest(Arena *a, const HarvestQuery *query, const MineOptions *mine,
                              SleepHarvest *ret, Mined *ret_mined, Err *err);

#endif

/* catalogue.h - the sixty achievements, and what is counted for them.
 *
 * data/catalogue.json and data/metrics.json, read once. Ids are the keys of people's unlocks and
 * never change; names, thresholds and order are shared with other programs; words are our own.
 * Immutable after loading, so any number of threads may use it. */
#ifndef TALARIA_ACHIEVEMENTS_CATALOGUE_H
#define TALARIA_ACHIEVEMENTS_CATALOGUE_H

#include "base/arena.h"

enum {
    TIER_COUNT = 5,
    MAX_REQUIREMENTS = 4,
    MAX_ACHIEVEMENTS = 100,
    MAX_AGGREGATES = 80,
    MAX_PEAKS = 16
};

/* A total over the history: the largest or the sum of one metric of the sessions, or a special. */
typedef enum AggregateKind { AGGREGATE_MAX, AGGREGATE_SUM, AGGREGATE_SPECIAL } AggregateKind;

typedef struct AggregateInfo {
    Str name, label;
    AggregateKind kind;
    size_t metric; /* of the session (metrics.h), where it is no special */
} AggregateInfo;

typedef struct Requirement {
    size_t aggregate;
    int64_t at_least;
} Requirement;

typedef struct Achievement {
    Str id, name, category, kind, icon, description;
    bool secret;
    bool tiered;
    size_t aggregate; /* tiered */
    int64_t tiers[TIER_COUNT];
    Requirement requirements[MAX_REQUIREMENTS];
    size_t n_requirements;
} Achievement;

typedef struct Catalogue {
    Str tier_names[TIER_COUNT];
    Achievement all[MAX_ACHIEVEMENTS];
    size_t n;
    AggregateInfo aggregates[MAX_AGGREGATES];
    size_t n_aggregates;
    size_t peaks[MAX_PEAKS]; /* the aggregates that are a maximum */
    size_t n_peaks;
    Str *providers; /* substrings in order */
    size_t n_providers;
    Str *local_marks;
    size_t n_local_marks;
} Catalogue;

/* Never fails: the data is part of the program, and a test reads it. */
const Catalogue *catalogue(void);

/* n_aggregates where there is none. */
size_t catalogue_aggregate(const Catalogue *c, Str name);

#endif

/* state.h - state.json: when each badge was first earned. People's property.
 *
 * Shared with Hermes' plugin: {"unlocks": {id: {"evidence", "first_tier", "unlocked_at"}}}. Entries
 * are never removed or changed, except that a higher tier reached later is noted beside
 * ("upgrades"). What we do not know (ids, keys) is written back as it was. A file that cannot be
 * read is put aside, never overwritten. */
#ifndef TALARIA_ACHIEVEMENTS_STATE_H
#define TALARIA_ACHIEVEMENTS_STATE_H

#include "achievements/catalogue.h"
#include "base/err.h"
#include "store/homes.h"
#include "text/json.h"

typedef struct Evidence {
    Str session_id, title;
    int64_t value;
    int64_t message; /* that brought it to the value; 0: not known */
    bool known;
} Evidence;

typedef struct Unlock {
    int64_t unlocked_at;
    int first_tier;         /* -1: none */
    int tier;               /* the highest that was recorded; -1: none */
    int64_t tier_at;        /* when it was */
    int64_t at[TIER_COUNT]; /* of the tiers that are new; 0: not known */
    Evidence evidence;
    bool known; /* it was unlocked once */
} Unlock;

typedef struct Unlocks {
    Unlock all[MAX_ACHIEVEMENTS]; /* by place in the catalogue */
    JsonDoc *doc;                 /* as it was read; NULL: none */
    bool changed;
} Unlocks;

/* Where they are kept. An empty folder: nowhere. */
typedef struct StatePlace {
    Str folder;
    Str also[2]; /* only read, where the folder does not have a file */
    Str file;    /* name of state.json */
} StatePlace;

/* Of Hermes' plugin: plugins/hermes-achievements in the home, or plugin-data/ where that exists
 * already. */
StatePlace plugin_place(Arena *a, const Home *home);
/* Our own: achievements/ in the data folder. One that --home names has its own file there. */
StatePlace own_place(Arena *a, const Homes *homes);

/* The file of that name; false: in none of the folders. */
MUST_CHECK bool place_find(Arena *a, const StatePlace *place, Str name, Str *ret);

/* No file: no unlocks. Text is borrowed from u->doc until unlocks_done. */
MUST_CHECK bool unlocks_load(Arena *a, const StatePlace *place, Unlocks *ret, Err *err);
void unlocks_done(Unlocks *u);

/* A badge that is unlocked; true where it is new, or its tier is. at: when each tier was reached,
 * by the history; NULL: now. */
bool unlocks_note(Unlocks *u, size_t achievement, int tier, const Evidence *evidence,
                  const int64_t *at, int64_t now);

MUST_CHECK bool unlocks_save(Arena *a, const StatePlace *place, Unlocks *u, Err *err);

void tier_put(JsonWriter *w, const char *key, int tier); /* its name; -1: null */
void evidence_put(JsonWriter *w, const Evidence *e);     /* null where it is not known */
Evidence evidence_of(Json v);

#endif

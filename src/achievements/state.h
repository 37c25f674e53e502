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
    int first_tier;  /* -1: none */
    int tier;        /* the highest that was recorded; -1: none */
    int64_t tier_at; /* when it was */
    Evidence evidence;
    bool known; /* it was unlocked once */
} Unlock;

typedef struct Unlocks {
    Unlock all[MOST_ACHIEVEMENTS]; /* by place in the catalogue */
    JsonDoc *doc;                  /* as it was read; NULL: none */
    bool changed;
} Unlocks;

/* The folder of the three files: plugins/hermes-achievements in the home, or plugin-data/ where
 * that exists already. */
Str achievements_folder(Arena *a, const Home *home);

/* The file in that folder, or in the other one, which is only read; false: in neither. */
MUST_CHECK bool achievements_find(Arena *a, const Home *home, const char *name, Str *ret);

/* No file: no unlocks. Text is borrowed from u->doc until unlocks_done. */
MUST_CHECK bool unlocks_load(Arena *a, const Home *home, Unlocks *ret, Err *err);
void unlocks_done(Unlocks *u);

/* A badge that is unlocked now; true where it is new, or its tier is. */
bool unlocks_note(Unlocks *u, size_t achievement, int tier, const Evidence *evidence, int64_t now);

MUST_CHECK bool unlocks_save(Arena *a, const Home *home, Unlocks *u, Err *err);

void evidence_put(JsonWriter *w, const Evidence *e); /* null where it is not known */
Evidence evidence_of(Json v);

#endif

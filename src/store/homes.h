/* homes.h - which folders hold the history.
 *
 * A home is a folder with a Hermes-shaped database: `state.db`, in our own home `talaria.db`.
 * --home DIR means that one alone. Otherwise: $HERMES_HOME (default ~/.hermes) where it exists, its
 * profiles where the setting homes.profiles asks for them, and always our own, $TALARIA_HOME
 * (default $XDG_STATE_HOME/talaria). Finding homes opens nothing: it only asks what is there. */
#ifndef TALARIA_STORE_HOMES_H
#define TALARIA_STORE_HOMES_H

#include "base/arena.h"
#include "base/err.h"

/* The last two are folders of transcripts. homes_find never gives one: a feature that counts the
 * whole history adds them to its own list (achievements/lanes.h). */
typedef enum HomeKind {
    HOME_HERMES,
    HOME_PROFILE,
    HOME_OURS,
    HOME_GIVEN,
    HOME_CLAUDE,
    HOME_CODEX
} HomeKind;

typedef struct Home {
    HomeKind kind;
    Str name;     /* "hermes", "hermes/work", "talaria"; the folder's name where it was given */
    Str path;     /* absolute */
    Str database; /* absolute, also where it does not exist yet */
    bool present; /* the database exists */
} Home;

typedef struct HomesQuery {
    const char *home; /* --home, or NULL */
    const char *data; /* --data, or NULL */
    bool profiles;
} HomesQuery;

typedef struct Homes {
    Home *all;
    size_t n;
    Home *primary; /* where shared files are written: the first of `all` */
    Str data;      /* our own home, also where --home leaves it out of `all` */
} Homes;

/* Fails where --home names no folder, or where there is no home folder of the user at all. */
MUST_CHECK bool homes_find(Arena *a, const HomesQuery *query, Homes *ret, Err *err);

/* Where Hermes' home is looked for, there or not. */
MUST_CHECK bool homes_hermes_folder(Arena *a, Str *ret, Err *err);

/* The same homes as they are now: a process that stays may be older than a database. */
Homes homes_again(Arena *a, const Homes *homes);

#endif

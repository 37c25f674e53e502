/* holders.h - which processes have a database open, told by /proc alone.
 *
 * Nothing of the database is opened: closing any descriptor of it would drop this process's locks.
 * Processes of other users cannot be looked into; they are counted. */
#ifndef TALARIA_STORE_HOLDERS_H
#define TALARIA_STORE_HOLDERS_H

#include "base/arena.h"

typedef struct Holder {
    int64_t pid;
    Str name;
    bool open;         /* has the database that lies there now */
    bool writes;       /* holds the lock of a writer */
    bool journal;      /* has its rollback journal */
    bool deleted;      /* has a database of this name that was deleted or replaced */
    bool deleted_side; /* the same of its -wal or -shm: what it writes there is lost */
} Holder;

typedef struct Holders {
    Holder *all;
    size_t n;
    size_t hidden; /* processes that this user cannot look into */
} Holders;

void holders_find(Arena *a, Str database, Holders *ret);

#endif

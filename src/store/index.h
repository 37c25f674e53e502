/* index.h - index.db: what was worked out of sessions, so that it is not worked out again.
 *
 * Everything in it can be rebuilt from the histories. So nothing here is an error to its user:
 * a damaged or newer file is removed and rebuilt with a note, and where it cannot be opened
 * at all (a full or read-only disk) the feature works without it. One thread a handle. */
#ifndef TALARIA_STORE_INDEX_H
#define TALARIA_STORE_INDEX_H

#include "base/arena.h"
#include "base/err.h"

typedef struct Index Index;
typedef struct Db Db;

/* The file itself, brought to this version, for those whose tables are in it (store/db.h). Put
 * aside and rebuilt where it is damaged or newer. */
/* Where the data folder cannot be written, a private copy of it (Db.is_private). */
MUST_CHECK Db *index_db_open(Str data_folder, Err *err);

/* It turned out to be damaged later: the next opening begins afresh. Handles must be closed
 * before. */
void index_db_remove(Str data_folder);

/* NULL where there can be none; every function below accepts that. */
Index *index_open(Str data_folder);
Index *index_close(Index *index); /* commits what was put */
AUTO_FREE(Index, index_close)

/* Facts of one session under a topic ("study 1": the number is the version of the rules), as they
 * were put with the same fingerprint. */
bool index_get(Index *index, Arena *a, Str topic, Str home, Str session, Str fingerprint, Str *ret);
void index_put(Index *index, Str topic, Str home, Str session, Str fingerprint, Str value);

/* False: there is none, or it takes nothing more (a full disk): what was put is lost. */
bool index_works(const Index *index);

/* What was put is there for others, and survives this process. */
void index_commit(Index *index);

#endif

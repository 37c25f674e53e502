/* index.h - index.db: what was worked out of sessions, so that it is not worked out again.
 *
 * Everything in it can be made anew from the histories. So nothing here is an error to its user:
 * a damaged or newer file is put aside and begun afresh with a note, and where it cannot be opened
 * at all (a full or read-only disk) the feature works without it. One thread a handle. */
#ifndef TALARIA_STORE_INDEX_H
#define TALARIA_STORE_INDEX_H

#include "base/arena.h"
#include "base/err.h"

typedef struct Index Index;

/* NULL where there can be none; every function below accepts that. */
Index *index_open(Str data_folder);
Index *index_close(Index *index); /* commits what was put */
AUTO_FREE(Index, index_close)

/* Facts of one session under a topic ("study 1": the number is the version of the rules), as they
 * were put with the same fingerprint. */
bool index_get(Index *index, Arena *a, Str topic, Str home, Str session, Str fingerprint, Str *ret);
void index_put(Index *index, Str topic, Str home, Str session, Str fingerprint, Str value);

/* What was put is there for others, and survives this process. */
void index_commit(Index *index);

#endif

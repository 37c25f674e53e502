/* calls.h - each call of the model counts once, however many sessions repeat it; inside this room
 * only.
 *
 * A fork of Claude Code holds copies of its parent's lines. Which file is the original cannot
 * always be told, so index.db keeps the tokens of every call per session that has it. One of those
 * sessions owns the call (calls that a session says it copied come last, then the one that was read
 * first), and the tokens are part of its entry's sums. When the owner goes, the next one gets them.
 *
 * Works inside the update's transaction. Cost: a few lookups per call that is new, none for
 * others. */
#ifndef TALARIA_TRANSCRIPTS_CALLS_H
#define TALARIA_TRANSCRIPTS_CALLS_H

#include "transcripts/catalogue.h"

typedef struct Calls Calls;

Calls *calls_new(Db *db);
Calls *calls_free(Calls *c);
AUTO_FREE(Calls, calls_free)

/* Remembers what an event of the session at hand says of its call. True: `full`, to be saved. */
bool calls_add(Calls *c, Str root, const Event *e);
/* Saves what was added, and adjusts the sums: of `session` in place, of others in the database. */
MUST_CHECK bool calls_save(Calls *c, Entry *session, Err *err);
void calls_drop(Calls *c); /* forgets what was added and not saved */

/* The entry is about to be deleted: its calls pass to other sessions that have them. */
MUST_CHECK bool calls_gone(Calls *c, int64_t key, Err *err);

#endif

/* handoff_outbox.h - what is to be said at a platform, and how much of it has been.
 *
 * A row under the key that names the words for ever. A piece is marked before it goes out and after: what was
 * marked once only may have arrived or not. On a Journal, so one thread. */
#ifndef TALARIA_STORE_HANDOFF_OUTBOX_H
#define TALARIA_STORE_HANDOFF_OUTBOX_H

#include "store/handoff.h"

typedef struct Outgoing {
    Str id, platform, place_json, text;
    Str first_ref; /* the platform's name of the first piece */
    int64_t sending, sent, pieces;
} Outgoing;

/* The row as it is: text and place are those of the first time. */
MUST_CHECK bool outbox_put(Journal *j, Arena *a, const Outgoing *o, Outgoing *ret, Err *err);
MUST_CHECK bool outbox_mark(Journal *j, const Outgoing *o,
                            Err *err); /* sending, sent, pieces, ref */

#endif

/* card.h - what stands at the new place first: which session this is, and where it was.
 *
 * Title, folder, branch, model and the last exchange, redacted. Costs no call of a model. */
#ifndef TALARIA_HANDOFF_CARD_H
#define TALARIA_HANDOFF_CARD_H

#include "store/homes.h"
#include "store/store.h"

typedef struct Card {
    Str title; /* of the session, and of its thread */
    Str text;
} Card;

/* ERR_NOT_FOUND: the session is gone. */
MUST_CHECK bool card_make(Arena *a, const Homes *homes, Str session_id, Card *ret, Err *err);

#endif

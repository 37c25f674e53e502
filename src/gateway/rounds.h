/* rounds.h - threads that look whenever they are called, and rest in between.
 *
 * A round does all that there is to do and says when to look again though nobody calls. A call during a round is not
 * lost: another one follows at once. Trouble of one round is told, once as long as it stays the same, and the next
 * one comes: a database that is locked or full for a while must not end the process. */
#ifndef TALARIA_GATEWAY_ROUNDS_H
#define TALARIA_GATEWAY_ROUNDS_H

#include "base/err.h"

typedef struct Rounds Rounds;

/* On the thread: ctx is its own from here on until rounds_end. *ret_wait_ms < 0: only when called. */
typedef bool RoundFn(void *ctx, int64_t *ret_wait_ms, Err *err);

MUST_CHECK Rounds *rounds_begin(RoundFn *fn, void *ctx, Err *err);
/* Waits for the round under way. */
Rounds *rounds_end(Rounds *r);
AUTO_FREE(Rounds, rounds_end)

void rounds_call(Rounds *r); /* any thread; NULL: nobody to call */

#endif

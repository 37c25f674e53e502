/* rounds.h - threads that do what there is to do whenever they are called, and rest in between.
 *
 * A round does all the work it finds and says when to look again without a call. A call during a round is not lost:
 * another round follows at once. A failed round is logged (once while the reason stays the same) and tried again: a
 * database that is locked or full for a while must not end the process. */
#ifndef TALARIA_GATEWAY_ROUNDS_H
#define TALARIA_GATEWAY_ROUNDS_H

#include "base/err.h"

typedef struct Rounds Rounds;

/* On the thread, which owns ctx until rounds_end. *ret_wait_ms < 0: only when called. */
typedef bool RoundFn(void *ctx, int64_t *ret_wait_ms, Err *err);

MUST_CHECK Rounds *rounds_begin(RoundFn *fn, void *ctx, Err *err);
/* Waits for the round that is running. */
Rounds *rounds_end(Rounds *r);
AUTO_FREE(Rounds, rounds_end)

void rounds_call(Rounds *r); /* any thread; NULL: does nothing */

#endif

/* near.h - the documents beside one that was found: what was said right before it and behind it. */
#ifndef TALARIA_RECALL_NEAR_H
#define TALARIA_RECALL_NEAR_H

#include "recall/search.h"

/* `steps` documents of the same kind further on in the same session, or back where it is negative;
 * *ret_found false: there is none. Only place, line, part, role and time are set. */
MUST_CHECK bool recall_near(Db *db, const Ranked *at, int steps, Ranked *ret, bool *ret_found,
                            Err *err);

/* Whether the agent called a tool right after this: "Let me look at the log" and the like, which
 * says less than what came of it. */
MUST_CHECK bool recall_is_narration(Db *db, const Ranked *at, bool *ret, Err *err);

#endif

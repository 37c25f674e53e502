/* turn_files.h - files that came with a message: fetched, and given to its turn.
 *
 * They are kept as those of `ask --file` are, so every runtime gets them the same way. A file that cannot be had
 * never fails the turn: agent and sender are told in a line why it was not read. A turn that is made again after a
 * death finds what was kept before. */
#ifndef TALARIA_GATEWAY_TURN_FILES_H
#define TALARIA_GATEWAY_TURN_FILES_H

#include "gateway/turns_inside.h"

/* What the message says of them, into the job's arena. */
void turn_files_keep(TurnJob *job, const Inbound *in);

/* Files and text of the wish, whose conversation is known: its own, and those of the message before where that was
 * interrupted. Waits for the platform, LIMIT_INBOUND_FILES_MS at most and one call. False only where everything ends: ERR_INTERRUPTED. */
MUST_CHECK bool turn_files_fetch(Turns *t, Arena *a, const TurnJob *job, ChatRequest *request,
                                 Err *err);

#endif

/* board.h - handoffs and platforms as people look at them: how far, since when, how healthy.
 *
 * Reads only what others write. A BoardMark is for whoever wants to know whether to look again: it
 * costs a few steps in indexes, however much there is. On a OwnStore, so one thread; text lives in
 * the arena. */
#ifndef TALARIA_HANDOFF_BOARD_H
#define TALARIA_HANDOFF_BOARD_H

#include "handoff/handoff.h"

/* When a handoff came to a state. */
typedef struct BoardStep {
    Str state;
    int64_t at_ms;
} BoardStep;

/* In the order in which they came. */
MUST_CHECK bool board_steps(OwnStore *own, Arena *a, Str handoff_id, BoardStep **ret, size_t *ret_n,
                            Err *err);

/* What waits at a platform, in either direction. */
typedef struct BoardQueue {
    int64_t inbox, outbox;
    int64_t oldest_ms; /* since when the oldest of them does; 0: none */
} BoardQueue;

MUST_CHECK bool board_queue(OwnStore *own, Str platform, BoardQueue *ret, Err *err);

/* X(name, what it is made of). Equal numbers: nothing has changed. */
#define BOARD_MARKS(X)                                                                             \
    X(steps, "SELECT ifnull(max(seq), 0) FROM handoff_step")                                       \
    X(handoffs, "SELECT ifnull(max(updated_ms), 0) FROM handoff")                                  \
    X(links, "SELECT ifnull(sum(since_ms + error_ms + length(link)), 0) FROM platform_state")      \
    X(homes, "SELECT ifnull(sum(verified_ms), 0) FROM home_channel")                               \
    X(owners, "SELECT ifnull(sum(owner_fence), 0) FROM session_owner")                             \
    X(dead, "SELECT count(*) FROM outbox WHERE state = 'dead'")                                    \
    X(parked, "SELECT count(*) FROM inbox WHERE state = 'parked'")                                 \
    X(threads, "SELECT count(*) FROM local_thread")                                                \
    X(messages, "SELECT ifnull(max(id), 0) FROM local_message")                                    \
    X(edited, "SELECT ifnull(max(edited_ms), 0) FROM local_message")                               \
    X(typing, "SELECT ifnull(sum(until_ms), 0) FROM local_typing")                                 \
    X(talks, "SELECT ifnull(max(updated_ms), 0) FROM conversation")

typedef struct BoardMark {
#define X(name, sql) int64_t name;
    BOARD_MARKS(X)
#undef X
} BoardMark;

MUST_CHECK bool board_mark(OwnStore *own, BoardMark *ret, Err *err);

#endif

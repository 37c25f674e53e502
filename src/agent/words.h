/* words.h - a session as it would be sent to a model now: of its newest part, without what compaction put away,
 * every call with its result. Text lives in the arena. */
#ifndef TALARIA_AGENT_WORDS_H
#define TALARIA_AGENT_WORDS_H

#include "agent/conversations.h"
#include "runtimes/thread.h"
#include "store/store.h"

typedef struct SessionWords {
    Thread thread;   /* [0] is an empty message of the system's */
    ChatTurn *turns; /* what was said in it, without tools */
    size_t n_turns;
} SessionWords;

MUST_CHECK bool words_load(Store *store, Arena *a, const Session *tip, SessionWords *ret, Err *err);
void words_from(Arena *a, Message *messages, size_t n, SessionWords *ret);

/* Leaves out of the thread what does not fit into so many tokens: first the middle of long results, then old
 * calls with their results, then the oldest turns. The turns stay as they are. */
void words_fit(SessionWords *words, size_t tokens);

#endif

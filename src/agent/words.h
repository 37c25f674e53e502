/* words.h - a session as it would be sent to a model now: its newest part without compacted
 * messages, every tool call with its result. Text lives in the arena. */
#ifndef TALARIA_AGENT_WORDS_H
#define TALARIA_AGENT_WORDS_H

#include "agent/conversations.h"
#include "runtimes/thread.h"
#include "store/store.h"

typedef struct SessionWords {
    Thread thread;   /* [0] is an empty system message */
    ChatTurn *turns; /* its messages, without tools */
    size_t n_turns;
} SessionWords;

MUST_CHECK bool words_load(Store *store, Arena *a, const Session *tip, SessionWords *ret, Err *err);
void words_from(Arena *a, Message *messages, size_t n, SessionWords *ret);

/* Cuts the thread to so many tokens: first the middle of long results, then old calls with their
 * results, then the oldest turns. `turns` does not change. */
void words_fit(SessionWords *words, size_t tokens);

#endif

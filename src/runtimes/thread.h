/* thread.h - the messages of a conversation with a model, and the handle that they are kept in.
 *
 * The handle is one JSON object of at most LIMIT_RUN_HANDLE bytes. Where the conversation is
 * longer, or than the model's window, its oldest turns are left out and counted; the model is
 * told. */
#ifndef TALARIA_RUNTIMES_THREAD_H
#define TALARIA_RUNTIMES_THREAD_H

#include "base/arena.h"
#include "base/err.h"
#include "model/model.h"
#include "runtimes/runtime.h"

typedef struct Thread {
    Arena *arena;           /* of all its text */
    ModelMessage *messages; /* [0] is the system's, of this turn alone; it is not kept */
    size_t n, cap;
    int64_t dropped; /* turns that were left out */
    size_t passing;  /* place of a message of ours that is not kept; 0: there is none */
} Thread;

/* Whether it was written by thread_handle: no other program's state looks like it by chance. */
bool thread_is_handle(Str handle);

/* From a handle, or from the turns of the request where there is none. ERR_CORRUPT: no such
 * handle. */
MUST_CHECK bool thread_open(Thread *t, Arena *a, const RuntimeRequest *r, Err *err);
void thread_add(Thread *t, ModelMessage message); /* text is borrowed from the arena */
/* Leaves out the oldest turns until the rest is at most so many tokens; the last one stays. */
void thread_fit(Thread *t, size_t tokens);
/* Empties what those tools found in earlier turns: it was for somebody else. */
void thread_withhold(Thread *t, const RuntimeTool *tools, size_t n);
Str thread_handle(const Thread *t, Arena *a);

#endif

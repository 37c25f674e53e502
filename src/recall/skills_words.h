/* skills_words.h - a request as the words of it that say something.
 *
 * A request is prose: greetings, "please", "can you". What is left without those is looked up, any
 * of it. The words are the index's own (recall/terms.h), each once, in the order of the request; a
 * request longer than the most that is asked for continues with its first words. Pure,
 * thread-safe. */
#ifndef TALARIA_RECALL_SKILLS_WORDS_H
#define TALARIA_RECALL_SKILLS_WORDS_H

#include "recall/terms.h"

#include "base/arena.h"

typedef struct Words {
    Str *all; /* as the index has them */
    size_t n;
} Words;

Words words_of(Arena *a, Str text, size_t max);

/* "w1" OR "w2" OR ...: as FTS5 takes it; empty where there are none. */
Str words_any(Arena *a, const Words *w);

/* How many of the words stand in the text, and which, for people: "cache, retry". `ret_which` may
 * be NULL. */
size_t words_in(Arena *a, const Words *w, Str text, Str *ret_which);

/* Whether `have` of `of` words is enough to say that something is about the request: all of one or
 * two, else two of three, and a third of many. */
bool words_enough(size_t have, size_t of);

#endif

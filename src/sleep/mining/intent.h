/* intent.h - which sessions ask for the same thing, said in other words.
 *
 * Requests are compared by their meaningful words (paths, versions and numbers taken out, endings cut,
 * CJK in pairs), each weighed by how rare it is. A request joins the commonest one that it is near
 * enough to, so nothing is chained together by neighbours of neighbours; groups whose people insisted
 * on the same thing, in the same words, are one. Within a project only. */
#ifndef TALARIA_SLEEP_MINING_INTENT_H
#define TALARIA_SLEEP_MINING_INTENT_H

#include "base/arena.h"

typedef struct Intent {
    Str project;
    Str request;
    const Str *demands; /* what was insisted on: see intent_demand */
    size_t n_demands;
    const Str *marks; /* what only this task has: whoever shares one asks for the same */
    size_t n_marks;
} Intent;

/* ret[i] is the group of intents[i]: groups are numbered from 0 in order of their first member. */
void intents_group(Arena *a, const Intent *intents, size_t n, size_t *ret, size_t *ret_groups);

/* What a correction insists on, in lower case: the words behind its colon ("you forgot the rule: one
 * commit a package"), in Chinese and Japanese also behind its comma. Empty: it only complains. */
Str intent_demand(Arena *a, Str correction);

/* Sorted hashes of the meaningful words, each once. */
typedef struct IntentWords {
    uint64_t *hashes;
    size_t n;
} IntentWords;
IntentWords intent_words(Arena *a, Str request);

uint64_t hash_str(Str s);
uint64_t hash_mix(uint64_t a, uint64_t b);

#endif

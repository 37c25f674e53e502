/* intent.h - grouping sessions that ask for the same thing in different words.
 *
 * Requests are compared by their meaningful words (without paths, versions and numbers, endings
 * cut, CJK in pairs), weighted by rarity. A request joins the most common one that is near enough,
 * so groups do not grow by neighbours of neighbours; groups with the same demand, in the same
 * words, are joined. Within a project only. */
#ifndef TALARIA_SLEEP_MINING_INTENT_H
#define TALARIA_SLEEP_MINING_INTENT_H

#include "base/arena.h"

typedef struct Intent {
    Str project;
    Str request;
    const Str *demands; /* of the corrections: see intent_demand */
    size_t n_demands;
    const Str *marks; /* specific to a task: intents that share one are the same task */
    size_t n_marks;
} Intent;

/* ret[i] is the group of intents[i]: groups are numbered from 0 in order of their first member. */
void intents_group(Arena *a, const Intent *intents, size_t n, size_t *ret, size_t *ret_groups);

/* The demand of a correction, in lower case: the words after its colon ("you forgot the rule: one
 * commit a package"), in Chinese and Japanese also after its comma. Empty: it only complains. */
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

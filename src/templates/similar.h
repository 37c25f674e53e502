/* similar.h - how much two texts are about the same thing.
 *
 * Words (lower case, without the commonest English ones) and pairs of neighbouring CJK characters,
 * each weighted by 1 + ln of how often it occurs; the cosine of the two. Only the first
 * 32 KiB of a text count. */
#ifndef TALARIA_TEMPLATES_SIMILAR_H
#define TALARIA_TEMPLATES_SIMILAR_H

#include "base/arena.h"

typedef struct WordBag {
    uint64_t *words; /* hashes, ascending */
    double *weights;
    size_t n;
    double length;
} WordBag;

WordBag wordbag_of(Arena *a, Str text);

/* 0: nothing in common; 1: the same words. 0 where either is empty. */
double wordbag_similarity(const WordBag *a, const WordBag *b);

#endif

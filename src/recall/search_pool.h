/* search_pool.h - documents that a search has come across, with how much of each atom they have.
 *
 * A hash table from document to one weight an atom. Grows as it is filled; emptied, it keeps its
 * memory for the next search. */
#ifndef TALARIA_RECALL_SEARCH_POOL_H
#define TALARIA_RECALL_SEARCH_POOL_H

#include "base/arena.h"

typedef struct Pool {
    int64_t *rows;
    float *weights; /* `atoms` a document */
    uint32_t *slots;
    size_t n, cap, n_slots, atoms;
} Pool;

void pool_clear(Pool *p, size_t atoms);
void pool_add(Pool *p, int64_t row, size_t atom, float weight);
void pool_done(Pool *p);

static inline const float *pool_weights(const Pool *p, size_t i)
{
    return p->weights + i * p->atoms;
}

#endif

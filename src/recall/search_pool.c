/* Flat arrays that every search uses again: a table of separate entries (uthash) would allocate one
 * for each of the hundred thousand rows that a common word finds. */
#include "recall/search_pool.h"

#include "base/hash.h"

enum { FIRST_CAP = 4096 };

static size_t slot_of(const Pool *p, int64_t row)
{
    return (size_t)hash_number(0, (uint64_t)row) & (p->n_slots - 1);
}

static void place_all(Pool *p)
{
    memset(p->slots, 0, p->n_slots * sizeof *p->slots);
    for (size_t i = 0; i < p->n; i++) {
        size_t at = slot_of(p, p->rows[i]);

        while (p->slots[at])
            at = (at + 1) & (p->n_slots - 1);
        p->slots[at] = (uint32_t)i + 1;
    }
}

static void grow(Pool *p)
{
    p->cap = p->cap ? p->cap * 2 : FIRST_CAP;
    p->n_slots = p->cap * 2;
    p->rows = mem_resize(p->rows, p->cap, sizeof *p->rows);
    p->weights = mem_resize(p->weights, p->cap * p->atoms, sizeof *p->weights);
    p->slots = mem_resize(p->slots, p->n_slots, sizeof *p->slots);
    place_all(p);
}

void pool_clear(Pool *p, size_t atoms)
{
    if (p->atoms != atoms)
        pool_done(p);
    p->atoms = atoms;
    p->n = 0;
    if (p->slots)
        memset(p->slots, 0, p->n_slots * sizeof *p->slots);
}

void pool_add(Pool *p, int64_t row, size_t atom, float weight)
{
    size_t at, i;

    if (p->n == p->cap)
        grow(p);
    at = slot_of(p, row);
    while (p->slots[at] && p->rows[p->slots[at] - 1] != row)
        at = (at + 1) & (p->n_slots - 1);
    if (!p->slots[at]) {
        i = p->n++;
        p->rows[i] = row;
        memset(p->weights + i * p->atoms, 0, p->atoms * sizeof *p->weights);
        p->slots[at] = (uint32_t)i + 1;
    }
    i = p->slots[at] - 1;
    p->weights[i * p->atoms + atom] += weight;
}

void pool_done(Pool *p)
{
    mem_free(p->rows);
    mem_free(p->weights);
    mem_free(p->slots);
    *p = (Pool){ 0 };
}

/* stamp.h - what many files look like from outside, in two words.
 *
 * Each file's name and what stat says of it are hashed, and the hashes added up: so the order in
 * which files are met does not matter. Equal stamps: nothing was written, added, moved or
 * removed. */
#ifndef TALARIA_TRANSCRIPTS_STAMP_H
#define TALARIA_TRANSCRIPTS_STAMP_H

#include "base/hash.h"

typedef struct Stamp {
    uint64_t a, b; /* both 0: not to be relied upon */
} Stamp;

/* `hash` is of all that is to be said of one file. */
static inline void stamp_add(Stamp *s, uint64_t hash)
{
    s->a += hash;
    s->b += hash_number(hash, 0xd6e8feb86659fd93u);
}

static inline void stamp_join(Stamp *s, Stamp other)
{
    s->a += other.a;
    s->b += other.b;
}

static inline bool stamp_is_sound(Stamp s)
{
    return s.a || s.b;
}

#endif

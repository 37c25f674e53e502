/* hash.h - the hash functions of the program; tables use uthash, which brings its own.
 *
 * hash_fnv is a published function (FNV-1a, 64 bits): for names and digests that files keep. The
 * others are faster and may change with a version: for marks, stamps and sets that are rebuilt when
 * they do not match. None of them resists an attacker who chooses the bytes; text/sha256.h does. */
#ifndef TALARIA_BASE_HASH_H
#define TALARIA_BASE_HASH_H

#include "base/str.h"

#define HASH_START 0xcbf29ce484222325u

static inline uint64_t hash_fnv(uint64_t hash, Str s)
{
    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * 0x100000001b3u;
    return hash;
}

/* Eight bytes at a time. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const char *p = bytes;
    uint64_t word;

    for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
        memcpy(&word, p, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    word = 0;
    if (n)
        memcpy(&word, p, n);
    hash = (hash ^ word ^ (uint64_t)n << 56) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static inline uint64_t hash_text(uint64_t hash, Str s)
{
    return hash_bytes(hash, s.p, s.n);
}

static inline uint64_t hash_number(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 31;
}

#endif

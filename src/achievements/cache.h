/* cache.h - what was counted of a home, in index.db.
 *
 * Sessions with neighbouring rowids make a chunk; each chunk is one value, which says everything of
 * its records and needs no other. Beside them a head: how far the messages were read, the mark of
 * every session, and the sum of every chunk. Thus the totals and what changed are known from the
 * head alone. It is stored in parts of 32 chunks, so that a changed session costs its chunk, its
 * part and a short list. All of it can be counted again: whatever does not read well is no cache at
 * all. Text is lent from the bytes. */
#ifndef TALARIA_ACHIEVEMENTS_CACHE_H
#define TALARIA_ACHIEVEMENTS_CACHE_H

#include "achievements/sum.h"
#include "store/homes.h"
#include "store/index.h"

enum { CHUNK_SESSIONS = 64, PART_CHUNKS = 32 };

/* Raise it when a metric is counted differently. */
enum { RULES_VERSION = 6 };

static inline int64_t chunk_number(int64_t rowid)
{
    return rowid >> 6;
}
_Static_assert(CHUNK_SESSIONS == 1 << 6, "of a shift");

static inline int64_t part_number(int64_t chunk)
{
    return chunk >> 5;
}
_Static_assert(PART_CHUNKS == 1 << 5, "of a shift");

typedef struct SessionMark {
    int64_t rowid;
    uint64_t mark;
} SessionMark;

typedef struct ChunkSum {
    int64_t number;
    const Sum *sum;
} ChunkSum;

typedef struct CacheHead {
    int64_t last_message; /* the newest that was seen */
    uint64_t zone;        /* of the sums */
    SessionMark *marks;   /* in order of the rowids */
    size_t n_marks;
    ChunkSum *chunks; /* in order of the numbers */
    size_t n_chunks;
} CacheHead;

/* Where it is stored: how sessions were counted, and of which home. */
typedef struct CacheKey {
    Str topic, home;
} CacheKey;

/* False: there is none, or none of this version. */
MUST_CHECK bool cache_head(Index *index, Arena *a, CacheKey key, CacheHead *ret);
/* changed: the parts that are not in the index as they are, ascending. */
void cache_put_head(Index *index, CacheKey key, const CacheHead *head, const int64_t *changed,
                    size_t n_changed);

/* Records in order of the rowids; all of them belong to the table, which the arena owns. */
MUST_CHECK bool cache_chunk(Index *index, Arena *a, CacheKey key, int64_t number, Record **ret,
                            size_t *ret_n, ToolTable **ret_tools);
void cache_put_chunk(Index *index, CacheKey key, int64_t number, const Record *const *records,
                     size_t n, const ToolTable *tools);

/* Every record of the homes whose bit is set, in list order: newest first, the earlier home where
 * two are equal. */
Record *cache_records(Index *index, Arena *a, Str topic, const Homes *homes, uint64_t which,
                      size_t *ret_n);
void records_sort(Record *records, size_t n);

/* -- as bytes -- */

/* Of a head or a part of one. */
void head_pack(const CacheHead *head, Buf *out);
MUST_CHECK bool head_unpack(Arena *a, Str bytes, CacheHead *ret);
void chunk_pack(const Record *const *records, size_t n, const ToolTable *tools, Buf *out);
MUST_CHECK bool chunk_unpack(Arena *a, Str bytes, Record **ret, size_t *ret_n,
                             ToolTable **ret_tools);

#endif

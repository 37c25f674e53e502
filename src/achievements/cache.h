/* cache.h - the records of a home, packed into one blob and back.
 *
 * Sources, models and tools stand in it once; everything else of a record is lent from the bytes, so
 * that thousands of records cost little to read. All of it can be counted again: whatever does not
 * read well is no cache at all. */
#ifndef TALARIA_ACHIEVEMENTS_CACHE_H
#define TALARIA_ACHIEVEMENTS_CACHE_H

#include "achievements/record.h"

typedef struct RecordCache {
    Record *all; /* in list order, newest first */
    size_t n;
    int64_t last_message; /* the newest message that was seen */
    ToolTable tools;
    size_t at;            /* where the next one asked for is expected */
    const Record **by_id; /* made at the first that is not there */
} RecordCache;

/* In list order. All records belong to the table. */
void cache_pack(const Record *const *records, size_t n, int64_t last_message,
                const ToolTable *tools, Buf *out);

/* False: not of this version, or damaged. Text is lent from bytes. */
MUST_CHECK bool cache_unpack(Arena *a, Str bytes, RecordCache *ret);

/* Asked for in list order nearly every one is found at once. NULL: not known. */
const Record *cache_find(Arena *a, RecordCache *cache, Str id);

#endif

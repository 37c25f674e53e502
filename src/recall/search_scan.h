/* search_scan.h - a text as it is, also in the middle of words; inside this room only. */
#ifndef TALARIA_RECALL_SEARCH_SCAN_H
#define TALARIA_RECALL_SEARCH_SCAN_H

#include "recall/search_state.h"
#include "recall/snippet.h"

typedef struct Scan {
    Recall *r;
    Catalogue *c;
    DocReader *reader;
    Arena *arena;
    const SearchQuery *query;
    Str literal;
    size_t max;
    int64_t until; /* monotonic milliseconds */
    SearchHit *hits;
    size_t n;
    size_t sessions; /* looked through */
    bool more, partial;
} Scan;

MUST_CHECK bool search_scan(Scan *s, Err *err);

#endif

/* search_fold.h - which hits a person is shown: of passages that say nearly the same, one.
 *
 * The terminal and the page show these; --json and programs get every hit. */
#ifndef TALARIA_RECALL_SEARCH_FOLD_H
#define TALARIA_RECALL_SEARCH_FOLD_H

#include "recall/search.h"

/* A search asks for so many times more hits, as several become one. */
enum { SEARCH_FOLDED = 4 };

typedef struct SearchFold {
    bool *shown;       /* one a hit */
    size_t n, similar; /* shown; left out because another one says it */
} SearchFold;

/* At most `max` passages, at most `each` of a session (0: any number). What was said is taken
 * first, so that a tool's echo of it is the one that is left out. */
SearchFold search_fold(Arena *a, const SearchAnswer *answer, size_t max, size_t each);

/* How many hits to search for, so that `max` are left. */
size_t search_fold_max(size_t max);

/* Leaves only those that are shown, in their order. */
void search_fold_apply(SearchAnswer *answer, const SearchFold *fold);

#endif

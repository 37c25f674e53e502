/* past.h - the sessions that harvest and study look through, of every program, and how to tell that
 * one is as it was: index.db keeps the results under that mark. */
#ifndef TALARIA_TEMPLATES_PAST_H
#define TALARIA_TEMPLATES_PAST_H

#include "recall/history.h"
#include "store/index.h"

typedef struct Past {
    History *history;
    Store *store;
    Index *index; /* may be NULL: then everything is read */
    Str source;   /* an origin's name, or Hermes' own; empty: all */
} Past;

typedef bool PastFn(void *ctx, Arena *scratch, const HistoryItem *item, Err *err);

/* Every session, archived ones too, sub-agents' runs not; the scratch is cleared behind each. */
MUST_CHECK bool past_each(const Past *past, const char *what, PastFn *fn, void *ctx, Err *err);

/* The home under which the index keeps facts of the session, and the mark of one part. */
Str past_home(const Past *past, const HistoryItem *item);
MUST_CHECK bool past_mark(const Past *past, Arena *a, const HistoryItem *item, size_t part,
                          Str *ret, Err *err);

#endif

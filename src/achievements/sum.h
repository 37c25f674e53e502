/* sum.h - what some sessions come to together.
 *
 * Sums are made of the records of a chunk of sessions and kept with them; the totals of a history
 * are folded from the sums of its chunks. So one changed session costs the sum of its chunk,
 * however long the history is. Text is borrowed from the records, or from the bytes a sum was
 * unpacked from. */
#ifndef TALARIA_ACHIEVEMENTS_SUM_H
#define TALARIA_ACHIEVEMENTS_SUM_H

#include "achievements/record.h"

/* The session with the largest value: the first in list order (started_at descending, rowid). */
typedef struct Peak {
    int64_t value, message, rowid;
    double started_at;
    Str id, title;
} Peak;

typedef struct Sum {
    int64_t sessions, weekend, night, local;
    int64_t value[MAX_AGGREGATES]; /* of the sums alone */
    Peak peaks[MAX_PEAKS];         /* in the catalogue's order; none where there is no session */
    Str *models;                   /* distinct, those that count */
    size_t n_models;
} Sum;

/* Night and weekend are those of the process's time zone. */
typedef struct Hours {
    bool weekend, night;
} Hours;

Hours hours_of(double started_at);
Sum sum_of(Arena *a, const Record *const *records, size_t n);

void sum_pack(Buf *out, const Sum *sum);
void sum_unpack(Arena *a, Unpacker *u, Sum *ret);

/* Differs where the same moment may fall on another day or hour: then sums are made again. */
uint64_t sum_zone(void);

/* -- totals -- */

typedef struct Totals {
    int64_t value[MAX_AGGREGATES];
    Peak peaks[MAX_PEAKS]; /* where there is any session */
    int64_t sessions;
    bool before; /* something was folded in of an earlier home */
    Str *models;
    size_t n_models, cap_models;
} Totals;

/* Begin with {0}; homes in order, totals_next_home between them; the end fills what follows of
 * all. */
void totals_add(Arena *a, Totals *t, const Sum *sum);
void totals_next_home(Totals *t);
void totals_end(Totals *t);

/* Of one record alone. */
void totals_of(const Record *r, Totals *ret);

#endif

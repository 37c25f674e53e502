/* adopt.h - proposals put in place, and taken back.
 *
 * One adoption or undo at a time for a home, and one for a live document whatever the home: both by
 * locks that die with their holder. What an earlier one left half done is rolled back first. Then every
 * row of the night is checked again, not only the chosen ones, against its pins and against the disk;
 * then all chosen documents change as one (journal.h).
 *
 * The selection is exclusive: named skills, all skills, or the "legacy" pair, which is the skill that
 * sleep keeps by itself and the memory beside it. Without any, a night that proposes nothing but that
 * pair is taken whole; a night with rows of skills is ambiguous (ERR_USAGE). */
#ifndef TALARIA_SLEEP_ADOPTION_ADOPT_H
#define TALARIA_SLEEP_ADOPTION_ADOPT_H

#include "base/file.h"
#include "sleep/adoption/journal.h"
#include "sleep/adoption/receipts.h"

typedef struct Selection {
    Str night; /* empty: see adopt() and undo() */
    const Str *skills;
    size_t n_skills;
    bool all_skills, legacy;
} Selection;

typedef struct Adopted {
    Str night, folder;
    bool legacy;
    Receipt *receipts; /* the rows that were written */
    size_t n;
    Recovery recovery; /* of what had been interrupted before */
} Adopted;

/* Without a night: the newest that proposes something and was not rejected, else the newest. dry_run checks everything
 * and changes nothing. */
MUST_CHECK bool adopt(Arena *a, const SleepHome *home, const Selection *selection, bool dry_run,
                      Adopted *ret, Err *err);

/* Puts back what the last adoption changed, or the last one that the selection names. Fails with
 * ERR_CONFLICT where a live document is no longer what was adopted. */
MUST_CHECK bool undo(Arena *a, const SleepHome *home, const Selection *selection, bool dry_run,
                     Adopted *ret, Err *err);

/* Beside the manifest of a night whose managed skill and memory are to be adopted without a review. */
#define ADOPT_WISH ".auto-adopt"

/* Adopts these two; the wish is fulfilled, or given up. */
MUST_CHECK bool adopt_managed(Arena *a, const SleepHome *home, Str night, Adopted *ret, Err *err);
/* The same for the last night, where it died before it could. */
MUST_CHECK bool adopt_left_over(Arena *a, const SleepHome *home, Adopted *ret, bool *ret_done,
                                Err *err);

/* Rolls back what was interrupted, unless an adoption is under way. For whoever only looks. */
MUST_CHECK bool adopt_recover(Arena *a, const SleepHome *home, Recovery *ret, Err *err);

/* -- for adopt.c and undo.c -------------------------------------------------------------------- */

MUST_CHECK bool selection_check(const Selection *selection, Err *err);
/* Takes the home's lock and rolls back. */
MUST_CHECK FileLock *adopt_begin(Arena *a, const SleepHome *home, Recovery *ret, Err *err);

typedef struct TargetLocks TargetLocks;
MUST_CHECK TargetLocks *target_locks_take(Arena *a, const Change *changes, size_t n, Err *err);
TargetLocks *target_locks_release(TargetLocks *locks);
AUTO_FREE(TargetLocks, target_locks_release)

/* The highest number of any receipt, and 1 more. */
MUST_CHECK bool next_number(Arena *a, const SleepHome *home, int64_t *ret, Err *err);

#endif

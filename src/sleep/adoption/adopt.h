/* adopt.h - applying proposals to live documents, and undoing that.
 *
 * adopt() and undo() first roll back what an interrupted one left behind. Then they check every row
 * of the night, not only the selected ones, against its hashes and against the disk; then all
 * selected documents change as one transaction (journal.h, which has the locks).
 *
 * A selection names skills, all skills, or the "legacy" pair: the skill that sleep manages and the
 * memory beside it. An empty selection means that pair, if the night proposes nothing else; for a
 * night that proposes skills it is ambiguous (ERR_USAGE). */
#ifndef TALARIA_SLEEP_ADOPTION_ADOPT_H
#define TALARIA_SLEEP_ADOPTION_ADOPT_H

#include "sleep/adoption/journal.h"
#include "sleep/adoption/receipts.h"

typedef struct Selection {
    Str night; /* may be empty: see adopt() and undo() */
    const Str *skills;
    size_t n_skills;
    bool all_skills, legacy;
} Selection;

typedef struct Adopted {
    Str night, folder;
    bool legacy;
    Receipts receipts; /* the rows that were written */
    Recovery recovery; /* of what had been interrupted before */
} Adopted;

/* Without a night: the newest that proposes something and was not rejected, else the newest.
 * dry_run checks everything and changes nothing. */
MUST_CHECK bool adopt(Arena *a, const SleepHome *home, const Selection *selection, bool dry_run,
                      Adopted *ret, Err *err);

/* Restores what the last adoption changed, or the last one that the selection names. ERR_CONFLICT
 * if a live document is no longer what was adopted. */
MUST_CHECK bool undo(Arena *a, const SleepHome *home, const Selection *selection, bool dry_run,
                     Adopted *ret, Err *err);

/* File beside the manifest of a night whose managed skill and memory are to be adopted without
 * review. */
#define ADOPT_REQUEST ".auto-adopt"

/* Adopts these two. The request is removed once it was tried, whatever the result. */
MUST_CHECK bool adopt_managed(Arena *a, const SleepHome *home, Str night, Adopted *ret, Err *err);
/* The same for the last night, if it died before it could. */
MUST_CHECK bool adopt_left_over(Arena *a, const SleepHome *home, Adopted *ret, bool *ret_done,
                                Err *err);

#endif

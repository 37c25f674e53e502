/* receipts.h - what was adopted, and what was taken back.
 *
 * A night's receipts are two lists, adopted_skills.json and adopted_legacy.json, that only grow: an
 * undo is a row of its own. The last row of a document says whether it is adopted now. Rows of one
 * command share its number; numbers go up over all nights, so that the last adoption is known whatever
 * the clock said. */
#ifndef TALARIA_SLEEP_ADOPTION_RECEIPTS_H
#define TALARIA_SLEEP_ADOPTION_RECEIPTS_H

#include "sleep/adoption/manifest.h"

typedef struct Receipt {
    bool undo;
    ItemKind kind;
    Str night; /* whose folder it was read from; not in the file */
    Str name;  /* of the skill; of memory its file's name */
    Str live_path;
    Str sha256_before, sha256_after; /* "" where there was, or is, no file */
    Str backup_path;                 /* below the night's folder; "" where there was no file */
    Str *created;                    /* folders that the adoption made, outermost first */
    size_t n_created;
    int64_t number; /* of the command that wrote it */
    Str at;         /* 2026-11-15T03:17:00Z */
} Receipt;

typedef struct Receipts {
    Receipt *all;
    size_t n;
} Receipts;

/* "adopted_skills.json" or "adopted_legacy.json". */
Str receipts_file(ItemKind kind);

/* Both files of a night, skills first; none is no failure. */
MUST_CHECK bool receipts_read(Arena *a, Str folder, Str night, Receipts *ret, Err *err);

/* The JSON of the file for `kind` with more rows at its end. */
void receipts_put(Buf *out, const Receipts *old, const Receipt *more, size_t n, ItemKind kind);

/* One row, as in the file. */
void receipt_put(JsonWriter *w, const Receipt *r);

/* The row by which a document is adopted now; NULL where it is not. */
const Receipt *receipt_active(const Receipts *r, ItemKind kind, Str name);

#endif

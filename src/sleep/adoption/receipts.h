/* receipts.h - which proposals were adopted, and which adoptions were undone.
 *
 * A night's receipts are two lists, adopted_skills.json and adopted_legacy.json, that only grow: an
 * undo appends a row. The last row of a document says whether it is adopted now. All rows of one
 * command have the same number; numbers increase over all nights, so the last adoption is known
 * even if the clock was wrong. */
#ifndef TALARIA_SLEEP_ADOPTION_RECEIPTS_H
#define TALARIA_SLEEP_ADOPTION_RECEIPTS_H

#include "sleep/adoption/manifest.h"

typedef struct Receipt {
    bool undo;
    ItemKind kind;
    Str night; /* whose folder it was read from; not in the file */
    Str name;  /* of the skill; for memory, the name of its file */
    Str live_path;
    Str sha256_before, sha256_after; /* "" if the file did not exist */
    Str backup_path;                 /* below the night's folder; "" if there was no file */
    StrList created;                 /* folders that the adoption made, outermost first */
    int64_t number;                  /* of the command that wrote it */
    Str at;                          /* 2026-11-15T03:17:00Z */
} Receipt;

typedef LIST_OF(Receipt) Receipts;

/* "adopted_skills.json" or "adopted_legacy.json". */
Str receipts_file(ItemKind kind);

/* Reads both files of a night, skills first; a missing file has no rows. */
MUST_CHECK bool receipts_read(Arena *a, Str folder, Str night, Receipts *ret, Err *err);

/* The JSON of the file for `kind` with more rows at its end. */
void receipts_put(Buf *out, const Receipts *old, const Receipts *more, ItemKind kind);

/* One row, as in the file. */
void receipt_put(JsonWriter *w, const Receipt *r);

/* The row by which a document is adopted now; NULL if it is not. */
const Receipt *receipt_active(const Receipts *r, ItemKind kind, Str name);

#endif

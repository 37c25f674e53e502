/* edits.h - bounded changes to the learned rules of a document.
 *
 * add, delete, replace, in order. An anchor is part of exactly one rule, a rule's whole text, or its
 * id; one that fits several rules changes none. What could not be applied says why. Pure. */
#ifndef TALARIA_SLEEP_LEARNING_EDITS_H
#define TALARIA_SLEEP_LEARNING_EDITS_H

#include "sleep/task/document.h"

typedef struct EditsApplied {
    Str text; /* the document afterwards; its own bytes where nothing was applied */
    EditRecords applied, unmatched;
    StrList why; /* of each unmatched one */
} EditsApplied;

/* note: what new rules come from; its id is set for each. NULL: rules are written without a note.
 * False only for a document that cannot be parsed. */
MUST_CHECK bool edits_apply(Arena *a, Str text, const EditRecords *edits, const RuleNote *note,
                            EditsApplied *ret, Err *err);

/* Two edits that say the same: operation, content and anchor, without regard to case and blanks. */
Str edit_key(Arena *a, const EditRecord *edit);

#endif

/* edits.h - applying edits to the learned rules of a document.
 *
 * Operations are add, delete and replace, in order. An anchor is part of exactly one rule, a rule's
 * whole text, or its id; an anchor that fits several rules changes none. Edits that could not be
 * applied come with a reason. Pure. */
#ifndef TALARIA_SLEEP_LEARNING_EDITS_H
#define TALARIA_SLEEP_LEARNING_EDITS_H

#include "sleep/task/document.h"

typedef struct EditsApplied {
    Str text; /* the document afterwards; unchanged if nothing was applied */
    EditRecords applied, unmatched;
    StrList why; /* of each unmatched one */
} EditsApplied;

/* note: the origin of new rules; the id is set for each. NULL: rules without a note. False only if
 * the document cannot be parsed. */
MUST_CHECK bool edits_apply(Arena *a, Str text, const EditRecords *edits, const RuleNote *note,
                            EditsApplied *ret, Err *err);

/* Equal for two edits with the same operation, content and anchor, ignoring case and blanks. */
Str edit_key(Arena *a, const EditRecord *edit);

#endif

/* rejected.h - what earlier nights learned about edits, so that no night repeats another's mistake.
 *
 * An edit is known as "rejected", with the reason, or "pending": it did no harm but was not enough by
 * itself, and is tried again together with what the next night proposes. After REJECTED_TRIES nights
 * without effect a pending edit is rejected too. "kept" is a rule that was looked at and may stay. The
 * list is part of the night's state. */
#ifndef TALARIA_SLEEP_LEARNING_REJECTED_H
#define TALARIA_SLEEP_LEARNING_REJECTED_H

#include "sleep/learning/edits.h"

enum { REJECTED_TRIES = 3, REJECTED_MOST = 300, PENDING_MOST = 8 };

/* The known edit that says the same, whatever document it was for; NULL: none. */
KnownEdit *rejected_find(Arena *a, const KnownEdits *known, const EditRecord *edit);

void rejected_add(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason);
/* One more night in which it did no harm and no good. */
void pending_add(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason);
/* A rule that was found helpful: it need not be looked at again soon. */
void rule_kept(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason);
/* An edit that was accepted after all. */
void rejected_forget(Arena *a, KnownEdits *known, const EditRecord *edit);

/* The pending edits for a document, oldest first. */
EditRecords pending_for(Arena *a, const KnownEdits *known, Str target);

#endif

/* known.h - edits of earlier nights, so that no night repeats another's mistake.
 *
 * A known edit is "rejected", with the reason, or "pending": it did no harm but was not enough by
 * itself, and is retried with what the next night proposes. After REJECTED_TRIES nights without
 * effect a pending edit is rejected too. "kept" marks a rule that was reviewed and may stay.
 *
 * A book has one list per skill and is stored as one text in the project's state (state.h,
 * `pending`). A night changes the lists of the skills it worked on. Unreadable text counts as an
 * empty book: a lost state must not stop the nights. */
#ifndef TALARIA_SLEEP_LEARNING_KNOWN_H
#define TALARIA_SLEEP_LEARNING_KNOWN_H

#include "sleep/learning/edits.h"

enum { REJECTED_TRIES = 3, MAX_REJECTED = 300, MAX_PENDING = 8 };

/* The known edit with the same content, for any document; NULL: none. */
KnownEdit *rejected_find(Arena *a, const KnownEdits *known, const EditRecord *edit);

void rejected_add(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason);
/* One more night in which it neither helped nor harmed. */
void pending_add(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason);
/* A rule that was found helpful: it is not reviewed again soon. */
void rule_kept(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason);
/* For an edit that was accepted after all. */
void rejected_forget(Arena *a, KnownEdits *known, const EditRecord *edit);

/* The pending edits for a document, oldest first. */
EditRecords pending_for(Arena *a, const KnownEdits *known, Str target);

typedef struct KnownOfSkill {
    Str skill;
    KnownEdits edits;
} KnownOfSkill;
typedef LIST_OF(KnownOfSkill) KnownBook;

KnownBook known_book_read(Arena *a, Str text);
/* "" for an empty book. */
Str known_book_text(Arena *a, const KnownBook *book);

/* The list of a skill; made if it is missing. Valid until another one is made. */
KnownEdits *known_book_of(Arena *a, KnownBook *book, Str skill);

#endif

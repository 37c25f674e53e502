/* known.h - what the nights of a project know of edits, one list a skill.
 *
 * Kept as one text in the state of the project (state.h, `pending`). A night changes the lists of the
 * skills that it worked on; those of others stay. What cannot be read is forgotten: losing the memory
 * must not stop the nights. */
#ifndef TALARIA_SLEEP_LEARNING_KNOWN_H
#define TALARIA_SLEEP_LEARNING_KNOWN_H

#include "sleep/learning/rejected.h"

typedef struct KnownOfSkill {
    Str skill;
    KnownEdits edits;
} KnownOfSkill;
typedef LIST_OF(KnownOfSkill) KnownBook;

KnownBook known_book_read(Arena *a, Str text);
/* "" for an empty book. */
Str known_book_text(Arena *a, const KnownBook *book);

/* The list of a skill; made where it is missing. Valid until another one is made. */
KnownEdits *known_book_of(Arena *a, KnownBook *book, Str skill);

#endif

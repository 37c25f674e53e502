/* statement.h - the sentences of a text that say that something was fixed or decided
 * (data/statements.def).
 *
 * Pure. Sentences are slices of the text. */
#ifndef TALARIA_AGENT_STATEMENT_H
#define TALARIA_AGENT_STATEMENT_H

#include "base/arena.h"

typedef enum Statement {
    STATEMENT_FIXED,
    STATEMENT_DECIDED,
    STATEMENT_TROUBLE /* a request that speaks of something broken */
} Statement;

/* Takes the next sentence off *rest; false at the end. Lines end sentences, and so do '.', '!' and
 * '?' before a blank. Marks of lists and headings are left out. */
bool sentence_next(Str *rest, Str *ret);

/* Whether the sentence states it; a question never does. */
bool sentence_states(Arena *a, Str sentence, Statement what, bool by_user);

#endif

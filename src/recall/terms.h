/* terms.h - text as the words that the index knows.
 *
 * One way to cut text into terms serves writing, asking and highlighting, so that the three cannot
 * disagree: letters and digits make words, case and accents are folded, English endings are taken
 * off (Porter's algorithm), and writing without spaces becomes pairs of characters, with the last
 * character of a run once more by itself. So any single character is the beginning of some term.
 * Words that are too long for a person to have written them, and runs of base64, are passed over.
 *
 * A term is ASCII letters, digits, or bytes beyond ASCII: FTS5's "ascii" tokenizer gives it back as
 * it is. Nothing here fails, whatever the bytes are. */
#ifndef TALARIA_RECALL_TERMS_H
#define TALARIA_RECALL_TERMS_H

#include "base/buf.h"

enum { TERM_BYTES = 48 };

typedef struct Term {
    Str place; /* where it is in the text */
    char text[TERM_BYTES];
    uint8_t n;
    bool pair; /* of a script without spaces: two characters, or the last one of a run */
    bool last; /* that last one */
} Term;

typedef struct TermIter {
    Str rest;
    bool plain;          /* endings stay on */
    uint32_t held;       /* first character of a pair whose second was seen, else 0 */
    const char *held_at; /* where it is */
} TermIter;

#define TERMS(s) ((TermIter){ .rest = (s) })

bool term_next(TermIter *it, Term *ret);

static inline Str term_str(const Term *t)
{
    return (Str){ t->text, t->n };
}

/* Appends the text as terms with a space between them; how many. */
size_t terms_write(Buf *out, Str text);

/* Words that say nothing about what is looked for, as they are before their ending goes. */
bool term_is_stop(Str word);

/* Words that begin a question. */
bool term_asks(Str word);

#endif

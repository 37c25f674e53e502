/* letters.h - text as people compare it: case, white space, words, lengths in characters.
 *
 * Lower-casing and case folding are Unicode's (utf8proc); lengths count code points, and cutting
 * never splits one. Bytes that are not UTF-8 count as U+FFFD. Thread-safe. */
#ifndef TALARIA_TEXT_LETTERS_H
#define TALARIA_TEXT_LETTERS_H

#include "base/arena.h"

Str text_lower(Arena *a, Str s);
Str text_fold(Arena *a, Str s); /* full folding: sharp s is "ss" */

bool letter_is_word(uint32_t c); /* letters and numbers of any script, and '_' */
bool letter_is_space(uint32_t c);

/* Without Unicode white space at both ends. */
Str text_trim(Str s);
/* The first n characters. */
Str text_cut(Str s, size_t n);
/* The same, with an ellipsis behind where something was cut. */
Str text_clip(Arena *a, Str s, size_t n);

/* Runs of white space one blank, trimmed. */
Str text_collapse(Arena *a, Str s);
/* lower, runs of white space one blank, trimmed: two texts with one such form say the same. */
Str text_squeeze(Arena *a, Str s);
/* lower, everything that is no word character a blank, runs of blanks one, trimmed. */
Str text_words(Arena *a, Str s);

#endif

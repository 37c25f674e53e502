/* tokens.h - about how many tokens a model will see in a text.
 *
 * An estimate without any model's vocabulary: four bytes of ASCII a token, one token for each CJK
 * character, two other letters a token. Meant for budgets, where being off by a fifth is fine. */
#ifndef TALARIA_TEXT_TOKENS_H
#define TALARIA_TEXT_TOKENS_H

#include "base/str.h"

size_t tokens_estimate(Str text); /* rounded up; 0 for the empty text */

#endif

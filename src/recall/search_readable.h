/* search_readable.h - what tools were asked and what they printed, as a person would read it. */
#ifndef TALARIA_RECALL_SEARCH_READABLE_H
#define TALARIA_RECALL_SEARCH_READABLE_H

#include "base/arena.h"

/* The values of a JSON object or array as text: strings as they are, other values behind their key.
 * An object whose end was cut off has its escapes resolved. Any other text comes back unchanged. */
Str search_readable(Arena *a, Str text);

#endif

/* json_mend.h - JSON of outside programs, read in spite of their characters. */
#ifndef TALARIA_TEXT_JSON_MEND_H
#define TALARIA_TEXT_JSON_MEND_H

#include "text/json.h"

/* Bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD first. NULL: no JSON. */
JsonDoc *json_parse_mended(Arena *a, Str text);

#endif

/* json_locate.h - where a text stops being JSON, and why. Used only after a refusal. */
#ifndef TALARIA_TEXT_JSON_LOCATE_H
#define TALARIA_TEXT_JSON_LOCATE_H

#include "base/str.h"

typedef struct JsonFault {
    const char *why;         /* NULL: the text is JSON */
    size_t at, line, column; /* byte offset; line and column count from 1, column in bytes */
} JsonFault;

JsonFault json_locate(Str text);

#endif

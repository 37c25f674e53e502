/* yml_edit.h - one value of a YAML text, changed in place.
 *
 * Works on the text: comments, order, quoting and unknown keys stay as they are. A key is the path
 * of maps that leads to the value, joined by dots. Every edit is checked before it is returned: the
 * new text parses, the key has the new value, and every other value is unchanged. A text for which
 * that cannot be achieved (anchors that share a value, several documents) is refused with
 * ERR_INVALID. */
#ifndef TALARIA_TEXT_YML_EDIT_H
#define TALARIA_TEXT_YML_EDIT_H

#include "base/arena.h"
#include "base/err.h"

MUST_CHECK bool yml_set(Arena *a, Str yaml, Str key, Str value, Str *ret, Err *err);
/* *ret_found false: there was no such key, and *ret is the text as it was. A group that has become
 * empty goes too. */
MUST_CHECK bool yml_unset(Arena *a, Str yaml, Str key, Str *ret, bool *ret_found, Err *err);

#endif

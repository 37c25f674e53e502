/* diff.h - what changed between two texts, line by line.
 *
 * The unified form that people, git and patch read: hunks with three lines of context, "\ No
 * newline at end of file" where one is missing. The shortest script for texts that are alike
 * (Myers), bounded: past DIFF_MAX_EDITS the middle is shown as taken out and put in whole. */
#ifndef TALARIA_TEXT_DIFF_H
#define TALARIA_TEXT_DIFF_H

#include "base/arena.h"
#include "base/buf.h"

enum { DIFF_CONTEXT = 3, DIFF_MAX_EDITS = 1000 };

/* Appends nothing at all where the texts are equal. The names follow "--- " and "+++ ". */
void diff_unified(Buf *out, Str before, Str after, Str before_name, Str after_name);

#endif

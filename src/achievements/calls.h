/* calls.h - what a cell of tool calls counts for: the names in it, and the file names. */
#ifndef TALARIA_ACHIEVEMENTS_CALLS_H
#define TALARIA_ACHIEVEMENTS_CALLS_H

#include "achievements/names.h"
#include "achievements/paths.h"
#include "base/buf.h"

/* The two ways of reading a cell. The short one knows only plain cells and is false, with nothing
 * done, on all others; where it is true the exact one would have done the same. */
MUST_CHECK bool calls_read_plain(Str cell, Names *names, Paths *paths);
void calls_read_exact(Str cell, Arena *scratch, Buf *json, Names *names, Paths *paths);

/* The text within, where the cell is JSON in a JSON string; else the cell as it is. */
Str calls_unwrap(Str cell, Arena *scratch);

/* Memory calls of the cell that neither add nor replace anything. */
int64_t calls_memory_reads(Str cell, Arena *scratch);

#endif

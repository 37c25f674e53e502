/* codex_names.h - the names that people gave to threads of Codex; inside this room only.
 *
 * session_index.jsonl has them where it is there, the newest line of an id counting; else Codex'
 * own database. */
#ifndef TALARIA_TRANSCRIPTS_CODEX_NAMES_H
#define TALARIA_TRANSCRIPTS_CODEX_NAMES_H

#include "base/arena.h"
#include "base/err.h"
#include "transcripts/stamp.h"

typedef struct CodexThreadName {
    Str id, name;
    size_t at; /* which line it was */
} CodexThreadName;

/* In no order, an id once at most. What cannot be read has none. */
void codex_names(Arena *a, Str root, CodexThreadName **ret, size_t *ret_n);

/* Of the file that has them: differs when a name may. Opens nothing. */
void codex_names_stamp(Arena *a, Str root, Stamp *stamp);

#endif

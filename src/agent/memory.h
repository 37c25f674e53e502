/* memory.h - the user memory: USER.md and MEMORY.md.
 *
 * The format is Hermes', so that both programs can use the same files: entries separated by a line
 * "§", a limit in characters for the whole file, a lock file beside it (MEMORY.md.lock), atomic
 * replacement by rename. The files are in memories/ of the first history folder: Hermes' if it
 * exists, else Talaria's. An entry is replaced or removed by a piece of its text that no other
 * entry contains. An entry that does not fit is refused, with the space in use. A file that was
 * edited by hand so that rewriting would lose something is never written.
 *
 * A missing file has no entries. Returned text lives in the arena. The lock makes it safe between
 * threads and processes. */
#ifndef TALARIA_AGENT_MEMORY_H
#define TALARIA_AGENT_MEMORY_H

#include "base/arena.h"
#include "base/err.h"
#include "store/homes.h"

/* X(id, name in tools and JSON, file, limit in characters, title) */
#define MEMORY_KINDS(X)                                                                            \
    X(MEMORY_USER, "user", "USER.md", 1375, "about the user")                                      \
    X(MEMORY_NOTES, "memory", "MEMORY.md", 2200, "the agent's own notes")

typedef enum MemoryKind {
#define X(id, name, file, limit, title) id,
    MEMORY_KINDS(X)
#undef X
        MEMORY_KIND_COUNT
} MemoryKind;

const char *memory_name(MemoryKind kind);
const char *memory_title(MemoryKind kind);
size_t memory_limit(MemoryKind kind);

typedef struct MemoryFile {
    Str *entries;
    size_t n;
    size_t chars; /* in use, counted like the limit */
    Str sha256;   /* of its bytes; empty: no file */
    Str drift;    /* why it cannot be written; empty: it can */
} MemoryFile;

void memory_parse(Arena *a, MemoryKind kind, Str text, MemoryFile *ret);
Str memory_write(Arena *a, const MemoryFile *file);

MUST_CHECK bool memory_load(Arena *a, const Homes *homes, MemoryKind kind, MemoryFile *ret,
                            Err *err);

/* -- Changing -- */

typedef enum MemoryAction { MEMORY_ADD, MEMORY_REPLACE, MEMORY_REMOVE } MemoryAction;

typedef struct MemoryEdit {
    MemoryAction action;
    Str old_text; /* a piece of the entry: replace, remove */
    Str content;  /* the new entry: add, replace */
} MemoryEdit;

/* Applies all edits or none. ERR_TOO_LARGE: with the space in use; ERR_CONFLICT: two entries
 * contain the text, or the file cannot be rewritten. */
MUST_CHECK bool memory_change(Arena *a, const Homes *homes, MemoryKind kind,
                              const MemoryEdit *edits, size_t n, MemoryFile *ret, Err *err);

/* The tool `memory` of a model: {"action","target","content","old_text"} or
 * {"target","operations":[]}. Returns JSON, for a refusal too; fails only if the arguments are not
 * valid. */
extern const char memory_tool_schema[], memory_tool_description[];
MUST_CHECK bool memory_tool_run(Arena *a, const Homes *homes, Str arguments, Str *ret, Err *err);

/* -- As a conversation began -- */

typedef struct MemorySnapshot {
    MemoryFile files[MEMORY_KIND_COUNT];
} MemorySnapshot;

MUST_CHECK bool memory_snapshot(Arena *a, const Homes *homes, MemorySnapshot *ret, Err *err);
/* To store it with the conversation; reading fails if the text is not a snapshot. */
Str memory_snapshot_json(Arena *a, const MemorySnapshot *s);
MUST_CHECK bool memory_snapshot_read(Arena *a, Str json, MemorySnapshot *ret, Err *err);

#endif

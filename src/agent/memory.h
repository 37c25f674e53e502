/* memory.h - what is remembered of the user between conversations: USER.md and MEMORY.md.
 *
 * Hermes' format, so that the two programs can take turns on the same files: entries with a line "§"
 * between them, a limit in characters for the whole file, the lock beside it (MEMORY.md.lock), whole
 * files put in place by renaming. They lie in memories/ of the first home: Hermes' where there is one,
 * else ours. An entry is added, replaced or removed by a piece of its text that no other entry has;
 * what would not fit is refused with how much is in use. A file that somebody has written into by hand
 * in a way that cannot be kept is not written at all.
 *
 * Reading never fails for a file that is not there: it has no entries. Everything handed out lives in
 * the arena. Thread-safe between processes by the lock, between threads by it too. */
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
    size_t chars; /* in use, as the limit counts */
    Str sha256;   /* of its bytes; empty: there is no file */
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

/* All of the edits or none of them. ERR_TOO_LARGE names what is in use, ERR_CONFLICT a piece that two
 * entries have, or a file that cannot be kept. */
MUST_CHECK bool memory_change(Arena *a, const Homes *homes, MemoryKind kind,
                              const MemoryEdit *edits, size_t n, MemoryFile *ret, Err *err);

/* The tool `memory` of a model: {"action","target","content","old_text"} or {"target","operations":[]}.
 * What comes back is JSON; a refusal is an answer too, and false only where the arguments are none. */
extern const char memory_tool_schema[], memory_tool_description[];
MUST_CHECK bool memory_tool_run(Arena *a, const Homes *homes, Str arguments, Str *ret, Err *err);

/* -- As a conversation began -- */

typedef struct MemorySnapshot {
    MemoryFile files[MEMORY_KIND_COUNT];
} MemorySnapshot;

MUST_CHECK bool memory_snapshot(Arena *a, const Homes *homes, MemorySnapshot *ret, Err *err);
/* To keep it beside the conversation, and back; false where the text is no snapshot. */
Str memory_snapshot_json(Arena *a, const MemorySnapshot *s);
MUST_CHECK bool memory_snapshot_read(Arena *a, Str json, MemorySnapshot *ret, Err *err);

#endif

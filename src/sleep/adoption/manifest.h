/* manifest.h - the proposals of a night: one row per document, each with its hashes ("pins").
 *
 * A night is published once its manifest exists; a folder without one is ignored. A row says which
 * bytes are proposed for which live document, and the hash of that document when the night read it.
 * The reader refuses a row without those hashes, an unknown version, and a name or path that
 * collides with another row's.
 *
 * has_skill and has_memory are always false: older readers then do nothing. */
#ifndef TALARIA_SLEEP_ADOPTION_MANIFEST_H
#define TALARIA_SLEEP_ADOPTION_MANIFEST_H

#include "text/record.h"

#define MANIFEST_FILE "manifest.json"

/* X(kind, word): a skill that sessions used; the skill that sleep manages; the project's memory
 * file. */
#define ITEM_KINDS(X)                                                                              \
    X(ITEM_SKILL, "skill")                                                                         \
    X(ITEM_MANAGED, "managed")                                                                     \
    X(ITEM_MEMORY, "memory")

typedef enum ItemKind {
#define X(kind, word) kind,
    ITEM_KINDS(X)
#undef X
} ItemKind;

extern const char *const item_kind_names[3];
const char *item_kind_name(ItemKind kind);

typedef struct StagedItem {
    ItemKind kind;
    Str name;          /* of the skill; for memory, the name of its file */
    Str proposed_file; /* in the night's folder */
    Str live_path;     /* canonical */
    Str live_realpath; /* the same; the file has it twice */
    Str sha256;        /* of the proposal */
    Str live_sha256;   /* of the document as it was read; "" if there was none */
} StagedItem;

typedef struct Manifest {
    bool accepted;
    Str live_skill_path, live_memory_path; /* set even without a proposal */
    StagedItem *items;
    size_t n;
    StrList skill_roots;
} Manifest;

/* The file that a proposal of this kind and name is kept in. */
Str proposed_name(Arena *a, ItemKind kind, Str name);

/* Checks names, paths, hashes and collisions of every row. */
MUST_CHECK bool manifest_check(const Manifest *m, Err *err);

void manifest_put(JsonWriter *w, const Manifest *m);
MUST_CHECK bool manifest_parse(Arena *a, Str text, Manifest *ret, Err *err);

/* Reads the manifest of a night's folder; ERR_NOT_FOUND if the night was never published. */
MUST_CHECK bool manifest_read(Arena *a, Str night_folder, Manifest *ret, Err *err);

bool manifest_has(const Manifest *m, ItemKind kind);

#endif

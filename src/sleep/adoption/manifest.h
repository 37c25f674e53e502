/* manifest.h - what a night proposes: one row a document, each with its pins.
 *
 * The file is the mark that a night is published: without it the folder is nothing. A row says which
 * bytes are proposed for which live document and what that document was when the night read it; a row
 * without those pins, another version, a name or path that collides with another's is refused.
 *
 * has_skill and has_memory are false for old readers, which then do nothing. */
#ifndef TALARIA_SLEEP_ADOPTION_MANIFEST_H
#define TALARIA_SLEEP_ADOPTION_MANIFEST_H

#include "base/arena.h"
#include "base/err.h"
#include "text/json.h"

#define MANIFEST_FILE "manifest.json"

/* X(kind, word): a skill that sessions used; the one that sleep keeps by itself; the memory beside. */
#define ITEM_KINDS(X)                                                                              \
    X(ITEM_SKILL, "skill")                                                                         \
    X(ITEM_MANAGED, "managed")                                                                     \
    X(ITEM_MEMORY, "memory")

typedef enum ItemKind {
#define X(kind, word) kind,
    ITEM_KINDS(X)
#undef X
} ItemKind;

const char *item_kind_name(ItemKind kind);

typedef struct StagedItem {
    ItemKind kind;
    Str name;          /* of the skill; of memory its file's name */
    Str proposed_file; /* in the night's folder */
    Str live_path;     /* canonical */
    Str sha256;        /* of the proposal */
    Str live_sha256;   /* of the document as it was read; "" where there was none */
} StagedItem;

typedef struct Manifest {
    bool accepted;
    Str live_skill_path, live_memory_path; /* where they would go, also without a proposal */
    StagedItem *items;
    size_t n;
    Str *skill_roots;
    size_t n_roots;
} Manifest;

/* The file that a proposal of this kind and name is kept in. */
Str proposed_name(Arena *a, ItemKind kind, Str name);

/* Names, paths, pins and collisions of every row. */
MUST_CHECK bool manifest_check(const Manifest *m, Err *err);

void manifest_put(JsonWriter *w, const Manifest *m);
MUST_CHECK bool manifest_parse(Arena *a, Str text, Manifest *ret, Err *err);

/* Of a night's folder; ERR_NOT_FOUND where the night was never published. */
MUST_CHECK bool manifest_read(Arena *a, Str night_folder, Manifest *ret, Err *err);

bool manifest_has(const Manifest *m, ItemKind kind);

#endif

/* walk.h - files below folders and what stat says of them; inside this room only.
 *
 * Folders are listed by the caller's thread and, where there are many, by a few more that are gone
 * again when walk_files returns. Everything found lives in the arena. */
#ifndef TALARIA_TRANSCRIPTS_WALK_H
#define TALARIA_TRANSCRIPTS_WALK_H

#include "base/arena.h"
#include "base/err.h"
#include "transcripts/stamp.h"

typedef struct WalkedFile {
    Str path;    /* absolute */
    size_t name; /* where its last part begins */
    int root;    /* which of the roots it lies below */
    int64_t size, mtime_ns;
    uint64_t inode;
} WalkedFile;

typedef struct WalkRoot {
    Str path;
    Str prefix,
        suffix; /* names of files that are wanted begin and end so, and have more than that */
    Str packed; /* or end so; empty: nothing else */
} WalkRoot;

/* In order of path. A folder that is not there is passed over, one that cannot be read with a
 * warning; symbolic links below a root are not followed. ret NULL: only the stamp is wanted, which
 * is of the names, sizes, times and inodes of all. */
MUST_CHECK bool walk_files(Arena *a, const WalkRoot *roots, size_t n_roots, WalkedFile **ret,
                           size_t *ret_n, Stamp *ret_stamp, Err *err);

#endif

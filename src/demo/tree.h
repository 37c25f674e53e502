/* tree.h - the demo's folder, written and removed as a whole, never through a symbolic link. */
#ifndef TALARIA_DEMO_TREE_H
#define TALARIA_DEMO_TREE_H

#include "base/arena.h"
#include "base/err.h"

/* A new file with its folders below `root`; its time of change becomes `time` unless that is 0.
 * Not synced: the demo can be made again. */
MUST_CHECK bool tree_write(Arena *a, Str root, Str path, Str bytes, double time, Err *err);

/* Removes everything below the folder but `keep` (a name directly in it), which may be NULL. A link
 * is removed, not followed. */
MUST_CHECK bool tree_clear(const char *root, const char *keep, Err *err);

#endif

/* live.h - the documents that agents read: skills and memory, where they are and as they are.
 *
 * A live document belongs to the user. It is read whole, with its pins (hash, mode, identity), and
 * changed by one rename within its folder, which is reached without following any symbolic link. So it
 * holds the old bytes or the new ones at every instant. A document that is a link, that has a second
 * name (hard link), or that is no regular UTF-8 file is refused. */
#ifndef TALARIA_SLEEP_ADOPTION_LIVE_H
#define TALARIA_SLEEP_ADOPTION_LIVE_H

#include "base/arena.h"
#include "base/err.h"

typedef struct LiveDoc {
    Str path; /* absolute, folders canonical; also where nothing is there yet */
    bool exists;
    Str bytes;  /* "" where it does not exist */
    Str sha256; /* "" where it does not exist */
    uint32_t mode;
    uint64_t device, inode;
} LiveDoc;

/* The path with every existing folder resolved. It must be absolute, without "..", end in ".md"; what
 * does not exist yet keeps its name. */
MUST_CHECK bool live_path(Arena *a, Str path, Str *ret, Err *err);

/* Reads what is at live_path() of `path`; a missing file is no failure. */
MUST_CHECK bool live_read(Arena *a, Str path, LiveDoc *ret, Err *err);

/* Whether what is there now is still what was read: bytes, mode, identity. */
MUST_CHECK bool live_unchanged(const LiveDoc *then, Err *err);

/* Puts bytes there through a temporary file of the given name in the same folder. Folders are not
 * made. `temporary` is a plain name; a file left under it is replaced. */
MUST_CHECK bool live_replace(Str path, const char *temporary, Str bytes, uint32_t mode, Err *err);

/* Removes the file and syncs its folder; nothing there is fine. */
MUST_CHECK bool live_remove(Str path, Err *err);

/* The folders above `path` that do not exist, outermost first. */
MUST_CHECK bool live_missing_folders(Arena *a, Str path, Str **ret, size_t *ret_n, Err *err);

#endif

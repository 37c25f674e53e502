/* live.h - the documents that agents read: skills and memory files.
 *
 * A live document belongs to the user. These functions read it whole, with its hash, mode and
 * inode, and change it by one rename within its folder, which they reach without following any
 * symbolic link. So it holds the old bytes or the new ones at every instant. They refuse a document
 * that is a link, that has a second name (hard link), or that is not a regular UTF-8 file. */
#ifndef TALARIA_SLEEP_ADOPTION_LIVE_H
#define TALARIA_SLEEP_ADOPTION_LIVE_H

#include "text/record.h"

typedef struct LiveDoc {
    Str path; /* absolute, folders canonical; set even if the file does not exist */
    bool exists;
    Str bytes;  /* "" if it does not exist */
    Str sha256; /* "" if it does not exist */
    uint32_t mode;
    uint64_t device, inode;
} LiveDoc;

/* The path with every existing folder resolved. It must be absolute, without "..", end in ".md";
 * what does not exist yet keeps its name. */
MUST_CHECK bool live_path(Arena *a, Str path, Str *ret, Err *err);

/* Reads what is at live_path() of `path`; a missing file is not an error. */
MUST_CHECK bool live_read(Arena *a, Str path, LiveDoc *ret, Err *err);

/* Whether the document is still what was read: bytes, mode, inode. */
MUST_CHECK bool live_unchanged(const LiveDoc *then, Err *err);

/* Puts bytes there through a temporary file of the given name in the same folder. Folders are not
 * made. `temporary` is a plain name; a file left under it is replaced. */
MUST_CHECK bool live_replace(Str path, const char *temporary, Str bytes, uint32_t mode, Err *err);

/* Removes the file and syncs its folder; a missing file is not an error. */
MUST_CHECK bool live_remove(Str path, Err *err);

/* The folders above `path` that do not exist, outermost first. */
MUST_CHECK bool live_missing_folders(Arena *a, Str path, StrList *ret, Err *err);

#endif

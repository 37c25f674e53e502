/* file.h - files and folders of our own: whole or not at all.
 *
 * A file is written beside its place, synced, renamed over it, and the folder synced: a
 * reader sees the old bytes or the new ones, never a part, whatever dies in between.
 * Data files are 0600, folders 0700. None of this ever touches a foreign database: those
 * are opened by SQLite alone.
 *
 * Names that come from outside are opened beneath a folder (file_open_beneath): no
 * "..", no symbolic link, no /proc magic leads out of it. */
#ifndef TALARIA_BASE_FILE_H
#define TALARIA_BASE_FILE_H

#include "base/arena.h"
#include "base/err.h"

/* -- reading -- */

/* The whole file into the arena; fails past `max` bytes. What is no file (a pipe, a device, a
 * socket) is refused without waiting for it. */
MUST_CHECK bool file_read(Arena *a, const char *path, size_t max, Str *ret, Err *err);
/* The same of a path that somebody typed: "<(command)" of a shell is a pipe, and is waited for. */
MUST_CHECK bool file_read_any(Arena *a, const char *path, size_t max, Str *ret, Err *err);
MUST_CHECK bool file_read_fd(Arena *a, int fd, const char *name, size_t max, Str *ret, Err *err);

/* A descriptor of `name` under the open folder, never outside of it. */
MUST_CHECK int file_open_beneath(int folder_fd, const char *name, int flags, Err *err);

/* -- writing -- */

MUST_CHECK bool file_write_atomic(const char *path, Str bytes, Err *err);
MUST_CHECK bool folder_make(const char *path, Err *err); /* with its parents, 0700 */
MUST_CHECK bool folder_sync(const char *path, Err *err);
MUST_CHECK bool file_remove(const char *path, Err *err); /* and sync the folder */

/* False for a file or folder that may be written to (for a missing file: its folder). Else sets err
 * as ERR_READ_ONLY, with the path that stands in the way and why, so that callers can work without
 * writing. */
bool file_is_read_only(const char *path, Err *err);

/* -- listing -- */

typedef struct FileEntry {
    Str name;
    double mtime;
    bool is_folder;
} FileEntry;

/* Names in a folder in byte order, without "." and ".."; at most `max`, else it fails. */
MUST_CHECK bool folder_list(Arena *a, const char *path, size_t max, FileEntry **ret, size_t *ret_n,
                            Err *err);

/* -- locks that die with their holder -- */

typedef struct FileLock FileLock;

/* Waits up to wait_ms for the lock file (made where it is missing, never removed). Held by the
 * open file description, so the kernel lets go of it when the process ends, however it ends. */
MUST_CHECK FileLock *lock_take(const char *path, int wait_ms, Err *err);
FileLock *lock_release(FileLock *lock);
AUTO_FREE(FileLock, lock_release)

#endif

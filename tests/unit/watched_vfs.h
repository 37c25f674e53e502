/* watched_vfs.h - SQLite's own way to the disk, with an eye on it: every call on talaria.db, its
 * log or its journal is told to a hook before it is made, and what the hook returns instead of
 * SQLITE_OK is what SQLite hears of it. No sync reaches the real disk. */
#ifndef TALARIA_TESTS_WATCHED_VFS_H
#define TALARIA_TESTS_WATCHED_VFS_H

#include <sqlite3.h>

#include "base/str.h"

enum { DATABASE, LOG, JOURNAL, FILES };

static const char *const disk_names[] = { "talaria.db", "talaria.db-wal", "talaria.db-journal" };

typedef struct DiskOp {
    enum { READ, WRITE, TRUNCATE, SYNC, DELETE, ACKNOWLEDGE } kind; /* the last is a test's own */
    int file;
    int64_t at;
    Str bytes;
} DiskOp;

static int (*disk_hook)(DiskOp op); /* NULL: nobody looks */

static int file_of(const char *path)
{
    int file = 0;

    while (file < FILES && !(path && str_ends(str_of(path), str_of(disk_names[file]))))
        file++;
    return file;
}

static int ask_hook(DiskOp op)
{
    return disk_hook && op.file < FILES ? disk_hook(op) : SQLITE_OK;
}

typedef struct Watched {
    sqlite3_file base;
    int file;
    sqlite3_file *real; /* behind this */
} Watched;

static sqlite3_vfs *real_vfs;

#define BEHIND(f) (((Watched *)(f))->real)

static int on_close(sqlite3_file *f)
{
    return BEHIND(f)->pMethods->xClose(BEHIND(f));
}

static int on_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    int code = ask_hook((DiskOp){ READ, ((Watched *)f)->file, at, STR_NONE });

    return code ? code : BEHIND(f)->pMethods->xRead(BEHIND(f), to, n, at);
}

static int on_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    int code = ask_hook((DiskOp){ WRITE, ((Watched *)f)->file, at, { from, (size_t)n } });

    return code ? code : BEHIND(f)->pMethods->xWrite(BEHIND(f), from, n, at);
}

static int on_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    int code = ask_hook((DiskOp){ TRUNCATE, ((Watched *)f)->file, size, STR_NONE });

    return code ? code : BEHIND(f)->pMethods->xTruncate(BEHIND(f), size);
}

static int on_sync(sqlite3_file *f, int flags)
{
    (void)flags;
    return ask_hook((DiskOp){ SYNC, ((Watched *)f)->file, 0, STR_NONE });
}

static int on_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    return BEHIND(f)->pMethods->xFileSize(BEHIND(f), ret);
}

static int on_lock(sqlite3_file *f, int level)
{
    return BEHIND(f)->pMethods->xLock(BEHIND(f), level);
}

static int on_unlock(sqlite3_file *f, int level)
{
    return BEHIND(f)->pMethods->xUnlock(BEHIND(f), level);
}

static int on_reserved(sqlite3_file *f, int *ret)
{
    return BEHIND(f)->pMethods->xCheckReservedLock(BEHIND(f), ret);
}

static int on_control(sqlite3_file *f, int what, void *arg)
{
    return BEHIND(f)->pMethods->xFileControl(BEHIND(f), what, arg);
}

static int on_sector(sqlite3_file *f)
{
    return BEHIND(f)->pMethods->xSectorSize(BEHIND(f));
}

static int on_device(sqlite3_file *f)
{
    return BEHIND(f)->pMethods->xDeviceCharacteristics(BEHIND(f));
}

static int on_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
    return BEHIND(f)->pMethods->xShmMap(BEHIND(f), page, size, extend, ret);
}

static int on_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return BEHIND(f)->pMethods->xShmLock(BEHIND(f), at, n, flags);
}

static void on_shm_barrier(sqlite3_file *f)
{
    BEHIND(f)->pMethods->xShmBarrier(BEHIND(f));
}

static int on_shm_unmap(sqlite3_file *f, int remove)
{
    return BEHIND(f)->pMethods->xShmUnmap(BEHIND(f), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_sector,
    .xDeviceCharacteristics = on_device,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};

static int on_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *ret_flags)
{
    Watched *w = (Watched *)f;
    int code;

    (void)vfs;
    *w = (Watched){ .file = file_of(path), .real = (sqlite3_file *)(w + 1) };
    code = real_vfs->xOpen(real_vfs, path, w->real, flags, ret_flags);
    w->base.pMethods = w->real->pMethods ? &methods : NULL;
    return code;
}

static int on_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    int code = ask_hook((DiskOp){ DELETE, file_of(path), 0, STR_NONE });

    (void)vfs;
    return code ? code : real_vfs->xDelete(real_vfs, path, sync_folder);
}

/* For cmocka's set-up of the group. */
static int watch_disk(void **state)
{
    static sqlite3_vfs vfs;

    (void)state;
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "watched";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(Watched) + real_vfs->szOsFile;
    vfs.xOpen = on_open;
    vfs.xDelete = on_delete;
    return sqlite3_vfs_register(&vfs, 1) == SQLITE_OK ? 0 : -1;
}

#endif

/* sim_no_wal.h - a disk on which SQLite finds no shared memory, so that it keeps a rollback journal
 * though it is asked for a write-ahead log. Its files are those of the usual one, but for the
 * version that says what they can do. */
#ifndef TALARIA_TESTS_SIM_NO_WAL_H
#define TALARIA_TESTS_SIM_NO_WAL_H

#include "unit.h"

#include <sqlite3.h>

static int open_plain(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                      int *ret_flags)
{
    static sqlite3_io_methods plain;
    sqlite3_vfs *usual = vfs->pAppData;
    int code = usual->xOpen(usual, name, file, flags, ret_flags);

    if (code == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB)) {
        plain = *file->pMethods;
        plain.iVersion = 1;
        file->pMethods = &plain;
    }
    return code;
}

/* For every database that is opened from now on. */
static void no_wal(bool on)
{
    static sqlite3_vfs disk;

    if (on) {
        sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

        disk = *usual;
        disk.zName = "no-wal";
        disk.pAppData = usual;
        disk.xOpen = open_plain;
        assert_int_equal(sqlite3_vfs_register(&disk, 1), SQLITE_OK);
    } else {
        assert_int_equal(sqlite3_vfs_unregister(&disk), SQLITE_OK);
    }
}

#endif

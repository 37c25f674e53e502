#include "store/index.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "embedded.h"
#include "store/data_folder.h"
#include "store/db.h"

enum { COMMIT_EVERY = 500 };

struct Index {
    Db *db;
    size_t waiting; /* puts since BEGIN */
    bool failed;    /* one warning, then silence */
};

/* One row a version of the file. */
static const char *const steps[] = {
    (const char *)data_schema_index_001_sql, (const char *)data_schema_index_002_sql,
    (const char *)data_schema_index_003_sql, (const char *)data_schema_index_004_sql,
    (const char *)data_schema_index_005_sql, (const char *)data_schema_index_006_sql,
    (const char *)data_schema_index_007_sql, (const char *)data_schema_index_008_sql,
};

static Db *open_once(const char *path, Err *err)
{
    AUTO(Db) *db = db_open_own(path, false, err);

    if (!db || !db_migrate(db, steps, ARRAY_LEN(steps), err))
        return NULL;
    return TAKE(db);
}

/* The file is ours and can be made again; its log and shared memory go with it. */
static void remove_files(const char *path)
{
    static const char *const suffixes[] = { "", "-wal", "-shm" };
    char name[LIMIT_PATH_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
}

static char *path_in(Arena *a, Str data_folder)
{
    return str_z(a, str_join_path(a, data_folder, STR("index.db")));
}

/* Where the data folder cannot be written: a copy for this process alone, of what can be read. */
static Db *open_private(const char *path, Err *err)
{
    AUTO(Db) *db = db_open_private(path, err);
    AUTO(Db) *from = NULL;
    Err ignored;

    if (db && access(path, R_OK) == 0 && (from = db_open_read(path, &ignored)) &&
        (!db_copy(db, from, &ignored) || !db_migrate(db, steps, ARRAY_LEN(steps), &ignored))) {
        db_close(db);
        db = db_open_private(path, err);
    }
    return db && db_migrate(db, steps, ARRAY_LEN(steps), err) ? TAKE(db) : NULL;
}

Db *index_db_open(Str data_folder, Err *err)
{
    AUTO(Arena) *a = arena_new();
    const char *path = path_in(a, data_folder);
    Db *db;

    if (!data_folder_make(data_folder, err))
        return err->kind == ERR_READ_ONLY ? open_private(path, err) : NULL;
    db = open_once(path, err);
    if (!db && err->kind == ERR_READ_ONLY)
        return open_private(path, err);
    /* An index of a newer version is no loss: it is made of the histories. */
    if (!db && (err->kind == ERR_CORRUPT || err->kind == ERR_CONFLICT)) {
        if (err->kind == ERR_CONFLICT)
            log_note("rebuilding the index '%s': a newer Talaria wrote it", path);
        else
            log_note("rebuilding the index: %s", err->text);
        remove_files(path);
        db = open_once(path, err);
    }
    return db;
}

void index_db_remove(Str data_folder)
{
    AUTO(Arena) *a = arena_new();

    remove_files(path_in(a, data_folder));
}

Index *index_open(Str data_folder)
{
    AUTO(Index) *index = mem_alloc(sizeof *index);
    Err err;

    index->db = index_db_open(data_folder, &err);
    /* Nothing that is put there would be found by the next handle. */
    if (index->db && db_is_private(index->db))
        return NULL;
    if (index->db)
        return TAKE(index);
    log_warning("working without an index: %s", err.text);
    return NULL;
}

static void give_up(Index *index, const Err *err)
{
    if (!index->failed)
        log_warning("the index takes nothing more: %s", err->text);
    index->failed = true;
}

static void commit(Index *index)
{
    Err err;

    if (index->waiting && !db_end(index->db, true, &err))
        give_up(index, &err);
    index->waiting = 0;
}

bool index_works(const Index *index)
{
    return index && !index->failed;
}

void index_commit(Index *index)
{
    if (index)
        commit(index);
}

Index *index_close(Index *index)
{
    if (index) {
        if (index->db)
            commit(index);
        db_close(index->db);
        mem_free(index);
    }
    return NULL;
}

bool index_get(Index *index, Arena *a, Str topic, Str home, Str session, Str fingerprint, Str *ret)
{
    AUTO(DbRows) *rows = NULL;
    bool found = false;
    Err ignored;

    if (!index ||
        !db_query(index->db, &rows, &ignored,
                  "SELECT value FROM facts WHERE topic = ? AND home = ? AND session_id = ? AND "
                  "fingerprint = ?",
                  TEXT(topic), TEXT(home), TEXT(session), TEXT(fingerprint)) ||
        !db_row(rows, &found, &ignored) || !found)
        return false;
    *ret = str_dup(a, row_text(rows, 0));
    return true;
}

void index_put(Index *index, Str topic, Str home, Str session, Str fingerprint, Str value)
{
    Err err;

    if (!index || index->failed)
        return;
    if (index->waiting == 0 && !db_begin(index->db, &err)) {
        give_up(index, &err);
        return;
    }
    if (!db_exec(index->db, NULL, &err, "INSERT OR REPLACE INTO facts VALUES(?, ?, ?, ?, ?)",
                 TEXT(topic), TEXT(home), TEXT(session), TEXT(fingerprint),
                 BLOB(value.p ? value : STR(""))))
        give_up(index, &err);
    if (++index->waiting == COMMIT_EVERY)
        commit(index);
}

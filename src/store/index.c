#include "store/index.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "embedded.h"
#include "store/db.h"

enum { COMMIT_EVERY = 500 };

struct Index {
    Db *db;
    Stmt *get, *put;
    size_t waiting; /* puts since BEGIN */
    bool failed;    /* one warning, then silence */
};

static Index *open_once(const char *path, Err *err)
{
    const char *const steps[] = { (const char *)data_schema_index_001_sql };
    AUTO(Index) *index = mem_alloc(sizeof *index);

    index->db = db_open_own(path, false, err);
    if (!index->db || !db_migrate(index->db, steps, ARRAY_LEN(steps), err) ||
        !db_prepare(index->db,
                    "SELECT value FROM facts WHERE topic = ? AND home = ? AND session_id = ? AND "
                    "fingerprint = ?",
                    &index->get, err) ||
        !db_prepare(index->db, "INSERT OR REPLACE INTO facts VALUES(?, ?, ?, ?, ?)", &index->put,
                    err))
        return NULL;
    return TAKE(index);
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

Index *index_open(Str data_folder)
{
    AUTO(Arena) *a = arena_new();
    const char *path = str_z(a, str_join_path(a, data_folder, STR("index.db")));
    Index *index;
    Err err;

    if (!folder_make(str_z(a, data_folder), &err)) {
        log_warning("working without an index: %s", err.text);
        return NULL;
    }
    index = open_once(path, &err);
    if (!index && (err.kind == ERR_CORRUPT || err.kind == ERR_CONFLICT)) {
        log_note("%s; the index is begun afresh", err.text);
        remove_files(path);
        index = open_once(path, &err);
    }
    if (!index)
        log_warning("working without an index: %s", err.text);
    return index;
}

static void give_up(Index *index)
{
    Err err;

    if (!index->failed && !db_error(index->db, &err))
        log_warning("the index takes nothing more: %s", err.text);
    index->failed = true;
}

static void commit(Index *index)
{
    if (index->waiting && sqlite3_exec(index->db->handle, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        give_up(index);
    index->waiting = 0;
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
        stmt_free(index->get);
        stmt_free(index->put);
        db_close(index->db);
        mem_free(index);
    }
    return NULL;
}

static void bind_key(sqlite3_stmt *stmt, Str topic, Str home, Str session, Str fingerprint)
{
    db_bind_str(stmt, 1, topic);
    db_bind_str(stmt, 2, home);
    db_bind_str(stmt, 3, session);
    db_bind_str(stmt, 4, fingerprint);
}

bool index_get(Index *index, Arena *a, Str topic, Str home, Str session, Str fingerprint, Str *ret)
{
    bool found = false;

    if (!index)
        return false;
    bind_key(index->get, topic, home, session, fingerprint);
    if (sqlite3_step(index->get) == SQLITE_ROW) {
        *ret = str_dup(a, db_str(index->get, 0));
        found = true;
    }
    sqlite3_reset(index->get);
    return found;
}

void index_put(Index *index, Str topic, Str home, Str session, Str fingerprint, Str value)
{
    if (!index || index->failed)
        return;
    if (index->waiting == 0 &&
        sqlite3_exec(index->db->handle, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) {
        give_up(index);
        return;
    }
    bind_key(index->put, topic, home, session, fingerprint);
    sqlite3_bind_blob64(index->put, 5, value.p ? value.p : "", value.n, SQLITE_STATIC);
    if (sqlite3_step(index->put) != SQLITE_DONE)
        give_up(index);
    sqlite3_reset(index->put);
    if (++index->waiting == COMMIT_EVERY)
        commit(index);
}

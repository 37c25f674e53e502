#include "store/own.h"

#include <sys/random.h>
#include <unistd.h>

#include "embedded.h"
#include "store/data_folder.h"
#include "store/db.h"

struct Own {
    Db *db;
    Stmt *add_session, *add_message;
};

/* One row a field: its column, and a parameter for it. */
#define COLUMN(kind, name)    #name ", "
#define PARAMETER(kind, name) "?, "

static const char add_session_sql[] =
    "INSERT INTO sessions(" SESSION_FIELDS(COLUMN) "pinned) VALUES(" SESSION_FIELDS(PARAMETER) "0)";
static const char add_message_sql[] = "INSERT INTO messages(" MESSAGE_FIELDS(
    COLUMN) "observed) VALUES(" MESSAGE_FIELDS(PARAMETER) "0)";

static bool make_ready(Own *own, Err *err)
{
    const char *const steps[] = {
        (const char *)data_schema_talaria_001_sql, (const char *)data_schema_talaria_002_sql,
        (const char *)data_schema_talaria_003_sql, (const char *)data_schema_talaria_004_sql,
        (const char *)data_schema_talaria_005_sql, (const char *)data_schema_talaria_006_sql,
        (const char *)data_schema_talaria_007_sql, (const char *)data_schema_talaria_008_sql,
        (const char *)data_schema_talaria_009_sql, (const char *)data_schema_talaria_010_sql,
        (const char *)data_schema_talaria_011_sql, (const char *)data_schema_talaria_012_sql
    };

    return db_migrate(own->db, steps, ARRAY_LEN(steps), err) &&
           db_prepare(own->db, add_session_sql, &own->add_session, err) &&
           db_prepare(own->db, add_message_sql, &own->add_message, err);
}

Own *own_open(Str data_folder, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Own) *own = mem_alloc(sizeof *own);

    if (!data_folder_make(data_folder, err))
        return NULL;
    own->db = db_open_own(str_z(a, str_join_path(a, data_folder, STR("talaria.db"))), true, err);
    return own->db && make_ready(own, err) ? TAKE(own) : NULL;
}

Own *own_open_copy(Str data_folder, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Own) *own = mem_alloc(sizeof *own);
    const char *path = str_z(a, str_join_path(a, data_folder, STR("talaria.db")));
    AUTO(Db) *from = NULL;

    own->db = db_open_private(path, err);
    if (!own->db)
        return NULL;
    if (access(path, F_OK) == 0 &&
        (!(from = db_open_read(path, err)) || !db_copy(own->db, from, err)))
        return NULL;
    return make_ready(own, err) ? TAKE(own) : NULL;
}

Own *own_close(Own *own)
{
    if (own) {
        stmt_free(own->add_session);
        stmt_free(own->add_message);
        db_close(own->db);
        mem_free(own);
    }
    return NULL;
}

Db *own_db(Own *own)
{
    return own->db;
}

bool own_begin(Own *own, Err *err)
{
    return db_exec(own->db, "BEGIN IMMEDIATE", err);
}

bool own_commit(Own *own, Err *err)
{
    return db_exec(own->db, "COMMIT", err);
}

void own_rollback(Own *own)
{
    if (!sqlite3_get_autocommit(own->db->handle))
        (void)sqlite3_exec(own->db->handle, "ROLLBACK", NULL, NULL, NULL);
}

static void bind_TEXT(sqlite3_stmt *stmt, int at, Str s)
{
    db_bind_str(stmt, at, s);
}

static void bind_REAL(sqlite3_stmt *stmt, int at, double n)
{
    sqlite3_bind_double(stmt, at, n);
}

static void bind_REAL_OR_NULL(sqlite3_stmt *stmt, int at, double n)
{
    if (n != 0)
        sqlite3_bind_double(stmt, at, n);
    else
        sqlite3_bind_null(stmt, at);
}

static void bind_INT(sqlite3_stmt *stmt, int at, int64_t n)
{
    sqlite3_bind_int64(stmt, at, n);
}

static bool run_once(Own *own, sqlite3_stmt *stmt, Err *err)
{
    bool row = false, ok = db_step(own->db, stmt, &row, err);

    sqlite3_reset(stmt);
    return ok;
}

bool own_add_session(Own *own, const Session *s, Err *err)
{
    int at = 0;

#define X(kind, name) bind_##kind(own->add_session, ++at, s->name);
    SESSION_FIELDS(X)
#undef X
    return run_once(own, own->add_session, err);
}

bool own_add_message(Own *own, const Message *m, Err *err)
{
    int at = 0;

#define X(kind, name) bind_##kind(own->add_message, ++at, m->name);
    MESSAGE_FIELDS(X)
#undef X
    return run_once(own, own->add_message, err);
}

static bool run_with(Own *own, const char *sql, const Str *values, int n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(own->db, sql, &stmt, err))
        return false;
    for (int i = 0; i < n; i++)
        db_bind_str(stmt, i + 1, values[i]);
    return run_once(own, stmt, err);
}

bool own_delete_session(Own *own, Str id, Err *err)
{
    return run_with(own, "DELETE FROM messages WHERE session_id = ?", &id, 1, err) &&
           run_with(own, "DELETE FROM sessions WHERE id = ?", &id, 1, err);
}

bool own_title_taken(Own *own, Str title, Str except, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(own->db, "SELECT 1 FROM sessions WHERE title = ? AND id <> ?", &stmt, err))
        return false;
    db_bind_str(stmt, 1, title);
    db_bind_str(stmt, 2, except);
    return db_step(own->db, stmt, ret, err);
}

bool own_note_made(Own *own, const char *maker, const Made *made, Err *err)
{
    Str values[] = { str_of(maker), made->kind, made->name,
                     made->digest.p ? made->digest : STR("") };

    return run_with(own,
                    "INSERT OR REPLACE INTO made(maker, kind, name, digest) VALUES(?, ?, ?, ?)",
                    values, 4, err);
}

bool own_forget_made(Own *own, const char *maker, const Made *made, Err *err)
{
    Str values[] = { str_of(maker), made->kind, made->name };

    return run_with(own, "DELETE FROM made WHERE maker = ? AND kind = ? AND name = ?", values, 3,
                    err);
}

bool own_list_made(Own *own, Arena *a, const char *maker, Made **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Made *all = NULL;
    size_t n = 0, cap = 0;
    bool row = false;

    if (!db_prepare(own->db,
                    "SELECT kind, name, digest FROM made WHERE maker = ? ORDER BY kind, name",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, str_of(maker));
    for (;;) {
        Made made;

        if (!db_step(own->db, stmt, &row, err))
            return false;
        if (!row)
            break;
        made = (Made){ .kind = str_dup(a, db_str(stmt, 0)),
                       .name = str_dup(a, db_str(stmt, 1)),
                       .digest = str_dup(a, db_str(stmt, 2)) };
        ARENA_PUSH(a, all, n, cap, made);
    }
    *ret = all;
    *ret_n = n;
    return true;
}

bool own_has_made(Str data_folder, bool *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    const char *path = str_z(a, str_join_path(a, data_folder, STR("talaria.db")));
    AUTO(Db) *db = NULL;
    int64_t n = 0;

    *ret = false;
    if (access(path, F_OK) != 0)
        return true;
    /* SQLite removes the write-ahead log when the last writer closes, and leaves it to readers. */
    db = access(str_printf(a, "%s-wal", path).p, F_OK) == 0 ? db_open_read(path, err)
                                                            : db_open_own(path, true, err);
    if (!db && err->kind == ERR_READ_ONLY)
        db = db_open_read(path, err);
    if (!db || !db_int(db, "SELECT count(*) FROM sqlite_master WHERE name = 'made'", 0, &n, err))
        return false;
    if (n && !db_int(db, "SELECT count(*) FROM made", 0, &n, err))
        return false;
    *ret = n > 0;
    return true;
}

/* -- the handle that handoffs and chats share ------------------------------------------------ */

struct OwnStore {
    Own *own;
    Db *db;
    char *data;
};

static OwnStore *journal_on(Own *own, Str data_folder)
{
    OwnStore *store;

    if (!own)
        return NULL;
    store = mem_alloc(sizeof *store);
    store->own = own;
    store->db = own_db(own);
    store->data = mem_strdup(data_folder);
    return store;
}

OwnStore *own_store_open(Str data_folder, Err *err)
{
    return journal_on(own_open(data_folder, err), data_folder);
}

OwnStore *own_store_open_to_read(Str data_folder, bool *ret_copy, Err *err)
{
    Own *own = own_open(data_folder, err);

    *ret_copy = !own && err->kind == ERR_READ_ONLY;
    return journal_on(*ret_copy ? own_open_copy(data_folder, err) : own, data_folder);
}

OwnStore *own_store_close(OwnStore *store)
{
    if (store) {
        own_close(store->own);
        mem_free(store->data);
        mem_free(store);
    }
    return NULL;
}

Db *own_store_db(OwnStore *store)
{
    return store->db;
}

Str own_store_data(const OwnStore *store)
{
    return str_of(store->data);
}

bool own_store_begin(OwnStore *store, Err *err)
{
    return own_begin(store->own, err);
}

bool own_store_end(OwnStore *store, bool ok, Err *err)
{
    ok = ok && own_commit(store->own, err);
    if (!ok)
        own_rollback(store->own);
    return ok;
}

void ulid_make(int64_t now_ms, char ret[ULID_CHARS])
{
    static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint8_t random[16];

    ASSERT(getrandom(random, sizeof random, 0) == sizeof random);
    for (int i = 9; i >= 0; i--, now_ms /= 32)
        ret[i] = letters[now_ms % 32];
    for (size_t i = 0; i < sizeof random; i++)
        ret[10 + i] = letters[random[i] % 32];
    ret[26] = 0;
}

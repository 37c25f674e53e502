#include "store/own.h"

#include <sys/random.h>
#include <unistd.h>

#include "embedded.h"
#include "store/data_folder.h"
#include "store/db.h"

struct OwnStore {
    Db *db;
    char *data;
};

static bool migrate(OwnStore *own, Err *err)
{
    const char *const steps[] = {
        (const char *)data_schema_talaria_001_sql, (const char *)data_schema_talaria_002_sql,
        (const char *)data_schema_talaria_003_sql, (const char *)data_schema_talaria_004_sql,
        (const char *)data_schema_talaria_005_sql, (const char *)data_schema_talaria_006_sql,
        (const char *)data_schema_talaria_007_sql, (const char *)data_schema_talaria_008_sql,
        (const char *)data_schema_talaria_009_sql, (const char *)data_schema_talaria_010_sql,
        (const char *)data_schema_talaria_011_sql, (const char *)data_schema_talaria_012_sql
    };

    return db_migrate(own->db, steps, ARRAY_LEN(steps), err);
}

OwnStore *own_store_open(Str data_folder, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(OwnStore) *own = mem_alloc(sizeof *own);

    if (!data_folder_make(data_folder, err))
        return NULL;
    own->data = mem_strdup(data_folder);
    own->db = db_open_own(str_z(a, str_join_path(a, data_folder, STR("talaria.db"))), true, err);
    return own->db && migrate(own, err) ? TAKE(own) : NULL;
}

/* In memory: what is there, as it is now; nothing where there is none. */
static OwnStore *open_copy(Str data_folder, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(OwnStore) *own = mem_alloc(sizeof *own);
    const char *path = str_z(a, str_join_path(a, data_folder, STR("talaria.db")));
    AUTO(Db) *from = NULL;

    own->data = mem_strdup(data_folder);
    own->db = db_open_private(path, err);
    if (!own->db)
        return NULL;
    if (access(path, F_OK) == 0 &&
        (!(from = db_open_read(path, err)) || !db_copy(own->db, from, err)))
        return NULL;
    return migrate(own, err) ? TAKE(own) : NULL;
}

OwnStore *own_store_open_to_read(Str data_folder, bool *ret_copy, Err *err)
{
    OwnStore *own = own_store_open(data_folder, err);

    *ret_copy = !own && err->kind == ERR_READ_ONLY;
    return *ret_copy ? open_copy(data_folder, err) : own;
}

OwnStore *own_store_close(OwnStore *own)
{
    if (own) {
        db_close(own->db);
        mem_free(own->data);
    }
    return mem_free(own);
}

Db *own_store_db(OwnStore *own)
{
    return own->db;
}

Str own_store_data(const OwnStore *own)
{
    return str_of(own->data);
}

bool own_store_begin(OwnStore *own, Err *err)
{
    return db_begin(own->db, err);
}

bool own_store_end(OwnStore *own, bool ok, Err *err)
{
    return db_end(own->db, ok, err);
}

/* One row a field: its column, a parameter for it, and its value. */
#define COLUMN(kind, name)    #name ", "
#define PARAMETER(kind, name) "?, "
#define VALUE_TEXT(s)         TEXT(s)
#define VALUE_REAL(x)         REAL(x)
#define VALUE_REAL_OR_NULL(x) ((x) != 0 ? REAL(x) : TEXT(STR_NONE))
#define VALUE_INT(n)          INT(n)

bool own_add_session(OwnStore *own, const Session *s, Err *err)
{
#define X(kind, name) VALUE_##kind(s->name),
    return db_exec(own->db, NULL, err,
                   "INSERT INTO sessions(" SESSION_FIELDS(COLUMN) "pinned) VALUES(" SESSION_FIELDS(
                       PARAMETER) "?)",
                   SESSION_FIELDS(X) INT(0));
#undef X
}

bool own_add_message(OwnStore *own, const Message *m, Err *err)
{
#define X(kind, name) VALUE_##kind(m->name),
    return db_exec(own->db, NULL, err,
                   "INSERT INTO messages(" MESSAGE_FIELDS(
                       COLUMN) "observed) VALUES(" MESSAGE_FIELDS(PARAMETER) "?)",
                   MESSAGE_FIELDS(X) INT(0));
#undef X
}

bool own_delete_session(OwnStore *own, Str id, Err *err)
{
    return db_exec(own->db, NULL, err, "DELETE FROM messages WHERE session_id = ?", TEXT(id)) &&
           db_exec(own->db, NULL, err, "DELETE FROM sessions WHERE id = ?", TEXT(id));
}

bool own_title_taken(OwnStore *own, Str title, Str except, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(own->db, &rows, err, "SELECT 1 FROM sessions WHERE title = ? AND id <> ?",
                    TEXT(title), TEXT(except)) &&
           db_row(rows, ret, err);
}

bool own_note_made(OwnStore *own, const char *maker, const Made *made, Err *err)
{
    return db_exec(own->db, NULL, err,
                   "INSERT OR REPLACE INTO made(maker, kind, name, digest) VALUES(?, ?, ?, ?)",
                   TEXT(str_of(maker)), TEXT(made->kind), TEXT(made->name), SOME(made->digest));
}

bool own_forget_made(OwnStore *own, const char *maker, const Made *made, Err *err)
{
    return db_exec(own->db, NULL, err, "DELETE FROM made WHERE maker = ? AND kind = ? AND name = ?",
                   TEXT(str_of(maker)), TEXT(made->kind), TEXT(made->name));
}

bool own_list_made(OwnStore *own, Arena *a, const char *maker, Made **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Made *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(own->db, &rows, err,
                  "SELECT kind, name, digest FROM made WHERE maker = ? ORDER BY kind, name",
                  TEXT(str_of(maker))))
        return false;
    while (db_next(rows, &ok, err)) {
        Made made;

        made = (Made){ .kind = str_dup(a, row_text(rows, 0)),
                       .name = str_dup(a, row_text(rows, 1)),
                       .digest = str_dup(a, row_text(rows, 2)) };
        ARENA_PUSH(a, all, n, cap, made);
    }
    if (!ok)
        return false;
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
    if (!db ||
        !db_get_int(db, 0, &n, err, "SELECT count(*) FROM sqlite_master WHERE name = 'made'"))
        return false;
    if (n && !db_get_int(db, 0, &n, err, "SELECT count(*) FROM made"))
        return false;
    *ret = n > 0;
    return true;
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

/* The columns of a row are one table (entry.h): it makes the SELECT, the INSERT and both ways of
 * moving a value. */
#include "transcripts/entry.h"

#include "base/limits.h"

static const char columns[] =
#define X(kind, column, place) ", " #column
    ENTRY_COLUMNS(X);
#undef X

Str entry_columns(Arena *a)
{
    return str_printf(a, "key%s", columns);
}

static Pulse read_pulse(sqlite3_stmt *stmt, int at)
{
    Pulse p = { 0 };

    if (sqlite3_column_bytes(stmt, at) == sizeof p)
        memcpy(&p, sqlite3_column_blob(stmt, at), sizeof p);
    return p;
}

#define READ_SOURCE(at) (SourceKind) sqlite3_column_int(stmt, at)
#define READ_TEXT(at)   str_dup(a, db_str(stmt, at))
#define READ_REAL(at)   sqlite3_column_double(stmt, at)
#define READ_INT(at)    sqlite3_column_int64(stmt, at)
#define READ_UINT(at)   (uint64_t) sqlite3_column_int64(stmt, at)
#define READ_BOOL(at)   sqlite3_column_int(stmt, at) != 0
#define READ_PULSE(at)  read_pulse(stmt, at)

void entry_read(Arena *a, sqlite3_stmt *stmt, EntryRow *ret)
{
    int at = 0;

    *ret = (EntryRow){ .e.key = sqlite3_column_int64(stmt, at) };
#define X(kind, column, place) ret->place = READ_##kind(++at);
    ENTRY_COLUMNS(X)
#undef X
    pulse_show(&ret->pulse, ret->e.started_at, ret->e.last_at, ret->e.activity);
}

bool entry_write_prepare(Db *db, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(4));

    buf_addf(&sql, "INSERT OR REPLACE INTO entries(key%s) VALUES(?", columns);
#define X(kind, column, place) buf_addz(&sql, ", ?");
    ENTRY_COLUMNS(X)
#undef X
    buf_addc(&sql, ')');
    return db_prepare(db, sql.p, ret, err);
}

static void bind_text(sqlite3_stmt *stmt, int at, Str s)
{
    db_bind_str(stmt, at, s.p ? s : STR(""));
}

#define BIND_SOURCE(at, v) sqlite3_bind_int(stmt, at, (int)(v))
#define BIND_TEXT(at, v)   bind_text(stmt, at, v)
#define BIND_REAL(at, v)   sqlite3_bind_double(stmt, at, v)
#define BIND_INT(at, v)    sqlite3_bind_int64(stmt, at, v)
#define BIND_UINT(at, v)   sqlite3_bind_int64(stmt, at, (int64_t)(v))
#define BIND_BOOL(at, v)   sqlite3_bind_int(stmt, at, v)
#define BIND_PULSE(at, v)  sqlite3_bind_blob(stmt, at, &(v), sizeof(v), SQLITE_STATIC)

bool entry_write(Db *db, Stmt *stmt, const EntryRow *row, Err *err)
{
    bool ignored, ok;
    int at = 1;

    sqlite3_bind_int64(stmt, at, row->e.key);
#define X(kind, column, place) BIND_##kind(++at, row->place);
    ENTRY_COLUMNS(X)
#undef X
    ok = db_step(db, stmt, &ignored, err);
    sqlite3_reset(stmt);
    return ok;
}

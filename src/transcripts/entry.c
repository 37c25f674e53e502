/* The columns of a row are one table (entry.h): it makes the SELECT, the INSERT and both ways of
 * moving a value. */
#include "transcripts/entry.h"

#include "base/limits.h"

static Pulse read_pulse(DbRows *rows, int at)
{
    Str bytes = row_text(rows, at);
    Pulse p = { 0 };

    if (bytes.n == sizeof p)
        memcpy(&p, bytes.p, sizeof p);
    return p;
}

#define READ_SOURCE(at) (SourceKind) row_int(rows, at)
#define READ_TEXT(at)   str_dup(a, row_text(rows, at))
#define READ_REAL(at)   row_real(rows, at)
#define READ_INT(at)    row_int(rows, at)
#define READ_UINT(at)   (uint64_t) row_int(rows, at)
#define READ_BOOL(at)   row_bool(rows, at)
#define READ_PULSE(at)  read_pulse(rows, at)

void entry_read(Arena *a, DbRows *rows, EntryRow *ret)
{
    int at = 0;

    *ret = (EntryRow){ .e.key = row_int(rows, at) };
#define X(kind, column, place) ret->place = READ_##kind(++at);
    ENTRY_COLUMNS(X)
#undef X
    pulse_show(&ret->pulse, ret->e.started_at, ret->e.last_at, ret->e.activity);
}

#define WRITE_SOURCE(v) INT((int64_t)(v))
#define WRITE_TEXT(v)   SOME(v)
#define WRITE_REAL(v)   REAL(v)
#define WRITE_INT(v)    INT(v)
#define WRITE_UINT(v)   INT((int64_t)(v))
#define WRITE_BOOL(v)   INT(v)
#define WRITE_PULSE(v)  BLOB(((Str){ (const char *)&(v), sizeof(v) }))

bool entry_write(Db *db, const EntryRow *row, Err *err)
{
#define X(kind, column, place) ", ?"
#define V(kind, column, place) , WRITE_##kind(row->place)
    return db_exec(db, NULL, err,
                   "INSERT OR REPLACE INTO entries(" ENTRY_COLUMN_NAMES
                   ") VALUES(?" ENTRY_COLUMNS(X) ")",
                   INT(row->e.key) ENTRY_COLUMNS(V));
#undef X
#undef V
}

#include "handoff/take_codes.h"

#include "base/clock.h"
#include "chat/people.h"
#include "store/db.h"
#include "text/sha256.h"

enum { CODE_MS = 10 * 60 * 1000 };

/* -- sessions that wait -- */

/* Over, or of the same session: neither is of any use from now on. */
static bool sweep(OwnStore *own, Str home, Str session_id, int64_t now, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "DELETE FROM take_code WHERE expires_ms <= ? OR (home = ? AND session_id = ?)",
                   INT(now), TEXT(home), TEXT(session_id));
}

static bool keep(OwnStore *own, Arena *a, Str code, Str home, Str session_id, int64_t now, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT INTO take_code(sha256, home, session_id, made_ms, expires_ms) "
                   "VALUES(?, ?, ?, ?, ?)",
                   TEXT(sha256_hex(a, code)), TEXT(home), TEXT(session_id), INT(now),
                   INT(now + CODE_MS));
}

bool take_code_make(OwnStore *own, Arena *a, Str home, Str session_id, Str *ret_code, Err *err)
{
    int64_t now = clock_wall_ms();
    char code[CODE_CHARS + 1];
    Str made;

    code_make(code);
    made = str_dup(a, str_of(code));
    if (!own_store_begin(own, err) ||
        !own_store_end(own,
                       sweep(own, home, session_id, now, err) &&
                           keep(own, a, made, home, session_id, now, err),
                       err))
        return false;
    *ret_code = made;
    return true;
}

static bool find(OwnStore *own, Arena *a, const char *sql, Str code, Str *ret_home,
                 Str *ret_session_id, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query_once(own_store_db(own), &rows, err, sql, INT(clock_wall_ms()),
                       TEXT(sha256_hex(a, code_tidy(a, code)))) ||
        !db_row(rows, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND,
                       "no session waits under that code: it works once, for ten minutes");
    *ret_home = str_dup(a, row_text(rows, 0));
    *ret_session_id = str_dup(a, row_text(rows, 1));
    return db_row(rows, &row, err);
}

#define IS_OPEN "WHERE sha256 = ?2 AND used_ms = 0 AND expires_ms > ?1"

bool take_code_find(OwnStore *own, Arena *a, Str code, Str *ret_home, Str *ret_session_id, Err *err)
{
    return find(own, a, "SELECT home, session_id FROM take_code " IS_OPEN, code, ret_home,
                ret_session_id, err);
}

/* One statement: of two who type it at once, one gets the row. */
bool take_code_use(OwnStore *own, Arena *a, Str code, Str *ret_home, Str *ret_session_id, Err *err)
{
    return find(own, a, "UPDATE take_code SET used_ms = ?1 " IS_OPEN " RETURNING home, session_id",
                code, ret_home, ret_session_id, err);
}

#include "handoff/take_codes.h"

#include "base/clock.h"
#include "chat/people.h"
#include "store/db.h"
#include "text/sha256.h"

enum { CODE_MS = 10 * 60 * 1000 };

/* -- sessions that wait ---------------------------------------------------------------------------------- */

/* Over, or of the same session: neither is of any use from now on. */
static bool sweep(OwnStore *own, Str home, Str session_id, int64_t now, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "DELETE FROM take_code WHERE expires_ms <= ? OR (home = ? AND session_id = ?)",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, now);
    db_bind_str(stmt, 2, home);
    db_bind_str(stmt, 3, session_id);
    return db_step(own_store_db(own), stmt, &row, err);
}

static bool keep(OwnStore *own, Arena *a, Str code, Str home, Str session_id, int64_t now, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "INSERT INTO take_code(sha256, home, session_id, made_ms, expires_ms) "
                    "VALUES(?, ?, ?, ?, ?)",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, sha256_hex(a, code));
    db_bind_str(stmt, 2, home);
    db_bind_str(stmt, 3, session_id);
    sqlite3_bind_int64(stmt, 4, now);
    sqlite3_bind_int64(stmt, 5, now + CODE_MS);
    return db_step(own_store_db(own), stmt, &row, err);
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
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own), sql, &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, clock_wall_ms());
    db_bind_str(stmt, 2, sha256_hex(a, code_tidy(a, code)));
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND,
                       "no session waits under that code: it works once, for ten minutes");
    *ret_home = str_dup(a, db_str(stmt, 0));
    *ret_session_id = str_dup(a, db_str(stmt, 1));
    return db_step(own_store_db(own), stmt, &row, err);
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

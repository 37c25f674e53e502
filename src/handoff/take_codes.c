#include "store/take_codes.h"

#include <ctype.h>
#include <sys/random.h>

#include "base/clock.h"
#include "store/db.h"
#include "text/sha256.h"

enum { CODE_MS = 10 * 60 * 1000 };

static const char letters[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"; /* no 0 O 1 I */

static int64_t now_in_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

/* -- codes --------------------------------------------------------------------------------------------- */

void code_make(char ret[CODE_CHARS + 1])
{
    uint8_t random[CODE_CHARS];

    ASSERT(getrandom(random, sizeof random, 0) == sizeof random);
    for (size_t i = 0; i < CODE_CHARS; i++)
        ret[i] = letters[random[i] % 32];
    ret[CODE_CHARS] = 0;
}

Str code_tidy(Arena *a, Str typed)
{
    char *out = arena_alloc(a, CODE_CHARS + 1);
    size_t n = 0;

    for (size_t i = 0; i < typed.n; i++) {
        int c = toupper((unsigned char)typed.p[i]);

        if (c == '-' || c == ' ')
            continue;
        if (!c || !strchr(letters, c) || n == CODE_CHARS)
            return STR("");
        out[n++] = (char)c;
    }
    return n == CODE_CHARS ? (Str){ out, n } : STR("");
}

/* -- sessions that wait ---------------------------------------------------------------------------------- */

/* Over, or of the same session: neither is of any use from now on. */
static bool sweep(Journal *j, Str home, Str session_id, int64_t now, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "DELETE FROM take_code WHERE expires_ms <= ? OR (home = ? AND session_id = ?)",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, now);
    db_bind_str(stmt, 2, home);
    db_bind_str(stmt, 3, session_id);
    return db_step(journal_db(j), stmt, &row, err);
}

static bool keep(Journal *j, Arena *a, Str code, Str home, Str session_id, int64_t now, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "INSERT INTO take_code(sha256, home, session_id, made_ms, expires_ms) "
                    "VALUES(?, ?, ?, ?, ?)",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, sha256_hex(a, code));
    db_bind_str(stmt, 2, home);
    db_bind_str(stmt, 3, session_id);
    sqlite3_bind_int64(stmt, 4, now);
    sqlite3_bind_int64(stmt, 5, now + CODE_MS);
    return db_step(journal_db(j), stmt, &row, err);
}

bool take_code_make(Journal *j, Arena *a, Str home, Str session_id, Str *ret_code, Err *err)
{
    int64_t now = now_in_ms();
    char code[CODE_CHARS + 1];
    Str made;

    code_make(code);
    made = str_dup(a, str_of(code));
    if (!journal_begin(j, err) || !journal_end(j,
                                               sweep(j, home, session_id, now, err) &&
                                                   keep(j, a, made, home, session_id, now, err),
                                               err))
        return false;
    *ret_code = made;
    return true;
}

static bool find(Journal *j, Arena *a, const char *sql, Str code, Str *ret_home,
                 Str *ret_session_id, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j), sql, &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, now_in_ms());
    db_bind_str(stmt, 2, sha256_hex(a, code_tidy(a, code)));
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND,
                       "no session waits under that code: it works once, for ten minutes");
    *ret_home = str_dup(a, db_str(stmt, 0));
    *ret_session_id = str_dup(a, db_str(stmt, 1));
    return db_step(journal_db(j), stmt, &row, err);
}

#define IS_OPEN "WHERE sha256 = ?2 AND used_ms = 0 AND expires_ms > ?1"

bool take_code_find(Journal *j, Arena *a, Str code, Str *ret_home, Str *ret_session_id, Err *err)
{
    return find(j, a, "SELECT home, session_id FROM take_code " IS_OPEN, code, ret_home,
                ret_session_id, err);
}

/* One statement: of two who type it at once, one gets the row. */
bool take_code_use(Journal *j, Arena *a, Str code, Str *ret_home, Str *ret_session_id, Err *err)
{
    return find(j, a, "UPDATE take_code SET used_ms = ?1 " IS_OPEN " RETURNING home, session_id",
                code, ret_home, ret_session_id, err);
}

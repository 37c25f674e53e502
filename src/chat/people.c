#include "chat/people.h"

#include "base/clock.h"
#include "store/db.h"
#include "store/take_codes.h"

enum { HOUR_MS = 60 * 60 * 1000, MOST_LISTED = 1000 };

static int64_t now_in_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

bool person_is_allowed(Journal *j, Str platform, Str user_id, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(journal_db(j),
                    "SELECT 1 FROM person WHERE platform = ? AND user_id = ? AND state = 'allowed'",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, platform);
    db_bind_str(stmt, 2, user_id);
    return db_step(journal_db(j), stmt, ret, err);
}

/* -- asking -------------------------------------------------------------------------------------------- */

/* Codes that are over make room. */
static bool count_open(Journal *j, int64_t now, int64_t *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j), "DELETE FROM person WHERE state = 'asked' AND expires_ms <= ?",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, now);
    return db_step(journal_db(j), stmt, &row, err) &&
           db_int(journal_db(j), "SELECT count(*) FROM person WHERE state = 'asked'", 0, ret, err);
}

/* *ret_new: nobody of that name is there. */
static bool add(Journal *j, Str platform, Str user_id, Str name, const char *code, int64_t now,
                bool *ret_new, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "INSERT OR IGNORE INTO person(platform, user_id, name, state, code, asked_ms, "
                    "expires_ms) VALUES(?, ?, ?, 'asked', ?, ?, ?)",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, platform);
    db_bind_str(stmt, 2, user_id);
    db_bind_str(stmt, 3, name.n ? name : STR(""));
    db_bind_str(stmt, 4, str_of(code));
    sqlite3_bind_int64(stmt, 5, now);
    sqlite3_bind_int64(stmt, 6, now + HOUR_MS);
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    *ret_new = sqlite3_changes(journal_db(j)->handle) == 1;
    return true;
}

static bool ask(Journal *j, Str platform, Str user_id, Str name, const char *code, bool *ret_new,
                Err *err)
{
    int64_t now = now_in_ms(), open;

    *ret_new = false;
    if (!count_open(j, now, &open, err))
        return false;
    return open >= PEOPLE_ASKING || add(j, platform, user_id, name, code, now, ret_new, err);
}

bool person_ask(Journal *j, Arena *a, Str platform, Str user_id, Str name, Str *ret_code, Err *err)
{
    char code[CODE_CHARS + 1];
    bool new;

    code_make(code);
    if (!journal_begin(j, err) ||
        !journal_end(j, ask(j, platform, user_id, name, code, &new, err), err))
        return false;
    *ret_code = new ? str_dup(a, str_of(code)) : STR("");
    return true;
}

/* -- letting in ------------------------------------------------------------------------------------------ */

#define COLUMNS "platform, user_id, name, code, state, asked_ms, expires_ms"

static Person read_row(Arena *a, Stmt *stmt)
{
    return (Person){ .platform = str_dup(a, db_str(stmt, 0)),
                     .user_id = str_dup(a, db_str(stmt, 1)),
                     .name = str_dup(a, db_str(stmt, 2)),
                     .code = str_dup(a, db_str(stmt, 3)),
                     .allowed = str_eqz(db_str(stmt, 4), "allowed"),
                     .asked_ms = sqlite3_column_int64(stmt, 5),
                     .expires_ms = sqlite3_column_int64(stmt, 6) };
}

bool person_approve(Journal *j, Arena *a, Str code, Person *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Str tidy = code_tidy(a, code);
    bool row = false;

    if (tidy.n) {
        if (!db_prepare(journal_db(j),
                        "UPDATE person SET state = 'allowed', code = '' WHERE code = ? AND state = "
                        "'asked' AND expires_ms > ? RETURNING " COLUMNS,
                        &stmt, err))
            return false;
        db_bind_str(stmt, 1, tidy);
        sqlite3_bind_int64(stmt, 2, now_in_ms());
        if (!db_step(journal_db(j), stmt, &row, err))
            return false;
    }
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "nobody asks under the code '%.*s', or no more",
                       STR_FMT(code));
    *ret = read_row(a, stmt);
    return db_step(journal_db(j), stmt, &row, err);
}

bool people_list(Journal *j, Arena *a, Person **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Person *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_prepare(journal_db(j),
                    "SELECT " COLUMNS " FROM person WHERE state = 'allowed' OR expires_ms > ? "
                    "ORDER BY asked_ms DESC LIMIT ?",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, now_in_ms());
    sqlite3_bind_int64(stmt, 2, MOST_LISTED);
    while (db_next(journal_db(j), stmt, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, stmt));
    *ret = all;
    *ret_n = n;
    return ok;
}

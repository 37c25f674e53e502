#include "chat/people.h"

#include <ctype.h>
#include <sys/random.h>

#include "base/clock.h"
#include "store/db.h"

enum { HOUR_MS = 60 * 60 * 1000, MAX_LISTED = 1000 };

static const char letters[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"; /* no 0 O 1 I */

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

bool person_is_allowed(OwnStore *own, Str platform, Str user_id, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(own_store_db(own),
                    "SELECT 1 FROM person WHERE platform = ? AND user_id = ? AND state = 'allowed'",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, platform);
    db_bind_str(stmt, 2, user_id);
    return db_step(own_store_db(own), stmt, ret, err);
}

/* -- asking -------------------------------------------------------------------------------------------- */

/* Codes that are over make room. */
static bool count_open(OwnStore *own, int64_t now, int64_t *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "DELETE FROM person WHERE state = 'asked' AND expires_ms <= ?", &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, now);
    return db_step(own_store_db(own), stmt, &row, err) &&
           db_int(own_store_db(own), "SELECT count(*) FROM person WHERE state = 'asked'", 0, ret,
                  err);
}

/* *ret_new: nobody of that name is there. */
static bool add(OwnStore *own, Str platform, Str user_id, Str name, const char *code, int64_t now,
                bool *ret_new, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
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
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    *ret_new = sqlite3_changes(own_store_db(own)->handle) == 1;
    return true;
}

static bool ask(OwnStore *own, Str platform, Str user_id, Str name, const char *code, bool *ret_new,
                Err *err)
{
    int64_t now = clock_wall_ms(), open;

    *ret_new = false;
    if (!count_open(own, now, &open, err))
        return false;
    return open >= PEOPLE_ASKING || add(own, platform, user_id, name, code, now, ret_new, err);
}

bool person_ask(OwnStore *own, Arena *a, Str platform, Str user_id, Str name, Str *ret_code,
                Err *err)
{
    char code[CODE_CHARS + 1];
    bool new;

    code_make(code);
    if (!own_store_begin(own, err) ||
        !own_store_end(own, ask(own, platform, user_id, name, code, &new, err), err))
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

bool person_approve(OwnStore *own, Arena *a, Str code, Person *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Str tidy = code_tidy(a, code);
    bool row = false;

    if (tidy.n) {
        if (!db_prepare(own_store_db(own),
                        "UPDATE person SET state = 'allowed', code = '' WHERE code = ? AND state = "
                        "'asked' AND expires_ms > ? RETURNING " COLUMNS,
                        &stmt, err))
            return false;
        db_bind_str(stmt, 1, tidy);
        sqlite3_bind_int64(stmt, 2, clock_wall_ms());
        if (!db_step(own_store_db(own), stmt, &row, err))
            return false;
    }
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "nobody asks under the code '%.*s', or no more",
                       STR_FMT(code));
    *ret = read_row(a, stmt);
    return db_step(own_store_db(own), stmt, &row, err);
}

bool people_list(OwnStore *own, Arena *a, Person **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Person *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_prepare(own_store_db(own),
                    "SELECT " COLUMNS " FROM person WHERE state = 'allowed' OR expires_ms > ? "
                    "ORDER BY asked_ms DESC LIMIT ?",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, clock_wall_ms());
    sqlite3_bind_int64(stmt, 2, MAX_LISTED);
    while (db_next(own_store_db(own), stmt, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, stmt));
    *ret = all;
    *ret_n = n;
    return ok;
}

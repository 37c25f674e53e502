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
    AUTO(DbRows) *rows = NULL;

    return db_query(own_store_db(own), &rows, err,
                    "SELECT 1 FROM person WHERE platform = ? AND user_id = ? AND state = 'allowed'",
                    TEXT(platform), TEXT(user_id)) &&
           db_row(rows, ret, err);
}

/* -- asking -- */

/* Codes that are over make room. */
static bool count_open(OwnStore *own, int64_t now, int64_t *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "DELETE FROM person WHERE state = 'asked' AND expires_ms <= ?", INT(now)))
        return false;
    return db_row(rows, &row, err) &&
           db_get_int(own_store_db(own), 0, ret, err,
                      "SELECT count(*) FROM person WHERE state = 'asked'");
}

/* *ret_new: nobody of that name is there. */
static bool add(OwnStore *own, Str platform, Str user_id, Str name, const char *code, int64_t now,
                bool *ret_new, Err *err)
{
    int64_t n_changed;

    if (!db_exec(own_store_db(own), &n_changed, err,
                 "INSERT OR IGNORE INTO person(platform, user_id, name, state, code, asked_ms, "
                 "expires_ms) VALUES(?, ?, ?, 'asked', ?, ?, ?)",
                 TEXT(platform), TEXT(user_id), TEXT(name.n ? name : STR("")), TEXT(str_of(code)),
                 INT(now), INT(now + HOUR_MS)))
        return false;
    *ret_new = n_changed == 1;
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

/* -- letting in -- */

#define COLUMNS "platform, user_id, name, code, state, asked_ms, expires_ms"

static Person read_row(Arena *a, DbRows *rows)
{
    return (Person){ .platform = str_dup(a, row_text(rows, 0)),
                     .user_id = str_dup(a, row_text(rows, 1)),
                     .name = str_dup(a, row_text(rows, 2)),
                     .code = str_dup(a, row_text(rows, 3)),
                     .allowed = str_eqz(row_text(rows, 4), "allowed"),
                     .asked_ms = row_int(rows, 5),
                     .expires_ms = row_int(rows, 6) };
}

bool person_approve(OwnStore *own, Arena *a, Str code, Person *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Str tidy = code_tidy(a, code);
    bool row = false;

    if (tidy.n) {
        if (!db_query(own_store_db(own), &rows, err,
                      "UPDATE person SET state = 'allowed', code = '' WHERE code = ? AND state = "
                      "'asked' AND expires_ms > ? RETURNING " COLUMNS,
                      TEXT(tidy), INT(clock_wall_ms())) ||
            !db_row(rows, &row, err))
            return false;
    }
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "nobody asks under the code '%.*s', or no more",
                       STR_FMT(code));
    *ret = read_row(a, rows);
    return db_row(rows, &row, err);
}

bool people_list(OwnStore *own, Arena *a, Person **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Person *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT " COLUMNS " FROM person WHERE state = 'allowed' OR expires_ms > ? "
                  "ORDER BY asked_ms DESC LIMIT ?",
                  INT(clock_wall_ms()), INT(MAX_LISTED)))
        return false;
    while (db_next(rows, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, rows));
    *ret = all;
    *ret_n = n;
    return ok;
}

#include "sleep/trial/answers.h"

#include "base/limits.h"
#include "embedded.h"
#include "store/db.h"
#include "text/sha256.h"

struct Answers {
    Db *db;
    Stmt *get, *put, *drop, *last;
};

Answers *answers_open(Str folder, Err *err)
{
    const char *const steps[] = { (const char *)data_schema_answers_001_sql };
    AUTO(Arena) *a = arena_new();
    AUTO(Answers) *s = mem_alloc(sizeof *s);

    s->db = db_open_own(str_z(a, str_join_path(a, folder, STR("answers.db"))), true, err);
    if (!s->db || !db_migrate(s->db, steps, ARRAY_LEN(steps), err) ||
        !db_prepare(s->db, "SELECT answer, tokens, usd, ms, number FROM answers WHERE key = ?",
                    &s->get, err) ||
        !db_prepare(s->db, "INSERT OR IGNORE INTO answers VALUES(?, ?, ?, ?, ?, ?)", &s->put,
                    err) ||
        !db_prepare(s->db, "DELETE FROM answers WHERE number <= ?", &s->drop, err) ||
        !db_prepare(s->db, "SELECT coalesce(max(number), 0) FROM answers", &s->last, err))
        return NULL;
    return TAKE(s);
}

Answers *answers_close(Answers *s)
{
    if (s) {
        stmt_free(s->get);
        stmt_free(s->put);
        stmt_free(s->drop);
        stmt_free(s->last);
        db_close(s->db);
    }
    return mem_free(s);
}

Str answers_key(Arena *a, Str model, const char *kind, Str prompt, Str draw)
{
    return sha256_hex(a, str_printf(a, "%.*s\n%s\n%.*s\n%.*s", STR_FMT(model), kind, STR_FMT(draw),
                                    STR_FMT(prompt)));
}

bool answers_get(Answers *s, Arena *a, Str key, KeptAnswer *ret, bool *ret_found, Err *err)
{
    sqlite3_reset(s->get);
    db_bind_str(s->get, 1, key);
    if (!db_step(s->db, s->get, ret_found, err))
        return false;
    if (*ret_found)
        *ret = (KeptAnswer){ .text = str_dup(a, db_str(s->get, 0)),
                             .tokens = sqlite3_column_int64(s->get, 1),
                             .usd = sqlite3_column_double(s->get, 2),
                             .ms = sqlite3_column_double(s->get, 3),
                             .number = sqlite3_column_int64(s->get, 4) };
    sqlite3_reset(s->get);
    return true;
}

bool answers_last(Answers *s, int64_t *ret, Err *err)
{
    bool row;

    sqlite3_reset(s->last);
    if (!db_step(s->db, s->last, &row, err))
        return false;
    *ret = row ? sqlite3_column_int64(s->last, 0) : 0;
    sqlite3_reset(s->last);
    return true;
}

bool answers_put(Answers *s, Str key, KeptAnswer *answer, Err *err)
{
    bool row;

    if (!answers_last(s, &answer->number, err))
        return false;
    answer->number++;
    sqlite3_reset(s->put);
    db_bind_str(s->put, 1, key);
    db_bind_str(s->put, 2, answer->text);
    sqlite3_bind_int64(s->put, 3, answer->tokens);
    sqlite3_bind_double(s->put, 4, answer->usd);
    sqlite3_bind_double(s->put, 5, answer->ms);
    sqlite3_bind_int64(s->put, 6, answer->number);
    if (!db_step(s->db, s->put, &row, err))
        return false;
    sqlite3_reset(s->drop);
    sqlite3_bind_int64(s->drop, 1, answer->number - LIMIT_SLEEP_ANSWERS);
    return db_step(s->db, s->drop, &row, err);
}

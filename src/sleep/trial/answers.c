#include "sleep/trial/answers.h"

#include "base/limits.h"
#include "embedded.h"
#include "store/db.h"
#include "text/sha256.h"

struct Answers {
    Db *db;
};

Answers *answers_open(Str folder, Err *err)
{
    const char *const steps[] = { (const char *)data_schema_answers_001_sql };
    AUTO(Arena) *a = arena_new();
    AUTO(Answers) *s = mem_alloc(sizeof *s);

    s->db = db_open_own(str_z(a, str_join_path(a, folder, STR("answers.db"))), true, err);
    return s->db && db_migrate(s->db, steps, ARRAY_LEN(steps), err) ? TAKE(s) : NULL;
}

Answers *answers_close(Answers *s)
{
    if (s)
        db_close(s->db);
    return mem_free(s);
}

Str answers_key(Arena *a, Str model, const char *kind, Str prompt, Str draw)
{
    return sha256_hex(a, str_printf(a, "%.*s\n%s\n%.*s\n%.*s", STR_FMT(model), kind, STR_FMT(draw),
                                    STR_FMT(prompt)));
}

bool answers_get(Answers *s, Arena *a, Str key, KeptAnswer *ret, bool *ret_found, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(s->db, &rows, err,
                  "SELECT answer, tokens, usd, ms, number FROM answers WHERE key = ?", TEXT(key)) ||
        !db_row(rows, ret_found, err))
        return false;
    if (*ret_found)
        *ret = (KeptAnswer){ .text = str_dup(a, row_text(rows, 0)),
                             .tokens = row_int(rows, 1),
                             .usd = row_real(rows, 2),
                             .ms = row_real(rows, 3),
                             .number = row_int(rows, 4) };
    return true;
}

bool answers_last(Answers *s, int64_t *ret, Err *err)
{
    return db_get_int(s->db, 0, ret, err, "SELECT max(number) FROM answers");
}

bool answers_put(Answers *s, Str key, KeptAnswer *answer, Err *err)
{
    if (!answers_last(s, &answer->number, err))
        return false;
    answer->number++;
    return db_exec(s->db, NULL, err, "INSERT OR IGNORE INTO answers VALUES(?, ?, ?, ?, ?, ?)",
                   TEXT(key), TEXT(answer->text), INT(answer->tokens), REAL(answer->usd),
                   REAL(answer->ms), INT(answer->number)) &&
           db_exec(s->db, NULL, err, "DELETE FROM answers WHERE number <= ?",
                   INT(answer->number - LIMIT_SLEEP_ANSWERS));
}

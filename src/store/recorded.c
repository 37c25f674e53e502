#include "store/recorded.h"

#include "base/limits.h"
#include "store/db.h"
#include "store/own.h"
#include "text/json.h"

typedef struct Loading {
    Db *db;
    Stmt *insert;
    size_t n_columns;
} Loading;

static bool begin_table(Loading *l, Json head, Err *err)
{
    AUTO_BUF sql = BUF(KIB(8)), places = BUF(KIB(1));
    Json columns = json_get(head, STR("columns"));
    Str table = json_str(json_get(head, STR("table")));

    l->n_columns = json_count(columns);
    buf_addf(&sql, "INSERT INTO %.*s(", STR_FMT(table));
    for (size_t i = 0; i < l->n_columns; i++) {
        Str name = json_str(json_at(columns, i));

        buf_addf(&sql, "%s%.*s", i ? ", " : "", STR_FMT(name));
        buf_addz(&places, i ? ", ?" : "?");
    }
    buf_addf(&sql, ") VALUES(%s)", places.p ? places.p : "");
    l->insert = stmt_free(l->insert);
    return db_prepare(l->db, sql.p, &l->insert, err);
}

static void bind_value(Stmt *stmt, int at, Json v)
{
    int64_t whole = 0;
    double real = 0;
    bool yes = false;

    switch (json_type(v)) {
    case JSON_STRING:
        db_bind_str(stmt, at, json_str(v));
        break;
    case JSON_INT:
        if (json_int(v, &whole))
            sqlite3_bind_int64(stmt, at, whole);
        break;
    case JSON_REAL:
        if (json_double(v, &real))
            sqlite3_bind_double(stmt, at, real);
        break;
    case JSON_BOOL:
        if (json_bool(v, &yes))
            sqlite3_bind_int(stmt, at, yes);
        break;
    default:
        sqlite3_bind_null(stmt, at);
    }
}

static bool add_row(Loading *l, Json row, Err *err)
{
    bool more;

    if (!l->insert || json_count(row) != l->n_columns)
        return err_set(err, ERR_INVALID, "a recorded row has %zu values for %zu columns",
                       json_count(row), l->n_columns);
    sqlite3_reset(l->insert);
    for (size_t i = 0; i < l->n_columns; i++)
        bind_value(l->insert, (int)i + 1, json_at(row, i));
    return db_step(l->db, l->insert, &more, err);
}

static bool add_line(Loading *l, Str line, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(line, err);

    if (!doc)
        return false;
    if (json_type(json_root(doc)) == JSON_OBJECT)
        return begin_table(l, json_root(doc), err);
    return add_row(l, json_root(doc), err);
}

static bool fill(Db *db, Str rows, Err *err)
{
    Loading l = { .db = db };
    size_t number = 0;
    int unused;
    bool ok = db_exec(db, "BEGIN IMMEDIATE", err);
    Str line;

    /* What triggers wrote was recorded too. */
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &unused);
    while (ok && str_split(&rows, '\n', &line)) {
        number++;
        if (line.n && !add_line(&l, line, err))
            ok = err_wrap(err, "recorded row, line %zu", number);
    }
    stmt_free(l.insert);
    return ok && db_exec(db, "COMMIT", err);
}

bool recorded_fill_own(Str data_folder, Str rows, Err *err)
{
    AUTO(Own) *own = own_open(data_folder, err);

    return own && fill(own_db(own), rows, err);
}

bool recorded_fill_new(const char *path, const char *schema, Str rows, Err *err)
{
    AUTO(Db) *db = db_open_own(path, false, err);

    return db && db_exec(db, schema, err) && fill(db, rows, err);
}

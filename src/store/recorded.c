#include "store/recorded.h"

#include "base/limits.h"
#include "store/db_sqlite.h"
#include "store/own.h"
#include "text/json.h"

enum { MAX_COLUMNS = 128 };

typedef struct Loading {
    Db *db;
    Buf insert; /* SQL */
    size_t n_columns;
} Loading;

static void begin_table(Loading *l, Json head)
{
    AUTO_BUF marks = BUF(KIB(1));
    Json columns = json_get(head, STR("columns"));

    l->n_columns = json_count(columns);
    buf_clear(&l->insert);
    buf_addf(&l->insert, "INSERT INTO %.*s(", STR_FMT(json_str(json_get(head, STR("table")))));
    for (size_t i = 0; i < l->n_columns; i++) {
        Str name = json_str(json_at(columns, i));

        buf_addf(&l->insert, "%s%.*s", i ? ", " : "", STR_FMT(name));
        buf_addz(&marks, i ? ", ?" : "?");
    }
    buf_addf(&l->insert, ") VALUES(%s)", marks.p ? marks.p : "");
}

static DbValue value_of(Json v)
{
    int64_t whole = 0;
    double real = 0;
    bool yes = false;

    switch (json_type(v)) {
    case JSON_STRING:
        return TEXT(json_str(v));
    case JSON_INT:
        return json_int(v, &whole) ? INT(whole) : TEXT(STR_NONE);
    case JSON_REAL:
        return json_double(v, &real) ? REAL(real) : TEXT(STR_NONE);
    case JSON_BOOL:
        return json_bool(v, &yes) ? INT(yes) : TEXT(STR_NONE);
    default:
        return TEXT(STR_NONE);
    }
}

static bool add_row(Loading *l, Json row, Err *err)
{
    DbValue values[MAX_COLUMNS];

    if (!l->insert.n || json_count(row) != l->n_columns || l->n_columns > MAX_COLUMNS)
        return err_set(err, ERR_INVALID, "a recorded row has %zu values for %zu columns",
                       json_count(row), l->n_columns);
    for (size_t i = 0; i < l->n_columns; i++)
        values[i] = value_of(json_at(row, i));
    return db_exec_values(l->db, NULL, l->insert.p, false, values, l->n_columns, err);
}

static bool add_line(Loading *l, Str line, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(line, err);

    if (!doc)
        return false;
    if (json_type(json_root(doc)) == JSON_ARRAY)
        return add_row(l, json_root(doc), err);
    begin_table(l, json_root(doc));
    return true;
}

static bool fill(Db *db, Str rows, Err *err)
{
    Loading l = { .db = db, .insert = BUF(KIB(8)) };
    size_t number = 0;
    int unused;
    bool ok = db_script(db, "BEGIN IMMEDIATE", err);
    Str line;

    /* What triggers wrote was recorded too. */
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &unused);
    while (ok && str_split(&rows, '\n', &line)) {
        number++;
        if (line.n && !add_line(&l, line, err))
            ok = err_wrap(err, "recorded row, line %zu", number);
    }
    buf_done(&l.insert);
    return ok && db_script(db, "COMMIT", err);
}

bool recorded_fill_own(Str data_folder, Str rows, Err *err)
{
    AUTO(OwnStore) *own = own_store_open(data_folder, err);

    return own && fill(own_store_db(own), rows, err);
}

bool recorded_fill_new(const char *path, const char *schema, Str rows, Err *err)
{
    AUTO(Db) *db = db_open_own(path, false, err);

    return db && db_script(db, schema, err) && fill(db, rows, err);
}

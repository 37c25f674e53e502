/* The rows of gateway_routing, inside of a transaction of whoever changes them. */
#include "base/clock.h"
#include "base/log.h"
#include "handoff/routing.h"
#include "handoff/routing_inside.h"

bool routing_put(SessionDb *s, Arena *a, Str scope, Str key, Str entry, Err *err)
{
    int64_t n;

    return db_exec(s->db, &n, err,
                   "INSERT OR REPLACE INTO gateway_routing(scope, session_key, entry_json, "
                   "updated_at) VALUES(?, ?, ?, CAST(? AS REAL))",
                   TEXT(scope), TEXT(key), TEXT(entry), TEXT(str_printf(a, "%.6f", clock_wall())));
}

bool routing_drop(SessionDb *s, Str scope, Str key, Err *err)
{
    int64_t n;

    return db_exec(s->db, &n, err,
                   "DELETE FROM gateway_routing WHERE scope = ? AND session_key = ?", TEXT(scope),
                   TEXT(key));
}

Str routing_id_in(Arena *a, Str entry)
{
    PyValue v;
    const PyValue *id;

    if (!pyjson_read(a, entry, &v))
        return STR("");
    id = pyjson_get(&v, STR("session_id"));
    return id && id->type == PY_STR ? id->text : STR("");
}

typedef struct Entry {
    Str key, session_id;
} Entry;

/* Of the key, and those that name the session: not all of them have to be read. */
static bool entries(SessionDb *s, Arena *a, Str scope, Str key, Str session_id, Entry **ret,
                    size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Entry *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(s->db, &rows, err,
                  "SELECT session_key, entry_json FROM gateway_routing WHERE scope = ? AND "
                  "(session_key = ? OR instr(entry_json, ?) > 0) LIMIT 100000",
                  TEXT(scope), TEXT(key), TEXT(session_id)))
        return false;
    while (db_next(rows, &ok, err)) {
        Entry e;

        e = (Entry){ .key = str_dup(a, row_text(rows, 0)),
                     .session_id = routing_id_in(a, str_dup(a, row_text(rows, 1))) };
        ARENA_PUSH(a, all, n, cap, e);
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}

bool routing_clear(SessionDb *s, Arena *a, Str scope, Str key, Str session_id, Str *ret_prev,
                   Str **ret_gone, size_t *ret_n, Err *err)
{
    Entry *all;
    Str *gone;
    size_t n, n_gone = 0;

    if (!entries(s, a, scope, key, session_id, &all, &n, err))
        return false;
    gone = ARENA_ARRAY(a, Str, n + 1);
    *ret_prev = STR("");
    for (size_t i = 0; i < n; i++) {
        if (str_eq(all[i].key, key)) {
            *ret_prev = all[i].session_id;
        } else if (str_eq(all[i].session_id, session_id)) {
            if (!routing_drop(s, scope, all[i].key, err))
                return false;
            gone[n_gone++] = all[i].key;
        }
    }
    *ret_gone = gone;
    *ret_n = n_gone;
    return true;
}

/* The table is what counts: a mirror that cannot be written is told, not a failure. */
void routing_follow(Arena *a, const SessionDb *s, Str home, const Change *c)
{
    Err err;

    if (!s->ours && !routing_mirror(a, home, c->key, c->entry, c->gone, c->n_gone, &err))
        log_warning("%s", err.text);
}

#include "base/buf.h"
#include "base/limits.h"
#include "recall/search_state.h"

/* How FTS5 lays out its index is its own affair: pages are counted in the layouts we know, and in another one not at
 * all. */
static bool is_known_layout(Recall *r, const char *table, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT 1 FROM %s_config WHERE k = 'version' AND v IN (4, 5)", table);
    return db_prepare(r->db, sql, &stmt, err) && db_step(r->db, stmt, ret, err);
}

/* Of each segment: from the page of the last word that is not behind ?1 to that of the first behind ?2. A
 * page's number is kept doubled. */
static bool prepare_pages(Recall *r, const char *table, Stmt **ret, Err *err)
{
    static const char sql[] =
        "WITH RECURSIVE segments(id) AS (SELECT min(segid) FROM @ UNION ALL "
        "SELECT (SELECT min(segid) FROM @ WHERE segid > id) FROM segments WHERE id NOT NULL) "
        "SELECT sum(coalesce((SELECT pgno FROM @ WHERE segid = id AND term > ?2 ORDER BY term "
        "LIMIT 1), "
        "(SELECT pgno + 2 FROM @ WHERE segid = id ORDER BY term DESC LIMIT 1)) - "
        "coalesce((SELECT pgno FROM @ WHERE segid = id AND term <= ?1 ORDER BY term DESC LIMIT 1), "
        "2)) "
        "/ 2 FROM segments WHERE id NOT NULL";
    AUTO_BUF b = BUF(KIB(4));
    bool known;

    if (!is_known_layout(r, table, &known, err))
        return false;
    if (!known)
        return true;
    for (const char *c = sql; *c; c++)
        if (*c == '@')
            buf_addf(&b, "%s_idx", table);
        else
            buf_addc(&b, *c);
    return db_prepare(r->db, b.p, ret, err);
}

static bool prepare(Recall *r, Err *err)
{
    static const char *const names[TABLES] = { "recall_said", "recall_tools" };
    char sql[256];

    for (int t = 0; t < TABLES; t++) {
        snprintf(sql, sizeof sql,
                 "SELECT recall_gather(%s) FROM %s WHERE %s MATCH ?1 ORDER BY rowid DESC", names[t],
                 names[t], names[t]);
        if (!db_prepare(r->db, sql, &r->match[t], err))
            return false;
        snprintf(sql, sizeof sql,
                 "SELECT recall_gather(%s) FROM %s WHERE %s MATCH ?1 AND rowid BETWEEN ?2 AND ?3 "
                 "ORDER BY rowid DESC",
                 names[t], names[t], names[t]);
        if (!db_prepare(r->db, sql, &r->range[t], err) ||
            !prepare_pages(r, names[t], &r->pages[t], err))
            return false;
    }
    return db_prepare(r->db,
                      "SELECT place, line, part, role, at, terms FROM recall_docs WHERE id = ?",
                      &r->doc, err) &&
           db_prepare(
               r->db,
               "SELECT name FROM recall_names WHERE id = (SELECT tool FROM recall_docs WHERE "
               "id = ?)",
               &r->name, err) &&
           db_prepare(r->db, "SELECT key FROM recall_sessions WHERE ord = ?", &r->session, err);
}

Recall *recall_open(Db *db, Err *err)
{
    AUTO(Recall) *r = mem_alloc(sizeof *r);

    r->db = db;
    r->sessions_arena = arena_new();
    return recall_gather_register(r, err) && prepare(r, err) ? TAKE(r) : NULL;
}

Recall *recall_close(Recall *r)
{
    if (r) {
        for (int t = 0; t < TABLES; t++) {
            stmt_free(r->match[t]);
            stmt_free(r->range[t]);
            stmt_free(r->pages[t]);
            pool_done(&r->pools[t]);
        }
        stmt_free(r->doc);
        stmt_free(r->name);
        stmt_free(r->session);
        arena_free(r->sessions_arena);
        mem_free(r);
    }
    return NULL;
}

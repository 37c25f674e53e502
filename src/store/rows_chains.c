/* Chains of sessions that compression cut, read in stretches of rows so that no read lasts. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "store/continues.h"
#include "store/rows.h"
#include "store/rows_inside.h"

enum { STRETCH = 4096 };

typedef struct Pair {
    ChainLink link;
    double started_at;
    int64_t rowid; /* both of the child */
} Pair;

/* The child in which the conversation continues first. */
static int in_order(const void *left, const void *right)
{
    const Pair *a = left, *b = right;
    int order = str_cmp(a->link.id, b->link.id);

    if (order)
        return order;
    if (a->started_at != b->started_at)
        return a->started_at > b->started_at ? -1 : 1;
    return a->rowid > b->rowid ? -1 : a->rowid < b->rowid;
}

static bool has_chains(Rows *r)
{
    static const char *const needed[] = { "parent_session_id", "end_reason", "ended_at" };

    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!db_has_column(r->db, "sessions", needed[i]))
            return false;
    return true;
}

static bool pairs_statement(Rows *r, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(2));

    buf_addf(&sql,
             "SELECT parent.id, child.id, child.source, %s, child.started_at, child.rowid FROM "
             "sessions AS child CROSS JOIN sessions AS parent WHERE child.rowid BETWEEN ?1 AND ?2 "
             "AND " CONTINUES "%s",
             r->has_archived ? "child.archived" : "0",
             db_has_column(r->db, "sessions", "model_config") ? NO_BRANCH : "");
    return stmt_prepare(r->db, sql.p, ret, err);
}

typedef struct Pairs {
    Pair *all;
    size_t n, cap;
} Pairs;

static bool read_stretch(Rows *r, Arena *a, Stmt *stmt, int64_t from, Pairs *pairs, Err *err)
{
    bool row = true;

    sqlite3_bind_int64(stmt, 1, from);
    sqlite3_bind_int64(stmt, 2, from + STRETCH - 1);
    while (row) {
        if (!stmt_step(r->db, stmt, &row, err))
            return false;
        if (row) {
            Pair pair = { .link = { .id = str_dup(a, stmt_text(stmt, 0)),
                                    .next = str_dup(a, stmt_text(stmt, 1)),
                                    .next_source = str_dup(a, stmt_text(stmt, 2)),
                                    .next_archived = sqlite3_column_int(stmt, 3) != 0 },
                          .started_at = sqlite3_column_double(stmt, 4),
                          .rowid = sqlite3_column_int64(stmt, 5) };

            ARENA_PUSH(a, pairs->all, pairs->n, pairs->cap, pair);
        }
    }
    sqlite3_reset(stmt);
    return true;
}

/* The first rowid behind the one given; false: there is none. */
static bool next_row(Rows *r, Stmt *stmt, int64_t after, int64_t *ret, bool *ret_more, Err *err)
{
    bool row;

    sqlite3_bind_int64(stmt, 1, after);
    if (!stmt_step(r->db, stmt, &row, err))
        return false;
    *ret_more = row && sqlite3_column_type(stmt, 0) != SQLITE_NULL;
    *ret = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return true;
}

static void keep_first(Arena *a, Pairs *pairs, ChainLink **ret, size_t *ret_n)
{
    ChainLink *all = ARENA_ARRAY(a, ChainLink, pairs->n + 1);
    size_t n = 0;

    if (pairs->n)
        qsort(pairs->all, pairs->n, sizeof *pairs->all, in_order);
    for (size_t i = 0; i < pairs->n; i++)
        if (n == 0 || !str_eq(all[n - 1].id, pairs->all[i].link.id))
            all[n++] = pairs->all[i].link;
    *ret = all;
    *ret_n = n;
}

bool rows_chains(Rows *r, Arena *a, ChainLink **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *pairs_of = NULL, *next = NULL;
    int64_t from = INT64_MIN;
    Pairs pairs = { 0 };
    bool more = has_chains(r);

    rows_rest(r);
    if (more &&
        (!pairs_statement(r, &pairs_of, err) ||
         !stmt_prepare(r->db, "SELECT min(rowid) FROM sessions WHERE rowid > ?1", &next, err)))
        return false;
    while (more) {
        if (!next_row(r, next, from, &from, &more, err) ||
            (more && !read_stretch(r, a, pairs_of, from, &pairs, err)))
            return false;
        more = more && from < INT64_MAX - STRETCH;
        from += more ? STRETCH - 1 : 0;
    }
    keep_first(a, &pairs, ret, ret_n);
    return true;
}

const ChainLink *chain_next(const ChainLink *links, size_t n, Str id)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(links[middle].id, id);

        if (order == 0)
            return &links[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

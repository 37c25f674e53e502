/* Filters by source, project and time are filters of sessions, and sessions are few: they are read
 * once, kept while nothing has changed, and marked for each search. */
#include <stdlib.h>

#include "recall/search_state.h"

static int newest_first(const void *a, const void *b)
{
    const SessionPlace *x = a, *y = b;

    if (x->last_at != y->last_at)
        return x->last_at < y->last_at ? 1 : -1;
    return x->ord < y->ord ? 1 : x->ord > y->ord ? -1 : 0;
}

typedef struct Loaded {
    SessionPlace *all;
    size_t n, cap;
} Loaded;

static bool read_rows(Recall *r, const SearchFilter *f, Stmt *stmt, Loaded *to, Err *err)
{
    bool row;

    for (;;) {
        SessionPlace s = { .allowed = true };

        if (!db_step(r->db, stmt, &row, err))
            return false;
        if (!row)
            return true;
        s.ord = sqlite3_column_int64(stmt, 0);
        s.last_at = sqlite3_column_double(stmt, 1);
        if (f->source >= 0)
            s.allowed = sqlite3_column_int(stmt, 2) == f->source;
        if (f->since > 0)
            s.allowed &= s.last_at >= f->since;
        if (f->project.n && s.allowed)
            s.allowed = search_project_matches(f->project, db_str(stmt, 3));
        if (s.ord > r->most_ord)
            r->most_ord = s.ord;
        ARENA_PUSH(r->sessions_arena, to->all, to->n, to->cap, s);
    }
}

static bool is_plain(const SearchFilter *f)
{
    return f->source < 0 && !f->project.n && f->since <= 0;
}

bool recall_sessions_load(Recall *r, const SearchFilter *filter, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Loaded to = { 0 };
    int64_t version = 0;

    if (!db_int(r->db, "PRAGMA data_version", 0, &version, err))
        return false;
    version = version * 1000003 + sqlite3_total_changes64(r->db->handle);
    if (r->sessions_known && r->version == version && is_plain(filter))
        return true;
    arena_reset(r->sessions_arena);
    r->most_ord = 0;
    if (!db_prepare(r->db, "SELECT ord, last_at, source, folder FROM recall_sessions", &stmt,
                    err) ||
        !read_rows(r, filter, stmt, &to, err))
        return false;
    if (to.n)
        qsort(to.all, to.n, sizeof *to.all, newest_first);
    r->sessions = to.all;
    r->n_sessions = to.n;
    r->allowed = arena_alloc(r->sessions_arena, (size_t)r->most_ord + 1);
    for (size_t i = 0; i < to.n; i++)
        r->allowed[to.all[i].ord] = to.all[i].allowed;
    r->sessions_known = is_plain(filter);
    r->version = version;
    return true;
}

bool recall_session_allowed(const Recall *r, int64_t ord)
{
    return ord >= 0 && ord <= r->most_ord && r->allowed[ord];
}

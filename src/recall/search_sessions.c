/* Filters by source, project and time are filters of sessions, and sessions are few: they are read
 * once, kept while nothing has changed, and marked for each search.
 *
 * A session's number says when it was indexed, which is not when it was written: histories are found
 * later, and sessions go on. So numbers that lie side by side are a block, and blocks have an order in
 * time: as many questions to FTS5 as there are gaps in it, not as there are sessions. */
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

static int newest_block_first(const void *a, const void *b)
{
    const SessionBlock *x = a, *y = b;

    if (x->newest != y->newest)
        return x->newest < y->newest ? 1 : -1;
    return x->number < y->number ? 1 : x->number > y->number ? -1 : 0;
}

static void make_blocks(Recall *r)
{
    size_t n = (size_t)(r->most_ord / BLOCK_SESSIONS) + 1;
    SessionBlock *all = ARENA_ARRAY(r->sessions_arena, SessionBlock, n);

    for (size_t i = 0; i < n; i++)
        all[i] = (SessionBlock){ .number = -1 };
    for (size_t i = r->n_sessions; i-- > 0;) {
        const SessionPlace *s = &r->sessions[i];

        r->allowed[s->ord] = s->allowed;
        r->last_at[s->ord] = s->last_at;
        if (s->allowed) /* from the oldest to the newest: the last one stays */
            all[s->ord / BLOCK_SESSIONS] = (SessionBlock){ s->ord / BLOCK_SESSIONS, s->last_at };
    }
    r->blocks = all;
    r->n_blocks = 0;
    for (size_t i = 0; i < n; i++)
        if (all[i].number >= 0)
            all[r->n_blocks++] = all[i];
    qsort(all, r->n_blocks, sizeof *all, newest_block_first);
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
    r->last_at = ARENA_ARRAY(r->sessions_arena, double, (size_t)r->most_ord + 1);
    make_blocks(r);
    r->sessions_known = is_plain(filter);
    r->version = version;
    return true;
}

bool recall_session_allowed(const Recall *r, int64_t ord)
{
    return ord >= 0 && ord <= r->most_ord && r->allowed[ord];
}

double recall_session_newest(const Recall *r, int64_t ord)
{
    return ord >= 0 && ord <= r->most_ord ? r->last_at[ord] : 0;
}

/* Filters by source, project and time are filters of sessions, and sessions are few: they are read
 * once, kept while nothing has changed, and marked for each search.
 *
 * A session's number says when it was indexed, which is not when it was written: histories are found
 * later, and sessions go on. So numbers that lie side by side are a block, and blocks have an order in
 * time: as many questions to FTS5 as there are gaps in it, not as there are sessions. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "recall/history.h"
#include "recall/search_state.h"

static int newest_first(const void *a, const void *b)
{
    const SessionPlace *x = a, *y = b;

    if (x->last_at != y->last_at)
        return x->last_at < y->last_at ? 1 : -1;
    return x->ord < y->ord ? 1 : x->ord > y->ord ? -1 : 0;
}

typedef struct Places {
    SessionPlace *all;
    size_t n, cap;
} Places;

/* Columns of the question below. */
enum { ORD, LAST_AT, SOURCE, FOLDER, HOME, ENTRYPOINT, MODEL, ARCHIVED, STARTED_AT };

/* The name by which people know where a session comes from: its program, or Hermes' own source. */
static bool source_matches(const SearchFilter *f, Stmt *stmt)
{
    SourceKind kind = (SourceKind)sqlite3_column_int(stmt, SOURCE);
    bool ours = f->own_home.n && str_eq(db_str(stmt, HOME), f->own_home);
    Str entrypoint = db_str(stmt, ENTRYPOINT);
    Origin origin;

    if (kind != SOURCE_HERMES)
        return str_eqz(f->source, source_name(kind));
    if (!origin_parse(f->source, &origin))
        return str_eq(entrypoint, f->source);
    if (origin == ORIGIN_HERMES)
        return !ours;
    if (!ours)
        return false;
    if (origin == ORIGIN_TALARIA)
        return !str_eqz(entrypoint, "claude") && !str_eqz(entrypoint, "codex");
    return str_eq(entrypoint, f->source);
}

static bool is_allowed(const SearchFilter *f, Stmt *stmt)
{
    Str model = db_str(stmt, MODEL);

    return (!f->source.n || source_matches(f, stmt)) &&
           (f->since <= 0 || sqlite3_column_double(stmt, LAST_AT) >= f->since) &&
           (f->until <= 0 || sqlite3_column_double(stmt, STARTED_AT) < f->until) &&
           (!f->model.n || str_find_nocase(model, f->model) < model.n) &&
           (!f->skip_archived || !sqlite3_column_int(stmt, ARCHIVED)) &&
           (!f->project.n || search_project_matches(f->project, db_str(stmt, FOLDER)));
}

bool recall_is_plain(const SearchFilter *f)
{
    return !f->source.n && !f->project.n && !f->model.n && !f->skip_archived && f->since <= 0 &&
           f->until <= 0;
}

static bool read_rows(Recall *r, const SearchFilter *f, Stmt *stmt, Places *to, Err *err)
{
    bool row, plain = recall_is_plain(f);

    for (;;) {
        SessionPlace s = { 0 };

        if (!db_step(r->db, stmt, &row, err))
            return false;
        if (!row)
            return true;
        s.ord = sqlite3_column_int64(stmt, ORD);
        s.last_at = sqlite3_column_double(stmt, LAST_AT);
        s.allowed = plain || is_allowed(f, stmt);
        if (s.ord > r->most_ord)
            r->most_ord = s.ord;
        ARENA_PUSH(r->sessions_arena, to->all, to->n, to->cap, s);
    }
}

bool recall_source_known(void *ctx, Str name)
{
    Recall *r = ctx;
    AUTO(Stmt) *stmt = NULL;
    bool row = false;
    Err ignored;

    if (!db_prepare(r->db, "SELECT 1 FROM entries WHERE home <> '' AND entrypoint = ? LIMIT 1",
                    &stmt, &ignored))
        return false;
    db_bind_str(stmt, 1, name);
    return db_step(r->db, stmt, &row, &ignored) && row;
}

Str recall_source_names(Recall *r, Arena *a)
{
    AUTO(Stmt) *stmt = NULL;
    AUTO_BUF names = BUF(KIB(4));
    bool row = true;
    Err ignored;

#define X(id, name, title) buf_addf(&names, "%s%s", names.n ? ", " : "", name);
    ORIGINS(X)
#undef X
    if (!db_prepare(
            r->db,
            "SELECT DISTINCT entrypoint FROM entries WHERE home <> '' AND entrypoint NOT IN "
            "('', 'hermes', 'claude', 'codex', 'talaria') ORDER BY 1 LIMIT 20",
            &stmt, &ignored))
        row = false;
    while (row && db_step(r->db, stmt, &row, &ignored) && row)
        buf_addf(&names, ", %.*s", STR_FMT(str_head(db_str(stmt, 0), 40)));
    return str_dup(a, buf_str(&names));
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
    Places to = { 0 };
    int64_t version = 0;

    if (!db_int(r->db, "PRAGMA data_version", 0, &version, err))
        return false;
    version = version * 1000003 + sqlite3_total_changes64(r->db->handle);
    if (r->sessions_known && r->version == version && recall_is_plain(filter))
        return true;
    arena_reset(r->sessions_arena);
    r->most_ord = 0;
    if (!db_prepare(r->db,
                    recall_is_plain(filter)
                        ? "SELECT ord, last_at FROM recall_sessions"
                        : "SELECT s.ord, s.last_at, s.source, s.folder, e.home, e.entrypoint, "
                          "e.model, e.archived, e.started_at FROM recall_sessions s LEFT JOIN "
                          "entries e USING(key)",
                    &stmt, err) ||
        !read_rows(r, filter, stmt, &to, err))
        return false;
    if (to.n)
        qsort(to.all, to.n, sizeof *to.all, newest_first);
    r->sessions = to.all;
    r->n_sessions = to.n;
    r->allowed = arena_alloc(r->sessions_arena, (size_t)r->most_ord + 1);
    r->last_at = ARENA_ARRAY(r->sessions_arena, double, (size_t)r->most_ord + 1);
    make_blocks(r);
    r->sessions_known = recall_is_plain(filter);
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

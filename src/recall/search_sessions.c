/* Filters by source, project and time are filters of sessions, and sessions are few: they are read
 * once, kept while nothing has changed, and marked for each search.
 *
 * A session's number says when it was indexed, which is not when it was written: histories are
 * found later, and sessions go on. So numbers that lie side by side are a block, and blocks have an
 * order in time: as many questions to FTS5 as there are gaps in it, not as there are sessions. */
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
static bool source_matches(const SearchFilter *f, DbRows *rows)
{
    SourceKind kind = (SourceKind)(int)row_int(rows, SOURCE);
    bool ours = f->own_home.n && str_eq(row_text(rows, HOME), f->own_home);
    Str entrypoint = row_text(rows, ENTRYPOINT);
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

static bool is_allowed(const SearchFilter *f, DbRows *rows)
{
    Str model = row_text(rows, MODEL);

    return (!f->source.n || source_matches(f, rows)) &&
           (f->since <= 0 || row_real(rows, LAST_AT) >= f->since) &&
           (f->until <= 0 || row_real(rows, STARTED_AT) < f->until) &&
           (!f->model.n || str_find_nocase(model, f->model) < model.n) &&
           (!f->skip_archived || !(int)row_int(rows, ARCHIVED)) &&
           (!f->project.n || search_project_matches(f->project, row_text(rows, FOLDER)));
}

bool recall_is_plain(const SearchFilter *f)
{
    return !f->source.n && !f->project.n && !f->model.n && !f->skip_archived && f->since <= 0 &&
           f->until <= 0;
}

static bool read_rows(Recall *r, const SearchFilter *f, DbRows *rows, Places *to, Err *err)
{
    bool row, plain = recall_is_plain(f);

    for (;;) {
        SessionPlace s = { 0 };

        if (!db_row(rows, &row, err))
            return false;
        if (!row)
            return true;
        s.ord = row_int(rows, ORD);
        s.last_at = row_real(rows, LAST_AT);
        s.allowed = plain || is_allowed(f, rows);
        if (s.ord > r->most_ord)
            r->most_ord = s.ord;
        ARENA_PUSH(r->sessions_arena, to->all, to->n, to->cap, s);
    }
}

bool recall_source_known(void *ctx, Str name)
{
    Recall *r = ctx;
    AUTO(DbRows) *rows = NULL;
    bool row = false;
    Err ignored;

    if (!db_query(r->db, &rows, &ignored,
                  "SELECT 1 FROM entries WHERE home <> '' AND entrypoint = ? LIMIT 1", TEXT(name)))
        return false;
    return db_row(rows, &row, &ignored) && row;
}

Str recall_source_names(Recall *r, Arena *a)
{
    AUTO(DbRows) *rows = NULL;
    AUTO_BUF names = BUF(KIB(4));
    bool row = true;
    Err ignored;

#define X(id, name, title) buf_addf(&names, "%s%s", names.n ? ", " : "", name);
    ORIGINS(X)
#undef X
    if (!db_query(r->db, &rows, &ignored,
                  "SELECT DISTINCT entrypoint FROM entries WHERE home <> '' AND entrypoint NOT IN "
                  "('', 'hermes', 'claude', 'codex', 'talaria') ORDER BY 1 LIMIT 20"))
        row = false;
    while (row && db_row(rows, &row, &ignored) && row)
        buf_addf(&names, ", %.*s", STR_FMT(str_head(row_text(rows, 0), 40)));
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
    AUTO(DbRows) *rows = NULL;
    Places to = { 0 };
    int64_t version = 0;

    if (!db_get_int(r->db, 0, &version, err, "PRAGMA data_version"))
        return false;
    version = version * 1000003 + db_total_changes(r->db);
    if (r->sessions_known && r->version == version && recall_is_plain(filter))
        return true;
    arena_reset(r->sessions_arena);
    r->most_ord = 0;
    if (!db_query_once(r->db, &rows, err,
                       recall_is_plain(filter)
                           ? "SELECT ord, last_at FROM recall_sessions"
                           : "SELECT s.ord, s.last_at, s.source, s.folder, e.home, e.entrypoint, "
                             "e.model, e.archived, e.started_at FROM recall_sessions s LEFT JOIN "
                             "entries e USING(key)") ||
        !read_rows(r, filter, rows, &to, err))
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

/* Opening and asking. Entries of roots and homes that were not asked for stay in the file and out
 * of every answer: the scope is part of each question. */
#include "transcripts/catalogue.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "store/index.h"
#include "transcripts/catalogue_inside.h"

enum { ID_LEAST = 4 };

/* -- opening -- */

static void add_quoted(Buf *sql, Str s)
{
    buf_addc(sql, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'')
            buf_addc(sql, '\'');
        buf_addc(sql, s.p[i]);
    }
    buf_addc(sql, '\'');
}

/* Paths below a folder, as a range that an index can walk: '0' is the character behind '/'. */
static void add_below(Buf *sql, SourceKind source, Str root)
{
    AUTO(Arena) *a = arena_new();

    buf_addf(sql, " OR (source = %d AND path > ", (int)source);
    add_quoted(sql, str_printf(a, "%.*s/", STR_FMT(root)));
    buf_addz(sql, " AND path < ");
    add_quoted(sql, str_printf(a, "%.*s0", STR_FMT(root)));
    buf_addc(sql, ')');
}

static Str scope_of(Arena *a, const CatalogueQuery *q)
{
    AUTO_BUF sql = BUF(MIB(1));

    buf_addz(&sql, "(0");
    for (size_t i = 0; q->hermes && i < q->homes->n; i++) {
        buf_addf(&sql, " OR (source = %d AND home = ", SOURCE_HERMES);
        add_quoted(&sql, q->homes->all[i].path);
        buf_addc(&sql, ')');
    }
    if (q->claude && q->roots.claude.n)
        add_below(&sql, SOURCE_CLAUDE, q->roots.claude);
    if (q->codex && q->roots.codex.n)
        add_below(&sql, SOURCE_CODEX, q->roots.codex);
    buf_addc(&sql, ')');
    return str_dup(a, buf_str(&sql));
}

/* A batch of sessions fits into memory, and is not written twice for want of room. */
static const char room[] = "PRAGMA cache_size=-16384; PRAGMA wal_autocheckpoint=4000";

static CatalogueQuery complete(const CatalogueQuery *query)
{
    CatalogueQuery q = *query;

    if (!q.hermes && !q.claude && !q.codex)
        q.hermes = q.claude = q.codex = true;
    return q;
}

bool catalogue_stamp(const CatalogueQuery *query, Stamp *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    CatalogueQuery q = complete(query);
    TranscriptRoots roots = catalogue_roots(&q);
    Stamp stamp;

    if (!transcripts_look(a, &roots, NULL, NULL, &stamp, err))
        return false;
    *ret = homes_stamp(a, &q, clock_wall(), &stamp) ? stamp : (Stamp){ 0 };
    return true;
}

Catalogue *catalogue_open(const CatalogueQuery *query, Err *err)
{
    AUTO(Catalogue) *c = mem_alloc(sizeof *c);

    c->query = complete(query);
    c->a = arena_new();
    c->scope = scope_of(c->a, &c->query);
    c->db = index_db_open(query->homes->data, err);
    return c->db && db_script(c->db, room, err) ? TAKE(c) : NULL;
}

Catalogue *catalogue_close(Catalogue *c)
{
    if (c) {
        db_close(c->db);
        if (c->damaged)
            index_db_remove(c->query.homes->data);
        arena_free(c->a);
        mem_free(c);
    }
    return NULL;
}

Db *catalogue_db(Catalogue *c)
{
    return c->db;
}

bool catalogue_is_private(Catalogue *c, Err *err)
{
    if (db_is_private(c->db) && !file_is_read_only(db_path(c->db), err))
        err_set_to(err, ERR_READ_ONLY, "cannot write to '%s'", db_path(c->db));
    return db_is_private(c->db);
}

bool catalogue_clear(Catalogue *c, Err *err)
{
    return db_script(c->db, "DELETE FROM calls; DELETE FROM entries; DELETE FROM entry_homes", err);
}

/* -- asking -- */

/* A statement is put together from pieces, each with the value of its one parameter. */
typedef struct Question {
    Buf sql;
    DbValue values[16];
    size_t n;
} Question;

static void question_done(Question *q)
{
    buf_done(&q->sql);
}
#define AUTO_QUESTION __attribute__((cleanup(question_done))) Question

/* Every @ in the piece is its value. */
static void add_where(Question *q, const char *sql, DbValue value)
{
    ASSERT(q->n < ARRAY_LEN(q->values));
    q->values[q->n++] = value;
    for (; *sql; sql++)
        if (*sql == '@')
            buf_addf(&q->sql, "?%zu", q->n);
        else
            buf_addc(&q->sql, *sql);
}

static bool ask(Catalogue *c, Arena *a, Question *q, Entry **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Entry *all = NULL;
    size_t n = 0, cap = 0;
    bool row = true;

    if (!db_query_values(c->db, &rows, q->sql.p, false, q->values, q->n, err))
        return false;
    while (row) {
        EntryRow one;

        if (!db_row(rows, &row, err))
            return false;
        if (!row)
            break;
        entry_read(a, rows, &one);
        one.e.continues = str_dup(a, row_text(rows, ENTRY_N_COLUMNS));
        ARENA_PUSH(a, all, n, cap, one.e);
    }
    *ret = all;
    *ret_n = n;
    return true;
}

static void begin_question(Catalogue *c, Question *q)
{
    buf_addf(&q->sql,
             "SELECT " ENTRY_COLUMN_NAMES
             ", (SELECT p.id FROM entries p WHERE p.continued_in = entries.id AND "
             "p.continued_in <> '' AND p.source = entries.source LIMIT 1) FROM entries WHERE %.*s",
             STR_FMT(c->scope));
}

static void where_project(Question *q, Str project)
{
    while (project.n > 1 && project.p[project.n - 1] == '/')
        project.n--;
    if (project.p[0] == '/')
        add_where(q, " AND (cwd = @ OR substr(cwd, 1, length(@) + 1) = @ || '/')", TEXT(project));
    else
        add_where(q, " AND substr(cwd, -length(@) - 1) = '/' || @", TEXT(project));
}

bool catalogue_list(Catalogue *c, Arena *a, const EntryQuery *query, Entry **ret, size_t *ret_n,
                    Err *err)
{
    AUTO_QUESTION q = { .sql = BUF(MIB(2)) };

    begin_question(c, &q);
    if (query->source >= 0)
        buf_addf(&q.sql, " AND source = %d", query->source);
    if (!query->side_chains)
        buf_addz(&q.sql, " AND side_chain = 0");
    if (!query->archived)
        buf_addz(&q.sql, " AND archived = 0");
    if (query->project.n)
        where_project(&q, query->project);
    if (query->model.n)
        add_where(&q, " AND instr(lower(model), lower(@))", TEXT(query->model));
    if (query->tool.n)
        add_where(&q, " AND instr(char(10) || tools || char(10), char(10) || @ || char(10))",
                  TEXT(query->tool));
    if (query->since > 0)
        add_where(&q, " AND last_at >= @", REAL(query->since));
    if (query->until > 0)
        add_where(&q, " AND last_at < @", REAL(query->until));
    if (query->before_key > 0) {
        add_where(&q, " AND (last_at, key) < (@", REAL(query->before_at));
        buf_addf(&q.sql, ", %lld)", (long long)query->before_key);
    }
    buf_addf(&q.sql, " ORDER BY last_at DESC, key DESC LIMIT %lld",
             query->max ? (long long)query->max : -1LL);
    return ask(c, a, &q, ret, ret_n, err);
}

bool catalogue_marks(Catalogue *c, Arena *a, EntryMark **ret, size_t *ret_n, Err *err)
{
    AUTO_BUF sql = BUF(MIB(2));
    AUTO(DbRows) *rows = NULL;
    EntryMark *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    buf_addf(&sql,
             "SELECT key, started_at, last_at, human, offset, proof, cwd FROM entries WHERE %.*s "
             "AND side_chain = 0 ORDER BY last_at DESC, key DESC",
             STR_FMT(c->scope));
    if (!db_query_once(c->db, &rows, err, sql.p))
        return false;
    while (db_next(rows, &ok, err)) {
        EntryMark one = { .key = row_int(rows, 0),
                          .started_at = row_real(rows, 1),
                          .last_at = row_real(rows, 2),
                          .human = row_bool(rows, 3),
                          .offset = row_int(rows, 4),
                          .proof = (uint64_t)row_int(rows, 5),
                          .cwd = str_dup(a, row_text(rows, 6)) };

        ARENA_PUSH(a, all, n, cap, one);
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}

bool catalogue_get(Catalogue *c, Arena *a, int64_t key, Entry *ret, Err *err)
{
    AUTO_QUESTION q = { .sql = BUF(MIB(2)) };
    Entry *all;
    size_t n;

    begin_question(c, &q);
    buf_addf(&q.sql, " AND key = %lld", (long long)key);
    if (!ask(c, a, &q, &all, &n, err))
        return false;
    if (n == 0)
        return err_set(err, ERR_NOT_FOUND, "no such session any more");
    *ret = all[0];
    return true;
}

/* The beginning of an id as a range, for the index: up to the next text that does not begin so. */
static void where_begins(Arena *a, Question *q, Str id)
{
    Str behind = str_printf(a, "%.*s\xf4\x8f\xbf\xbf", STR_FMT(id));

    add_where(q, " AND id >= @", TEXT(id));
    add_where(q, " AND id <= @", TEXT(behind));
}

bool catalogue_begins(Catalogue *c, Arena *a, Str prefix, size_t max, Entry **ret, size_t *ret_n,
                      Err *err)
{
    AUTO_QUESTION q = { .sql = BUF(MIB(2)) };

    begin_question(c, &q);
    where_begins(a, &q, prefix);
    buf_addf(&q.sql, " ORDER BY id, last_at DESC LIMIT %zu", max);
    return ask(c, a, &q, ret, ret_n, err);
}

bool catalogue_find(Catalogue *c, Arena *a, Str id, Entry *ret, Err *err)
{
    AUTO_QUESTION q = { .sql = BUF(MIB(2)) };
    Entry *all;
    size_t n = 0;

    begin_question(c, &q);
    where_begins(a, &q, id);
    buf_addz(&q.sql, " ORDER BY id, last_at DESC LIMIT 2");
    if (id.n >= ID_LEAST && !ask(c, a, &q, &all, &n, err))
        return false;
    if (id.n < ID_LEAST || n == 0)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'", STR_FMT(id));
    if (n > 1 && !str_eq(all[0].id, id))
        return err_set(err, ERR_CONFLICT, "more than one session begins with '%.*s'", STR_FMT(id));
    *ret = all[0];
    return true;
}

void entry_file(const Entry *e, TranscriptFile *ret)
{
    *ret = (TranscriptFile){ .source = e->source,
                             .path = e->path,
                             .stem = e->id,
                             .parent = e->parent,
                             .side_chain = e->side_chain,
                             .archived = e->archived,
                             .size = e->cursor.size,
                             .mtime_ns = e->cursor.mtime_ns,
                             .inode = e->cursor.inode };
}

/* -- facets -- */

/* X("which", column) */
#define FACETS(X)                                                                                  \
    X("project", "cwd")                                                                            \
    X("model", "model")                                                                            \
    X("branch", "branch")

static const char *facet_column(const char *which)
{
#define X(name, column)                                                                            \
    if (strcmp(which, name) == 0)                                                                  \
        return column;
    FACETS(X)
#undef X
    return NULL;
}

/* Tools are several a session: each line of the column counts for itself. */
static const char tools_sql[] =
    "WITH RECURSIVE t(name, rest) AS (SELECT '', tools || char(10) FROM entries WHERE %.*s AND "
    "tools <> '' UNION ALL SELECT substr(rest, 1, instr(rest, char(10)) - 1), substr(rest, "
    "instr(rest, char(10)) + 1) FROM t WHERE rest <> '') SELECT name, count(*) FROM t WHERE name "
    "<> '' GROUP BY name ORDER BY 2 DESC, 1 LIMIT %zu";

bool catalogue_facets(Catalogue *c, Arena *a, const char *which, size_t max, Facet **ret,
                      size_t *ret_n, Err *err)
{
    AUTO_BUF sql = BUF(MIB(2));
    AUTO(DbRows) *rows = NULL;
    const char *column = facet_column(which);
    Facet *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (strcmp(which, "tool") == 0)
        buf_addf(&sql, tools_sql, STR_FMT(c->scope), max);
    else if (column)
        buf_addf(&sql,
                 "SELECT %s, count(*) FROM entries WHERE %.*s AND side_chain = 0 AND %s <> '' "
                 "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %zu",
                 column, STR_FMT(c->scope), column, max);
    else
        return err_set(err, ERR_USAGE, "no facet '%s'", which);
    if (!db_query_once(c->db, &rows, err, sql.p))
        return false;
    while (db_next(rows, &ok, err)) {
        Facet f = { str_dup(a, row_text(rows, 0)), row_int(rows, 1) };

        ARENA_PUSH(a, all, n, cap, f);
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}

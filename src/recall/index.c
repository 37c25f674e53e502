/* Rows are numbered so that a session's documents lie side by side and those of one kind follow each
 * other without a gap: the neighbours of a document are its number plus and minus one, and "this
 * session only" is a range of numbers. FTS5 writes fastest where numbers grow, which they do while
 * sessions are read for the first time. */
#include "recall/index.h"

#include "base/limits.h"
#include "recall/terms.h"

enum { NAMES = 1024, BATCH_BYTES = 8 << 20 };

static const char set_session[] = "UPDATE recall_sessions SET folder = ?, last_at = ?, said = ?, "
                                  "tools = ?, bytes = ?, offset = ?, "
                                  "proof = ? WHERE ord = ?";

/* X(id, sql) */
#define STATEMENTS(X)                                                                              \
    X(FIND_SESSION, "SELECT ord, said, tools, bytes, offset FROM recall_sessions WHERE key = ?")   \
    X(ADD_SESSION, "INSERT INTO recall_sessions VALUES(NULL, ?, ?, ?, ?, 0, 0, 0, 0, 0)")          \
    X(SET_SESSION, set_session)                                                                    \
    X(DROP_SESSION, "DELETE FROM recall_sessions WHERE ord = ?")                                   \
    X(HEARD, "DELETE FROM recall_due WHERE key = ?")                                               \
    X(DROP_DOCS, "DELETE FROM recall_docs WHERE id BETWEEN ? AND ?")                               \
    X(DROP_SAID, "DELETE FROM recall_said WHERE rowid = ?")                                        \
    X(DROP_TOOLS, "DELETE FROM recall_tools WHERE rowid = ?")                                      \
    X(ADD_DOC, "INSERT INTO recall_docs VALUES(?, ?, ?, ?, ?, ?, ?, ?)")                           \
    X(ADD_SAID, "INSERT INTO recall_said(rowid, who, text) VALUES(?, ?, ?)")                       \
    X(ADD_TOOLS, "INSERT INTO recall_tools(rowid, who, text) VALUES(?, ?, ?)")                     \
    X(FIND_NAME, "SELECT id FROM recall_names WHERE name = ?")                                     \
    X(ADD_NAME, "INSERT INTO recall_names(name) VALUES(?)")

enum {
#define X(id, sql) id,
    STATEMENTS(X)
#undef X
        STATEMENT_COUNT
};

/* Words of a document on their way into FTS5. */
typedef struct Waiting {
    int64_t row;
    int which; /* ADD_SAID, ADD_TOOLS */
    Str who, text;
} Waiting;

typedef struct Name {
    Str name;
    int64_t id;
} Name;

struct RecallIndex {
    Db *db;
    Stmt *stmts[STATEMENT_COUNT];
    Buf who, text;
    Arena *batch;
    Waiting *waiting;
    size_t n_waiting, cap_waiting, ended; /* those of whole sessions */
    size_t bytes_waiting;
    int64_t ord, said, tools, bytes, offset; /* of the session at hand */
    bool passed_over;                        /* ... which is read afterwards */
    Arena *names_arena;
    Name names[NAMES];
    size_t n_names;
    Arena *arena; /* emptied with each document */
    RecallListen *listen;
};

const char *doc_role_name(DocRole role)
{
    static const char *const names[] = {
#define X(id, name) name,
        DOC_ROLES(X)
#undef X
    };

    return names[role];
}

/* A digit in front: no word of a person begins so, and what a tool is called may be a common word. */
Str doc_role_term(DocRole role)
{
    static const char *const terms[] = {
#define X(id, name) "0role0" name,
        DOC_ROLES(X)
#undef X
    };

    return str_of(terms[role]);
}

Str doc_tool_term(Arena *a, Str tool)
{
    AUTO_BUF b = BUF(KIB(4));
    TermIter it = TERMS(str_head(tool, KIB(1)));
    Term t;

    it.plain = true;
    buf_addz(&b, "0tool0");
    while (term_next(&it, &t))
        buf_add(&b, term_str(&t));
    return str_dup(a, buf_str(&b));
}

/* -- statements ----------------------------------------------------------------------------------- */

RecallIndex *recall_index_open(Db *db, Err *err)
{
    static const char *const sql[] = {
#define X(id, text) text,
        STATEMENTS(X)
#undef X
    };
    AUTO(RecallIndex) *x = mem_alloc(sizeof *x);

    x->db = db;
    x->who = BUF(KIB(64));
    x->text = BUF(MIB(8));
    x->arena = arena_new();
    x->batch = arena_new();
    x->names_arena = arena_new();
    x->listen = recall_listen_new();
    if (!db_exec(db, "PRAGMA cache_size = -32768", err))
        return NULL;
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        if (!db_prepare(db, sql[i], &x->stmts[i], err))
            return NULL;
    return TAKE(x);
}

RecallIndex *recall_index_close(RecallIndex *x)
{
    if (x) {
        for (size_t i = 0; i < STATEMENT_COUNT; i++)
            stmt_free(x->stmts[i]);
        buf_done(&x->who);
        buf_done(&x->text);
        arena_free(x->arena);
        arena_free(x->batch);
        arena_free(x->names_arena);
        recall_listen_free(x->listen);
        mem_free(x);
    }
    return NULL;
}

RecallListen *recall_index_listen(RecallIndex *x)
{
    return x->listen;
}

static bool run(RecallIndex *x, int which, Err *err)
{
    bool row, ok = db_step(x->db, x->stmts[which], &row, err);

    sqlite3_reset(x->stmts[which]);
    return ok;
}

/* -- names of tools ------------------------------------------------------------------------------- */

static bool look_up_name(RecallIndex *x, Str name, int64_t *ret, Err *err)
{
    Stmt *find = x->stmts[FIND_NAME];
    bool row = false, ok;

    db_bind_str(find, 1, name);
    ok = db_step(x->db, find, &row, err);
    if (ok && row)
        *ret = sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    if (!ok || row)
        return ok;
    db_bind_str(x->stmts[ADD_NAME], 1, name);
    if (!run(x, ADD_NAME, err))
        return false;
    *ret = sqlite3_last_insert_rowid(x->db->handle);
    return true;
}

/* A name that an update rolled back is looked up again: the cache lives for one session. */
static bool name_id(RecallIndex *x, Str name, int64_t *ret, Err *err)
{
    *ret = 0;
    if (!name.n)
        return true;
    for (size_t i = 0; i < x->n_names; i++)
        if (str_eq(x->names[i].name, name)) {
            *ret = x->names[i].id;
            return true;
        }
    if (!look_up_name(x, name, ret, err))
        return false;
    if (x->n_names < NAMES)
        x->names[x->n_names++] = (Name){ str_dup(x->names_arena, name), *ret };
    return true;
}

/* -- words, on their way ------------------------------------------------------------------------- */

static void wait_terms(RecallIndex *x, int which, int64_t row)
{
    Waiting w = { row, which, str_dup(x->batch, buf_str(&x->who)),
                  str_dup(x->batch, buf_str(&x->text)) };

    ARENA_PUSH(x->batch, x->waiting, x->n_waiting, x->cap_waiting, w);
    x->bytes_waiting += w.text.n;
}

static bool write_terms(RecallIndex *x, const Waiting *w, Err *err)
{
    Stmt *add = x->stmts[w->which];

    sqlite3_bind_int64(add, 1, w->row);
    db_bind_str(add, 2, w->who);
    db_bind_str(add, 3, w->text);
    return run(x, w->which, err);
}

bool recall_index_flush(RecallIndex *x, Err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < x->ended; i++)
        ok = write_terms(x, &x->waiting[i], err);
    x->n_waiting = x->cap_waiting = x->ended = x->bytes_waiting = 0;
    x->waiting = NULL;
    arena_reset(x->batch);
    return ok;
}

/* -- sessions ------------------------------------------------------------------------------------- */

static bool find_session(RecallIndex *x, int64_t key, bool *ret_found, Err *err)
{
    Stmt *stmt = x->stmts[FIND_SESSION];
    bool ok;

    sqlite3_bind_int64(stmt, 1, key);
    ok = db_step(x->db, stmt, ret_found, err);
    if (ok && *ret_found) {
        x->ord = sqlite3_column_int64(stmt, 0);
        x->said = sqlite3_column_int64(stmt, 1);
        x->tools = sqlite3_column_int64(stmt, 2);
        x->bytes = sqlite3_column_int64(stmt, 3);
        x->offset = sqlite3_column_int64(stmt, 4);
    }
    sqlite3_reset(stmt);
    return ok;
}

static bool drop_rows(RecallIndex *x, int which, int64_t n, Err *err)
{
    for (int64_t i = 0; i < n; i++) {
        sqlite3_bind_int64(x->stmts[which], 1, DOC_ROW(x->ord, i));
        if (!run(x, which, err))
            return false;
    }
    return true;
}

bool recall_index_drop(RecallIndex *x, int64_t key, Err *err)
{
    bool found;

    if (!find_session(x, key, &found, err) || !found)
        return !found;
    sqlite3_bind_int64(x->stmts[DROP_DOCS], 1, DOC_ID(DOC_ROW(x->ord, 0), 0));
    sqlite3_bind_int64(x->stmts[DROP_DOCS], 2, DOC_ID(DOC_ROW(x->ord + 1, 0), 0) - 1);
    sqlite3_bind_int64(x->stmts[DROP_SESSION], 1, x->ord);
    return drop_rows(x, DROP_SAID, x->said, err) && drop_rows(x, DROP_TOOLS, x->tools, err) &&
           run(x, DROP_DOCS, err) && run(x, DROP_SESSION, err);
}

bool recall_index_begin(RecallIndex *x, const DocSession *s, bool anew, Err *err)
{
    Stmt *add = x->stmts[ADD_SESSION];
    bool found = false;

    x->n_waiting = x->ended; /* a session that was given up is rolled back, and so are its words */
    x->n_names = 0;
    arena_reset(x->names_arena);
    if (anew && !recall_index_drop(x, s->key, err))
        return false;
    if (!anew && !find_session(x, s->key, &found, err))
        return false;
    x->passed_over = !anew && (found ? x->offset : 0) != s->offset;
    if (found || x->passed_over)
        return true;
    sqlite3_bind_int64(add, 1, s->key);
    sqlite3_bind_int(add, 2, (int)s->source);
    db_bind_str(add, 3, s->folder.p ? s->folder : STR(""));
    sqlite3_bind_double(add, 4, s->last_at);
    if (!run(x, ADD_SESSION, err))
        return false;
    x->ord = sqlite3_last_insert_rowid(x->db->handle);
    x->said = x->tools = x->bytes = 0;
    return true;
}

bool recall_index_end(RecallIndex *x, const DocSession *s, Err *err)
{
    Stmt *set = x->stmts[SET_SESSION];

    if (x->passed_over)
        return true;
    db_bind_str(set, 1, s->folder.p ? s->folder : STR(""));
    sqlite3_bind_double(set, 2, s->last_at);
    sqlite3_bind_int64(set, 3, x->said);
    sqlite3_bind_int64(set, 4, x->tools);
    sqlite3_bind_int64(set, 5, x->bytes);
    sqlite3_bind_int64(set, 6, s->offset);
    sqlite3_bind_int64(set, 7, (int64_t)s->proof);
    sqlite3_bind_int64(set, 8, x->ord);
    sqlite3_bind_int64(x->stmts[HEARD], 1, s->key);
    if (!run(x, SET_SESSION, err) || !run(x, HEARD, err))
        return false;
    x->ended = x->n_waiting;
    return x->bytes_waiting < BATCH_BYTES || recall_index_flush(x, err);
}

/* -- documents ------------------------------------------------------------------------------------ */

static bool add_place(RecallIndex *x, const Doc *d, int64_t id, int64_t terms, Err *err)
{
    Stmt *add = x->stmts[ADD_DOC];
    int64_t tool;

    if (!name_id(x, d->tool, &tool, err))
        return false;
    sqlite3_bind_int64(add, 1, id);
    sqlite3_bind_int64(add, 2, d->place);
    sqlite3_bind_int64(add, 3, d->line);
    sqlite3_bind_int(add, 4, d->part);
    sqlite3_bind_int(add, 5, (int)d->role | (d->guest ? DOC_OF_GUEST : 0));
    sqlite3_bind_int64(add, 6, tool);
    sqlite3_bind_int64(add, 7, (int64_t)(d->at * 1000));
    sqlite3_bind_int64(add, 8, terms);
    return run(x, ADD_DOC, err);
}

bool recall_index_add(RecallIndex *x, const Doc *d, Err *err)
{
    bool tools = d->role >= DOC_CALL;
    int64_t *seq = tools ? &x->tools : &x->said, row = DOC_ROW(x->ord, *seq);
    size_t terms;

    if (x->passed_over)
        return true;
    buf_clear(&x->who);
    buf_clear(&x->text);
    terms = terms_write(&x->text, d->text);
    if (!terms || *seq >= LIMIT_RECALL_DOCS)
        return true;
    arena_reset(x->arena);
    buf_add(&x->who, doc_role_term(d->role));
    if (d->guest)
        buf_addz(&x->who, " " DOC_GUEST_TERM);
    if (d->tool.n) {
        buf_addc(&x->who, ' ');
        buf_add(&x->who, doc_tool_term(x->arena, d->tool));
    }
    buf_addc(&x->who, ' ');
    (void)terms_write(&x->who, d->who);
    if (!add_place(x, d, DOC_ID(row, tools), (int64_t)terms, err))
        return false;
    wait_terms(x, tools ? ADD_TOOLS : ADD_SAID, row);
    *seq += 1;
    x->bytes += (int64_t)d->text.n;
    return true;
}

bool recall_index_clear(RecallIndex *x, Err *err)
{
    x->ended = 0;
    return recall_index_flush(x, err) &&
           db_exec(x->db,
                   "BEGIN IMMEDIATE;"
                   "DELETE FROM recall_docs; DELETE FROM recall_names; DELETE FROM recall_sessions;"
                   "DELETE FROM recall_due;"
                   "INSERT INTO recall_said(recall_said) VALUES('delete-all');"
                   "INSERT INTO recall_tools(recall_tools) VALUES('delete-all');"
                   "COMMIT",
                   err);
}

/* -- size ----------------------------------------------------------------------------------------- */

bool recall_index_size(Db *db, RecallSize *ret, Err *err)
{
    static const char sums[] = "SELECT count(*), coalesce(sum(said + tools), 0), "
                               "coalesce(sum(bytes), 0) FROM recall_sessions";
    AUTO(Stmt) *stmt = NULL;
    int64_t pages, page;
    bool row;

    if (!db_prepare(db, sums, &stmt, err) || !db_step(db, stmt, &row, err) ||
        !db_int(db, "PRAGMA page_count", 0, &pages, err) ||
        !db_int(db, "PRAGMA page_size", 0, &page, err))
        return false;
    ret->sessions = sqlite3_column_int64(stmt, 0);
    ret->documents = sqlite3_column_int64(stmt, 1);
    ret->text_bytes = sqlite3_column_int64(stmt, 2);
    ret->index_bytes = pages * page;
    return true;
}

/* Rows are numbered so that a session's documents lie side by side and those of one kind follow
 * each other without a gap: the neighbours of a document are its number plus and minus one, and
 * "this session only" is a range of numbers. FTS5 writes fastest where numbers grow, which they do
 * while sessions are read for the first time. */
#include "recall/index.h"

#include "base/limits.h"
#include "recall/terms.h"

enum { NAMES = 1024, BATCH_BYTES = 8 << 20 };

/* Words of a document on their way into FTS5. */
typedef struct Waiting {
    int64_t row;
    bool tools; /* of recall_tools, else of recall_said */
    Str who, text;
} Waiting;

typedef struct Name {
    Str name;
    int64_t id;
} Name;

struct RecallIndex {
    Db *db;
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

/* A digit in front: no word of a person begins so, and what a tool is called may be a common
 * word. */
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

/* -- statements -- */

RecallIndex *recall_index_open(Db *db, Err *err)
{
    AUTO(RecallIndex) *x = mem_alloc(sizeof *x);

    x->db = db;
    x->who = BUF(KIB(64));
    x->text = BUF(MIB(8));
    x->arena = arena_new();
    x->batch = arena_new();
    x->names_arena = arena_new();
    x->listen = recall_listen_new();
    return db_script(db, "PRAGMA cache_size = -32768", err) ? TAKE(x) : NULL;
}

RecallIndex *recall_index_close(RecallIndex *x)
{
    if (x) {
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

/* -- names of tools -- */

static bool look_up_name(RecallIndex *x, Str name, int64_t *ret, Err *err)
{
    if (!db_get_int(x->db, 0, ret, err, "SELECT id FROM recall_names WHERE name = ?", TEXT(name)))
        return false;
    if (*ret)
        return true;
    if (!db_exec(x->db, NULL, err, "INSERT INTO recall_names(name) VALUES(?)", TEXT(name)))
        return false;
    *ret = db_last_id(x->db);
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

/* -- words, on their way -- */

static void wait_terms(RecallIndex *x, bool tools, int64_t row)
{
    Waiting w = { row, tools, str_dup(x->batch, buf_str(&x->who)),
                  str_dup(x->batch, buf_str(&x->text)) };

    ARENA_PUSH(x->batch, x->waiting, x->n_waiting, x->cap_waiting, w);
    x->bytes_waiting += w.text.n;
}

static bool write_terms(RecallIndex *x, const Waiting *w, Err *err)
{
    if (w->tools)
        return db_exec(x->db, NULL, err,
                       "INSERT INTO recall_tools(rowid, who, text) VALUES(?, ?, ?)", INT(w->row),
                       TEXT(w->who), TEXT(w->text));
    return db_exec(x->db, NULL, err, "INSERT INTO recall_said(rowid, who, text) VALUES(?, ?, ?)",
                   INT(w->row), TEXT(w->who), TEXT(w->text));
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

/* -- sessions -- */

static bool find_session(RecallIndex *x, int64_t key, bool *ret_found, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(x->db, &rows, err,
                  "SELECT ord, said, tools, bytes, offset FROM recall_sessions WHERE key = ?",
                  INT(key)) ||
        !db_row(rows, ret_found, err))
        return false;
    if (*ret_found) {
        x->ord = row_int(rows, 0);
        x->said = row_int(rows, 1);
        x->tools = row_int(rows, 2);
        x->bytes = row_int(rows, 3);
        x->offset = row_int(rows, 4);
    }
    return true;
}

bool recall_index_drop(RecallIndex *x, int64_t key, Err *err)
{
    bool found, ok = true;

    if (!find_session(x, key, &found, err) || !found)
        return !found;
    for (int64_t i = 0; ok && i < x->said; i++)
        ok = db_exec(x->db, NULL, err, "DELETE FROM recall_said WHERE rowid = ?",
                     INT(DOC_ROW(x->ord, i)));
    for (int64_t i = 0; ok && i < x->tools; i++)
        ok = db_exec(x->db, NULL, err, "DELETE FROM recall_tools WHERE rowid = ?",
                     INT(DOC_ROW(x->ord, i)));
    return ok &&
           db_exec(x->db, NULL, err, "DELETE FROM recall_docs WHERE id BETWEEN ? AND ?",
                   INT(DOC_ID(DOC_ROW(x->ord, 0), 0)),
                   INT(DOC_ID(DOC_ROW(x->ord + 1, 0), 0) - 1)) &&
           db_exec(x->db, NULL, err, "DELETE FROM recall_sessions WHERE ord = ?", INT(x->ord));
}

bool recall_index_begin(RecallIndex *x, const DocSession *s, bool anew, Err *err)
{
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
    if (!db_exec(x->db, NULL, err,
                 "INSERT INTO recall_sessions VALUES(NULL, ?, ?, ?, ?, 0, 0, 0, 0, 0)", INT(s->key),
                 INT((int)s->source), SOME(s->folder), REAL(s->last_at)))
        return false;
    x->ord = db_last_id(x->db);
    x->said = x->tools = x->bytes = 0;
    return true;
}

bool recall_index_end(RecallIndex *x, const DocSession *s, Err *err)
{
    if (x->passed_over)
        return true;
    if (!db_exec(x->db, NULL, err,
                 "UPDATE recall_sessions SET folder = ?, last_at = ?, said = ?, tools = ?, bytes = "
                 "?, offset = ?, proof = ? WHERE ord = ?",
                 SOME(s->folder), REAL(s->last_at), INT(x->said), INT(x->tools), INT(x->bytes),
                 INT(s->offset), INT((int64_t)s->proof), INT(x->ord)) ||
        !db_exec(x->db, NULL, err, "DELETE FROM recall_due WHERE key = ?", INT(s->key)))
        return false;
    x->ended = x->n_waiting;
    return x->bytes_waiting < BATCH_BYTES || recall_index_flush(x, err);
}

/* -- documents -- */

static bool add_place(RecallIndex *x, const Doc *d, int64_t id, int64_t terms, Err *err)
{
    int64_t tool;

    return name_id(x, d->tool, &tool, err) &&
           db_exec(x->db, NULL, err, "INSERT INTO recall_docs VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                   INT(id), INT(d->place), INT(d->line), INT(d->part),
                   INT((int)d->role | (d->guest ? DOC_OF_GUEST : 0)), INT(tool),
                   INT((int64_t)(d->at * 1000)), INT(terms));
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
    wait_terms(x, tools, row);
    *seq += 1;
    x->bytes += (int64_t)d->text.n;
    return true;
}

bool recall_index_clear(RecallIndex *x, Err *err)
{
    x->ended = 0;
    return recall_index_flush(x, err) &&
           db_script(
               x->db,
               "BEGIN IMMEDIATE;"
               "DELETE FROM recall_docs; DELETE FROM recall_names; DELETE FROM recall_sessions;"
               "DELETE FROM recall_due;"
               "INSERT INTO recall_said(recall_said) VALUES('delete-all');"
               "INSERT INTO recall_tools(recall_tools) VALUES('delete-all');"
               "COMMIT",
               err);
}

/* -- size -- */

bool recall_index_size(Db *db, RecallSize *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    int64_t pages, page;
    bool row;

    if (!db_query(db, &rows, err,
                  "SELECT count(*), coalesce(sum(said + tools), 0), "
                  "coalesce(sum(bytes), 0) FROM recall_sessions") ||
        !db_row(rows, &row, err) || !db_get_int(db, 0, &pages, err, "PRAGMA page_count") ||
        !db_get_int(db, 0, &page, err, "PRAGMA page_size"))
        return false;
    ret->sessions = row_int(rows, 0);
    ret->documents = row_int(rows, 1);
    ret->text_bytes = row_int(rows, 2);
    ret->index_bytes = pages * page;
    return true;
}

/* FTS5 finds the rows; what each is worth is not left to its bm25(), which counts every phrase over
 * the whole table and looks up the length of every row. An auxiliary function of our own is called
 * for each row instead, puts down how often each phrase stands in it, and nothing more. */
#include "recall/search_state.h"
#include "store/db_sqlite.h"

enum { MAX_OF_ONE = 8 }; /* a word that stands there more often says no more */

/* Share of a word that stands one and two documents away: what answers comes behind what is
 * asked. */
static const float before[] = { 1.0f, 0.3f, 0.1f };
static const float behind[] = { 1.0f, 0.6f, 0.4f };

/* What was said is shared with the neighbours; who said it is not. */
static void add_weight(Gather *g, int64_t row, size_t atom, float who, float text)
{
    int64_t ord = DOC_ORD(row);

    pool_add(g->pool, row, atom, who + text);
    if (!g->spread || text <= 0)
        return;
    for (int64_t i = 1; i < (int64_t)ARRAY_LEN(before); i++) {
        if (DOC_ORD(row - i) == ord)
            pool_add(g->pool, row - i, atom, text * before[i]);
        pool_add(g->pool, row + i, atom, text * behind[i]);
    }
}

/* How often the phrase stands in who said it (ret[0]) and in the text (ret[1]). */
static void count_phrase(const Fts5ExtensionApi *api, Fts5Context *fts, int phrase, float ret[2])
{
    Fts5PhraseIter it;
    int column, offset;

    ret[0] = ret[1] = 0;
    if (api->xPhraseFirst(fts, phrase, &it, &column, &offset) != SQLITE_OK)
        return;
    for (; column >= 0 && ret[1] < MAX_OF_ONE; api->xPhraseNext(fts, &it, &column, &offset))
        ret[column == 0]++;
}

static void learn_facts(const Fts5ExtensionApi *api, Fts5Context *fts, TableFacts *ret)
{
    sqlite3_int64 rows = 0, terms = 0;

    if (api->xRowCount(fts, &rows) != SQLITE_OK ||
        api->xColumnTotalSize(fts, 0, &terms) != SQLITE_OK)
        return;
    ret->rows = (double)rows;
    ret->length = rows ? (double)terms / (double)rows : 1;
}

static void gather(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *answer, int n,
                   sqlite3_value **values)
{
    Recall *r = api->xUserData(fts);
    Gather *g = &r->gather;
    int64_t row = api->xRowid(fts);

    (void)n;
    (void)values;
    sqlite3_result_int(answer, 1);
    if (g->except && DOC_ORD(row) == g->except)
        return;
    if (g->seen++ == 0)
        learn_facts(api, fts, &g->facts);
    if (g->counting)
        return;
    if (g->filtered && !recall_session_allowed(r, DOC_ORD(row)))
        return;
    for (int i = 0; i < g->n_phrases; i++)
        if (g->atom_of[i] >= 0) {
            float count[2];

            count_phrase(api, fts, i, count);
            if (count[0] > 0 || count[1] > 0)
                add_weight(g, row, (size_t)g->atom_of[i], count[0], count[1]);
        }
}

bool recall_gather_register(Recall *r, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    fts5_api *api = NULL;
    bool row;

    if (!stmt_prepare(r->db, "SELECT fts5(?1)", &stmt, err))
        return false;
    sqlite3_bind_pointer(stmt, 1, (void *)&api, "fts5_api_ptr", NULL);
    if (!stmt_step(r->db, stmt, &row, err))
        return false;
    if (!api || api->xCreateFunction(api, "recall_gather", r, gather, NULL) != SQLITE_OK)
        return err_set(err, ERR_INTERNAL, "this SQLite has no FTS5");
    return true;
}

#define GATHER_FROM(table) "SELECT recall_gather(" table ") FROM " table " WHERE " table " MATCH ?1"
#define IN_RANGE           " AND rowid BETWEEN ?2 AND ?3"
#define NEWEST_FIRST       " ORDER BY rowid DESC"

bool recall_gather_run(Recall *r, int table, Str match, int64_t first, int64_t last, int64_t max,
                       Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = true, ok;

    r->gather.pool = &r->pools[table];
    if (first > 0)
        ok = table == TABLE_SAID
                 ? db_query(r->db, &rows, err, GATHER_FROM("recall_said") IN_RANGE NEWEST_FIRST,
                            TEXT(match), INT(first), INT(last))
                 : db_query(r->db, &rows, err, GATHER_FROM("recall_tools") IN_RANGE NEWEST_FIRST,
                            TEXT(match), INT(first), INT(last));
    else
        ok = table == TABLE_SAID
                 ? db_query(r->db, &rows, err, GATHER_FROM("recall_said") NEWEST_FIRST, TEXT(match))
                 : db_query(r->db, &rows, err, GATHER_FROM("recall_tools") NEWEST_FIRST,
                            TEXT(match));
    for (int64_t i = 0; i < max && row && ok; i++)
        ok = db_row(rows, &row, err);
    return ok;
}

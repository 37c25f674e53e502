/* The catalogue moves its cursors for whoever updates it; this index may not have been listening
 * then. So it keeps cursors of its own, and triggers put down which entries have changed
 * (recall_due): where the cursors differ, the session is read again from where the index stands, up
 * to where the catalogue does. Each batch looks for such sessions inside its own transaction: two
 * processes never index the same thing twice. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "recall/index.h"

enum { BATCH = 64 };

typedef struct Behind {
    int64_t key, offset;
    uint64_t proof;
    bool known; /* to the index */
} Behind;

typedef struct CatchUp {
    RecallIndex *x;
    Catalogue *c;
    const Homes *homes;
    Db *db;
    Arena *arena;
    Reader *reader;
    CatalogueListener listener;
    Entry entry;
    bool failed;
    bool (*stop)(void *ctx);
    void *stop_ctx;
    UpdateStats *stats;
    Err *err;
} CatchUp;

/* -- what is behind -- */

static bool find_behind(CatchUp *u, int64_t after, Behind ret[BATCH], size_t *ret_n)
{
    AUTO(DbRows) *rows = NULL;
    bool row = true;

    *ret_n = 0;
    if (!db_query(u->db, &rows, u->err,
                  "SELECT e.key, s.offset, s.proof FROM recall_due d JOIN entries e USING(key) "
                  "LEFT JOIN recall_sessions s USING(key) WHERE d.key > ? AND s.offset IS NOT "
                  "e.offset AND e.offset > 0 ORDER BY d.key LIMIT 64",
                  INT(after)))
        return false;
    while (*ret_n < BATCH) {
        if (!db_row(rows, &row, u->err))
            return false;
        if (!row)
            break;
        ret[(*ret_n)++] = (Behind){ .key = row_int(rows, 0),
                                    .offset = row_int(rows, 1),
                                    .proof = (uint64_t)row_int(rows, 2),
                                    .known = !row_is_null(rows, 1) };
    }
    return true;
}

/* What is due and needs nothing: entries that are gone, or changed in what the index does not
 * hold. */
static bool forget_settled(CatchUp *u)
{
    return db_script(
        u->db,
        "DELETE FROM recall_due WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.key = "
        "recall_due.key) OR EXISTS (SELECT 1 FROM entries e JOIN recall_sessions s "
        "USING(key) WHERE e.key = recall_due.key AND e.offset = s.offset)",
        u->err);
}

static bool drop_orphans(CatchUp *u)
{
    int64_t key;

    for (;;) {
        if (!db_get_int(
                u->db, -1, &key, u->err,
                "SELECT key FROM recall_due JOIN recall_sessions USING(key) WHERE NOT EXISTS "
                "(SELECT 1 FROM entries e WHERE e.key = recall_due.key) LIMIT 1"))
            return false;
        if (key < 0)
            return forget_settled(u);
        if (!recall_index_drop(u->x, key, u->err))
            return false;
    }
}

/* -- reading it -- */

/* No further than the catalogue: what comes behind is its to tell. */
static bool on_event(void *ctx, const Event *e, Err *err)
{
    CatchUp *u = ctx;
    bool behind =
        u->entry.home.n ? e->where > u->entry.cursor.offset : e->where >= u->entry.cursor.offset;

    return behind || !(u->listener.kinds & 1u << e->kind) ||
           u->listener.event(u->listener.ctx, e, err);
}

static void on_anew(void *ctx)
{
    CatchUp *u = ctx;
    Entry at = u->entry;

    at.cursor.offset = 0;
    u->failed |= !u->listener.begin(u->listener.ctx, &at, true, u->err);
}

static const Home *home_of(const CatchUp *u)
{
    for (size_t i = 0; i < u->homes->n; i++)
        if (str_eq(u->homes->all[i].path, u->entry.home))
            return &u->homes->all[i];
    return NULL;
}

static bool read_home(CatchUp *u, int64_t after, Err *err)
{
    RowsQuery query = { .archived = true, .compacted = true };
    const Home *home = home_of(u);
    AUTO(Rows) *rows = home ? rows_open(home, &query, err) : NULL;
    int64_t last;

    if (!home)
        return err_set(err, ERR_NOT_FOUND, "no such home");
    return rows && catalogue_read_once(u->db, u->arena, home, rows, err) &&
           hermes_read(rows, u->entry.id, after, on_event, u, &last, err);
}

static bool read_file(CatchUp *u, const Behind *b, Err *err)
{
    Cursor cursor = { .offset = b->offset, .proof = b->proof };
    ReadOptions options = { .kinds = u->listener.kinds };
    TranscriptFile file;
    ReadStats stats;

    entry_file(&u->entry, &file);
    if (!transcript_read(u->reader, &file, &options, &cursor, on_event, on_anew, u, &stats, err))
        return false;
    u->stats->bytes += stats.bytes;
    u->stats->messages += stats.lines;
    return true;
}

/* One that cannot be read now is left for the next time. */
static bool catch_up_one(CatchUp *u, const Behind *b)
{
    Entry at;
    Err why;

    arena_reset(u->arena);
    if (!catalogue_get(u->c, u->arena, b->key, &u->entry, &why))
        return true; /* of a home or root that was not asked for */
    at = u->entry;
    at.cursor.offset = b->offset;
    if (!db_script(u->db, "SAVEPOINT catching_up", u->err) ||
        !u->listener.begin(u->listener.ctx, &at, !b->known, u->err))
        return false;
    if (!(u->entry.home.n ? read_home(u, b->offset, &why) : read_file(u, b, &why))) {
        log_warning("'%.*s' is not indexed: %s", STR_FMT(u->entry.id), why.text);
        return db_script(u->db, "ROLLBACK TO catching_up; RELEASE catching_up", u->err);
    }
    u->stats->read++;
    return !u->failed && u->listener.end(u->listener.ctx, &u->entry, u->err) &&
           db_script(u->db, "RELEASE catching_up", u->err);
}

static bool catch_up_batch(CatchUp *u, int64_t *after, bool *ret_more)
{
    Behind behind[BATCH];
    bool stopped = false;
    size_t n;

    if (!find_behind(u, *after, behind, &n))
        return false;
    for (size_t i = 0; i < n && !stopped; i++) {
        stopped = u->stop && u->stop(u->stop_ctx);
        if (!stopped && !catch_up_one(u, &behind[i]))
            return false;
        *after = behind[i].key;
    }
    *ret_more = n == BATCH;
    if (!recall_index_flush(u->x, u->err) || !db_script(u->db, "COMMIT", u->err))
        return false;
    return !stopped || err_set(u->err, ERR_INTERRUPTED, "interrupted");
}

/* -- all of it -- */

static bool anything_behind(Db *db, int64_t *ret, Err *err)
{
    return db_get_int(db, 0, ret, err, "SELECT EXISTS (SELECT 1 FROM recall_due)");
}

static bool catch_up(CatchUp *u)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Reader) *reader = reader_new();
    int64_t after = 0;
    bool more = true;

    u->arena = a;
    u->reader = reader;
    while (more) {
        if (!db_script(u->db, "BEGIN IMMEDIATE", u->err))
            return false;
        if ((after == 0 && !drop_orphans(u)) || !catch_up_batch(u, &after, &more)) {
            db_rollback(u->db);
            return false;
        }
    }
    return true;
}

bool recall_update(RecallIndex *x, Catalogue *c, const Homes *homes, bool (*stop)(void *ctx),
                   void *stop_ctx, UpdateStats *ret, Err *err)
{
    CatalogueListener listener = recall_index_listener(x);
    CatchUp u = { .x = x,
                  .c = c,
                  .homes = homes,
                  .db = catalogue_db(c),
                  .listener = listener,
                  .stop = stop,
                  .stop_ctx = stop_ctx,
                  .stats = ret,
                  .err = err };
    int64_t behind = 0;

    *ret = (UpdateStats){ 0 };
    if (!catalogue_update(c, &listener, 1, stop, stop_ctx, ret, err))
        return false;
    if (ret->busy || !anything_behind(u.db, &behind, err) || !behind)
        return ret->busy || !behind;
    return catch_up(&u);
}

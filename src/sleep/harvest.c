#include "sleep/harvest.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "sleep/mined.h"

enum { TRACE_BYTES = 8 << 20, COMMIT_EVERY = 200 };

/* The rules by which a trace is made; another number, and all are made anew. */
#define TRACE_VERSION 2

typedef struct Harvester {
    Catalogue *catalogue;
    Db *db;
    Stmt *get, *put, *remove;
    TraceBuilder *builder;
    Arena *scratch;
    Reader *reader;
    bool whole;   /* the session at hand is read from its beginning */
    bool reading; /* inside of one transaction, so that not every look takes a lock */
    size_t waiting;
    Buf marks; /* of the traces that were gathered: what mining depends on */
} Harvester;

/* How far a session was read, and by which rules: what a trace is valid for. */
typedef struct Mark {
    int64_t version, offset;
    uint64_t proof;
} Mark;

static void bind_mark(Stmt *stmt, int at, const Entry *e)
{
    Mark mark = { TRACE_VERSION, e->cursor.offset, e->cursor.proof };

    sqlite3_bind_blob(stmt, at, &mark, sizeof mark, SQLITE_TRANSIENT);
}

/* -- keeping ------------------------------------------------------------------------------------------ */

static bool keep(Harvester *h, const Entry *e, const Trace *t, Err *err)
{
    AUTO_BUF packed = BUF(TRACE_BYTES);
    bool row;

    trace_pack(&packed, t);
    if (buf_full(&packed))
        return err_set(err, ERR_TOO_LARGE, "the trace of session '%.*s' is too large",
                       STR_FMT(e->id));
    sqlite3_reset(h->put);
    sqlite3_bind_int64(h->put, 1, e->key);
    bind_mark(h->put, 2, e);
    sqlite3_bind_blob64(h->put, 3, packed.p, packed.n, SQLITE_STATIC);
    return db_step(h->db, h->put, &row, err);
}

static bool listen_begin(void *ctx, const Entry *e, bool anew, Err *err)
{
    Harvester *h = ctx;

    (void)err;
    h->whole = anew || e->cursor.offset == 0;
    return true;
}

static bool listen_event(void *ctx, const Event *e, Err *err)
{
    Harvester *h = ctx;

    (void)err;
    if (h->whole)
        trace_event(h->builder, e);
    return true;
}

static bool listen_end(void *ctx, const Entry *e, Err *err)
{
    Harvester *h = ctx;
    Trace t;
    bool ok;

    if (!h->whole)
        return true;
    trace_finish(h->builder, h->scratch, e, &t);
    ok = keep(h, e, &t, err);
    arena_reset(h->scratch);
    return ok;
}

static bool listen_gone(void *ctx, const Entry *e, Err *err)
{
    Harvester *h = ctx;
    bool row;

    sqlite3_reset(h->remove);
    sqlite3_bind_int64(h->remove, 1, e->key);
    return db_step(h->db, h->remove, &row, err);
}

/* -- reading ------------------------------------------------------------------------------------------- */

static bool feed(void *ctx, const Event *e, Err *err)
{
    (void)err;
    trace_event(ctx, e);
    return true;
}

static bool read_hermes(Harvester *h, const Homes *homes, const Entry *e, Err *err)
{
    const RowsQuery query = { .archived = true };

    for (size_t i = 0; i < homes->n; i++) {
        AUTO(Rows) *rows = NULL;
        int64_t last;

        if (!str_eq(homes->all[i].path, e->home))
            continue;
        rows = rows_open(&homes->all[i], &query, err);
        return rows && hermes_read(rows, e->id, 0, feed, h->builder, &last, err);
    }
    return err_set(err, ERR_NOT_FOUND, "the home of session '%.*s' is not there", STR_FMT(e->id));
}

static bool read_again(Harvester *h, const Homes *homes, const Entry *e, Err *err)
{
    const ReadOptions options = { .kinds = trace_kinds() };
    Cursor from_start = { 0 };
    TranscriptFile file;
    ReadStats stats;

    if (e->source == SOURCE_HERMES)
        return read_hermes(h, homes, e, err);
    entry_file(e, &file);
    return transcript_read(h->reader, &file, &options, &from_start, feed, NULL, h->builder, &stats,
                           err);
}

static bool kept(Harvester *h, Arena *a, const Entry *e, Trace *ret, bool *ret_found, Err *err)
{
    bool row;

    sqlite3_reset(h->get);
    sqlite3_bind_int64(h->get, 1, e->key);
    bind_mark(h->get, 2, e);
    if (!db_step(h->db, h->get, &row, err))
        return false;
    *ret_found = false;
    if (!row)
        return true;
    /* What cannot be read any more is made again. */
    *ret_found = trace_unpack(a, str_dup(a, db_str(h->get, 0)), ret) && ret->digests.n == 1;
    return true;
}

/* A look cannot become a change where somebody else has changed something since. */
static bool stop_reading(Harvester *h, Err *err)
{
    bool was = h->reading;

    h->reading = false;
    sqlite3_reset(h->get);
    return !was || db_exec(h->db, "COMMIT", err);
}

static bool finish_writing(Harvester *h, Err *err)
{
    bool was = h->waiting > 0;

    h->waiting = 0;
    return !was || db_exec(h->db, "COMMIT", err);
}

static bool trace_of(Harvester *h, Arena *a, const Homes *homes, const Entry *e, Trace *ret,
                     Err *err)
{
    bool found;

    if (!kept(h, a, e, ret, &found, err))
        return false;
    if (found)
        return true;
    if (!read_again(h, homes, e, err))
        return false;
    trace_finish(h->builder, a, e, ret);
    if (!stop_reading(h, err) || (h->waiting == 0 && !db_exec(h->db, "BEGIN IMMEDIATE", err)))
        return false;
    h->waiting++;
    return keep(h, e, ret, err) && (h->waiting < COMMIT_EVERY || finish_writing(h, err));
}

/* -- which sessions ---------------------------------------------------------------------------------------- */

static bool lies_in(Str path, Str folder)
{
    while (folder.n > 1 && folder.p[folder.n - 1] == '/')
        folder.n--;
    return str_starts(path, folder) &&
           (path.n == folder.n || folder.n == 1 || path.p[folder.n] == '/');
}

static bool is_in_scope(const HarvestQuery *q, const Entry *e)
{
    if ((q->since > 0 && e->last_at <= q->since) || (q->until > 0 && e->started_at > q->until))
        return false;
    return !q->project.n ||
           (e->cwd.n && (lies_in(e->cwd, q->project) || lies_in(q->project, e->cwd)));
}

static void add_mark(Harvester *h, const Entry *e)
{
    int64_t mark[] = { TRACE_VERSION, e->key, e->cursor.offset, (int64_t)e->cursor.proof };

    buf_add(&h->marks, (Str){ (const char *)&mark, sizeof mark });
}

static bool gather(Harvester *h, Arena *a, const HarvestQuery *query, SleepHarvest *ret, Err *err)
{
    const EntryQuery all = { .source = -1, .archived = true, .most = SIZE_MAX };
    AUTO(Arena) *entries_arena = arena_new();
    Entry *entries;
    size_t n, cap = 0;

    if (!db_exec(h->db, "BEGIN", err)) /* one look at all that is kept */
        return false;
    h->reading = true;
    if (!catalogue_list(h->catalogue, entries_arena, &all, &entries, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        const Entry *e = &entries[i];
        Trace *t;

        progress_show("harvesting", i, n);
        arena_reset(h->scratch);
        if (!e->human || e->side_chain) {
            ret->not_human++;
        } else if (!is_in_scope(query, e)) {
            ret->elsewhere++;
        } else if (query->most && ret->n == query->most) {
            ret->left_out++;
        } else {
            t = ARENA_NEW(a, Trace);
            if (!trace_of(h, a, query->sources.homes, e, t, err)) {
                if (err->kind != ERR_NOT_FOUND && err->kind != ERR_IO)
                    return false;
                log_warning("left out of the harvest: %s", err->text);
                continue;
            }
            if (trace_is_human(t, e)) {
                ARENA_PUSH(a, ret->traces, ret->n, cap, t);
                add_mark(h, e);
            } else {
                ret->not_human++;
            }
        }
    }
    progress_end();
    return finish_writing(h, err) && stop_reading(h, err);
}

/* Out of what is kept where it is the same; a result that cannot be kept is still one. */
static bool mine(Harvester *h, Arena *a, const MineOptions *options, const SleepHarvest *from,
                 Mined *ret, Err *err)
{
    Str key = mined_key(a, buf_str(&h->marks), options);
    bool found = false;
    Err ignored;

    if (!buf_full(&h->marks) && !mined_get(h->db, a, key, ret, &found, err))
        return false;
    if (found)
        return true;
    mine_tasks(a, from->traces, from->n, options, ret);
    if (!buf_full(&h->marks) && !mined_put(h->db, key, ret, &ignored))
        log_debug("what was mined is not kept: %s", ignored.text);
    return true;
}

static bool open_harvester(Harvester *h, const HarvestQuery *query, Err *err)
{
    h->catalogue = catalogue_open(&query->sources, err);
    if (!h->catalogue)
        return false;
    h->db = catalogue_db(h->catalogue);
    h->builder = trace_begin();
    h->scratch = arena_new();
    h->reader = reader_new();
    h->marks = (Buf)BUF(LIMIT_SLEEP_FILE);
    return db_prepare(h->db, "SELECT trace FROM traces WHERE entry = ? AND read = ?", &h->get,
                      err) &&
           db_prepare(h->db, "INSERT OR REPLACE INTO traces VALUES(?, ?, ?)", &h->put, err) &&
           db_prepare(h->db, "DELETE FROM traces WHERE entry = ?", &h->remove, err);
}

static void close_harvester(Harvester *h)
{
    stmt_free(h->get);
    stmt_free(h->put);
    stmt_free(h->remove);
    trace_drop(h->builder);
    arena_free(h->scratch);
    reader_free(h->reader);
    buf_done(&h->marks);
    catalogue_close(h->catalogue);
}

/* Somebody else may be bringing the catalogue up to date, such as a server its search index. What is
 * there until then is not the whole, and a night must not take it for that. */
static bool update_whole(Harvester *h, UpdateStats *ret, Err *err)
{
    enum { EVERY_MS = 20, MOST_MS = 120000 };
    const CatalogueListener listener = { .ctx = h,
                                         .begin = listen_begin,
                                         .event = listen_event,
                                         .end = listen_end,
                                         .gone = listen_gone,
                                         .kinds = trace_kinds() };
    int64_t until = clock_mono_ms() + MOST_MS;

    for (;;) {
        if (!catalogue_update(h->catalogue, &listener, 1, NULL, NULL, ret, err))
            return false;
        if (!ret->busy)
            return true;
        if (clock_mono_ms() > until)
            return err_set(err, ERR_BUSY,
                           "another program is still reading the sessions; try again later");
        usleep(EVERY_MS * 1000);
    }
}

bool sleep_harvest(Arena *a, const HarvestQuery *query, const MineOptions *options,
                   SleepHarvest *ret, Mined *ret_mined, Err *err)
{
    Harvester h = { 0 };
    SleepHarvest harvest = { 0 };
    bool ok = open_harvester(&h, query, err);

    ok = ok && update_whole(&h, &harvest.update, err) && gather(&h, a, query, &harvest, err) &&
         mine(&h, a, options, &harvest, ret_mined, err);
    if (!ok && (h.waiting || h.reading) && !db_exec(h.db, "ROLLBACK", &(Err){ 0 }))
        log_debug("nothing was open to be rolled back");
    close_harvester(&h);
    if (ok)
        *ret = harvest;
    return ok;
}

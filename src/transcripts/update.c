/* One update: what is common to files and homes. A session's row, and all that listeners make of
 * its events, is one savepoint; a batch of sessions is one transaction. So whatever ends the run,
 * cursor and content stay of one mind, and the next run continues behind the last batch. */
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "transcripts/catalogue_inside.h"

/* What is lost to a kill, and how long others wait to write. Late listeners are quick ones: batches
 * may be larger, so that pages of the indexes are written less often. */
enum { BATCH_ROWS = 256, BATCH_BYTES = 64 << 20, LATE_TIMES = 4 };

/* -- transactions -- */

static bool begin_batch(Update *u)
{
    Db *db = u->c->db;

    if (u->in_batch)
        return true;
    if (!db_script(db, "BEGIN IMMEDIATE", u->err))
        return false;
    u->in_batch = true;
    return db_get_int(db, 0, &u->next_key, u->err,
                      "SELECT seq FROM sqlite_sequence WHERE name = 'entries'");
}

static void roll_back(Update *u)
{
    if (u->in_batch)
        db_rollback(u->c->db);
    u->in_batch = false;
}

/* -- listeners -- */

#define TELL(u, member, ...)                                                                       \
    ({                                                                                             \
        bool told_ = true;                                                                         \
        for (size_t i_ = 0; told_ && i_ < (u)->n; i_++)                                            \
            if ((u)->listeners[i_].member)                                                         \
                told_ = (u)->listeners[i_].member((u)->listeners[i_].ctx, __VA_ARGS__);            \
        (u)->listener_failed |= !told_;                                                            \
        told_;                                                                                     \
    })

bool update_commit(Update *u)
{
    if (!u->in_batch)
        return true;
    if (!TELL(u, commit, u->err) || !db_script(u->c->db, "COMMIT", u->err))
        return false;
    u->in_batch = false;
    u->batch_rows = 0;
    u->batch_bytes = 0;
    return true;
}

static bool tell_begin(Update *u, Err *err)
{
    if (u->begun)
        return true;
    u->begun = true;
    return TELL(u, begin, &u->row.e, u->anew, err);
}

static bool begin_session(Update *u);

/* Of a session with very many calls some are saved before its end. */
static bool count_call(Update *u, const Event *e)
{
    bool full = calls_add(u->calls, u->c->query.roots.claude, e);

    return !full || (begin_session(u) && calls_save(u->calls, &u->row.e, u->err));
}

bool update_event(void *ctx, const Event *e, Err *err)
{
    Update *u = ctx;

    entry_event(u->row_arena, &u->row, e);
    if (e->kind == EVENT_USAGE && e->call && !count_call(u, e))
        return false;
    if (!tell_begin(u, err))
        return false;
    for (size_t i = 0; i < u->n; i++) {
        const CatalogueListener *to = &u->listeners[i];

        if (to->event && (!to->kinds || to->kinds & 1u << e->kind) && !to->event(to->ctx, e, err)) {
            u->listener_failed = true;
            return false;
        }
    }
    return true;
}

/* -- one session -- */

static bool load_row(Update *u, int64_t key, EntryRow *ret)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    if (!db_query(u->c->db, &rows, u->err,
                  "SELECT " ENTRY_COLUMN_NAMES " FROM entries WHERE key = ?", INT(key)) ||
        !db_row(rows, &row, u->err))
        return false;
    if (!row)
        return err_set(u->err, ERR_CORRUPT, "the catalogue lost a row");
    entry_read(u->row_arena, rows, ret);
    return true;
}

static bool forget_row(Update *u, int64_t key)
{
    return db_exec(u->c->db, NULL, u->err, "DELETE FROM entries WHERE key = ?", INT(key));
}

/* From here on the session can be undone by itself. */
static bool begin_session(Update *u)
{
    if (u->in_session)
        return true;
    u->in_session = db_script(u->c->db, "SAVEPOINT session", u->err);
    return u->in_session;
}

bool update_begin(Update *u, const Known *known, const Entry *fresh)
{
    if (!begin_batch(u) || (!u->late && !begin_session(u)))
        return false;
    arena_reset(u->row_arena);
    calls_drop(u->calls);
    u->begun = u->listener_failed = false;
    u->anew = !known;
    u->row = (EntryRow){ .e = *fresh };
    if (!known) {
        u->row.e.key = ++u->next_key;
        return true;
    }
    if (!load_row(u, known->key, &u->row))
        return false;
    /* A rollout that was put into the archive, or taken out of it, is still the same. */
    u->row.e.path = fresh->path;
    u->row.e.archived = fresh->archived;
    return true;
}

void update_anew(Update *u)
{
    Entry before = u->row.e, fresh = { .source = before.source,
                                       .home = before.home,
                                       .id = before.id,
                                       .path = before.path,
                                       .side_chain = before.side_chain,
                                       .archived = before.archived };

    if (!begin_session(u) || !TELL(u, gone, &before, u->err) ||
        !calls_gone(u->calls, before.key, u->err) || !forget_row(u, before.key))
        u->listener_failed = true;
    fresh.key = ++u->next_key;
    u->row = (EntryRow){ .e = fresh };
    u->anew = true;
}

bool update_end(Update *u, int64_t bytes)
{
    entry_settle(&u->row);
    if (u->listener_failed || !tell_begin(u, u->err) || !calls_save(u->calls, &u->row.e, u->err) ||
        !entry_write(u->c->db, &u->row, u->err) || !TELL(u, end, &u->row.e, u->err) ||
        (u->in_session && !db_script(u->c->db, "RELEASE session", u->err)))
        return false;
    u->in_session = false;
    u->stats.read++;
    u->stats.bytes += bytes;
    u->batch_bytes += bytes / (u->late ? LATE_TIMES : 1);
    if (++u->batch_rows < BATCH_ROWS * (u->late ? LATE_TIMES : 1) && u->batch_bytes < BATCH_BYTES)
        return true;
    return update_commit(u);
}

static bool undo_session(Update *u)
{
    bool was = u->in_session;

    u->in_session = false;
    return !was || db_script(u->c->db, "ROLLBACK TO session; RELEASE session", u->err);
}

bool update_drop(Update *u)
{
    return !u->listener_failed && undo_session(u);
}

bool update_gone(Update *u, int64_t key)
{
    if (!begin_batch(u))
        return false;
    arena_reset(u->row_arena);
    if (!load_row(u, key, &u->row) || !TELL(u, gone, &u->row.e, u->err) ||
        !calls_gone(u->calls, key, u->err) || !forget_row(u, key))
        return false;
    u->stats.gone++;
    return ++u->batch_rows < BATCH_ROWS || update_commit(u);
}

static Known known_row(DbRows *rows)
{
    return (Known){ .key = row_int(rows, 0),
                    .path = row_text(rows, 1),
                    .id = row_text(rows, 2),
                    .cursor = { .offset = row_int(rows, 3),
                                .proof = (uint64_t)row_int(rows, 4),
                                .size = row_int(rows, 5),
                                .mtime_ns = row_int(rows, 6),
                                .inode = (uint64_t)row_int(rows, 7),
                                .settled = row_bool(rows, 8) },
                    .mark = (uint64_t)row_int(rows, 9) };
}

bool update_known(Update *u, Str home, KnownFn *fn, void *ctx)
{
    AUTO(DbRows) *rows = NULL;
    AUTO_BUF sql = BUF(MIB(2));
    bool row = true;

    buf_addf(&sql,
             "SELECT key, path, id, offset, proof, size, mtime_ns, inode, settled, mark FROM "
             "entries WHERE home = ?1 AND %.*s ORDER BY path, id",
             STR_FMT(u->c->scope));
    if (!db_query_once(u->c->db, &rows, u->err, sql.p, TEXT(home)))
        return false;
    while (row) {
        if (!db_row(rows, &row, u->err))
            return false;
        if (row) {
            Known k = known_row(rows);

            fn(ctx, &k);
        }
    }
    return true;
}

/* -- the whole -- */

/* The homes' part of the stamp is taken before they are read, as that of the files is: what is
 * written meanwhile makes another one. */
static bool run(Update *u)
{
    bool sound;

    if (!update_files(u))
        return false;
    sound = homes_stamp(u->a, &u->c->query, clock_wall(), &u->stamp);
    if (!update_homes(u) || !update_commit(u))
        return false;
    u->stats.stamp = sound && !u->waits ? u->stamp : (Stamp){ 0 };
    return true;
}

static unsigned wanted_kinds(const CatalogueListener *listeners, size_t n)
{
    unsigned kinds = ENTRY_KINDS;

    for (size_t i = 0; i < n; i++)
        if (listeners[i].event)
            kinds |= listeners[i].kinds ? listeners[i].kinds : ~0u;
    return kinds;
}

static bool all_late(const CatalogueListener *listeners, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!listeners[i].late)
            return false;
    return true;
}

/* Interrupted: the sessions that were read to their end stay. */
static void keep_what_is_whole(Update *u)
{
    Err ignored, *err = u->err;

    u->err = &ignored;
    if (undo_session(u))
        u->in_batch = u->in_batch && !update_commit(u);
    u->err = err;
}

static bool run_locked(Update *u)
{
    AUTO(Arena) *a = arena_new(), *row = arena_new();
    AUTO(Calls) *calls = calls_new(u->c->db);
    int64_t start = clock_cpu_ns();
    bool ok;

    u->a = a;
    u->row_arena = row;
    u->calls = calls;
    ok = calls && run(u);
    if (!ok && u->err->kind == ERR_INTERRUPTED)
        keep_what_is_whole(u);
    roll_back(u);
    u->c->damaged |= !ok && u->err->kind == ERR_CORRUPT;
    u->stats.cpu_seconds = (double)(clock_cpu_ns() - start) / 1e9;
    return ok;
}

bool catalogue_update(Catalogue *c, const CatalogueListener *listeners, size_t n,
                      bool (*stop)(void *ctx), void *stop_ctx, UpdateStats *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Update u = { .c = c,
                 .listeners = listeners,
                 .n = n,
                 .kinds = wanted_kinds(listeners, n),
                 .late = all_late(listeners, n),
                 .stop = stop,
                 .stop_ctx = stop_ctx,
                 .show = ret,
                 .err = err };
    AUTO(FileLock) *lock =
        lock_take(str_z(a, str_join_path(a, c->query.homes->data, STR("index.lock"))), 0, err);
    bool ok = true;

    if (lock || db_is_private(c->db))
        ok = run_locked(&u);
    else if (err->kind == ERR_BUSY)
        u.stats.busy = true;
    else
        return false;
    if (ret)
        *ret = u.stats;
    return ok;
}

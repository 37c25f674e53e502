#include "sleep/mining/harvest.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "sleep/mining/mined.h"
#include "store/continued.h"

enum { TRACE_BYTES = 8 << 20, COMMIT_EVERY = 200 };

/* The rules by which a trace is made; another number, and all are rebuilt. */
#define TRACE_VERSION 5

typedef struct Harvester {
    Catalogue *catalogue;
    Db *db;
    TraceBuilder *builder;
    Arena *scratch, *marks;
    Reader *reader;
    bool whole;   /* the session at hand is read from its beginning */
    bool reading; /* inside of one transaction, so that not every look takes a lock */
    size_t waiting;
    EntryMark *chosen; /* sessions that may matter, newest first */
    size_t n_chosen;
    bool incomplete; /* one of them could not be read */
} Harvester;

/* How far a session was read, and by which rules: what a trace is valid for. */
typedef struct Mark {
    int64_t version, offset;
    uint64_t proof;
} Mark;

#define MARK(offset, proof)                                                                        \
    BLOB(((Str){ (const char *)&(Mark){ TRACE_VERSION, (offset), (proof) }, sizeof(Mark) }))

/* -- keeping -- */

static bool keep(Harvester *h, const Entry *e, const Trace *t, Err *err)
{
    AUTO_BUF packed = BUF(TRACE_BYTES);

    trace_pack(&packed, t);
    if (buf_full(&packed))
        return err_set(err, ERR_TOO_LARGE, "the trace of session '%.*s' is too large",
                       STR_FMT(e->id));
    return db_exec(h->db, NULL, err, "INSERT OR REPLACE INTO traces VALUES(?, ?, ?)", INT(e->key),
                   MARK(e->cursor.offset, e->cursor.proof), BLOB(buf_str(&packed)));
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

    return db_exec(h->db, NULL, err, "DELETE FROM traces WHERE entry = ?", INT(e->key));
}

/* -- reading -- */

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
        return rows && catalogue_read_once(h->db, h->scratch, &homes->all[i], rows, err) &&
               hermes_read(rows, e->id, 0, feed, h->builder, &last, err);
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
    if (!h->reader)
        h->reader = reader_new();
    return transcript_read(h->reader, &file, &options, &from_start, feed, NULL, h->builder, &stats,
                           err);
}

static bool kept(Harvester *h, Arena *a, const EntryMark *m, Trace *ret, bool *ret_found, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(h->db, &rows, err, "SELECT trace FROM traces WHERE entry = ? AND read = ?",
                  INT(m->key), MARK(m->offset, m->proof)) ||
        !db_row(rows, &row, err))
        return false;
    *ret_found = false;
    if (!row)
        return true;
    /* What cannot be read any more is made again. */
    *ret_found = trace_unpack(a, str_dup(a, row_text(rows, 0)), ret) && ret->digests.n == 1;
    return true;
}

/* A look cannot become a change where somebody else has changed something since. */
static bool stop_reading(Harvester *h, Err *err)
{
    bool was = h->reading;

    h->reading = false;
    return !was || db_script(h->db, "COMMIT", err);
}

static bool finish_writing(Harvester *h, Err *err)
{
    bool was = h->waiting > 0;

    h->waiting = 0;
    return !was || db_script(h->db, "COMMIT", err);
}

static bool trace_of(Harvester *h, Arena *a, const Homes *homes, const EntryMark *m, Trace *ret,
                     Err *err)
{
    bool found;
    Entry e;

    if (!kept(h, a, m, ret, &found, err))
        return false;
    if (found)
        return true;
    if (!catalogue_get(h->catalogue, h->scratch, m->key, &e, err) || !read_again(h, homes, &e, err))
        return false;
    trace_finish(h->builder, a, &e, ret);
    if (!stop_reading(h, err) || (h->waiting == 0 && !db_script(h->db, "BEGIN IMMEDIATE", err)))
        return false;
    h->waiting++;
    return keep(h, &e, ret, err) && (h->waiting < COMMIT_EVERY || finish_writing(h, err));
}

/* -- which sessions -- */

static bool lies_in(Str path, Str folder)
{
    while (folder.n > 1 && folder.p[folder.n - 1] == '/')
        folder.n--;
    return str_starts(path, folder) &&
           (path.n == folder.n || folder.n == 1 || path.p[folder.n] == '/');
}

static bool is_in_scope(const HarvestQuery *q, const EntryMark *m)
{
    if ((q->since > 0 && m->last_at <= q->since) || (q->until > 0 && m->started_at > q->until))
        return false;
    return !q->project.n ||
           (m->cwd.n && (lies_in(m->cwd, q->project) || lies_in(q->project, m->cwd)));
}

/* Keys of transcripts in which a runtime keeps the turns of a conversation. Programs call these
 * headless, since we run them, but a person asked. */
typedef struct Asked {
    int64_t *keys;
    size_t n, cap;
} Asked;

static bool add_asked(Harvester *h, const Continuation *c, Asked *asked, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    SourceKind source;
    bool row = false;

    if (!c->by_runtime || c->one_shot || !source_parse(c->home, &source) || source == SOURCE_HERMES)
        return true;
    if (!db_query(h->db, &rows, err,
                  "SELECT key FROM entries WHERE id = ? AND source = ? AND users > 0 AND NOT "
                  "by_program AND NOT side_chain",
                  TEXT(c->session_id), INT((int)source)) ||
        !db_row(rows, &row, err))
        return false;
    if (row)
        ARENA_PUSH(h->marks, asked->keys, asked->n, asked->cap, row_int(rows, 0));
    return true;
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static bool find_asked(Harvester *h, const HarvestQuery *query, Asked *ret, Err *err)
{
    Continuation *all;
    size_t n;

    if (!continuations_load(query->sources.homes->data, h->marks, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!add_asked(h, &all[i], ret, err))
            return false;
    if (ret->n)
        qsort(ret->keys, ret->n, sizeof *ret->keys, by_number);
    return true;
}

static bool is_asked(const Asked *asked, int64_t key)
{
    return asked->n && bsearch(&key, asked->keys, asked->n, sizeof key, by_number);
}

/* By what is known without a look at their traces. */
static bool choose(Harvester *h, const HarvestQuery *query, SleepHarvest *ret, Err *err)
{
    Asked asked = { 0 };
    EntryMark *all;
    size_t n;

    if (!catalogue_marks(h->catalogue, h->marks, &all, &n, err) ||
        !find_asked(h, query, &asked, err))
        return false;
    h->chosen = all;
    for (size_t i = 0; i < n; i++)
        if (!all[i].human && !is_asked(&asked, all[i].key))
            ret->not_human++;
        else if (!is_in_scope(query, &all[i]))
            ret->elsewhere++;
        else
            h->chosen[h->n_chosen++] = all[i];
    return true;
}

static Str key_of(Harvester *h, Arena *a, const HarvestQuery *query, const MineOptions *options)
{
    int64_t *marks = ARENA_ARRAY(h->scratch, int64_t, 3 * h->n_chosen + 1);
    size_t n = 0;

    marks[n++] = TRACE_VERSION;
    for (size_t i = 0; i < h->n_chosen; i++) {
        marks[n++] = h->chosen[i].key;
        marks[n++] = h->chosen[i].offset;
        marks[n++] = (int64_t)h->chosen[i].proof;
    }
    return mined_key(a, (Str){ (const char *)marks, n * sizeof *marks }, query->max, options);
}

/* One that cannot be read is left out, and what is mined without it is not kept. */
static bool gather_one(Harvester *h, Arena *a, const HarvestQuery *query, const EntryMark *m,
                       SleepHarvest *ret, Err *err)
{
    Trace *t = ARENA_NEW(a, Trace);

    arena_reset(h->scratch);
    if (!trace_of(h, a, query->sources.homes, m, t, err)) {
        if (err->kind != ERR_NOT_FOUND && err->kind != ERR_IO)
            return false;
        log_warning("skipped a session: %s", err->text);
        h->incomplete = true;
        return true;
    }
    if (trace_is_human(t))
        ret->traces[ret->n++] = t;
    else
        ret->not_human++;
    return true;
}

static bool gather(Harvester *h, Arena *a, const HarvestQuery *query, SleepHarvest *ret, Err *err)
{
    ret->traces = ARENA_ARRAY(a, const Trace *, h->n_chosen + 1);
    for (size_t i = 0; i < h->n_chosen; i++) {
        progress_show("harvesting", i, h->n_chosen);
        if (query->max && ret->n == query->max)
            ret->left_out++;
        else if (!gather_one(h, a, query, &h->chosen[i], ret, err))
            return false;
    }
    progress_end();
    return true;
}

/* -- how many sessions they are -- */

/* The ids of the traces, in order. */
typedef struct Ids {
    Str *all;
    size_t n;
} Ids;

static int by_id(const void *left, const void *right)
{
    return str_cmp(*(const Str *)left, *(const Str *)right);
}

static bool has_id(const Ids *ids, Str id)
{
    return ids->n && bsearch(&id, ids->all, ids->n, sizeof id, by_id);
}

/* Traces of a home that compression continued in another trace. */
static size_t count_parts(Harvester *h, const Home *home, const Ids *ids)
{
    const RowsQuery query = { .archived = true };
    size_t n, parts = 0;
    ChainLink *links;
    Err err;
    AUTO(Rows) *rows = rows_open(home, &query, &err);

    if (!rows || !rows_chains(rows, h->marks, &links, &n, &err)) {
        log_debug("cannot tell which sessions compression split: %s", err.text);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        parts += has_id(ids, links[i].id) && has_id(ids, links[i].next);
    return parts;
}

/* Traces that a conversation continues, with its own trace. */
static size_t count_continued(Harvester *h, Str data, const Ids *ids)
{
    size_t n, continued = 0;
    Str last = STR("");
    Continuation *all;
    Err err;

    if (!continuations_load(data, h->marks, &all, &n, &err)) {
        log_debug("cannot tell which sessions were continued: %s", err.text);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        if (!str_eq(all[i].session_id, last) && has_id(ids, all[i].session_id) &&
            has_id(ids, all[i].conversation_id)) {
            last = all[i].session_id;
            continued++;
        }
    return continued;
}

static size_t count_sessions(Harvester *h, const Homes *homes, const SleepHarvest *found)
{
    Ids ids = { ARENA_ARRAY(h->marks, Str, found->n + 1), found->n };
    size_t again = 0;

    for (size_t i = 0; i < found->n; i++)
        ids.all[i] = trace_digest(found->traces[i])->session_id;
    qsort(ids.all, ids.n, sizeof *ids.all, by_id);
    for (size_t i = 0; i < homes->n; i++)
        again += count_parts(h, &homes->all[i], &ids);
    return found->n - again - count_continued(h, homes->data, &ids);
}

/* A result that cannot be kept is still one. */
static void mine(Harvester *h, Arena *a, Str key, const MinedFrom *from, const MineOptions *options,
                 const SleepHarvest *sessions, Mined *ret)
{
    Err ignored;

    mine_tasks(a, sessions->traces, sessions->n, options, ret);
    if (!h->incomplete && !mined_put(h->db, key, from, ret, &ignored))
        log_debug("cannot cache the mined tasks: %s", ignored.text);
}

/* Sessions and tasks: out of what is kept, as far as it is the same. */
static bool harvest(Harvester *h, Arena *a, const HarvestQuery *query, const MineOptions *options,
                    SleepHarvest *ret, Mined *ret_mined, Err *err)
{
    MinedFrom from = { 0 };
    bool found;
    size_t not_human;
    Str key;

    if (!db_script(h->db, "BEGIN", err)) /* one look at all that is kept */
        return false;
    h->reading = true;
    if (!choose(h, query, ret, err))
        return false;
    key = key_of(h, a, query, options);
    if (!mined_get(h->db, a, key, &from, ret_mined, &found, err))
        return false;
    not_human = ret->not_human;
    if (found && query->tasks_alone) {
        ret->n = from.traces;
        ret->sessions = from.sessions;
        ret->not_human += from.not_human;
        ret->left_out = from.left_out;
        return stop_reading(h, err);
    }
    if (!gather(h, a, query, ret, err) || !finish_writing(h, err) || !stop_reading(h, err))
        return false;
    ret->sessions = count_sessions(h, query->sources.homes, ret);
    from = (MinedFrom){ ret->n, ret->sessions, ret->not_human - not_human, ret->left_out };
    if (!found)
        mine(h, a, key, &from, options, ret, ret_mined);
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
    h->marks = arena_new();
    return true;
}

static void close_harvester(Harvester *h)
{
    trace_drop(h->builder);
    arena_free(h->scratch);
    reader_free(h->reader);
    arena_free(h->marks);
    catalogue_close(h->catalogue);
}

/* Somebody else may be bringing the catalogue up to date, such as a server its search index. What
 * is there until then is not the whole, and a night must not take it for that. */
static bool update_whole(Harvester *h, UpdateStats *ret, Err *err)
{
    enum { EVERY_MS = 20, MAX_MS = 120000 };
    const CatalogueListener listener = { .ctx = h,
                                         .begin = listen_begin,
                                         .event = listen_event,
                                         .end = listen_end,
                                         .gone = listen_gone,
                                         .kinds = trace_kinds(),
                                         .late = true };
    int64_t until = clock_mono_ms() + MAX_MS;

    for (;;) {
        if (!catalogue_update(h->catalogue, &listener, 1, NULL, NULL, ret, err))
            return false;
        if (!ret->busy)
            return true;
        if (clock_mono_ms() > until)
            return err_set(err, ERR_BUSY,
                           "another process is still indexing the sessions; try again later");
        usleep(EVERY_MS * 1000);
    }
}

bool sleep_harvest(Arena *a, const HarvestQuery *query, const MineOptions *options,
                   SleepHarvest *ret, Mined *ret_mined, Err *err)
{
    Harvester h = { 0 };
    SleepHarvest sessions = { 0 };
    bool ok = open_harvester(&h, query, err);

    ok = ok && update_whole(&h, &sessions.update, err) &&
         harvest(&h, a, query, options, &sessions, ret_mined, err);
    if (!ok && (h.waiting || h.reading) && !db_script(h.db, "ROLLBACK", &(Err){ 0 }))
        log_debug("nothing was open to be rolled back");
    sessions.stamp = h.incomplete ? (Stamp){ 0 } : sessions.update.stamp;
    close_harvester(&h);
    if (ok)
        *ret = sessions;
    return ok;
}

/* Hermes-shaped homes. The database files' sizes and times say whether anything was written at all;
 * then the marks of the sessions' rows and the newest message say which sessions to look at, and
 * the proof of what was read whether to go on or to start again. */
#include <sys/stat.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/continued.h"
#include "transcripts/catalogue_inside.h"
#include "transcripts/line.h"

/* A write in the same tick of the clock as the look at the file would leave no trace. */
enum { RACY_SECONDS = 2 };

typedef struct HomeRun {
    Update *u;
    const Home *home;
    Rows *rows;
    SessionRow *sessions;
    size_t n, cap;
    Known *known;
    size_t known_n, known_cap;
    Str *newer; /* sessions with messages behind the last that was read, in order */
    size_t newer_n;
    Str *elsewhere; /* sessions of ours that count as somebody else's transcript, in order */
    size_t elsewhere_n;
    int64_t last_message;
    bool refused; /* its database could not be read on */
} HomeRun;

/* A home that is locked or damaged keeps nobody else waiting; what fails in our own file does. */
static bool theirs(HomeRun *run, bool ok)
{
    run->refused |= !ok && !run->u->listener_failed;
    return ok;
}

/* -- whether anything was written -- */

static uint64_t mix(uint64_t hash, int64_t value)
{
    return hash_number(hash, (uint64_t)value);
}

/* Of the database and its log; *ret_newest: the later of their times. */
static int64_t stamp_of(Arena *a, const Home *home, double *ret_newest)
{
    static const char *const suffixes[] = { "", "-wal", "-journal" };
    uint64_t hash = 1;

    *ret_newest = 0;
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        struct stat st = { 0 };
        double at;

        if (stat(str_z(a, str_printf(a, "%.*s%s", STR_FMT(home->database), suffixes[i])), &st))
            continue;
        at = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
        *ret_newest = at > *ret_newest ? at : *ret_newest;
        hash = mix(mix(mix(hash, st.st_size), st.st_mtim.tv_sec), st.st_mtim.tv_nsec);
        hash = mix(hash, (int64_t)st.st_ino);
    }
    return (int64_t)(hash >> 1);
}

bool homes_stamp(Arena *a, const CatalogueQuery *q, double now, Stamp *stamp)
{
    bool settled = true;

    for (size_t i = 0; q->hermes && i < q->homes->n; i++) {
        const Home *home = &q->homes->all[i];
        double newest = 0;
        uint64_t hash = mix(hash_text(home->present, home->path), stamp_of(a, home, &newest));

        settled &= newest + RACY_SECONDS < now;
        stamp_add(stamp, hash);
    }
    return settled;
}

static bool last_look(HomeRun *run, int64_t *ret_stamp, double *ret_at)
{
    AUTO(DbRows) *rows = NULL;
    Db *db = run->u->c->db;
    bool row = false;

    if (!db_query(db, &rows, run->u->err,
                  "SELECT last_message, stamp, read_at FROM entry_homes WHERE path = ?",
                  TEXT(run->home->path)))
        return false;
    if (!db_row(rows, &row, run->u->err))
        return false;
    run->last_message = row ? row_int(rows, 0) : 0;
    *ret_stamp = row ? row_int(rows, 1) : -1;
    *ret_at = row ? row_real(rows, 2) : 0;
    return true;
}

/* Sessions of a home that was not looked into. */
static bool count_known(Update *u, Str home)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    if (!db_query(u->c->db, &rows, u->err, "SELECT count(*) FROM entries WHERE home = ?",
                  TEXT(home)))
        return false;
    if (!db_row(rows, &row, u->err))
        return false;
    u->stats.sessions += row_int(rows, 0);
    return true;
}

static bool note_look(HomeRun *run, int64_t last_message, int64_t stamp, double at)
{
    AUTO(DbRows) *rows = NULL;
    Db *db = run->u->c->db;
    bool ignored;

    if (!db_query(db, &rows, run->u->err, "INSERT OR REPLACE INTO entry_homes VALUES(?, ?, ?, ?)",
                  TEXT(run->home->path), INT(last_message), INT(stamp), REAL(at)))
        return false;
    return db_row(rows, &ignored, run->u->err);
}

/* -- sessions that are also somebody's transcript -- */

static bool is_there(Db *index, Arena *a, const Home *home, const KnownAs *c, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Str id = continuation_session(a, c->handle);
    SourceKind source;

    *ret = false;
    if (!id.n || !source_parse(c->runtime, &source))
        return true;
    return db_query(index, &rows, err,
                    "SELECT 1 FROM entries WHERE id = ? AND source = ? AND home <> ?", TEXT(id),
                    INT((int)source), TEXT(home->path)) &&
           db_row(rows, ret, err);
}

static int by_text(const void *left, const void *right)
{
    return str_cmp(*(const Str *)left, *(const Str *)right);
}

static bool is_among(const Str *all, size_t n, Str s)
{
    return n && bsearch(&s, all, n, sizeof *all, by_text);
}

static int by_session(const void *left, const void *right)
{
    const KnownAs *a = left, *b = right;
    int order = str_cmp(a->session, b->session);

    return order ? order : str_cmp(a->runtime, b->runtime);
}

/* Of one runtime all or nothing: where one of its sessions is gone, nobody knows which turns were
 * in it. */
static size_t keep_whole(KnownAs *all, const bool *there, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n;) {
        size_t end = i;
        bool whole = true;

        for (; end < n && by_session(&all[i], &all[end]) == 0; end++)
            whole &= there[end];
        if (whole)
            all[kept++] = all[i];
        i = end;
    }
    return kept;
}

static bool find_kept(Db *index, Arena *a, const Home *home, Rows *rows, KnownAs **ret,
                      size_t *ret_n, Err *err)
{
    bool *there;

    *ret_n = 0;
    if (home->kind != HOME_OURS || !rows_continuity(rows, a, ret, ret_n, err))
        return home->kind != HOME_OURS;
    if (*ret_n)
        qsort(*ret, *ret_n, sizeof **ret, by_session);
    there = ARENA_ARRAY(a, bool, *ret_n + 1);
    for (size_t i = 0; i < *ret_n; i++)
        if (!is_there(index, a, home, &(*ret)[i], &there[i], err))
            return false;
    *ret_n = keep_whole(*ret, there, *ret_n);
    return true;
}

bool catalogue_read_once(Db *index, Arena *a, const Home *home, Rows *rows, Err *err)
{
    KnownAs *kept = NULL;
    size_t n;

    if (!find_kept(index, a, home, rows, &kept, &n, err))
        return false;
    rows_skip(rows, kept, n);
    return true;
}

/* What is wholly elsewhere: with a gateway of Hermes, or without its own message. */
static bool find_elsewhere(HomeRun *run)
{
    Arena *a = run->u->a;
    KnownAs *all = NULL;
    size_t n, cap = 0;

    if (!theirs(run, find_kept(run->u->c->db, a, run->home, run->rows, &all, &n, run->u->err)))
        return false;
    rows_skip(run->rows, all, n);
    for (size_t i = 0; i < n; i++) {
        bool any = false;

        if (!all[i].lent && !theirs(run, rows_any(run->rows, all[i].session, &any, run->u->err)))
            return false;
        if (!any)
            ARENA_PUSH(a, run->elsewhere, run->elsewhere_n, cap, all[i].session);
    }
    if (run->elsewhere_n)
        qsort(run->elsewhere, run->elsewhere_n, sizeof *run->elsewhere, by_text);
    return true;
}

/* -- one session -- */

/* Sub-agents are marked in the model's configuration, continuations of a session are not. */
static bool is_delegate(const Session *s)
{
    Str mark = STR("\"_delegate_from\"");

    return s->model_config.n && str_find(s->model_config, mark) < s->model_config.n;
}

static void take_facts(EntryRow *row, Arena *a, const Session *s)
{
    Entry *e = &row->e;

    e->parent = str_dup(a, s->parent_session_id);
    e->cwd = str_dup(a, s->cwd);
    e->branch = str_dup(a, s->git_branch);
    e->model = str_dup(a, s->model);
    e->entrypoint = str_dup(a, s->source);
    e->side_chain = is_delegate(s);
    e->archived = s->archived != 0;
    e->input_tokens = s->input_tokens;
    e->output_tokens = s->output_tokens;
    e->cache_read_tokens = s->cache_read_tokens;
    e->cache_write_tokens = s->cache_write_tokens;
    if (s->title.n) {
        e->title = str_dup(a, s->title);
        row->titled = true;
    }
    if (s->started_at > 0 && (e->started_at == 0 || s->started_at < e->started_at))
        e->started_at = s->started_at;
    if (e->last_at < e->started_at)
        e->last_at = e->started_at;
}

/* What was read before is still as it was; else all is read again. */
static bool check_proof(HomeRun *run, const Known *known, Str id)
{
    Update *u = run->u;
    uint64_t proof = 0;

    if (!known || known->cursor.offset == 0)
        return true;
    if (!theirs(run, rows_proof(run->rows, id, known->cursor.offset, &proof, u->err)))
        return false;
    if (proof != known->cursor.proof) {
        update_anew(u);
        u->row.e.cursor = (Cursor){ 0 };
    }
    return true;
}

static bool read_session(HomeRun *run, const SessionRow *s, const Known *known)
{
    Update *u = run->u;
    Entry fresh = {
        .source = SOURCE_HERMES, .home = run->home->path, .path = run->home->database, .id = s->id
    };
    Cursor *cursor = &u->row.e.cursor;
    Session facts;
    int64_t before;

    if (!update_begin(u, known, &fresh) || !check_proof(run, known, s->id))
        return false;
    if (!rows_session(run->rows, u->row_arena, s->id, &facts, u->err))
        return theirs(run, u->err->kind == ERR_NOT_FOUND) && update_drop(u);
    take_facts(&u->row, u->row_arena, &facts);
    before = u->row.e.messages;
    if (!theirs(run, hermes_read(run->rows, s->id, cursor->offset, update_event, u, &cursor->offset,
                                 u->err) &&
                         rows_proof(run->rows, s->id, cursor->offset, &cursor->proof, u->err)))
        return false;
    u->row.mark = s->mark;
    u->stats.messages += u->row.e.messages - before;
    return update_end(u, 0);
}

/* -- one home -- */

static int by_id(const void *left, const void *right)
{
    return str_cmp(((const SessionRow *)left)->id, ((const SessionRow *)right)->id);
}

static bool read_sessions(HomeRun *run)
{
    Update *u = run->u;
    size_t k = 0;

    if (run->n)
        qsort(run->sessions, run->n, sizeof *run->sessions, by_id);
    for (size_t i = 0; i < run->n; i++) {
        const SessionRow *s = &run->sessions[i];
        Known *known = NULL;

        while (k < run->known_n && str_cmp(run->known[k].id, s->id) < 0)
            k++;
        if (is_among(run->elsewhere, run->elsewhere_n, s->id))
            continue;
        u->stats.sessions++;
        if (k < run->known_n && str_eq(run->known[k].id, s->id))
            known = &run->known[k];
        if (known)
            known->found = true;
        if (known && known->mark == s->mark && !is_among(run->newer, run->newer_n, s->id))
            continue;
        if (u->stop && u->stop(u->stop_ctx))
            return err_set(u->err, ERR_INTERRUPTED, "interrupted");
        if (!read_session(run, s, known))
            return false;
    }
    return true;
}

static void keep_known(void *ctx, const Known *k)
{
    HomeRun *run = ctx;
    Known kept = *k;

    kept.id = str_dup(run->u->a, k->id);
    ARENA_PUSH(run->u->a, run->known, run->known_n, run->known_cap, kept);
}

static void keep_session(void *ctx, const SessionRow *s)
{
    HomeRun *run = ctx;
    Arena *a = run->u->a;
    SessionRow kept = *s;

    kept.id = str_dup(a, s->id);
    kept.source = str_dup(a, s->source);
    kept.model = str_dup(a, s->model);
    kept.title = str_dup(a, s->title);
    ARENA_PUSH(a, run->sessions, run->n, run->cap, kept);
}

static bool look_into(HomeRun *run, int64_t *ret_last)
{
    Update *u = run->u;
    int64_t after;

    if (!find_elsewhere(run) || !update_known(u, run->home->path, keep_known, run))
        return false;
    /* Where nothing is known yet everything is new, and need not be listed. */
    after = run->known_n ? run->last_message : -1;
    if (!theirs(run, rows_walk(run->rows, keep_session, run, u->err) &&
                         rows_newer(run->rows, u->a, after, &run->newer, &run->newer_n, ret_last,
                                    u->err)))
        return false;
    if (run->newer_n)
        qsort(run->newer, run->newer_n, sizeof *run->newer, by_text);
    if (!read_sessions(run))
        return false;
    for (size_t i = 0; i < run->known_n; i++)
        if (!run->known[i].found && !update_gone(u, run->known[i].key))
            return false;
    return true;
}

static bool update_home(Update *u, const Home *home)
{
    AUTO(Rows) *rows = NULL;
    HomeRun run = { .u = u, .home = home };
    RowsQuery query = { .archived = true };
    double newest, looked_at, now = clock_wall();
    int64_t stamp = stamp_of(u->a, home, &newest), before, last = 0;

    u->stats.files++;
    if (!last_look(&run, &before, &looked_at))
        return false;
    /* New transcripts elsewhere may say that a session of ours is one of them. */
    if (stamp == before && newest + RACY_SECONDS < looked_at && u->stats.read + u->stats.gone == 0)
        return count_known(u, home->path);
    rows = run.rows = rows_open(home, &query, u->err);
    if (rows && look_into(&run, &last))
        return note_look(&run, last, stamp, now);
    if ((rows && !run.refused) || u->err->kind == ERR_INTERRUPTED)
        return false;
    u->waits = true;
    log_warning("'%.*s' is read another time: %s", STR_FMT(home->path), u->err->text);
    return update_drop(u);
}

/* Homes that are not there any more take their entries with them. */
static bool forget_home(Update *u, const Home *home)
{
    HomeRun run = { .u = u };

    if (!update_known(u, home->path, keep_known, &run))
        return false;
    for (size_t i = 0; i < run.known_n; i++)
        if (!update_gone(u, run.known[i].key))
            return false;
    return true;
}

bool update_homes(Update *u)
{
    const CatalogueQuery *q = &u->c->query;

    if (!q->hermes)
        return true;
    /* Ours last: whose sessions are others' transcripts is known once those are read. */
    for (int ours = 0; ours < 2; ours++)
        for (size_t i = 0; i < q->homes->n; i++) {
            const Home *home = &q->homes->all[i];

            if ((home->kind == HOME_OURS) != ours)
                continue;
            if (home->present ? !update_home(u, home) : !forget_home(u, home))
                return false;
        }
    return true;
}

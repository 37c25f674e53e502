/* All keys of a home are written seldom, with a number of their own. The few that have changed
 * since are kept beside them, with the state of the home's files: so a change costs a few bytes,
 * not all keys again. */
#include "store/activity.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "store/db.h"
#include "store/index.h"

enum {
    MAX_CHANGES = 256, /* of more, all keys are written again */
    KEY_GONE = 1 << 8  /* among changes: the session is no more */
};

/* -- order -- */

static int latest_first(const void *a, const void *b)
{
    const SessionKey *x = a, *y = b;

    if (x->active != y->active)
        return x->active < y->active ? 1 : -1;
    return x->rowid > y->rowid ? 1 : x->rowid < y->rowid ? -1 : 0;
}

static int by_rowid(const void *a, const void *b)
{
    const SessionKey *x = a, *y = b;

    return x->rowid > y->rowid ? 1 : x->rowid < y->rowid ? -1 : 0;
}

/* What is not behind all before it is taken out, sorted, and merged in again. */
static void sort(Arena *a, SessionKey *keys, size_t n, int (*order)(const void *, const void *))
{
    SessionKey *rest = NULL;
    size_t kept = 0, n_rest = 0, cap = 0, at;

    for (size_t i = 0; i < n; i++) {
        if (!kept || order(&keys[kept - 1], &keys[i]) <= 0)
            keys[kept++] = keys[i];
        else
            ARENA_PUSH(a, rest, n_rest, cap, keys[i]);
    }
    if (!n_rest)
        return;
    qsort(rest, n_rest, sizeof *rest, order);
    at = n;
    while (n_rest) {
        if (kept && order(&keys[kept - 1], &rest[n_rest - 1]) > 0)
            keys[--at] = keys[--kept];
        else
            keys[--at] = rest[--n_rest];
    }
}

void activity_sort(Arena *a, SessionKey *keys, size_t n)
{
    sort(a, keys, n, latest_first);
}

/* Later sessions have higher numbers, mostly: one order is nearly the other one backwards. */
static void turn_around(SessionKey *keys, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        SessionKey swap = keys[i];

        keys[i] = keys[n - 1 - i];
        keys[n - 1 - i] = swap;
    }
}

/* -- the state of a home's files -- */

/* *ret_settled: a later write cannot bear the same time. File systems tell times in steps of a
 * clock's tick, some in seconds. */
static void add_stamp(Arena *a, const char *path, Str *stamp, bool *ret_settled)
{
    struct stat st = { 0 };
    double step;

    (void)!stat(path, &st); /* a log that is not there is a state, too */
    *stamp = str_printf(a, "%.*s%lld.%lld.%lld.%lld.%09ld ", STR_FMT(*stamp), (long long)st.st_dev,
                        (long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                        st.st_mtim.tv_nsec);
    step = st.st_mtim.tv_nsec % 1000000 ? 0.05 : 2.5;
    *ret_settled =
        *ret_settled &&
        clock_wall() - ((double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9) > step;
}

/* Only names are looked at: nothing but SQLite may open these files. */
static Str stamp_of(Arena *a, const Home *home, bool *ret_settled)
{
    Str stamp = STR("");

    *ret_settled = true;
    add_stamp(a, str_z(a, home->database), &stamp, ret_settled);
    add_stamp(a, str_z(a, str_printf(a, "%.*s-wal", STR_FMT(home->database))), &stamp, ret_settled);
    return stamp;
}

/* -- what is kept -- */

/* Changes with the newest message that they know of. */
typedef struct Changes {
    int64_t last_message;
    SessionKey *all; /* by rowid */
    size_t n;
} Changes;

typedef struct Kept {
    Db *db; /* NULL: nothing is kept */
    Str home, stamp;
    bool settled, there, current;
    int64_t number;
    SessionKey *base, *keys; /* as they were written; with the changes */
    size_t n_base, n;
    Changes changes;
} Kept;

/* In place where it can be: they are megabytes. */
static bool keys_of(Arena *a, Str value, SessionKey **ret, size_t *ret_n)
{
    *ret_n = value.n / sizeof **ret;
    *ret = (SessionKey *)(uintptr_t)value.p;
    if ((uintptr_t)value.p % _Alignof(SessionKey)) {
        *ret = ARENA_ARRAY(a, SessionKey, *ret_n + 1);
        memcpy(*ret, value.p, *ret_n * sizeof **ret);
    }
    return value.n % sizeof **ret == 0;
}

static const SessionKey *find_key(const SessionKey *by_number, size_t n, int64_t rowid)
{
    SessionKey wanted = { .rowid = rowid };

    return n ? bsearch(&wanted, by_number, n, sizeof *by_number, by_rowid) : NULL;
}

static void apply_changes(Kept *k, Arena *a)
{
    const Changes *c = &k->changes;

    k->keys = k->base;
    k->n = k->n_base;
    if (!c->n)
        return;
    k->keys = ARENA_ARRAY(a, SessionKey, k->n_base + c->n);
    k->n = 0;
    for (size_t i = 0; i < k->n_base; i++)
        if (!find_key(c->all, c->n, k->base[i].rowid))
            k->keys[k->n++] = k->base[i];
    for (size_t i = 0; i < c->n; i++)
        if (!(c->all[i].marks & KEY_GONE))
            k->keys[k->n++] = c->all[i];
    sort(a, k->keys, k->n, latest_first);
}

static bool load_row(Kept *k, Arena *a, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(k->db, &rows, err,
                  "SELECT number, stamp = ?2, last_message, changes, keys FROM activity JOIN "
                  "activity_keys USING (home, number) WHERE home = ?1",
                  TEXT(k->home), TEXT(k->stamp)) ||
        !db_row(rows, &row, err))
        return false;
    if (!row)
        return true;
    k->number = row_int(rows, 0);
    k->current = row_bool(rows, 1);
    k->changes.last_message = row_int(rows, 2);
    k->there = keys_of(a, str_dup(a, row_text(rows, 3)), &k->changes.all, &k->changes.n) &&
               keys_of(a, str_dup(a, row_text(rows, 4)), &k->base, &k->n_base);
    return true;
}

static void load_kept(Kept *k, Str data, Arena *a)
{
    Err err;

    k->db = index_db_open(data, &err);
    if (k->db && db_is_private(k->db))
        k->db = db_close(k->db);
    if (k->db && load_row(k, a, &err)) {
        if (k->there)
            apply_changes(k, a);
        return;
    }
    if (k->db)
        log_debug("last activity is not kept: %s", err.text);
    k->db = db_close(k->db);
}

/* -- keeping it -- */

static bool is_same(const SessionKey *x, const SessionKey *y)
{
    return x->active == y->active && x->started_at == y->started_at && x->marks == y->marks;
}

/* Both by rowid. False: they are too many. */
static bool find_changes(Arena *a, const Kept *k, const ActivityKeys *found, Changes *ret)
{
    size_t b = 0, f = 0, cap = 0;

    *ret = (Changes){ .last_message = found->last_message };
    while ((b < k->n_base || f < found->n) && ret->n < MAX_CHANGES) {
        const SessionKey *before = b < k->n_base ? &k->base[b] : NULL;
        const SessionKey *now = f < found->n ? &found->keys[f] : NULL;
        bool gone = before && (!now || before->rowid < now->rowid);
        bool added = now && (!before || now->rowid < before->rowid);
        SessionKey change = gone ? *before : *now;

        if (gone)
            change.marks |= KEY_GONE;
        if (gone || added || !is_same(before, now))
            ARENA_PUSH(a, ret->all, ret->n, cap, change);
        b += !added;
        f += !gone;
    }
    return ret->n < MAX_CHANGES;
}

static Str bytes_of(const SessionKey *keys, size_t n)
{
    return n ? (Str){ (const char *)keys, n * sizeof *keys } : STR("");
}

static bool put_keys(Kept *k, const Activity *all, Err *err)
{
    k->number = clock_mono_ns();
    return db_exec(k->db, NULL, err,
                   "REPLACE INTO activity_keys(home, number, keys) VALUES(?, ?, ?)", TEXT(k->home),
                   INT(k->number), BLOB(bytes_of(all->keys, all->n)));
}

static bool put_changes(Kept *k, const Changes *c, Err *err)
{
    return db_exec(k->db, NULL, err,
                   "REPLACE INTO activity(home, number, stamp, last_message, changes) VALUES(?, "
                   "?, ?, ?, ?)",
                   TEXT(k->home), INT(k->number), TEXT(k->settled ? k->stamp : STR("")),
                   INT(c->last_message), BLOB(bytes_of(c->all, c->n)));
}

/* Another process may write the index just now: then it is kept the next time. */
static void keep(Kept *k, const Activity *all, const Changes *changes)
{
    Err err;

    if (!db_begin(k->db, &err) ||
        !db_end(k->db, (!all || put_keys(k, all, &err)) && put_changes(k, changes, &err), &err))
        log_debug("last activity is not kept: %s", err.text);
}

/* A home that is being written to right now is read again anyway: its changes wait until there are
 * some more. */
static bool can_wait(const Kept *k, const Changes *changes)
{
    enum { MANY_MESSAGES = 1000 };

    return !k->settled && changes->last_message - k->changes.last_message < MANY_MESSAGES;
}

/* -- reading -- */

/* Keys of sessions come by rowid from the engine. */
static bool read_again(const Engine *engine, Conn *conn, const SessionQuery *query, Kept *kept,
                       Arena *a, Activity *ret, Err *err)
{
    KnownKeys known = { kept->keys, kept->n, kept->changes.last_message };
    ActivityKeys found;
    Changes changes;
    bool few = false;

    if (kept->there) {
        turn_around(kept->base, kept->n_base);
        sort(a, kept->base, kept->n_base, by_rowid);
        if (kept->keys != kept->base) {
            turn_around(kept->keys, kept->n);
            sort(a, kept->keys, kept->n, by_rowid);
        }
    }
    if (!engine->activity(conn, a, query, kept->there ? &known : NULL, &found, err))
        return false;
    few = kept->there && find_changes(a, kept, &found, &changes);
    turn_around(found.keys, found.n);
    sort(a, found.keys, found.n, latest_first);
    *ret = (Activity){ .keys = found.keys, .n = found.n, .upper = kept->there };
    if (few && !can_wait(kept, &changes))
        keep(kept, NULL, &changes);
    else if (kept->db && !few)
        keep(kept, ret, &(Changes){ .last_message = found.last_message });
    return true;
}

bool activity_read(const Engine *engine, Conn *conn, const Home *home, Str data,
                   const SessionQuery *query, Arena *a, Activity *ret, Err *err)
{
    Kept kept = { .home = home->database };
    int64_t highest = 0;
    bool ok = true;

    if (!query->source.n && !engine->highest(conn, &highest, err))
        return false;
    if (highest >= LIMIT_ACTIVITY_KEPT) {
        kept.stamp = stamp_of(a, home, &kept.settled);
        load_kept(&kept, data, a);
    }
    if (kept.there && kept.current)
        *ret = (Activity){ .keys = kept.keys, .n = kept.n, .upper = true };
    else
        ok = read_again(engine, conn, query, &kept, a, ret, err);
    db_close(kept.db);
    return ok;
}

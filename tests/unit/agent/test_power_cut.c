/* The power fails at any moment: what was acknowledged is there, nothing is there by half, and the
 * database opens.
 *
 * Every write, sync, truncation and deletion of talaria.db, its log and its journal is recorded.
 * Then, for each sync and for the moment before it, the files are made as a disk may have them:
 * what was synced, and of the rest any part, in pieces of 512 bytes. One moment in eight; all of
 * them, in three ways each, with TALARIA_LONG=1. */
#include "unit.h"

#include <ftw.h>
#include <unistd.h>

#include "agent/conversations.h"
#include "agent/runs_inside.h"
#include "base/file.h"
#include "store/db_sqlite.h"
#include "store/own.h"
#include "watched_vfs.h"

enum { SECTOR = 512, TRANSACTIONS = 100, MESSAGES = 3 };
/* -- what is recorded -- */

static struct {
    Arena *arena; /* NULL: nothing is recorded */
    DiskOp *ops;
    size_t n, cap;
} record;

static int put(DiskOp op)
{
    if (record.arena && op.kind != READ) {
        op.bytes = str_dup(record.arena, op.bytes);
        ARENA_PUSH(record.arena, record.ops, record.n, record.cap, op);
    }
    return SQLITE_OK;
}

static int set_up(void **state)
{
    disk_hook = put;
    return watch_disk(state);
}

/* -- what a disk may have -- */

typedef struct Disk {
    Buf files[FILES];
} Disk;

static uint64_t chance(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static void set_size(Buf *b, size_t n)
{
    if (n < b->n)
        b->n = n;
    else
        buf_pad(b, 0, n - b->n);
}

static void write_at(Buf *b, size_t at, Str bytes)
{
    if (b->n < at + bytes.n)
        set_size(b, at + bytes.n);
    memcpy(b->p + at, bytes.p, bytes.n);
}

/* Whole, or of a write that nobody synced some of the sectors. */
static void apply(Disk *d, const DiskOp *op, uint64_t *seed)
{
    Buf *b = &d->files[op->file];

    if (op->kind == TRUNCATE && (!seed || chance(seed) % 2))
        set_size(b, (size_t)op->at);
    for (size_t i = 0; op->kind == WRITE && i < op->bytes.n; i += SECTOR)
        if (!seed || chance(seed) % 2)
            write_at(b, (size_t)op->at + i,
                     (Str){ op->bytes.p + i, op->bytes.n - i < SECTOR ? op->bytes.n - i : SECTOR });
}

static void make_files(const Disk *d, const char *folder)
{
    AUTO(Arena) *a = arena_new();

    for (int i = 0; i < FILES; i++) {
        const char *path = str_printf(a, "%s/%s", folder, disk_names[i]).p;
        FILE *f;

        unlink(path);
        if (!d->files[i].n)
            continue;
        assert_non_null(f = fopen(path, "w"));
        assert_int_equal(fwrite(d->files[i].p, 1, d->files[i].n, f), d->files[i].n);
        fclose(f);
    }
    unlink(str_printf(a, "%s/talaria.db-shm", folder).p);
}

typedef void CheckFn(Db *db, int64_t acknowledged);

static void check_image(const Disk *d, const char *folder, int64_t acknowledged, CheckFn *check)
{
    Runs *runs;
    int64_t n;
    Err err;

    make_files(d, folder);
    runs = runs_open(str_of(folder), &err);
    if (!runs)
        fail_msg("%s", err.text);
    assert_true(db_get_int(runs_db(runs), -1, &n, &err,
                           "SELECT count(*) FROM pragma_integrity_check WHERE "
                           "integrity_check <> 'ok'"));
    assert_int_equal(n, 0);
    check(runs_db(runs), acknowledged);
    runs_close(runs);
}

/* At the place `at` nothing works any more. */
static void cut(const Disk *synced, const size_t *since, size_t at, uint64_t seed,
                const char *folder, int64_t acknowledged, CheckFn *check)
{
    Disk d;

    for (int i = 0; i < FILES; i++) {
        d.files[i] = (Buf)BUF(MIB(64));
        buf_add(&d.files[i], buf_str(&synced->files[i]));
        for (size_t k = since[i]; k < at; k++)
            if (record.ops[k].file == i)
                apply(&d, &record.ops[k], &seed);
    }
    check_image(&d, folder, acknowledged, check);
    for (int i = 0; i < FILES; i++)
        buf_done(&d.files[i]);
}

/* Both moments of a sync: before it is done, and after. */
typedef struct Cuts {
    const char *folder;
    CheckFn *check;
    Disk synced;
    size_t since[FILES]; /* nothing after it is synced */
    int64_t acknowledged;
    size_t moments, n;
} Cuts;

static void cut_here(Cuts *c, size_t at)
{
    bool all = getenv("TALARIA_LONG") != NULL;

    if (!all && c->moments++ % 8)
        return;
    for (uint64_t way = 1; way <= (all ? 3 : 1); way++, c->n++)
        cut(&c->synced, c->since, at, way * 2654435761u + at, c->folder, c->acknowledged, c->check);
}

static void sync_file(Cuts *c, size_t at)
{
    int file = record.ops[at].file;

    for (size_t k = c->since[file]; k < at; k++)
        if (record.ops[k].file == file)
            apply(&c->synced, &record.ops[k], NULL);
    c->since[file] = at;
}

static size_t cut_everywhere(const char *folder, CheckFn *check)
{
    Cuts c = { .folder = folder, .check = check };

    for (int i = 0; i < FILES; i++)
        c.synced.files[i] = (Buf)BUF(MIB(64));
    for (size_t at = 0; at < record.n; at++) {
        const DiskOp *op = &record.ops[at];

        if (op->kind == ACKNOWLEDGE)
            c.acknowledged = op->at;
        if (op->kind == DELETE) {
            c.synced.files[op->file].n = 0;
            c.since[op->file] = at;
        }
        if (op->kind == SYNC) {
            cut_here(&c, at);
            sync_file(&c, at);
            cut_here(&c, at);
        }
    }
    cut_here(&c, record.n);
    for (int i = 0; i < FILES; i++)
        buf_done(&c.synced.files[i]);
    return c.n;
}

/* -- folders -- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

typedef void ScriptFn(Arena *a, const char *folder);

static void run_and_cut(ScriptFn *script, CheckFn *check)
{
    char folder[] = "/tmp/talaria-unit-XXXXXX", image[] = "/tmp/talaria-unit-XXXXXX";
    AUTO(Arena) *a = arena_new();

    assert_non_null(mkdtemp(folder));
    assert_non_null(mkdtemp(image));
    record.arena = a;
    record.ops = NULL;
    record.n = record.cap = 0;
    script(a, folder);
    record.arena = NULL;
    assert_true(cut_everywhere(image, check) > 40);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    nftw(image, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void acknowledge(int64_t n)
{
    (void)put((DiskOp){ ACKNOWLEDGE, 0, n, STR_NONE });
}

static int64_t number(Db *db, const char *sql)
{
    int64_t n = -1;
    Err err;

    if (!db_get_int_once(db, -1, &n, &err, sql))
        fail_msg("%s", err.text);
    return n;
}

/* -- sessions and messages: a commit is an acknowledgement -- */

static void keep_sessions(Arena *a, const char *folder)
{
    OwnStore *own;
    Err err;

    own = own_store_open(str_of(folder), &err);
    assert_non_null(own);
    sqlite3_wal_autocheckpoint(own_store_db(own)->handle, 40);
    for (int i = 0; i < TRANSACTIONS; i++) {
        Session s = { .id = str_printf(a, "s%03d", i), .source = STR("cli"), .started_at = i + 1 };
        Message m = { .session_id = s.id, .role = STR("user"), .active = 1 };

        assert_true(own_store_begin(own, &err) && own_add_session(own, &s, &err));
        for (int k = 0; k < MESSAGES; k++) {
            m.content = str_printf(a, "%0*d", 700 + 13 * i, k);
            m.timestamp = i + k + 1;
            assert_true(own_add_message(own, &m, &err));
        }
        assert_true(own_store_end(own, true, &err));
        acknowledge(i + 1);
    }
    record.arena = NULL;
    own_store_close(own);
}

static void sessions_are_whole(Db *db, int64_t acknowledged)
{
    int64_t n = number(db, "SELECT count(*) FROM sessions");

    assert_in_range(n, acknowledged, TRANSACTIONS);
    assert_int_equal(number(db, "SELECT count(*) FROM messages"), n * MESSAGES);
    assert_int_equal(number(db, "SELECT count(DISTINCT session_id) FROM messages"), n);
}

static void what_was_committed_survives(void **state)
{
    (void)state;
    run_and_cut(keep_sessions, sessions_are_whole);
}

/* -- turns: the question is synced when it is taken, the end before it is told -- */

static void make_turns(Arena *a, const char *folder)
{
    Runs *runs, *syncer;
    Err err;

    runs = runs_open(str_of(folder), &err);
    syncer = runs_open(str_of(folder), &err);
    assert_true(runs && syncer);
    for (int i = 0; i < TRANSACTIONS / 2; i++) {
        Conversation c = { .id = id_new(a, 'c') };
        RunRequest request = { .id = str_printf(a, "r%03d", i),
                               .conversation_id = c.id,
                               .runtime = STR("alpha"),
                               .owner = STR("p1"),
                               .text = STR("hello") };
        RunEvent said = { .run_id = request.id,
                          .seq = 1,
                          .type = STR("chunk"),
                          .payload = str_printf(a, "{\"seq\":1,\"text\":\"%0*d\"}", 900, i),
                          .created_ms = 1 };
        RunEnd end = { .run_id = request.id,
                       .state = STR("completed"),
                       .message_status = STR("complete"),
                       .text = STR("the answer") };
        bool again;
        size_t stale;
        Run run;

        assert_true(conversation_create(runs, &c, &err));
        assert_true(runs_begin(runs, a, &request, &run, &again, &err));
        acknowledge(2 * i + 1);
        assert_true(runs_write(runs, &(RunBatch){ .said = &said, .n_said = 1 }, &stale, &err));
        assert_true(runs_write(
            runs, &(RunBatch){ .events = &said, .n_events = 1, .ends = &end, .n_ends = 1 }, &stale,
            &err));
        assert_true(runs_sync(syncer, &err));
        acknowledge(2 * i + 2);
        if (i % 7 == 6)
            runs_checkpoint(syncer);
    }
    record.arena = NULL;
    runs_close(syncer);
    runs_close(runs);
}

static void turns_are_whole(Db *db, int64_t acknowledged)
{
    int64_t begun = number(db, "SELECT count(*) FROM run"),
            ended = number(db, "SELECT count(*) FROM run WHERE state = 'completed'");

    assert_in_range(begun, (acknowledged + 1) / 2, TRANSACTIONS / 2);
    assert_in_range(ended, acknowledged / 2, begun);
    assert_int_equal(number(db, "SELECT count(*) FROM messages WHERE role = 'user'"), begun);
    assert_int_equal(number(db, "SELECT count(*) FROM messages WHERE content = 'the answer'"),
                     ended);
}

static void what_was_told_of_a_turn_survives(void **state)
{
    (void)state;
    run_and_cut(make_turns, turns_are_whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_committed_survives),
        cmocka_unit_test(what_was_told_of_a_turn_survives),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}

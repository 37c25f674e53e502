/* A Hermes home without a write-ahead log: there is one lock, a reader keeps a writer from
 * committing, and a journal beside the database does not mean that its writer is dead. */
#include "handoff_world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/file.h"

enum { HELD_MS = 300 };

static void rollback_world(World *w)
{
    world_open(w);
    world_sql(w, w->hermes, "PRAGMA journal_mode=DELETE");
    assert_str(world_ask(w, w->hermes, "PRAGMA journal_mode"), STR("delete"));
}

static char *database(World *w)
{
    return str_z(w->arena, str_join_path(w->arena, w->hermes, STR("state.db")));
}

static void nap(int64_t ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* -- a reader -- */

typedef struct Reader {
    const char *path;
    atomic_bool holds, let_go;
} Reader;

static void *read_on(void *ctx)
{
    AUTO(Db) *db = NULL;
    AUTO(DbRows) *rows = NULL;
    Reader *r = ctx;
    bool row = false;

    OK((db = db_open_read(r->path, &err)) != NULL);
    OK(db_query(db, &rows, &err, "SELECT id FROM sessions"));
    OK(db_row(rows, &row, &err));
    r->holds = true;
    nap(HELD_MS);
    r->let_go = true;
    return NULL;
}

typedef void Step(World *w, Handoff *h);

/* The step is made beside a reader, which it has to outlast. */
static void beside_a_reader(World *w, Handoff *h, Step *step)
{
    Reader r = { .path = database(w) };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, read_on, &r), 0);
    while (!r.holds)
        nap(1);
    step(w, h);
    assert_true(r.let_go);
    pthread_join(thread, NULL);
}

static void ask(World *w, Handoff *h)
{
    *h = world_request(w, w->hermes, "s1", "telegram");
}

static void claim(World *w, Handoff *h)
{
    *h = world_claim(w, h->id, "a");
}

static void bind_it(World *w, Handoff *h)
{
    OK(routing_bind(w->journal, w->arena, h, &err));
}

static void complete(World *w, Handoff *h)
{
    bool shown = false;

    OK(handoff_complete(w->journal, h, &shown, &err));
    assert_true(shown);
}

static void bring_back(World *w, Handoff *h)
{
    OK(routing_release(w->journal, h->home, h->session_id, &err));
}

static void every_write_outlasts_a_reader(void **state)
{
    Handoff h;
    World w;

    (void)state;
    rollback_world(&w);
    beside_a_reader(&w, &h, ask);
    beside_a_reader(&w, &h, claim);
    world_prepare(&w, &h, "{\"platform\":\"telegram\",\"chat_id\":\"555\",\"chat_type\":\"dm\"}");
    beside_a_reader(&w, &h, bind_it);
    OK(handoff_advance(w.journal, &h, HANDOFF_ANNOUNCED, &err));
    beside_a_reader(&w, &h, complete);
    beside_a_reader(&w, &h, bring_back);
    assert_str(world_ask(&w, w.hermes, "SELECT source FROM sessions WHERE id = 's1'"), STR("cli"));
    world_close(&w);
}

/* -- a journal beside the database -- */

/* As it looks to a reader between two quick writes of another process: a journal that nobody has a
 * lock for. */
static void leave_journal(World *w)
{
    Err err;
    Str path = str_printf(w->arena, "%s-journal", database(w));
    static const char header[512] = { '\xd9', '\xd5', '\x05', '\xf9', ' ', '\xa1', 'c', '\xd7' };

    if (!file_write_atomic(path.p, (Str){ header, sizeof header }, &err))
        fail_msg("%s", err.text);
}

static void *take_journal_away(void *ctx)
{
    nap(40);
    (void)unlink(ctx);
    return NULL;
}

static bool can_read(World *w, Err *err)
{
    AUTO(Db) *db = db_open_read(database(w), err);
    int64_t n = 0;

    return db && db_get_int(db, 0, &n, err, "SELECT count(*) FROM sessions") && n == 3;
}

static void a_journal_that_goes_away_was_no_accident(void **state)
{
    pthread_t thread;
    World w;

    (void)state;
    rollback_world(&w);
    w.foreign = db_close(w.foreign);
    leave_journal(&w);
    assert_int_equal(pthread_create(&thread, NULL, take_journal_away,
                                    (void *)str_printf(w.arena, "%s-journal", database(&w)).p),
                     0);
    OK(can_read(&w, &err));
    pthread_join(thread, NULL);
    world_close(&w);
}

static void a_journal_that_stays_is_told(void **state)
{
    World w;

    (void)state;
    rollback_world(&w);
    w.foreign = db_close(w.foreign);
    leave_journal(&w);
    FAILS(can_read(&w, &err), ERR_CONFLICT);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_write_outlasts_a_reader),
        cmocka_unit_test(a_journal_that_goes_away_was_no_accident),
        cmocka_unit_test(a_journal_that_stays_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

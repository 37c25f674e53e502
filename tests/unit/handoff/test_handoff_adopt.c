/* Requests that programs of Hermes write into their own database, and what becomes of them when
 * they change their mind: the platform that was asked for last is the one that counts. */
#include "handoff_world.h"

#define SHOWN(w, home, session)                                                                    \
    world_ask(w, home, "SELECT handoff_state FROM sessions WHERE id = '" session "'")
#define TELEGRAM "{\"platform\":\"telegram\",\"chat_id\":\"555\",\"chat_type\":\"dm\"}"

static void foreign_request(World *w, const char *platform)
{
    world_sql(w, w->hermes,
              str_printf(w->arena,
                         "UPDATE sessions SET handoff_state = 'pending', handoff_platform = '%s', "
                         "handoff_error = NULL WHERE id = 's1'",
                         platform)
                  .p);
}

static void add_handoff_columns(World *w)
{
    world_sql(w, w->hermes,
              "ALTER TABLE sessions ADD COLUMN handoff_state TEXT; ALTER TABLE sessions ADD COLUMN "
              "handoff_platform TEXT; ALTER TABLE sessions ADD COLUMN handoff_error TEXT");
}

static size_t open_handoffs(World *w)
{
    size_t n = 99;

    OK(handoff_open_count(w->journal, &n, &err));
    return n;
}

static const Str both[] = { STR_INIT("telegram"), STR_INIT("local") };

typedef struct Meanwhile {
    OwnStore *journal;
    Arena *arena;
    bool done;
} Meanwhile;

/* Between the moment in which a request was seen and the first statement about it. */
static int finish_the_first(unsigned type, void *ctx, void *stmt, void *sql)
{
    Meanwhile *m = ctx;
    Handoff *all, h;
    bool won = false;
    size_t n = 0;

    (void)type;
    (void)stmt;
    (void)sql;
    if (m->done)
        return 0;
    m->done = true;
    OK(handoff_list(m->journal, m->arena, STR(""), STR(""), 1, &all, &n, &err));
    OK(handoff_claim(m->journal, m->arena, all[0].id, STR("a"), 10000, &h, &won, &err));
    assert_true(won);
    OK(handoff_fail(m->journal, &h, HANDOFF_FAILED, "x", STR("no such chat"), &err));
    return 0;
}

static void a_request_that_ends_while_it_is_read_is_not_adopted_again(void **state)
{
    Meanwhile m = { 0 };
    World w;

    (void)state;
    world_open(&w);
    (void)world_request(&w, w.hermes, "s1", "telegram");
    m.arena = w.arena;
    OK((m.journal = own_store_open(w.data, &err)) != NULL);
    sqlite3_trace_v2(own_store_db(w.journal)->handle, SQLITE_TRACE_STMT, finish_the_first, &m);
    OK(handoff_adopt(w.journal, w.hermes, both, 2, &err));
    sqlite3_trace_v2(own_store_db(w.journal)->handle, 0, NULL, NULL);
    assert_true(m.done);
    assert_int_equal(open_handoffs(&w), 0);
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("failed"));
    /* So the next one is accepted at once. */
    (void)world_request(&w, w.hermes, "s1", "telegram");
    own_store_close(m.journal);
    world_close(&w);
}

static void a_request_that_was_replaced_is_not_claimed_for_the_old_platform(void **state)
{
    Handoff h, *all;
    bool won = true;
    size_t n = 0;
    World w;

    (void)state;
    world_open(&w);
    add_handoff_columns(&w);
    foreign_request(&w, "local");
    OK(handoff_adopt(w.journal, w.hermes, both, 2, &err));
    OK(handoff_list(w.journal, w.arena, STR(""), STR(""), 9, &all, &n, &err));
    assert_int_equal(n, 1);
    foreign_request(&w, "telegram"); /* its waiter gave up and asked for another one */
    OK(handoff_claim(w.journal, w.arena, all[0].id, STR("a"), 10000, &h, &won, &err));
    assert_false(won);
    OK(handoff_get(w.journal, w.arena, all[0].id, &h, &err));
    assert_int_equal(h.state, HANDOFF_FAILED);
    assert_str(h.error_code, STR("withdrawn"));
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("pending"));
    OK(handoff_adopt(w.journal, w.hermes, both, 2, &err));
    OK(handoff_pending(w.journal, w.arena, both, 2, &all, &n, &err));
    assert_int_equal(n, 1);
    assert_str(all[0].platform, STR("telegram"));
    h = world_claim(&w, all[0].id, "a");
    world_close(&w);
}

/* Nobody tried to claim the old one: its platform is not connected. */
static void a_replaced_request_gives_way_when_the_new_one_is_adopted(void **state)
{
    Handoff *all;
    size_t n = 0;
    World w;

    (void)state;
    world_open(&w);
    add_handoff_columns(&w);
    foreign_request(&w, "telegram");
    OK(handoff_adopt(w.journal, w.hermes, both, 2, &err));
    foreign_request(&w, "local");
    OK(handoff_adopt(w.journal, w.hermes, both, 2, &err));
    assert_int_equal(open_handoffs(&w), 1);
    OK(handoff_pending(w.journal, w.arena, &both[1], 1, &all, &n, &err));
    assert_int_equal(n, 1);
    /* And one that its waiter took back is in nobody's way. */
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'failed' WHERE id = 's1'");
    (void)world_request(&w, w.hermes, "s1", "telegram");
    assert_int_equal(open_handoffs(&w), 1);
    world_close(&w);
}

/* The waiter fails what is under way and asks for another platform, and a gateway of Hermes has
 * that one already. */
static void what_runs_for_another_platform_is_not_ours(void **state)
{
    bool shown = true;
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.hermes, "s1", "telegram");
    h = world_claim(&w, h.id, "a");
    world_prepare(&w, &h, TELEGRAM);
    foreign_request(&w, "discord");
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'running' WHERE id = 's1'");
    FAILS(routing_bind(w.journal, w.arena, &h, &err), ERR_REFUSED);
    OK(routing_undo(w.journal, w.arena, &h, HANDOFF_FAILED, "withdrawn", STR("taken back"), &err));
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("running"));
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'failed' WHERE id = 's1'");
    h = world_request(&w, w.hermes, "s1", "telegram");
    h = world_claim(&w, h.id, "a");
    world_bind(&w, &h, TELEGRAM);
    OK(handoff_advance(w.journal, &h, HANDOFF_ANNOUNCED, &err));
    foreign_request(&w, "discord");
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'running' WHERE id = 's1'");
    OK(handoff_complete(w.journal, &h, &shown, &err));
    assert_false(shown);
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("running"));
    world_close(&w);
}

static void a_state_that_nobody_knows_is_not_claimed(void **state)
{
    Handoff h, got;
    bool won = true;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.data, "s1", "telegram");
    world_sql(&w, w.data, "UPDATE handoff SET state = 'paused'");
    OK(handoff_claim(w.journal, w.arena, h.id, STR("a"), 10000, &got, &won, &err));
    assert_false(won);
    OK(handoff_get(w.journal, w.arena, h.id, &got, &err));
    assert_int_equal(got.fence, 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_ends_while_it_is_read_is_not_adopted_again),
        cmocka_unit_test(a_request_that_was_replaced_is_not_claimed_for_the_old_platform),
        cmocka_unit_test(a_replaced_request_gives_way_when_the_new_one_is_adopted),
        cmocka_unit_test(what_runs_for_another_platform_is_not_ours),
        cmocka_unit_test(a_state_that_nobody_knows_is_not_claimed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

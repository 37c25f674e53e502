/* The journal of handoffs: who may do what when, and what other tools see of it meanwhile. */
#include "handoff_world.h"

#define SHOWN(w, home, session)                                                                    \
    world_ask(w, home, "SELECT handoff_state FROM sessions WHERE id = '" session "'")
#define TELEGRAM "{\"platform\":\"telegram\",\"chat_id\":\"555\",\"chat_type\":\"dm\"}"

static void the_way_of_one(void **state)
{
    Str *homes[2];
    World w;

    (void)state;
    world_open(&w);
    homes[0] = &w.data;
    homes[1] = &w.hermes;
    for (int i = 0; i < 2; i++) {
        Handoff h = world_request(&w, *homes[i], "s1", "telegram"), again = { 0 };
        HandoffRequest request = { .home = *homes[i],
                                   .session_id = STR("s1"),
                                   .platform = STR("telegram") };
        bool won = true, shown = false;

        assert_int_equal(h.id.n, 26);
        assert_str(SHOWN(&w, *homes[i], "s1"), STR("pending"));
        FAILS(handoff_request(w.journal, w.arena, &request, &again, &err), ERR_CONFLICT);
        h = world_claim(&w, h.id, "a");
        assert_int_equal(h.fence, 1);
        assert_str(SHOWN(&w, *homes[i], "s1"), STR("running"));
        OK(handoff_claim(w.journal, w.arena, h.id, STR("b"), 10000, &again, &won, &err));
        assert_false(won);
        world_bind(&w, &h, TELEGRAM);
        assert_str(SHOWN(&w, *homes[i], "s1"), STR("running"));
        OK(handoff_advance(w.journal, &h, HANDOFF_ANNOUNCED, &err));
        OK(handoff_complete(w.journal, &h, &shown, &err));
        assert_true(shown);
        assert_str(SHOWN(&w, *homes[i], "s1"), STR("completed"));
        /* And once more, elsewhere. */
        (void)world_request(&w, *homes[i], "s1", "discord");
    }
    world_close(&w);
}

static void what_hermes_does_not_serve_stays_with_us(void **state)
{
    HandoffRequest request = { .session_id = STR("nobody"), .platform = STR("local") };
    Str before;
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    before = world_ask(&w, w.hermes, "SELECT sql FROM sqlite_master WHERE name = 'sessions'");
    h = world_request(&w, w.hermes, "s1", "local");
    h = world_claim(&w, h.id, "a");
    OK(handoff_fail(w.journal, &h, HANDOFF_FAILED, "x", STR("no"), &err));
    assert_str(world_ask(&w, w.hermes, "SELECT sql FROM sqlite_master WHERE name = 'sessions'"),
               before);
    request.home = w.hermes;
    FAILS(handoff_request(w.journal, w.arena, &request, &h, &err), ERR_NOT_FOUND);
    request.home = w.data;
    FAILS(handoff_request(w.journal, w.arena, &request, &h, &err), ERR_NOT_FOUND);
    world_close(&w);
}

static void a_dead_claimant_is_followed_where_it_was(void **state)
{
    Str served[] = { STR("telegram") };
    Handoff dead, next, *all;
    size_t n = 9;
    World w;

    (void)state;
    world_open(&w);
    dead = world_request(&w, w.hermes, "s1", "telegram");
    dead = world_claim(&w, dead.id, "dead");
    dead.thread_ref = STR("17");
    OK(handoff_advance(w.journal, &dead, HANDOFF_PREPARED, &err));
    OK(handoff_pending(w.journal, w.arena, served, 1, &all, &n, &err));
    assert_int_equal(n, 0);
    w.now += 11;
    OK(handoff_pending(w.journal, w.arena, served, 1, &all, &n, &err));
    assert_int_equal(n, 1);
    next = world_claim(&w, dead.id, "next");
    assert_int_equal(next.state, HANDOFF_PREPARED);
    assert_int_equal(next.fence, 2);
    assert_str(next.thread_ref, STR("17"));
    assert_str(next.step, STR("bind"));
    /* It wakes up and may do nothing any more. */
    FAILS(handoff_renew(w.journal, &dead, 10000, &err), ERR_CONFLICT);
    FAILS(handoff_advance(w.journal, &dead, HANDOFF_ANNOUNCED, &err), ERR_CONFLICT);
    FAILS(handoff_fail(w.journal, &dead, HANDOFF_FAILED, "x", STR("x"), &err), ERR_CONFLICT);
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("running"));
    OK(handoff_renew(w.journal, &next, 10000, &err));
    world_close(&w);
}

static size_t claimable(World *w)
{
    Str served[] = { STR("telegram") };
    Handoff *all;
    size_t n = 99;

    OK(handoff_pending(w->journal, w->arena, served, 1, &all, &n, &err));
    return n;
}

static void a_clock_that_was_ahead_puts_nothing_off_for_a_day(void **state)
{
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    w.now += 86400;
    h = world_request(&w, w.data, "s1", "telegram");
    h = world_claim(&w, h.id, "a");
    w.now -= 86400;
    assert_int_equal(claimable(&w), 1); /* its lease */
    w.now += 86400;
    OK(handoff_postpone(w.journal, &h, 30000, STR("not now"), &err));
    assert_int_equal(claimable(&w), 0);
    w.now -= 86400;
    assert_int_equal(claimable(&w), 1);
    h = world_claim(&w, h.id, "b");
    OK(handoff_postpone(w.journal, &h, 30000, STR("not now"), &err));
    assert_int_equal(claimable(&w), 0);
    world_close(&w);
}

static void what_a_dead_gateway_had_is_free_for_the_next_one(void **state)
{
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.data, "s1", "telegram");
    h = world_claim(&w, h.id, "dead");
    assert_int_equal(claimable(&w), 0);
    OK(handoff_recover(w.journal, &err));
    assert_int_equal(claimable(&w), 1);
    h = world_claim(&w, h.id, "next");
    assert_int_equal(h.fence, 2);
    world_close(&w);
}

static bool is_coming(World *w, const char *platform, const char *key, const char *thread)
{
    bool coming = false;

    OK(handoff_is_coming(w->journal, str_of(platform), str_of(key), str_of(thread), &coming, &err));
    return coming;
}

static void what_is_on_its_way_is_known_where_it_goes(void **state)
{
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.data, "s1", "telegram");
    assert_false(is_coming(&w, "telegram", "k", "17"));
    /* Somebody is at it, or died a moment ago: any thread may be the one. A chat without threads is
     * not. */
    h = world_claim(&w, h.id, "a");
    assert_true(is_coming(&w, "telegram", "k", "17"));
    assert_false(is_coming(&w, "telegram", "k", ""));
    assert_false(is_coming(&w, "slack", "k", "17"));
    w.now += 12;
    assert_true(is_coming(&w, "telegram", "k", "17"));
    w.now += 10;
    assert_false(is_coming(&w, "telegram", "k", "17"));
    h = world_claim(&w, h.id, "b");
    h.thread_ref = STR("17");
    OK(handoff_advance(w.journal, &h, HANDOFF_CLAIMED, &err));
    assert_false(is_coming(&w, "telegram", "k", "18"));
    w.now += 100; /* it has a name: that counts, whoever is at it */
    assert_true(is_coming(&w, "telegram", "k", "17"));
    world_prepare(&w, &h, TELEGRAM);
    assert_true(is_coming(&w, "telegram", str_z(w.arena, h.dest_key), ""));
    OK(routing_bind(w.journal, w.arena, &h, &err));
    assert_false(is_coming(&w, "telegram", str_z(w.arena, h.dest_key), "17"));
    world_close(&w);
}

static void a_late_binding_is_void(void **state)
{
    Handoff dead, next;
    World w;

    (void)state;
    world_open(&w);
    dead = world_request(&w, w.hermes, "s1", "telegram");
    dead = world_claim(&w, dead.id, "dead");
    dead.dest_key = STR("agent:main:telegram:dm:555");
    dead.dest_source_json = STR(TELEGRAM);
    OK(handoff_advance(w.journal, &dead, HANDOFF_PREPARED, &err));
    w.now += 11;
    next = world_claim(&w, dead.id, "next");
    FAILS(routing_bind(w.journal, w.arena, &dead, &err), ERR_CONFLICT);
    assert_str(world_ask(&w, w.hermes, "SELECT session_key FROM sessions WHERE id = 's1'"),
               STR("-"));
    assert_str(world_ask(&w, w.hermes, "SELECT count(*) FROM gateway_routing"), STR("0"));
    OK(routing_bind(w.journal, w.arena, &next, &err));
    assert_str(world_ask(&w, w.hermes, "SELECT session_key FROM sessions WHERE id = 's1'"),
               STR("agent:main:telegram:dm:555"));
    world_close(&w);
}

/* The waiter of an old Hermes fails what is under way, and its user tries again. */
static void a_late_completion_does_not_swallow_a_retry(void **state)
{
    Str served[] = { STR("telegram") };
    Handoff h, *all;
    bool shown = true;
    size_t n;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.hermes, "s1", "telegram");
    h = world_claim(&w, h.id, "a");
    world_bind(&w, &h, TELEGRAM);
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'failed' WHERE id = 's1'");
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'pending' WHERE id = 's1'");
    OK(handoff_advance(w.journal, &h, HANDOFF_ANNOUNCED, &err));
    OK(handoff_complete(w.journal, &h, &shown, &err));
    assert_false(shown);
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("pending"));
    OK(routing_undo(w.journal, w.arena, &h, HANDOFF_FAILED, "withdrawn",
                    STR("the terminal kept it"), &err));
    assert_int_equal(h.state, HANDOFF_FAILED);
    assert_str(world_ask(&w, w.hermes, "SELECT source FROM sessions WHERE id = 's1'"), STR("cli"));
    assert_str(world_ask(&w, w.hermes, "SELECT count(*) FROM gateway_routing"), STR("0"));
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'pending' WHERE id = 's1'");
    OK(handoff_adopt(w.journal, w.hermes, served, 1, &err));
    OK(handoff_pending(w.journal, w.arena, served, 1, &all, &n, &err));
    assert_int_equal(n, 1);
    world_close(&w);
}

static void a_request_that_was_taken_back_is_not_bound(void **state)
{
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.hermes, "s1", "telegram");
    h = world_claim(&w, h.id, "a");
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'failed' WHERE id = 's1'");
    h.dest_key = STR("agent:main:telegram:dm:555");
    h.dest_source_json = STR(TELEGRAM);
    OK(handoff_advance(w.journal, &h, HANDOFF_PREPARED, &err));
    FAILS(routing_bind(w.journal, w.arena, &h, &err), ERR_REFUSED);
    assert_str(world_ask(&w, w.hermes, "SELECT source FROM sessions WHERE id = 's1'"), STR("cli"));
    world_close(&w);
}

static void cancelling(void **state)
{
    bool over = false;
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.hermes, "s1", "telegram");
    OK(handoff_cancel(w.journal, h.id, &over, &err));
    assert_true(over);
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("failed"));
    FAILS(handoff_cancel(w.journal, h.id, &over, &err), ERR_CONFLICT);
    h = world_request(&w, w.hermes, "s1", "telegram");
    h = world_claim(&w, h.id, "a");
    OK(handoff_cancel(w.journal, h.id, &over, &err));
    assert_false(over);
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("running"));
    OK(handoff_get(w.journal, w.arena, h.id, &h, &err));
    assert_true(h.cancel);
    world_bind(&w, &h, TELEGRAM);
    FAILS(handoff_cancel(w.journal, h.id, &over, &err), ERR_CONFLICT);
    /* A gateway of others has it: nothing is taken from it. */
    h = world_request(&w, w.hermes, "s2", "telegram");
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'running' WHERE id = 's2'");
    FAILS(handoff_cancel(w.journal, h.id, &over, &err), ERR_CONFLICT);
    assert_str(SHOWN(&w, w.hermes, "s2"), STR("running"));
    world_close(&w);
}

static void requests_of_others(void **state)
{
    Str served[] = { STR("telegram"), STR("local") };
    Handoff *all;
    size_t n = 9;
    World w;

    (void)state;
    world_open(&w);
    /* No columns: nobody has ever asked, and looking adds none. */
    OK(handoff_adopt(w.journal, w.hermes, served, 2, &err));
    OK(handoff_pending(w.journal, w.arena, served, 2, &all, &n, &err));
    assert_int_equal(n, 0);
    (void)world_request(&w, w.hermes, "s3", "telegram");
    w.now += 1;
    world_sql(&w, w.hermes,
              "UPDATE sessions SET handoff_state = 'pending', handoff_platform = 'discord' WHERE "
              "id = 's1'; UPDATE sessions SET handoff_state = 'pending', handoff_platform = "
              "'telegram' WHERE id = 's2'");
    OK(handoff_adopt(w.journal, w.hermes, served, 2, &err));
    OK(handoff_adopt(w.journal, w.hermes, served, 2, &err));
    OK(handoff_pending(w.journal, w.arena, served, 2, &all, &n, &err));
    assert_int_equal(n, 2);
    assert_str(all[0].session_id, STR("s3"));
    assert_str(all[1].session_id, STR("s2"));
    (void)world_claim(&w, all[1].id, "a");
    assert_str(SHOWN(&w, w.hermes, "s2"), STR("running"));
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("pending"));
    world_close(&w);
}

/* `talaria handoff telegram` to a gateway of Hermes: its row is what tells. */
static void a_gateway_of_hermes_answers(void **state)
{
    bool won = true;
    Handoff h, seen;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.hermes, "s1", "telegram");
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'running' WHERE id = 's1'");
    OK(handoff_claim(w.journal, w.arena, h.id, STR("a"), 10000, &seen, &won, &err));
    assert_false(won);
    OK(handoff_look(w.journal, w.arena, h.id, &seen, &err));
    assert_int_equal(seen.state, HANDOFF_QUEUED);
    world_sql(&w, w.hermes, "UPDATE sessions SET handoff_state = 'completed' WHERE id = 's1'");
    OK(handoff_look(w.journal, w.arena, h.id, &seen, &err));
    assert_int_equal(seen.state, HANDOFF_DONE);
    h = world_request(&w, w.hermes, "s1", "telegram");
    world_sql(&w, w.hermes,
              "UPDATE sessions SET handoff_state = 'failed', handoff_error = 'no home' WHERE id = "
              "'s1'");
    OK(handoff_look(w.journal, w.arena, h.id, &seen, &err));
    assert_int_equal(seen.state, HANDOFF_FAILED);
    assert_str(seen.error_text, STR("no home"));
    world_close(&w);
}

static void nobody_comes(void **state)
{
    Str served[] = { STR("discord") };
    Handoff h, *all;
    size_t n = 9;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.hermes, "s1", "telegram");
    w.now += 901;
    OK(handoff_pending(w.journal, w.arena, served, 1, &all, &n, &err));
    assert_int_equal(n, 0);
    OK(handoff_get(w.journal, w.arena, h.id, &h, &err));
    assert_int_equal(h.state, HANDOFF_FAILED);
    assert_str(h.error_code, STR("timeout"));
    assert_str(SHOWN(&w, w.hermes, "s1"), STR("failed"));
    (void)world_request(&w, w.hermes, "s1", "telegram");
    world_close(&w);
}

static void a_locked_database_is_told(void **state)
{
    HandoffRequest request = { .session_id = STR("s1"), .platform = STR("telegram") };
    AUTO(Db) *other = NULL;
    Handoff h = { 0 };
    World w;

    (void)state;
    world_open(&w);
    request.home = w.hermes;
    OK((other = db_open_own(str_z(w.arena, str_join_path(w.arena, w.hermes, STR("state.db"))),
                            false, &err)) != NULL);
    OK(db_script(other, "BEGIN IMMEDIATE", &err));
    FAILS(handoff_request(w.journal, w.arena, &request, &h, &err), ERR_BUSY);
    assert_str(world_ask(&w, w.data, "SELECT count(*) FROM handoff"), STR("0"));
    OK(db_script(other, "ROLLBACK", &err));
    OK(handoff_request(w.journal, w.arena, &request, &h, &err));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_of_one),
        cmocka_unit_test(what_hermes_does_not_serve_stays_with_us),
        cmocka_unit_test(a_dead_claimant_is_followed_where_it_was),
        cmocka_unit_test(a_clock_that_was_ahead_puts_nothing_off_for_a_day),
        cmocka_unit_test(what_a_dead_gateway_had_is_free_for_the_next_one),
        cmocka_unit_test(what_is_on_its_way_is_known_where_it_goes),
        cmocka_unit_test(a_late_binding_is_void),
        cmocka_unit_test(a_late_completion_does_not_swallow_a_retry),
        cmocka_unit_test(a_request_that_was_taken_back_is_not_bound),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(requests_of_others),
        cmocka_unit_test(a_gateway_of_hermes_answers),
        cmocka_unit_test(nobody_comes),
        cmocka_unit_test(a_locked_database_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

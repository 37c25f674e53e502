/* Words on their way to a place: their order, and what becomes of those that do not arrive. */
#include "turns_gate.h"

/* -- order -- */

/* Some of them are tried again: those behind wait, those of other places do not. */
static void words_keep_their_order(void **state)
{
    enum { PLACES = 6, WORDS = 20 };
    ChatAddress to = { .platform = STR("local"), .chat_id = STR("home"), .chat_type = STR("dm") };
    Gate g;

    (void)state;
    gate_open(&g, false);
    for (int i = 0; i < PLACES * WORDS; i++) {
        to.thread_id = str_printf(g.world.arena, "t%d", i % PLACES);
        if (i % 25 == 0)
            atomic_store(&g.fail_send, 1);
        OK(turns_say(g.turns, &to, str_printf(g.world.arena, "z%d", 1000 - i),
                     str_printf(g.world.arena, "%d", i), &err));
    }
    for (int i = 0; i < 50 && !is_so(&g, UNSENT, "0"); i++) {
        int64_t wait;

        g.world.now += 1;
        OK(turns_deliver(g.turns, &wait, &err));
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    await(&g, UNSENT, "0");
    await(&g, "SELECT count(*) FROM local_message", "120");
    await(&g,
          "SELECT count(*) FROM local_message AS a JOIN local_message AS b ON a.thread = b.thread "
          "AND a.id < b.id AND CAST(a.text AS INTEGER) > CAST(b.text AS INTEGER)",
          "0");
    gate_close(&g);
}

/* A turn's words do not overtake an answer that waits for its next try, though they are ready. */
static void a_turn_does_not_overtake(void **state)
{
    ChatAddress to = { .platform = STR("local"), .chat_id = STR("home"), .chat_type = STR("dm") };
    Gate g;

    (void)state;
    gate_open(&g, false);
    atomic_store(&g.fail_send, 1);
    OK(turns_say(g.turns, &to, STR("first"), STR("one"), &err));
    await(&g, "SELECT attempt FROM outbox WHERE id = 'first'", "1");
    write_to(&g, "say two");
    await(&g, OPEN, "0");
    await(&g, "SELECT count(*) FROM local_message", "0");
    g.world.now += 5;
    await(&g, UNSENT, "0");
    await(&g, SAID, "one|say two");
    gate_close(&g);
}

static void what_is_too_late_is_not_said(void **state)
{
    Outgoing row, late = { .id = STR("late"),
                           .platform = STR("local"),
                           .address_json = STR("{\"platform\":\"local\",\"chat_id\":\"home\"}"),
                           .text = STR("of no use any more") };
    Gate g;

    (void)state;
    gate_open(&g, false);
    late.expires_ms = (int64_t)(g.world.now * 1000) + 3600000;
    OK(outbox_put(g.world.journal, g.world.arena, &late, &row, &err));
    g.world.now += 3601;
    await(&g, "SELECT state || ': ' || error FROM outbox",
          "dead: expired: it could not be said in time");
    await(&g, "SELECT count(*) FROM local_message", "0");
    /* Somebody wants it said all the same. */
    OK(outbox_retry(g.world.journal, STR("late"), &err));
    await(&g, SAID, "of no use any more");
    gate_close(&g);
}

/* -- delivery -- */

static void it_arrives_later(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    g.platform.knows_repeats = false;
    g.platform.edit = NULL;
    atomic_store(&g.fail_send, 1);
    write_to(&g, "say one");
    await(&g, "SELECT attempt || state FROM outbox", "1waiting");
    g.world.now += 5;
    /* It certainly did not arrive, so it is no repeat. */
    await(&g, UNSENT, "0");
    await(&g, SAID, "say one");
    atomic_store(&g.lose_send, 1);
    write_to(&g, "say two");
    await(&g, "SELECT count(*) FROM outbox WHERE attempt = 1 AND state = 'waiting'", "1");
    g.world.now += 5;
    await(&g, UNSENT, "0");
    assert_int_equal(g.messages, 2);
    await(&g, "SELECT count(*) FROM local_message WHERE text LIKE '%say two'", "1");
    gate_close(&g);
}

static bool refuse(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err)
{
    (void)c;
    (void)a;
    (void)m;
    (void)ret;
    return err_set(err, ERR_REFUSED, "we were thrown out");
}

static void what_cannot_arrive_is_dead(void **state)
{
    Outgoing *dead;
    size_t n;
    Gate g;

    (void)state;
    gate_open(&g, false);
    g.platform.edit = NULL;
    g.platform.send = refuse;
    write_to(&g, "say one");
    await(&g, "SELECT state FROM outbox", "dead");
    OK(outbox_dead(g.world.journal, g.world.arena, 10, &dead, &n, &err));
    assert_int_equal(n, 1);
    assert_str(dead[0].error, STR("we were thrown out"));
    FAILS(outbox_retry(g.world.journal, STR("none"), &err), ERR_NOT_FOUND);
    g.platform.send = platform_local.send;
    OK(outbox_retry(g.world.journal, dead[0].id, &err));
    await(&g, UNSENT, "0");
    await(&g, SAID, "say one");
    gate_close(&g);
}

static void words_of_ours(void **state)
{
    ChatAddress to = { .platform = STR("local"), .chat_id = STR("home"), .chat_type = STR("dm") };
    Gate g;

    (void)state;
    gate_open(&g, false);
    OK(turns_say(g.turns, &to, STR("say:1"), STR("hello"), &err));
    OK(turns_say(g.turns, &to, STR("say:1"), STR("hello"), &err));
    await(&g, UNSENT, "0");
    await(&g, SAID, "hello");
    gate_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_keep_their_order),       cmocka_unit_test(a_turn_does_not_overtake),
        cmocka_unit_test(what_is_too_late_is_not_said), cmocka_unit_test(it_arrives_later),
        cmocka_unit_test(what_cannot_arrive_is_dead),   cmocka_unit_test(words_of_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

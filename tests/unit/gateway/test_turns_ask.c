/* What an agent asks in the middle of a turn, and who answers. */
#include "turns_gate.h"

/* -- what an agent asks -- */

#define HOME_KEY STR("agent:main:local:dm:home")
#define ASKED    "SELECT count(*) FROM local_message WHERE text LIKE 'The agent needs your approval%'"
#define ANSWERS                                                                                    \
    "SELECT group_concat(text, '|') FROM (SELECT text FROM local_message WHERE text NOT LIKE "     \
    "'The agent needs%' ORDER BY id)"

static void it_asks_and_is_answered(void **state)
{
    static const char *const choices[] = { "once", "session", "deny" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        char expected[64];
        Str words;
        Gate g;

        gate_open(&g, false);
        write_to(&g, "talk and ask");
        await(&g, ASKED, "1");
        words = world_ask(&g.world, g.world.data,
                          "SELECT text FROM local_message WHERE text LIKE 'The agent needs%'");
        /* What is to be done stands whole between its fences, and who does it, and what one can
         * say. */
        assert_str(
            words,
            STR("The agent needs your approval to use shell:\n\n```\nrm -r `` ` build\n"
                "```\n\n/approve - once\n/approve session - for the rest of the "
                "session\n/deny - no\n\nIt is denied if you do not answer within 5 minutes."));
        FAILS(turns_approve(g.turns, HOME_KEY, STR("always"), clock_wall_ms(), &err), ERR_INVALID);
        FAILS(turns_approve(g.turns, STR("agent:main:local:dm:other"), STR("once"), clock_wall_ms(),
                            &err),
              ERR_NOT_FOUND);
        /* Written before the question was there. */
        FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms() - 60000, &err),
              ERR_CONFLICT);
        OK(turns_approve(g.turns, HOME_KEY, str_of(choices[i]), clock_wall_ms(), &err));
        await(&g, OPEN, "0");
        await(&g, UNSENT, "0");
        FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err), ERR_NOT_FOUND);
        /* What came after it is a message of its own, below the question. */
        snprintf(expected, sizeof expected, "first words|so: %s", choices[i]);
        await(&g, ANSWERS, expected);
        await(&g, ASKED, "1");
        await(&g, "SELECT text LIKE 'so:%' FROM local_message ORDER BY id DESC LIMIT 1", "1");
        gate_close(&g);
    }
}

static void of_two_answers_the_first_counts(void **state)
{
    int before = atomic_load(&answers), yes = 0;
    Gate g;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "ask");
    await(&g, ASKED, "1");
    for (int i = 0; i < 5; i++) {
        Err err;

        yes += turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err);
    }
    assert_int_equal(yes, 1);
    await(&g, OPEN, "0");
    await(&g, ANSWERS, "so: once");
    assert_int_equal(atomic_load(&answers), before + 1);
    gate_close(&g);
}

static void nobody_answers(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    g.turns = turns_close(g.turns);
    g.approval_ms = 1000;
    open_turns(&g);
    write_to(&g, "ask");
    await(&g, ASKED, "1");
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "No answer within 1 second: denied.|so: deny");
    gate_close(&g);
}

/* Another message, or /stop: the turn ends, and its question with it. */
static void a_question_ends_with_its_turn(void **state)
{
    bool any = false;
    Gate g;

    (void)state;
    gate_open(&g, true);
    write_to(&g, "talk and ask");
    await(&g, ASKED, "1");
    write_to(&g, "say other things");
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "first words|say other things");
    FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err), ERR_NOT_FOUND);
    write_to(&g, "ask");
    await(&g, ASKED, "2");
    OK(turns_stop(g.turns, HOME_KEY, &any, &err));
    assert_true(any);
    /* At once, though the runtime may still be on its way to the end. */
    FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err), ERR_NOT_FOUND);
    await(&g, OPEN, "0");
    await(&g, ANSWERS, "first words|say other things");
    gate_close(&g);
}

static void a_message_waits_for_the_answer(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "ask");
    write_to(&g, "say next");
    await(&g, ASKED, "1");
    OK(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "so: once|say next");
    gate_close(&g);
}

/* A question that could not be said yet: nobody can answer it, and once its turn is over nobody is
 * asked. */
static void an_unread_question(void **state)
{
    bool any;
    Gate g;

    (void)state;
    gate_open(&g, false);
    atomic_store(&g.fail_send, 1000);
    write_to(&g, "ask");
    await(&g, "SELECT attempt > 0 FROM outbox WHERE id LIKE 'ask:%'", "1");
    FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms() + 60000, &err),
          ERR_CONFLICT);
    OK(turns_stop(g.turns, HOME_KEY, &any, &err));
    await(&g, OPEN, "0");
    atomic_store(&g.fail_send, 0);
    g.world.now += 60;
    await(&g, UNSENT, "0");
    await(&g, "SELECT error FROM outbox WHERE id LIKE 'ask:%'", "it was over before");
    await(&g, "SELECT count(*) FROM local_message", "0");
    gate_close(&g);
}

/* The gateway ends while a question waits: the turn is made again and asks again; the old question
 * is nobody's. */
static void a_question_of_an_earlier_gateway(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "talk and ask", &in);
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, ASKED, "1");
    await(&g, ANSWERS, "first words");
    g.turns = turns_close(g.turns);
    world_sql(&g.world, g.world.data, "UPDATE outbox SET state = 'waiting' WHERE id LIKE 'ask:%'");
    open_turns(&g);
    await(&g, UNSENT " AND id LIKE 'ask:%'", "0");
    await(&g, ASKED, "1");
    FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err), ERR_NOT_FOUND);
    OK(inbox_take(g.world.journal, row.seq, &err));
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, ASKED, "2");
    OK(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "first words|first words|so: once");
    gate_close(&g);
}

static void count_typing(Connection *c, const ChatAddress *at);
static Gate *typing_gate;

static void nobody_types_while_it_waits(void **state)
{
    struct timespec pause = { .tv_nsec = 50000000 };
    int before;
    Gate g;

    (void)state;
    gate_open(&g, false);
    typing_gate = &g;
    g.platform.typing = count_typing;
    g.platform.typing_ms = 5;
    write_to(&g, "ask");
    await(&g, ASKED, "1");
    nanosleep(&pause, NULL);
    before = atomic_load(&g.typed);
    nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&g.typed), before);
    OK(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err));
    await(&g, OPEN, "0");
    gate_close(&g);
}

static void count_typing(Connection *c, const ChatAddress *at)
{
    (void)c;
    (void)at;
    atomic_fetch_add(&typing_gate->typed, 1);
}

/* The run came to its end, but the gateway died before that was noted: what stands there already is
 * not told again. */
static void a_run_that_asked_is_told_once(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "talk and ask", &in);
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, ASKED, "1");
    OK(turns_approve(g.turns, HOME_KEY, STR("once"), clock_wall_ms(), &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    world_sql(&g.world, g.world.data,
              "UPDATE inbox SET state = 'taken'; UPDATE outbox SET state = 'open', sent = 0, "
              "sending = 0, text = '' WHERE id LIKE 'reply:%'");
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "first words|so: once");
    await(&g, ASKED, "1");
    gate_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_asks_and_is_answered),
        cmocka_unit_test(of_two_answers_the_first_counts),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(a_question_ends_with_its_turn),
        cmocka_unit_test(a_message_waits_for_the_answer),
        cmocka_unit_test(an_unread_question),
        cmocka_unit_test(a_question_of_an_earlier_gateway),
        cmocka_unit_test(nobody_types_while_it_waits),
        cmocka_unit_test(a_run_that_asked_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

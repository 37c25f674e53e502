/* Turns of chat platforms: answers, interruptions, deaths, and sessions that came by a handoff. */
#include "turns_gate.h"

/* -- answers -- */

static void a_message_is_answered(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "say one");
    await(&g, UNSENT, "0");
    await(&g, OPEN, "0");
    await(&g, SAID, "say one");
    await(&g, TALKS, "1");
    await(&g, "SELECT owner_surface FROM session_owner", "local");
    /* The next one goes on where the first was. */
    write_to(&g, "say two");
    await(&g, OPEN, "0");
    await(&g, SAID, "say one|say two");
    await(&g, TALKS, "1");
    pthread_mutex_lock(&seen_lock);
    assert_int_equal(seen_history, 2);
    pthread_mutex_unlock(&seen_lock);
    gate_close(&g);
}

static void trouble_is_told_once(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "fail");
    await(&g, SAID, "This did not work: the model is ill");
    await(&g, OPEN, "0");
    gate_close(&g);
}

/* However often the row comes back, what was answered is not answered again. */
static void nothing_is_answered_twice(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;
    int before;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "say one", &in);
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, SAID, "say one");
    await(&g, UNSENT, "0");
    before = atomic_load(&starts);
    world_sql(&g.world, g.world.data, "UPDATE inbox SET state = 'taken'");
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    /* Nor where only the run is known. */
    world_sql(&g.world, g.world.data, "UPDATE inbox SET state = 'taken'");
    world_sql(&g.world, g.world.data, "DELETE FROM outbox");
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    assert_int_equal(atomic_load(&starts), before);
    await(&g, SAID, "say one");
    gate_close(&g);
}

/* A gateway that ends in the middle: the next one answers, in the same message, and the words of
 * the user are kept once. */
static void an_end_in_the_middle(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "begin", &in);
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, SAID, "begin");
    await(&g, "SELECT state FROM outbox", "open");
    g.turns = turns_close(g.turns);
    await(&g, "SELECT state FROM inbox", "new");
    open_turns(&g);
    OK(inbox_take(g.world.journal, row.seq, &err));
    in.text = STR("say all of it");
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, SAID, "say all of it");
    await(&g, "SELECT count(*) FROM messages WHERE role = 'user'", "1");
    gate_close(&g);
}

static void a_dead_run_is_made_anew(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "say it", &in);
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    /* As if the process had died when it had just begun. */
    world_sql(&g.world, g.world.data,
              "UPDATE run SET state = 'failed', error_code = 'internal'; UPDATE inbox SET state = "
              "'taken'; UPDATE outbox SET state = 'open', sent = 0, sending = 1, text = ''");
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, "SELECT count(*) FROM run", "2");
    await(&g, "SELECT count(*) FROM messages WHERE role = 'user'", "1");
    await(&g, SAID, "say it");
    gate_close(&g);
}

/* What was parked, and told so, has an answer of its own when somebody asks for it again. */
static void a_parked_one_is_answered_when_asked_for_again(void **state)
{
    InboxRow row, *all;
    Inbound in;
    Gate g;
    size_t n;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "say it", &in);
    OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    world_sql(&g.world, g.world.data,
              "UPDATE run SET state = 'failed', error_code = 'internal'; UPDATE inbox SET state = "
              "'parked', attempt = 3");
    OK(inbox_retry(g.world.journal, row.seq, &err));
    OK(inbox_new(g.world.journal, g.world.arena, 10, &all, &n, &err));
    assert_int_equal(n, 1);
    OK(inbox_take(g.world.journal, row.seq, &err));
    OK(turns_message(g.turns, &all[0], &in, TRUST_OWNER, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, SAID, "say it|say it");
    await(&g, "SELECT count(*) FROM messages WHERE role = 'user'", "1");
    gate_close(&g);
}

static void the_next_message_interrupts(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, true);
    write_to(&g, "begin");
    await(&g, SAID, "begin");
    write_to(&g, "say now");
    await(&g, OPEN, "0");
    await(&g, SAID, "begin\n\n(interrupted)|say now");
    gate_close(&g);
}

static void the_next_message_waits(void **state)
{
    Gate g;
    bool any = false;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "begin");
    write_to(&g, "say now");
    await(&g, SAID, "begin");
    OK(turns_stop(g.turns, STR("agent:main:local:dm:home"), &any, &err));
    assert_true(any);
    await(&g, OPEN, "0");
    await(&g, SAID, "begin\n\n(stopped)|say now");
    gate_close(&g);
}

/* -- handoffs -- */

static bool make_card(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err)
{
    (void)ctx;
    (void)a;
    (void)h;
    (void)err;
    *ret = (Card){ .title = STR("Fix it"), .text = STR("card") };
    return true;
}

static Handoff hand_over(Gate *g, Str home, const char *session, bool no_turn)
{
    AUTO(Worker) *worker = worker_new(&(WorkerOptions){ .journal = g->world.journal,
                                                        .owner = STR("w"),
                                                        .served = &g->served,
                                                        .n_served = 1,
                                                        .flags = KEY_FLAGS,
                                                        .card = make_card,
                                                        .turns = g->turns });
    HandoffRequest request = {
        .home = home, .session_id = str_of(session), .platform = STR("local"), .no_turn = no_turn
    };
    Handoff h = { 0 };
    int64_t wait;

    OK(handoff_request(g->world.journal, g->world.arena, &request, &h, &err));
    OK(worker_round(worker, &wait, &err));
    OK(handoff_get(g->world.journal, g->world.arena, h.id, &h, &err));
    assert_int_equal(h.state, HANDOFF_DONE);
    return h;
}

#define IN_THREAD                                                                                  \
    "SELECT count(*) FROM local_message WHERE thread <> '' AND text <> 'card' AND text LIKE "      \
    "'[From Talaria%'"

static void the_first_words(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    (void)hand_over(&g, g.world.data, "s1", false);
    await(&g, IN_THREAD, "1");
    await(&g, UNSENT, "0");
    pthread_mutex_lock(&seen_lock);
    assert_true(seen_internal);
    pthread_mutex_unlock(&seen_lock);
    /* Nobody said anything, so nobody's words are kept. */
    await(&g, "SELECT group_concat(role) FROM messages WHERE session_id = 's1'", "assistant");
    await(&g, "SELECT count(*) FROM our_thread", "1");
    (void)hand_over(&g, g.world.data, "s2", true);
    await(&g, UNSENT, "0");
    await(&g, "SELECT count(*) FROM run WHERE conversation_id = 's2'", "0");
    gate_close(&g);
}

/* A gateway that died between the end of the handoff and the first words. */
static void a_promise_is_kept(void **state)
{
    Handoff h;
    Gate g;

    (void)state;
    gate_open(&g, false);
    h = hand_over(&g, g.world.data, "s1", true);
    h.no_turn = 0;
    world_sql(&g.world, g.world.data, "UPDATE handoff SET no_turn = 0");
    OK(turns_promise(g.turns, g.world.journal, &h, &err));
    g.turns = turns_close(g.turns);
    open_turns(&g);
    await(&g, IN_THREAD, "1");
    gate_close(&g);
}

static void only_one_may_write(void **state)
{
    ConversationChange title = { .title = STR("mine") };
    Service *s;
    LiveRun *live;
    Runs *r;
    Run run;
    Gate g;

    (void)state;
    gate_open(&g, false);
    (void)hand_over(&g, g.world.data, "s1", false);
    await(&g, UNSENT, "0");
    OK((s = service_open(
            &(ServiceOptions){
                .homes = &g.homes, .settings = &g.settings, .runtimes = fakes, .plain = true },
            &err)) != NULL);
    OK((r = service_borrow_runs(s, &err)) != NULL);
    /* Terminal and page are told where it is; another platform too. */
    FAILS(service_chat(s, g.world.arena,
                       &(ChatRequest){ .conversation_id = STR("s1"), .text = STR("say x") }, &run,
                       &live, &err),
          ERR_CONFLICT);
    FAILS(service_chat(s, g.world.arena,
                       &(ChatRequest){ .conversation_id = STR("s1"),
                                       .text = STR("say x"),
                                       .surface = STR("telegram") },
                       &run, &live, &err),
          ERR_CONFLICT);
    FAILS(conversation_change(r, STR("s1"), &title, &err), ERR_CONFLICT);
    FAILS(conversation_delete(r, STR("s1"), &err), ERR_CONFLICT);
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    FAILS(service_chat(s, g.world.arena,
                       &(ChatRequest){ .conversation_id = STR("s1"),
                                       .text = STR("say x"),
                                       .surface = STR("local") },
                       &run, &live, &err),
          ERR_CONFLICT);
    OK(conversation_change(r, STR("s1"), &title, &err));
    OK(service_chat(s, g.world.arena,
                    &(ChatRequest){ .conversation_id = STR("s1"), .text = STR("say x") }, &run,
                    &live, &err));
    live_drop(live);
    service_return_runs(s, r);
    service_close(s);
    gate_close(&g);
}

/* A session that lies in another home: its words are loaded with every call and its result, what
 * compaction put away is left out, and not a row of that home's messages is written. */
static void a_session_of_another_home(void **state)
{
    static const char words[] =
        "ALTER TABLE messages ADD COLUMN tool_calls TEXT; ALTER TABLE messages ADD COLUMN "
        "tool_call_id TEXT; ALTER TABLE messages ADD COLUMN timestamp REAL; ALTER TABLE messages "
        "ADD COLUMN active INTEGER DEFAULT 1; ALTER TABLE sessions ADD COLUMN cwd TEXT; UPDATE "
        "sessions SET cwd = '/tmp';"
        "INSERT INTO messages(session_id, role, content, tool_calls, tool_call_id, timestamp, "
        "active) VALUES"
        "('s1', 'user', 'put away', NULL, NULL, 1, 0),"
        "('s1', 'user', 'list it', NULL, NULL, 2, 1),"
        "('s1', 'assistant', '', '[{\"id\":\"k1\",\"type\":\"function\",\"function\":{\"name\":"
        "\"ls\",\"arguments\":\"{}\"}},{\"id\":\"k2\",\"type\":\"function\",\"function\":{\"name\":"
        "\"lost\",\"arguments\":\"{}\"}}]', NULL, 3, 1),"
        "('s1', 'tool', 'a b', NULL, 'k1', 4, 1),"
        "('s1', 'tool', 'of nobody', NULL, 'k9', 5, 1),"
        "('s1', 'assistant', 'a and b', NULL, NULL, 6, 1)";
    static const char expected[] =
        "{\"v\": 1, \"dropped\": 0, \"messages\": [{\"role\": \"user\", \"text\": \"list it\"}, "
        "{\"role\": \"assistant\", \"text\": \"\", \"calls\": [{\"id\": \"k1\", \"name\": \"ls\", "
        "\"arguments\": \"{}\"}]}, {\"role\": \"tool\", \"text\": \"a b\", \"call_id\": \"k1\"}, "
        "{\"role\": \"assistant\", \"text\": \"a and b\"}]}";
    Str messages = STR("SELECT count(*) || max(id) FROM messages"), before;
    Handoff h;
    Gate g;

    (void)state;
    gate_open(&g, false);
    world_sql(&g.world, g.world.hermes, words);
    before = world_ask(&g.world, g.world.hermes, messages.p);
    h = hand_over(&g, g.world.hermes, "s1", false);
    await(&g, IN_THREAD, "1");
    await(&g, UNSENT, "0");
    pthread_mutex_lock(&seen_lock);
    assert_string_equal(seen_handle, expected);
    assert_string_equal(seen_cwd, "/tmp");
    pthread_mutex_unlock(&seen_lock);
    assert_str(world_ask(&g.world, g.world.hermes, messages.p), before);
    await(&g, "SELECT count(*) FROM conversation_of WHERE session_id = 's1'", "1");
    /* It comes back with the conversation in which it went on. */
    OK(routing_release(g.world.journal, g.world.hermes, STR("s1"), &err));
    await(&g, "SELECT group_concat(DISTINCT owner_surface) FROM session_owner", "cli");
    OK(turns_session(g.turns, g.world.arena, h.dest_key, &before, &err));
    assert_str(before, STR(""));
    await(&g, "SELECT count(*) FROM outbox WHERE id LIKE 'left:%'", "1");
    gate_close(&g);
}

/* The place that a session left is told, once; one that wished to be rid of it is not. */
static void the_place_that_was_left_is_told(void **state)
{
    Str said = STR("'Fix it' continues in the terminal. Write here to start a new session; /resume "
                   "continues an earlier one from this chat.");
    Handoff h;
    Gate g;

    (void)state;
    gate_open(&g, false);
    world_sql(&g.world, g.world.data, "UPDATE sessions SET title = 'Fix it' WHERE id = 's1'");
    h = hand_over(&g, g.world.data, "s1", true);
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    await(&g, UNSENT, "0");
    assert_str(world_ask(&g.world, g.world.data,
                         "SELECT text FROM local_message WHERE text <> 'card' AND thread = (SELECT "
                         "thread_ref FROM handoff)"),
               said);
    await(&g, "SELECT count(*) FROM local_message", "2");
    h = hand_over(&g, g.world.data, "s1", true);
    OK(turns_forget(g.turns, h.dest_key, &err));
    await(&g, "SELECT count(*) FROM outbox WHERE id LIKE 'left:%'", "1");
    /* Nobody was there to say it for an hour. */
    world_sql(&g.world, g.world.data,
              "UPDATE sessions SET title = NULL; INSERT INTO messages(session_id, role, content, "
              "timestamp) VALUES('s1', 'user', 'open the door' || char(10) || 'now', 1)");
    (void)hand_over(&g, g.world.data, "s1", true);
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    assert_str(world_ask(&g.world, g.world.data,
                         "SELECT substr(text, 1, 25) FROM outbox WHERE state = 'waiting'"),
               STR("'open the door' continues"));
    g.world.now += 3601;
    await(&g, "SELECT count(*) FROM outbox WHERE state = 'dead' AND error LIKE 'expired%'", "1");
    await(&g, "SELECT count(*) FROM local_message WHERE text LIKE '%continues in the terminal%'",
          "1");
    /* Where no gateway of ours ever was, there is nobody to say it. */
    (void)hand_over(&g, g.world.data, "s1", true);
    world_sql(&g.world, g.world.data, "DELETE FROM platform_state; DELETE FROM outbox");
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    await(&g, "SELECT count(*) FROM outbox", "0");
    gate_close(&g);
}

static void commands_move_keys(void **state)
{
    ChatAddress at = { .platform = STR("local"), .chat_id = STR("home"), .chat_type = STR("dm") };
    Str key = STR("agent:main:local:dm:home"), id;
    Gate g;

    (void)state;
    gate_open(&g, false);
    world_sql(&g.world, g.world.hermes, "ALTER TABLE messages ADD COLUMN timestamp REAL");
    OK(turns_resume(g.turns, &at, STR("s1"), &err));
    OK(turns_session(g.turns, g.world.arena, key, &id, &err));
    assert_str(id, STR("s1"));
    OK(turns_forget(g.turns, key, &err));
    OK(turns_session(g.turns, g.world.arena, key, &id, &err));
    assert_str(id, STR(""));
    OK(owner_set(g.world.journal, g.world.hermes, STR("s1"), STR("telegram"), STR_NONE, &err));
    FAILS(turns_resume(g.turns, &at, STR("s1"), &err), ERR_CONFLICT);
    gate_close(&g);
}

/* A burst over many keys and in one: every message is answered, none twice. */
static void a_burst(void **state)
{
    enum { BURST = 120 };
    Gate g;

    (void)state;
    gate_open(&g, false);
    for (int i = 0; i < BURST; i++) {
        Inbound in;
        InboxRow row = received(&g, "say x", &in);

        in.place.thread_id = i % 3 ? str_printf(g.world.arena, "t%d", i % 10) : STR_NONE;
        OK(turns_message(g.turns, &row, &in, TRUST_OWNER, &err));
    }
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, "SELECT count(*) FROM local_message", "120");
    await(&g, "SELECT count(*) FROM run", "120");
    gate_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_answered),
        cmocka_unit_test(trouble_is_told_once),
        cmocka_unit_test(nothing_is_answered_twice),
        cmocka_unit_test(an_end_in_the_middle),
        cmocka_unit_test(a_dead_run_is_made_anew),
        cmocka_unit_test(a_parked_one_is_answered_when_asked_for_again),
        cmocka_unit_test(the_next_message_interrupts),
        cmocka_unit_test(the_next_message_waits),
        cmocka_unit_test(the_first_words),
        cmocka_unit_test(a_promise_is_kept),
        cmocka_unit_test(only_one_may_write),
        cmocka_unit_test(a_session_of_another_home),
        cmocka_unit_test(the_place_that_was_left_is_told),
        cmocka_unit_test(commands_move_keys),
        cmocka_unit_test(a_burst),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A session of ours as a copy in a Hermes home: what is written, what refuses it, what becomes of
 * it. */
#include "handoff_world.h"

#include "agent/conversations_adopt.h"
#include "base/limits.h"
#include "handoff/copy.h"
#include "handoff/wait.h"

#define AUGUST                                                                                     \
    "DROP TABLE messages; CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id " \
    "TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, "        \
    "tool_name TEXT, timestamp REAL NOT NULL, active INTEGER NOT NULL DEFAULT 1, compacted "       \
    "INTEGER NOT NULL DEFAULT 0);"                                                                 \
    "CREATE UNIQUE INDEX one_title ON sessions(title) WHERE title IS NOT NULL;"                    \
    "ALTER TABLE sessions ADD COLUMN message_count INTEGER DEFAULT 0;"                             \
    "ALTER TABLE sessions ADD COLUMN tool_call_count INTEGER DEFAULT 0;"                           \
    "ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;"

static const Message words[] = {
    { .role = STR_INIT("user"), .content = STR_INIT("what is it?"), .timestamp = 10, .active = 1 },
    { .role = STR_INIT("assistant"),
      .tool_calls = STR_INIT("[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":"
                             "\"look\",\"arguments\":\"{}\"}}]"),
      .timestamp = 11,
      .active = 1 },
    { .role = STR_INIT("tool"),
      .content = STR_INIT("a cat"),
      .tool_call_id = STR_INIT("a"),
      .tool_name = STR_INIT("look"),
      .timestamp = 12,
      .active = 1 },
    { .role = STR_INIT("assistant"), .content = STR_INIT("A cat."), .timestamp = 13, .active = 1 },
};

static Handoff asked(World *w)
{
    HandoffRequest request = { .home = w->data,
                               .session_id = STR("s1"),
                               .platform = STR("telegram"),
                               .copy_home = w->hermes };
    Handoff h;

    OK(handoff_request(w->journal, w->arena, &request, &h, &err));
    return h;
}

static bool write_copy(World *w, const Handoff *h, const char *title, Err *err)
{
    Session row = { .id = STR("s1"), .title = str_of(title), .started_at = 9, .input_tokens = 700 };

    return copy_write(w->journal, w->arena, h, &row, words, ARRAY_LEN(words), err);
}

static Handoff lent(World *w)
{
    Handoff h = asked(w);

    OK(write_copy(w, &h, "A cat", &err));
    return h;
}

static Str owner(World *w)
{
    return world_ask(w, w->data, "SELECT owner_surface FROM session_owner WHERE session_id = 's1'");
}

static Str copies(World *w)
{
    return world_ask(w, w->hermes,
                     "SELECT (SELECT count(*) FROM sessions WHERE id NOT LIKE 's_') || '/' || "
                     "(SELECT count(*) FROM messages)");
}

static void open_world(World *w)
{
    world_open(w);
    world_sql(w, w->hermes, AUGUST);
}

/* -- what is written -- */

static void it_is_written_once(void **state)
{
    Handoff h;
    World w;

    (void)state;
    open_world(&w);
    world_sql(&w, w.hermes, "UPDATE sessions SET title = 'A cat' WHERE id = 's3'");
    h = asked(&w);
    assert_str(owner(&w), STR("telegram"));
    assert_int_equal(h.copy_id.n, 22);
    assert_str(copies(&w), STR("0/0"));
    OK(write_copy(&w, &h, "A cat", &err));
    OK(write_copy(&w, &h, "A cat", &err));
    assert_str(copies(&w), STR("1/4"));
    assert_str(world_ask(&w, w.hermes,
                         "SELECT group_concat(id || source || title || message_count || "
                         "tool_call_count || handoff_state || handoff_platform) FROM sessions "
                         "WHERE id NOT LIKE 's_'"),
               str_printf(w.arena, "%.*scliA cat #241pendingtelegram", STR_FMT(h.copy_id)));
    assert_str(world_ask(&w, w.hermes,
                         "SELECT group_concat(role || ':' || content || ':' || ifnull(tool_name, "
                         "'') || (tool_calls IS NOT NULL) || active, ' ') FROM messages"),
               STR("user:what is it?:01 assistant::11 tool:a cat:look01 assistant:A cat.:01"));
    world_close(&w);
}

static void titles_are_cut_and_counted(void **state)
{
    char title[400] = "";
    Handoff h;
    World w;

    (void)state;
    for (int i = 0; i < 120; i++)
        memcpy(title + 2 * i, "é", 3);
    open_world(&w);
    h = asked(&w);
    OK(write_copy(&w, &h, title, &err));
    assert_str(world_ask(&w, w.hermes, "SELECT length(title) FROM sessions WHERE title NOTNULL"),
               STR("100"));
    world_close(&w);
}

/* X(what the database is like, why it refuses) */
#define REFUSALS(X)                                                                                \
    X("CREATE TRIGGER no BEFORE INSERT ON messages WHEN new.role = 'tool' BEGIN SELECT "           \
      "RAISE(ABORT, 'not yours'); END",                                                            \
      "not yours")                                                                                 \
    X("CREATE TRIGGER no AFTER INSERT ON sessions BEGIN INSERT INTO nowhere VALUES(1); END",       \
      "no such table: main.nowhere")                                                               \
    X("ALTER TABLE messages DROP COLUMN tool_calls", "messages.tool_calls is missing")             \
    X("DROP TABLE messages; CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role "  \
      "TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT, timestamp REAL, soul TEXT NOT "     \
      "NULL)",                                                                                     \
      "messages.soul must be filled")                                                              \
    X("DROP TABLE messages", "messages.session_id is missing")

static void what_refuses_it(void **state)
{
    static const char *const all[][2] = {
#define X(sql, why) { sql, why },
        REFUSALS(X)
#undef X
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        Err why = { 0 };
        Handoff h;
        World w;

        open_world(&w);
        world_sql(&w, w.hermes, all[i][0]);
        h = asked(&w);
        if (write_copy(&w, &h, "A cat", &why) || why.kind != ERR_REFUSED ||
            !strstr(why.text, all[i][1]))
            fail_msg("%s: %s", all[i][0], why.text);
        assert_str(world_ask(&w, w.hermes, "SELECT count(*) FROM sessions"), STR("3"));
        assert_str(world_ask(&w, w.data, "SELECT state FROM handoff"), STR("failed"));
        assert_str(owner(&w), STR("cli"));
        world_close(&w);
    }
}

static void who_may_ask(void **state)
{
    HandoffRequest request = { .session_id = STR("s1"), .platform = STR("telegram") };
    Handoff h;
    World w;

    (void)state;
    open_world(&w);
    request.home = w.data;
    request.copy_home = w.hermes;
    world_sql(
        &w, w.data,
        "INSERT INTO run(id, conversation_id, user_message_id, assistant_message_id, runtime, "
        "state, owner, started_ms) VALUES('r', 's1', 1, 2, 'native', 'running', 'x', 1)");
    FAILS(handoff_request(w.journal, w.arena, &request, &h, &err), ERR_BUSY);
    assert_str(owner(&w), STR("-"));
    world_sql(&w, w.data, "DELETE FROM run");
    OK(handoff_request(w.journal, w.arena, &request, &h, &err));
    FAILS(handoff_request(w.journal, w.arena, &request, &h, &err), ERR_CONFLICT);
    request.session_id = STR("nobody");
    FAILS(handoff_request(w.journal, w.arena, &request, &h, &err), ERR_NOT_FOUND);
    world_close(&w);
}

/* -- what becomes of it -- */

typedef struct Fate {
    const char *sql;   /* what somebody does to the copy */
    double later;      /* seconds */
    const char *state; /* of the handoff then */
    const char *owner, *left;
} Fate;

#define SHOWS(state) "UPDATE sessions SET handoff_state = '" state "' WHERE id NOT LIKE 's_'"

static const Fate fates[] = {
    { "SELECT 1", 100, "queued", "telegram", "1/4" },
    { "SELECT 1", 901, "failed", "cli", "0/0" },
    { SHOWS("running"), 100, "claimed", "telegram", "1/4" },
    { SHOWS("running"), 901, "failed", "cli", "1/4" },
    { SHOWS("completed"), 100, "done", "telegram", "1/4" },
    { SHOWS("completed"), 901, "done", "telegram", "1/4" },
    { SHOWS("failed"), 1, "failed", "cli", "0/0" },
    { "UPDATE sessions SET handoff_state = 'failed', session_key = 'k' WHERE id NOT LIKE 's_'", 1,
      "failed", "cli", "1/4" },
    { "DELETE FROM sessions WHERE id NOT LIKE 's_'; DELETE FROM messages", 5, "queued", "telegram",
      "0/0" },
    { "DELETE FROM sessions WHERE id NOT LIKE 's_'; DELETE FROM messages", 11, "failed", "cli",
      "0/0" },
};

static void what_becomes_of_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fates); i++) {
        const Fate *f = &fates[i];
        Handoff h, seen;
        bool won = true;
        World w;

        open_world(&w);
        h = lent(&w);
        w.now += 1;
        OK(handoff_claim(w.journal, w.arena, h.id, STR("a"), 10000, &seen, &won, &err));
        assert_false(won); /* no gateway of ours does it */
        world_sql(&w, w.hermes, f->sql);
        w.now += f->later - 1;
        OK(handoff_look(w.journal, w.arena, h.id, &seen, &err));
        if (strcmp(handoff_state_name(seen.state), f->state) != 0)
            fail_msg("%s after %g s: %s", f->sql, f->later, handoff_state_name(seen.state));
        assert_str(owner(&w), str_of(f->owner));
        assert_str(copies(&w), str_of(f->left));
        world_close(&w);
    }
}

static void cancelling(void **state)
{
    bool over = false;
    Handoff h;
    World w;

    (void)state;
    open_world(&w);
    h = lent(&w);
    OK(handoff_cancel(w.journal, h.id, &over, &err));
    assert_true(over);
    assert_str(copies(&w), STR("0/0"));
    assert_str(owner(&w), STR("cli"));
    h = lent(&w);
    world_sql(&w, w.hermes, SHOWS("running"));
    FAILS(handoff_cancel(w.journal, h.id, &over, &err), ERR_CONFLICT);
    assert_str(copies(&w), STR("1/4"));
    assert_str(owner(&w), STR("telegram"));
    world_close(&w);
}

static WaitWord no_word(void *ctx)
{
    (void)ctx;
    return WAIT_ON;
}

static void no_note(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

static void nobody_takes_it(void **state)
{
    Home all[2] = { { .kind = HOME_HERMES }, { .kind = HOME_OURS } };
    Homes homes = { .all = all, .n = 2, .primary = all };
    HandoffWaiter waiter = {
        .homes = &homes, .wake_fd = -1, .word = no_word, .note = no_note, .claim_ms = 50
    };
    Err why = { 0 };
    Handoff h;
    World w;

    (void)state;
    open_world(&w);
    all[0].path = w.hermes;
    all[1].path = homes.data = w.data;
    h = lent(&w);
    assert_false(handoff_wait(&waiter, w.journal, w.arena, &h, &why));
    assert_int_equal(why.kind, ERR_REFUSED);
    assert_non_null(strstr(why.text, "the Hermes gateway did not respond; the session stays here"));
    assert_str(copies(&w), STR("0/0"));
    assert_str(owner(&w), STR("cli"));
    world_close(&w);
}

/* -- and back -- */

static void coming_back(void **state)
{
    static const ChatTurn turns[] = {
        { .role = STR_INIT("user"), .content = STR_INIT("more"), .created_ms = 20000 },
        { .role = STR_INIT("assistant"), .content = STR_INIT("yes"), .created_ms = 21000 }
    };
    Comeback x = { .conversation_id = STR("s1"), .fence = 1, .turns = turns, .n_turns = 2 };
    Handoff h, seen;
    bool is_lent;
    Runs *r;
    World w;

    (void)state;
    open_world(&w);
    h = lent(&w);
    world_sql(&w, w.hermes, SHOWS("completed"));
    OK(handoff_look(w.journal, w.arena, h.id, &seen, &err));
    OK(copy_find(w.journal, w.arena, w.data, STR("s1"), &seen, &is_lent, &err));
    assert_true(is_lent);
    assert_str(world_ask(&w, w.data, "SELECT archived FROM sessions WHERE id = 's1'"), STR("1"));
    world_sql(&w, w.hermes,
              "INSERT INTO gateway_routing VALUES('x', 'k', '{\"session_id\": \"other\"}', 1)");
    OK(copy_end(w.journal, w.arena, &seen, &seen.copy_id, 1, &err));
    OK(copy_end(w.journal, w.arena, &seen, &seen.copy_id, 1, &err));
    assert_str(world_ask(&w, w.hermes,
                         "SELECT end_reason || archived FROM sessions WHERE id NOT LIKE 's_'"),
               STR("session_switch1"));
    assert_str(world_ask(&w, w.hermes, "SELECT count(*) FROM gateway_routing"), STR("1"));
    OK((r = runs_open(w.data, &err)) != NULL);
    OK(comeback_make(r, w.arena, &x, &err));
    FAILS(comeback_make(r, w.arena, &x, &err), ERR_CONFLICT); /* once */
    runs_close(r);
    assert_str(owner(&w), STR("cli"));
    assert_str(world_ask(&w, w.data,
                         "SELECT group_concat(seq || role || content) FROM conversation_message x "
                         "JOIN messages m ON m.id = x.message_id"),
               STR("1usermore,2assistantyes"));
    assert_str(world_ask(&w, w.data, "SELECT archived FROM sessions WHERE id = 's1'"), STR("0"));
    OK(copy_find(w.journal, w.arena, w.data, STR("s1"), &seen, &is_lent, &err));
    assert_false(is_lent);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_written_once), cmocka_unit_test(titles_are_cut_and_counted),
        cmocka_unit_test(what_refuses_it),    cmocka_unit_test(who_may_ask),
        cmocka_unit_test(what_becomes_of_it), cmocka_unit_test(cancelling),
        cmocka_unit_test(nobody_takes_it),    cmocka_unit_test(coming_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* For every shape of a chat: a session that is bound there is found by the next message. And
 * cutting. */
#include "unit.h"

#include "base/limits.h"
#include "platforms/platform.h"
#include "platforms/read.h"

/* A home, a thread in it (or none), and what the platform sends when its owner writes there. */
static const struct {
    const char *what, *platform;
    HomeChannel home;
    const char *thread, *update, *key;
} rows[] = {
    { "telegram, private",
      "telegram",
      { .chat_id = STR_INIT("55"), .chat_type = STR_INIT("dm") },
      "",
      "{\"message\":{\"message_id\":1,\"chat\":{\"id\":55,\"type\":\"private\"},\"from\":{\"id\":"
      "55},"
      "\"text\":\"hi\"}}",
      "agent:main:telegram:dm:55" },
    { "telegram, private topic",
      "telegram",
      { .chat_id = STR_INIT("55"), .chat_type = STR_INIT("dm") },
      "9",
      "{\"message\":{\"chat\":{\"id\":55,\"type\":\"private\"},\"from\":{\"id\":55},"
      "\"message_thread_id\":9,\"is_topic_message\":true,\"text\":\"hi\"}}",
      "agent:main:telegram:dm:55:9" },
    { "telegram, forum topic",
      "telegram",
      { .chat_id = STR_INIT("-100777"), .chat_type = STR_INIT("group"), .topics = true },
      "9",
      "{\"message\":{\"chat\":{\"id\":-100777,\"type\":\"supergroup\",\"is_forum\":true},\"from\":{"
      "\"id\":"
      "55},\"message_thread_id\":9,\"is_topic_message\":true,\"text\":\"hi\"}}",
      "agent:main:telegram:group:-100777:9" },
    { "telegram, General of a forum",
      "telegram",
      { .chat_id = STR_INIT("-100777"), .chat_type = STR_INIT("group"), .topics = true },
      "",
      "{\"message\":{\"chat\":{\"id\":-100777,\"type\":\"supergroup\",\"is_forum\":true},\"from\":{"
      "\"id\":"
      "55},\"text\":\"hi\"}}",
      "agent:main:telegram:group:-100777:1" },
    { "telegram, group without topics",
      "telegram",
      { .chat_id = STR_INIT("-100777"),
        .chat_type = STR_INIT("group"),
        .owner_id = STR_INIT("55") },
      "",
      "{\"message\":{\"chat\":{\"id\":-100777,\"type\":\"group\"},\"from\":{\"id\":55},"
      "\"message_thread_id\":3,\"text\":\"an answer, not a topic\"}}",
      "agent:main:telegram:group:-100777:55" },
    { "telegram, channel",
      "telegram",
      { .chat_id = STR_INIT("-100888"), .chat_type = STR_INIT("channel") },
      "",
      "{\"channel_post\":{\"chat\":{\"id\":-100888,\"type\":\"channel\"},\"text\":\"hi\"}}",
      "agent:main:telegram:channel:-100888:-100888" },
    { "discord, thread",
      "discord",
      { .chat_id = STR_INIT("800"), .chat_type = STR_INIT("group"), .scope_id = STR_INIT("g1") },
      "900",
      "{\"t\":\"MESSAGE_CREATE\",\"d\":{\"id\":\"1\",\"channel_id\":\"900\",\"guild_id\":\"g1\","
      "\"author\":{\"id\":\"55\"},\"content\":\"hi\"},\"channel\":{\"type\":11,\"parent_id\":"
      "\"800\"}}",
      "agent:main:discord:thread:900:900" },
    { "discord, channel",
      "discord",
      { .chat_id = STR_INIT("800"), .chat_type = STR_INIT("group"), .owner_id = STR_INIT("55") },
      "",
      "{\"d\":{\"id\":\"1\",\"channel_id\":\"800\",\"guild_id\":\"g1\",\"author\":{\"id\":\"55\"},"
      "\"content\":\"hi\"},\"channel\":{\"type\":0}}",
      "agent:main:discord:group:800:55" },
    { "discord, dm",
      "discord",
      { .chat_id = STR_INIT("700"), .chat_type = STR_INIT("dm") },
      "",
      "{\"d\":{\"id\":\"1\",\"channel_id\":\"700\",\"author\":{\"id\":\"55\"},\"content\":\"hi\"}}",
      "agent:main:discord:dm:700" },
    { "slack, channel thread",
      "slack",
      { .chat_id = STR_INIT("C1"), .chat_type = STR_INIT("group"), .scope_id = STR_INIT("T1") },
      "17.1",
      "{\"team_id\":\"T1\",\"event\":{\"type\":\"message\",\"channel\":\"C1\",\"channel_type\":"
      "\"channel\","
      "\"user\":\"U1\",\"text\":\"hi\",\"ts\":\"18.2\",\"thread_ts\":\"17.1\"}}",
      "agent:main:slack:group:T1:C1:17.1" },
    { "slack, direct thread",
      "slack",
      { .chat_id = STR_INIT("D1"), .chat_type = STR_INIT("dm"), .scope_id = STR_INIT("T1") },
      "17.1",
      "{\"envelope_id\":\"e\",\"payload\":{\"team_id\":\"T1\",\"event\":{\"type\":\"message\","
      "\"channel\":"
      "\"D1\",\"channel_type\":\"im\",\"user\":\"U1\",\"text\":\"hi\",\"ts\":\"18.2\",\"thread_"
      "ts\":"
      "\"17.1\"}}}",
      "agent:main:slack:dm:T1:D1:17.1" },
    { "local, channel",
      "local",
      { .chat_id = STR_INIT("home"), .chat_type = STR_INIT("dm") },
      "",
      "{\"channel\":\"home\",\"user\":\"you\",\"text\":\"hi\"}",
      "agent:main:local:dm:home" },
    { "local, thread",
      "local",
      { .chat_id = STR_INIT("home"), .chat_type = STR_INIT("dm"), .owner_id = STR_INIT("you") },
      "t1",
      "{\"channel\":\"home\",\"thread\":\"t1\",\"user\":\"you\",\"text\":\"hi\"}",
      "agent:main:local:dm:home:t1" },
};

/* Each row with every setting of the flags: the keys differ, never from one another. */
static void the_next_message_finds_the_session(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const Shape *shape = shape_named(str_of(rows[i].platform));

        for (int bits = 0; bits < 8; bits++) {
            AUTO(Arena) *a = arena_new();
            KeyFlags flags = { .group_per_user = !(bits & 1),
                               .thread_per_user = bits & 2,
                               .profile = bits & 4 ? STR("work") : STR("") };
            ChatAddress there = { 0 };
            Inbound in = { 0 };
            bool is = false;
            Str bound, found;
            Err err;

            /* Where everyone in a thread has a session of their own, the owner has to be known. */
            HomeChannel home = rows[i].home;
            if (flags.thread_per_user && !home.owner_id.n)
                home.owner_id = str_of(str_eqz(str_of(rows[i].platform), "slack") ? "U1" : "55");
            if (str_eqz(rows[i].home.chat_type, "channel"))
                home.owner_id = STR_NONE;
            if (!shape->place(a, &home, str_of(rows[i].thread), &there, &err))
                fail_msg("%s: %s", rows[i].what, err.text);
            assert_true(shape->parse(a, str_of(rows[i].update), &(Identity){ 0 }, &in, &is, &err));
            assert_true(is);
            bound = address_key(a, &there, &flags);
            found = address_key(a, &in.place, &flags);
            if (!str_eq(bound, found))
                fail_msg("%s: bound to %.*s, found %.*s", rows[i].what, STR_FMT(bound),
                         STR_FMT(found));
            if (bits == 0)
                assert_str(bound, str_of(rows[i].key));
            assert_true(in.text.n > 0);
        }
    }
}

/* Of a thread that is gone: the place is made from what its last message says and what the platform
 * says of the chat, and the next message in the chat finds the session there. */
static void the_next_message_in_the_chat_finds_it(void **state)
{
    static const struct {
        size_t thread, chat; /* rows */
    } pairs[] = { { 1, 0 }, { 2, 3 }, { 2, 4 } };
    const Shape *shape = &shape_telegram;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs) * 8; i++) {
        size_t from = pairs[i / 8].thread, to = pairs[i / 8].chat;
        AUTO(Arena) *a = arena_new();
        KeyFlags flags = { .group_per_user = !(i & 1),
                           .thread_per_user = i & 2,
                           .profile = i & 4 ? STR("work") : STR("") };
        Inbound last = { 0 }, next = { 0 };
        HomeChannel chat = rows[to].home;
        ChatAddress place;
        bool is;
        Err err;

        assert_true(shape->parse(a, str_of(rows[from].update), &(Identity){ 0 }, &last, &is, &err));
        assert_true(shape->parse(a, str_of(rows[to].update), &(Identity){ 0 }, &next, &is, &err));
        assert_true(last.place.thread_id.n > 0);
        chat.owner_id = last.place.user_id;
        assert_true(shape->place(a, &chat, STR_NONE, &place, &err));
        assert_str(address_key(a, &place, &flags), address_key(a, &next.place, &flags));
    }
}

/* The next message of whoever it is has the key under which the session waits, but for who writes
 * it. */
static void a_session_waits_where_nobody_is_known(void **state)
{
    AUTO(Arena) *a = arena_new();
    size_t waiting = 0;

    (void)state;
    for (size_t i = 0; i < 8 * ARRAY_LEN(rows); i++) {
        size_t at = i / 8;
        const Shape *shape = shape_named(str_of(rows[at].platform));
        KeyFlags flags = { .group_per_user = !(i & 1),
                           .thread_per_user = i & 2,
                           .profile = i & 4 ? STR("work") : STR("") };
        HomeChannel home = rows[at].home;
        Inbound in = { 0 };
        ChatAddress place;
        bool is;
        Err err;

        home.owner_id = STR("");
        assert_true(shape->parse(a, str_of(rows[at].update), &(Identity){ 0 }, &in, &is, &err));
        assert_true(shape->place(a, &home, str_of(rows[at].thread), &place, &err));
        if (!str_eq(place.user_id, UNKNOWN_USER))
            continue;
        assert_str(address_key(a, &place, &flags), waiting_key(a, &in.place, &flags));
        assert_int_equal(
            is_waiting_place(a, &place, &flags),
            !str_eq(address_key(a, &place, &flags), address_key(a, &in.place, &flags)));
        waiting += is_waiting_place(a, &place, &flags);
    }
    assert_true(waiting > 0);
}

static void what_cannot_be_known_is_refused(void **state)
{
    static const struct {
        const char *platform, *thread;
        HomeChannel home;
    } homes[] = {
        { "slack",
          "",
          { .chat_id = STR_INIT("C1"),
            .chat_type = STR_INIT("group"),
            .scope_id = STR_INIT("T1") } },
        { "slack", "17.1", { .chat_id = STR_INIT("C1"), .chat_type = STR_INIT("group") } },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
        ChatAddress place;
        Err err;

        assert_false(shape_named(str_of(homes[i].platform))
                         ->place(a, &homes[i].home, str_of(homes[i].thread), &place, &err));
        assert_int_equal(err.kind, ERR_REFUSED);
    }
}

static void other_updates_are_no_messages(void **state)
{
    static const char *const updates[] = { "{}", "{\"message\":7}", "{\"d\":{\"channel_id\":[]}}",
                                           "{\"event\":{\"type\":\"reaction_added\"}}" };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t s = 0; shapes_each(s); s++) {
        Inbound in;
        bool is = true;
        Err err;

        for (size_t i = 0; i < ARRAY_LEN(updates); i++) {
            assert_true(
                shapes_each(s)->parse(a, str_of(updates[i]), &(Identity){ 0 }, &in, &is, &err));
            assert_false(is);
        }
        assert_false(shapes_each(s)->parse(a, STR("[1"), &(Identity){ 0 }, &in, &is, &err));
        assert_int_equal(err.kind, ERR_INVALID);
    }
}

/* -- cutting -- */

static void pieces_fit_and_lose_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; shapes_each(s); s++) {
        Shape shape = *shapes_each(s);

        shape.max_text = 60;
        for (unsigned seed = 1; seed < 200; seed++) {
            AUTO(Arena) *a = arena_new();
            AUTO_BUF text = BUF(KIB(8));
            unsigned r = seed;
            size_t n, words = 0, found = 0;
            Str *pieces;

            for (int i = 0; i < 60; i++) {
                r = r * 1103515245u + 12345u;
                words++;
                buf_addf(&text, "%sw%04d%s", (r >> 20) % 5 ? " " : "\n", i,
                         (r >> 24) % 7 ? "" : "\xf0\x9f\x90\x9f");
            }
            shape_split(a, &shape, buf_str(&text), &pieces, &n);
            assert_true(n > 1);
            for (size_t i = 0; i < n; i++) {
                Str rest = pieces[i];

                assert_true(shape.measure(pieces[i]) <= shape.max_text);
                for (size_t at; (at = str_find(rest, STR("w0"))) < rest.n; found++)
                    rest = str_skip(rest, at + 5);
            }
            assert_int_equal(found, words);
        }
    }
}

static void fences_are_closed_and_opened_again(void **state)
{
    AUTO(Arena) *a = arena_new();
    Shape shape = shape_discord;
    Str *pieces;
    size_t n;

    (void)state;
    shape.max_text = 60;
    shape_split(
        a, &shape,
        STR("Look:\n```c\nint one = 1;\nint two = 2;\nint three = 3;\nint four = 4;\n```\nend"),
        &pieces, &n);
    assert_int_equal(n, 2);
    assert_str(pieces[0], STR("Look:\n```c\nint one = 1;\nint two = 2;\n``` (1/2)"));
    assert_str(pieces[1], STR("```c\nint three = 3;\nint four = 4;\n```\nend (2/2)"));
    shape_split(a, &shape, STR("short"), &pieces, &n);
    assert_int_equal(n, 1);
    assert_str(pieces[0], STR("short"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_message_finds_the_session),
        cmocka_unit_test(the_next_message_in_the_chat_finds_it),
        cmocka_unit_test(a_session_waits_where_nobody_is_known),
        cmocka_unit_test(what_cannot_be_known_is_refused),
        cmocka_unit_test(other_updates_are_no_messages),
        cmocka_unit_test(pieces_fit_and_lose_nothing),
        cmocka_unit_test(fences_are_closed_and_opened_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

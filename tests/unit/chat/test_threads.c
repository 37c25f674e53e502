/* Threads that are gone: words and sessions go on in the chat itself, once; and threads that take
 * only answers. */
#include "handoff_world.h"

#include "base/log.h"
#include "chat/home_channels.h"
#include "chat/outbox.h"
#include "chat/topics.h"
#include "gateway/deliver.h"

#define TOPIC                                                                                      \
    "{\"platform\":\"telegram\",\"chat_id\":\"55\",\"chat_type\":\"dm\",\"user_id\":\"55\","       \
    "\"thread_id\":\"9\"}"
#define CHAT                                                                                       \
    "{\"platform\":\"telegram\",\"chat_id\":\"55\",\"chat_type\":\"dm\",\"user_id\":\"55\"}"
#define FORUM                                                                                      \
    "{\"platform\":\"telegram\",\"chat_id\":\"-7\",\"chat_type\":\"group\",\"user_id\":\"55\","    \
    "\"thread_id\":\"9\"}"
#define NOBODYS                                                                                    \
    "{\"platform\":\"telegram\",\"chat_id\":\"-7\",\"chat_type\":\"group\",\"user_id\":\"system:"  \
    "handoff\",\"thread_id\":\"9\"}"

/* -- a platform whose threads may be gone -- */

struct Connection {
    World world;
    Delivery delivery;
    bool gone, answers_only, no_chat, plain_group, vanished;
    int sends, looks;
    Str thread, text, anchor; /* of what was said last; thread "-": of nothing yet */
    size_t said;
};

static bool fake_send(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err)
{
    bool in_thread = m->to->thread_id.n && !str_eqz(m->to->thread_id, "1");

    (void)a;
    c->sends++;
    *ret = (Sent){ 0 };
    if (in_thread && (c->gone || (c->answers_only && !m->anchor.n))) {
        ret->no_thread = true;
        return err_set(err, ERR_NOT_FOUND, "message thread not found");
    }
    ret->anchored = in_thread && c->answers_only;
    c->thread = str_dup(c->world.arena, m->to->thread_id);
    c->text = str_dup(c->world.arena, m->text);
    c->anchor = str_dup(c->world.arena, m->anchor);
    c->said++;
    ret->id = str_printf(c->world.arena, "m%zu", c->said);
    return true;
}

static bool fake_edit(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err)
{
    (void)a;
    *ret = (Sent){ .id = id };
    if (c->vanished)
        return err_set(err, ERR_NOT_FOUND, "message to edit not found");
    c->text = str_dup(c->world.arena, m->text);
    return true;
}

static bool fake_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret, Err *err)
{
    bool dm = str_eqz(chat_id, "55");

    (void)a;
    c->looks++;
    *ret = (HomeChannel){ .chat_id = chat_id,
                          .chat_type = dm ? STR("dm") : STR("group"),
                          .owner_id = owner,
                          .topics = !dm && !c->plain_group };
    return !c->no_chat || err_set(err, ERR_IO, "nobody answers");
}

static const Platform fake = { .shape = &shape_telegram,
                               .anchors = true,
                               .look = fake_look,
                               .send = fake_send,
                               .edit = fake_edit };
static const KeyFlags flags = { .group_per_user = true };

static void begin(Connection *c)
{
    log_set_level(LOG_ERROR);
    *c = (Connection){ .thread = STR("-"), .text = STR("-") };
    world_open(&c->world);
    c->delivery = (Delivery){ .platform = &fake, .connection = c, .flags = &flags };
}

static Str ask(Connection *c, const char *sql)
{
    return world_ask(&c->world, c->world.data, sql);
}

static Handoff hand_over(Connection *c, Str home, const char *session, const char *place)
{
    World *w = &c->world;
    Handoff h = world_request(w, home, session, "telegram");
    bool shown;

    h = world_claim(w, h.id, "a");
    h.thread_ref = STR("9");
    world_bind(w, &h, place);
    OK(handoff_advance(w->journal, &h, HANDOFF_ANNOUNCED, &err));
    OK(handoff_complete(w->journal, &h, &shown, &err));
    return h;
}

static void put(Connection *c, const char *id, const char *place, const char *text)
{
    Outgoing row, o = { .id = str_of(id),
                        .platform = STR("telegram"),
                        .address_json = str_of(place),
                        .text = str_of(text) };

    OK(outbox_put(c->world.journal, c->world.arena, &o, &row, &err));
}

static void deliver_one(Connection *c, const char *id)
{
    OK(deliver_waiting(&c->delivery, c->world.journal, c->world.arena, str_of(id), &err));
}

static Str found(Connection *c, Str home, const char *key)
{
    Str id = STR("?");

    OK(routing_find(c->world.journal, c->world.arena, home, str_of(key), &id, &err));
    return id;
}

/* -- a thread that is gone -- */

static void session_and_words_go_on_in_the_chat(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        SessionOwner owner;
        Connection c;
        Str home;

        begin(&c);
        home = own ? c.world.data : c.world.hermes;
        (void)hand_over(&c, home, "s2", CHAT); /* lives in the chat until now */
        (void)hand_over(&c, home, "s1", TOPIC);
        world_sql(
            &c.world, c.world.data,
            "INSERT INTO home_channel VALUES('telegram', '55', '', 'dm', '', '55', '9', 0, 1)");
        put(&c, "one", TOPIC, "first");
        put(&c, "two", TOPIC, "second");
        c.gone = true;
        deliver_one(&c, "one");
        assert_str(c.text, STR("first"));
        assert_str(c.thread, STR(""));
        assert_int_equal(c.sends, 2);
        assert_str(found(&c, home, "agent:main:telegram:dm:55:9"), STR(""));
        assert_str(found(&c, home, "agent:main:telegram:dm:55"), STR("s1"));
        assert_str(world_ask(&c.world, home,
                             "SELECT session_key || coalesce(thread_id, '') FROM sessions WHERE id "
                             "= 's1'"),
                   STR("agent:main:telegram:dm:55"));
        assert_str(world_ask(&c.world, home, "SELECT end_reason FROM sessions WHERE id = 's2'"),
                   STR("session_switch"));
        OK(owner_get(c.world.journal, c.world.arena, home, STR("s1"), &owner, &err));
        assert_str(owner.surface, STR("telegram"));
        assert_str(ask(&c, "SELECT dest_key || ' ' || coalesce(thread_ref, '') || error_code || "
                           "prev_session_id FROM handoff WHERE session_id = 's1'"),
                   STR("agent:main:telegram:dm:55 thread_gones2"));
        assert_str(ask(&c, "SELECT thread_id FROM home_channel WHERE platform = 'telegram'"),
                   STR(""));
        /* Nobody has to find it out again: neither what waits, nor what is still written for the
         * topic. */
        deliver_one(&c, "two");
        assert_str(c.text, STR("second"));
        put(&c, "three", TOPIC, "third");
        deliver_one(&c, "gone:telegram:55:9");
        assert_str(
            c.text,
            STR("The session continues here: its topic was deleted. /resume continues the earlier "
                "one."));
        deliver_one(&c, "three");
        assert_str(c.text, STR("third"));
        assert_int_equal(c.sends, 5);
        assert_int_equal(c.looks, 1);
        world_close(&c.world);
    }
}

/* Where the next message cannot be told from others, nobody would reach the session: it is the
 * terminal's again. */
static void other_kinds_of_chats(void **state)
{
    static const struct {
        const char *place;
        bool plain;
        const char *thread, *key, *owner;
    } rows[] = {
        { FORUM, false, "1", "agent:main:telegram:group:-7:1", "telegram" },
        { FORUM, true, "", "agent:main:telegram:group:-7:55", "telegram" },
        { NOBODYS, false, "1", "agent:main:telegram:group:-7:1", "telegram" },
        { NOBODYS, true, "", NULL, "cli" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        SessionOwner owner;
        Connection c;

        begin(&c);
        (void)hand_over(&c, c.world.data, "s1", rows[i].place);
        put(&c, "one", rows[i].place, "words");
        c.gone = true;
        c.plain_group = rows[i].plain;
        deliver_one(&c, "one");
        assert_str(c.text, STR("words"));
        assert_str(c.thread, str_of(rows[i].thread));
        if (rows[i].key)
            assert_str(found(&c, c.world.data, rows[i].key), STR("s1"));
        assert_str(found(&c, c.world.data, "agent:main:telegram:group:-7:9"), STR(""));
        OK(owner_get(c.world.journal, c.world.arena, c.world.data, STR("s1"), &owner, &err));
        assert_str(owner.surface, str_of(rows[i].owner));
        world_close(&c.world);
    }
}

static void a_chat_that_cannot_be_looked_at_now(void **state)
{
    Connection c;

    (void)state;
    begin(&c);
    (void)hand_over(&c, c.world.data, "s1", TOPIC);
    put(&c, "one", TOPIC, "words");
    c.gone = c.no_chat = true;
    deliver_one(&c, "one");
    assert_int_equal(c.said, 0);
    assert_str(ask(&c, "SELECT state FROM outbox WHERE id = 'one'"), STR("waiting"));
    assert_str(found(&c, c.world.data, "agent:main:telegram:dm:55:9"), STR("s1"));
    c.no_chat = false;
    c.world.now += 60;
    deliver_one(&c, "one");
    assert_str(c.text, STR("words")); /* it is no repeat: nothing was said before */
    assert_str(found(&c, c.world.data, "agent:main:telegram:dm:55"), STR("s1"));
    world_close(&c.world);
}

/* A process died after the home's commit and before ours: the rest is done by the next. */
static void a_death_between_two_databases(void **state)
{
    Connection c;
    ChatAddress chat;

    (void)state;
    begin(&c);
    (void)hand_over(&c, c.world.hermes, "s1", TOPIC);
    put(&c, "one", TOPIC, "words");
    OK(address_parse(c.world.arena, STR(CHAT), &chat, &err));
    OK(routing_place(c.world.journal, c.world.arena, c.world.hermes, STR("s1"), &chat,
                     STR("agent:main:telegram:dm:55"), &err));
    c.gone = true;
    deliver_one(&c, "one");
    assert_str(c.text, STR("words"));
    assert_str(found(&c, c.world.hermes, "agent:main:telegram:dm:55"), STR("s1"));
    assert_str(ask(&c, "SELECT dest_key FROM handoff"), STR("agent:main:telegram:dm:55"));
    world_close(&c.world);
}

/* The session was deleted, or is there no more: words arrive all the same. */
static void a_thread_without_a_session(void **state)
{
    Connection c;

    (void)state;
    begin(&c);
    put(&c, "one", TOPIC, "words");
    c.gone = true;
    deliver_one(&c, "one");
    assert_str(c.text, STR("words"));
    assert_str(ask(&c, "SELECT count(*) FROM outbox"), STR("1")); /* and nothing is told of one */
    world_close(&c.world);
    begin(&c);
    (void)hand_over(&c, c.world.data, "s1", TOPIC);
    world_sql(&c.world, c.world.data, "DELETE FROM sessions WHERE id = 's1'");
    put(&c, "one", TOPIC, "words");
    c.gone = true;
    deliver_one(&c, "one");
    assert_str(c.text, STR("words"));
    assert_str(found(&c, c.world.data, "agent:main:telegram:dm:55"), STR(""));
    world_close(&c.world);
}

/* One that is bound, and whose card does not arrive because its thread is gone. */
static Handoff under_way(Connection *c)
{
    Handoff h;

    begin(c);
    h = world_request(&c->world, c->world.data, "s1", "telegram");
    h = world_claim(&c->world, h.id, "a");
    h.thread_ref = STR("9");
    world_bind(&c->world, &h, TOPIC);
    put(c, "one", TOPIC, "words");
    c->gone = true;
    deliver_one(c, "one");
    return h;
}

/* A worker that read its handoff before that does not put the old place back. */
static void a_handoff_that_is_under_way(void **state)
{
    static const char is_at[] =
        "SELECT dest_key || coalesce(thread_ref, '') || state || coalesce(error_code, '') FROM "
        "handoff";
    Connection c;
    Handoff h;
    bool shown;

    (void)state;
    h = under_way(&c);
    OK(handoff_advance(c.world.journal, &h, HANDOFF_ANNOUNCED, &err));
    assert_str(ask(&c, is_at), STR("agent:main:telegram:dm:55announced"));
    world_close(&c.world);
    h = under_way(&c);
    OK(handoff_refresh(c.world.journal, c.world.arena, &h, &err));
    OK(handoff_advance(c.world.journal, &h, HANDOFF_ANNOUNCED, &err));
    OK(handoff_complete(c.world.journal, &h, &shown, &err));
    assert_str(ask(&c, is_at), STR("agent:main:telegram:dm:55donethread_gone"));
    world_close(&c.world);
    h = under_way(&c);
    OK(routing_undo(c.world.journal, c.world.arena, &h, HANDOFF_FAILED, "x", STR("no"), &err));
    assert_str(found(&c, c.world.data, "agent:main:telegram:dm:55"), STR(""));
    assert_str(ask(&c, "SELECT source FROM sessions WHERE id = 's1'"), STR("cli"));
    world_close(&c.world);
}

static void words_that_grow(void **state)
{
    Connection c;
    Outgoing o = { .id = STR("reply:telegram:1"),
                   .platform = STR("telegram"),
                   .address_json = STR(TOPIC),
                   .state = OUTBOX_OPEN };

    (void)state;
    begin(&c);
    (void)hand_over(&c, c.world.data, "s1", TOPIC);
    OK(outbox_put(c.world.journal, c.world.arena, &o, &o, &err));
    OK(deliver_growing(&c.delivery, c.world.journal, c.world.arena, &o, STR("a"), &err));
    assert_str(c.thread, STR("9"));
    c.gone = c.vanished = true; /* the topic with all that stood in it */
    OK(deliver_growing(&c.delivery, c.world.journal, c.world.arena, &o, STR("a b"), &err));
    assert_str(c.text, STR("a b"));
    assert_str(c.thread, STR(""));
    assert_str(ask(&c, "SELECT first_ref || place FROM outbox WHERE id LIKE 'reply:%'"),
               STR("m2telegram 55 "));
    c.vanished = false;
    OK(deliver_growing(&c.delivery, c.world.journal, c.world.arena, &o, STR("a b c"), &err));
    assert_int_equal(c.said, 2);
    assert_str(c.text, STR("a b c"));
    /* Who takes a message away in a chat has not taken a thread away. */
    c.vanished = true;
    FAILS(deliver_growing(&c.delivery, c.world.journal, c.world.arena, &o, STR("a b c d"), &err),
          ERR_NOT_FOUND);
    assert_true(c.delivery.never);
    assert_int_equal(c.said, 2);
    world_close(&c.world);
}

/* -- what is read there -- */

static void what_is_read_from_a_thread_that_is_gone(void **state)
{
    static const struct {
        const char *place;
        int64_t later;
        const char *thread, *again; /* where it is; and where it is looked for after that */
    } rows[] = {
        { TOPIC, -1, "", "" },
        { TOPIC, 1, "", "" },
        { FORUM, -1, "1", "1" },
        { FORUM, 1, "9", "9" }, /* somebody writes there: so it is there */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t now;
        Connection c;
        ChatAddress p, q;

        begin(&c);
        now = (int64_t)(c.world.now * 1000);
        OK(address_parse(c.world.arena, str_of(rows[i].place), &p, &err));
        q = p;
        OK(topic_heard(c.world.journal, c.world.arena, &p, now, &err));
        assert_str(p.thread_id, STR("9"));
        OK(topic_is_gone(c.world.journal, &p, str_eqz(p.chat_type, "dm") ? STR("") : STR("1"),
                         &err));
        OK(topic_heard(c.world.journal, c.world.arena, &p, now + rows[i].later, &err));
        assert_str(p.thread_id, str_of(rows[i].thread));
        OK(topic_now(c.world.journal, c.world.arena, &q, &err));
        assert_str(q.thread_id, str_of(rows[i].again));
        world_close(&c.world);
    }
}

/* -- threads that take only answers -- */

static void what_is_answered_is_the_last_that_was_read(void **state)
{
    Connection c;
    ChatAddress p;

    (void)state;
    begin(&c);
    OK(address_parse(c.world.arena, STR(TOPIC), &p, &err));
    OK(anchor_keep(c.world.journal, &p, STR("70"), &err));
    OK(anchor_keep(c.world.journal, &p, STR("71"), &err));
    put(&c, "one", TOPIC, "words");
    deliver_one(&c, "one");
    assert_str(c.anchor, STR("71"));
    assert_str(ask(&c, "SELECT needed FROM thread_anchor"), STR("0"));
    c.answers_only = true;
    put(&c, "two", TOPIC, "words");
    deliver_one(&c, "two");
    assert_str(ask(&c, "SELECT needed FROM thread_anchor"), STR("1"));
    OK(anchor_keep(c.world.journal, &p, STR("72"), &err));
    put(&c, "three", TOPIC, "words");
    deliver_one(&c, "three");
    assert_str(c.anchor, STR("72"));
    assert_str(c.thread, STR("9"));
    assert_str(ask(&c, "SELECT needed FROM thread_anchor"), STR("1"));
    put(&c, "four", CHAT, "words"); /* the chat itself needs none */
    deliver_one(&c, "four");
    assert_str(c.anchor, STR(""));
    world_close(&c.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_and_words_go_on_in_the_chat),
        cmocka_unit_test(other_kinds_of_chats),
        cmocka_unit_test(a_chat_that_cannot_be_looked_at_now),
        cmocka_unit_test(a_death_between_two_databases),
        cmocka_unit_test(a_thread_without_a_session),
        cmocka_unit_test(a_handoff_that_is_under_way),
        cmocka_unit_test(words_that_grow),
        cmocka_unit_test(what_is_read_from_a_thread_that_is_gone),
        cmocka_unit_test(what_is_answered_is_the_last_that_was_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

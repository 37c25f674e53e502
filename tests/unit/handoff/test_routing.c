/* Bindings: rows, columns and entries as the reference leaves them. */
#include "handoff_world.h"

#include "base/file.h"
#include "base/limits.h"

static Str member(const PyValue *v, const char *key)
{
    const PyValue *m = pyjson_get(v, str_of(key));

    return m && m->type == PY_STR ? m->text : STR("-");
}

/* Same members in the same order; a text "$TIME" stands for any. */
static void same(const PyValue *got, const PyValue *expected)
{
    if (expected->type == PY_STR && str_eqz(expected->text, "$TIME")) {
        assert_int_equal(got->type, PY_STR);
        assert_int_equal(got->text.p[10], 'T');
        return;
    }
    assert_int_equal(got->type, expected->type);
    assert_int_equal(got->n, expected->n);
    if (got->type == PY_STR || got->type == PY_INT)
        assert_str(got->text, expected->text);
    for (uint32_t i = 0; got->type == PY_DICT && i < 2 * got->n; i++)
        same(&got->items[i], &expected->items[i]);
}

static void columns_are(World *w, Str home, const PyValue *row, Str id)
{
    static const char *const names[] = { "source",       "user_id",     "session_key",
                                         "chat_id",      "chat_type",   "thread_id",
                                         "display_name", "origin_json", "end_reason",
                                         "handoff_state" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        Str sql = str_printf(w->arena, "SELECT %s FROM sessions WHERE id = '%.*s'", names[i],
                             STR_FMT(id));

        assert_str(world_ask(w, home, sql.p), member(row, names[i]));
    }
}

static void one_case(World *w, Str home, const PyValue *c)
{
    const PyValue *rows = pyjson_get(c, STR("sessions")), *entry;
    Str id = member(c, "session"), key = member(c, "key"), origin;
    PyValue got;
    ChatAddress place;
    Handoff h;
    bool shown;

    origin = member(&rows->items[0], "origin_json");
    OK(address_parse(w->arena, origin, &place, &err));
    world_sql(
        w, home,
        str_printf(w->arena,
                   "INSERT INTO sessions(id, source, started_at) VALUES('%.*s', 'cli', 1);"
                   "INSERT INTO sessions(id, source, user_id, session_key, chat_id, chat_type, "
                   "thread_id, display_name, origin_json, started_at) VALUES('old-%.*s', "
                   "'%.*s', '%.*s', '%.*s', '%.*s', '%.*s', '%.*s', '%.*s', '%.*s', 1)",
                   STR_FMT(id), STR_FMT(id), STR_FMT(place.platform), STR_FMT(place.user_id),
                   STR_FMT(key), STR_FMT(place.chat_id), STR_FMT(place.chat_type),
                   STR_FMT(place.thread_id), STR_FMT(place.chat_name), STR_FMT(origin))
            .p);
    h = world_request(w, home, str_z(w->arena, id), str_z(w->arena, place.platform));
    h = world_claim(w, h.id, "a");
    /* What lived there before. */
    world_sql(w, home,
              str_printf(w->arena,
                         "INSERT INTO gateway_routing VALUES((SELECT '%.*s/sessions'), '%.*s', "
                         "'{\"session_id\": \"old-%.*s\"}', 1)",
                         STR_FMT(home), STR_FMT(key), STR_FMT(id))
                  .p);
    world_bind(w, &h, str_z(w->arena, origin));
    assert_str(h.dest_key, key);
    assert_str(h.prev_session_id, str_printf(w->arena, "old-%.*s", STR_FMT(id)));
    OK(handoff_advance(w->journal, &h, HANDOFF_ANNOUNCED, &err));
    OK(handoff_complete(w->journal, &h, &shown, &err));
    columns_are(w, home, &rows->items[0], id);
    columns_are(w, home, &rows->items[1], h.prev_session_id);
    entry = pyjson_get(&pyjson_get(c, STR("routing"))->items[0], STR("entry"));
    assert_true(pyjson_read(
        w->arena,
        world_ask(
            w, home,
            str_printf(w->arena,
                       "SELECT entry_json FROM gateway_routing WHERE session_key = '%.*s' AND "
                       "scope = '%.*s/sessions'",
                       STR_FMT(key), STR_FMT(home))
                .p),
        &got));
    same(&got, entry);
}

static void as_the_reference_leaves_them(void **state)
{
    const char *folder = getenv("TALARIA_FIXTURES");
    const PyValue *cases;
    PyValue root;
    World w;
    Str text;

    (void)state;
    world_open(&w);
    OK(file_read(
        w.arena,
        str_printf(w.arena, "%s/handoff/routing.json", folder ? folder : "tests/fixtures").p,
        MIB(1), &text, &err));
    assert_true(pyjson_read(w.arena, text, &root));
    cases = pyjson_get(&root, STR("cases"));
    assert_int_equal(cases->n, 4);
    for (uint32_t i = 0; i < cases->n; i++) {
        one_case(&w, w.hermes, &cases->items[i]);
        one_case(&w, w.data, &cases->items[i]);
    }
    world_close(&w);
}

#define TELEGRAM "{\"platform\":\"telegram\",\"chat_id\":\"555\",\"chat_type\":\"dm\"}"
#define DISCORD                                                                                    \
    "{\"platform\":\"discord\",\"chat_id\":\"9\",\"thread_id\":\"9\",\"chat_type\":\"thread\"}"

static Handoff hand_over(World *w, Str home, const char *session, const char *platform,
                         const char *place)
{
    Handoff h = world_request(w, home, session, platform);
    bool shown;

    h = world_claim(w, h.id, "a");
    world_bind(w, &h, place);
    OK(handoff_advance(w->journal, &h, HANDOFF_ANNOUNCED, &err));
    OK(handoff_complete(w->journal, &h, &shown, &err));
    assert_true(shown);
    return h;
}

static void a_session_lives_in_one_place(void **state)
{
    SessionOwner owner = { 0 };
    Str id;
    World w;

    (void)state;
    world_open(&w);
    world_sql(&w, w.hermes,
              "UPDATE sessions SET end_reason = 'compression', ended_at = 2 WHERE id = 's1';"
              "UPDATE sessions SET parent_session_id = 's1' WHERE id = 's2';"
              "UPDATE sessions SET parent_session_id = 's2' WHERE id = 's3'");
    (void)hand_over(&w, w.hermes, "s2", "telegram", TELEGRAM);
    /* Its older part goes along and stays ended; its child is another session. */
    assert_str(world_ask(&w, w.hermes, "SELECT source || end_reason FROM sessions WHERE id = 's1'"),
               STR("telegramcompression"));
    assert_str(world_ask(&w, w.hermes, "SELECT source FROM sessions WHERE id = 's3'"), STR("cli"));
    OK(owner_get(w.journal, w.arena, w.hermes, STR("s2"), &owner, &err));
    assert_str(owner.surface, STR("telegram"));
    assert_int_equal(owner.fence, 1);
    (void)hand_over(&w, w.hermes, "s2", "discord", DISCORD);
    OK(routing_find(w.journal, w.arena, w.hermes, STR("agent:main:telegram:dm:555"), &id, &err));
    assert_str(id, STR(""));
    OK(routing_find(w.journal, w.arena, w.hermes, STR("agent:main:discord:thread:9:9"), &id, &err));
    assert_str(id, STR("s2"));
    OK(routing_release(w.journal, w.hermes, STR("s2"), &err));
    OK(routing_find(w.journal, w.arena, w.hermes, STR("agent:main:discord:thread:9:9"), &id, &err));
    assert_str(id, STR(""));
    assert_str(world_ask(&w, w.hermes, "SELECT source FROM sessions WHERE id = 's2'"), STR("cli"));
    OK(owner_get(w.journal, w.arena, w.hermes, STR("s2"), &owner, &err));
    assert_str(owner.surface, STR("cli"));
    assert_int_equal(owner.fence, 3);
    world_close(&w);
}

static void an_exit_does_not_end_what_was_handed_over(void **state)
{
    Handoff h;
    size_t n = 9;
    World w;

    (void)state;
    world_open(&w);
    h = hand_over(&w, w.hermes, "s1", "telegram", TELEGRAM);
    OK(routing_reopen(w.journal, h.requested_ms, &n, &err));
    assert_int_equal(n, 0);
    world_sql(
        &w, w.hermes,
        "UPDATE sessions SET ended_at = 9, end_reason = 'cli_close' WHERE id IN ('s1', 's2')");
    OK(routing_reopen(w.journal, h.requested_ms, &n, &err));
    assert_int_equal(n, 1);
    assert_str(world_ask(&w, w.hermes, "SELECT ended_at FROM sessions WHERE id = 's1'"), STR("-"));
    assert_str(world_ask(&w, w.hermes, "SELECT end_reason FROM sessions WHERE id = 's2'"),
               STR("cli_close"));
    /* What its user ended in the chat stays ended. */
    world_sql(&w, w.hermes,
              "UPDATE sessions SET ended_at = 9, end_reason = 'session_reset' WHERE id = 's1'");
    OK(routing_reopen(w.journal, h.requested_ms, &n, &err));
    assert_int_equal(n, 0);
    world_close(&w);
}

static void undone_it_is_as_it_was(void **state)
{
    Handoff first, second;
    Str id;
    World w;

    (void)state;
    world_open(&w);
    first = hand_over(&w, w.hermes, "s1", "telegram", TELEGRAM);
    second = world_request(&w, w.hermes, "s2", "telegram");
    second = world_claim(&w, second.id, "a");
    world_bind(&w, &second, TELEGRAM);
    assert_str(second.prev_session_id, first.session_id);
    OK(routing_undo(w.journal, w.arena, &second, HANDOFF_FAILED, "x", STR("no"), &err));
    OK(routing_find(w.journal, w.arena, w.hermes, STR("agent:main:telegram:dm:555"), &id, &err));
    assert_str(id, STR("s1"));
    assert_str(world_ask(&w, w.hermes, "SELECT end_reason FROM sessions WHERE id = 's1'"),
               STR("-"));
    assert_str(world_ask(&w, w.hermes,
                         "SELECT source || ifnull(session_key, '') || handoff_state FROM sessions "
                         "WHERE id = 's2'"),
               STR("clifailed"));
    world_close(&w);
}

/* From chat to chat, or to the very place where it is: undone, its key leads to it again, and home
 * is where it was. */
static void undone_it_stays_in_its_chat(void **state)
{
    static const struct {
        const char *platform, *place, *key;
    } cases[] = { { "discord", DISCORD, "agent:main:discord:thread:9:9" },
                  { "telegram", TELEGRAM, "" } };
    SessionOwner owner;
    Handoff next;
    Str id;
    World w;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_open(&w);
        (void)hand_over(&w, w.hermes, "s1", "telegram", TELEGRAM);
        next = world_request(&w, w.hermes, "s1", cases[i].platform);
        next = world_claim(&w, next.id, "a");
        world_bind(&w, &next, cases[i].place);
        OK(routing_undo(w.journal, w.arena, &next, HANDOFF_FAILED, "x", STR("no"), &err));
        OK(routing_find(w.journal, w.arena, w.hermes, STR("agent:main:telegram:dm:555"), &id,
                        &err));
        assert_str(id, STR("s1"));
        OK(routing_find(w.journal, w.arena, w.hermes, str_of(cases[i].key), &id, &err));
        assert_str(id, STR(""));
        OK(owner_get(w.journal, w.arena, w.hermes, STR("s1"), &owner, &err));
        assert_str(owner.surface, STR("telegram"));
        OK(routing_release(w.journal, w.hermes, STR("s1"), &err));
        assert_str(world_ask(&w, w.hermes, "SELECT source FROM sessions WHERE id = 's1'"),
                   STR("cli"));
        world_close(&w);
    }
}

/* Somebody else came to its old place meanwhile: that one stays there. */
static void undone_it_takes_nobodys_place(void **state)
{
    SessionOwner owner;
    Handoff next;
    Str id;
    World w;

    (void)state;
    world_open(&w);
    (void)hand_over(&w, w.hermes, "s1", "telegram", TELEGRAM);
    next = world_request(&w, w.hermes, "s1", "discord");
    next = world_claim(&w, next.id, "a");
    world_bind(&w, &next, DISCORD);
    (void)hand_over(&w, w.hermes, "s2", "telegram", TELEGRAM);
    OK(routing_undo(w.journal, w.arena, &next, HANDOFF_FAILED, "x", STR("no"), &err));
    OK(routing_find(w.journal, w.arena, w.hermes, STR("agent:main:telegram:dm:555"), &id, &err));
    assert_str(id, STR("s2"));
    OK(owner_get(w.journal, w.arena, w.hermes, STR("s1"), &owner, &err));
    assert_str(owner.surface, STR("cli"));
    assert_str(world_ask(&w, w.hermes,
                         "SELECT source || ifnull(session_key, '') FROM sessions WHERE id = 's1'"),
               STR("cli"));
    world_close(&w);
}

/* It came back while the next move was under way: from there it goes, and there it comes back
 * to. */
static void brought_back_before_the_next_move(void **state)
{
    Handoff next;
    World w;

    (void)state;
    world_open(&w);
    (void)hand_over(&w, w.hermes, "s1", "telegram", TELEGRAM);
    next = world_request(&w, w.hermes, "s1", "discord");
    next = world_claim(&w, next.id, "a");
    world_prepare(&w, &next, DISCORD);
    OK(routing_release(w.journal, w.hermes, STR("s1"), &err));
    OK(routing_bind(w.journal, w.arena, &next, &err));
    OK(routing_release(w.journal, w.hermes, STR("s1"), &err));
    assert_str(world_ask(&w, w.hermes, "SELECT source FROM sessions WHERE id = 's1'"), STR("cli"));
    world_close(&w);
}

/* A turn belongs to where it was asked for: nobody takes the session away under it, but the place
 * itself may leave it. */
static void not_under_a_turn(void **state)
{
    World w;

    (void)state;
    world_open(&w);
    (void)hand_over(&w, w.data, "s1", "telegram", TELEGRAM);
    world_sql(
        &w, w.data,
        "INSERT INTO run(id, conversation_id, user_message_id, assistant_message_id, runtime, "
        "state, owner, started_ms) VALUES('r', 's1', 0, 0, 'native', 'running', 'p', 1)");
    FAILS(routing_release(w.journal, w.data, STR("s1"), &err), ERR_BUSY);
    assert_str(world_ask(&w, w.data, "SELECT owner_surface FROM session_owner"), STR("telegram"));
    OK(routing_forget(w.journal, w.data, STR("s1"), &err));
    assert_str(world_ask(&w, w.data, "SELECT owner_surface FROM session_owner"), STR("cli"));
    world_close(&w);
}

static void sessions_json_follows(void **state)
{
    static const char before[] =
        "{\n  \"_README\": \"a mirror\",\n  \"k1\": {\n    \"a\": []\n  }\n}";
    World w;
    Str path, text, folder;

    (void)state;
    world_open(&w);
    folder = str_join_path(w.arena, w.hermes, STR("sessions"));
    path = str_join_path(w.arena, folder, STR("sessions.json"));
    (void)hand_over(&w, w.hermes, "s1", "telegram", TELEGRAM);
    assert_int_equal(access(str_z(w.arena, path), F_OK), -1);
    mkdir(str_z(w.arena, folder), 0700);
    OK(file_write_atomic(str_z(w.arena, path), str_of(before), &err));
    OK(routing_mirror(w.arena, w.hermes, STR("k2"), STR("{\"n\": 1, \"x\": null}"), NULL, 0, &err));
    OK(file_read(w.arena, str_z(w.arena, path), MIB(1), &text, &err));
    assert_str(text,
               STR("{\n  \"_README\": \"a mirror\",\n  \"k1\": {\n    \"a\": []\n  },\n  \"k2\": "
                   "{\n    \"n\": 1,\n    \"x\": null\n  }\n}"));
    OK(routing_mirror(w.arena, w.hermes, STR(""), STR(""), (Str[]){ STR("k2") }, 1, &err));
    OK(file_read(w.arena, str_z(w.arena, path), MIB(1), &text, &err));
    assert_str(text, str_of(before));
    (void)hand_over(&w, w.hermes, "s1", "discord", DISCORD);
    OK(file_read(w.arena, str_z(w.arena, path), MIB(1), &text, &err));
    assert_true(str_find(text, STR("\"agent:main:discord:thread:9:9\": {")) < text.n);
    world_close(&w);
}

static void an_old_hermes_is_refused_in_words(void **state)
{
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    world_sql(&w, w.hermes, "DROP TABLE gateway_routing");
    h = world_request(&w, w.hermes, "s1", "telegram");
    h = world_claim(&w, h.id, "a");
    h.dest_key = STR("agent:main:telegram:dm:555");
    FAILS(routing_remember(w.journal, w.arena, &h, &err), ERR_REFUSED);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_reference_leaves_them),
        cmocka_unit_test(a_session_lives_in_one_place),
        cmocka_unit_test(an_exit_does_not_end_what_was_handed_over),
        cmocka_unit_test(undone_it_is_as_it_was),
        cmocka_unit_test(undone_it_stays_in_its_chat),
        cmocka_unit_test(undone_it_takes_nobodys_place),
        cmocka_unit_test(brought_back_before_the_next_move),
        cmocka_unit_test(not_under_a_turn),
        cmocka_unit_test(sessions_json_follows),
        cmocka_unit_test(an_old_hermes_is_refused_in_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

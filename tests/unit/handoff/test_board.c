/* What people see of handoffs, and the local chat as its user sees it. */
#include "chat/local.h"
#include "handoff/board.h"
#include "handoff_world.h"
#include "platforms/platform.h"

static LocalMessage words(const char *text, const char *key)
{
    return (LocalMessage){
        .channel = STR("home"), .author = STR("you"), .text = str_of(text), .key = str_of(key)
    };
}

static int64_t say(World *w, const char *text, const char *key)
{
    LocalMessage m = words(text, key);
    int64_t id = 0;

    OK(local_user_says(w->journal, w->arena, &m, &id, &err));
    return id;
}

/* The update reads back as the platform's own parser reads it, and its key is that of the room. */
static void said_once(void **state)
{
    LocalMessage other = words("other words", "k1"), lost = words("x", "k2");
    int64_t id = 0, first;
    Inbound in = { 0 };
    bool is = false;
    World w;

    (void)state;
    world_open(&w);
    first = say(&w, "hello", "k1");
    assert_int_equal(say(&w, "hello", "k1"), first);
    FAILS(local_user_says(w.journal, w.arena, &other, &id, &err), ERR_CONFLICT);
    lost.channel = STR("attic");
    FAILS(local_user_says(w.journal, w.arena, &lost, &id, &err), ERR_NOT_FOUND);
    lost = words("x", "k3");
    lost.thread = STR("t9");
    FAILS(local_user_says(w.journal, w.arena, &lost, &id, &err), ERR_NOT_FOUND);
    assert_str(world_ask(&w, w.data, "SELECT count(*) FROM inbox"), STR("1"));
    assert_str(world_ask(&w, w.data, "SELECT count(*) FROM local_message"), STR("1"));
    OK(shape_local.parse(w.arena, world_ask(&w, w.data, "SELECT update_json FROM inbox"),
                         &(Identity){ 0 }, &in, &is, &err));
    assert_true(is && in.addressed && !in.by_us);
    assert_str(in.text, STR("hello"));
    assert_str(in.place.chat_id, STR("home"));
    assert_str(in.place.user_id, STR("you"));
    world_close(&w);
}

static void pages(void **state)
{
    LocalQuery q = { .channel = STR("home"), .max = 2 };
    LocalMessage *all;
    bool more;
    size_t n;
    World w;

    (void)state;
    world_open(&w);
    (void)say(&w, "one", "a");
    (void)say(&w, "two", "b");
    w.now += 10;
    (void)say(&w, "three", "c");
    OK(local_page(w.journal, w.arena, &q, &all, &n, &more, &err));
    assert_int_equal(n, 2);
    assert_true(more);
    assert_str(all[0].text, STR("two"));
    assert_str(all[1].text, STR("three"));
    q.before = all[0].id;
    OK(local_page(w.journal, w.arena, &q, &all, &n, &more, &err));
    assert_int_equal(n, 1);
    assert_false(more);
    assert_str(all[0].text, STR("one"));
    /* What has grown comes again. */
    q = (LocalQuery){ .channel = STR("home"), .max = 9, .since_ms = (int64_t)(w.now * 1000) };
    OK(local_edit(w.journal, all[0].id, STR("one and a half"), &err));
    OK(local_page(w.journal, w.arena, &q, &all, &n, &more, &err));
    assert_int_equal(n, 2);
    assert_str(all[0].text, STR("one and a half"));
    assert_str(all[1].text, STR("three"));
    world_close(&w);
}

#define CHANGES(w, name, what)                                                                     \
    do {                                                                                           \
        BoardMark before_ = { 0 }, after_ = { 0 };                                                 \
        OK(board_mark((w)->journal, &before_, &err));                                              \
        what;                                                                                      \
        OK(board_mark((w)->journal, &after_, &err));                                               \
        assert_int_not_equal(before_.name, after_.name);                                           \
    } while (0)

static void marks(void **state)
{
    int64_t until = 1;
    World w;

    (void)state;
    world_open(&w);
    CHANGES(&w, messages, (void)say(&w, "one", "a"));
    w.now += 1;
    CHANGES(&w, edited, OK(local_edit(w.journal, 1, STR("more"), &err)));
    CHANGES(&w, typing, OK(local_types(w.journal, STR("home"), STR(""), 77, &err)));
    OK(local_typing(w.journal, STR("home"), STR(""), &until, &err));
    assert_int_equal(until, 77);
    CHANGES(&w, typing, OK(local_types(w.journal, STR("home"), STR(""), 0, &err)));
    CHANGES(&w, steps, (void)world_request(&w, w.data, "s1", "local"));
    CHANGES(&w, links,
            world_sql(&w, w.data,
                      "INSERT INTO platform_state(platform, link) VALUES('slack', 'refused')"));
    CHANGES(&w, parked, world_sql(&w, w.data, "UPDATE inbox SET state = 'parked'"));
    world_close(&w);
}

/* Every state once, at its first time, however often a worker begins anew. */
static void steps(void **state)
{
    BoardStep *all;
    Handoff h;
    size_t n;
    World w;

    (void)state;
    world_open(&w);
    h = world_request(&w, w.data, "s1", "local");
    w.now += 1;
    h = world_claim(&w, h.id, "a");
    w.now += 100;
    h = world_claim(&w, h.id, "b");
    OK(handoff_fail(w.journal, &h, HANDOFF_FAILED, "gone", STR("no such chat"), &err));
    OK(board_steps(w.journal, w.arena, h.id, &all, &n, &err));
    assert_int_equal(n, 3);
    assert_str(all[0].state, STR("queued"));
    assert_str(all[1].state, STR("claimed"));
    assert_str(all[2].state, STR("failed"));
    assert_int_equal(all[1].at_ms - all[0].at_ms, 1000);
    assert_int_equal(all[2].at_ms - all[1].at_ms, 100000);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(said_once),
        cmocka_unit_test(pages),
        cmocka_unit_test(marks),
        cmocka_unit_test(steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The inbox: once, in order, on the disk with its cursor, and never lost with its taker. */
#include "handoff_world.h"

#include "base/limits.h"
#include "chat/inbox.h"
#include "chat/outbox.h"

static size_t put(World *w, const char *platform, const char *id, const char *cursor)
{
    InboxUpdate u = { .id = str_of(id), .json = str_printf(w->arena, "{\"id\":\"%s\"}", id) };
    size_t new = 99;

    OK(inbox_put(w->journal, str_of(platform), &u, 1, str_of(cursor), &new, &err));
    return new;
}

static InboxRow *new_rows(World *w, size_t *n)
{
    InboxRow *all = NULL;

    OK(inbox_new(w->journal, w->arena, 1000, &all, n, &err));
    return all;
}

static Str cursor(World *w, const char *platform)
{
    Str got = STR("?");

    OK(inbox_cursor(w->journal, w->arena, str_of(platform), &got, &err));
    return got;
}

static Str state(World *w, int64_t seq)
{
    return world_ask(w, w->data,
                     str_printf(w->arena,
                                "SELECT state || ' ' || attempt FROM inbox WHERE seq = %lld",
                                (long long)seq)
                         .p);
}

static void once(void **unused)
{
    World w;
    InboxRow *all;
    size_t n;

    (void)unused;
    world_open(&w);
    assert_str(cursor(&w, "telegram"), STR(""));
    assert_int_equal(put(&w, "telegram", "1", "2"), 1);
    assert_int_equal(put(&w, "telegram", "1", "3"), 0); /* replayed */
    assert_int_equal(put(&w, "slack", "1", ""), 1);     /* another platform's 1 is another one */
    assert_str(cursor(&w, "telegram"), STR("3"));
    assert_str(cursor(&w, "slack"), STR(""));
    assert_int_equal(put(&w, "telegram", "2", ""), 1);
    assert_str(cursor(&w, "telegram"), STR("3"));
    all = new_rows(&w, &n);
    assert_int_equal(n, 3);
    assert_str(all[0].json, STR("{\"id\":\"1\"}"));
    assert_str(all[1].platform, STR("slack"));
    assert_str(all[2].id, STR("2"));
    world_close(&w);
}

static void with_its_cursor(void **unused)
{
    World w;
    InboxUpdate u = { STR("9"), STR("{}") };
    size_t new;

    (void)unused;
    world_open(&w);
    put(&w, "telegram", "1", "2");
    /* The cursor cannot be written: then the update is not there either. */
    world_sql(
        &w, w.data,
        "CREATE TRIGGER no BEFORE UPDATE ON platform_state BEGIN SELECT raise(ABORT, 'full'); "
        "END");
    {
        Err err = { 0 };

        assert_false(inbox_put(w.journal, STR("telegram"), &u, 1, STR("10"), &new, &err));
    }
    assert_str(world_ask(&w, w.data, "SELECT count(*) FROM inbox"), STR("1"));
    assert_str(cursor(&w, "telegram"), STR("2"));
    world_close(&w);
}

static void taken_and_ended(void **unused)
{
    World w;
    InboxRow *all;
    size_t n;

    (void)unused;
    world_open(&w);
    put(&w, "local", "1", "");
    put(&w, "local", "2", "");
    all = new_rows(&w, &n);
    FAILS(inbox_began(w.journal, all[0].seq, STR("r"), &err), ERR_CONFLICT);
    OK(inbox_take(w.journal, all[0].seq, &err));
    FAILS(inbox_take(w.journal, all[0].seq, &err), ERR_CONFLICT);
    OK(inbox_put_back(w.journal, all[0].seq, &err));
    assert_str(state(&w, all[0].seq), STR("new 0"));
    OK(inbox_take(w.journal, all[0].seq, &err));
    OK(inbox_began(w.journal, all[0].seq, STR("run1"), &err));
    OK(inbox_end(w.journal, all[0].seq, INBOX_DONE, STR(""), &err));
    FAILS(inbox_end(w.journal, all[0].seq, INBOX_DONE, STR(""), &err), ERR_CONFLICT);
    OK(inbox_end(w.journal, all[1].seq, INBOX_IGNORED, STR("not for us"), &err));
    (void)new_rows(&w, &n);
    assert_int_equal(n, 0);
    OK(inbox_list(w.journal, w.arena, INBOX_IGNORED, 10, &all, &n, &err));
    assert_int_equal(n, 1);
    assert_str(all[0].reason, STR("not for us"));
    OK(inbox_list(w.journal, w.arena, INBOX_DONE, 10, &all, &n, &err));
    assert_str(all[0].run_id, STR("run1"));
    world_close(&w);
}

static void takers_that_die(void **unused)
{
    World w;
    InboxRow *all;
    size_t n, again, parked;

    (void)unused;
    world_open(&w);
    put(&w, "local", "1", "");
    put(&w, "local", "2", "");
    for (int i = 1; i <= INBOX_TRIES; i++) {
        all = new_rows(&w, &n);
        assert_int_equal(n, 2); /* in order again */
        OK(inbox_take(w.journal, all[0].seq, &err));
        OK(inbox_began(w.journal, all[0].seq, STR("run1"), &err));
        OK(inbox_recover(w.journal, &again, &parked, &err));
        assert_int_equal(again, i < INBOX_TRIES);
        assert_int_equal(parked, i == INBOX_TRIES);
    }
    OK(inbox_list(w.journal, w.arena, INBOX_PARKED, 10, &all, &n, &err));
    assert_int_equal(n, 1);
    assert_str(all[0].reason, STR("the gateway ended 3 times while it was at it"));
    assert_str(all[0].run_id, STR("run1"));
    OK(inbox_retry(w.journal, all[0].seq, &err));
    FAILS(inbox_retry(w.journal, all[0].seq, &err), ERR_CONFLICT);
    assert_str(state(&w, all[0].seq), STR("new 0"));
    world_close(&w);
}

static void unreadable(void **unused)
{
    World w;
    InboxUpdate u[] = { { STR("long"), STR_NONE }, { STR("bad"), STR("{\"t\":\"\xff\"}") } };
    InboxRow *all;
    size_t n, new;
    char *big = mem_alloc(MIB(10));

    (void)unused;
    world_open(&w);
    memset(big, 'x', MIB(10));
    u[0].json = (Str){ big, MIB(10) };
    OK(inbox_put(w.journal, STR("slack"), u, 2, STR(""), &new, &err));
    mem_free(big);
    assert_int_equal(new, 2);
    (void)new_rows(&w, &n);
    assert_int_equal(n, 0);
    OK(inbox_list(w.journal, w.arena, INBOX_IGNORED, 10, &all, &n, &err));
    assert_int_equal(n, 2);
    assert_str(all[0].reason, STR("not UTF-8"));
    assert_str(all[1].reason, STR("too long"));
    assert_int_equal(all[1].json.n, 0);
    world_close(&w);
}

static void bounded(void **unused)
{
    World w;
    InboxUpdate u = { STR("one more"), STR("{}") };
    int64_t oldest;
    size_t new, n;

    (void)unused;
    world_open(&w);
    world_sql(&w, w.data,
              "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 100000) "
              "INSERT INTO inbox(platform, id, update_json, state, received_ms, updated_ms) SELECT "
              "'local', i, '{}', 'new', 7, 7 FROM k");
    FAILS(inbox_put(w.journal, STR("local"), &u, 1, STR("c"), &new, &err), ERR_BUSY);
    assert_str(cursor(&w, "local"), STR(""));
    OK(inbox_waiting(w.journal, STR("local"), &n, &oldest, &err));
    assert_int_equal(n, LIMIT_INBOX);
    assert_int_equal(oldest, 7);
    /* Far apart is not many. */
    world_sql(&w, w.data, "UPDATE inbox SET state = 'done' WHERE seq BETWEEN 2 AND 99999");
    OK(inbox_put(w.journal, STR("local"), &u, 1, STR(""), &new, &err));
    OK(inbox_waiting(w.journal, STR("slack"), &n, &oldest, &err));
    assert_int_equal(n, 0);
    /* What is over and old goes; what waits stays, however old it is. */
    OK(inbox_prune(w.journal, &err));
    assert_str(world_ask(&w, w.data, "SELECT count(*) FROM inbox"), STR("3"));
    world_close(&w);
}

/* What is not for us leaves its id and the reason, and not for ever. */
static void ignored_ones(void **unused)
{
    World w;
    InboxUpdate u = { STR("1"), STR("{\"text\":\"a stranger's words\"}") };
    InboxRow *all;
    size_t new, n;

    (void)unused;
    world_open(&w);
    OK(inbox_put(w.journal, STR("local"), &u, 1, STR(""), &new, &err));
    OK(inbox_new(w.journal, w.arena, 1, &all, &n, &err));
    OK(inbox_end(w.journal, all[0].seq, INBOX_IGNORED, STR("of a stranger"), &err));
    assert_str(world_ask(&w, w.data, "SELECT id || update_json || reason FROM inbox"),
               STR("1of a stranger"));
    OK(inbox_put(w.journal, STR("local"), &u, 1, STR(""), &new, &err));
    assert_int_equal(new, 0);
    /* Those that an earlier version kept, and many of them. */
    world_sql(&w, w.data,
              "WITH RECURSIVE k(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM k WHERE i < 30000) "
              "INSERT INTO inbox(platform, id, update_json, state, received_ms, updated_ms) SELECT "
              "'local', i, 'words', 'ignored', 9000000000000000, 9000000000000000 FROM k");
    OK(inbox_prune(w.journal, &err));
    assert_str(
        world_ask(&w, w.data, "SELECT count(*) || ' ' || sum(length(update_json)) FROM inbox"),
        STR("10000 0"));
    /* Also without anybody who prunes. */
    for (int i = 0; i < 1100; i++) {
        u.id = str_printf(w.arena, "x%d", i);
        OK(inbox_put(w.journal, STR("local"), &u, 1, STR(""), &new, &err));
        OK(inbox_new(w.journal, w.arena, 1, &all, &n, &err));
        OK(inbox_end(w.journal, all[0].seq, INBOX_IGNORED, STR("of a stranger"), &err));
    }
    assert_str(world_ask(&w, w.data, "SELECT count(*) <= 10256 FROM inbox"), STR("1"));
    world_close(&w);
}

/* Words that arrived are forgotten with what they answered; those that have not, and those that
 * tell of a message that is still parked, stay. */
static void words_that_were_sent(void **unused)
{
    World w;

    (void)unused;
    world_open(&w);
    world_sql(&w, w.data,
              "INSERT INTO inbox(platform, id, update_json, state, received_ms, updated_ms) "
              "VALUES('local', '3', '{}', 'parked', 7, 7);"
              "INSERT INTO outbox(id, platform, place_json, text, state, updated_ms) VALUES"
              "('reply:local:1', 'local', '{}', 'long ago', 'sent', 7),"
              "('reply:local:2', 'local', '{}', 'not yet', 'waiting', 7),"
              "('reply:local:3', 'local', '{}', 'did not work', 'sent', 7),"
              "('reply:local:3~1', 'local', '{}', 'nor again', 'sent', 7),"
              "('reply:local:4', 'local', '{}', 'lost', 'dead', 7),"
              "('reply:local:5', 'local', '{}', 'just now', 'sent', 1800000000000)");
    OK(outbox_prune(w.journal, &err));
    assert_str(world_ask(&w, w.data, "SELECT group_concat(substr(id, 13), ' ') FROM outbox"),
               STR("2 3 3~1 4 5"));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once),
        cmocka_unit_test(with_its_cursor),
        cmocka_unit_test(taken_and_ended),
        cmocka_unit_test(takers_that_die),
        cmocka_unit_test(unreadable),
        cmocka_unit_test(bounded),
        cmocka_unit_test(ignored_ones),
        cmocka_unit_test(words_that_were_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

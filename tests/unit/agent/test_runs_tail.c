/* What runs say before it has its place: kept when their process dies, swept out when they are
 * over. */
#include "unit.h"

#include <ftw.h>
#include <unistd.h>

#include "agent/conversations.h"
#include "agent/runs_inside.h"
#include "store/db.h"

typedef struct ChatAddress {
    Arena *arena;
    Str folder;
    Runs *runs;
} ChatAddress;

static int set_up(void **state)
{
    ChatAddress *p = mem_alloc(sizeof *p);
    char path[] = "/tmp/talaria-test-XXXXXX";
    Err err;

    p->arena = arena_new();
    p->folder = str_dup(p->arena, str_of(mkdtemp(path)));
    p->runs = runs_open(p->folder, &err);
    assert_non_null(p->runs);
    *state = p;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int tear_down(void **state)
{
    ChatAddress *p = *state;

    runs_close(p->runs);
    nftw(str_z(p->arena, p->folder), remove_one, 8, FTW_DEPTH | FTW_PHYS);
    arena_free(p->arena);
    mem_free(p);
    return 0;
}

static void begin(ChatAddress *p, const char *run_id)
{
    Conversation c = { .id = id_new(p->arena, 'c') };
    RunRequest request = { .id = str_of(run_id),
                           .conversation_id = c.id,
                           .runtime = STR("alpha"),
                           .owner = STR("p1"),
                           .text = STR("hello") };
    bool again;
    Run run;
    Err err;

    assert_true(conversation_create(p->runs, &c, &err));
    assert_true(runs_begin(p->runs, p->arena, &request, &run, &again, &err));
}

static RunEvent event(ChatAddress *p, const char *run_id, int64_t seq, int segment)
{
    return (RunEvent){ .run_id = str_of(run_id),
                       .seq = seq,
                       .type = seq == 1 ? STR("metadata") : STR("chunk"),
                       .payload =
                           str_printf(p->arena, "{\"seq\":%lld,\"text\":\"w%lld \",\"segment\":%d}",
                                      (long long)seq, (long long)seq, segment),
                       .created_ms = 1 };
}

static void say(ChatAddress *p, const char *run_id, int64_t from, int64_t to, bool place)
{
    for (int64_t seq = from; seq <= to; seq++) {
        RunEvent e = event(p, run_id, seq, seq > 3);
        RunBatch batch = { .events = &e, .n_events = place, .said = &e, .n_said = !place };
        size_t stale;
        Err err;

        assert_true(runs_write(p->runs, &batch, &stale, &err));
    }
}

static void end(ChatAddress *p, const char *run_id)
{
    RunEnd e = { .run_id = str_of(run_id),
                 .state = STR("completed"),
                 .message_status = STR("complete"),
                 .text = STR("w2 w3 ") };
    size_t stale;
    Err err;

    assert_true(runs_write(p->runs, &(RunBatch){ .ends = &e, .n_ends = 1 }, &stale, &err));
}

static int64_t in_tail(ChatAddress *p)
{
    int64_t n = -1;
    Err err;

    assert_true(db_get_int(runs_db(p->runs), -1, &n, &err, "SELECT count(*) FROM run_tail"));
    return n;
}

static bool everyone(void *ctx, Str run_id, Str owner)
{
    (void)ctx;
    (void)run_id;
    (void)owner;
    return true;
}

static bool not_the_second(void *ctx, Str run_id, Str owner)
{
    return everyone(ctx, run_id, owner) && !str_eqz(run_id, "r2");
}

/* Said, or in its place, or both: what is read afterwards is each event once, in order. */
static void what_was_said_is_there_after_a_death(void **state)
{
    static const struct {
        int64_t placed, from, to; /* in their place up to; said from, to */
    } cases[] = { { 0, 1, 6 }, { 3, 4, 6 }, { 4, 2, 6 }, { 6, 1, 3 }, { 6, 7, 6 } };
    ChatAddress *p = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *id = str_printf(p->arena, "r%zu", i + 10).p;
        RunEvent *events;
        ChatTurn *turns;
        size_t n;
        Run run;
        Err err;

        begin(p, id);
        say(p, id, 1, cases[i].placed, true);
        say(p, id, cases[i].from, cases[i].to, false);
        assert_true(runs_recover(p->runs, everyone, NULL, &n, &err));
        assert_int_equal(n, 1);
        assert_true(runs_events(p->runs, p->arena, str_of(id), 0, &events, &n, &err));
        assert_int_equal(n, 8); /* an error and a done */
        for (size_t k = 0; k < n; k++)
            assert_int_equal(events[k].seq, k + 1);
        assert_true(runs_get(p->runs, p->arena, str_of(id), &run, &err));
        assert_int_equal(run.last_seq, 8);
        assert_true(turns_list(p->runs, p->arena, run.conversation_id, 0, 9, &turns, &n, &err));
        assert_str(turns[1].content, STR("w2 w3 w4 w5 w6 "));
        assert_str(turns[1].status, STR("partial"));
        assert_str(turns[1].passages, STR("[0,6]"));
    }
}

/* It died before it had said anything: what it says then is told as a run of its kind would. */
static void a_run_that_nobody_asked_for_has_no_question(void **state)
{
    static const bool internal[] = { false, true };
    ChatAddress *p = *state;

    for (size_t i = 0; i < ARRAY_LEN(internal); i++) {
        Conversation c = { .id = id_new(p->arena, 'c') };
        RunRequest request = { .id = str_printf(p->arena, "r%zu", i + 30),
                               .conversation_id = c.id,
                               .runtime = STR("alpha"),
                               .owner = STR("p1"),
                               .text = STR("hello"),
                               .internal = internal[i] };
        RunEvent *events;
        bool again;
        size_t n;
        Run run;
        Err err;

        assert_true(conversation_create(p->runs, &c, &err));
        assert_true(runs_begin(p->runs, p->arena, &request, &run, &again, &err));
        assert_true(runs_recover(p->runs, everyone, NULL, &n, &err));
        assert_true(runs_events(p->runs, p->arena, request.id, 0, &events, &n, &err));
        assert_str(events[0].type, STR("metadata"));
        assert_int_equal(str_find(events[0].payload, STR("\"user_message_id\": null")) <
                             events[0].payload.n,
                         internal[i]);
    }
}

static void what_is_over_is_swept_out_and_nothing_else(void **state)
{
    ChatAddress *p = *state;
    RunEvent *events;
    size_t n;
    Err err;

    begin(p, "r1");
    begin(p, "r2");
    say(p, "r1", 1, 700, false);
    say(p, "r2", 1, 5, false);
    assert_true(runs_sweep(p->runs, &err));
    assert_int_equal(in_tail(p), 705);
    say(p, "r1", 1, 700, true);
    end(p, "r1");
    assert_true(runs_sweep(p->runs, &err));
    assert_int_equal(in_tail(p), 5);
    /* The one of which somebody takes care is left alone. */
    assert_true(runs_recover(p->runs, not_the_second, NULL, &n, &err));
    assert_int_equal(n, 0);
    assert_true(runs_events(p->runs, p->arena, STR("r2"), 0, &events, &n, &err));
    assert_int_equal(n, 0);
    assert_true(runs_recover(p->runs, everyone, NULL, &n, &err));
    assert_int_equal(n, 1);
    assert_true(runs_events(p->runs, p->arena, STR("r2"), 0, &events, &n, &err));
    assert_int_equal(n, 7);
    assert_true(runs_sweep(p->runs, &err));
    assert_int_equal(in_tail(p), 0);
}

static void a_conversation_goes_with_all_that_it_said(void **state)
{
    ChatAddress *p = *state;
    Run run;
    Err err;

    begin(p, "r1");
    say(p, "r1", 1, 3, false);
    end(p, "r1");
    assert_true(runs_get(p->runs, p->arena, STR("r1"), &run, &err));
    assert_true(conversation_delete(p->runs, run.conversation_id, &err));
    assert_int_equal(in_tail(p), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_was_said_is_there_after_a_death),
        TEST(a_run_that_nobody_asked_for_has_no_question),
        TEST(what_is_over_is_swept_out_and_nothing_else),
        TEST(a_conversation_goes_with_all_that_it_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The worker on the local platform: what its users see, with and without trouble on the way. */
#include "handoff_world.h"

#include "chat/local.h"
#include "gateway/worker.h"

typedef struct Gateway {
    World world;
    Connection *local;
    GatewayConnection served;
    Worker *worker;
    int fail_thread, fail_send, lose_send;
} Gateway;

static PlatformFault next_fault(void *ctx, const char *call)
{
    Gateway *g = ctx;

    if (strcmp(call, "thread") == 0)
        return g->fail_thread-- > 0 ? FAULT_FAILS : FAULT_NONE;
    if (g->lose_send-- > 0)
        return FAULT_LOST;
    return g->fail_send-- > 0 ? FAULT_FAILS : FAULT_NONE;
}

static bool make_card(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err)
{
    (void)ctx;
    if (str_eqz(h->session_id, "s3"))
        return err_set(err, ERR_NOT_FOUND, "the session is gone");
    if (str_eqz(h->session_id, "s2"))
        return err_set(err, ERR_NOT_FOUND, "%0*d the end", 1900, 7);
    *ret = (Card){ .title = STR("Fix it"), .text = str_printf(a, "card of %.*s", STR_FMT(h->id)) };
    return true;
}

static void gateway_open(Gateway *g)
{
    static const PlatformConfig here = { .enabled = true };
    PlatformHost host;

    *g = (Gateway){ 0 };
    world_open(&g->world);
    host = (PlatformHost){ .data = g->world.data, .fault = next_fault, .fault_ctx = g };
    OK(platform_local.open(&host, &g->local, &err));
    g->served = (GatewayConnection){ &platform_local, g->local, &here };
    g->worker = worker_new(&(WorkerOptions){ .journal = g->world.journal,
                                             .owner = STR("w"),
                                             .served = &g->served,
                                             .n_served = 1,
                                             .flags = KEY_FLAGS,
                                             .card = make_card });
}

static void gateway_close(Gateway *g)
{
    g->worker = worker_free(g->worker);
    g->local = platform_local.close(g->local);
    world_close(&g->world);
}

static Handoff after_rounds(Gateway *g, Str id, int rounds)
{
    Handoff h = { 0 };

    for (int i = 0; i < rounds; i++) {
        int64_t wait = 0;

        OK(worker_round(g->worker, &wait, &err));
        assert_true(wait > 0);
        OK(handoff_get(g->world.journal, g->world.arena, id, &h, &err));
        if (handoff_is_over(h.state))
            break;
        g->world.now += 31;
    }
    return h;
}

static Str said(Gateway *g, Str thread, size_t *ret_n)
{
    LocalMessage *all;

    OK(local_messages(g->world.journal, g->world.arena, STR("home"), thread, 0, 10, &all, ret_n,
                      &err));
    return *ret_n ? all[0].text : STR("");
}

static void it_arrives(void **state)
{
    KeyFlags flags = KEY_FLAGS;
    Inbound in;
    Gateway g;
    Handoff h;
    Str id;
    size_t n;
    bool is;

    (void)state;
    gateway_open(&g);
    h = world_request(&g.world, g.world.data, "s1", "local");
    h = after_rounds(&g, h.id, 1);
    assert_int_equal(h.state, HANDOFF_DONE);
    assert_str(said(&g, h.thread_ref, &n),
               str_printf(g.world.arena, "card of %.*s", STR_FMT(h.id)));
    assert_int_equal(n, 1);
    assert_str(world_ask(&g.world, g.world.data, "SELECT title FROM local_thread"), STR("Fix it"));
    assert_str(
        world_ask(&g.world, g.world.data, "SELECT handoff_state FROM sessions WHERE id = 's1'"),
        STR("completed"));
    /* The next message there finds it. */
    OK(shape_local.parse(g.world.arena,
                         str_printf(g.world.arena, "{\"channel\":\"home\",\"thread\":\"%.*s\"}",
                                    STR_FMT(h.thread_ref)),
                         &(Identity){ 0 }, &in, &is, &err));
    OK(routing_find(g.world.journal, g.world.arena, g.world.data,
                    address_key(g.world.arena, &in.place, &flags), &id, &err));
    assert_str(id, STR("s1"));
    gateway_close(&g);
}

static void trouble_passes(void **state)
{
    static const struct {
        int thread, send, lost;
        bool has_thread;
    } rows[] = { { 1, 0, 0, true }, { 0, 3, 0, true }, { 0, 0, 2, true }, { 9, 1, 1, false } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Gateway g;
        Handoff h;
        size_t n;

        gateway_open(&g);
        g.fail_thread = rows[i].thread;
        g.fail_send = rows[i].send;
        g.lose_send = rows[i].lost;
        h = world_request(&g.world, g.world.hermes, "s1", "local");
        h = after_rounds(&g, h.id, 20);
        assert_int_equal(h.state, HANDOFF_DONE);
        assert_int_equal(h.thread_ref.n > 0, rows[i].has_thread);
        (void)said(&g, h.thread_ref, &n);
        assert_int_equal(n, 1); /* once, however often it was tried */
        gateway_close(&g);
    }
}

/* Workers that died on the way are no refusals of the platform: it is asked as often as if they had
 * never been. */
static void deaths_are_no_refusals(void **state)
{
    static const struct {
        int refusals;
        bool has_thread;
    } rows[] = { { 0, true }, { 2, true }, { 3, false } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Gateway g;
        Handoff h;

        gateway_open(&g);
        g.fail_thread = rows[i].refusals;
        h = world_request(&g.world, g.world.data, "s1", "local");
        for (int deaths = 0; deaths < 6; deaths++) {
            (void)world_claim(&g.world, h.id, "one that died");
            g.world.now += 31;
        }
        h = after_rounds(&g, h.id, 20);
        assert_int_equal(h.state, HANDOFF_DONE);
        assert_int_equal(h.thread_ref.n > 0, rows[i].has_thread);
        assert_int_equal(h.thread_tries, rows[i].refusals);
        gateway_close(&g);
    }
}

static void what_can_never_work_fails_at_once(void **state)
{
    Gateway g;
    Handoff h;

    (void)state;
    gateway_open(&g);
    h = world_request(&g.world, g.world.data, "s3", "local");
    h = after_rounds(&g, h.id, 1);
    assert_int_equal(h.state, HANDOFF_FAILED);
    assert_str(h.error_text, STR("prepare: the session is gone"));
    assert_str(world_ask(&g.world, g.world.data, "SELECT source FROM sessions WHERE id = 's3'"),
               STR("cli"));
    /* All that was said about it is kept. */
    h = world_request(&g.world, g.world.data, "s2", "local");
    h = after_rounds(&g, h.id, 1);
    assert_true(str_ends(h.error_text, STR("7 the end")));
    /* A platform that is not served here is left alone. */
    h = world_request(&g.world, g.world.hermes, "s1", "telegram");
    h = after_rounds(&g, h.id, 2);
    assert_int_equal(h.state, HANDOFF_QUEUED);
    gateway_close(&g);
}

static void cancelled_between_two_steps(void **state)
{
    bool more = true, over = true;
    Gateway g;
    Handoff h;

    (void)state;
    gateway_open(&g);
    h = world_request(&g.world, g.world.data, "s1", "local");
    h = world_claim(&g.world, h.id, "w");
    OK(worker_step(g.worker, g.world.arena, &h, &more, &err));
    assert_int_equal(h.state, HANDOFF_PREPARED);
    assert_str(world_ask(&g.world, g.world.data, "SELECT count(*) FROM local_thread"), STR("1"));
    OK(handoff_cancel(g.world.journal, h.id, &over, &err));
    assert_false(over);
    OK(worker_step(g.worker, g.world.arena, &h, &more, &err));
    assert_false(more);
    assert_int_equal(h.state, HANDOFF_CANCELLED);
    assert_str(world_ask(&g.world, g.world.data, "SELECT count(*) FROM local_thread"), STR("0"));
    assert_str(world_ask(&g.world, g.world.data, "SELECT source FROM sessions WHERE id = 's1'"),
               STR("cli"));
    gateway_close(&g);
}

/* -- requests of programs of Hermes -- */

static void write_file(Gateway *g, Str folder, const char *name, const char *text)
{
    FILE *f =
        fopen(str_z(g->world.arena, str_join_path(g->world.arena, folder, str_of(name))), "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fchmod(fileno(f), 0600), 0);
    fclose(f);
}

/* The local platform under another name, for Hermes does not know it. */
static Worker *as_telegram(Gateway *g, Platform *platform, Shape *shape, Homes *homes)
{
    static const PlatformConfig config = { .enabled = true, .token = STR_INIT("t") };

    *shape = shape_local;
    shape->name = "telegram";
    *platform = platform_local;
    platform->shape = shape;
    g->served = (GatewayConnection){ platform, g->local, &config };
    return worker_new(&(WorkerOptions){ .journal = g->world.journal,
                                        .owner = STR("w"),
                                        .served = &g->served,
                                        .n_served = 1,
                                        .flags = KEY_FLAGS,
                                        .homes = homes,
                                        .card = make_card });
}

static void pending_in(Gateway *g)
{
    world_sql(&g->world, g->world.hermes,
              "ALTER TABLE sessions ADD COLUMN handoff_state TEXT; ALTER TABLE sessions ADD COLUMN "
              "handoff_platform TEXT; ALTER TABLE sessions ADD COLUMN handoff_error TEXT; UPDATE "
              "sessions SET handoff_state = 'pending', handoff_platform = 'telegram' WHERE id = "
              "'s1'");
}

static void a_profile_keeps_to_its_own_bot(void **state)
{
    for (int same = 0; same < 2; same++) {
        Gateway g;
        Platform platform;
        Shape shape;
        Home home;
        Homes homes = { .all = &home, .n = 1, .primary = &home };
        Worker *w;
        int64_t wait;

        (void)state;
        gateway_open(&g);
        home = (Home){ .kind = HOME_PROFILE,
                       .path = g.world.hermes,
                       .database = str_join_path(g.world.arena, g.world.hermes, STR("state.db")),
                       .present = true };
        homes.data = g.world.data;
        write_file(&g, g.world.hermes, ".env",
                   same ? "TELEGRAM_BOT_TOKEN=t\n" : "TELEGRAM_BOT_TOKEN=u\n");
        pending_in(&g);
        w = as_telegram(&g, &platform, &shape, &homes);
        OK(worker_round(w, &wait, &err));
        assert_str(world_ask(&g.world, g.world.data, "SELECT count(*) FROM handoff"),
                   same ? STR("1") : STR("0"));
        assert_str(world_ask(&g.world, g.world.hermes,
                             "SELECT handoff_state = 'pending' FROM sessions WHERE id = 's1'"),
                   same ? STR("0") : STR("1"));
        worker_free(w);
        gateway_close(&g);
    }
}

static void a_database_that_comes_later(void **state)
{
    Gateway g;
    Platform platform;
    Shape shape;
    Home home;
    Homes homes = { .all = &home, .n = 1, .primary = &home };
    Worker *w;
    int64_t wait;

    (void)state;
    gateway_open(&g);
    home = (Home){ .kind = HOME_HERMES,
                   .path = g.world.hermes,
                   .database = str_join_path(g.world.arena, g.world.hermes, STR("state.db")) };
    homes.data = g.world.data;
    pending_in(&g);
    w = as_telegram(&g, &platform, &shape, &homes);
    OK(worker_round(w, &wait, &err));
    assert_str(world_ask(&g.world, g.world.data, "SELECT count(*) FROM handoff"), STR("1"));
    worker_free(w);
    gateway_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_arrives),
        cmocka_unit_test(trouble_passes),
        cmocka_unit_test(deaths_are_no_refusals),
        cmocka_unit_test(what_can_never_work_fails_at_once),
        cmocka_unit_test(cancelled_between_two_steps),
        cmocka_unit_test(a_profile_keeps_to_its_own_bot),
        cmocka_unit_test(a_database_that_comes_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The journal and the worker under schedules that nobody would think of: two workers, a virtual
 * clock, death between any two statements, processes that stand still past their lease, calls that
 * fail, last longer than the lease or whose answer is lost, wake-ups that come twice or never,
 * users who cancel, and a waiter that stomps on the row. One number makes one schedule; a failure
 * prints it, and sim_seeds.h says how to run that one alone. In the databases of Hermes either
 * journal mode. */
#include "sim_workers.h"

enum { SEEDS = 2000, FOREIGN_SEEDS = 600, MAX_TICKS = 400 };

/* -- the others -- */

static void wake_someone(Sim *sim)
{
    for (int i = 0; i < WORKERS; i++)
        sim->actors[i].woken |= dice(sim, 3) > 0; /* both, one or none */
}

/* Around the session's name. */
static Str ask(Sim *sim, Str home, const char *before, const char *after)
{
    return world_ask(
        &sim->world, home,
        str_printf(sim->world.arena, "%s%.*s%s", before, STR_FMT(sim->session), after).p);
}

static void meddle(Sim *sim, Str id)
{
    Err ignored;
    bool over;

    if (dice(sim, 60) == 0)
        (void)!handoff_cancel(sim->world.journal, id, &over, &ignored);
    /* A waiter of old: fails what is under way, and tells its user that the session is intact. */
    if (!sim->stomped && str_eq(sim->home, sim->world.data) && dice(sim, 80) == 0) {
        Handoff h;

        OK(handoff_get(sim->world.journal, sim->world.arena, id, &h, &err));
        if (handoff_is_over(h.state) || h.state == HANDOFF_QUEUED)
            return;
        sim->stomped = true;
        world_sql(&sim->world, sim->home,
                  str_printf(sim->world.arena,
                             "UPDATE sessions SET handoff_state = 'failed' WHERE id = '%.*s'",
                             STR_FMT(sim->session))
                      .p);
    }
}

/* -- what always holds -- */

static void at_any_time(Sim *sim, const Handoff *h)
{
    Str entries = ask(sim, sim->home,
                      "SELECT count(*) FROM gateway_routing WHERE entry_json LIKE '%\"", "\"%'");

    CHECK(sim, str_eqz(entries, "0") || str_eqz(entries, "1"));
    CHECK(sim, h->fence >= sim->fence);
    sim->fence = h->fence;
    /* Before the binding nothing has moved; in our own home not even for an instant. */
    if (h->state < HANDOFF_PREPARED || (h->state == HANDOFF_PREPARED && h->mirrored))
        CHECK(sim, str_eqz(entries, "0"));
    if (h->state >= HANDOFF_BOUND && h->state <= HANDOFF_DONE)
        CHECK(sim, str_eqz(entries, "1"));
}

static void in_the_end(Sim *sim, const Handoff *h)
{
    bool done = h->state == HANDOFF_DONE;
    SessionOwner owner = { 0 };
    Str cards, threads, source;

    CHECK(sim, handoff_is_over(h->state));
    OK(owner_get(sim->world.journal, sim->world.arena, sim->home, sim->session, &owner, &err));
    cards = world_ask(&sim->world, sim->world.data,
                      str_printf(sim->world.arena,
                                 "SELECT count(*) FROM local_message WHERE text = '%.*s'",
                                 STR_FMT(h->id))
                          .p);
    threads = ask(sim, sim->world.data, "SELECT count(*) FROM local_thread WHERE title = '", "'");
    source = ask(sim, sim->home, "SELECT source FROM sessions WHERE id = '", "'");
    CHECK(sim, str_eqz(threads, "0") || str_eqz(threads, "1"));
    CHECK(sim, str_eqz(cards, "0") || str_eqz(cards, "1"));
    CHECK(sim, str_eqz(source, done ? "local" : "cli"));
    CHECK(sim, done ? str_eqz(owner.surface, "local")
                    : !owner.surface.n || str_eqz(owner.surface, "cli"));
    CHECK(sim, !done || str_eqz(cards, "1") || h->error_code.n);
    CHECK(sim, !done || !sim->stomped);
    if (h->mirrored)
        CHECK(sim,
              str_eq(ask(sim, sim->home, "SELECT handoff_state FROM sessions WHERE id = '", "'"),
                     done ? STR("completed") : STR("failed")));
}

/* -- one schedule -- */

static void set_up(Sim *sim, unsigned seed, void (*requester)(Sim *))
{
    arena_reset(sim->world.arena);
    sim->world.data = str_printf(sim->world.arena, "%s/data", sim->world.folder);
    sim->world.hermes = str_printf(sim->world.arena, "%s/hermes", sim->world.folder);
    sim->seed = seed;
    sim->random = seed * 0x9e3779b97f4a7c15ull + 1;
    sim->calm = sim->stomped = false;
    sim->fence = 0;
    sim->requester = requester;
    sim->home = !requester && dice(sim, 3) ? sim->world.data : sim->world.hermes;
    sim->session = str_printf(sim->world.arena, "sim-%u", seed);
    world_sql(&sim->world, sim->world.hermes,
              seed % 2 ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE");
    for (int i = 0; i < WORKERS; i++)
        begin_life(&sim->actors[i]);
    world_sql(&sim->world, sim->home,
              str_printf(sim->world.arena,
                         "INSERT INTO sessions(id, source, started_at) VALUES('%.*s', 'cli', 1)",
                         STR_FMT(sim->session))
                  .p);
}

/* So that the last schedule costs what the first one did. */
static void clean_up(Sim *sim)
{
    world_sql(&sim->world, sim->home, "DELETE FROM gateway_routing; DELETE FROM sessions");
    world_sql(&sim->world, sim->world.data, "DELETE FROM handoff; DELETE FROM session_owner");
}

static void schedule(Sim *sim, unsigned seed)
{
    Handoff h, before;

    set_up(sim, seed, NULL);
    h = world_request(&sim->world, sim->home, sim->session.p, "local");
    wake_someone(sim);
    for (int tick = 0; tick < MAX_TICKS && !handoff_is_over(h.state); tick++) {
        sim->calm = tick > 60;
        act(&sim->actors[dice(sim, WORKERS)]);
        if (!sim->calm)
            meddle(sim, h.id);
        before = h;
        OK(handoff_get(sim->world.journal, sim->world.arena, h.id, &h, &err));
        if (h.state != before.state || h.fence != before.fence || tick % 8 == 0)
            at_any_time(sim, &h);
        sim->world.now += sim->calm ? 5 : dice(sim, 8) / 2.0;
    }
    in_the_end(sim, &h);
    clean_up(sim);
}

/* -- a foreign requester -- */

static Str shown(Sim *sim, const char *column)
{
    return ask(sim, sim->home,
               str_printf(sim->world.arena, "SELECT %s FROM sessions WHERE id = '", column).p, "'");
}

static bool waits(Sim *sim)
{
    return str_is_one_of(shown(sim, "handoff_state"), "pending|running");
}

/* As Hermes' own programs do: a terminal that has waited long enough fails its request, whoever has
 * it by now, and its user asks again, perhaps for another platform. */
static void change_mind(Sim *sim)
{
    const char *platform = dice(sim, 2) ? "telegram" : "local";

    if (waits(sim) && dice(sim, 8) == 0)
        world_sql(&sim->world, sim->home,
                  str_printf(sim->world.arena,
                             "UPDATE sessions SET handoff_state = 'failed', handoff_error = "
                             "'timed out' WHERE id = '%.*s'",
                             STR_FMT(sim->session))
                      .p);
    if (!waits(sim) && dice(sim, 3) == 0) {
        world_sql(&sim->world, sim->home,
                  str_printf(sim->world.arena,
                             "UPDATE sessions SET handoff_state = 'pending', handoff_platform = "
                             "'%s', handoff_error = NULL WHERE id = '%.*s'",
                             platform, STR_FMT(sim->session))
                      .p);
        wake_someone(sim);
    }
}

static Str open_rows(Sim *sim)
{
    return ask(sim, sim->world.data, "SELECT count(*) FROM handoff WHERE session_id = '",
               "' AND state NOT IN ('done', 'failed', 'cancelled')");
}

static Str leads_from(Sim *sim)
{
    return ask(sim, sim->home,
               "SELECT json_extract(entry_json, '$.platform') FROM gateway_routing WHERE "
               "json_extract(entry_json, '$.session_id') = '",
               "'");
}

/* Who asked for a platform, and was told that it worked, finds the session there. */
static void the_platform_is_the_one_asked_for(Sim *sim)
{
    if (!str_eqz(shown(sim, "handoff_state"), "completed"))
        return;
    CHECK(sim, str_eq(shown(sim, "source"), shown(sim, "handoff_platform")));
    CHECK(sim, str_eq(leads_from(sim), shown(sim, "handoff_platform")));
}

/* A request that failed leaves the session where it was: at home, or where the one before it
 * brought it. */
static void it_is_in_one_place(Sim *sim)
{
    Str source = shown(sim, "source");
    SessionOwner owner = { 0 };

    OK(owner_get(sim->world.journal, sim->world.arena, sim->home, sim->session, &owner, &err));
    CHECK(sim,
          str_eqz(source, "cli") ? str_eqz(leads_from(sim), "-") : str_eq(leads_from(sim), source));
    CHECK(sim, str_eq(owner.surface.n ? owner.surface : STR("cli"), source));
}

static void foreign_schedule(Sim *sim, unsigned seed)
{
    set_up(sim, seed, change_mind);
    for (int tick = 0; tick < MAX_TICKS; tick++) {
        sim->calm = tick > 60;
        if (!sim->calm)
            change_mind(sim);
        else if (!waits(sim) && str_eqz(open_rows(sim), "0"))
            break;
        act(&sim->actors[dice(sim, WORKERS)]);
        the_platform_is_the_one_asked_for(sim);
        sim->world.now += sim->calm ? 5 : dice(sim, 8) / 2.0;
    }
    CHECK(sim, !waits(sim));
    CHECK(sim, str_eqz(open_rows(sim), "0")); /* nothing is left for the next request */
    it_is_in_one_place(sim);
    clean_up(sim);
}

static void run_all(void (*one)(Sim *, unsigned), int64_t usual)
{
    int64_t first, last;
    Sim sim = { 0 };

    seeds_to_run(usual, &first, &last);
    log_set_level(LOG_ERROR);
    world_open(&sim.world);
    for (int i = 0; i < WORKERS; i++) {
        sim.actors[i].sim = &sim;
        born(&sim.actors[i]);
    }
    world_sql(&sim.world, sim.world.hermes,
              "ALTER TABLE sessions ADD COLUMN handoff_state TEXT; ALTER TABLE sessions ADD COLUMN "
              "handoff_platform TEXT; ALTER TABLE sessions ADD COLUMN handoff_error TEXT");
    for (int64_t seed = first; seed <= last; seed++)
        one(&sim, (unsigned)seed);
    for (int i = 0; i < WORKERS; i++)
        buried(&sim.actors[i]);
    sim.world.now = 0;
    world_close(&sim.world);
}

static void schedules(void **state)
{
    (void)state;
    run_all(schedule, SEEDS);
}

static void foreign_schedules(void **state)
{
    (void)state;
    run_all(foreign_schedule, FOREIGN_SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(schedules),
                                        cmocka_unit_test(foreign_schedules) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

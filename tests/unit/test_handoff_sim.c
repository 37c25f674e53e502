/* The journal and the worker under schedules that nobody would think of: two workers, a virtual clock, death
 * between any two statements, processes that stand still past their lease, calls that fail, last longer than
 * the lease or whose answer is lost, wake-ups that come twice or never, users who cancel, and a waiter that stomps on the row. One number
 * makes one schedule; a failure prints it, and sim_seeds.h says how to run that one
 * alone. */
#include "handoff_world.h"
#include "sim_seeds.h"

#include "base/log.h"
#include "gateway/worker.h"

enum { WORKERS = 2, SEEDS = 2000, MOST_TICKS = 400 };

typedef struct Sim Sim;

typedef struct Actor {
    Sim *sim;
    Journal *journal;
    Connection *local;
    Served served;
    Worker *worker;
    Arena *arena;
    char owner[32];
    Handoff h;
    bool holds, woken;
    double asleep_until, next_look;
    int statements; /* until it dies; below 0: it does not */
    bool dying;
} Actor;

struct Sim {
    World world;
    unsigned seed;
    uint64_t random;
    bool calm; /* no more trouble: everything has to come to an end */
    bool in_call;
    int lives;
    Actor actors[WORKERS];
    Str home, session;
    bool stomped;
    int64_t fence;
};

#define CHECK(sim, condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %u: %s (line %d)", (sim)->seed, #condition, __LINE__);                  \
    } while (0)

static uint32_t dice(Sim *sim, uint32_t sides)
{
    sim->random ^= sim->random << 13;
    sim->random ^= sim->random >> 7;
    sim->random ^= sim->random << 17;
    return (uint32_t)(sim->random >> 11) % sides;
}

/* Death is for good: from the chosen statement on none comes through any more. */
static int before_statement(unsigned type, void *ctx, void *stmt, void *sql)
{
    Actor *x = ctx;

    (void)type;
    (void)stmt;
    (void)sql;
    if (x->statements < 0)
        return 0;
    if (x->statements-- == 0 || x->dying) {
        x->dying = true;
        x->statements = 0;
        sqlite3_interrupt(journal_db(x->journal)->handle);
    }
    return 0;
}

static void act(Actor *x);

/* A call that takes longer than the lease: the other one finds it free and goes on in the middle of our step. */
static void take_long(Actor *x)
{
    Sim *sim = x->sim;
    Actor *other = &sim->actors[x == &sim->actors[0]];

    sim->in_call = true;
    sim->world.now += 31 + dice(sim, 30);
    for (uint32_t i = dice(sim, 8); i > 0; i--)
        act(other);
    sim->in_call = false;
}

static PlatformFault next_fault(void *ctx, const char *call)
{
    Actor *x = ctx;
    Sim *sim = x->sim;
    uint32_t d = sim->calm ? 99 : dice(sim, 10);

    (void)call;
    if (!sim->calm && !sim->in_call && dice(sim, 5) == 0)
        take_long(x);
    return d == 0 ? FAULT_FAILS : d == 1 ? FAULT_LOST : FAULT_NONE;
}

static bool make_card(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err)
{
    (void)ctx;
    (void)a;
    (void)err;
    *ret = (Card){ .title = h->session_id, .text = h->id };
    return true;
}

/* -- actors -------------------------------------------------------------------------------------------- */

static void born(Actor *x)
{
    static const PlatformConfig here = { .enabled = true };
    Sim *sim = x->sim;
    PlatformHost host = { .data = sim->world.data, .fault = next_fault, .fault_ctx = x };

    OK((x->journal = journal_open(sim->world.data, &err)) != NULL);
    OK(db_exec(journal_db(x->journal), "PRAGMA synchronous=OFF", &err));
    OK(platform_local.open(&host, &x->local, &err));
    sqlite3_trace_v2(journal_db(x->journal)->handle, SQLITE_TRACE_STMT, before_statement, x);
    x->served = (Served){ &platform_local, x->local, &here };
    x->arena = arena_new();
    x->worker = NULL;
}

/* A new life: what it knew is gone, its name was never used. */
static void begin_life(Actor *x)
{
    sqlite3 *db = journal_db(x->journal)->handle;

    x->statements = -1;
    x->dying = false;
    /* What the kernel does with the lock of a dead process. */
    if (!sqlite3_get_autocommit(db))
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    snprintf(x->owner, sizeof x->owner, "w%d", ++x->sim->lives);
    x->worker = worker_free(x->worker);
    x->worker = worker_new(&(WorkerOptions){ .journal = x->journal,
                                             .owner = str_of(x->owner),
                                             .served = &x->served,
                                             .n_served = 1,
                                             .flags = KEY_FLAGS,
                                             .card = make_card });
    arena_reset(x->arena);
    x->holds = x->woken = false;
    x->asleep_until = x->next_look = 0;
}

static void buried(Actor *x)
{
    x->worker = worker_free(x->worker);
    x->local = platform_local.close(x->local);
    x->journal = journal_close(x->journal);
    x->arena = arena_free(x->arena);
}

static void look(Actor *x)
{
    Str served = STR("local");
    Handoff *all = NULL;
    size_t n = 0;
    Err err;

    if (!handoff_pending(x->journal, x->arena, &served, 1, &all, &n, &err) || n == 0)
        return;
    if (!handoff_claim(x->journal, x->arena, all[0].id, str_of(x->owner), 30000, &x->h, &x->holds,
                       &err))
        x->holds = false;
}

/* A step that came to its end was made by the one who has the row. */
static void only_the_owner_moves(Actor *x)
{
    Handoff now = { 0 };

    OK(handoff_get(x->sim->world.journal, x->arena, x->h.id, &now, &err));
    CHECK(x->sim, str_eqz(now.owner, x->owner));
}

static void act(Actor *x)
{
    Sim *sim = x->sim;
    double now = sim->world.now;

    if (x->asleep_until > now)
        return;
    if (!sim->calm && x->statements < 0 && dice(sim, 6) == 0)
        x->statements = (int)dice(sim, 25);
    if (x->holds) {
        bool more = false;
        Err err;

        x->holds = worker_step(x->worker, x->arena, &x->h, &more, &err);
        if (x->holds)
            only_the_owner_moves(x);
        x->holds = x->holds && more;
    } else if (x->woken || x->next_look <= now) {
        x->woken = false;
        x->next_look = now + 2;
        look(x);
    }
    if (x->dying)
        begin_life(x);
    else if (!sim->calm && dice(sim, 12) == 0)
        x->asleep_until = now + dice(sim, 60); /* stopped, perhaps past its lease */
}

/* -- the others ------------------------------------------------------------------------------------------- */

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

/* -- what always holds -------------------------------------------------------------------------------------- */

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

/* -- one schedule ---------------------------------------------------------------------------------------------- */

static void set_up(Sim *sim, unsigned seed)
{
    sim->seed = seed;
    sim->random = seed * 0x9e3779b97f4a7c15ull + 1;
    sim->calm = sim->stomped = false;
    sim->fence = 0;
    sim->home = dice(sim, 3) ? sim->world.data : sim->world.hermes;
    sim->session = str_printf(sim->world.arena, "sim-%u", seed);
    for (int i = 0; i < WORKERS; i++)
        begin_life(&sim->actors[i]);
    world_sql(&sim->world, sim->home,
              str_printf(sim->world.arena,
                         "INSERT INTO sessions(id, source, started_at) VALUES('%.*s', 'cli', 1)",
                         STR_FMT(sim->session))
                  .p);
}

static void schedule(Sim *sim, unsigned seed)
{
    Handoff h, before;

    arena_reset(sim->world.arena);
    sim->world.data = str_printf(sim->world.arena, "%s/data", sim->world.folder);
    sim->world.hermes = str_printf(sim->world.arena, "%s/hermes", sim->world.folder);
    set_up(sim, seed);
    h = world_request(&sim->world, sim->home, sim->session.p, "local");
    wake_someone(sim);
    for (int tick = 0; tick < MOST_TICKS && !handoff_is_over(h.state); tick++) {
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
    world_sql(&sim->world, sim->home, "DELETE FROM gateway_routing");
}

static void schedules(void **state)
{
    int64_t first, last;
    Sim sim = { 0 };

    (void)state;
    seeds_to_run(SEEDS, &first, &last);
    log_set_level(LOG_ERROR);
    world_open(&sim.world);
    for (int i = 0; i < WORKERS; i++) {
        sim.actors[i].sim = &sim;
        born(&sim.actors[i]);
    }
    for (int64_t seed = first; seed <= last; seed++)
        schedule(&sim, (unsigned)seed);
    for (int i = 0; i < WORKERS; i++)
        buried(&sim.actors[i]);
    sim.world.now = 0;
    world_close(&sim.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(schedules) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

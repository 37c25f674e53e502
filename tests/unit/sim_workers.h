/* sim_workers.h - two workers of handoffs on one journal, with a virtual clock and a schedule that
 * one number makes: death between any two statements, stops past the lease, calls that fail, last
 * longer than the lease or whose answer is lost. */
#ifndef TALARIA_TESTS_SIM_WORKERS_H
#define TALARIA_TESTS_SIM_WORKERS_H

#include "handoff_world.h"
#include "sim_seeds.h"

#include "base/log.h"
#include "gateway/worker.h"

enum { WORKERS = 2 };

typedef struct Sim Sim;

typedef struct Actor {
    Sim *sim;
    OwnStore *journal;
    Connection *local;
    GatewayConnection served[2];
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
    /* Requests come from a program of Hermes, for either platform: what it does at any moment.
     * NULL: there is none. */
    void (*requester)(Sim *);
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
        sqlite3_interrupt(own_store_db(x->journal)->handle);
    }
    return 0;
}

static void act(Actor *x);

/* A call that takes longer than the lease: the other one finds it free and goes on in the middle of
 * our step. */
static void take_long(Actor *x)
{
    Sim *sim = x->sim;
    Actor *other = &sim->actors[x == &sim->actors[0]];

    sim->in_call = true;
    sim->world.now += 31 + dice(sim, 30);
    if (sim->requester)
        sim->requester(sim);
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

/* The local platform once more, under the name of one that Hermes knows. */
static bool twin_place(Arena *a, const HomeChannel *home, Str thread_id, ChatAddress *ret, Err *err)
{
    if (!platform_local.shape->place(a, home, thread_id, ret, err))
        return false;
    ret->platform = STR("telegram");
    return true;
}

static Shape shape_twin;
static Platform platform_twin;

static void make_twin(void)
{
    shape_twin = *platform_local.shape;
    shape_twin.name = "telegram";
    shape_twin.place = twin_place;
    platform_twin = platform_local;
    platform_twin.shape = &shape_twin;
}

/* -- actors -- */

static void born(Actor *x)
{
    static const PlatformConfig here = { .enabled = true };
    Sim *sim = x->sim;
    PlatformHost host = { .data = sim->world.data, .fault = next_fault, .fault_ctx = x };

    make_twin();
    OK((x->journal = own_store_open(sim->world.data, &err)) != NULL);
    OK(db_script(own_store_db(x->journal), "PRAGMA synchronous=OFF", &err));
    OK(platform_local.open(&host, &x->local, &err));
    sqlite3_trace_v2(own_store_db(x->journal)->handle, SQLITE_TRACE_STMT, before_statement, x);
    x->served[0] = (GatewayConnection){ &platform_local, x->local, &here };
    x->served[1] = (GatewayConnection){ &platform_twin, x->local, &here };
    x->arena = arena_new();
    x->worker = NULL;
}

/* A new life: what it knew is gone, its name was never used. */
static void begin_life(Actor *x)
{
    sqlite3 *db = own_store_db(x->journal)->handle;

    x->statements = -1;
    x->dying = false;
    /* What the kernel does with the lock of a dead process. */
    if (!sqlite3_get_autocommit(db))
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    snprintf(x->owner, sizeof x->owner, "w%d", ++x->sim->lives);
    x->worker = worker_free(x->worker);
    x->worker = worker_new(&(WorkerOptions){ .journal = x->journal,
                                             .owner = str_of(x->owner),
                                             .served = x->served,
                                             .n_served = 2,
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
    x->journal = own_store_close(x->journal);
    x->arena = arena_free(x->arena);
}

static void look(Actor *x)
{
    static const Str served[] = { STR_INIT("local"), STR_INIT("telegram") };
    Handoff *all = NULL;
    size_t n = 0;
    Err err;

    if ((x->sim->requester && !handoff_adopt(x->journal, x->sim->home, served, 2, &err)) ||
        !handoff_pending(x->journal, x->arena, served, 2, &all, &n, &err) || n == 0)
        return;
    if (x->sim->requester && !x->sim->calm)
        x->sim->requester(x->sim);
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

#endif

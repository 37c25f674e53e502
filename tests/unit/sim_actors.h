/* sim_actors.h - who moves in the simulation of the gateway: a gateway that serves both platforms,
 * a second worker, a terminal, and people who write. Each of them acts when the dice say so, and
 * may die at any of its statements. */
#ifndef TALARIA_TESTS_SIM_ACTORS_H
#define TALARIA_TESTS_SIM_ACTORS_H

#include "sim_agents.h"

#include "gateway/inbound.h"
#include "gateway/worker.h"
#include "handoff/take_codes.h"
#include "text/settings.h"

enum { LEASE_MS = 30000, GATE_HANDLES = 3 };

/* Carries handoffs out; the gateway is one, too. */
typedef struct Carrier {
    Process process;
    OwnStore *journal;
    Connection lines[CHATS];
    GatewayConnection served[CHATS];
    Worker *worker;
    Arena *arena;
    Handoff h;
    bool holds, stepping;
    double asleep_until, next_look;
} Carrier;

static Carrier gate, other;
static OwnStore *gate_work; /* of the gateway's lanes */
static Turns *turns;        /* NULL: the gateway is not up */
static bool interrupts;
static Process terminal;
static OwnStore *terminal_journal;
static Runs *terminal_runs;
static Str session;
static int words;
static PlatformConfig configs[CHATS];
static Home our_home;
static Homes homes;
static Settings settings;
static struct {
    int deaths, parked, moves, repeats, cuts, answers, takes, left;
} stats;

/* A pause of somebody who waits for another: here nobody can come meanwhile. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    sim.world.now += (double)wanted->tv_sec + (double)wanted->tv_nsec / 1e9;
    return 0;
}

static Str ask(const char *sql)
{
    Process *before = sim.running;
    Str said;

    sim.running = NULL;
    said = world_ask(&sim.world, sim.world.data, sql);
    sim.running = before;
    return said;
}

static Str about(const char *before, const char *after)
{
    return ask(str_printf(sim.world.arena, "%s%.*s%s", before, STR_FMT(session), after).p);
}

/* -- carriers -- */

static bool make_card(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err)
{
    (void)ctx;
    (void)err;
    *ret = (Card){ .title = h->session_id, .text = str_printf(a, "card of %.*s", STR_FMT(h->id)) };
    return true;
}

static void carrier_born(Carrier *x)
{
    sim.opening = &x->process;
    OK((x->journal = own_store_open(sim.world.data, &err)) != NULL);
    sim.opening = NULL;
    OK(db_script(own_store_db(x->journal), "PRAGMA synchronous=OFF", &err));
    x->arena = arena_new();
    for (int i = 0; i < CHATS; i++) {
        x->lines[i] = (Connection){ &chats[i], &x->process };
        x->served[i] = (GatewayConnection){ &chats[i].platform, &x->lines[i], &configs[i] };
    }
}

static void carrier_begins(Carrier *x, Turns *with)
{
    next_life(&x->process);
    x->worker = worker_free(x->worker);
    x->worker = worker_new(&(WorkerOptions){ .journal = x->journal,
                                             .owner = str_of(x->process.name),
                                             .served = x->served,
                                             .n_served = CHATS,
                                             .flags = KEY_FLAGS,
                                             .card = make_card,
                                             .turns = with });
    arena_reset(x->arena);
    x->holds = x->stepping = false;
    x->asleep_until = x->next_look = 0;
}

static void look_for_work(Carrier *x)
{
    Str served[CHATS];
    Handoff *all = NULL;
    size_t n = 0;
    Err err;

    x->next_look = sim.world.now + 2;
    for (int i = 0; i < CHATS; i++)
        served[i] = str_of(chats[i].platform.shape->name);
    if (handoff_pending(x->journal, x->arena, served, CHATS, &all, &n, &err) && n > 0 &&
        !handoff_claim(x->journal, x->arena, all[0].id, str_of(x->process.name), LEASE_MS, &x->h,
                       &x->holds, &err))
        x->holds = false;
}

/* A step that came to its end was made by the one who has the row. */
static void only_the_owner_moves(const Carrier *x)
{
    Str owner = ask(
        str_printf(sim.world.arena, "SELECT owner FROM handoff WHERE id = '%.*s'", STR_FMT(x->h.id))
            .p);

    CHECK(str_eqz(owner, x->process.name));
}

static void carry(Carrier *x)
{
    bool more = false;
    Err err;

    if (x->stepping)
        return;
    if (!x->holds) {
        if (x->next_look <= sim.world.now)
            look_for_work(x);
        return;
    }
    x->stepping = true;
    x->holds = worker_step(x->worker, x->arena, &x->h, &more, &err);
    x->stepping = false;
    if (x->holds)
        only_the_owner_moves(x);
    x->holds = x->holds && more;
}

/* Perhaps it dies soon; false: it does not move now. */
static bool may_act(Carrier *x)
{
    if (x->process.dying || x->asleep_until > sim.world.now)
        return false;
    if (x->process.statements < 0 && bad_luck(8))
        x->process.statements = (int)dice(40);
    return true;
}

static void other_acts(void)
{
    Process *before = sim.running;

    if (!may_act(&other))
        return;
    sim.running = &other.process;
    carry(&other);
    sim.running = before;
    if (other.process.dying)
        give_back_locks(&other.process);
    if (other.process.dying && !other.stepping) {
        stats.deaths++;
        carrier_begins(&other, NULL);
    } else if (bad_luck(12)) {
        other.asleep_until = sim.world.now + dice(60);
    }
}

/* -- the gateway -- */

static void gate_begins(void)
{
    TurnsOptions o = { .homes = &homes,
                       .settings = &settings,
                       .served = gate.served,
                       .n_served = CHATS,
                       .flags = KEY_FLAGS,
                       .interrupts = interrupts };
    size_t again, parked;
    Err err;

    carrier_begins(&gate, NULL);
    sim.running = &gate.process;
    if (bad_luck(20))
        gate.process.statements = (int)dice(30);
    sim.opening = &gate.process;
    if (inbox_recover(gate.journal, &again, &parked, &err))
        turns = turns_open(&o, &err);
    sim.opening = NULL;
    if (turns)
        (void)!db_script(own_store_db(turns->journal), "PRAGMA synchronous=OFF", &err);
    gate.worker = worker_free(gate.worker);
    gate.worker = worker_new(&(WorkerOptions){ .journal = gate.journal,
                                               .owner = str_of(gate.process.name),
                                               .served = gate.served,
                                               .n_served = CHATS,
                                               .flags = KEY_FLAGS,
                                               .card = make_card,
                                               .turns = turns });
    sim.running = NULL;
}

/* As it should, or after its death: then nothing of what it still tries comes through. */
static void gate_ends(void)
{
    give_back_locks(&gate.process);
    gate.process.n_handles = GATE_HANDLES; /* the others are closed with the turns */
    sim.running = &gate.process;
    gate.worker = worker_free(gate.worker);
    turns = turns_close(turns);
    sim.running = NULL;
    next_life(&gate.process);
}

static void hear(void)
{
    InboundOptions o = { .journal = gate.journal,
                         .homes = &homes,
                         .served = gate.served,
                         .n_served = CHATS,
                         .flags = KEY_FLAGS,
                         .sinks = { .turns = turns,
                                    .message = turns_message,
                                    .say = turns_say,
                                    .stop = turns_stop,
                                    .session = turns_session,
                                    .forget = turns_forget,
                                    .resume = turns_resume,
                                    .claim = turns_claim,
                                    .doing = turns_doing } };
    bool later;
    Err ignored;

    (void)!inbound_round(&o, &later, &ignored);
}

static void gate_does_something(void)
{
    int64_t wait;
    Err ignored;

    switch (dice(8)) {
    case 0:
        chat_bring(&chats[dice(CHATS)], gate.journal);
        break;
    case 1:
        hear();
        break;
    case 2:
        (void)!turns_deliver(turns, &wait, &ignored);
        break;
    case 3:
        carry(&gate);
        break;
    default:
        (void)lanes_walk(all_lanes[dice((uint32_t)n_lanes)], gate_work);
    }
}

static void gate_acts(void)
{
    Process *before = sim.running;

    if (!turns && sim.depth == 0)
        gate_begins();
    if (turns && may_act(&gate)) {
        sim.running = &gate.process;
        for (uint32_t i = dice(5); i < 5 && !gate.process.dying; i++)
            gate_does_something();
        sim.running = before;
        if (gate.process.dying)
            give_back_locks(&gate.process);
    }
    if (sim.depth > 0)
        return;
    if (gate.process.dying || !turns || bad_luck(100)) {
        stats.deaths += gate.process.dying;
        gate_ends();
    } else if (bad_luck(25)) {
        gate.asleep_until = sim.world.now + dice(60);
    }
}

/* -- the terminal -- */

static bool is_here(void)
{
    Str owner = about("SELECT owner_surface FROM session_owner WHERE session_id = '", "'");

    return str_is_one_of(owner, "-|cli");
}

static bool is_idle(void)
{
    return str_eqz(
        about("SELECT count(*) FROM run WHERE ended_ms IS NULL AND conversation_id = '", "'"), "0");
}

/* Whoever owns the session may write it, and nobody else. */
static bool terminal_talks(Arena *a)
{
    bool again, here = is_here(), idle = is_idle(), ok;
    RunRequest request = { .id = id_new(a, 'r'),
                           .conversation_id = session,
                           .runtime = STR("native"),
                           .owner = str_of(terminal.name),
                           .text = STR("typed") };
    RunEnd end = { .run_id = request.id,
                   .state = STR("completed"),
                   .message_status = STR("complete"),
                   .text = STR("answered"),
                   .thread = STR("native") };
    RunBatch batch = { .ends = &end, .n_ends = 1 };
    Run run = { 0 };
    size_t stale;
    Err err;

    ok = runs_begin(terminal_runs, a, &request, &run, &again, &err);
    if (terminal.dying)
        return false;
    CHECK(ok == (here && idle));
    return ok && runs_write(terminal_runs, &batch, &stale, &err);
}

static bool everyone(void *ctx, Str run_id, Str owner)
{
    (void)ctx;
    (void)run_id;
    (void)owner;
    return true;
}

/* With what the service does first: turns of terminals that died are closed. */
static bool terminal_goes_on(Arena *a)
{
    size_t n;

    OK(runs_recover(terminal_runs, everyone, NULL, &n, &err));
    return terminal_talks(a);
}

static void terminal_hands_over(Arena *a)
{
    Str platform = str_of(chats[dice(CHATS)].platform.shape->name);
    HandoffRequest request = {
        .home = sim.world.data, .session_id = session, .platform = platform, .no_turn = dice(2)
    };
    Handoff h;
    Err err;

    if (is_idle() && handoff_request(terminal_journal, a, &request, &h, &err))
        stats.moves++;
}

static void terminal_cancels(Arena *a)
{
    Handoff *all;
    size_t n;
    bool over;
    Err err;

    if (handoff_list(terminal_journal, a, STR(""), session, 1, &all, &n, &err) && n)
        (void)!handoff_cancel(terminal_journal, all[0].id, &over, &err);
}

/* talaria handoff back */
static void terminal_fetches(void)
{
    Err err;

    if (!is_here() && is_idle() && routing_release(terminal_journal, sim.world.data, session, &err))
        stats.moves++;
}

/* talaria take, with a code that somebody was given in a chat */
static void terminal_takes(Arena *a)
{
    Str home, id;
    Err err;

    for (int i = 0; i < CHATS; i++)
        for (size_t k = 0; k < chats[i].n_said; k++) {
            const char *at = strstr(chats[i].said[k].text, "talaria take ");

            if (at &&
                take_code_use(terminal_journal, a, str_of(at + strlen("talaria take ")), &home, &id,
                              &err) &&
                routing_release(terminal_journal, home, id, &err))
                stats.takes++;
        }
}

static void terminal_acts(void)
{
    Process *before = sim.running;
    AUTO(Arena) *a = arena_new();

    if (bad_luck(4))
        terminal.statements = (int)dice(15);
    sim.running = &terminal;
    switch (dice(6)) {
    case 0:
        terminal_fetches();
        break;
    case 1:
        terminal_takes(a);
        break;
    case 2:
        (void)terminal_talks(a);
        break;
    case 3:
        if (dice(4) == 0)
            terminal_cancels(a);
        break;
    default:
        terminal_hands_over(a);
    }
    sim.running = before;
    stats.deaths += terminal.dying;
    next_life(&terminal);
}

/* -- people -- */

/* One that a handoff has come to; "": the chat itself. */
static const char *thread_at(const Chat *c, size_t i)
{
    Str known;

    if (i >= c->n_threads || (c->threads[i].gone && (c != &chats[0] || !bad_luck(3))))
        return "";
    known =
        ask(str_printf(sim.world.arena,
                       "SELECT state IN ('prepared', 'bound', 'announced', 'done') FROM handoff "
                       "WHERE id = '%s' AND thread_ref = '%s'",
                       c->threads[i].key, c->threads[i].id)
                .p);
    return str_eqz(known, "1") ? c->threads[i].id : "";
}

/* A thread of the first chat, with all that stands in it. Some go on writing there, as if nothing
 * had happened. */
static void somebody_deletes(void)
{
    Chat *c = &chats[0];

    if (c->n_threads)
        c->threads[c->n_threads - 1].gone = true;
}

/* Mostly where the newest thread is: there the session is likely to be. */
static void somebody_writes(void)
{
    Chat *c = &chats[dice(CHATS)];
    const char *thread =
        thread_at(c, c->n_threads && dice(3) ? c->n_threads - 1 : dice((uint32_t)c->n_threads + 1));
    char text[32];

    if (bad_luck(12))
        somebody_deletes();
    snprintf(text, sizeof text, "m%d", ++words);
    switch (dice(12)) {
    case 0:
        chat_write(c, thread, c == &chats[0] ? "/handoff discord" : "/handoff telegram");
        break;
    case 1:
        chat_write(c, thread, "/handoff cli");
        break;
    case 2:
        chat_write(c, thread, "/stop");
        break;
    default:
        chat_write(c, thread, text);
    }
}

#endif

/* Four threads that look when they are called: for handoffs, for the inbox, for the outbox, and at
 * the health of the lines. This one waits for calls (a datagram, a database that changed) and
 * passes them on; what a platform sends calls the inbox's thread directly. So a platform that is
 * slow to answer one of them keeps none of the others. */
#include "gateway/gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "chat/outbox.h"
#include "gateway/connections.h"
#include "gateway/inbound.h"
#include "gateway/worker.h"
#include "handoff/wake.h"

enum { IDLE_MS = 30000, LATER_MS = 250, LOOK_MS = 250, PRUNE_MS = 24 * 3600 * 1000 };

/* -- Rounds -- */

enum { RETRY_MS = 2000 };

/* A thread that does all the work it finds whenever it is called, and says when to look again
 * without a call. A call during a round is not lost: another round follows at once. A failed round
 * is logged (once while the reason stays the same) and tried again: a database that is locked or
 * full for a while must not end the process. */
typedef struct Rounds {
    Executor *executor; /* one thread without jobs: its idle time is the rounds */
    /* *ret_wait_ms < 0: only when called. */
    bool (*fn)(void *ctx, int64_t *ret_wait_ms, Err *err);
    void *ctx;
    char logged[ERR_TEXT_BYTES]; /* the last failure */
} Rounds;

static int64_t make_round(void *ctx, void *worker)
{
    Rounds *r = ctx;
    int64_t wait = RETRY_MS;
    Err err = { 0 };

    (void)worker;
    if (r->fn(r->ctx, &wait, &err)) {
        r->logged[0] = 0;
        return wait;
    }
    log_at(strcmp(r->logged, err.text) == 0 ? LOG_DEBUG : LOG_WARNING, "%s", err.text);
    memcpy(r->logged, err.text, sizeof r->logged);
    return RETRY_MS;
}

static Rounds *rounds_begin(bool (*fn)(void *ctx, int64_t *ret_wait_ms, Err *err), void *ctx,
                            Err *err)
{
    Rounds *r = mem_alloc(sizeof *r);

    _Static_assert(sizeof r->logged == sizeof err->text, "the whole text fits");
    r->fn = fn;
    r->ctx = ctx;
    r->executor = executor_start(
        &(ExecutorOptions){ .min_threads = 1, .max_threads = 1, .idle = make_round, .ctx = r },
        err);
    return r->executor ? r : mem_free(r);
}

static Rounds *rounds_end(Rounds *r)
{
    if (r)
        executor_stop(r->executor);
    return mem_free(r);
}

static void rounds_call(Rounds *r)
{
    if (r)
        executor_wake(r->executor);
}

typedef struct Gateway {
    const GatewayOptions *o;
    Arena *arena;
    GatewayConfig config;
    OwnStore *handoffs, *inbox, *health; /* one a thread */
    GatewayConnections *connections;
    Turns *turns;
    Worker *worker;
    InboundOptions inbound;
    atomic_bool ends;
    _Atomic(Rounds *) inbound_rounds; /* of the inbox; platforms call it from their own threads */
    Rounds *handoff_rounds, *outbox_rounds, *health_rounds;
    int64_t pruned_ms; /* monotonic; 0: never */
} Gateway;

/* -- Rounds -- */

static bool make_handoff_round(void *ctx, int64_t *ret_wait_ms, Err *err)
{
    return worker_round(((Gateway *)ctx)->worker, ret_wait_ms, err);
}

static bool make_inbound_round(void *ctx, int64_t *ret_wait_ms, Err *err)
{
    bool later;

    if (!inbound_round(&((Gateway *)ctx)->inbound, &later, err))
        return false;
    *ret_wait_ms = later ? LATER_MS : IDLE_MS;
    return true;
}

static bool make_outbox_round(void *ctx, int64_t *ret_wait_ms, Err *err)
{
    return turns_deliver(((Gateway *)ctx)->turns, ret_wait_ms, err);
}

static bool make_health_round(void *ctx, int64_t *ret_wait_ms, Err *err)
{
    int64_t now = clock_mono_ms();
    Gateway *g = ctx;

    *ret_wait_ms = LOOK_MS;
    if (!g->pruned_ms || now - g->pruned_ms > PRUNE_MS) {
        g->pruned_ms = now;
        if (!inbox_prune(g->health, err) || !outbox_prune(g->health, err))
            return false;
    }
    return gateway_connections_note(g->connections, g->health, err);
}

static void on_update(void *ctx)
{
    rounds_call(((Gateway *)ctx)->inbound_rounds);
}

/* -- Beginning -- */

static bool make_card(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err)
{
    return card_make(a, ctx, h->session_id, ret, err);
}

/* Host, process and a unique number, because process ids are reused. */
static Str owner_name(Arena *a)
{
    char host[64] = "localhost", id[ULID_CHARS];

    (void)gethostname(host, sizeof host - 1);
    ulid_make(0, id);
    return str_printf(a, "%s:%d:%s", host, (int)getpid(), id + 10);
}

/* Updates that an earlier gateway had started are started again, or parked for a person. */
static bool recover(Gateway *g, Err *err)
{
    size_t again, parked;

    if (!inbox_recover(g->inbox, &again, &parked, err) || !handoff_recover(g->handoffs, err))
        return false;
    if (again || parked)
        log_note("of an earlier gateway: %zu updates are done again, %zu were parked", again,
                 parked);
    return true;
}

static bool open_all(Gateway *g, Err *err)
{
    const Homes *homes = g->o->homes;
    TurnsOptions turns = { .homes = homes,
                           .settings = g->o->settings,
                           .interrupts = g->config.interrupts };

    g->handoffs = own_store_open(homes->data, err);
    g->inbox = g->handoffs ? own_store_open(homes->data, err) : NULL;
    g->health = g->inbox ? own_store_open(homes->data, err) : NULL;
    if (!g->health || !recover(g, err))
        return false;
    g->connections =
        gateway_connections_open(&(GatewayConnectionsOptions){ .data = homes->data,
                                                               .config = &g->config,
                                                               .settings = g->o->settings,
                                                               .homes = homes,
                                                               .arrived = on_update,
                                                               .ctx = g },
                                 err);
    if (!g->connections)
        return false;
    turns.served = gateway_connections_list(g->connections, &turns.n_served);
    turns.flags = g->config.flags;
    g->turns = turns_open(&turns, err);
    return g->turns != NULL;
}

static void set_up(Gateway *g)
{
    size_t n;
    const GatewayConnection *served = gateway_connections_list(g->connections, &n);

    g->worker = worker_new(&(WorkerOptions){ .journal = g->handoffs,
                                             .owner = owner_name(g->arena),
                                             .served = served,
                                             .n_served = n,
                                             .flags = g->config.flags,
                                             .homes = g->o->homes,
                                             .card = make_card,
                                             .card_ctx = g->o->homes,
                                             .turns = g->turns,
                                             .is_told = true,
                                             .threads = LIMIT_GATEWAY_HANDOFFS });
    g->inbound = (InboundOptions){ .journal = g->inbox,
                                   .homes = g->o->homes,
                                   .served = served,
                                   .n_served = n,
                                   .flags = g->config.flags,
                                   .ends = &g->ends,
                                   .sinks = { g->turns, turns_message, turns_say, turns_stop,
                                              turns_approve, turns_session, turns_forget,
                                              turns_resume, turns_claim, turns_doing } };
}

static bool start(Gateway *g, Err *err)
{
    set_up(g);
    g->outbox_rounds = rounds_begin(make_outbox_round, g, err);
    g->health_rounds = g->outbox_rounds ? rounds_begin(make_health_round, g, err) : NULL;
    g->handoff_rounds = g->health_rounds ? rounds_begin(make_handoff_round, g, err) : NULL;
    g->inbound_rounds = g->handoff_rounds ? rounds_begin(make_inbound_round, g, err) : NULL;
    return g->inbound_rounds != NULL;
}

static void stop(Gateway *g)
{
    Rounds *inbound = g->inbound_rounds;

    g->ends = true;
    /* First stop incoming work, then outgoing messages, then the connections. */
    g->handoff_rounds = rounds_end(g->handoff_rounds);
    rounds_end(inbound);
    g->inbound_rounds = NULL;
    g->worker = worker_free(g->worker);
    g->outbox_rounds = rounds_end(g->outbox_rounds);
    g->turns = turns_close(g->turns);
    g->health_rounds = rounds_end(g->health_rounds);
    if (g->connections && g->health)
        gateway_connections_note_end(g->connections, g->health);
    g->connections = gateway_connections_close(g->connections);
    own_store_close(g->handoffs);
    own_store_close(g->inbox);
    own_store_close(g->health);
}

/* -- Running -- */

static void tell_ready(Gateway *g)
{
    AUTO_BUF names = BUF(KIB(1));
    size_t n;
    const GatewayConnection *served = gateway_connections_list(g->connections, &n);

    for (size_t i = 0; i < n; i++)
        if (!served[i].shut)
            buf_addf(&names, "%s%s", names.n ? ", " : "", served[i].platform->shape->name);
    g->o->ready(g->o->ctx, names.n ? buf_str(&names) : STR("nothing"));
}

/* A database's log changes a moment before what it says can be read: so a call is followed by a few
 * more. */
static bool pass_calls_on(Gateway *g, Wake *wake, Err *err)
{
    static const int64_t waits[] = { 20, 100, 500, IDLE_MS };
    size_t at = 0;

    for (bool stop = false; !stop;) {
        int64_t until = clock_mono_ms() + waits[at];

        if (!wake_wait(wake, waits[at], g->o->stop_fd, &stop, err))
            return false;
        if (clock_mono_ms() < until)
            at = 0;
        else if (at + 1 < ARRAY_LEN(waits))
            at++;
        if (wake_was_foreign(wake))
            worker_news(g->worker);
        rounds_call(g->handoff_rounds);
        rounds_call(g->inbound_rounds);
        rounds_call(g->outbox_rounds);
    }
    return true;
}

bool gateway_run(const GatewayOptions *o, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(OwnStore) *first = own_store_open(o->homes->data, err); /* makes the folder */
    AUTO(FileLock) *lock = NULL;
    AUTO(Wake) *wake = NULL;
    Gateway g = { .o = o, .arena = a };
    bool ok;

    if (!first)
        return false;
    lock = lock_take(gateway_lock_path(a, o->homes->data), 0, err);
    if (!lock)
        return err_set(err, ERR_CONFLICT, "a gateway is already running on '%.*s'",
                       STR_FMT(o->homes->data));
    wake = wake_open(o->homes, err);
    if (!wake || !gateway_config(a, o->settings, o->homes, &g.config, err))
        return false;
    if (g.config.unfollowed.n)
        log_note("Hermes settings without effect here: %.*s", STR_FMT(g.config.unfollowed));
    ok = open_all(&g, err) && start(&g, err);
    if (ok) {
        tell_ready(&g);
        ok = pass_calls_on(&g, wake, err);
    }
    stop(&g);
    return ok;
}

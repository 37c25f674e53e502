/* turns_gate.h - for tests of turns: a runtime that does what it is told, on the platform that
 * needs no account. */
#ifndef TALARIA_TESTS_TURNS_GATE_H
#define TALARIA_TESTS_TURNS_GATE_H

#include "handoff_world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "agent/service.h"
#include "base/limits.h"
#include "base/log.h"
#include "chat/outbox.h"
#include "gateway/turns.h"

/* -- the runtime: "say WORDS", "hang" (until it is cancelled), "fail", "ask", "talk and ask" -- */

struct RuntimeRun {
    RuntimeEventFn *fn;
    void *ctx;
    Net *net;
    char text[512];
    bool ended, cancelled;
};

static atomic_int starts;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static char seen_handle[KIB(8)], seen_text[512], seen_cwd[256];
static size_t seen_history;
static bool seen_internal;

static inline void end_run(RuntimeRun *r, RuntimeEvent e)
{
    r->ended = true;
    e.duration_ms = -1;
    r->fn(r->ctx, &e);
}

static inline void ask(RuntimeRun *r, Str text)
{
    if (text.n > 3)
        r->fn(r->ctx, &(RuntimeEvent){
                          .kind = RUNTIME_TEXT, .text = STR("first words "), .duration_ms = -1 });
    r->fn(r->ctx, &(RuntimeEvent){ .kind = RUNTIME_TOOL_BEGIN,
                                   .name = STR("shell"),
                                   .call_id = STR("t1"),
                                   .duration_ms = -1 });
    r->fn(r->ctx, &(RuntimeEvent){ .kind = RUNTIME_APPROVAL,
                                   .call_id = STR("q1"),
                                   .text = STR("rm -r ``` build"),
                                   .choices = { STR("once"), STR("session"), STR("deny") },
                                   .n_choices = 3,
                                   .duration_ms = -1 });
}

typedef struct Answered {
    RuntimeRun *run;
    char choice[16];
} Answered;

static atomic_int answers;

static inline void hear_answer(void *ctx)
{
    Answered *x = ctx;
    RuntimeRun *r = x->run;
    char words[64];

    atomic_fetch_add(&answers, 1);
    snprintf(words, sizeof words, "so: %s", x->choice);
    if (!r->ended) {
        r->fn(r->ctx, &(RuntimeEvent){ .kind = RUNTIME_APPROVAL,
                                       .call_id = STR("q1"),
                                       .name = str_of(x->choice),
                                       .duration_ms = -1 });
        r->fn(r->ctx,
              &(RuntimeEvent){ .kind = RUNTIME_TEXT, .text = str_of(words), .duration_ms = -1 });
        end_run(r, (RuntimeEvent){ .kind = RUNTIME_FINISH, .reason = STR("stop") });
    }
    mem_free(x);
}

static inline void approve(RuntimeRun *r, Str id, Str choice)
{
    Answered *x = mem_alloc(sizeof *x);

    assert_true(str_eqz(id, "q1"));
    x->run = r;
    snprintf(x->choice, sizeof x->choice, "%.*s", STR_FMT(choice));
    net_post(r->net, hear_answer, x);
}

static inline void go(void *ctx)
{
    RuntimeRun *r = ctx;
    Str text = str_of(r->text);

    if (r->ended || str_eqz(text, "hang"))
        return;
    if (str_ends(text, STR("ask"))) {
        ask(r, text);
        return;
    }
    if (str_eqz(text, "fail")) {
        end_run(r, (RuntimeEvent){ .kind = RUNTIME_FAIL,
                                   .code = RUN_UPSTREAM_ERROR,
                                   .text = STR("the model is ill") });
        return;
    }
    r->fn(r->ctx, &(RuntimeEvent){ .kind = RUNTIME_TEXT, .text = text, .duration_ms = -1 });
    if (str_starts(text, STR("begin")))
        return;
    end_run(r, (RuntimeEvent){ .kind = RUNTIME_FINISH, .reason = STR("stop") });
}

static inline bool probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    (void)host;
    (void)a;
    (void)err;
    *ret = (RuntimeCaps){ .available = true, .has_model = true };
    return true;
}

static inline RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *q,
                                RuntimeEventFn *fn, void *ctx, Err *err)
{
    RuntimeRun *r = mem_alloc(sizeof *r);

    (void)err;
    atomic_fetch_add(&starts, 1);
    *r = (RuntimeRun){ .fn = fn, .ctx = ctx, .net = host->net };
    snprintf(r->text, sizeof r->text, "%.*s", STR_FMT(q->text));
    pthread_mutex_lock(&seen_lock);
    snprintf(seen_handle, sizeof seen_handle, "%.*s", STR_FMT(q->handle));
    snprintf(seen_text, sizeof seen_text, "%.*s", STR_FMT(q->text));
    snprintf(seen_cwd, sizeof seen_cwd, "%.*s", STR_FMT(q->cwd));
    seen_history = q->n_history;
    seen_internal = q->internal;
    pthread_mutex_unlock(&seen_lock);
    net_post(host->net, go, r);
    return r;
}

static inline void stop(void *ctx)
{
    RuntimeRun *r = ctx;

    if (!r->ended)
        end_run(r, (RuntimeEvent){ .kind = RUNTIME_FAIL, .code = RUN_CANCELLED });
}

static inline void cancel(RuntimeRun *r)
{
    if (!r->cancelled)
        net_post(r->net, stop, r);
    r->cancelled = true;
}

static inline void forget(void *ctx)
{
    mem_free(ctx);
}

static inline void release(RuntimeRun *r)
{
    net_post(r->net, forget, r);
}

static const Runtime obedient = { .name = "native",
                                  .alias = "jarvis",
                                  .title = "",
                                  .probe = probe,
                                  .start = start,
                                  .approve = approve,
                                  .cancel = cancel,
                                  .free = release };
static const Runtime *const fakes[] = { &obedient, NULL };

/* -- a gateway -- */

typedef struct Gate {
    World world;
    Homes homes;
    Home home;
    Settings settings;
    Connection *local;
    Platform platform; /* local, or one that knows no repeats */
    GatewayConnection served;
    Turns *turns;
    bool interrupts;
    int64_t approval_ms;
    atomic_int fail_send, lose_send, typed;
    int messages;
} Gate;

static inline PlatformFault next_fault(void *ctx, const char *call)
{
    Gate *g = ctx;

    if (strcmp(call, "send") != 0)
        return FAULT_NONE;
    if (atomic_load(&g->lose_send) > 0 && atomic_fetch_sub(&g->lose_send, 1) > 0)
        return FAULT_LOST;
    return atomic_load(&g->fail_send) > 0 && atomic_fetch_sub(&g->fail_send, 1) > 0 ? FAULT_FAILS
                                                                                    : FAULT_NONE;
}

static inline void open_turns(Gate *g)
{
    OK((g->turns = turns_open(&(TurnsOptions){ .homes = &g->homes,
                                               .settings = &g->settings,
                                               .served = &g->served,
                                               .n_served = 1,
                                               .flags = KEY_FLAGS,
                                               .interrupts = g->interrupts,
                                               .runtimes = fakes,
                                               .plain = true,
                                               .approval_ms = g->approval_ms },
                              &err)) != NULL);
}

static inline void gate_open(Gate *g, bool interrupts)
{
    static const PlatformConfig here = { .enabled = true };
    PlatformHost host;

    *g = (Gate){ .interrupts = interrupts, .platform = platform_local };
    setenv("TALARIA_MODEL", "fake", 1);
    log_set_level(LOG_ERROR);
    world_open(&g->world);
    g->home = (Home){ .kind = HOME_HERMES,
                      .name = STR("hermes"),
                      .path = g->world.hermes,
                      .database = str_join_path(g->world.arena, g->world.hermes, STR("state.db")),
                      .present = true };
    g->homes = (Homes){ .all = &g->home, .n = 1, .primary = &g->home, .data = g->world.data };
    settings_defaults(&g->settings);
    host = (PlatformHost){ .data = g->world.data, .fault = next_fault, .fault_ctx = g };
    OK(platform_local.open(&host, &g->local, &err));
    g->served = (GatewayConnection){ &g->platform, g->local, &here };
    world_sql(&g->world, g->world.data, "INSERT INTO platform_state(platform) VALUES('local')");
    open_turns(g);
}

static inline void gate_close(Gate *g)
{
    g->turns = turns_close(g->turns);
    g->local = platform_local.close(g->local);
    world_close(&g->world);
}

/* The row of a message in the inbox, taken. */
static inline InboxRow received(Gate *g, const char *text, Inbound *in)
{
    Arena *a = g->world.arena;
    InboxUpdate u = { .id = str_printf(a, "m%d", ++g->messages),
                      .json = str_printf(a,
                                         "{\"channel\":\"home\",\"user\":\"you\",\"text\":\"%s\","
                                         "\"id\":\"m%d\"}",
                                         text, g->messages) };
    InboxRow *all;
    size_t n;
    bool is;

    OK(inbox_put(g->world.journal, STR("local"), &u, 1, STR(""), &n, &err));
    OK(inbox_new(g->world.journal, a, 100, &all, &n, &err));
    assert_true(n > 0);
    OK(inbox_take(g->world.journal, all[n - 1].seq, &err));
    OK(shape_local.parse(a, u.json, &(Identity){ 0 }, in, &is, &err));
    return all[n - 1];
}

static inline InboxRow write_to(Gate *g, const char *text)
{
    Inbound in;
    InboxRow row = received(g, text, &in);

    OK(turns_message(g->turns, &row, &in, TRUST_OWNER, &err));
    return row;
}

static inline bool is_so(Gate *g, const char *sql, const char *expected)
{
    return str_eqz(world_ask(&g->world, g->world.data, sql), expected);
}

/* Awaits what an SQL question answers; ten seconds at most. */
static inline void await(Gate *g, const char *sql, const char *expected)
{
    struct timespec pause = { .tv_nsec = 2000000 };
    int64_t until = clock_mono_ms() + 10000, wait;

    while (!is_so(g, sql, expected)) {
        if (clock_mono_ms() > until)
            fail_msg("%s: got \"%.*s\", expected \"%s\"", sql,
                     STR_FMT(world_ask(&g->world, g->world.data, sql)), expected);
        OK(turns_deliver(g->turns, &wait, &err));
        nanosleep(&pause, NULL);
    }
}

#define SAID   "SELECT group_concat(text, '|') FROM (SELECT text FROM local_message ORDER BY id)"
#define OPEN   "SELECT count(*) FROM inbox WHERE state IN ('new', 'taken')"
#define UNSENT "SELECT count(*) FROM outbox WHERE state <> 'sent'"
#define TALKS  "SELECT count(*) FROM conversation"

#endif

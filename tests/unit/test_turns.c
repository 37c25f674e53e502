/* Turns of chat platforms: a runtime that does what it is told, on the platform that needs no account. */
#include "handoff_world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "agent/service.h"
#include "base/limits.h"
#include "base/log.h"
#include "gateway/turns.h"
#include "store/handoff_outbox.h"

/* -- the runtime: "say WORDS", "hang" (until it is cancelled), "fail", "ask", "talk and ask" --------------------- */

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

static void end_run(RuntimeRun *r, RuntimeEvent e)
{
    r->ended = true;
    e.duration_ms = -1;
    r->fn(r->ctx, &e);
}

static void ask(RuntimeRun *r, Str text)
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

static void hear_answer(void *ctx)
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

static void approve(RuntimeRun *r, Str id, Str choice)
{
    Answered *x = mem_alloc(sizeof *x);

    assert_true(str_eqz(id, "q1"));
    x->run = r;
    snprintf(x->choice, sizeof x->choice, "%.*s", STR_FMT(choice));
    net_post(r->net, hear_answer, x);
}

static void go(void *ctx)
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

static bool probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    (void)host;
    (void)a;
    (void)err;
    *ret = (RuntimeCaps){ .available = true, .has_model = true };
    return true;
}

static RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *q, RuntimeEventFn *fn,
                         void *ctx, Err *err)
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

static void stop(void *ctx)
{
    RuntimeRun *r = ctx;

    if (!r->ended)
        end_run(r, (RuntimeEvent){ .kind = RUNTIME_FAIL, .code = RUN_CANCELLED });
}

static void cancel(RuntimeRun *r)
{
    if (!r->cancelled)
        net_post(r->net, stop, r);
    r->cancelled = true;
}

static void forget(void *ctx)
{
    mem_free(ctx);
}

static void release(RuntimeRun *r)
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

/* -- a gateway ---------------------------------------------------------------------------------------------- */

typedef struct Gate {
    World world;
    Homes homes;
    Home home;
    Settings settings;
    Connection *local;
    Platform platform; /* local, or one that knows no repeats */
    Served served;
    Turns *turns;
    bool interrupts;
    int64_t approval_ms;
    atomic_int fail_send, lose_send, typed;
    int messages;
} Gate;

static PlatformFault next_fault(void *ctx, const char *call)
{
    Gate *g = ctx;

    if (strcmp(call, "send") != 0)
        return FAULT_NONE;
    if (atomic_load(&g->lose_send) > 0 && atomic_fetch_sub(&g->lose_send, 1) > 0)
        return FAULT_LOST;
    return atomic_load(&g->fail_send) > 0 && atomic_fetch_sub(&g->fail_send, 1) > 0 ? FAULT_FAILS
                                                                                    : FAULT_NONE;
}

static void open_turns(Gate *g)
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

static void gate_open(Gate *g, bool interrupts)
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
    g->served = (Served){ &g->platform, g->local, &here };
    world_sql(&g->world, g->world.data, "INSERT INTO platform_state(platform) VALUES('local')");
    open_turns(g);
}

static void gate_close(Gate *g)
{
    g->turns = turns_close(g->turns);
    g->local = platform_local.close(g->local);
    world_close(&g->world);
}

/* The row of a message in the inbox, taken. */
static InboxRow received(Gate *g, const char *text, Inbound *in)
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

static InboxRow write_to(Gate *g, const char *text)
{
    Inbound in;
    InboxRow row = received(g, text, &in);

    OK(turns_message(g->turns, &row, &in, &err));
    return row;
}

static bool is_so(Gate *g, const char *sql, const char *expected)
{
    return str_eqz(world_ask(&g->world, g->world.data, sql), expected);
}

/* Awaits what an SQL question answers; ten seconds at most. */
static void await(Gate *g, const char *sql, const char *expected)
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

/* -- answers -------------------------------------------------------------------------------------------------- */

static void a_message_is_answered(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "say one");
    await(&g, UNSENT, "0");
    await(&g, OPEN, "0");
    await(&g, SAID, "say one");
    await(&g, TALKS, "1");
    await(&g, "SELECT owner_surface FROM session_owner", "local");
    /* The next one goes on where the first was. */
    write_to(&g, "say two");
    await(&g, OPEN, "0");
    await(&g, SAID, "say one|say two");
    await(&g, TALKS, "1");
    pthread_mutex_lock(&seen_lock);
    assert_int_equal(seen_history, 2);
    pthread_mutex_unlock(&seen_lock);
    gate_close(&g);
}

static void trouble_is_told_once(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "fail");
    await(&g, SAID, "This did not work: the model is ill");
    await(&g, OPEN, "0");
    gate_close(&g);
}

/* However often the row comes back, what was answered is not answered again. */
static void nothing_is_answered_twice(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;
    int before;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "say one", &in);
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, OPEN, "0");
    await(&g, SAID, "say one");
    await(&g, UNSENT, "0");
    before = atomic_load(&starts);
    world_sql(&g.world, g.world.data, "UPDATE inbox SET state = 'taken'");
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    /* Nor where only the run is known. */
    world_sql(&g.world, g.world.data, "UPDATE inbox SET state = 'taken'");
    world_sql(&g.world, g.world.data, "DELETE FROM outbox");
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    assert_int_equal(atomic_load(&starts), before);
    await(&g, SAID, "say one");
    gate_close(&g);
}

/* A gateway that ends in the middle: the next one answers, in the same message, and the words of the user are
 * kept once. */
static void an_end_in_the_middle(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "begin", &in);
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, SAID, "begin");
    await(&g, "SELECT state FROM outbox", "open");
    g.turns = turns_close(g.turns);
    await(&g, "SELECT state FROM inbox", "new");
    open_turns(&g);
    OK(inbox_take(g.world.journal, row.seq, &err));
    in.text = STR("say all of it");
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, OPEN, "0");
    await(&g, SAID, "say all of it");
    await(&g, "SELECT count(*) FROM messages WHERE role = 'user'", "1");
    gate_close(&g);
}

static void a_dead_run_is_made_anew(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "say it", &in);
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    /* As if the process had died when it had just begun. */
    world_sql(&g.world, g.world.data,
              "UPDATE run SET state = 'failed', error_code = 'internal'; UPDATE inbox SET state = "
              "'taken'; UPDATE outbox SET state = 'open', sent = 0, sending = 1, text = ''");
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, "SELECT count(*) FROM run", "2");
    await(&g, "SELECT count(*) FROM messages WHERE role = 'user'", "1");
    await(&g, SAID, "say it");
    gate_close(&g);
}

/* What was parked, and told so, has an answer of its own when somebody asks for it again. */
static void a_parked_one_is_answered_when_asked_for_again(void **state)
{
    InboxRow row, *all;
    Inbound in;
    Gate g;
    size_t n;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "say it", &in);
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    world_sql(&g.world, g.world.data,
              "UPDATE run SET state = 'failed', error_code = 'internal'; UPDATE inbox SET state = "
              "'parked', attempt = 3");
    OK(inbox_retry(g.world.journal, row.seq, &err));
    OK(inbox_new(g.world.journal, g.world.arena, 10, &all, &n, &err));
    assert_int_equal(n, 1);
    OK(inbox_take(g.world.journal, row.seq, &err));
    OK(turns_message(g.turns, &all[0], &in, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, SAID, "say it|say it");
    await(&g, "SELECT count(*) FROM messages WHERE role = 'user'", "1");
    gate_close(&g);
}

static void the_next_message_interrupts(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, true);
    write_to(&g, "begin");
    await(&g, SAID, "begin");
    write_to(&g, "say now");
    await(&g, OPEN, "0");
    await(&g, SAID, "begin\n\n(interrupted)|say now");
    gate_close(&g);
}

static void the_next_message_waits(void **state)
{
    Gate g;
    bool any = false;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "begin");
    write_to(&g, "say now");
    await(&g, SAID, "begin");
    OK(turns_stop(g.turns, STR("agent:main:local:dm:home"), &any, &err));
    assert_true(any);
    await(&g, OPEN, "0");
    await(&g, SAID, "begin\n\n(stopped)|say now");
    gate_close(&g);
}

/* -- what an agent asks ------------------------------------------------------------------------------------------- */

#define HOME_KEY STR("agent:main:local:dm:home")
#define ASKED    "SELECT count(*) FROM local_message WHERE text LIKE 'Your approval is asked for%'"
#define ANSWERS                                                                                    \
    "SELECT group_concat(text, '|') FROM (SELECT text FROM local_message WHERE text NOT LIKE "     \
    "'Your approval%' ORDER BY id)"

static int64_t wall_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

static void it_asks_and_is_answered(void **state)
{
    static const char *const choices[] = { "once", "session", "deny" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        char expected[64];
        Str words;
        Gate g;

        gate_open(&g, false);
        write_to(&g, "talk and ask");
        await(&g, ASKED, "1");
        words = world_ask(&g.world, g.world.data,
                          "SELECT text FROM local_message WHERE text LIKE 'Your%'");
        /* What is to be done stands whole between its fences, and who does it, and what one can say. */
        assert_str(words, STR("Your approval is asked for, to use shell:\n\n```\nrm -r `` ` build\n"
                              "```\n\n/approve - this once\n/approve session - for the rest of the "
                              "session\n/deny - no\n\nWithout an answer within 5 minutes it is a "
                              "no."));
        FAILS(turns_approve(g.turns, HOME_KEY, STR("always"), wall_ms(), &err), ERR_INVALID);
        FAILS(
            turns_approve(g.turns, STR("agent:main:local:dm:other"), STR("once"), wall_ms(), &err),
            ERR_NOT_FOUND);
        /* Written before the question was there. */
        FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms() - 60000, &err), ERR_CONFLICT);
        OK(turns_approve(g.turns, HOME_KEY, str_of(choices[i]), wall_ms(), &err));
        await(&g, OPEN, "0");
        await(&g, UNSENT, "0");
        FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err), ERR_NOT_FOUND);
        /* What came after it is a message of its own, below the question. */
        snprintf(expected, sizeof expected, "first words|so: %s", choices[i]);
        await(&g, ANSWERS, expected);
        await(&g, ASKED, "1");
        await(&g, "SELECT text LIKE 'so:%' FROM local_message ORDER BY id DESC LIMIT 1", "1");
        gate_close(&g);
    }
}

static void of_two_answers_the_first_counts(void **state)
{
    int before = atomic_load(&answers), yes = 0;
    Gate g;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "ask");
    await(&g, ASKED, "1");
    for (int i = 0; i < 5; i++) {
        Err err;

        yes += turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err);
    }
    assert_int_equal(yes, 1);
    await(&g, OPEN, "0");
    await(&g, ANSWERS, "so: once");
    assert_int_equal(atomic_load(&answers), before + 1);
    gate_close(&g);
}

static void nobody_answers(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    g.turns = turns_close(g.turns);
    g.approval_ms = 1000;
    open_turns(&g);
    write_to(&g, "ask");
    await(&g, ASKED, "1");
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "Nobody answered within 1 second: denied.|so: deny");
    gate_close(&g);
}

/* Another message, or /stop: the turn ends, and its question with it. */
static void a_question_ends_with_its_turn(void **state)
{
    bool any = false;
    Gate g;

    (void)state;
    gate_open(&g, true);
    write_to(&g, "talk and ask");
    await(&g, ASKED, "1");
    write_to(&g, "say other things");
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "first words|say other things");
    FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err), ERR_NOT_FOUND);
    write_to(&g, "ask");
    await(&g, ASKED, "2");
    OK(turns_stop(g.turns, HOME_KEY, &any, &err));
    assert_true(any);
    /* At once, though the runtime may still be on its way to the end. */
    FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err), ERR_NOT_FOUND);
    await(&g, OPEN, "0");
    await(&g, ANSWERS, "first words|say other things");
    gate_close(&g);
}

static void a_message_waits_for_the_answer(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    write_to(&g, "ask");
    write_to(&g, "say next");
    await(&g, ASKED, "1");
    OK(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "so: once|say next");
    gate_close(&g);
}

/* A question that could not be said yet: nobody can answer it, and once its turn is over nobody is asked. */
static void an_unread_question(void **state)
{
    bool any;
    Gate g;

    (void)state;
    gate_open(&g, false);
    atomic_store(&g.fail_send, 1000);
    write_to(&g, "ask");
    await(&g, "SELECT attempt > 0 FROM outbox WHERE id LIKE 'ask:%'", "1");
    FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms() + 60000, &err), ERR_CONFLICT);
    OK(turns_stop(g.turns, HOME_KEY, &any, &err));
    await(&g, OPEN, "0");
    atomic_store(&g.fail_send, 0);
    g.world.now += 60;
    await(&g, UNSENT, "0");
    await(&g, "SELECT error FROM outbox WHERE id LIKE 'ask:%'", "it was over before");
    await(&g, "SELECT count(*) FROM local_message", "0");
    gate_close(&g);
}

/* The gateway ends while a question waits: the turn is made again and asks again; the old question is nobody's. */
static void a_question_of_an_earlier_gateway(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "talk and ask", &in);
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, ASKED, "1");
    await(&g, ANSWERS, "first words");
    g.turns = turns_close(g.turns);
    world_sql(&g.world, g.world.data, "UPDATE outbox SET state = 'waiting' WHERE id LIKE 'ask:%'");
    open_turns(&g);
    await(&g, UNSENT " AND id LIKE 'ask:%'", "0");
    await(&g, ASKED, "1");
    FAILS(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err), ERR_NOT_FOUND);
    OK(inbox_take(g.world.journal, row.seq, &err));
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, ASKED, "2");
    OK(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "first words|first words|so: once");
    gate_close(&g);
}

static void count_typing(Connection *c, const Place *at);
static Gate *typing_gate;

static void nobody_types_while_it_waits(void **state)
{
    struct timespec pause = { .tv_nsec = 50000000 };
    int before;
    Gate g;

    (void)state;
    gate_open(&g, false);
    typing_gate = &g;
    g.platform.typing = count_typing;
    g.platform.typing_ms = 5;
    write_to(&g, "ask");
    await(&g, ASKED, "1");
    nanosleep(&pause, NULL);
    before = atomic_load(&g.typed);
    nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&g.typed), before);
    OK(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err));
    await(&g, OPEN, "0");
    gate_close(&g);
}

static void count_typing(Connection *c, const Place *at)
{
    (void)c;
    (void)at;
    atomic_fetch_add(&typing_gate->typed, 1);
}

/* The run came to its end, but the gateway died before that was noted: what stands there already is not told again. */
static void a_run_that_asked_is_told_once(void **state)
{
    InboxRow row;
    Inbound in;
    Gate g;

    (void)state;
    gate_open(&g, false);
    row = received(&g, "talk and ask", &in);
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, ASKED, "1");
    OK(turns_approve(g.turns, HOME_KEY, STR("once"), wall_ms(), &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    world_sql(&g.world, g.world.data,
              "UPDATE inbox SET state = 'taken'; UPDATE outbox SET state = 'open', sent = 0, "
              "sending = 0, text = '' WHERE id LIKE 'reply:%'");
    OK(turns_message(g.turns, &row, &in, &err));
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, ANSWERS, "first words|so: once");
    await(&g, ASKED, "1");
    gate_close(&g);
}

/* -- order ------------------------------------------------------------------------------------------------------- */

/* Some of them are tried again: those behind wait, those of other places do not. */
static void words_keep_their_order(void **state)
{
    enum { PLACES = 6, WORDS = 20 };
    Place to = { .platform = STR("local"), .chat_id = STR("home"), .chat_type = STR("dm") };
    Gate g;

    (void)state;
    gate_open(&g, false);
    for (int i = 0; i < PLACES * WORDS; i++) {
        to.thread_id = str_printf(g.world.arena, "t%d", i % PLACES);
        if (i % 25 == 0)
            atomic_store(&g.fail_send, 1);
        OK(turns_say(g.turns, &to, str_printf(g.world.arena, "z%d", 1000 - i),
                     str_printf(g.world.arena, "%d", i), &err));
    }
    for (int i = 0; i < 50 && !is_so(&g, UNSENT, "0"); i++) {
        int64_t wait;

        g.world.now += 1;
        OK(turns_deliver(g.turns, &wait, &err));
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    await(&g, UNSENT, "0");
    await(&g, "SELECT count(*) FROM local_message", "120");
    await(&g,
          "SELECT count(*) FROM local_message AS a JOIN local_message AS b ON a.thread = b.thread "
          "AND a.id < b.id AND CAST(a.text AS INTEGER) > CAST(b.text AS INTEGER)",
          "0");
    gate_close(&g);
}

/* A turn's words do not overtake an answer that waits for its next try, though they are ready. */
static void a_turn_does_not_overtake(void **state)
{
    Place to = { .platform = STR("local"), .chat_id = STR("home"), .chat_type = STR("dm") };
    Gate g;

    (void)state;
    gate_open(&g, false);
    atomic_store(&g.fail_send, 1);
    OK(turns_say(g.turns, &to, STR("first"), STR("one"), &err));
    await(&g, "SELECT attempt FROM outbox WHERE id = 'first'", "1");
    write_to(&g, "say two");
    await(&g, OPEN, "0");
    await(&g, "SELECT count(*) FROM local_message", "0");
    g.world.now += 5;
    await(&g, UNSENT, "0");
    await(&g, SAID, "one|say two");
    gate_close(&g);
}

static void what_is_too_late_is_not_said(void **state)
{
    Outgoing row, late = { .id = STR("late"),
                           .platform = STR("local"),
                           .place_json = STR("{\"platform\":\"local\",\"chat_id\":\"home\"}"),
                           .text = STR("of no use any more") };
    Gate g;

    (void)state;
    gate_open(&g, false);
    late.expires_ms = (int64_t)(g.world.now * 1000) + 3600000;
    OK(outbox_put(g.world.journal, g.world.arena, &late, &row, &err));
    g.world.now += 3601;
    await(&g, "SELECT state || ': ' || error FROM outbox",
          "dead: expired: it could not be said in time");
    await(&g, "SELECT count(*) FROM local_message", "0");
    /* Somebody wants it said all the same. */
    OK(outbox_retry(g.world.journal, STR("late"), &err));
    await(&g, SAID, "of no use any more");
    gate_close(&g);
}

/* -- delivery --------------------------------------------------------------------------------------------------- */

static void it_arrives_later(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    g.platform.knows_repeats = false;
    g.platform.edit = NULL;
    atomic_store(&g.fail_send, 1);
    write_to(&g, "say one");
    await(&g, "SELECT attempt || state FROM outbox", "1waiting");
    g.world.now += 5;
    /* It certainly did not arrive, so it is no repeat. */
    await(&g, UNSENT, "0");
    await(&g, SAID, "say one");
    atomic_store(&g.lose_send, 1);
    write_to(&g, "say two");
    await(&g, "SELECT count(*) FROM outbox WHERE attempt = 1 AND state = 'waiting'", "1");
    g.world.now += 5;
    await(&g, UNSENT, "0");
    assert_int_equal(g.messages, 2);
    await(&g, "SELECT count(*) FROM local_message WHERE text LIKE '%say two'", "1");
    gate_close(&g);
}

static bool refuse(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err)
{
    (void)c;
    (void)a;
    (void)m;
    (void)ret;
    return err_set(err, ERR_REFUSED, "we were thrown out");
}

static void what_cannot_arrive_is_dead(void **state)
{
    Outgoing *dead;
    size_t n;
    Gate g;

    (void)state;
    gate_open(&g, false);
    g.platform.edit = NULL;
    g.platform.send = refuse;
    write_to(&g, "say one");
    await(&g, "SELECT state FROM outbox", "dead");
    OK(outbox_dead(g.world.journal, g.world.arena, 10, &dead, &n, &err));
    assert_int_equal(n, 1);
    assert_str(dead[0].error, STR("we were thrown out"));
    FAILS(outbox_retry(g.world.journal, STR("none"), &err), ERR_NOT_FOUND);
    g.platform.send = platform_local.send;
    OK(outbox_retry(g.world.journal, dead[0].id, &err));
    await(&g, UNSENT, "0");
    await(&g, SAID, "say one");
    gate_close(&g);
}

static void words_of_ours(void **state)
{
    Place to = { .platform = STR("local"), .chat_id = STR("home"), .chat_type = STR("dm") };
    Gate g;

    (void)state;
    gate_open(&g, false);
    OK(turns_say(g.turns, &to, STR("say:1"), STR("hello"), &err));
    OK(turns_say(g.turns, &to, STR("say:1"), STR("hello"), &err));
    await(&g, UNSENT, "0");
    await(&g, SAID, "hello");
    gate_close(&g);
}

/* -- handoffs ---------------------------------------------------------------------------------------------------- */

static bool make_card(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err)
{
    (void)ctx;
    (void)a;
    (void)h;
    (void)err;
    *ret = (Card){ .title = STR("Fix it"), .text = STR("card") };
    return true;
}

static Handoff hand_over(Gate *g, Str home, const char *session, bool no_turn)
{
    AUTO(Worker) *worker = worker_new(&(WorkerOptions){ .journal = g->world.journal,
                                                        .owner = STR("w"),
                                                        .served = &g->served,
                                                        .n_served = 1,
                                                        .flags = KEY_FLAGS,
                                                        .card = make_card,
                                                        .turns = g->turns });
    HandoffWish wish = {
        .home = home, .session_id = str_of(session), .platform = STR("local"), .no_turn = no_turn
    };
    Handoff h = { 0 };
    int64_t wait;

    OK(handoff_request(g->world.journal, g->world.arena, &wish, &h, &err));
    OK(worker_round(worker, &wait, &err));
    OK(handoff_get(g->world.journal, g->world.arena, h.id, &h, &err));
    assert_int_equal(h.state, HANDOFF_DONE);
    return h;
}

#define IN_THREAD                                                                                  \
    "SELECT count(*) FROM local_message WHERE thread <> '' AND text <> 'card' AND text LIKE "      \
    "'[From Talaria%'"

static void the_first_words(void **state)
{
    Gate g;

    (void)state;
    gate_open(&g, false);
    (void)hand_over(&g, g.world.data, "s1", false);
    await(&g, IN_THREAD, "1");
    await(&g, UNSENT, "0");
    pthread_mutex_lock(&seen_lock);
    assert_true(seen_internal);
    pthread_mutex_unlock(&seen_lock);
    /* Nobody said anything, so nobody's words are kept. */
    await(&g, "SELECT group_concat(role) FROM messages WHERE session_id = 's1'", "assistant");
    await(&g, "SELECT count(*) FROM our_thread", "1");
    (void)hand_over(&g, g.world.data, "s2", true);
    await(&g, UNSENT, "0");
    await(&g, "SELECT count(*) FROM run WHERE conversation_id = 's2'", "0");
    gate_close(&g);
}

/* A gateway that died between the end of the handoff and the first words. */
static void a_promise_is_kept(void **state)
{
    Handoff h;
    Gate g;

    (void)state;
    gate_open(&g, false);
    h = hand_over(&g, g.world.data, "s1", true);
    h.no_turn = 0;
    world_sql(&g.world, g.world.data, "UPDATE handoff SET no_turn = 0");
    OK(turns_promise(g.turns, g.world.journal, &h, &err));
    g.turns = turns_close(g.turns);
    open_turns(&g);
    await(&g, IN_THREAD, "1");
    gate_close(&g);
}

static void only_one_may_write(void **state)
{
    ConversationChange title = { .title = STR("mine") };
    Service *s;
    LiveRun *live;
    Runs *r;
    Run run;
    Gate g;

    (void)state;
    gate_open(&g, false);
    (void)hand_over(&g, g.world.data, "s1", false);
    await(&g, UNSENT, "0");
    OK((s = service_open(
            &(ServiceOptions){
                .homes = &g.homes, .settings = &g.settings, .runtimes = fakes, .plain = true },
            &err)) != NULL);
    OK((r = service_take(s, &err)) != NULL);
    /* Terminal and page are told where it is; another platform too. */
    FAILS(service_chat(s, g.world.arena,
                       &(ChatWish){ .conversation_id = STR("s1"), .text = STR("say x") }, &run,
                       &live, &err),
          ERR_CONFLICT);
    FAILS(service_chat(s, g.world.arena,
                       &(ChatWish){ .conversation_id = STR("s1"),
                                    .text = STR("say x"),
                                    .surface = STR("telegram") },
                       &run, &live, &err),
          ERR_CONFLICT);
    FAILS(conversation_change(r, STR("s1"), &title, &err), ERR_CONFLICT);
    FAILS(conversation_delete(r, STR("s1"), &err), ERR_CONFLICT);
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    FAILS(service_chat(s, g.world.arena,
                       &(ChatWish){ .conversation_id = STR("s1"),
                                    .text = STR("say x"),
                                    .surface = STR("local") },
                       &run, &live, &err),
          ERR_CONFLICT);
    OK(conversation_change(r, STR("s1"), &title, &err));
    OK(service_chat(s, g.world.arena,
                    &(ChatWish){ .conversation_id = STR("s1"), .text = STR("say x") }, &run, &live,
                    &err));
    live_drop(live);
    service_give(s, r);
    service_close(s);
    gate_close(&g);
}

/* A session that lies in another home: its words are loaded with every call and its result, what compaction put
 * away is left out, and not a row of that home's messages is written. */
static void a_session_of_another_home(void **state)
{
    static const char words[] =
        "ALTER TABLE messages ADD COLUMN tool_calls TEXT; ALTER TABLE messages ADD COLUMN "
        "tool_call_id TEXT; ALTER TABLE messages ADD COLUMN timestamp REAL; ALTER TABLE messages "
        "ADD COLUMN active INTEGER DEFAULT 1; ALTER TABLE sessions ADD COLUMN cwd TEXT; UPDATE "
        "sessions SET cwd = '/tmp';"
        "INSERT INTO messages(session_id, role, content, tool_calls, tool_call_id, timestamp, "
        "active) VALUES"
        "('s1', 'user', 'put away', NULL, NULL, 1, 0),"
        "('s1', 'user', 'list it', NULL, NULL, 2, 1),"
        "('s1', 'assistant', '', '[{\"id\":\"k1\",\"type\":\"function\",\"function\":{\"name\":"
        "\"ls\",\"arguments\":\"{}\"}},{\"id\":\"k2\",\"type\":\"function\",\"function\":{\"name\":"
        "\"lost\",\"arguments\":\"{}\"}}]', NULL, 3, 1),"
        "('s1', 'tool', 'a b', NULL, 'k1', 4, 1),"
        "('s1', 'tool', 'of nobody', NULL, 'k9', 5, 1),"
        "('s1', 'assistant', 'a and b', NULL, NULL, 6, 1)";
    static const char expected[] =
        "{\"v\": 1, \"dropped\": 0, \"messages\": [{\"role\": \"user\", \"text\": \"list it\"}, "
        "{\"role\": \"assistant\", \"text\": \"\", \"calls\": [{\"id\": \"k1\", \"name\": \"ls\", "
        "\"arguments\": \"{}\"}]}, {\"role\": \"tool\", \"text\": \"a b\", \"call_id\": \"k1\"}, "
        "{\"role\": \"assistant\", \"text\": \"a and b\"}]}";
    Str messages = STR("SELECT count(*) || max(id) FROM messages"), before;
    Handoff h;
    Gate g;

    (void)state;
    gate_open(&g, false);
    world_sql(&g.world, g.world.hermes, words);
    before = world_ask(&g.world, g.world.hermes, messages.p);
    h = hand_over(&g, g.world.hermes, "s1", false);
    await(&g, IN_THREAD, "1");
    await(&g, UNSENT, "0");
    pthread_mutex_lock(&seen_lock);
    assert_string_equal(seen_handle, expected);
    assert_string_equal(seen_cwd, "/tmp");
    pthread_mutex_unlock(&seen_lock);
    assert_str(world_ask(&g.world, g.world.hermes, messages.p), before);
    await(&g, "SELECT count(*) FROM conversation_of WHERE session_id = 's1'", "1");
    /* It comes back with the conversation in which it went on. */
    OK(routing_release(g.world.journal, g.world.hermes, STR("s1"), &err));
    await(&g, "SELECT group_concat(DISTINCT owner_surface) FROM session_owner", "cli");
    OK(turns_session(g.turns, g.world.arena, h.dest_key, &before, &err));
    assert_str(before, STR(""));
    await(&g, "SELECT count(*) FROM outbox WHERE id LIKE 'left:%'", "1");
    gate_close(&g);
}

/* The place that a session left is told, once; one that wished to be rid of it is not. */
static void the_place_that_was_left_is_told(void **state)
{
    Str said = STR("'Fix it' goes on in the terminal. Write here to begin a new session; /resume "
                   "goes on with an earlier one of this chat.");
    Handoff h;
    Gate g;

    (void)state;
    gate_open(&g, false);
    world_sql(&g.world, g.world.data, "UPDATE sessions SET title = 'Fix it' WHERE id = 's1'");
    h = hand_over(&g, g.world.data, "s1", true);
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    await(&g, UNSENT, "0");
    assert_str(world_ask(&g.world, g.world.data,
                         "SELECT text FROM local_message WHERE text <> 'card' AND thread = (SELECT "
                         "thread_ref FROM handoff)"),
               said);
    await(&g, "SELECT count(*) FROM local_message", "2");
    h = hand_over(&g, g.world.data, "s1", true);
    OK(turns_forget(g.turns, h.dest_key, &err));
    await(&g, "SELECT count(*) FROM outbox WHERE id LIKE 'left:%'", "1");
    /* Nobody was there to say it for an hour. */
    world_sql(&g.world, g.world.data,
              "UPDATE sessions SET title = NULL; INSERT INTO messages(session_id, role, content, "
              "timestamp) VALUES('s1', 'user', 'open the door' || char(10) || 'now', 1)");
    (void)hand_over(&g, g.world.data, "s1", true);
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    assert_str(world_ask(&g.world, g.world.data,
                         "SELECT substr(text, 1, 20) FROM outbox WHERE state = 'waiting'"),
               STR("'open the door' goes"));
    g.world.now += 3601;
    await(&g, "SELECT count(*) FROM outbox WHERE state = 'dead' AND error LIKE 'expired%'", "1");
    await(&g, "SELECT count(*) FROM local_message WHERE text LIKE '%goes on in the terminal%'",
          "1");
    /* Where no gateway of ours ever was, there is nobody to say it. */
    (void)hand_over(&g, g.world.data, "s1", true);
    world_sql(&g.world, g.world.data, "DELETE FROM platform_state; DELETE FROM outbox");
    OK(routing_release(g.world.journal, g.world.data, STR("s1"), &err));
    await(&g, "SELECT count(*) FROM outbox", "0");
    gate_close(&g);
}

static void commands_move_keys(void **state)
{
    Place at = { .platform = STR("local"), .chat_id = STR("home"), .chat_type = STR("dm") };
    Str key = STR("agent:main:local:dm:home"), id;
    Gate g;

    (void)state;
    gate_open(&g, false);
    world_sql(&g.world, g.world.hermes, "ALTER TABLE messages ADD COLUMN timestamp REAL");
    OK(turns_resume(g.turns, &at, STR("s1"), &err));
    OK(turns_session(g.turns, g.world.arena, key, &id, &err));
    assert_str(id, STR("s1"));
    OK(turns_forget(g.turns, key, &err));
    OK(turns_session(g.turns, g.world.arena, key, &id, &err));
    assert_str(id, STR(""));
    OK(owner_set(g.world.journal, g.world.hermes, STR("s1"), STR("telegram"), STR_NONE, &err));
    FAILS(turns_resume(g.turns, &at, STR("s1"), &err), ERR_CONFLICT);
    gate_close(&g);
}

/* A burst over many keys and in one: every message is answered, none twice. */
static void a_burst(void **state)
{
    enum { BURST = 120 };
    Gate g;

    (void)state;
    gate_open(&g, false);
    for (int i = 0; i < BURST; i++) {
        Inbound in;
        InboxRow row = received(&g, "say x", &in);

        in.place.thread_id = i % 3 ? str_printf(g.world.arena, "t%d", i % 10) : STR_NONE;
        OK(turns_message(g.turns, &row, &in, &err));
    }
    await(&g, OPEN, "0");
    await(&g, UNSENT, "0");
    await(&g, "SELECT count(*) FROM local_message", "120");
    await(&g, "SELECT count(*) FROM run", "120");
    gate_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_answered),
        cmocka_unit_test(trouble_is_told_once),
        cmocka_unit_test(nothing_is_answered_twice),
        cmocka_unit_test(an_end_in_the_middle),
        cmocka_unit_test(a_dead_run_is_made_anew),
        cmocka_unit_test(a_parked_one_is_answered_when_asked_for_again),
        cmocka_unit_test(the_next_message_interrupts),
        cmocka_unit_test(the_next_message_waits),
        cmocka_unit_test(it_asks_and_is_answered),
        cmocka_unit_test(of_two_answers_the_first_counts),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(a_question_ends_with_its_turn),
        cmocka_unit_test(a_message_waits_for_the_answer),
        cmocka_unit_test(an_unread_question),
        cmocka_unit_test(a_question_of_an_earlier_gateway),
        cmocka_unit_test(nobody_types_while_it_waits),
        cmocka_unit_test(a_run_that_asked_is_told_once),
        cmocka_unit_test(words_keep_their_order),
        cmocka_unit_test(a_turn_does_not_overtake),
        cmocka_unit_test(what_is_too_late_is_not_said),
        cmocka_unit_test(it_arrives_later),
        cmocka_unit_test(what_cannot_arrive_is_dead),
        cmocka_unit_test(words_of_ours),
        cmocka_unit_test(the_first_words),
        cmocka_unit_test(a_promise_is_kept),
        cmocka_unit_test(only_one_may_write),
        cmocka_unit_test(a_session_of_another_home),
        cmocka_unit_test(the_place_that_was_left_is_told),
        cmocka_unit_test(commands_move_keys),
        cmocka_unit_test(a_burst),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

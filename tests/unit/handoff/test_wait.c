/* Waiting for a handoff, with little patience: nobody comes, somebody takes too long, the user
 * changes her mind. */
#include "handoff_world.h"

#include "base/limits.h"
#include "handoff/wait.h"

#define LOCAL "{\"platform\":\"local\",\"chat_id\":\"home\",\"chat_type\":\"dm\"}"

/* What happens is a row of letters, one for each time that the waiter asks for a word: c claimed by
 * a gateway, b bound, d done, f failed, k left because it was asked for; H taken by a gateway of
 * Hermes, D done by it, once that was noticed; x Ctrl-C, l leave. */
typedef struct Case {
    const char *script;
    bool hermes; /* telegram, for a session of a Hermes home; else local, for one of ours */
    int64_t claim_ms, done_ms, beat_ms;
    int expected; /* an ErrKind; -1: done */
    const char *text, *heard;
    const char *shown; /* state of the journal's row afterwards */
} Case;

static const Case cases[] = {
    { "", false, 60, 0, 0, ERR_REFUSED, "no gateway is running: 'talaria up'", "", "cancelled" },
    { "", false, 100, 0, 20, ERR_REFUSED, "no gateway accepted the handoff",
      "still waiting after 0 s: claim", "cancelled" },
    { "cbd", false, 0, 0, 0, -1, "", "picked up by the gateway\n", "done" },
    { "cf", false, 0, 0, 0, ERR_REFUSED, "the handoff failed: no thread", "picked up", "failed" },
    { "c", false, 0, 60, 20, ERR_BUSY, "asked the gateway to cancel it",
      "in progress after 0 s: prepare", "claimed" },
    { "cb", false, 0, 60, 0, ERR_BUSY, "has moved to local", "picked up", "bound" },
    { "x", false, 0, 0, 0, ERR_INTERRUPTED, "cancelled; the session stays here", "", "cancelled" },
    { "cxk", false, 0, 0, 0, ERR_INTERRUPTED, "cancelled", "asked the gateway to cancel",
      "cancelled" },
    { "cbxd", false, 0, 0, 0, -1, "", "cannot cancel: the session has moved", "done" },
    { "cxx", false, 0, 0, 0, ERR_INTERRUPTED, "stopped waiting", "asked the gateway", "claimed" },
    { "l", false, 0, 0, 0, ERR_INTERRUPTED, "stopped waiting", "", "queued" },
    { "HD", true, 60, 0, 0, -1, "", "picked up by the gateway", "done" },
};

typedef struct Play {
    World w;
    const char *next;
    Handoff h;
    Buf heard;
} Play;

static void note(void *ctx, const char *text)
{
    Play *p = ctx;

    buf_addf(&p->heard, "%s\n", text);
}

static void shows(Play *p, const char *state)
{
    world_sql(&p->w, p->w.hermes,
              str_z(p->w.arena,
                    str_printf(p->w.arena, "UPDATE sessions SET handoff_state = '%s'", state)));
}

static void finish(Play *p)
{
    bool shown;

    OK(handoff_advance(p->w.journal, &p->h, HANDOFF_ANNOUNCED, &err));
    OK(handoff_complete(p->w.journal, &p->h, &shown, &err));
}

static void end(Play *p, HandoffState how)
{
    OK(handoff_fail(p->w.journal, &p->h, how, "x", STR("no thread"), &err));
}

static WaitWord word(void *ctx)
{
    Play *p = ctx;
    char c = *p->next;

    if (!c || (c == 'D' && str_find(buf_str(&p->heard), STR("picked up")) == p->heard.n))
        return WAIT_ON;
    p->next++;
    if (c == 'c')
        p->h = world_claim(&p->w, p->h.id, "a");
    else if (c == 'b')
        world_bind(&p->w, &p->h, LOCAL);
    else if (c == 'd')
        finish(p);
    else if (c == 'f' || c == 'k')
        end(p, c == 'f' ? HANDOFF_FAILED : HANDOFF_CANCELLED);
    else if (c == 'H' || c == 'D')
        shows(p, c == 'H' ? "running" : "completed");
    return c == 'x' ? WAIT_CANCEL : c == 'l' ? WAIT_LEAVE : WAIT_ON;
}

static void play(const Case *k)
{
    Play p = { .next = k->script, .heard = BUF(KIB(64)) };
    Home all[2] = { { .kind = HOME_HERMES }, { .kind = HOME_OURS } };
    Homes homes = { .all = all, .n = 2, .primary = all };
    HandoffWaiter waiter = { .homes = &homes,
                             .wake_fd = -1,
                             .word = word,
                             .note = note,
                             .ctx = &p,
                             .claim_ms = k->claim_ms,
                             .done_ms = k->done_ms,
                             .beat_ms = k->beat_ms };
    Handoff h, now;
    Err why = { 0 };
    bool ok;

    world_open(&p.w);
    all[0].path = p.w.hermes;
    all[1].path = homes.data = p.w.data;
    h = p.h = world_request(&p.w, k->hermes ? p.w.hermes : p.w.data, "s1",
                            k->hermes ? "telegram" : "local");
    ok = handoff_wait(&waiter, p.w.journal, p.w.arena, &h, &why);
    if (ok != (k->expected < 0) || (!ok && (int)why.kind != k->expected) ||
        !strstr(why.text, k->text))
        fail_msg("'%s': %s %s", k->script, ok ? "done" : err_name(&why), why.text);
    buf_addc(&p.heard, 0);
    if (!strstr(buf_str(&p.heard).p, k->heard))
        fail_msg("'%s': heard %s", k->script, buf_str(&p.heard).p);
    OK(handoff_get(p.w.journal, p.w.arena, p.h.id, &now, &err));
    assert_string_equal(handoff_state_name(now.state), k->shown);
    if (ok)
        assert_int_equal(h.state, HANDOFF_DONE);
    buf_done(&p.heard);
    world_close(&p.w);
}

static void waiting(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        play(&cases[i]);
}

/* -- who may write, and where one may go -- */

static void where_it_is(void **state)
{
    Handoff h;
    World w;

    (void)state;
    world_open(&w);
    OK(handoff_is_here(w.journal, w.data, STR("s1"), &err));
    h = world_request(&w, w.data, "s1", "local");
    h = world_claim(&w, h.id, "a");
    OK(handoff_is_here(w.journal, w.data, STR("s1"), &err));
    world_bind(&w, &h, LOCAL);
    FAILS(handoff_is_here(w.journal, w.data, STR("s1"), &err), ERR_CONFLICT);
    OK(handoff_is_here(w.journal, w.data, STR("s2"), &err));
    OK(handoff_is_here(w.journal, w.hermes, STR("s1"), &err));
    OK(routing_release(w.journal, w.data, STR("s1"), &err));
    OK(handoff_is_here(w.journal, w.data, STR("s1"), &err));
    world_close(&w);
}

static void what_may_go(void **state)
{
    Homes homes = { 0 };
    Settings settings = { 0 };
    HandoffAsk ask = { .homes = &homes,
                       .settings = &settings,
                       .request = { .session_id = STR("s1"), .platform = STR("local") } };
    World w;

    (void)state;
    world_open(&w);
    settings_defaults(&settings);
    ask.request.home = homes.data = w.data;
    FAILS(handoff_may_go(w.journal, &ask, &err), ERR_REFUSED); /* no gateway */
    ask.detach = true;
    OK(handoff_may_go(w.journal, &ask, &err));
    world_sql(&w, w.data, "DELETE FROM home_channel");
    FAILS(handoff_may_go(w.journal, &ask, &err), ERR_REFUSED);
    ask.request.target = STR("elsewhere");
    OK(handoff_may_go(w.journal, &ask, &err));
    ask.request.platform = STR("nowhere");
    FAILS(handoff_may_go(w.journal, &ask, &err), ERR_USAGE);
    ask.request.platform = STR("telegram");
    FAILS(handoff_may_go(w.journal, &ask, &err), ERR_REFUSED);
    setenv("TALARIA_TELEGRAM_TOKEN", "123:abc", 1);
    OK(handoff_may_go(w.journal, &ask, &err));
    ask.request.target = STR("");
    FAILS(handoff_may_go(w.journal, &ask, &err), ERR_REFUSED); /* no home channel */
    setenv("TALARIA_TELEGRAM_HOME_CHANNEL", "555", 1);
    OK(handoff_may_go(w.journal, &ask, &err));
    unsetenv("TALARIA_TELEGRAM_TOKEN");
    unsetenv("TALARIA_TELEGRAM_HOME_CHANNEL");
    ask.detach = false;
    ask.request.home = w.hermes; /* a gateway of Hermes may take it, but there is none */
    FAILS(handoff_may_go(w.journal, &ask, &err), ERR_REFUSED);
    ask.queue = true;
    OK(handoff_may_go(w.journal, &ask, &err));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting),
        cmocka_unit_test(where_it_is),
        cmocka_unit_test(what_may_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

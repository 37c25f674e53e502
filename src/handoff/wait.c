/* The journal is looked at whenever a database beside it was written, and every two seconds where
 * nobody says so. Times are of the monotonic clock: a clock that is set cannot end a wait. */
#include "handoff/wait.h"

#include <stdarg.h>

#include "agent/conversations.h"
#include "agent/service.h"
#include "base/clock.h"
#include "chat/connections.h"
#include "chat/home_channels.h"
#include "handoff/copy.h"
#include "handoff/hermes.h"
#include "handoff/routing.h"
#include "handoff/wake.h"
#include "platforms/config.h"

enum { CLAIM_MS = 60000, DONE_MS = 900000, BEAT_MS = 30000, LOOK_MS = 2000 };

#define NO_GATEWAY "no gateway is running: 'talaria up' starts one"

/* -- asking -- */

static bool unknown(Arena *a, Str platform, Err *err)
{
    Str names = STR("");

    for (size_t i = 0; shapes_each(i); i++)
        names = str_printf(a, "%.*s%s%s", STR_FMT(names), i ? ", " : "", shapes_each(i)->name);
    return err_set(err, ERR_USAGE, "unknown platform '%.*s'; choose one of %.*s", STR_FMT(platform),
                   STR_FMT(names));
}

/* What is known of a platform: whether we are set up for it, by this process's settings or by those
 * of the gateway that is running, and how its line is. */
typedef struct Route {
    const PlatformConfig *config; /* NULL: not a platform of ours */
    bool running, served;
    Str link, error;
} Route;

static bool find_route(OwnStore *own, Arena *a, const HandoffAsk *ask, Route *ret, Err *err)
{
    GatewayConfig *config = ARENA_NEW(a, GatewayConfig);
    ConnectionStatus *links;
    size_t n;

    if (!gateway_config(a, ask->settings, ask->homes, config, err) ||
        !connections_list(own, a, &links, &n, err))
        return false;
    *ret = (Route){ .config = gateway_config_of(config, ask->request.platform),
                    .running = gateway_is_running(ask->homes->data) };
    ret->served = ret->config && ret->config->enabled;
    for (size_t i = 0; ret->running && i < n; i++)
        if (str_eq(links[i].platform, ask->request.platform) && links[i].link.n) {
            ret->served = true;
            ret->link = links[i].link;
            ret->error = links[i].error;
        }
    return true;
}

/* A gateway of Hermes sees the sessions of its own home alone, and has settings of its own. */
static bool hermes_may(const HandoffAsk *ask)
{
    return !str_eq(ask->request.home, ask->homes->data) &&
           handoff_hermes_serves(ask->request.platform);
}

static bool check_served(const HandoffAsk *ask, const Route *route, Err *err)
{
    Str platform = ask->request.platform;

    if (!route->running && !ask->detach)
        return err_set(err, ERR_REFUSED, NO_GATEWAY);
    if (str_eqz(route->link, "refused"))
        return err_set(err, ERR_REFUSED, "%.*s rejects the gateway: %.*s", STR_FMT(platform),
                       STR_FMT(route->error));
    return true;
}

/* Where the gateway alone is set up for it, only the gateway knows whether there is one in its
 * settings. */
static bool check_home(OwnStore *own, Arena *a, const HandoffAsk *ask, const Route *route, Err *err)
{
    const PlatformConfig *c = route->config;
    HomeChannel home;

    if (ask->request.target.n || (c && (!c->enabled || c->home_channel.n)) ||
        home_get(own, a, ask->request.platform, STR(""), &home, err))
        return true;
    if (err->kind == ERR_NOT_FOUND)
        err->kind = ERR_REFUSED;
    return false;
}

/* No gateway of ours has it: one of Hermes may take a copy. Where there is none either, and ours is
 * only not running, that is what is said. */
static bool check_lent(HandoffAsk *ask, const Route *route, bool *ret_lent, Err *err)
{
    Err why;

    *ret_lent = false;
    if (route->served && route->running)
        return true;
    if (handoff_hermes_serves(ask->request.platform) &&
        lend_home(ask, &ask->request.copy_home, &why))
        *ret_lent = true;
    else if (!route->served && handoff_hermes_serves(ask->request.platform)) {
        *err = why;
        return false;
    }
    return *ret_lent || route->served ||
           err_set(err, ERR_REFUSED,
                   "%.*s is not set up here; run 'talaria setup' ('talaria gateway status' shows "
                   "what is missing)",
                   STR_FMT(ask->request.platform));
}

/* A session of a Hermes home, and no gateway of ours that serves the platform: one of Hermes has to
 * be there. */
static bool check_hermes(OwnStore *own, Arena *a, HandoffAsk *ask, const Route *route, Err *err)
{
    if (hermes_gateway_runs(ask->request.home))
        return lend_may_ask(ask, ask->request.home, err);
    if (ask->detach)
        return true;
    if (route->served)
        return check_served(ask, route, err) && check_home(own, a, ask, route, err);
    return err_set(err, ERR_REFUSED,
                   "no running gateway serves %.*s: start Hermes' gateway, or set it up here with "
                   "'talaria setup'; --wait queues the handoff until one is there",
                   STR_FMT(ask->request.platform));
}

/* Hermes' own gateway keeps its routing elsewhere in older versions; ours needs the table. */
static bool check_table(const HandoffAsk *ask, Err *err)
{
    return !ask->request.home.n || str_eq(ask->request.home, ask->homes->data) ||
           hermes_gateway_runs(ask->request.home) || routing_has_table(ask->request.home, err);
}

static bool check_route(OwnStore *own, Arena *a, HandoffAsk *ask, Err *err)
{
    bool lent;
    Route route;

    if (!shape_named(ask->request.platform) && !handoff_hermes_serves(ask->request.platform))
        return unknown(a, ask->request.platform, err);
    if (!find_route(own, a, ask, &route, err))
        return false;
    if (!check_table(ask, err))
        return false;
    if (!(route.served && route.running)) {
        Err none;

        if (ask->queue) {
            if (!hermes_may(ask) && !check_lent(ask, &route, &lent, &none))
                ask->request.copy_home = STR_NONE;
            return true;
        }
        if (hermes_may(ask))
            return check_hermes(own, a, ask, &route, err);
    }
    if (!check_lent(ask, &route, &lent, err))
        return false;
    return lent || (check_served(ask, &route, err) && check_home(own, a, ask, &route, err));
}

bool handoff_idle(const Homes *homes, Str home, Str session_id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Runs) *runs = NULL;
    Conversation c;
    Err none;

    if (!str_eq(home, homes->data))
        return true;
    runs = runs_open(homes->data, err);
    if (!runs)
        return false;
    if (!conversation_get(runs, a, session_id, &c, &none) || !c.running.n)
        return true;
    /* Its process may be dead, and nobody there to say so. */
    if (!service_close_dead(homes->data, err))
        return false;
    if (!conversation_get(runs, a, session_id, &c, &none) || !c.running.n)
        return true;
    return err_set(err, ERR_BUSY,
                   "the agent is still answering in '%.*s'; wait for the answer and try again",
                   STR_FMT(session_id));
}

/* What was said to a copy is not here: from there it goes nowhere but back. */
static bool check_not_lent(OwnStore *own, Arena *a, const HandoffRequest *request, Err *err)
{
    bool lent;
    Handoff h;

    if (!copy_find(own, a, request->home, request->session_id, &h, &lent, err))
        return false;
    return !lent || !handoff_is_over(h.state) ||
           err_set(err, ERR_CONFLICT,
                   "session '%.*s' is in a %.*s chat of Hermes; run 'talaria handoff back "
                   "--session %.*s' first",
                   STR_FMT(request->session_id), STR_FMT(h.platform), STR_FMT(request->session_id));
}

/* A second handoff to the same platform would open a second topic and leave the first one dead. A
 * copy that is lent to Hermes is away as soon as it is asked for; check_not_lent knows better when
 * it has arrived. */
static bool check_not_there(OwnStore *own, Arena *a, const HandoffRequest *request, Err *err)
{
    SessionOwner owner;

    if (request->target.n || request->copy_home.n)
        return true;
    if (!owner_get(own, a, request->home, request->session_id, &owner, err))
        return false;
    return !str_eq(owner.surface, request->platform) ||
           err_set(err, ERR_CONFLICT,
                   "session '%.*s' is already in the %.*s chat; continue it there, or 'talaria "
                   "handoff back --session %.*s' brings it back",
                   STR_FMT(request->session_id), STR_FMT(request->platform),
                   STR_FMT(request->session_id));
}

/* A copy whose terminal died on the way is gone on with (hermes.h). For a session of Hermes nothing
 * is made before the request itself, which knows. */
static bool check_not_moving(OwnStore *own, Arena *a, const HandoffRequest *request, Err *err)
{
    Handoff *last;
    size_t n;

    if (request->copy_home.n || !str_eq(request->home, own_store_data(own)))
        return true;
    if (!handoff_list(own, a, request->home, request->session_id, 1, &last, &n, err) ||
        (n && !handoff_is_over(last->state) && !handoff_look(own, a, last->id, last, err)))
        return false;
    return !n || handoff_is_over(last->state) || handoff_moves_already(request->session_id, err);
}

static bool check_session(OwnStore *own, Arena *a, const HandoffRequest *request, Err *err)
{
    return check_not_lent(own, a, request, err) && check_not_there(own, a, request, err);
}

bool handoff_may_go(OwnStore *own, HandoffAsk *ask, Err *err)
{
    AUTO(Arena) *a = arena_new();
    const HandoffRequest *request = &ask->request;

    return check_route(own, a, ask, err) &&
           (!request->session_id.n ||
            (handoff_idle(ask->homes, request->home, request->session_id, err) &&
             check_session(own, a, request, err) && check_not_moving(own, a, request, err)));
}

/* The session is looked at again: to make a conversation of a long transcript takes its time. */
bool handoff_ask(OwnStore *own, Arena *a, const HandoffAsk *ask, Handoff *ret, Err *err)
{
    if (!check_session(own, a, &ask->request, err) ||
        !(ask->request.copy_home.n ? lend_session(own, a, ask, ret, err)
                                   : handoff_request(own, a, &ask->request, ret, err)))
        return false;
    wake_call(ask->homes->data);
    return true;
}

/* -- waiting -- */

typedef struct Wait {
    const HandoffWaiter *w;
    OwnStore *journal;
    Str id;
    int64_t claim_ms, done_ms, beat_ms;
    int64_t began, claimed, told; /* claimed 0: not yet */
    bool asked, late;             /* to leave it: by the user; because nobody took it */
} Wait;

static void note(const Wait *t, const char *fmt, ...) PRINTF(2, 3);
static void note(const Wait *t, const char *fmt, ...)
{
    char text[sizeof((Err){ 0 }.text)];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    t->w->note(t->w->ctx, text);
}

static void picked_up(Wait *t, int64_t now)
{
    t->claimed = t->told = now;
    note(t, "picked up by the gateway");
}

static void tell(Wait *t, const Handoff *h, int64_t now)
{
    if (!t->claimed && h->state > HANDOFF_QUEUED && h->state <= HANDOFF_DONE)
        picked_up(t, now);
    if (handoff_is_over(h->state) || now - t->told < t->beat_ms)
        return;
    t->told = now;
    note(t, "%s after %lld s: %.*s%s%.*s", t->claimed ? "in progress" : "still waiting",
         (long long)(now - t->began) / 1000, STR_FMT(h->step), h->error_text.n ? ", " : "",
         STR_FMT(h->error_text));
}

/* Whoever waited past all patience: somebody may have been faster, then it is in good hands. */
static void nobody_came(Wait *t, int64_t now)
{
    bool over = false;
    Err why;

    if (handoff_cancel(t->journal, t->id, &over, &why) && over)
        t->late = true;
    else
        picked_up(t, now);
}

/* At once where nobody has it, else by asking. What it comes to is seen in the row. */
static void cancel(Wait *t)
{
    bool over;
    Err why;

    t->asked = true;
    if (!handoff_cancel(t->journal, t->id, &over, &why))
        note(t, "cannot cancel: %s", why.text);
    else if (!over)
        note(t, "asked the gateway to cancel");
    wake_call(t->w->homes->data);
}

static bool too_long(const Wait *t, Err *err)
{
    bool over;
    Err why;

    if (handoff_cancel(t->journal, t->id, &over, &why))
        return err_set(err, ERR_BUSY,
                       "not done after %lld minutes; asked the gateway to cancel it; 'talaria "
                       "handoff status' shows the outcome",
                       (long long)t->done_ms / 60000);
    return err_set(err, ERR_BUSY, "not done after %lld minutes: %s", (long long)t->done_ms / 60000,
                   why.text);
}

/* *ret_again: something was done, so the row is another one. False: nothing to wait for. */
static bool decide(Wait *t, int64_t now, bool *ret_again, Err *err)
{
    WaitWord word = t->w->word(t->w->ctx);

    *ret_again = true;
    if (word == WAIT_LEAVE || (word == WAIT_CANCEL && t->asked))
        return err_set(err, ERR_INTERRUPTED,
                       "stopped waiting; 'talaria handoff status' shows the outcome");
    if (t->claimed && now - t->claimed >= t->done_ms)
        return too_long(t, err);
    if (word == WAIT_CANCEL)
        cancel(t);
    else if (!t->claimed && now - t->began >= t->claim_ms)
        nobody_came(t, now);
    else
        *ret_again = false;
    return true;
}

static int64_t soonest(const Wait *t, int64_t now)
{
    int64_t end = t->claimed ? t->claimed + t->done_ms : t->began + t->claim_ms;
    int64_t at = now + LOOK_MS;

    at = end < at ? end : at;
    at = t->told + t->beat_ms < at ? t->told + t->beat_ms : at;
    return at > now ? at - now : 1;
}

static bool until_over(Wait *t, Wake *wake, Err *err)
{
    AUTO(Arena) *a = arena_new();

    for (;; arena_reset(a)) {
        int64_t now = clock_mono_ms();
        bool again, word;
        Handoff h;

        if (!handoff_look(t->journal, a, t->id, &h, err))
            return false;
        tell(t, &h, now);
        if (handoff_is_over(h.state))
            return true;
        if (!decide(t, now, &again, err) ||
            (!again && !wake_wait(wake, soonest(t, now), t->w->wake_fd, &word, err)))
            return false;
    }
}

static bool judge(const Wait *t, const Handoff *h, Err *err)
{
    if (h->state == HANDOFF_DONE)
        return true;
    if (t->late)
        return err_set(
            err, ERR_REFUSED,
            "no gateway accepted the handoff within %lld seconds: %s; the session stays here",
            (long long)t->claim_ms / 1000,
            h->copy_id.n ? "the Hermes gateway did not respond"
            : gateway_is_running(t->w->homes->data)
                ? "the running gateway is not connected to the platform"
                : NO_GATEWAY);
    if (h->state == HANDOFF_CANCELLED)
        return err_set(err, ERR_INTERRUPTED, "cancelled; the session stays here");
    if (str_eqz(h->error_code, HANDOFF_LATE))
        return err_set(err, ERR_REFUSED,
                       "the handoff failed: %.*s; but the %.*s chat continues the session already; "
                       "'talaria handoff back --session %.*s' brings it back",
                       STR_FMT(h->error_text), STR_FMT(h->platform), STR_FMT(h->session_id));
    return err_set(err, ERR_REFUSED, "the handoff failed: %.*s; the session stays here%s%.*s%s",
                   STR_FMT(h->error_text),
                   str_eqz(h->error_code, HANDOFF_COPY_STAYS) ? ", and Hermes' " : "",
                   STR_FMT(str_eqz(h->error_code, HANDOFF_COPY_STAYS) ? h->platform : STR("")),
                   str_eqz(h->error_code, HANDOFF_COPY_STAYS) ? " chat continues a copy" : "");
}

bool handoff_wait(const HandoffWaiter *w, OwnStore *own, Arena *a, Handoff *h, Err *err)
{
    AUTO(Wake) *wake = wake_watch(w->homes);
    Wait t = { .w = w,
               .journal = own,
               .id = str_dup(a, h->id),
               .claim_ms = w->claim_ms ? w->claim_ms : CLAIM_MS,
               .done_ms = w->done_ms ? w->done_ms : DONE_MS,
               .beat_ms = w->beat_ms ? w->beat_ms : BEAT_MS,
               .began = clock_mono_ms() };

    t.told = t.began;
    return until_over(&t, wake, err) && handoff_get(own, a, t.id, h, err) && judge(&t, h, err);
}

/* -- owners -- */

bool handoff_is_here(OwnStore *own, Str home, Str session_id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    SessionOwner owner;

    if (!owner_get(own, a, home, session_id, &owner, err))
        return false;
    if (!owner.surface.n || str_eqz(owner.surface, "cli"))
        return true;
    return err_set(err, ERR_CONFLICT,
                   "session '%.*s' continues in the %.*s chat; run 'talaria handoff back --session "
                   "%.*s' to bring it back",
                   STR_FMT(session_id), STR_FMT(owner.surface), STR_FMT(session_id));
}

/* One that no gateway has taken yet is withdrawn; where one has, its answer is waited for. */
static bool back_from_copy(const Homes *homes, OwnStore *own, Arena *a, Str id, Err *err)
{
    bool over;
    Handoff h;

    if (!handoff_look(own, a, id, &h, err))
        return false;
    if (h.state == HANDOFF_DONE)
        return lend_back(homes, own, &h, err);
    if (handoff_is_over(h.state) || handoff_cancel(own, id, &over, err))
        return true;
    if (err->kind == ERR_CONFLICT)
        (void)err_set(err, ERR_BUSY,
                      "a Hermes gateway is receiving session '%.*s'; try again when it is done",
                      STR_FMT(h.session_id));
    return false;
}

bool handoff_bring_back(const Homes *homes, OwnStore *own, Str home, Str session_id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    bool lent;
    Handoff h;

    if (!copy_find(own, a, home, session_id, &h, &lent, err))
        return false;
    if (lent)
        return back_from_copy(homes, own, a, h.id, err);
    /* A turn that is under way belongs to where it was asked for, unless its process is dead. */
    return routing_release(own, home, session_id, err) ||
           (err->kind == ERR_BUSY && service_close_dead(homes->data, err) &&
            handoff_idle(homes, home, session_id, err) &&
            routing_release(own, home, session_id, err));
}

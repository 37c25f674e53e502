/* Handoffs on the page: the journal, what waits, what failed, and the platforms they go to. The
 * same checks as `talaria handoff` (handoff/wait.h). */
#include "base/clock.h"
#include "base/limits.h"
#include "chat/connections.h"
#include "chat/home_channels.h"
#include "chat/inbox.h"
#include "chat/outbox.h"
#include "handoff/board.h"
#include "handoff/pick.h"
#include "handoff/routing.h"
#include "handoff/wait.h"
#include "handoff/wake.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "platforms/config.h"
#include "platforms/platform.h"

enum { USUAL_PAGE = 50 };

OwnStore *request_own_store(Request *rq, Err *err)
{
    const Homes *homes;

    return request_homes(rq, &homes, err) ? own_store_open(homes->data, err) : NULL;
}

static bool read_limit(Request *rq, int64_t *ret, Err *err)
{
    return query_number(rq->arena, rq->query, "limit", 1, LIMIT_HTTP_PAGE, USUAL_PAGE, ret, err);
}

static void put_text(JsonWriter *w, const char *key, Str s)
{
    json_field_str(w, key, s.n ? s : STR_NONE);
}

/* -- the journal -- */

/* Also of a session that is gone: the journal outlives it. */
static bool put_handoff(Request *rq, JsonWriter *w, OwnStore *own, const Handoff *h, Err *err)
{
    SessionOwner owner;
    Lineage session;
    BoardStep *steps;
    Store *store;
    size_t n;
    Err none;

    if (!request_store(rq, &store, err) ||
        !owner_get(own, rq->arena, h->home, h->session_id, &owner, err) ||
        !board_steps(own, rq->arena, h->id, &steps, &n, err))
        return false;
    json_begin(w, '{');
    handoff_put(w, h);
    json_field_bool(w, "cancelling", h->cancel && !handoff_is_over(h->state));
    put_text(w, "error_code", h->error_code);
    json_field_str(w, "title",
                   store_find(store, rq->arena, h->session_id, &session, &none) ? session.title
                                                                                : STR_NONE);
    json_field_bool(w, "ours", str_eq(h->home, own_store_data(own)));
    put_text(w, "owner", owner.surface);
    json_field_begin(w, "steps", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(w, '{');
        json_field_str(w, "state", steps[i].state);
        json_field_int(w, "at_ms", steps[i].at_ms);
        json_end(w, '}');
    }
    json_end(w, ']');
    json_end(w, '}');
    return true;
}

/* Of which session; empty: of all. */
typedef struct JournalOf {
    Str home, session_id;
} JournalOf;

static bool find_session(Request *rq, Str id, bool look, Pick *ret_pick, Picked *ret, Err *err)
{
    *ret_pick = (Pick){ .where = { .settings = rq->server->settings },
                        .files = !rq->server->options.where.home,
                        .look = look };
    return request_homes(rq, &ret_pick->where.homes, err) &&
           request_store(rq, &ret_pick->store, err) &&
           handoff_pick(ret_pick, rq->arena, id, ret, err);
}

/* By the id of any part; one that is gone, or has nothing in it yet, by its own. */
static bool read_session(Request *rq, JournalOf *ret, Err *err)
{
    Picked picked;
    Pick pick;

    *ret = (JournalOf){ STR(""), STR("") };
    if (!query_text(rq->arena, rq->query, "session", &ret->session_id, err))
        return false;
    if (!ret->session_id.n || !find_session(rq, ret->session_id, true, &pick, &picked, err))
        return !ret->session_id.n || err->kind == ERR_NOT_FOUND;
    *ret = (JournalOf){ picked.home, picked.session.tip.id };
    return true;
}

/* {format, gateway, handoffs: [...]} */
bool route_handoffs(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = request_own_store(rq, err);
    JournalOf of;
    Handoff *all;
    int64_t max;
    JsonWriter w;
    size_t n;

    if (!own || !read_limit(rq, &max, err) || !read_session(rq, &of, err) ||
        !handoff_list(own, rq->arena, of.home, of.session_id, (size_t)max, &all, &n, err))
        return false;
    w = reply_json(rq);
    json_field_bool(&w, "gateway", gateway_is_running(own_store_data(own)));
    json_field_begin(&w, "handoffs", '[');
    for (size_t i = 0; i < n; i++)
        /* Where Hermes' gateway may have it, the session's row says how far it is. */
        if ((all[i].mirrored && !handoff_is_over(all[i].state) &&
             !handoff_look(own, rq->arena, all[i].id, &all[i], err)) ||
            !put_handoff(rq, &w, own, &all[i], err))
            return false;
    json_end(&w, ']');
    return reply_end(&w);
}

static bool reply_handoff(Request *rq, OwnStore *own, const Handoff *h, int status, Err *err)
{
    JsonWriter w = reply_json(rq);

    rq->reply.status = status;
    json_key(&w, "handoff");
    if (!put_handoff(rq, &w, own, h, err))
        return false;
    return reply_end(&w);
}

/* -- asking -- */

/* What a chat is called is each platform's own affair; none has blanks in it, or is long. */
static bool check_target(Str target, Err *err)
{
    if (target.n > LIMIT_CHAT_ID)
        return err_set(err, ERR_INVALID, "'target' is longer than %d bytes", LIMIT_CHAT_ID);
    for (size_t i = 0; i < target.n; i++)
        if ((unsigned char)target.p[i] <= ' ' || target.p[i] == 0x7f)
            return err_set(err, ERR_INVALID, "'target' must be the id of a chat, without blanks");
    return true;
}

bool route_handoff_ask(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    AUTO(OwnStore) *own = doc ? request_own_store(rq, err) : NULL;
    Str id = STR("");
    Picked picked;
    Pick pick;
    HandoffAsk ask = { .settings = rq->server->settings };
    Handoff h;

    if (!own || !field_str(json_root(doc), "session_id", &id, err) ||
        !field_str(json_root(doc), "platform", &ask.request.platform, err) ||
        !field_str(json_root(doc), "target", &ask.request.target, err) ||
        !field_bool(json_root(doc), "no_turn", &ask.request.no_turn, err))
        return false;
    if (!id.n || !ask.request.platform.n)
        return err_set(err, ERR_INVALID, "'session_id' and 'platform' must be given");
    if (!check_target(ask.request.target, err))
        return false;
    if (!request_homes(rq, &ask.homes, err) || !find_session(rq, id, false, &pick, &picked, err))
        return false;
    ask.request.home = picked.home;
    ask.request.session_id = picked.session.tip.id;
    if (!handoff_may_go(own, &ask, err) || !handoff_pick_begin(&pick, rq->arena, &picked, err))
        return false;
    ask.request.session_id = picked.session.tip.id;
    return handoff_ask(own, rq->arena, &ask, &h, err) && reply_handoff(rq, own, &h, 202, err);
}

bool route_handoff_retry(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = request_own_store(rq, err);
    HandoffAsk ask = { .settings = rq->server->settings };
    Handoff h;

    if (!own || !request_homes(rq, &ask.homes, err) ||
        !handoff_get(own, rq->arena, rq->params[0], &h, err))
        return false;
    if (h.state != HANDOFF_FAILED && h.state != HANDOFF_CANCELLED)
        return err_set(err, ERR_CONFLICT, "handoff '%.*s' has not failed", STR_FMT(h.id));
    ask.request = (HandoffRequest){ .home = h.home,
                                    .session_id = h.session_id,
                                    .platform = h.platform,
                                    .target = str_eqz(h.target, "home") ? STR("") : h.target,
                                    .no_turn = h.no_turn };
    return handoff_may_go(own, &ask, err) && handoff_ask(own, rq->arena, &ask, &h, err) &&
           reply_handoff(rq, own, &h, 202, err);
}

/* 202 where its worker was asked to leave it. */
bool route_handoff_cancel(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = request_own_store(rq, err);
    bool over;
    Handoff h;

    if (!own || !handoff_cancel(own, rq->params[0], &over, err) ||
        !handoff_get(own, rq->arena, rq->params[0], &h, err))
        return false;
    wake_call(own_store_data(own));
    return reply_handoff(rq, own, &h, over ? 200 : 202, err);
}

bool route_session_back(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = request_own_store(rq, err);
    const Homes *homes;
    SessionOwner owner;
    Picked picked;
    JsonWriter w;
    Pick pick;
    Str id;

    if (!own || !request_homes(rq, &homes, err) ||
        !find_session(rq, rq->params[0], true, &pick, &picked, err))
        return false;
    id = picked.session.tip.id;
    if (!handoff_idle(homes, picked.home, id, err) ||
        !owner_get(own, rq->arena, picked.home, id, &owner, err))
        return false;
    if (!owner.surface.n || str_eqz(owner.surface, "cli"))
        return err_set(err, ERR_CONFLICT, "session '%.*s' is already here", STR_FMT(id));
    if (!handoff_bring_back(homes, own, picked.home, id, err))
        return false;
    wake_call(own_store_data(own));
    w = reply_json(rq);
    json_field_str(&w, "session_id", id);
    json_field_str(&w, "from", owner.surface);
    return reply_end(&w);
}

/* -- platforms -- */

/* What is configured, else what was found by /sethome. */
static bool put_home(JsonWriter *w, OwnStore *own, Arena *a, Str platform, Str configured, Err *err)
{
    HomeChannel home;

    json_key(w, "home");
    if (!home_get(own, a, platform, configured, &home, err)) {
        if (err->kind != ERR_NOT_FOUND)
            return false;
        home = (HomeChannel){ .chat_id = configured, .name = configured };
    }
    if (!home.chat_id.n) {
        json_put_null(w);
        return true;
    }
    json_begin(w, '{');
    json_field_str(w, "chat_id", home.chat_id);
    json_field_str(w, "name", home.name);
    put_text(w, "chat_type", home.chat_type);
    put_text(w, "thread_id", home.thread_id);
    json_end(w, '}');
    return true;
}

/* What a gateway last said about its connection is true only while it runs. */
static bool put_platform(JsonWriter *w, OwnStore *own, Arena *a, const GatewayConfig *config,
                         const ConnectionStatus *l, Str name, bool running, Err *err)
{
    const PlatformConfig *c = gateway_config_of(config, name);
    int64_t now = clock_wall_ms();
    BoardQueue q;

    if (!board_queue(own, name, &q, err))
        return false;
    json_begin(w, '{');
    json_field_str(w, "name", name);
    json_field_bool(w, "enabled", c->enabled);
    put_text(w, "missing", c->enabled ? STR("") : gateway_config_trouble(config, name));
    put_text(w, "link", running ? l->link : STR_NONE);
    put_text(w, "account", l->account);
    json_field_int(w, "since_ms", l->since_ms);
    json_field_int(w, "heard_ms", l->heard_ms);
    put_text(w, "error", l->error);
    json_field_int(w, "error_ms", l->error_ms);
    json_field_int(w, "lag_ms", q.oldest_ms && q.oldest_ms < now ? now - q.oldest_ms : 0);
    json_field_int(w, "inbox", q.inbox);
    json_field_int(w, "outbox", q.outbox);
    if (!put_home(w, own, a, name, c->home_channel, err))
        return false;
    json_end(w, '}');
    return true;
}

/* {format, gateway, trouble, platforms: [...]} */
bool route_platforms(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = request_own_store(rq, err);
    GatewayConfig config;
    const Homes *homes;
    bool running;
    JsonWriter w;
    ConnectionStatus *links;
    size_t n;
    Err why;

    if (!own || !request_homes(rq, &homes, err) ||
        !connections_list(own, rq->arena, &links, &n, err))
        return false;
    running = gateway_is_running(homes->data);
    w = reply_json(rq);
    json_field_bool(&w, "gateway", running);
    /* Without a readable configuration only the local platform is enabled. */
    if (gateway_config(rq->arena, rq->server->settings, homes, &config, &why)) {
        json_field_null(&w, "trouble");
    } else {
        config = (GatewayConfig){ .platforms[GATEWAY_LOCAL] = { .enabled = true } };
        json_field_str(&w, "trouble", str_of(why.text));
    }
    json_field_begin(&w, "platforms", '[');
    for (GatewayPlatform p = 0; p < GATEWAY_PLATFORM_COUNT; p++) {
        Str name = str_of(gateway_platform_name(p));
        ConnectionStatus status = { 0 };

        for (size_t i = 0; i < n; i++)
            if (str_eq(links[i].platform, name))
                status = links[i];
        if (!put_platform(&w, own, rq->arena, &config, &status, name, running, err))
            return false;
    }
    json_end(&w, ']');
    return reply_end(&w);
}

/* -- what did not arrive -- */

/* {format, letters: [...]} */
bool route_outbox_dead(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = request_own_store(rq, err);
    Outgoing *all;
    int64_t max;
    JsonWriter w;
    size_t n;

    if (!own || !read_limit(rq, &max, err) ||
        !outbox_dead(own, rq->arena, (size_t)max, &all, &n, err))
        return false;
    w = reply_json(rq);
    json_field_begin(&w, "letters", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "id", all[i].id);
        json_field_str(&w, "platform", all[i].platform);
        json_field_str(&w, "text", all[i].text);
        put_text(&w, "error", all[i].error);
        json_field_int(&w, "attempt", all[i].attempt);
        json_field_int(&w, "created_ms", all[i].created_ms);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    return reply_end(&w);
}

static bool reply_ok(Request *rq, OwnStore *own)
{
    JsonWriter w = reply_json(rq);

    wake_call(own_store_data(own));
    json_field_bool(&w, "ok", true);
    return reply_end(&w);
}

bool route_outbox_retry(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = request_own_store(rq, err);

    return own && outbox_retry(own, rq->params[0], err) && reply_ok(rq, own);
}

/* The text of an update, in whatever form its platform sent it; empty: it cannot be read. */
static Str text_of(Arena *a, const InboxRow *row)
{
    const Shape *shape = shape_named(row->platform);
    const Identity nobody = { 0 };
    Inbound in;
    bool is;
    Err none;

    return shape && shape->parse(a, row->json, &nobody, &in, &is, &none) && is ? in.text : STR("");
}

/* {format, messages: [...]} */
bool route_inbox_parked(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = request_own_store(rq, err);
    InboxRow *all;
    int64_t max;
    JsonWriter w;
    size_t n;

    if (!own || !read_limit(rq, &max, err) ||
        !inbox_list(own, rq->arena, INBOX_PARKED, (size_t)max, &all, &n, err))
        return false;
    w = reply_json(rq);
    json_field_begin(&w, "messages", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        json_field_int(&w, "seq", all[i].seq);
        json_field_str(&w, "platform", all[i].platform);
        json_field_str(&w, "text", text_of(rq->arena, &all[i]));
        put_text(&w, "reason", all[i].reason);
        json_field_int(&w, "attempt", all[i].attempt);
        json_field_int(&w, "received_ms", all[i].received_ms);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    return reply_end(&w);
}

bool route_inbox_retry(Request *rq, Err *err)
{
    AUTO(OwnStore) *own = NULL;
    int64_t seq;

    if (!str_to_int(rq->params[0], 1, INT64_MAX, &seq))
        return err_set(err, ERR_NOT_FOUND, "no message '%.*s'", STR_FMT(rq->params[0]));
    own = request_own_store(rq, err);
    return own && inbox_retry(own, seq, err) && reply_ok(rq, own);
}

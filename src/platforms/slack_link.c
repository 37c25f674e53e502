/* The connection to Slack. One thread asks who we are and then keeps a WebSocket of Socket Mode open; without an
 * app's token there is none, and events come over HTTP (http/api_slack.c). What comes over the socket is on our
 * disk before it is acknowledged. Slack closes each socket every few hours and says so: the next one is opened
 * before that one is dropped, so that nothing falls between. No trouble ends the thread but a token that is not
 * accepted: all else is waited out, longer each time, with a little chance in it. */
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "platforms/slack_inside.h"

#define PUBLIC_API "https://slack.com/api"

enum {
    HELLO_MS = 20000, /* from the ticket to Slack's greeting */
    SILENT_S = 10,    /* then it is asked for a sign of life */
    FIRST_WAIT_MS = 500,
    MOST_WAIT_MS = 60000
};

static int64_t wall_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

/* -- health ------------------------------------------------------------------------------------------------ */

void slack_heard(Connection *c)
{
    pthread_mutex_lock(&c->lock);
    c->heard_ms = wall_ms();
    pthread_mutex_unlock(&c->lock);
}

void slack_come_to(Connection *c, LinkState state, const char *why)
{
    bool news;

    pthread_mutex_lock(&c->lock);
    news = c->state != state && !c->closing && c->state != LINK_REFUSED;
    if (news) {
        c->state = state;
        c->since_ms = wall_ms();
        pthread_cond_broadcast(&c->changed);
    }
    if (why && !c->closing) {
        snprintf(c->error, sizeof c->error, "%s", why);
        c->error_ms = wall_ms();
    }
    pthread_mutex_unlock(&c->lock);
    if (news && why)
        log_warning("slack: %s", why);
}

static void slack_health(Connection *c, Arena *a, Health *ret)
{
    pthread_mutex_lock(&c->lock);
    *ret = (Health){ .state = c->state,
                     .since_ms = c->since_ms,
                     .heard_ms = c->heard_ms,
                     .error = str_dup(a, str_of(c->error)),
                     .error_ms = c->error_ms };
    pthread_mutex_unlock(&c->lock);
}

static bool slack_identity(Connection *c, Arena *a, Identity *ret)
{
    bool known;

    pthread_mutex_lock(&c->lock);
    known = c->id[0] != '\0';
    if (known)
        *ret = (Identity){ .id = str_dup(a, str_of(c->id)),
                           .name = str_dup(a, str_of(c->name)),
                           .scope_id = str_dup(a, str_of(c->team)) };
    pthread_mutex_unlock(&c->lock);
    return known;
}

/* -- waiting ------------------------------------------------------------------------------------------------- */

/* Under the lock: until something has changed, or that time of the monotonic clock. */
static void wait_until(Connection *c, int64_t until)
{
    struct timespec at = { .tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000 };

    pthread_cond_timedwait(&c->changed, &c->lock, &at);
}

static bool goes_on(const Connection *c)
{
    return !c->closing && c->state != LINK_REFUSED;
}

/* False: it is being closed, or has no use any more. */
static bool rest(Connection *c, int64_t ms)
{
    int64_t until = clock_mono_ms() + ms;
    bool on;

    pthread_mutex_lock(&c->lock);
    while (goes_on(c) && clock_mono_ms() < until)
        wait_until(c, until);
    on = goes_on(c);
    pthread_mutex_unlock(&c->lock);
    return on;
}

/* Twice as long after each failure, the half of it by chance. */
static int64_t next_wait(Connection *c)
{
    int64_t wait = c->tries < 7 ? FIRST_WAIT_MS << c->tries : MOST_WAIT_MS;

    c->tries++;
    if (wait > MOST_WAIT_MS)
        wait = MOST_WAIT_MS;
    return wait / 2 + clock_mono_ns() / 1000 % (wait / 2 + 1);
}

/* False: there is no use in going on. */
static bool wait_out(Connection *c, const Reply *reply, const Err *err)
{
    if (err->kind == ERR_REFUSED) {
        slack_come_to(c, LINK_REFUSED, err->text);
        return false;
    }
    slack_come_to(c, LINK_DOWN, err->text);
    return rest(c, reply->wait_ms ? reply->wait_ms : next_wait(c));
}

/* -- one socket: on its own thread ----------------------------------------------------------------------------- */

static void acknowledge(Socket *s, Arena *a, Str envelope)
{
    AUTO_BUF out = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);
    Err err;

    (void)a;
    json_begin(&w, '{');
    json_field_str(&w, "envelope_id", envelope);
    json_end(&w, '}');
    if (!ws_send(s->ws, buf_str(&out), &err))
        log_debug("slack: not acknowledged: %s", err.text);
}

/* False: it is not on the disk, so Slack is to send it again. */
static bool keep(Connection *c, Arena *a, Str frame)
{
    Identity me = { 0 };
    Update update = { .json = frame };
    bool wanted;
    Err err;

    (void)slack_identity(c, a, &me);
    if (!slack_name(a, frame, &me, &update.id, &wanted, &err) || !wanted)
        return true;
    if (c->host.receive(c->host.ctx, &update, 1, STR_NONE, &err))
        return true;
    err_put_before(&err, "cannot keep what slack sent");
    log_warning("slack: %s", err.text);
    return false;
}

static void set_flag(Socket *s, bool *flag)
{
    pthread_mutex_lock(&s->c->lock);
    *flag = true;
    s->c->heard_ms = wall_ms();
    pthread_cond_broadcast(&s->c->changed);
    pthread_mutex_unlock(&s->c->lock);
}

static void on_text(void *ctx, Str frame)
{
    Socket *s = ctx;
    AUTO(Arena) *a = arena_new();
    Str type, envelope;
    PyValue v;

    slack_heard(s->c);
    if (!pyjson_read(a, frame, &v) || v.type != PY_DICT) {
        log_debug("slack: a frame of %zu bytes is no object", frame.n);
        return;
    }
    type = update_text(&v, "type");
    envelope = update_text(&v, "envelope_id");
    if (str_eqz(type, "hello"))
        set_flag(s, &s->greeted);
    else if (str_eqz(type, "disconnect"))
        set_flag(s, &s->leaving);
    else if (envelope.n && keep(s->c, a, frame))
        acknowledge(s, a, envelope);
}

static void on_closed(void *ctx, int code, Str why)
{
    Socket *s = ctx;

    pthread_mutex_lock(&s->c->lock);
    snprintf(s->why, sizeof s->why, "slack's socket closed: %.*s (%d)", STR_FMT(str_head(why, 80)),
             code);
    s->closed = true;
    pthread_cond_broadcast(&s->c->changed);
    pthread_mutex_unlock(&s->c->lock);
}

/* -- sockets: on the listening thread ----------------------------------------------------------------------------- */

static Socket *drop_socket(Socket *s)
{
    if (!s)
        return NULL;
    ws_close(s->ws, WS_NORMAL);
    pthread_mutex_lock(&s->c->lock);
    for (int64_t until = clock_mono_ms() + 500; !s->closed && clock_mono_ms() < until;)
        wait_until(s->c, until);
    pthread_mutex_unlock(&s->c->lock);
    ws_free(s->ws);
    return mem_free(s);
}

/* ws is set before the first callback can use it: under the lock that they all take first. */
static Socket *dial(Connection *c, const char *url, Err *err)
{
    static const WsHandlers handlers = { on_text, on_closed };
    WsOptions options = { .silent_s = SILENT_S };
    Socket *s = mem_alloc(sizeof *s);

    s->c = c;
    pthread_mutex_lock(&c->lock);
    s->ws = ws_open(url, &options, &handlers, s, err);
    pthread_mutex_unlock(&c->lock);
    return s->ws ? s : mem_free(s);
}

static bool wait_for_hello(Connection *c, Socket *s, Err *err)
{
    int64_t until = clock_mono_ms() + HELLO_MS;
    bool greeted;

    pthread_mutex_lock(&c->lock);
    while (goes_on(c) && !s->greeted && !s->closed && clock_mono_ms() < until)
        wait_until(c, until);
    greeted = s->greeted && !s->closed;
    if (!greeted)
        err_set_to(err, ERR_IO, "%s", s->closed ? s->why : "slack's socket says nothing");
    pthread_mutex_unlock(&c->lock);
    return greeted;
}

/* A new one, greeted. */
static Socket *open_socket(Connection *c, Arena *a, Reply *reply, Err *err)
{
    Socket *s;

    if (!slack_call(c, a,
                    &(Ask){ .method = "apps.connections.open", .by_app = true, .stop = &c->stop },
                    reply, err))
        return NULL;
    s = dial(c, str_z(a, update_text(&reply->v, "url")), err);
    if (s && wait_for_hello(c, s, err))
        return s;
    return drop_socket(s);
}

/* Until it is to be left; false: it broke. */
static bool stay(Connection *c, Socket *s)
{
    bool broke;

    pthread_mutex_lock(&c->lock);
    while (goes_on(c) && !s->leaving && !s->closed)
        wait_until(c, clock_mono_ms() + MOST_WAIT_MS);
    broke = s->closed;
    pthread_mutex_unlock(&c->lock);
    return !broke;
}

/* Sockets one after the other, until there is no use in going on. */
static void keep_socket(Connection *c, Arena *a)
{
    Socket *now = NULL, *next;
    bool on = true;

    while (on) {
        Reply reply = { 0 };
        Err err;

        arena_reset(a);
        next = open_socket(c, a, &reply, &err);
        now = drop_socket(now);
        if (!next) {
            on = rest(c, 0) && wait_out(c, &reply, &err);
            continue;
        }
        now = next;
        c->tries = 0;
        slack_come_to(c, LINK_UP, NULL);
        if (!stay(c, now)) {
            slack_come_to(c, LINK_DOWN, now->why);
            on = rest(c, next_wait(c));
        }
        on = on && rest(c, 0);
    }
    drop_socket(now);
}

static bool introduce(Connection *c, Arena *a, Reply *reply, Err *err)
{
    Str id, team;

    if (!slack_call(c, a, &(Ask){ .method = "auth.test", .stop = &c->stop }, reply, err))
        return false;
    id = update_text(&reply->v, "user_id");
    team = update_text(&reply->v, "team_id");
    if (!id.n)
        return err_set(err, ERR_IO, "slack does not say who the bot is");
    pthread_mutex_lock(&c->lock);
    snprintf(c->id, sizeof c->id, "%.*s", STR_FMT(id));
    snprintf(c->name, sizeof c->name, "%.*s", STR_FMT(update_text(&reply->v, "user")));
    snprintf(c->team, sizeof c->team, "%.*s", STR_FMT(team));
    pthread_mutex_unlock(&c->lock);
    return true;
}

static void *listening(void *ctx)
{
    Connection *c = ctx;
    AUTO(Arena) *a = arena_new();
    Reply reply = { 0 };
    bool on = true;
    Err err;

    while (on && !introduce(c, a, &reply, &err))
        on = wait_out(c, &reply, &err);
    if (on && c->app_token)
        keep_socket(c, a);
    else if (on)
        slack_come_to(c, LINK_UP, NULL);
    return NULL;
}

/* -- beginning and end -------------------------------------------------------------------------------------------- */

/* It becomes part of a header. */
static bool token_is_fine(Str token)
{
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] <= ' ' || token.p[i] > '~')
            return false;
    return token.n < 1024;
}

static bool check_config(Arena *a, const PlatformConfig *config, Str *ret_base, Err *err)
{
    Str api = str_trim(config->api_base), token = str_trim(config->token);
    FetchRequest probe = { .method = "POST", .secret = true };

    if (!token.n)
        return err_set(err, ERR_INVALID, "slack needs a token: set TALARIA_SLACK_TOKEN");
    if (!token_is_fine(token) || !token_is_fine(str_trim(config->app_token)))
        return err_set(err, ERR_INVALID, "slack's token has characters that no token has");
    if (!str_trim(config->app_token).n && !config->signing_secret.n)
        return err_set(err, ERR_INVALID,
                       "slack needs a way to hear: set TALARIA_SLACK_APP_TOKEN for Socket Mode, or "
                       "TALARIA_SLACK_SIGNING_SECRET for the Events API");
    while (str_ends(api, STR("/")))
        api = str_head(api, api.n - 1);
    *ret_base = str_printf(a, "%.*s/", STR_FMT(api.n ? api : STR(PUBLIC_API)));
    probe.url = str_z(a, *ret_base);
    return fetch_check(&probe, err) || err_wrap(err, "slack's api_base");
}

static char *bearer(Str token)
{
    AUTO_BUF out = BUF(KIB(2));

    token = str_trim(token);
    if (!token.n)
        return NULL;
    buf_addf(&out, "Authorization: Bearer %.*s", STR_FMT(token));
    return mem_strdup(buf_str(&out));
}

static Connection *free_connection(Connection *c)
{
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    mem_free(c->base);
    mem_free(c->token);
    mem_free(c->app_token);
    return mem_free(c);
}

static Connection *new_connection(const PlatformHost *host, Str base)
{
    Connection *c = mem_alloc(sizeof *c);
    pthread_condattr_t monotonic;

    *c = (Connection){ .host = *host,
                       .base = mem_strdup(base),
                       .token = bearer(host->config->token),
                       .app_token = bearer(host->config->app_token),
                       .stop = CALL_STOP,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .state = LINK_CONNECTING,
                       .since_ms = wall_ms() };
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    c->host.config = NULL;
    c->host.cursor = STR_NONE;
    return c;
}

static bool slack_open(const PlatformHost *host, Connection **ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Connection *c;
    Str base;

    if (!check_config(a, host->config, &base, err))
        return false;
    c = new_connection(host, base);
    errno = pthread_create(&c->thread, NULL, listening, c);
    if (errno) {
        free_connection(c);
        return err_errno(err, "cannot start a thread for slack");
    }
    *ret = c;
    return true;
}

static Connection *slack_close(Connection *c)
{
    if (!c)
        return NULL;
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    call_stop(c->host.net, &c->stop);
    pthread_join(c->thread, NULL);
    return free_connection(c);
}

const Platform platform_slack = { .shape = &shape_slack,
                                  .knows_repeats = true,
                                  .edit_every_ms = 1000,
                                  .typing_ms = 60000,
                                  .open = slack_open,
                                  .close = slack_close,
                                  .identity = slack_identity,
                                  .health = slack_health,
                                  .look = slack_look,
                                  .send = slack_send,
                                  .edit = slack_edit,
                                  .typing = slack_typing,
                                  .open_thread = slack_open_thread,
                                  .drop_thread = slack_drop_thread };

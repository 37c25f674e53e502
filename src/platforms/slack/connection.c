/* The connection to Slack. One thread asks who we are and then keeps a WebSocket of Socket Mode
 * open; without an app's token there is none, and events come over HTTP (http/api_slack.c). What
 * comes over the socket is on our disk before it is acknowledged. Slack closes each socket every
 * few hours and says so: the next one is opened before that one is dropped, so that nothing falls
 * between. No trouble ends the thread but a token that is not accepted: all else is waited out,
 * longer each time, with a little chance in it. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "platforms/slack/inside.h"
#include "text/utf8.h"

#define PUBLIC_API "https://slack.com/api"

enum {
    HELLO_MS = 20000, /* from the ticket to Slack's greeting */
    SILENT_S = 10,    /* then it is asked for a sign of life */
    LONG_MS = 60000   /* between two looks at a socket that lives */
};

static void slack_health(Connection *c, Arena *a, Health *ret)
{
    connection_health(&c->wire, a, ret);
}

bool slack_identity(Connection *c, Arena *a, Identity *ret)
{
    bool known;

    pthread_mutex_lock(&c->wire.lock);
    known = c->id[0] != '\0';
    if (known)
        *ret = (Identity){ .id = str_dup(a, str_of(c->id)),
                           .name = str_dup(a, str_of(c->name)),
                           .scope_id = str_dup(a, str_of(c->team)) };
    pthread_mutex_unlock(&c->wire.lock);
    return known;
}

/* False: there is no use in going on. */
static bool wait_out(Connection *c, const Reply *reply, const Err *err)
{
    if (err->kind == ERR_REFUSED) {
        connection_set_state(&c->wire, CONNECTION_REFUSED, err->text);
        return false;
    }
    connection_set_state(&c->wire, CONNECTION_DOWN, err->text);
    return connection_rest(&c->wire,
                           reply->wait_ms ? reply->wait_ms : connection_next_wait(&c->wire));
}

/* -- one socket: on its own thread -- */

bool slack_frame_read(Arena *a, Str frame, SlackFrame *ret, Str *ret_envelope)
{
    PyValue v;
    Str type;

    *ret = SLACK_FRAME_OTHER;
    *ret_envelope = STR("");
    if (!pyjson_read(a, frame, &v) || v.type != PY_DICT)
        return false;
    type = update_text(&v, "type");
    *ret_envelope = update_text(&v, "envelope_id");
    /* Half a surrogate pair cannot be said again. */
    if (ret_envelope->n > SLACK_ENVELOPE_CHARS ||
        utf8_valid_prefix(*ret_envelope) != ret_envelope->n)
        *ret_envelope = STR("");
    if (str_eqz(type, "hello"))
        *ret = SLACK_FRAME_HELLO;
    else if (str_eqz(type, "disconnect"))
        *ret = SLACK_FRAME_LEAVE;
    else if (ret_envelope->n)
        *ret = SLACK_FRAME_UPDATE;
    return true;
}

Str slack_acknowledgement(Arena *a, Str envelope)
{
    AUTO_BUF out = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_str(&w, "envelope_id", envelope);
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

static void acknowledge(Socket *s, Arena *a, Str envelope)
{
    Err err;

    if (!ws_send(s->ws, slack_acknowledgement(a, envelope), &err))
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
    pthread_mutex_lock(&s->c->wire.lock);
    *flag = true;
    s->c->wire.heard_ms = clock_wall_ms();
    pthread_cond_broadcast(&s->c->wire.changed);
    pthread_mutex_unlock(&s->c->wire.lock);
}

static void on_text(void *ctx, Str frame)
{
    Socket *s = ctx;
    AUTO(Arena) *a = arena_new();
    SlackFrame what;
    Str envelope;

    connection_heard(&s->c->wire);
    if (!slack_frame_read(a, frame, &what, &envelope))
        log_debug("slack: a frame of %zu bytes is no object", frame.n);
    if (what == SLACK_FRAME_HELLO)
        set_flag(s, &s->greeted);
    else if (what == SLACK_FRAME_LEAVE)
        set_flag(s, &s->leaving);
    else if (what == SLACK_FRAME_UPDATE && keep(s->c, a, frame))
        acknowledge(s, a, envelope);
}

static void on_closed(void *ctx, int code, Str why)
{
    Socket *s = ctx;

    pthread_mutex_lock(&s->c->wire.lock);
    snprintf(s->why, sizeof s->why, "slack's socket closed: %.*s (%d)", STR_FMT(str_head(why, 80)),
             code);
    s->closed = true;
    pthread_cond_broadcast(&s->c->wire.changed);
    pthread_mutex_unlock(&s->c->wire.lock);
}

/* -- sockets: on the listening thread -- */

static Socket *drop_socket(Socket *s)
{
    if (!s)
        return NULL;
    ws_close(s->ws, WS_NORMAL);
    pthread_mutex_lock(&s->c->wire.lock);
    for (int64_t until = clock_mono_ms() + 500; !s->closed && clock_mono_ms() < until;)
        connection_wait(&s->c->wire, until);
    pthread_mutex_unlock(&s->c->wire.lock);
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
    pthread_mutex_lock(&c->wire.lock);
    s->ws = ws_open(url, &options, &handlers, s, err);
    pthread_mutex_unlock(&c->wire.lock);
    return s->ws ? s : mem_free(s);
}

static bool wait_for_hello(Connection *c, Socket *s, Err *err)
{
    int64_t until = clock_mono_ms() + HELLO_MS;
    bool greeted;

    pthread_mutex_lock(&c->wire.lock);
    while (connection_goes_on(&c->wire) && !s->greeted && !s->closed && clock_mono_ms() < until)
        connection_wait(&c->wire, until);
    greeted = s->greeted && !s->closed;
    if (!greeted)
        err_set_to(err, ERR_IO, "%s", s->closed ? s->why : "slack's socket does not respond");
    pthread_mutex_unlock(&c->wire.lock);
    return greeted;
}

/* A new one, greeted. */
static Socket *open_socket(Connection *c, Arena *a, Reply *reply, Err *err)
{
    Socket *s;

    if (!slack_call(
            c, a,
            &(Ask){ .method = "apps.connections.open", .by_app = true, .stop = &c->wire.stop },
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

    pthread_mutex_lock(&c->wire.lock);
    while (connection_goes_on(&c->wire) && !s->leaving && !s->closed)
        connection_wait(&c->wire, clock_mono_ms() + LONG_MS);
    broke = s->closed;
    pthread_mutex_unlock(&c->wire.lock);
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
            on = connection_rest(&c->wire, 0) && wait_out(c, &reply, &err);
            continue;
        }
        now = next;
        c->wire.tries = 0;
        connection_set_state(&c->wire, CONNECTION_UP, NULL);
        if (!stay(c, now)) {
            connection_set_state(&c->wire, CONNECTION_DOWN, now->why);
            on = connection_rest(&c->wire, connection_next_wait(&c->wire));
        }
        on = on && connection_rest(&c->wire, 0);
    }
    drop_socket(now);
}

bool slack_introduce(Connection *c, Arena *a, CallStop *stop, Reply *reply, Err *err)
{
    Str id, team;

    if (!slack_call(c, a, &(Ask){ .method = "auth.test", .stop = stop }, reply, err))
        return false;
    id = update_text(&reply->v, "user_id");
    team = update_text(&reply->v, "team_id");
    if (!id.n || !team.n)
        return err_set(err, ERR_IO, "slack did not return the bot's identity");
    pthread_mutex_lock(&c->wire.lock);
    snprintf(c->id, sizeof c->id, "%.*s", STR_FMT(id));
    snprintf(c->name, sizeof c->name, "%.*s", STR_FMT(update_text(&reply->v, "user")));
    snprintf(c->team, sizeof c->team, "%.*s", STR_FMT(team));
    pthread_mutex_unlock(&c->wire.lock);
    return true;
}

static void *listening(void *ctx)
{
    Connection *c = ctx;
    AUTO(Arena) *a = arena_new();
    Reply reply = { 0 };
    bool on = true;
    Err err;

    while (on && !slack_introduce(c, a, &c->wire.stop, &reply, &err))
        on = wait_out(c, &reply, &err);
    if (on && c->app_token)
        keep_socket(c, a);
    else if (on)
        connection_set_state(&c->wire, CONNECTION_UP, NULL);
    return NULL;
}

/* -- beginning and end -- */

static bool check_config(Arena *a, const PlatformConfig *config, Str *ret_base, Err *err)
{
    Str token = str_trim(config->token), app_token = str_trim(config->app_token);

    if (!token.n)
        return err_set(err, ERR_INVALID, "slack needs a token; set TALARIA_SLACK_TOKEN");
    if (!connection_fits_header(token) || !connection_fits_header(app_token))
        return err_set(err, ERR_INVALID,
                       "the slack token contains invalid characters; copy it again");
    if (!app_token.n && !config->signing_secret.n)
        return err_set(err, ERR_INVALID,
                       "slack cannot receive messages: set TALARIA_SLACK_APP_TOKEN for Socket "
                       "Mode, or TALARIA_SLACK_SIGNING_SECRET for the Events API");
    if (!connection_base_url(a, "slack", config->api_base, PUBLIC_API, ret_base, err))
        return false;
    *ret_base = str_printf(a, "%.*s/", STR_FMT(*ret_base));
    return true;
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
    connection_done(&c->wire);
    mem_free(c->base);
    mem_free(c->token);
    mem_free(c->app_token);
    return mem_free(c);
}

static Connection *new_connection(const PlatformHost *host, Str base)
{
    Connection *c = mem_alloc(sizeof *c);

    *c = (Connection){ .host = *host,
                       .base = mem_strdup(base),
                       .token = bearer(host->config->token),
                       .app_token = bearer(host->config->app_token) };
    connection_init(&c->wire, "slack", &c->host);
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
    if (!connection_start(&c->wire, listening, c, err)) {
        free_connection(c);
        return false;
    }
    *ret = c;
    return true;
}

static Connection *slack_close(Connection *c)
{
    if (!c)
        return NULL;
    connection_end(&c->wire);
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
                                  .drop_thread = slack_drop_thread,
                                  .fetch = slack_fetch };

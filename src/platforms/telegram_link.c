/* The connection to Telegram: one thread that asks who we are and then for updates, in calls that wait up to 25 s
 * for something to come. What has come is on our disk, with the offset behind it, before the next call tells
 * Telegram so. No trouble ends the thread but a token that is not accepted: all else is waited out, longer each
 * time, with a little chance in it so that many do not come back at once. */
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "platforms/commands_table.h"
#include "platforms/telegram_inside.h"

#define PUBLIC_API "https://api.telegram.org"

enum {
    POLL_S = 25,
    POLL_MS = (POLL_S + 15) * 1000,
    POLL_MANY = 100,
    QUICK_MS = 1000, /* an empty answer in less: that server does not wait */
    PAUSE_MS = 300,
    FIRST_WAIT_MS = 500,
    MOST_WAIT_MS = 60000
};

static int64_t wall_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

/* -- health --------------------------------------------------------------------------------------------- */

static void set_error(Connection *c, const char *text)
{
    snprintf(c->error, sizeof c->error, "%s", text);
    c->error_ms = wall_ms();
}

void telegram_heard(Connection *c)
{
    pthread_mutex_lock(&c->lock);
    c->heard_ms = wall_ms();
    pthread_mutex_unlock(&c->lock);
}

void telegram_trouble(Connection *c, const char *text)
{
    pthread_mutex_lock(&c->lock);
    set_error(c, text);
    pthread_mutex_unlock(&c->lock);
}

/* Comes to a state, for a reason or (NULL) without one; a change is said once. */
static void come_to(Connection *c, LinkState state, const char *why)
{
    bool news;

    pthread_mutex_lock(&c->lock);
    news = c->state != state && !c->closing;
    if (c->state != state) {
        c->state = state;
        c->since_ms = wall_ms();
    }
    if (why && !c->closing)
        set_error(c, why);
    pthread_mutex_unlock(&c->lock);
    if (news && state != LINK_UP)
        log_warning("telegram: %s", why ? why : "not connected");
}

static void telegram_health(Connection *c, Arena *a, Health *ret)
{
    pthread_mutex_lock(&c->lock);
    *ret = (Health){ .state = c->state,
                     .since_ms = c->since_ms,
                     .heard_ms = c->heard_ms,
                     .error = str_dup(a, str_of(c->error)),
                     .error_ms = c->error_ms };
    pthread_mutex_unlock(&c->lock);
}

static bool telegram_identity(Connection *c, Arena *a, Identity *ret)
{
    bool known;

    pthread_mutex_lock(&c->lock);
    known = c->id[0] != '\0';
    if (known)
        *ret = (Identity){ .id = str_dup(a, str_of(c->id)), .name = str_dup(a, str_of(c->name)) };
    pthread_mutex_unlock(&c->lock);
    return known;
}

/* -- waiting ---------------------------------------------------------------------------------------------- */

/* False: it is being closed. */
static bool rest(Connection *c, int64_t ms)
{
    int64_t until = clock_mono_ms() + ms;
    struct timespec at = { .tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000 };
    bool on;

    pthread_mutex_lock(&c->lock);
    while (!c->closing && clock_mono_ms() < until)
        pthread_cond_timedwait(&c->changed, &c->lock, &at);
    on = !c->closing;
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

/* -- who we are --------------------------------------------------------------------------------------------- */

static Str commands_json(Arena *a)
{
    AUTO_BUF out = BUF(KIB(16));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_key(&w, "commands");
    json_begin(&w, '[');
#define X(id, name, text)                                                                          \
    json_begin(&w, '{');                                                                           \
    json_field_str(&w, "command", STR(name));                                                      \
    json_field_str(&w, "description", STR(text));                                                  \
    json_end(&w, '}');
    CHAT_COMMANDS(X)
#undef X
    json_end(&w, ']');
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

static bool introduce(Connection *c, Arena *a, Reply *reply, Err *err)
{
    const PyValue *me = &reply->result;
    Reply unneeded;
    Err ignored;

    if (!telegram_call(c, a, &(Ask){ .method = "getMe", .body = STR("{}"), .stop = &c->stop },
                       reply, err))
        return false;
    if (!update_text(me, "id").n)
        return err_set(err, ERR_IO, "telegram does not say who the bot is");
    pthread_mutex_lock(&c->lock);
    snprintf(c->id, sizeof c->id, "%.*s", STR_FMT(update_text(me, "id")));
    snprintf(c->name, sizeof c->name, "%.*s", STR_FMT(update_text(me, "username")));
    c->private_topics = update_true(me, "has_topics_enabled");
    pthread_mutex_unlock(&c->lock);
    come_to(c, LINK_UP, NULL);
    /* The list that people see when they type '/': without it everything works all the same. */
    if (!telegram_call(
            c, a, &(Ask){ .method = "setMyCommands", .body = commands_json(a), .stop = &c->stop },
            &unneeded, &ignored))
        telegram_trouble(c, ignored.text);
    return true;
}

/* -- listening ----------------------------------------------------------------------------------------------- */

static Str poll_json(Arena *a, const Connection *c)
{
    return str_printf(a,
                      "{\"offset\":%lld,\"timeout\":%d,\"limit\":%d,"
                      "\"allowed_updates\":[\"message\",\"channel_post\"]}",
                      (long long)c->offset, POLL_S, c->one_by_one ? 1 : POLL_MANY);
}

/* An update that could be no message is not kept, but counts as read. */
static bool as_update(Arena *a, const PyValue *v, Update *ret)
{
    AUTO_BUF out = BUF(LIMIT_UPDATE_BYTES);

    pyjson_write(&out, v);
    if (buf_full(&out)) {
        log_warning("telegram: update %.*s is too large and left out",
                    STR_FMT(update_text(v, "update_id")));
        return false;
    }
    *ret = (Update){ .id = update_text(v, "update_id"), .json = str_dup(a, buf_str(&out)) };
    return true;
}

/* On the disk first, then the offset: the next call tells Telegram that they are ours. */
static bool keep(Connection *c, Arena *a, const PyValue *all, Err *err)
{
    Update *updates = ARENA_ARRAY(a, Update, all->n + 1);
    int64_t last = -1, id;
    size_t n = 0;

    for (uint32_t i = 0; i < all->n; i++) {
        if (!str_to_int(update_text(&all->items[i], "update_id"), 0, INT64_MAX - 1, &id))
            continue;
        last = id > last ? id : last;
        n += as_update(a, &all->items[i], &updates[n]);
    }
    if (last < 0)
        return true;
    if (!c->host.receive(c->host.ctx, updates, n, str_printf(a, "%lld", (long long)last + 1), err))
        return err_wrap(err, "cannot keep what telegram sent");
    c->offset = last + 1;
    return true;
}

/* An answer past every limit: one update at a time, and the one that is too large alone is stepped over. */
static void step_over(Connection *c)
{
    if (c->one_by_one && c->offset)
        c->offset++;
    c->one_by_one = true;
}

static bool listen_once(Connection *c, Arena *a, Reply *reply, Err *err)
{
    int64_t began = clock_mono_ms();

    if (!telegram_call(
            c, a,
            &(Ask){
                .method = "getUpdates", .body = poll_json(a, c), .ms = POLL_MS, .stop = &c->stop },
            reply, err)) {
        if (err->kind == ERR_TOO_LARGE)
            step_over(c);
        return false;
    }
    if (reply->result.type != PY_LIST)
        return err_set(err, ERR_IO, "telegram sends no list of updates");
    come_to(c, LINK_UP, NULL);
    if (!keep(c, a, &reply->result, err))
        return false;
    c->one_by_one = false;
    if (!reply->result.n && clock_mono_ms() - began < QUICK_MS)
        rest(c, PAUSE_MS);
    return true;
}

/* Somebody else reads: a webhook that was left behind is taken away, once; another reader is not ours to end. */
static void conflict(Connection *c, Arena *a)
{
    Reply reply;
    Err err;

    if (c->webhook_gone)
        return;
    c->webhook_gone = telegram_call(c, a,
                                    &(Ask){ .method = "deleteWebhook",
                                            .body = STR("{\"drop_pending_updates\":false}"),
                                            .stop = &c->stop },
                                    &reply, &err);
}

/* False: there is no use in going on. */
static bool wait_out(Connection *c, Arena *a, const Reply *reply, Err *err)
{
    if (reply->code == 401 || reply->code == 404) {
        come_to(c, LINK_REFUSED, "telegram does not accept the token; it is not tried again");
        return false;
    }
    if (reply->code == 409) {
        err_put_before(err, "another program reads this bot's messages");
        conflict(c, a);
    }
    come_to(c, LINK_DOWN, err->text);
    return rest(c, reply->wait_ms ? reply->wait_ms : next_wait(c));
}

static void *listening(void *ctx)
{
    Connection *c = ctx;
    AUTO(Arena) *a = arena_new();
    bool known = false, on = true;

    while (on) {
        Reply reply = { 0 };
        Err err;
        bool ok;

        arena_reset(a);
        ok = known ? listen_once(c, a, &reply, &err) : introduce(c, a, &reply, &err);
        known = known || ok;
        if (ok)
            c->tries = 0;
        on = ok ? rest(c, 0) : wait_out(c, a, &reply, &err);
    }
    return NULL;
}

/* -- beginning and end ------------------------------------------------------------------------------------------ */

/* It becomes part of an address. */
static bool token_is_fine(Str token)
{
    for (size_t i = 0; i < token.n; i++) {
        char ch = token.p[i];

        if (!((ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
              ch == ':' || ch == '_' || ch == '-'))
            return false;
    }
    return token.n > 0 && token.n < 256;
}

static bool check_config(Arena *a, const PlatformConfig *config, Str *ret_base, Err *err)
{
    Str api = str_trim(config->api_base), token = str_trim(config->token);
    FetchRequest probe = { .method = "POST", .secret = true };

    if (!token.n)
        return err_set(err, ERR_INVALID, "telegram needs a token: set TALARIA_TELEGRAM_TOKEN");
    if (!token_is_fine(token))
        return err_set(err, ERR_INVALID, "telegram's token has characters that no token has");
    while (str_ends(api, STR("/")))
        api = str_head(api, api.n - 1);
    *ret_base =
        str_printf(a, "%.*s/bot%.*s/", STR_FMT(api.n ? api : STR(PUBLIC_API)), STR_FMT(token));
    probe.url = str_z(a, api.n ? api : STR(PUBLIC_API));
    return fetch_check(&probe, err) || err_wrap(err, "telegram's api_base");
}

static Connection *free_connection(Connection *c)
{
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    mem_free(c->base);
    return mem_free(c);
}

static Connection *new_connection(const PlatformHost *host, Str base)
{
    Connection *c = mem_alloc(sizeof *c);
    pthread_condattr_t monotonic;

    *c = (Connection){ .host = *host,
                       .base = mem_strdup(base),
                       .stop = CALL_STOP,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .state = LINK_CONNECTING,
                       .since_ms = wall_ms() };
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!str_to_int(host->cursor, 0, INT64_MAX - 1, &c->offset))
        c->offset = 0;
    c->host.config = NULL;
    c->host.cursor = STR_NONE;
    return c;
}

static bool telegram_open(const PlatformHost *host, Connection **ret, Err *err)
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
        return err_errno(err, "cannot start a thread for telegram");
    }
    *ret = c;
    return true;
}

static Connection *telegram_close(Connection *c)
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

const Platform platform_telegram = { .shape = &shape_telegram,
                                     .knows_repeats = false,
                                     .edit_every_ms = 1000,
                                     .typing_ms = 5000,
                                     .open = telegram_open,
                                     .close = telegram_close,
                                     .identity = telegram_identity,
                                     .health = telegram_health,
                                     .look = telegram_look,
                                     .send = telegram_send,
                                     .edit = telegram_edit,
                                     .typing = telegram_typing,
                                     .open_thread = telegram_open_thread,
                                     .drop_thread = telegram_drop_thread };

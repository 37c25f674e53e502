/* The connection to Telegram: one thread that asks who we are and then for updates, in calls that
 * wait up to 25 s for something to come. What has come is on our disk, with the offset behind it,
 * before the next call tells Telegram so. No trouble ends the thread but a token that is not
 * accepted: all else is waited out, longer each time, with a little chance in it so that many do
 * not come back at once. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "platforms/commands_table.h"
#include "platforms/telegram/inside.h"

#define PUBLIC_API "https://api.telegram.org"

enum {
    POLL_S = 25,
    POLL_MS = (POLL_S + 15) * 1000,
    POLL_MANY = 100,
    QUICK_MS = 1000, /* an empty answer in less: that server does not wait */
    PAUSE_MS = 300,
    ALBUM_MS = 300 /* in which the rest of an album comes */
};

static void telegram_health(Connection *c, Arena *a, Health *ret)
{
    connection_health(&c->wire, a, ret);
}

static bool telegram_identity(Connection *c, Arena *a, Identity *ret)
{
    bool known;

    pthread_mutex_lock(&c->wire.lock);
    known = c->id[0] != '\0';
    if (known)
        *ret = (Identity){ .id = str_dup(a, str_of(c->id)), .name = str_dup(a, str_of(c->name)) };
    pthread_mutex_unlock(&c->wire.lock);
    return known;
}

/* -- who we are -- */

static Str commands_json(Arena *a)
{
    AUTO_BUF out = BUF(KIB(16));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_begin(&w, "commands", '[');
#define X(id, name, who, all, text)                                                                \
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

    if (!telegram_call(c, a, &(Ask){ .method = "getMe", .body = STR("{}"), .stop = &c->wire.stop },
                       reply, err))
        return false;
    if (!update_text(me, "id").n)
        return err_set(err, ERR_IO, "telegram did not return the bot's identity");
    pthread_mutex_lock(&c->wire.lock);
    snprintf(c->id, sizeof c->id, "%.*s", STR_FMT(update_text(me, "id")));
    snprintf(c->name, sizeof c->name, "%.*s", STR_FMT(update_text(me, "username")));
    c->private_topics = update_true(me, "has_topics_enabled");
    pthread_cond_broadcast(&c->wire.changed);
    pthread_mutex_unlock(&c->wire.lock);
    connection_set_state(&c->wire, CONNECTION_UP, NULL);
    /* The list that people see when they type '/': without it everything works all the same. */
    if (!telegram_call(
            c, a,
            &(Ask){ .method = "setMyCommands", .body = commands_json(a), .stop = &c->wire.stop },
            &unneeded, &ignored))
        connection_trouble(&c->wire, ignored.text);
    return true;
}

/* -- listening -- */

static Str poll_json(Arena *a, const Connection *c, bool waits)
{
    return str_printf(a,
                      "{\"offset\":%lld,\"timeout\":%d,\"limit\":%d,"
                      "\"allowed_updates\":[\"message\",\"channel_post\"]}",
                      (long long)c->offset, waits ? POLL_S : 0, c->one_by_one ? 1 : POLL_MANY);
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

/* Telegram tells of it in both chats. */
static void look_for_move(Connection *c, const PyValue *update)
{
    const PyValue *m = update_get(update, "message");
    Str here = update_text(update_get(m, "chat"), "id");
    Str to = update_text(m, "migrate_to_chat_id"), from = update_text(m, "migrate_from_chat_id");

    if (here.n && to.n)
        telegram_moved(c, here, to);
    else if (here.n && from.n)
        telegram_moved(c, from, here);
}

/* On the disk first, then the offset: the next call tells Telegram that they are ours. */
static bool keep(Connection *c, Arena *a, const PyValue *came, Err *err)
{
    PyValue joined = telegram_albums(a, came), *all = &joined;
    Update *updates = ARENA_ARRAY(a, Update, all->n + 1);
    int64_t last = -1, id;
    size_t n = 0;

    for (uint32_t i = 0; i < all->n; i++) {
        if (!str_to_int(update_text(&all->items[i], "update_id"), 0, INT64_MAX - 1, &id))
            continue;
        last = id > last ? id : last;
        look_for_move(c, &all->items[i]);
        n += as_update(a, &all->items[i], &updates[n]);
    }
    if (last < 0)
        return true;
    if (!c->host.receive(c->host.ctx, updates, n, str_printf(a, "%lld", (long long)last + 1), err))
        return err_wrap(err, "cannot keep what telegram sent");
    c->offset = last + 1;
    return true;
}

/* An answer past every limit: one update at a time, and the one that is too large alone is stepped
 * over. */
static void step_over(Connection *c)
{
    if (c->one_by_one && c->offset)
        c->offset++;
    c->one_by_one = true;
}

static bool poll(Connection *c, Arena *a, bool waits, Reply *reply, Err *err)
{
    Ask ask = {
        .method = "getUpdates", .body = poll_json(a, c, waits), .ms = POLL_MS, .stop = &c->wire.stop
    };

    if (telegram_call(c, a, &ask, reply, err))
        return true;
    if (err->kind == ERR_TOO_LARGE)
        step_over(c);
    return false;
}

/* A long poll ends with the first message of an album, and the others come right behind it: so it
 * is asked once more, from the same place on. */
static bool listen_once(Connection *c, Arena *a, Reply *reply, Err *err)
{
    int64_t began = clock_mono_ms();

    if (!poll(c, a, true, reply, err))
        return false;
    if (!c->one_by_one && telegram_ends_in_album(&reply->result)) {
        (void)connection_rest(&c->wire, ALBUM_MS);
        if (!poll(c, a, false, reply, err))
            return false;
    }
    if (reply->result.type != PY_LIST)
        return err_set(err, ERR_IO, "telegram did not return a list of updates");
    connection_set_state(&c->wire, CONNECTION_UP, NULL);
    if (!keep(c, a, &reply->result, err))
        return false;
    c->one_by_one = false;
    if (!reply->result.n && clock_mono_ms() - began < QUICK_MS)
        connection_rest(&c->wire, PAUSE_MS);
    return true;
}

/* Somebody else reads: a webhook that was left behind is taken away, once; another reader is not
 * ours to end. */
static void conflict(Connection *c, Arena *a)
{
    Reply reply;
    Err err;

    if (c->webhook_gone)
        return;
    c->webhook_gone = telegram_call(c, a,
                                    &(Ask){ .method = "deleteWebhook",
                                            .body = STR("{\"drop_pending_updates\":false}"),
                                            .stop = &c->wire.stop },
                                    &reply, &err);
}

/* False: there is no use in going on. */
static bool wait_out(Connection *c, Arena *a, const Reply *reply, Err *err)
{
    if (reply->code == 401 || reply->code == 404) {
        connection_set_state(
            &c->wire, CONNECTION_REFUSED,
            "telegram does not accept the token; run 'talaria setup' to enter it again");
        return false;
    }
    if (reply->code == 409) {
        err_put_before(err, "another program reads this bot's messages");
        conflict(c, a);
    }
    connection_set_state(&c->wire, CONNECTION_DOWN, err->text);
    return connection_rest(&c->wire,
                           reply->wait_ms ? reply->wait_ms : connection_next_wait(&c->wire));
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
            c->wire.tries = 0;
        on = ok ? connection_rest(&c->wire, 0) : wait_out(c, a, &reply, &err);
    }
    return NULL;
}

/* -- beginning and end -- */

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
    Str token = str_trim(config->token);

    if (!token.n)
        return err_set(err, ERR_INVALID, "telegram needs a token; set TALARIA_TELEGRAM_TOKEN");
    if (!token_is_fine(token))
        return err_set(err, ERR_INVALID,
                       "the telegram token contains invalid characters; copy it again");
    if (!connection_base_url(a, "telegram", config->api_base, PUBLIC_API, ret_base, err))
        return false;
    *ret_base = str_printf(a, "%.*s/bot%.*s/", STR_FMT(*ret_base), STR_FMT(token));
    return true;
}

static Connection *free_connection(Connection *c)
{
    connection_done(&c->wire);
    mem_free(c->base);
    return mem_free(c);
}

static Connection *new_connection(const PlatformHost *host, Str base)
{
    Connection *c = mem_alloc(sizeof *c);

    *c = (Connection){ .host = *host, .base = mem_strdup(base) };
    if (!str_to_int(host->cursor, 0, INT64_MAX - 1, &c->offset))
        c->offset = 0;
    connection_init(&c->wire, "telegram", &c->host);
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
    if (!connection_start(&c->wire, listening, c, err)) {
        free_connection(c);
        return false;
    }
    *ret = c;
    return true;
}

static Connection *telegram_close(Connection *c)
{
    if (!c)
        return NULL;
    connection_end(&c->wire);
    return free_connection(c);
}

const Platform platform_telegram = { .shape = &shape_telegram,
                                     .knows_repeats = false,
                                     .anchors = true,
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
                                     .drop_thread = telegram_drop_thread,
                                     .fetch = telegram_fetch };

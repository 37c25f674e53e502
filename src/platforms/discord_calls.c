/* What can be asked of Discord: its side of the table in platform.h. Markdown is Discord's own, so text goes out as it
 * is; nobody is ever called by it (allowed_mentions). A message carries a number that follows from its key: Discord
 * gives the first message back where the same number comes again within a few minutes. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "platforms/discord_inside.h"
#include "text/sha256.h"

#define PUBLIC_API    "https://discord.com/api/v10"
#define AUTHORIZATION "Authorization: Bot "

/* -- its life ------------------------------------------------------------------------------------------------ */

static char *without_slash(Str base)
{
    while (base.n && base.p[base.n - 1] == '/')
        base.n--;
    return mem_strdup(base);
}

static Connection *release(Connection *c)
{
    channels_free(c->channels);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    mem_free(c->api);
    mem_free(c->authorization);
    return mem_free(c);
}

static char *authorization_of(Str token)
{
    AUTO_BUF text = BUF(KIB(1));

    buf_addf(&text, AUTHORIZATION "%.*s", STR_FMT(token));
    return mem_strdup(buf_str(&text));
}

static Connection *make(const PlatformHost *host)
{
    Str base = host->config->api_base;
    Connection *c = mem_alloc(sizeof *c);
    pthread_condattr_t clock;

    *c = (Connection){ .host = *host,
                       .api = without_slash(base.n ? base : STR(PUBLIC_API)),
                       .authorization = authorization_of(host->config->token) };
    c->token = c->authorization + strlen(AUTHORIZATION);
    c->last = &c->first;
    discord_read_cursor(c, host->cursor);
    c->health.since_ms = (int64_t)(clock_wall() * 1000);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &clock);
    pthread_condattr_destroy(&clock);
    return c;
}

static bool discord_open(const PlatformHost *host, Connection **ret, Err *err)
{
    Str token = host->config->token;
    Connection *c;

    if (!token.n || token.n > 512)
        return err_set(err, ERR_INVALID, "discord needs a token: set TALARIA_DISCORD_TOKEN");
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] <= ' ' || token.p[i] > '~')
            return err_set(err, ERR_INVALID, "discord: the token has characters that none has");
    c = make(host);
    if (pthread_create(&c->thread, NULL, discord_link_run, c) != 0) {
        release(c);
        return err_set(err, ERR_BUSY, "no thread for discord");
    }
    *ret = c;
    return true;
}

static Connection *discord_close(Connection *c)
{
    if (!c)
        return NULL;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    return release(c);
}

static bool discord_identity(Connection *c, Arena *a, Identity *ret)
{
    bool known;

    pthread_mutex_lock(&c->lock);
    known = c->me.z[0] != '\0';
    if (known)
        *ret = (Identity){ .id = str_dup(a, snow_str(&c->me)),
                           .name = str_dup(a, str_of(c->my_name)) };
    pthread_mutex_unlock(&c->lock);
    return known;
}

static void discord_health(Connection *c, Arena *a, Health *ret)
{
    pthread_mutex_lock(&c->lock);
    *ret = c->health;
    ret->error = str_dup(a, str_of(c->error_text));
    pthread_mutex_unlock(&c->lock);
}

/* -- messages -------------------------------------------------------------------------------------------------- */

PlatformFault discord_fault(const Connection *c, const char *call)
{
    return c->host.fault ? c->host.fault(c->host.fault_ctx, call) : FAULT_NONE;
}

Str discord_nonce(Arena *a, Str key)
{
    return str_head(sha256_hex(a, key), 24); /* 25 characters are the most */
}

Str discord_message(Arena *a, Str text, Str nonce)
{
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_str(&w, "content", text);
    json_key(&w, "allowed_mentions");
    json_put_raw(&w, STR("{\"parse\":[]}"));
    if (nonce.n) {
        json_field_str(&w, "nonce", nonce);
        json_field_bool(&w, "enforce_nonce", true);
    }
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

/* One call that says something there, and what became of it. */
static bool utter(Connection *c, Arena *a, const char *name, const Ask *ask, Sent *ret, Err *err)
{
    PlatformFault trouble = discord_fault(c, name);
    Rest rest;

    *ret = (Sent){ 0 };
    if (trouble == FAULT_FAILS)
        return err_set(err, ERR_IO, "the connection to discord broke");
    if (!rest_call(c, a, ask, &rest, err)) {
        ret->wait_ms = rest.wait_ms;
        ret->unsure = rest.unsure;
        return false;
    }
    ret->id = update_text(&rest.v, "id");
    ret->unsure = trouble == FAULT_LOST;
    return trouble == FAULT_NONE || err_set(err, ERR_IO, "the connection to discord broke");
}

/* A thread is a channel of its own: its number is the place's chat. */
static bool channel_path(Arena *a, const Place *at, const char *rest, Str *ret, Err *err)
{
    Str id = at->thread_id.n ? at->thread_id : at->chat_id;

    if (!snow_number(id))
        return err_set(err, ERR_NOT_FOUND, "no discord channel '%.*s'", STR_FMT(id));
    *ret = str_printf(a, "/channels/%.*s%s", STR_FMT(id), rest);
    return true;
}

static bool discord_send(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err)
{
    Ask ask = { .method = "POST", .body = discord_message(a, m->text, discord_nonce(a, m->key)) };

    *ret = (Sent){ 0 };
    return channel_path(a, m->to, "/messages", &ask.path, err) &&
           utter(c, a, "send", &ask, ret, err);
}

static bool discord_edit(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err)
{
    Ask ask = { .method = "PATCH", .body = discord_message(a, m->text, STR_NONE) };

    *ret = (Sent){ 0 };
    if (!snow_number(id))
        return err_set(err, ERR_NOT_FOUND, "no message '%.*s'", STR_FMT(id));
    if (!channel_path(a, m->to, "/messages/", &ask.path, err))
        return false;
    ask.path = str_printf(a, "%.*s%.*s", STR_FMT(ask.path), STR_FMT(id));
    return utter(c, a, "edit", &ask, ret, err);
}

static void discord_typing(Connection *c, const Place *at)
{
    AUTO(Arena) *a = arena_new();
    Ask ask = { .method = "POST", .until = clock_mono_ms() + 5000 };
    Rest rest;
    Err ignored;

    if (channel_path(a, at, "/typing", &ask.path, &ignored))
        (void)!rest_call(c, a, &ask, &rest, &ignored);
}

/* -- a chat as a home ---------------------------------------------------------------------------------------------- */

/* Whether we may write there shows best by trying something that does no harm: to be seen typing needs the same
 * permission. */
static bool discord_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret,
                         Err *err)
{
    int64_t until = clock_mono_ms() + LIMIT_PLATFORM_CALL_MS;
    ChannelFacts facts;
    Rest rest;

    chat_id = str_dup(a, chat_id);
    channel_forget(c, chat_id); /* it is looked at, not remembered */
    if (!channel_facts(c, a, chat_id, until, &facts, err))
        return false;
    if (facts.type != CHANNEL_FORUM && facts.type != CHANNEL_MEDIA &&
        !rest_call(c, a,
                   &(Ask){ .method = "POST",
                           .path = str_printf(a, "/channels/%.*s/typing", STR_FMT(chat_id)),
                           .until = until },
                   &rest, err))
        return err_wrap(err, "cannot write in channel '%.*s'", STR_FMT(chat_id));
    *ret = (HomeChannel){ .chat_id = channel_is_thread(facts.type) ? facts.parent : chat_id,
                          .name = facts.name,
                          .chat_type = facts.guild.n ? STR("group") : STR("dm"),
                          .scope_id = facts.guild,
                          .owner_id = str_dup(a, owner),
                          .thread_id = channel_is_thread(facts.type) ? chat_id : STR("") };
    return true;
}

const Platform platform_discord = { .shape = &shape_discord,
                                    .knows_repeats = true,
                                    .edit_every_ms = 1200,
                                    .typing_ms = 10000,
                                    .open = discord_open,
                                    .close = discord_close,
                                    .identity = discord_identity,
                                    .health = discord_health,
                                    .look = discord_look,
                                    .send = discord_send,
                                    .edit = discord_edit,
                                    .typing = discord_typing,
                                    .open_thread = discord_open_thread,
                                    .drop_thread = discord_drop_thread };

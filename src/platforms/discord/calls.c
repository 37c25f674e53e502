/* What can be asked of Discord: its side of the table in platform.h. Markdown is Discord's own, so
 * text goes out as it is; nobody is ever called by it (allowed_mentions). A message carries a
 * number that follows from its key: Discord gives the first message back where the same number
 * comes again within a few minutes. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "platforms/discord/inside.h"
#include "platforms/download.h"
#include "text/sha256.h"

#define PUBLIC_API    "https://discord.com/api/v10"
#define AUTHORIZATION "Authorization: Bot "

/* -- its life -- */

static Connection *release(Connection *c)
{
    channels_free(c->channels);
    roles_free(c->link.roles);
    connection_done(&c->wire);
    mem_free(c->api);
    mem_free(c->authorization);
    return mem_free(c);
}

static char *authorization_of(Str token)
{
    AUTO_BUF text = BUF(KIB(2));

    buf_addf(&text, AUTHORIZATION "%.*s", STR_FMT(token));
    return mem_strdup(buf_str(&text));
}

static Connection *make(const PlatformHost *host, Str base)
{
    Connection *c = mem_alloc(sizeof *c);

    *c = (Connection){ .host = *host,
                       .api = mem_strdup(base),
                       .by_roles = str_trim(host->config->allowed_roles).n > 0,
                       .authorization = authorization_of(str_trim(host->config->token)) };
    c->token = c->authorization + strlen(AUTHORIZATION);
    c->last = &c->first;
    discord_read_cursor(c, host->cursor);
    connection_init(&c->wire, "discord", &c->host);
    return c;
}

static bool discord_open(const PlatformHost *host, Connection **ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str base, token = str_trim(host->config->token);
    Connection *c;

    if (!token.n)
        return err_set(err, ERR_INVALID, "discord needs a token; set TALARIA_DISCORD_TOKEN");
    if (!connection_fits_header(token))
        return err_set(err, ERR_INVALID,
                       "the discord token contains invalid characters; copy it again");
    if (!connection_base_url(a, "discord", host->config->api_base, PUBLIC_API, &base, err))
        return false;
    c = make(host, base);
    if (!connection_start(&c->wire, discord_link_run, c, err)) {
        release(c);
        return false;
    }
    *ret = c;
    return true;
}

static Connection *discord_close(Connection *c)
{
    if (!c)
        return NULL;
    connection_end(&c->wire);
    return release(c);
}

static bool discord_identity(Connection *c, Arena *a, Identity *ret)
{
    bool known;

    pthread_mutex_lock(&c->wire.lock);
    known = c->me.z[0] != '\0';
    if (known)
        *ret = (Identity){ .id = str_dup(a, snow_str(&c->me)),
                           .name = str_dup(a, str_of(c->my_name)) };
    pthread_mutex_unlock(&c->wire.lock);
    return known;
}

static void discord_health(Connection *c, Arena *a, Health *ret)
{
    connection_health(&c->wire, a, ret);
}

/* -- messages -- */

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
    PlatformFault trouble = connection_fault(&c->wire, name);
    Rest rest;

    *ret = (Sent){ 0 };
    if (trouble == FAULT_FAILS)
        return connection_broken(&c->wire, trouble, ret, err);
    if (!rest_call(c, a, ask, &rest, err)) {
        ret->wait_ms = rest.wait_ms;
        ret->unsure = rest.unsure;
        return false;
    }
    ret->id = update_text(&rest.v, "id");
    return trouble == FAULT_NONE || connection_broken(&c->wire, trouble, ret, err);
}

/* A thread is its own channel: its number is the place's chat. */
static bool channel_path(Arena *a, const ChatAddress *at, const char *rest, Str *ret, Err *err)
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

static void discord_typing(Connection *c, const ChatAddress *at)
{
    AUTO(Arena) *a = arena_new();
    Ask ask = { .method = "POST", .until = clock_mono_ms() + 5000 };
    Rest rest;
    Err ignored;

    if (channel_path(a, at, "/typing", &ask.path, &ignored))
        (void)!rest_call(c, a, &ask, &rest, &ignored);
}

/* -- a chat as a home -- */

/* Whether we may write there shows best by trying something that does no harm: to be seen typing
 * needs the same permission. */
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
        return err_wrap(err, "cannot write to channel '%.*s'", STR_FMT(chat_id));
    *ret = (HomeChannel){ .chat_id = channel_is_thread(facts.type) ? facts.parent : chat_id,
                          .name = facts.name,
                          .chat_type = facts.guild.n ? STR("group") : STR("dm"),
                          .scope_id = facts.guild,
                          .owner_id = str_dup(a, owner),
                          .thread_id = channel_is_thread(facts.type) ? chat_id : STR(""),
                          .threads = facts.guild.n > 0 };
    return true;
}

/* The address is signed, and good for a day; the token has no business there. */
static bool discord_fetch(Connection *c, Arena *a, const InboundFile *file, size_t limit,
                          Fetched *ret, Err *err)
{
    Download d = { .platform = "discord",
                   .url = file->ref,
                   .base = c->api,
                   .hosts = "cdn.discordapp.com|media.discordapp.net",
                   .header = DISCORD_AGENT,
                   .limit = limit };

    return download(c->host.net, a, &d, ret, err);
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
                                    .drop_thread = discord_drop_thread,
                                    .fetch = discord_fetch };

/* What Discord's gateway tells. A frame that holds a message is kept as it came, with what is known
 * of its channel written behind it; our own words come back too, and are left out. A slash command
 * reads like a message. Discord wants to hear of it within three seconds, and a busy disk may take
 * longer: so it is told at once that an answer comes, and what it is once the command is stored. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "platforms/commands_table.h"
#include "platforms/discord/inside.h"

enum { DEFER_MS = 2500, LATER_TYPE = 5, ONLY_FOR_THEM = 64 };

typedef struct Event {
    Connection *c;
    Batch *batch;
    const PyValue *d;
    Str raw;
} Event;

/* -- what is kept -- */

/* {"t":..., "d":...} becomes {"t":..., "d":..., "channel": {...}}, and with our_roles. */
static Str with_channel(const Event *e, const ChannelFacts *facts)
{
    Arena *a = e->batch->a;
    Str raw = str_trim(e->raw);
    AUTO_BUF out = BUF(LIMIT_UPDATE_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);

    buf_add(&out, str_head(raw, raw.n - 1));
    buf_addz(&out, ",\"channel\":");
    channel_write(&w, facts);
    roles_write(e->c, a, e->d, update_text(e->d, "guild_id"), &out);
    buf_addc(&out, '}');
    return buf_full(&out) ? STR_NONE : str_dup(a, buf_str(&out));
}

/* A direct message needs no asking: it is the one that has no guild. */
static bool facts_of(const Event *e, ChannelFacts *ret, Err *err)
{
    Str id = update_text(e->d, "channel_id");

    *ret = (ChannelFacts){ .type = CHANNEL_DM };
    if (!update_text(e->d, "guild_id").n)
        return true;
    discord_link_beat(e->c);
    if (channel_facts(e->c, e->batch->a, id, discord_soon(), ret, err))
        return true;
    if (err->kind == ERR_IO || err->kind == ERR_BUSY)
        return false;
    *ret = (ChannelFacts){ .type = CHANNEL_TEXT, .guild = update_text(e->d, "guild_id") };
    return true;
}

static bool keep(const Event *e, Err *err)
{
    ChannelFacts facts;
    Batch *b = e->batch;
    Update update = { .id = str_dup(b->a, update_text(e->d, "id")) };

    if (!facts_of(e, &facts, err))
        return false;
    update.json = with_channel(e, &facts);
    if (update.json.n)
        ARENA_PUSH(b->a, b->all, b->n, b->cap, update);
    else
        log_warning("discord: message %.*s is too large and was left out", STR_FMT(update.id));
    if (snow_number(update.id) > b->last)
        b->last = snow_number(update.id);
    return true;
}

/* Direct chats are in no list that Discord gives: those in which somebody wrote are remembered. */
static void remember_dm(DiscordSocket *l, Str channel)
{
    Snow id;

    if (!snow_set(&id, channel))
        return;
    for (size_t i = 0; i < l->dms_n; i++)
        if (str_eq(snow_str(&l->dms[i]), channel))
            return;
    if (l->dms_n == DISCORD_DMS)
        memmove(l->dms, l->dms + 1, sizeof l->dms - sizeof l->dms[0]);
    else
        l->dms_n++;
    l->dms[l->dms_n - 1] = id;
}

/* -- the events -- */

static bool on_message(const Event *e, Err *err)
{
    Str author = update_text(update_get(e->d, "author"), "id");

    if (!snow_number(update_text(e->d, "id")) || str_eq(author, snow_str(&e->c->me)))
        return true;
    if (!update_text(e->d, "guild_id").n)
        remember_dm(&e->c->link, update_text(e->d, "channel_id"));
    return keep(e, err);
}

/* "An answer comes", which only whoever typed it sees. Waited for: what the answer is must not be
 * there first. */
static void defer(const Event *e, Str id, Str token)
{
    AUTO_BUF body = BUF(KIB(1));
    Arena *a = e->batch->a;

    buf_addf(&body, "{\"type\":%d,\"data\":{\"flags\":%d}}", LATER_TYPE, ONLY_FOR_THEM);
    discord_link_beat(e->c);
    rest_now(e->c, a,
             &(Ask){ .method = "POST",
                     .path = str_printf(a, "/interactions/%.*s/%.*s/callback", STR_FMT(id),
                                        STR_FMT(token)),
                     .body = buf_str(&body),
                     .until = clock_mono_ms() + DEFER_MS },
             "cannot say that a slash command was heard");
}

static bool on_interaction(const Event *e, Err *err)
{
    Batch *b = e->batch;
    Str id = update_text(e->d, "id");
    Reply reply = { .application = str_dup(b->a, update_text(e->d, "application_id")),
                    .token = str_dup(b->a, update_text(e->d, "token")),
                    .name = str_dup(b->a, update_text(update_get(e->d, "data"), "name")) };

    if (!str_eqz(update_text(e->d, "type"), "2") || !snow_number(id))
        return true;
    defer(e, id, reply.token);
    if (!keep(e, err))
        return false;
    ARENA_PUSH(b->a, b->replies, b->replies_n, b->replies_cap, reply);
    return true;
}

static void set_text(char *to, size_t size, Str text)
{
    snprintf(to, size, "%.*s", STR_FMT(str_head(text, size - 1)));
}

static bool on_ready(const Event *e, Err *err)
{
    const PyValue *user = update_get(e->d, "user"), *guilds = update_get(e->d, "guilds");
    Connection *c = e->c;
    DiscordSocket *l = &c->link;

    set_text(l->session, sizeof l->session, update_text(e->d, "session_id"));
    set_text(l->resume_url, sizeof l->resume_url, update_text(e->d, "resume_gateway_url"));
    l->gap_guilds = guilds->type == PY_LIST ? guilds->n : 0;
    pthread_mutex_lock(&c->wire.lock);
    (void)snow_set(&c->me, update_text(user, "id"));
    (void)snow_set(&c->application, update_text(update_get(e->d, "application"), "id"));
    set_text(c->my_name, sizeof c->my_name, update_text(user, "username"));
    pthread_mutex_unlock(&c->wire.lock);
    l->ready = true;
    return !l->gap_after || backfill_dms(c, e->batch, err);
}

static bool on_resumed(const Event *e, Err *err)
{
    (void)err;
    e->c->link.ready = true;
    return true;
}

static void learn_all(const Event *e, const PyValue *channels, Str guild)
{
    for (uint32_t i = 0; channels->type == PY_LIST && i < channels->n; i++)
        channel_learn(e->c, &channels->items[i], guild);
}

static bool is_us(const Event *e, const PyValue *member)
{
    return str_eq(update_text(update_get(member, "user"), "id"), snow_str(&e->c->me));
}

/* Of ourselves Discord tells also those who may not see the others. */
static bool on_member(const Event *e, Err *err)
{
    (void)err;
    if (is_us(e, e->d))
        roles_learn(&e->c->link, update_text(e->d, "guild_id"), e->d);
    return true;
}

static bool on_guild(const Event *e, Err *err)
{
    const PyValue *members = update_get(e->d, "members");
    const PyValue *channels = update_get(e->d, "channels"), *threads = update_get(e->d, "threads");
    Str guild = update_text(e->d, "id");
    DiscordSocket *l = &e->c->link;
    bool was_here = l->gap_guilds > 0; /* one that we joined just now has nothing that we missed */

    learn_all(e, channels, guild);
    learn_all(e, threads, guild);
    for (uint32_t i = 0; members->type == PY_LIST && i < members->n; i++)
        if (is_us(e, &members->items[i]))
            roles_learn(l, guild, &members->items[i]);
    if (!was_here)
        return true;
    l->gap_guilds--;
    return !l->gap_after || (backfill(e->c, e->batch, channels, guild, err) &&
                             backfill(e->c, e->batch, threads, guild, err));
}

static bool on_channel(const Event *e, Err *err)
{
    (void)err;
    channel_learn(e->c, e->d, STR_NONE);
    return true;
}

static bool on_gone(const Event *e, Err *err)
{
    (void)err;
    channel_forget(e->c, update_text(e->d, "id"));
    return true;
}

static bool on_threads(const Event *e, Err *err)
{
    (void)err;
    learn_all(e, update_get(e->d, "threads"), update_text(e->d, "guild_id"));
    return true;
}

/* X(name, function) */
#define EVENTS(X)                                                                                  \
    X("MESSAGE_CREATE", on_message)                                                                \
    X("INTERACTION_CREATE", on_interaction)                                                        \
    X("READY", on_ready)                                                                           \
    X("RESUMED", on_resumed)                                                                       \
    X("GUILD_CREATE", on_guild)                                                                    \
    X("GUILD_MEMBER_UPDATE", on_member)                                                            \
    X("CHANNEL_CREATE", on_channel)                                                                \
    X("CHANNEL_UPDATE", on_channel)                                                                \
    X("CHANNEL_DELETE", on_gone)                                                                   \
    X("THREAD_CREATE", on_channel)                                                                 \
    X("THREAD_UPDATE", on_channel)                                                                 \
    X("THREAD_DELETE", on_gone)                                                                    \
    X("THREAD_LIST_SYNC", on_threads)

bool event_take(Connection *c, Batch *b, const PyValue *frame, Str raw, Err *err)
{
    Event e = { .c = c, .batch = b, .d = update_get(frame, "d"), .raw = raw };
    Str name = update_text(frame, "t");

#define X(text, fn)                                                                                \
    if (str_eqz(name, text))                                                                       \
        return fn(&e, err);
    EVENTS(X)
#undef X
    return true;
}

/* -- slash commands -- */

/* Puts its name in the place of what defer() said; what the command itself has to say comes as a
 * message. */
static void reply_to(Connection *c, Arena *a, const Reply *r)
{
    AUTO_BUF body = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&body, 0);

    json_begin(&w, '{');
    json_field_str(&w, "content", str_printf(a, "`/%.*s`", STR_FMT(r->name)));
    json_end(&w, '}');
    rest_fire(c,
              &(Ask){ .method = "PATCH",
                      .path = str_printf(a, "/webhooks/%.*s/%.*s/messages/@original",
                                         STR_FMT(r->application), STR_FMT(r->token)),
                      .body = buf_str(&body) },
              "cannot answer a slash command");
}

/* Each with one field for whatever stands behind its name. */
static void write_command(JsonWriter *w, const char *name, const char *text)
{
    json_begin(w, '{');
    json_field_str(w, "name", str_of(name));
    json_field_str(w, "description", str_of(text));
    json_field_int(w, "type", 1);
    json_field_begin(w, "options", '[');
    json_begin(w, '{');
    json_field_int(w, "type", 3);
    json_field_str(w, "name", STR("text"));
    json_field_str(w, "description", STR("arguments of the command"));
    json_field_bool(w, "required", false);
    json_end(w, '}');
    json_end(w, ']');
    json_end(w, '}');
}

static void tell_commands(Connection *c, Arena *a)
{
    AUTO_BUF body = BUF(KIB(16));
    JsonWriter w = JSON_WRITER(&body, 0);

    json_begin(&w, '[');
#define X(id, name, who, all, text) write_command(&w, name, text);
    CHAT_COMMANDS(X)
#undef X
    json_end(&w, ']');
    rest_fire(c,
              &(Ask){ .method = "PUT",
                      .path = str_printf(a, "/applications/%s/commands", c->application.z),
                      .body = buf_str(&body) },
              "cannot register the slash commands");
}

void events_reply(Connection *c, const Batch *b)
{
    for (size_t i = 0; i < b->replies_n; i++)
        reply_to(c, b->a, &b->replies[i]);
    if (c->link.ready && !c->link.commands_told && c->application.z[0]) {
        c->link.commands_told = true;
        tell_commands(c, b->a);
    }
}

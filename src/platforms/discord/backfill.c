/* Messages that came while nobody listened and the old session could not be taken up again.
 * Discord's numbers grow with time, whatever the channel: so one number says how far we had read,
 * and a channel whose newest message is not beyond it need not be asked. What is older than a day
 * is left alone: an answer would only puzzle. */
#include "base/limits.h"
#include "platforms/discord/inside.h"

enum { PAGE = 100, MAX_PAGES = 5, MAX_CHANNELS = 50 };

/* The roles of whoever wrote it, a list; where they count, since a message that is fetched does not
 * name them. False: not now. */
static bool ask_roles(Connection *c, Batch *b, const PyValue *m, Str guild, Str *ret, Err *err)
{
    AUTO_BUF out = BUF(KIB(16));
    Str author = update_text(update_get(m, "author"), "id"),
        path = str_printf(b->a, "/guilds/%.*s/members/%.*s", STR_FMT(guild), STR_FMT(author));
    Rest rest;
    bool ok;

    *ret = str_eq(path, b->member) ? b->roles : STR("[]");
    if (!c->by_roles || !snow_number(guild) || !snow_number(author) || str_eq(path, b->member))
        return true;
    discord_link_beat(c);
    ok = rest_call(c, b->a, &(Ask){ .method = "GET", .path = path, .until = discord_soon() }, &rest,
                   err);
    if (!ok && (err->kind == ERR_IO || err->kind == ERR_BUSY))
        return false;
    if (ok && update_get(&rest.v, "roles")->type == PY_LIST)
        pyjson_write(&out, update_get(&rest.v, "roles"));
    b->member = path;
    b->roles = out.n && !buf_full(&out) ? str_dup(b->a, buf_str(&out)) : STR("[]");
    *ret = b->roles;
    return true;
}

/* {"t": "MESSAGE_CREATE", "d": message, "channel": facts}: as the gateway would have told it, but
 * for the author's roles, which lie beside it. */
static bool keep_message(Connection *c, Batch *b, const PyValue *m, const ChannelFacts *facts,
                         Err *err)
{
    AUTO_BUF out = BUF(LIMIT_UPDATE_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);
    Update update = { .id = str_dup(b->a, update_text(m, "id")) };
    Str roles;

    if (!snow_number(update.id) ||
        str_eq(update_text(update_get(m, "author"), "id"), snow_str(&c->me)))
        return true;
    if (!ask_roles(c, b, m, facts->guild, &roles, err))
        return false;
    buf_addz(&out, "{\"t\":\"MESSAGE_CREATE\",\"d\":");
    pyjson_write(&out, m);
    buf_addz(&out, ",\"channel\":");
    channel_write(&w, facts);
    roles_write(c, b->a, m, facts->guild, &out);
    if (c->by_roles)
        buf_addf(&out, ",\"member\":{\"roles\":%.*s}", STR_FMT(roles));
    buf_addc(&out, '}');
    if (buf_full(&out))
        return true;
    update.json = str_dup(b->a, buf_str(&out));
    ARENA_PUSH(b->a, b->all, b->n, b->cap, update);
    if (snow_number(update.id) > b->last)
        b->last = snow_number(update.id);
    return true;
}

/* One page, oldest first; *after moves on. *ret_more: it was full. */
static bool fetch_page(Connection *c, Batch *b, Str channel, const ChannelFacts *facts,
                       int64_t *after, bool *ret_more, Err *err)
{
    Rest rest;

    *ret_more = false;
    discord_link_beat(c);
    if (!rest_call(c, b->a,
                   &(Ask){ .method = "GET",
                           .path = str_printf(b->a, "/channels/%.*s/messages?after=%lld&limit=%d",
                                              STR_FMT(channel), (long long)*after, PAGE),
                           .until = discord_soon() },
                   &rest, err))
        return err->kind != ERR_IO && err->kind != ERR_BUSY; /* one that we may not read */
    if (rest.v.type != PY_LIST)
        return true;
    for (uint32_t i = rest.v.n; i-- > 0;) {
        int64_t id = snow_number(update_text(&rest.v.items[i], "id"));

        if (!keep_message(c, b, &rest.v.items[i], facts, err))
            return false;
        *after = id > *after ? id : *after;
    }
    *ret_more = rest.v.n >= PAGE;
    return true;
}

static bool fetch_channel(Connection *c, Batch *b, Str channel, const ChannelFacts *facts, Err *err)
{
    int64_t after = c->link.gap_after;
    bool more = true;

    for (int page = 0; more && page < MAX_PAGES; page++)
        if (!fetch_page(c, b, channel, facts, &after, &more, err))
            return false;
    return true;
}

static bool holds_messages(int type)
{
    return type == CHANNEL_TEXT || type == CHANNEL_NEWS || channel_is_thread(type);
}

bool backfill(Connection *c, Batch *b, const PyValue *channels, Str guild, Err *err)
{
    size_t asked = 0;

    for (uint32_t i = 0; channels->type == PY_LIST && i < channels->n; i++) {
        const PyValue *v = &channels->items[i];
        int64_t newest = snow_number(update_text(v, "last_message_id")), type;

        if (newest <= c->link.gap_after || asked == MAX_CHANNELS ||
            !str_to_int(update_text(v, "type"), 0, 255, &type) || !holds_messages((int)type))
            continue;
        asked++;
        if (!fetch_channel(c, b, update_text(v, "id"),
                           &(ChannelFacts){ .type = (int)type,
                                            .guild = guild,
                                            .parent = update_text(v, "parent_id"),
                                            .name = update_text(v, "name") },
                           err))
            return false;
    }
    return true;
}

bool backfill_dms(Connection *c, Batch *b, Err *err)
{
    for (size_t i = 0; i < c->link.dms_n; i++)
        if (!fetch_channel(c, b, snow_str(&c->link.dms[i]), &(ChannelFacts){ .type = CHANNEL_DM },
                           err))
            return false;
    return true;
}

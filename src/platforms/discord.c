/* Discord's MESSAGE_CREATE. A message in a thread carries the thread's number as its channel and says no more:
 * so what is known of the channel lies beside it in the inbox, {"d": message, "channel": {type, parent_id,
 * name}}. A thread is a chat of its own. */
#include "platforms/platform.h"
#include "platforms/read.h"

typedef struct Where {
    Str channel, guild, parent, name, author, author_name;
    bool thread;
} Where;

static Place place_from(const Where *w)
{
    return (Place){ .platform = STR("discord"),
                    .chat_id = w->channel,
                    .chat_name = w->name,
                    .chat_type = w->thread        ? STR("thread")
                                 : w->guild.n > 0 ? STR("group")
                                                  : STR("dm"),
                    .user_id = w->author,
                    .user_name = w->author_name,
                    .thread_id = w->thread ? w->channel : STR_NONE,
                    .scope_id = w->guild,
                    .parent_chat_id = w->thread ? w->parent : STR_NONE };
}

static bool discord_parse(Arena *a, Str update, Inbound *ret, bool *ret_is, Err *err)
{
    const PyValue *d, *author, *channel;
    PyValue v;
    Where w;

    if (!update_read(a, update, "discord", &v, err))
        return false;
    d = update_get(&v, "d");
    author = update_get(d, "author");
    channel = update_get(&v, "channel");
    *ret_is = update_text(d, "channel_id").n > 0 && update_text(author, "id").n > 0;
    if (!*ret_is)
        return true;
    w = (Where){ .channel = update_text(d, "channel_id"),
                 .guild = update_text(d, "guild_id"),
                 .parent = update_text(channel, "parent_id"),
                 .name = update_text(channel, "name"),
                 .author = update_text(author, "id"),
                 .author_name = update_text(author, "username"),
                 .thread = str_is_one_of(update_text(channel, "type"), "10|11|12") };
    *ret = (Inbound){ .place = place_from(&w),
                      .text = update_text(d, "content"),
                      .message_id = update_text(d, "id"),
                      .by_bot = update_true(author, "bot") };
    return true;
}

static bool discord_place(Arena *a, const HomeChannel *home, Str thread_id, Place *ret, Err *err)
{
    bool dm = str_eqz(home->chat_type, "dm");
    Where w = { .channel = thread_id.n ? thread_id : home->chat_id,
                .guild = dm                 ? STR_NONE
                         : home->scope_id.n ? home->scope_id
                                            : STR("guild"),
                .parent = home->chat_id,
                .name = home->name,
                .author = home->owner_id.n ? home->owner_id : UNKNOWN_USER,
                .author_name = STR("Handoff"),
                .thread = thread_id.n > 0 };

    (void)a;
    if (!dm && !thread_id.n && !home->owner_id.n)
        return needs_owner("discord", home->chat_id, err);
    *ret = place_from(&w);
    if (!home->scope_id.n)
        ret->scope_id = STR_NONE; /* that there is a guild counts for the kind of chat, not which */
    return true;
}

const Shape shape_discord = { .name = "discord",
                              .max_text = 2000,
                              .parse = discord_parse,
                              .place = discord_place,
                              .measure = measure_code_points };

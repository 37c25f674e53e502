/* Discord's MESSAGE_CREATE, and INTERACTION_CREATE of a slash command. A message in a thread
 * carries the thread's number as its channel and says no more: so what is known of the channel lies
 * beside it in the inbox, {"d": message, "channel": {type, guild_id, parent_id, name}}; of a
 * message that was fetched, not sent, the guild too, and
 * {"member": {roles}} of its author where that counts. Beside one that names roles lie those that
 * are ours. A thread is its own chat. */
#include "base/limits.h"
#include "platforms/attached.h"

typedef struct Where {
    Str channel, guild, parent, name, author, author_name;
    bool thread;
} Where;

static ChatAddress place_from(const Where *w)
{
    return (ChatAddress){ .platform = STR("discord"),
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

static Str either(Str first, Str second)
{
    return first.n ? first : second;
}

/* -- messages -- */

/* Text and answers are what people say; everything else (pins, joins, starters of threads) is
 * Discord's. */
static bool is_said(const PyValue *d)
{
    Str type = update_text(d, "type");

    return !type.n || str_is_one_of(type, "0|19");
}

static bool names(const PyValue *d, Str id)
{
    const PyValue *all = update_get(d, "mentions");
    const PyValue *before = update_get(update_get(d, "referenced_message"), "author");

    for (uint32_t i = 0; all->type == PY_LIST && i < all->n; i++)
        if (str_eq(update_text(&all->items[i], "id"), id))
            return true;
    return str_eq(update_text(before, "id"), id);
}

static bool without_mark(Str *text, Str mark)
{
    if (!str_starts(str_trim(*text), mark))
        return false;
    *text = str_trim(str_skip(str_trim(*text), mark.n));
    return true;
}

/* Without "<@id>", "<@!id>" or "<@&role>" in front. */
static Str without_name(Arena *a, Str text, Str id, const PyValue *roles)
{
    if (id.n && (without_mark(&text, str_printf(a, "<@%.*s>", STR_FMT(id))) ||
                 without_mark(&text, str_printf(a, "<@!%.*s>", STR_FMT(id)))))
        return text;
    for (uint32_t i = 0; roles->type == PY_LIST && i < roles->n; i++)
        if (without_mark(&text, str_printf(a, "<@&%.*s>", STR_FMT(roles->items[i].text))))
            break;
    return text;
}

static void read_files(Arena *a, const PyValue *d, Inbound *in)
{
    const PyValue *all = update_get(d, "attachments");

    for (uint32_t i = 0; all->type == PY_LIST && i < all->n; i++) {
        const PyValue *file = &all->items[i];

        attached_add(a, in,
                     (InboundFile){ .name = update_text(file, "filename"),
                                    .mime = update_text(file, "content_type"),
                                    .size = attached_size(file, "size"),
                                    .ref = update_text(file, "url") },
                     STR("file"));
    }
}

/* -- slash commands -- */

/* "/name value value", as somebody would have typed it. */
static Str typed(Arena *a, const PyValue *data)
{
    const PyValue *options = update_get(data, "options");
    Str text = str_printf(a, "/%.*s", STR_FMT(update_text(data, "name")));

    for (uint32_t i = 0; options->type == PY_LIST && i < options->n; i++)
        text = str_printf(a, "%.*s %.*s", STR_FMT(text),
                          STR_FMT(update_text(&options->items[i], "value")));
    return text;
}

/* -- both -- */

static const PyValue *author_of(const PyValue *d, bool slash)
{
    const PyValue *user = update_get(d, "user");

    if (!slash)
        return update_get(d, "author");
    return user->type == PY_DICT ? user : update_get(update_get(d, "member"), "user");
}

/* "1,2": what a member has of roles. */
static Str roles_of(Arena *a, const PyValue *member)
{
    const PyValue *all = update_get(member, "roles");
    AUTO_BUF out = BUF(KIB(16));

    for (uint32_t i = 0; all->type == PY_LIST && i < all->n; i++)
        if (all->items[i].type == PY_STR)
            buf_addf(&out, "%s%.*s", out.n ? "," : "", STR_FMT(all->items[i].text));
    return buf_full(&out) ? STR("") : str_dup(a, buf_str(&out));
}

static bool discord_parse(Arena *a, Str update, const Identity *me, Inbound *ret, bool *ret_is,
                          Err *err)
{
    const PyValue *d, *author, *channel, *roles, *member;
    bool slash;
    PyValue v;
    Where w;

    if (!update_read(a, update, "discord", &v, err))
        return false;
    d = update_get(&v, "d");
    slash = str_eqz(update_text(&v, "t"), "INTERACTION_CREATE");
    author = author_of(d, slash);
    channel = update_get(&v, "channel");
    roles = update_get(&v, "our_roles");
    member = update_get(d, "member");
    *ret_is = update_text(d, "channel_id").n > 0 && update_text(author, "id").n > 0 &&
              (slash ? update_text(update_get(d, "data"), "name").n > 0 : is_said(d));
    if (!*ret_is)
        return true;
    w = (Where){ .channel = update_text(d, "channel_id"),
                 .guild = either(update_text(d, "guild_id"), update_text(channel, "guild_id")),
                 .parent = update_text(channel, "parent_id"),
                 .name = update_text(channel, "name"),
                 .author = update_text(author, "id"),
                 .author_name = update_text(author, "username"),
                 .thread = str_is_one_of(update_text(channel, "type"), "10|11|12") };
    *ret = (Inbound){ .place = place_from(&w),
                      .text = slash ? typed(a, update_get(d, "data"))
                                    : without_name(a, update_text(d, "content"), me->id, roles),
                      .message_id = update_text(d, "id"),
                      .roles =
                          roles_of(a, member->type == PY_DICT ? member : update_get(&v, "member")),
                      .by_bot = update_true(author, "bot") || update_text(d, "webhook_id").n > 0,
                      .by_us = me->id.n > 0 && str_eq(w.author, me->id),
                      .addressed = slash || !w.guild.n || (me->id.n > 0 && names(d, me->id)) ||
                                   (roles->type == PY_LIST && roles->n > 0) };
    if (!slash)
        read_files(a, d, ret);
    return true;
}

static bool discord_place(Arena *a, const HomeChannel *home, Str thread_id, ChatAddress *ret,
                          Err *err)
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
    (void)err;
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

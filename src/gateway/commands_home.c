/* The home channel of a platform, as somebody in a chat names it. Where handoffs go is worth more than a session: the
 * configuration counts before it, and the chat that loses them hears of it. */
#include "chat/home_channels.h"
#include "gateway/commands.h"

static Str name_of(const HomeChannel *home)
{
    return home->name.n ? home->name : home->chat_id;
}

/* Before the change: a gateway that dies between the two does both again, and says it once. */
static bool tell_old_home(Chat *c, const HomeChannel *now, Err *err)
{
    Str platform = c->in->place.platform;
    HomeChannel old;
    ChatAddress there;

    if (!home_get(c->journal, c->arena, platform, STR(""), &old, err))
        return err->kind == ERR_NOT_FOUND;
    if (str_eq(old.chat_id, now->chat_id))
        return true;
    there = (ChatAddress){ .platform = platform,
                           .chat_id = old.chat_id,
                           .chat_type = old.chat_type,
                           .scope_id = old.scope_id,
                           .user_id = old.owner_id,
                           .thread_id = old.thread_id };
    return c->sinks->say(
        c->sinks->turns, &there, str_printf(c->arena, "home:%.*s", STR_FMT(c->id)),
        str_printf(
            c->arena,
            "Sessions handed over to %.*s no longer arrive here: %.*s made '%.*s' the home "
            "channel. If that was not you, remove them from platforms.%.*s.allowed and type "
            "/sethome here.",
            STR_FMT(platform),
            STR_FMT(c->in->place.user_name.n ? c->in->place.user_name : c->in->place.user_id),
            STR_FMT(name_of(now)), STR_FMT(platform)),
        err);
}

bool chat_set_home(Chat *c, Str *ret, Err *err)
{
    const ChatAddress *at = &c->in->place;
    Str chat = at->parent_chat_id.n ? at->parent_chat_id : at->chat_id;
    HomeChannel home;

    if (!home_may_be(at->platform, c->here->config ? c->here->config->home_channel : STR(""), chat,
                     err) ||
        !c->here->platform->look(c->here->connection, c->arena, chat, at->user_id, &home, err) ||
        !tell_old_home(c, &home, err) || !home_set(c->journal, at->platform, &home, err))
        return false;
    *ret = str_printf(
        c->arena, "%.*s is now the home channel of %.*s: sessions handed over arrive here, %s.%s",
        STR_FMT(name_of(&home)), STR_FMT(at->platform),
        home.threads ? "each in its own thread" : HOME_WITHOUT_THREADS,
        str_eqz(home.chat_type, "dm") ? "" : " Everyone in this chat will be able to read them.");
    return true;
}

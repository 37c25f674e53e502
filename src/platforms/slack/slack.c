/* Slack's events. Every message is a thread or begins one: its own time stamp is the thread's name
 * until somebody answers in it. So a destination is known beforehand only in a thread that there is
 * already. */
#include "platforms/slack/slack.h"
#include "platforms/attached.h"
#include "text/utf8.h"

typedef struct Where {
    Str channel, kind, team, ts, thread_ts, user;
} Where;

static ChatAddress place_from(const Where *w)
{
    return (ChatAddress){ .platform = STR("slack"),
                          .chat_id = w->channel,
                          .chat_type = str_is_one_of(w->kind, "im|mpim") ? STR("dm") : STR("group"),
                          .user_id = w->user,
                          .thread_id = w->thread_ts.n ? w->thread_ts : w->ts,
                          .scope_id = w->team };
}

/* Where an event does not say what kind of channel it is, the first letter of its name does. */
static Str kind_from_name(Str channel)
{
    return channel.n && channel.p[0] == 'D' ? STR("im") : STR("channel");
}

/* -- updates: an envelope of Socket Mode, or what is in it -- */

static bool read_payload(Arena *a, Str update, PyValue *ret, Err *err)
{
    PyValue v;

    if (!update_read(a, update, "slack", &v, err))
        return false;
    *ret = update_get(&v, "payload")->type == PY_DICT ? *update_get(&v, "payload") : v;
    return true;
}

/* What somebody wrote just now: not a change, not a bot's, not that somebody came or went. */
static bool is_message(const PyValue *event)
{
    Str subtype = update_text(event, "subtype");

    return str_is_one_of(update_text(event, "type"), "message|app_mention") &&
           (!subtype.n || str_is_one_of(subtype, "file_share|thread_broadcast|me_message")) &&
           !update_true(event, "hidden") && update_text(event, "ts").n &&
           update_text(event, "channel").n;
}

static bool is_command(const PyValue *payload)
{
    Str name = update_text(payload, "command");

    return name.n > 1 && name.p[0] == '/' && update_text(payload, "channel_id").n > 0;
}

/* Whether it begins with our name: "<@U1>" or "<@U1|talaria>"; *ret_rest is what stands behind. */
static bool begins_with_us(Str text, Str id, Str *ret_rest)
{
    Str rest = text;
    size_t end;

    if (!id.n || !str_starts(rest, STR("<@")) || !str_starts(str_skip(rest, 2), id))
        return false;
    rest = str_skip(rest, 2 + id.n);
    end = str_find(rest, STR(">"));
    if (end == rest.n || (end && rest.p[0] != '|'))
        return false;
    *ret_rest = str_skip(rest, end + 1);
    return true;
}

static bool names_us(Str text, Str id)
{
    Str ignored;

    for (; text.n; text = str_skip(text, 1)) {
        text = str_skip(text, str_find(text, STR("<@")));
        if (begins_with_us(text, id, &ignored))
            return true;
    }
    return false;
}

static Str without_us(Str text, Str id)
{
    Str rest = str_trim(text);

    if (!begins_with_us(rest, id, &rest))
        return text;
    rest = str_trim(rest);
    if (rest.n && (rest.p[0] == ':' || rest.p[0] == ','))
        rest = str_trim(str_skip(rest, 1));
    return rest;
}

/* One that was deleted, or that belongs to another team, has no address. */
static void read_files(Arena *a, const PyValue *event, Inbound *in)
{
    const PyValue *all = update_get(event, "files");

    for (uint32_t i = 0; all->type == PY_LIST && i < all->n; i++) {
        const PyValue *file = &all->items[i];

        attached_add(a, in,
                     (InboundFile){ .name = update_text(file, "name"),
                                    .mime = update_text(file, "mimetype"),
                                    .size = attached_size(file, "size"),
                                    .ref = update_text(file, "url_private") },
                     STR("file"));
    }
}

static void read_message(Arena *a, const PyValue *payload, const Identity *me, Inbound *ret)
{
    const PyValue *event = update_get(payload, "event");
    Str text = update_text(event, "text"), us = me ? me->id : STR_NONE;
    Where w = { .channel = update_text(event, "channel"),
                .kind = update_text(event, "channel_type"),
                .team = update_text(payload, "team_id"),
                .ts = update_text(event, "ts"),
                .thread_ts = update_text(event, "thread_ts"),
                .user = update_text(event, "user") };

    if (!w.kind.n)
        w.kind = kind_from_name(w.channel);
    *ret = (Inbound){ .place = place_from(&w),
                      .text = slack_to_markdown(a, without_us(text, us)),
                      .message_id = w.ts,
                      .by_bot = update_text(event, "bot_id").n > 0,
                      .by_us = us.n && str_eq(w.user, us),
                      .addressed = str_eqz(w.kind, "im") ||
                                   str_eqz(update_text(event, "type"), "app_mention") ||
                                   names_us(text, us) ||
                                   (us.n && str_eq(update_text(event, "parent_user_id"), us)) };
    read_files(a, event, ret);
}

/* "/talaria status" is "/status", and so is "/status" itself. */
static void read_command(Arena *a, const PyValue *payload, Inbound *ret)
{
    Str name = update_text(payload, "command"), args = str_trim(update_text(payload, "text"));
    Str channel = update_text(payload, "channel_id");
    Where w = { .channel = channel,
                .kind = kind_from_name(channel),
                .team = update_text(payload, "team_id"),
                .user = update_text(payload, "user_id") };

    if (str_is_one_of(name, "/talaria|/hermes"))
        args = str_printf(a, "/%.*s", STR_FMT(args.n ? args : STR("help")));
    else
        args = str_printf(a, "%.*s%s%.*s", STR_FMT(name), args.n ? " " : "", STR_FMT(args));
    *ret = (Inbound){ .place = place_from(&w),
                      .text = args,
                      .message_id = update_text(payload, "trigger_id"),
                      .addressed = true };
}

static bool slack_parse(Arena *a, Str update, const Identity *me, Inbound *ret, bool *ret_is,
                        Err *err)
{
    PyValue payload;

    if (!read_payload(a, update, &payload, err))
        return false;
    *ret_is = true;
    if (is_command(&payload))
        read_command(a, &payload, ret);
    else if (is_message(update_get(&payload, "event")))
        read_message(a, &payload, me, ret);
    else
        *ret_is = false;
    return true;
}

bool slack_name(Arena *a, Str update, const Identity *me, Str *ret, bool *ret_keep, Err *err)
{
    Inbound in = { 0 };

    if (!slack_parse(a, update, me, &in, ret_keep, err))
        return false;
    *ret_keep = *ret_keep && !in.by_us;
    if (*ret_keep)
        *ret = str_printf(a, "%.*s:%.*s", STR_FMT(in.place.chat_id), STR_FMT(in.message_id));
    return true;
}

/* -- destinations -- */

static bool slack_place(Arena *a, const HomeChannel *home, Str thread_id, ChatAddress *ret,
                        Err *err)
{
    bool dm = str_eqz(home->chat_type, "dm") || str_eqz(kind_from_name(home->chat_id), "im");
    Where w = { .channel = home->chat_id,
                .kind = dm ? STR("im") : STR("channel"),
                .team = home->scope_id,
                .thread_ts = thread_id,
                .user = home->owner_id.n ? home->owner_id : UNKNOWN_USER };

    (void)a;
    if (!home->scope_id.n)
        return err_set(
            err, ERR_REFUSED,
            "the workspace of slack channel '%.*s' is unknown; type /sethome there again",
            STR_FMT(home->chat_id));
    if (!thread_id.n)
        return err_set(
            err, ERR_REFUSED,
            "in slack channel '%.*s' every message starts a session; hand over to a thread there",
            STR_FMT(home->chat_id));
    *ret = place_from(&w);
    ret->chat_name = home->name;
    ret->user_name = STR("Handoff");
    return true;
}

/* Slack counts what it is sent, in which '&', '<' and '>' are escaped. */
static size_t slack_measure(Str text)
{
    size_t n = utf8_count(text);

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '&' ? 4 : text.p[i] == '<' || text.p[i] == '>' ? 3 : 0;
    return n;
}

const Shape shape_slack = { .name = "slack",
                            .max_text = 39000,
                            .parse = slack_parse,
                            .place = slack_place,
                            .measure = slack_measure };

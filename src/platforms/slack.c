/* Slack's events. Every message is a thread or begins one: its own time stamp is the thread's name until
 * somebody answers in it. So a destination is known beforehand only in a thread that there is already. */
#include "platforms/platform.h"
#include "platforms/read.h"

typedef struct Where {
    Str channel, kind, team, ts, thread_ts, user;
} Where;

static Place place_from(const Where *w)
{
    return (Place){ .platform = STR("slack"),
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

static bool slack_parse(Arena *a, Str update, Inbound *ret, bool *ret_is, Err *err)
{
    const PyValue *payload, *event;
    PyValue v;
    Where w;

    if (!update_read(a, update, "slack", &v, err))
        return false;
    payload = update_get(&v, "payload");
    if (payload->type != PY_DICT)
        payload = &v;
    event = update_get(payload, "event");
    *ret_is = str_is_one_of(update_text(event, "type"), "message|app_mention") &&
              update_text(event, "ts").n > 0 && update_text(event, "channel").n > 0;
    if (!*ret_is)
        return true;
    w = (Where){ .channel = update_text(event, "channel"),
                 .kind = update_text(event, "channel_type"),
                 .team = update_text(payload, "team_id"),
                 .ts = update_text(event, "ts"),
                 .thread_ts = update_text(event, "thread_ts"),
                 .user = update_text(event, "user") };
    if (!w.kind.n)
        w.kind = kind_from_name(w.channel);
    *ret = (Inbound){ .place = place_from(&w),
                      .text = update_text(event, "text"),
                      .message_id = w.ts,
                      .by_bot = update_text(event, "bot_id").n > 0 };
    return true;
}

static bool slack_place(Arena *a, const HomeChannel *home, Str thread_id, Place *ret, Err *err)
{
    bool dm = str_eqz(home->chat_type, "dm") || str_eqz(kind_from_name(home->chat_id), "im");
    Where w = { .channel = home->chat_id,
                .kind = dm ? STR("im") : STR("channel"),
                .team = home->scope_id,
                .thread_ts = thread_id,
                .user = home->owner_id.n ? home->owner_id : UNKNOWN_USER };

    (void)a;
    if (!thread_id.n)
        return err_set(err, ERR_REFUSED,
                       "in slack channel '%.*s' every message begins a session: a handoff needs a "
                       "thread there",
                       STR_FMT(home->chat_id));
    *ret = place_from(&w);
    ret->chat_name = home->name;
    ret->user_name = STR("Handoff");
    return true;
}

const Shape shape_slack = { .name = "slack",
                            .max_text = 39000,
                            .parse = slack_parse,
                            .place = slack_place,
                            .measure = measure_code_points };

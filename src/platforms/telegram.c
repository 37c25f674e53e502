/* Telegram's updates. A private chat's topics are threads of a dm; a forum's General topic has no number in a
 * message and is 1; in other groups a thread is one only where the message says so (an answer to a message
 * carries a thread number too). */
#include "platforms/platform.h"
#include "platforms/read.h"
#include "text/utf8.h"

/* What a message says about where it is, from an update or made up for a destination. */
typedef struct Where {
    Str chat_id, type, title, thread, from, from_name;
    bool forum, topic_message;
} Where;

static Str kind_of(const Where *w)
{
    if (str_eqz(w->type, "private"))
        return STR("dm");
    return str_eqz(w->type, "channel") ? STR("channel") : STR("group");
}

static Str thread_of(const Where *w)
{
    if (str_eqz(w->type, "channel"))
        return STR_NONE;
    if (w->forum && !str_eqz(w->type, "private"))
        return w->thread.n ? w->thread : STR("1");
    return w->topic_message ? w->thread : STR_NONE;
}

static Place place_from(const Where *w)
{
    return (Place){ .platform = STR("telegram"),
                    .chat_id = w->chat_id,
                    .chat_name = w->title,
                    .chat_type = kind_of(w),
                    .user_id = w->from.n || !str_eqz(w->type, "channel") ? w->from : w->chat_id,
                    .user_name = w->from_name,
                    .thread_id = thread_of(w) };
}

static bool telegram_parse(Arena *a, Str update, Inbound *ret, bool *ret_is, Err *err)
{
    const PyValue *m, *chat, *from;
    PyValue v;
    Where w;

    if (!update_read(a, update, "telegram", &v, err))
        return false;
    m = update_get(&v, "message");
    if (m->type != PY_DICT)
        m = update_get(&v, "channel_post");
    chat = update_get(m, "chat");
    from = update_get(m, "from");
    *ret_is = update_text(chat, "id").n > 0;
    if (!*ret_is)
        return true;
    w = (Where){ .chat_id = update_text(chat, "id"),
                 .type = update_text(chat, "type"),
                 .title = update_text(chat, "title"),
                 .forum = update_true(chat, "is_forum"),
                 .thread = update_text(m, "message_thread_id"),
                 .topic_message = update_true(m, "is_topic_message"),
                 .from = update_text(from, "id"),
                 .from_name = update_text(from, "first_name") };
    *ret = (Inbound){ .place = place_from(&w),
                      .text = update_text(m, update_text(m, "text").p ? "text" : "caption"),
                      .message_id = update_text(m, "message_id"),
                      .by_bot = update_true(from, "is_bot") };
    return true;
}

static bool telegram_place(Arena *a, const HomeChannel *home, Str thread_id, Place *ret, Err *err)
{
    bool dm = str_eqz(home->chat_type, "dm"), channel = str_eqz(home->chat_type, "channel");
    Where w = { .chat_id = home->chat_id,
                .type = dm        ? STR("private")
                        : channel ? STR("channel")
                                  : STR("supergroup"),
                .title = home->name,
                .forum = home->topics,
                .thread = thread_id,
                .topic_message = thread_id.n > 0,
                .from = home->owner_id.n ? home->owner_id
                        : dm             ? home->chat_id
                                         : UNKNOWN_USER,
                .from_name = STR("Handoff") };

    (void)a;
    if (!dm && !channel && !home->owner_id.n && !thread_of(&w).n)
        return needs_owner("telegram", home->chat_id, err);
    if (channel && !home->owner_id.n)
        w.from = STR_NONE;
    *ret = place_from(&w);
    return true;
}

/* UTF-16 units: what is beyond the first 65,536 code points counts twice. */
static size_t telegram_measure(Str text)
{
    size_t n = 0;

    while (text.n)
        n += utf8_next(&text) > 0xffff ? 2 : 1;
    return n;
}

const Shape shape_telegram = { .name = "telegram",
                               .max_text = 4096,
                               .parse = telegram_parse,
                               .place = telegram_place,
                               .measure = telegram_measure };

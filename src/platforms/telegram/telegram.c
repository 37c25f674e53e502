/* Telegram's updates. A private chat's topics are threads of a dm; a forum's General topic has no
 * number in a message and is 1; in other groups a thread is one only where the message says so (an
 * answer to a message carries a thread number too). An album is several messages: those that came
 * together lie in the inbox as one,
 * {"message": first, "album": [others]}. */
#include "base/limits.h"
#include "platforms/attached.h"
#include "platforms/telegram/entities.h"
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

static ChatAddress place_from(const Where *w)
{
    return (ChatAddress){ .platform = STR("telegram"),
                          .chat_id = w->chat_id,
                          .chat_name = w->title,
                          .chat_type = kind_of(w),
                          .user_id =
                              w->from.n || !str_eqz(w->type, "channel") ? w->from : w->chat_id,
                          .user_name = w->from_name,
                          .thread_id = thread_of(w) };
}

/* -- to whom it is said -- */

/* What an entity covers; it counts in UTF-16 units. Empty where it lies outside of the text. */
static Str covered(Str text, const PyValue *entity)
{
    int64_t at, n;
    size_t from;

    if (!str_to_int(update_text(entity, "offset"), 0, INT32_MAX, &at) ||
        !str_to_int(update_text(entity, "length"), 1, INT32_MAX, &n))
        return STR_NONE;
    for (; at > 0 && text.n; at--)
        at -= utf8_next(&text) > 0xffff;
    for (from = text.n; n > 0 && from; n--) {
        Str rest = { text.p + text.n - from, from };

        n -= utf8_next(&rest) > 0xffff;
        from = rest.n;
    }
    return str_head(text, text.n - from);
}

static bool is_our_name(Str said, const Identity *me)
{
    return me->name.n && said.n == me->name.n + 1 && said.p[0] == '@' &&
           str_eq_nocase(str_skip(said, 1), me->name);
}

/* "/status@our_bot" is ours, "/status" and "/status@their_bot" name nobody or another. */
static bool is_our_command(Str said, const Identity *me)
{
    return is_our_name(str_skip(said, str_find(said, STR("@"))), me);
}

static bool entity_names_us(const PyValue *entity, Str said, const Identity *me)
{
    Str type = update_text(entity, "type");

    if (str_eqz(type, "mention"))
        return is_our_name(said, me);
    if (str_eqz(type, "bot_command"))
        return is_our_command(said, me);
    return str_eqz(type, "text_mention") && me->id.n &&
           str_eq(update_text(update_get(entity, "user"), "id"), me->id);
}

/* Takes our name away where it leads: "@our_bot hello" is hello, "/status@our_bot now" is /status
 * now. */
static Str without_name(Arena *a, Str text, Str said)
{
    size_t at = str_find(said, STR("@"));

    if (said.p != text.p)
        return text;
    if (said.p[0] != '/')
        return str_trim(str_skip(text, said.n));
    return str_printf(a, "%.*s%.*s", STR_FMT(str_head(said, at)), STR_FMT(str_skip(text, said.n)));
}

/* Every message of a topic answers the one that opened it; that is no answer to whoever opened
 * it. */
static bool answers_us(const PyValue *message, const Identity *me)
{
    const PyValue *to = update_get(message, "reply_to_message");

    return me->id.n && str_eq(update_text(update_get(to, "from"), "id"), me->id) &&
           update_get(to, "forum_topic_created")->type != PY_DICT;
}

static void read_words(Arena *a, const PyValue *m, const Identity *me, Inbound *in)
{
    bool plain = update_text(m, "text").p != NULL;
    Str text = utf8_repair(a, update_text(m, plain ? "text" : "caption"));
    const PyValue *all = update_get(m, plain ? "entities" : "caption_entities");

    in->text = text;
    in->addressed = str_eqz(in->place.chat_type, "dm") || answers_us(m, me);
    for (uint32_t i = 0; all->type == PY_LIST && i < all->n; i++) {
        Str said = covered(text, &all->items[i]);

        if (!said.n || !entity_names_us(&all->items[i], said, me))
            continue;
        in->addressed = true;
        if (in->text.p == text.p && in->text.n == text.n)
            in->text = without_name(a, text, said);
    }
}

/* -- files -- */

/* X(member, name where the sender gave none, its ending) */
#define TELEGRAM_FILES(X)                                                                          \
    X("document", "file", "")                                                                      \
    X("voice", "voice", ".ogg")                                                                    \
    X("audio", "audio", ".mp3")                                                                    \
    X("video", "video", ".mp4")                                                                    \
    X("video_note", "video", ".mp4")

static void add_file(Arena *a, const PyValue *m, const char *member, const char *name,
                     const char *ending, Inbound *in)
{
    const PyValue *file = update_get(m, member);

    if (file->type != PY_DICT)
        return;
    attached_add(a, in,
                 (InboundFile){ .name = update_text(file, "file_name"),
                                .mime = update_text(file, "mime_type"),
                                .size = attached_size(file, "file_size"),
                                .ref = update_text(file, "file_id") },
                 str_printf(a, "%s_%.*s%s", name,
                            STR_FMT(str_head(update_text(m, "message_id"), 20)), ending));
}

static bool fits(int64_t size)
{
    return size <= LIMIT_FILE_BYTES;
}

/* A photo comes in several sizes: the largest that may be kept. */
static void add_photo(Arena *a, const PyValue *m, Inbound *in)
{
    const PyValue *all = update_get(m, "photo");
    InboundFile best = { .mime = STR("image/jpeg") };

    for (uint32_t i = 0; all->type == PY_LIST && i < all->n; i++) {
        int64_t size = attached_size(&all->items[i], "file_size");
        Str id = update_text(&all->items[i], "file_id");

        if (!id.n || (best.ref.n && (!fits(size) || (fits(best.size) && size <= best.size))))
            continue;
        best.size = size;
        best.ref = id;
    }
    if (best.ref.n)
        attached_add(
            a, in, best,
            str_printf(a, "photo_%.*s.jpg", STR_FMT(str_head(update_text(m, "message_id"), 20))));
}

static void read_files(Arena *a, const PyValue *m, Inbound *in)
{
    add_photo(a, m, in);
#define X(member, name, ending) add_file(a, m, member, name, ending, in);
    TELEGRAM_FILES(X)
#undef X
}

/* -- reading -- */

static Where where_from(const PyValue *m)
{
    const PyValue *chat = update_get(m, "chat"), *from = update_get(m, "from");

    return (Where){ .chat_id = update_text(chat, "id"),
                    .type = update_text(chat, "type"),
                    .title = update_text(chat, "title"),
                    .forum = update_true(chat, "is_forum"),
                    .thread = update_text(m, "message_thread_id"),
                    .topic_message = update_true(m, "is_topic_message"),
                    .from = update_text(from, "id"),
                    .from_name = update_text(from, "first_name") };
}

static bool has_words(const PyValue *m)
{
    return update_text(m, "text").n || update_text(m, "caption").n;
}

/* The words of an album stand under one of its pictures. */
static const PyValue *worded(const PyValue *m, const PyValue *album)
{
    for (uint32_t i = 0; !has_words(m) && album->type == PY_LIST && i < album->n; i++)
        if (has_words(&album->items[i]))
            return &album->items[i];
    return m;
}

/* A message without words and files (somebody joined, a topic was opened, a sticker) is none; nor
 * is a changed one, which comes under its own name. */
static bool telegram_parse(Arena *a, Str update, const Identity *me, Inbound *ret, bool *ret_is,
                           Err *err)
{
    const PyValue *m, *from, *album;
    Inbound in;
    PyValue v;
    Where w;

    if (!update_read(a, update, "telegram", &v, err))
        return false;
    m = update_get(&v, "message");
    if (m->type != PY_DICT)
        m = update_get(&v, "channel_post");
    from = update_get(m, "from");
    album = update_get(&v, "album");
    w = where_from(m);
    in = (Inbound){ .place = place_from(&w),
                    .message_id = update_text(m, "message_id"),
                    .by_bot = update_true(from, "is_bot"),
                    .by_us = me->id.n && str_eq(w.from, me->id) };
    read_files(a, m, &in);
    for (uint32_t i = 0; album->type == PY_LIST && i < album->n; i++)
        read_files(a, &album->items[i], &in);
    *ret_is = w.chat_id.n && (in.n_files || has_words(worded(m, album)));
    if (!*ret_is)
        return true;
    read_words(a, worded(m, album), me, &in);
    *ret = in;
    return true;
}

static bool telegram_place(Arena *a, const HomeChannel *home, Str thread_id, ChatAddress *ret,
                           Err *err)
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
    (void)err;
    if (channel && !home->owner_id.n)
        w.from = STR_NONE;
    *ret = place_from(&w);
    return true;
}

const Shape shape_telegram = { .name = "telegram",
                               .max_text = 4096,
                               .parse = telegram_parse,
                               .place = telegram_place,
                               .measure = utf16_count };

/* Everything that goes out to Telegram. A message is tried in the form that was asked for; where
 * the platform refuses the form and not the message (a topic that wants answers, entities it does
 * not like, a group that has a new number), it is tried once more in another one, all within the
 * time of one call. A topic that is gone is left to whoever sends: the chat itself is another
 * place. Telegram cannot be asked whether a message has arrived: what is unsure is said to be. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "platforms/telegram/entities.h"
#include "platforms/telegram/inside.h"
#include "text/utf8.h"

enum {
    MAX_BODY = KIB(256),
    MAX_TOPIC_NAME = 128, /* UTF-16 units */
    SELF_MS = 5000,       /* that the answer to who we are may take */
    TYPING_CALL_MS = 4000,
    TYPING_PAUSE_MS = 30000, /* after trouble that names no time */
    MAX_TYPING_PAUSE_MS = 300000
};

/* One message, new or changed, in the form that is tried next. */
typedef struct Draft {
    Str chat, thread, edits; /* edits: the number of the message that is changed */
    Str anchor;              /* a message of that topic; empty: none is known */
    EntityText text;
    bool plain, insisted, answers, moved; /* what has been tried */
} Draft;

/* -- groups that get a new number -- */

static Str chat_now(Connection *c, Arena *a, Str chat)
{
    pthread_mutex_lock(&c->wire.lock);
    if (str_eqz(chat, c->moved_from))
        chat = str_dup(a, str_of(c->moved_to));
    pthread_mutex_unlock(&c->wire.lock);
    return chat;
}

void telegram_moved(Connection *c, Str before, Str now)
{
    char text[96];
    bool news;

    pthread_mutex_lock(&c->wire.lock);
    news = !str_eqz(before, c->moved_from) || !str_eqz(now, c->moved_to);
    snprintf(c->moved_from, sizeof c->moved_from, "%.*s", STR_FMT(before));
    snprintf(c->moved_to, sizeof c->moved_to, "%.*s", STR_FMT(now));
    pthread_mutex_unlock(&c->wire.lock);
    if (!news)
        return;
    snprintf(text, sizeof text, "group %.*s is %.*s now", STR_FMT(str_head(before, 32)),
             STR_FMT(str_head(now, 32)));
    log_note("telegram: %s", text);
    connection_trouble(&c->wire, text);
    if (c->host.moved)
        c->host.moved(c->host.ctx, before, now);
}

/* True: it is to be tried again under the new number. */
static bool follow(Connection *c, Str *chat, const Reply *reply, bool *moved)
{
    if (!reply->moved_to.n || *moved)
        return false;
    *moved = true;
    telegram_moved(c, *chat, reply->moved_to);
    *chat = reply->moved_to;
    return true;
}

/* -- messages -- */

static void put_entities(JsonWriter *w, const EntityText *text)
{
    json_field_begin(w, "entities", '[');
    for (size_t i = 0; i < text->n; i++) {
        const Entity *e = &text->all[i];

        json_begin(w, '{');
        json_field_str(w, "type", str_of(entity_name(e->kind)));
        json_field_int(w, "offset", (int64_t)e->at);
        json_field_int(w, "length", (int64_t)e->n);
        if (e->extra.n)
            json_field_str(w, e->kind == ENTITY_LINK ? "url" : "language", e->extra);
        json_end(w, '}');
    }
    json_end(w, ']');
}

/* What was answered may be gone by now: that is no reason to say nothing. */
static void put_answered(JsonWriter *w, Str message)
{
    json_field_begin(w, "reply_parameters", '{');
    put_number(w, "message_id", message);
    json_field_bool(w, "allow_sending_without_reply", true);
    json_end(w, '}');
}

static Str draft_json(Arena *a, const Draft *d)
{
    AUTO_BUF out = BUF(MAX_BODY);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    put_number(&w, "chat_id", d->chat);
    if (d->edits.n)
        put_number(&w, "message_id", d->edits);
    else if (d->thread.n)
        put_number(&w, "message_thread_id", d->thread);
    if (d->answers)
        put_answered(&w, d->anchor);
    json_field_str(&w, "text", d->text.text);
    if (d->text.n && !d->plain)
        put_entities(&w, &d->text);
    json_field_begin(&w, "link_preview_options", '{');
    json_field_bool(&w, "is_disabled", true);
    json_end(&w, '}');
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

static bool says_gone(const Draft *d, const Reply *reply)
{
    return d->thread.n && reply->code == 400 && reply_says(reply, "thread not found");
}

/* A topic may be gone for a moment only, and some of private chats say so of words that answer
 * nothing: as it is once more, then as an answer; then it is taken at its word. */
static bool insist(Draft *d)
{
    bool *next = !d->insisted ? &d->insisted : d->anchor.n ? &d->answers : NULL;

    if (!next || *next)
        return false;
    *next = true;
    return true;
}

/* Whether there is another form to try. */
static bool simpler(Connection *c, Draft *d, const Reply *reply)
{
    if (follow(c, &d->chat, reply, &d->moved))
        return true;
    if (reply->code != 400)
        return false;
    if (says_gone(d, reply))
        return insist(d);
    if (d->text.n && !d->plain && reply_says(reply, "entit")) {
        d->plain = true;
        return true;
    }
    return false;
}

static bool deliver(Connection *c, Arena *a, Draft *d, Reply *reply, Err *err)
{
    int64_t until = clock_mono_ms() + LIMIT_PLATFORM_CALL_MS;

    for (;;) {
        int64_t left = until - clock_mono_ms();
        Ask ask = { .method = d->edits.n ? "editMessageText" : "sendMessage",
                    .body = draft_json(a, d),
                    .ms = left > 1 ? left : 1 };

        if (telegram_call(c, a, &ask, reply, err))
            return true;
        if (!simpler(c, d, reply))
            return false;
    }
}

/* What does not fit any more once it is formatted goes as it was written. */
static EntityText formatted(Arena *a, Str markdown)
{
    EntityText text;

    entities_of(a, markdown, &text);
    if (!str_trim(text.text).n || utf16_count(text.text) > shape_telegram.max_text)
        text = (EntityText){ .text = utf8_repair(a, markdown) };
    return text;
}

/* The General topic of a forum is 1 everywhere but in what is sent to it. */
static Str thread_for_sending(const ChatAddress *to)
{
    return str_eqz(to->thread_id, "1") && !str_eqz(to->chat_type, "dm") ? STR_NONE : to->thread_id;
}

bool telegram_send(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err)
{
    Draft d = { .chat = chat_now(c, a, m->to->chat_id),
                .thread = thread_for_sending(m->to),
                .anchor = m->anchor,
                .answers = m->anchored && m->anchor.n,
                .text = formatted(a, m->text) };
    PlatformFault trouble = connection_fault(&c->wire, "send");
    Reply reply;

    *ret = (Sent){ 0 };
    if (trouble == FAULT_FAILS)
        return connection_broken(&c->wire, trouble, ret, err);
    if (!deliver(c, a, &d, &reply, err)) {
        *ret = (Sent){ .wait_ms = reply.wait_ms,
                       .unsure = reply.unsure,
                       .no_thread = says_gone(&d, &reply) };
        connection_trouble(&c->wire, err->text);
        return false;
    }
    ret->anchored = d.answers;
    ret->id = str_dup(a, update_text(&reply.result, "message_id"));
    return trouble == FAULT_NONE || connection_broken(&c->wire, trouble, ret, err);
}

bool telegram_edit(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err)
{
    Draft d = { .chat = chat_now(c, a, m->to->chat_id),
                .edits = id,
                .text = formatted(a, m->text) };
    PlatformFault trouble = connection_fault(&c->wire, "edit");
    Reply reply;

    *ret = (Sent){ .id = str_dup(a, id) };
    if (trouble == FAULT_FAILS)
        return connection_broken(&c->wire, trouble, ret, err);
    if (!deliver(c, a, &d, &reply, err) && !reply_says(&reply, "message is not modified")) {
        *ret = (Sent){ .wait_ms = reply.wait_ms, .unsure = reply.unsure };
        connection_trouble(&c->wire, err->text);
        return false;
    }
    return trouble == FAULT_NONE || connection_broken(&c->wire, trouble, ret, err);
}

/* -- typing -- */

/* It is only decoration: where it costs trouble it rests for a while. */
void telegram_typing(Connection *c, const ChatAddress *at)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);
    int64_t now = clock_mono_ms(), pause;
    bool resting;
    Reply reply;
    Err err;

    pthread_mutex_lock(&c->wire.lock);
    resting = now < c->no_typing_before;
    pthread_mutex_unlock(&c->wire.lock);
    if (resting)
        return;
    json_begin(&w, '{');
    put_number(&w, "chat_id", chat_now(c, a, at->chat_id));
    json_field_str(&w, "action", STR("typing"));
    if (at->thread_id.n)
        put_number(&w, "message_thread_id", at->thread_id);
    json_end(&w, '}');
    if (telegram_call(c, a, &(Ask){ "sendChatAction", buf_str(&out), TYPING_CALL_MS, NULL }, &reply,
                      &err) ||
        (reply.code >= 400 && reply.code < 500 && reply.code != 429))
        return;
    pause = reply.wait_ms ? reply.wait_ms : TYPING_PAUSE_MS;
    pthread_mutex_lock(&c->wire.lock);
    c->no_typing_before = now + (pause < MAX_TYPING_PAUSE_MS ? pause : MAX_TYPING_PAUSE_MS);
    pthread_mutex_unlock(&c->wire.lock);
}

/* -- chats and their topics -- */

/* {"chat_id": ..., key: value}; key NULL: nothing more. */
static Str about_chat(Arena *a, Str chat, const char *key, Str value, bool number)
{
    AUTO_BUF out = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    put_number(&w, "chat_id", chat);
    if (key && number)
        put_number(&w, key, value);
    else if (key)
        json_field_str(&w, key, value);
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

static bool said_false(const PyValue *v, const char *key)
{
    return update_get(v, key)->type == PY_FALSE;
}

/* Whether we may write there, from what we are in it. */
static bool may_write(const PyValue *chat, const PyValue *member, Err *err)
{
    Str status = update_text(member, "status"), title = update_text(chat, "title");
    bool channel = str_eqz(update_text(chat, "type"), "channel");
    bool boss = str_is_one_of(status, "administrator|creator");

    if (!str_is_one_of(status, "administrator|creator|member|restricted"))
        return err_set(err, ERR_REFUSED, "the bot is not a member of '%.*s'; add it there first",
                       STR_FMT(title));
    if (channel ? !boss || said_false(member, "can_post_messages")
                : said_false(member, "can_send_messages") ||
                      (!boss && said_false(update_get(chat, "permissions"), "can_send_messages")))
        return err_set(err, ERR_REFUSED, "the bot is not allowed to write in '%.*s'",
                       STR_FMT(title));
    return true;
}

/* In a forum the right to manage topics is one of administrators, unless the group gives it to
 * everyone. */
static bool may_open_topics(const PyValue *chat, const PyValue *member)
{
    return update_true(chat, "is_forum") &&
           (str_eqz(update_text(member, "status"), "creator") ||
            update_true(member, "can_manage_topics") ||
            update_true(update_get(chat, "permissions"), "can_manage_topics"));
}

/* Right after the start the platform is still being asked who we are, and that decides where words
 * can go. */
static void wait_for_self(Connection *c)
{
    int64_t until = clock_mono_ms() + SELF_MS;

    pthread_mutex_lock(&c->wire.lock);
    while (!c->id[0] && connection_goes_on(&c->wire) && clock_mono_ms() < until)
        connection_wait(&c->wire, until);
    pthread_mutex_unlock(&c->wire.lock);
}

static bool probe(Connection *c, Arena *a, const PyValue *chat, bool *ret_topics, Err *err)
{
    Reply reply;
    Str me;

    wait_for_self(c);
    if (str_eqz(update_text(chat, "type"), "private")) {
        pthread_mutex_lock(&c->wire.lock);
        *ret_topics = c->private_topics;
        pthread_mutex_unlock(&c->wire.lock);
        return true;
    }
    pthread_mutex_lock(&c->wire.lock);
    me = str_dup(a, str_of(c->id));
    pthread_mutex_unlock(&c->wire.lock);
    if (!me.n)
        return err_set(err, ERR_BUSY, "not connected to telegram yet");
    if (!telegram_call(
            c, a,
            &(Ask){ .method = "getChatMember",
                    .body = about_chat(a, update_text(chat, "id"), "user_id", me, true) },
            &reply, err) ||
        !may_write(chat, &reply.result, err))
        return false;
    *ret_topics = may_open_topics(chat, &reply.result);
    return true;
}

bool telegram_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret, Err *err)
{
    Str number = chat_now(c, a, chat_id), type, title;
    const PyValue *chat;
    bool moved = false, threads = false;
    Reply reply;

    while (!telegram_call(
        c, a, &(Ask){ .method = "getChat", .body = about_chat(a, number, NULL, STR_NONE, false) },
        &reply, err))
        if (!follow(c, &number, &reply, &moved))
            return false;
    if (!probe(c, a, &reply.result, &threads, err))
        return false;
    chat = &reply.result;
    type = update_text(chat, "type");
    title = update_text(chat, "title");
    *ret = (HomeChannel){ .chat_id = update_text(chat, "id"),
                          .name = title.n ? title : update_text(chat, "first_name"),
                          .chat_type = str_eqz(type, "private")   ? STR("dm")
                                       : str_eqz(type, "channel") ? STR("channel")
                                                                  : STR("group"),
                          .owner_id = owner.n ? str_dup(a, owner) : STR_NONE,
                          .topics = update_true(chat, "is_forum"),
                          .threads = threads };
    return true;
}

static bool has_topics(Connection *c, const HomeChannel *home)
{
    bool ours;

    if (!str_eqz(home->chat_type, "dm"))
        return home->topics;
    wait_for_self(c);
    pthread_mutex_lock(&c->wire.lock);
    ours = c->private_topics;
    pthread_mutex_unlock(&c->wire.lock);
    return ours;
}

/* The longest head that the platform takes as a name. */
static Str topic_name(Str title)
{
    Str rest = str_trim(title), name = rest;
    size_t units = 0;

    if (!rest.n)
        return STR("Session");
    while (rest.n) {
        Str here = rest;

        units += utf8_next(&rest) > 0xffff ? 2 : 1;
        if (units > MAX_TOPIC_NAME)
            return str_head(name, name.n - here.n);
    }
    return name;
}

bool telegram_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title, Str key,
                          Sent *ret, Err *err)
{
    PlatformFault trouble = connection_fault(&c->wire, "thread");
    Str chat = chat_now(c, a, home->chat_id), name = topic_name(utf8_repair(a, title));
    bool moved = false;
    Reply reply;

    (void)key; /* nothing here can be asked for twice without being made twice */
    *ret = (Sent){ 0 };
    if (trouble == FAULT_FAILS)
        return connection_broken(&c->wire, trouble, ret, err);
    if (!has_topics(c, home))
        return err_set(err, ERR_REFUSED, "telegram chat '%.*s' has no topics",
                       STR_FMT(home->chat_id));
    while (!telegram_call(
        c, a,
        &(Ask){ .method = "createForumTopic", .body = about_chat(a, chat, "name", name, false) },
        &reply, err)) {
        if (follow(c, &chat, &reply, &moved))
            continue;
        /* Whatever is refused here (no forum, no right to it, topics out of order) leaves the chat
         * itself. */
        if (reply.code >= 400 && reply.code < 500 && reply.code != 429)
            err->kind = ERR_REFUSED;
        *ret = (Sent){ .wait_ms = reply.wait_ms, .unsure = reply.unsure };
        connection_trouble(&c->wire, err->text);
        return false;
    }
    ret->id = str_dup(a, update_text(&reply.result, "message_thread_id"));
    return trouble == FAULT_NONE || connection_broken(&c->wire, trouble, ret, err);
}

void telegram_drop_thread(Connection *c, const HomeChannel *home, Str id)
{
    AUTO(Arena) *a = arena_new();
    Reply reply;
    Err err;

    if (!telegram_call(c, a,
                       &(Ask){ .method = "deleteForumTopic",
                               .body = about_chat(a, chat_now(c, a, home->chat_id),
                                                  "message_thread_id", id, true) },
                       &reply, &err))
        connection_trouble(&c->wire, err.text);
}

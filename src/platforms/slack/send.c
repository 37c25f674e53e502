/* What goes out to Slack. It cannot refuse a repeat, but it keeps what an app writes into a
 * message's metadata: there stands the message's key, and before a repeat the thread is looked
 * through for it. */
#include "base/clock.h"
#include "base/limits.h"
#include "platforms/download.h"
#include "platforms/slack/inside.h"

enum { MAX_PAGES = 5, LOOK_BACK_S = 7 * 24 * 3600 };

/* -- messages and their keys -- */

static Str metadata(Arena *a, Str key)
{
    AUTO_BUF out = BUF(KIB(16));
    JsonWriter w = JSON_WRITER(&out, 0);

    if (!key.n)
        return STR_NONE;
    json_begin(&w, '{');
    json_field_str(&w, "event_type", STR("talaria"));
    json_field_begin(&w, "event_payload", '{');
    json_field_str(&w, "key", key);
    json_end(&w, '}');
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

static Str key_of(const PyValue *message)
{
    return update_text(update_get(update_get(message, "metadata"), "event_payload"), "key");
}

static Str with_key(const PyValue *messages, Str key)
{
    for (uint32_t i = 0; messages->type == PY_LIST && i < messages->n; i++)
        if (str_eq(key_of(&messages->items[i]), key))
            return update_text(&messages->items[i], "ts");
    return STR_NONE;
}

/* *ret empty: there is none among the messages of the last days, in that thread or (empty) in the
 * channel. */
static bool find(Connection *c, Arena *a, Str channel, Str thread, Str key, Str *ret, Err *err)
{
    Str cursor = STR_NONE, oldest = str_printf(a, "%lld", (long long)clock_wall() - LOOK_BACK_S);
    Reply reply;

    *ret = STR_NONE;
    for (int page = 0; page < MAX_PAGES && !ret->n; page++) {
        Field fields[] = { { "channel", channel },  { "ts", thread },
                           { "limit", STR("100") }, { "include_all_metadata", STR("true") },
                           { "oldest", oldest },    { "cursor", cursor },
                           { NULL, STR_NONE } };

        if (!slack_call(
                c, a,
                &(Ask){ .method = thread.n ? "conversations.replies" : "conversations.history",
                        .fields = fields },
                &reply, err))
            return false;
        *ret = with_key(update_get(&reply.v, "messages"), key);
        cursor = update_text(update_get(&reply.v, "response_metadata"), "next_cursor");
        if (!cursor.n)
            break;
    }
    return true;
}

/* A user's name represents the private chat with them. */
static bool channel_of(Connection *c, Arena *a, Str chat_id, Str *ret, Err *err)
{
    Field fields[] = { { "users", chat_id }, { NULL, STR_NONE } };
    Reply reply;

    *ret = chat_id;
    if (!chat_id.n || (chat_id.p[0] != 'U' && chat_id.p[0] != 'W'))
        return true;
    if (!slack_call(c, a, &(Ask){ .method = "conversations.open", .fields = fields }, &reply, err))
        return false;
    *ret = update_text(update_get(&reply.v, "channel"), "id");
    return ret->n || err_set(err, ERR_IO, "slack refuses to open a direct message with '%.*s'",
                             STR_FMT(chat_id));
}

static void take(Sent *ret, const Reply *reply)
{
    ret->wait_ms = reply->wait_ms;
    ret->unsure = reply->unsure;
}

typedef struct Words {
    Str channel, thread, text, key;
} Words;

static bool post(Connection *c, Arena *a, const Words *m, Sent *ret, Err *err)
{
    Field fields[] = { { "channel", m->channel },  { "text", m->text },
                       { "thread_ts", m->thread }, { "metadata", metadata(a, m->key) },
                       { "mrkdwn", STR("true") },  { "unfurl_links", STR("false") },
                       { NULL, STR_NONE } };
    Reply reply;
    bool ok =
        slack_call(c, a, &(Ask){ .method = "chat.postMessage", .fields = fields }, &reply, err);

    take(ret, &reply);
    if (ok)
        ret->id = update_text(&reply.v, "ts");
    return ok;
}

static bool post_or_find(Connection *c, Arena *a, const Words *m, bool look, Sent *ret, Err *err)
{
    if (look && m->key.n) {
        if (!find(c, a, m->channel, m->thread, m->key, &ret->id, err)) {
            ret->unsure = true;
            return false;
        }
        if (ret->id.n)
            return true;
    }
    return post(c, a, m, ret, err);
}

/* -- the rows -- */

bool slack_send(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err)
{
    Words words = { .thread = m->to->thread_id,
                    .text = slack_from_markdown(a, m->text),
                    .key = m->key };
    PlatformFault trouble = connection_fault(&c->wire, "send");

    *ret = (Sent){ 0 };
    if (trouble == FAULT_FAILS)
        return connection_broken(&c->wire, trouble, ret, err);
    return channel_of(c, a, m->to->chat_id, &words.channel, err) &&
           post_or_find(c, a, &words, m->again, ret, err) &&
           (trouble == FAULT_NONE || connection_broken(&c->wire, trouble, ret, err));
}

bool slack_edit(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err)
{
    Field fields[] = { { "channel", m->to->chat_id },
                       { "ts", id },
                       { "text", slack_from_markdown(a, m->text) },
                       { NULL, STR_NONE } };
    PlatformFault trouble = connection_fault(&c->wire, "edit");
    Reply reply;
    bool ok;

    *ret = (Sent){ .id = str_dup(a, id) };
    if (trouble == FAULT_FAILS)
        return connection_broken(&c->wire, trouble, ret, err);
    ok = slack_call(c, a, &(Ask){ .method = "chat.update", .fields = fields }, &reply, err);
    take(ret, &reply);
    return ok && (trouble == FAULT_NONE || connection_broken(&c->wire, trouble, ret, err));
}

/* Only apps that Slack calls assistants may; who may not is told once and does not ask again. */
void slack_typing(Connection *c, const ChatAddress *at)
{
    AUTO(Arena) *a = arena_new();
    Field fields[] = { { "channel_id", at->chat_id },
                       { "thread_ts", at->thread_id },
                       { "status", STR("is working on it...") },
                       { NULL, STR_NONE } };
    Reply reply;
    bool may;
    Err err;

    pthread_mutex_lock(&c->wire.lock);
    may = !c->no_typing && at->thread_id.n;
    pthread_mutex_unlock(&c->wire.lock);
    if (!may ||
        slack_call(c, a, &(Ask){ .method = "assistant.threads.setStatus", .fields = fields },
                   &reply, &err))
        return;
    pthread_mutex_lock(&c->wire.lock);
    c->no_typing = c->no_typing || (err.kind != ERR_IO && err.kind != ERR_BUSY) ||
                   (!reply.wait_ms && !reply.error.n);
    pthread_mutex_unlock(&c->wire.lock);
}

/* The workspace is part of every key there. Whoever looks before the listening thread has heard of
 * it asks by themselves: a place without it is one that no answer ever comes from. */
static bool team_of(Connection *c, Arena *a, Str *ret, Err *err)
{
    Identity me;
    Reply reply;

    if (!slack_identity(c, a, &me) &&
        (!slack_introduce(c, a, NULL, &reply, err) || !slack_identity(c, a, &me)))
        return false;
    *ret = me.scope_id;
    return true;
}

static bool read_channel(Arena *a, const PyValue *channel, Str team, Str owner, HomeChannel *ret,
                         Err *err)
{
    bool im = update_true(channel, "is_im"), dm = im || update_true(channel, "is_mpim");
    Str id = update_text(channel, "id"), name = update_text(channel, "name"),
        with = update_text(channel, "user");

    if (!id.n)
        return err_set(err, ERR_IO, "slack did not return the channel");
    if (update_true(channel, "is_archived"))
        return err_set(err, ERR_REFUSED, "slack channel '%.*s' is archived", STR_FMT(name));
    if (!dm && !update_true(channel, "is_member"))
        return err_set(err, ERR_REFUSED,
                       "the bot is not in slack channel '%.*s': invite it there first",
                       STR_FMT(name.n ? name : id));
    *ret = (HomeChannel){ .chat_id = id,
                          .name = name.n ? name : STR("private chat"),
                          .chat_type = dm ? STR("dm") : STR("group"),
                          .scope_id = team,
                          .owner_id = owner.n || !im ? str_dup(a, owner) : with,
                          .threads = true };
    return true;
}

bool slack_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret, Err *err)
{
    Field fields[] = { { "channel", STR_NONE }, { NULL, STR_NONE } };
    Reply reply;
    Str team;

    return team_of(c, a, &team, err) && channel_of(c, a, chat_id, &fields[0].value, err) &&
           slack_call(c, a, &(Ask){ .method = "conversations.info", .fields = fields }, &reply,
                      err) &&
           read_channel(a, update_get(&reply.v, "channel"), team, owner, ret, err);
}

/* There is no call for it: a message is posted, and its answers are the thread. */
bool slack_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title, Str key,
                       Sent *ret, Err *err)
{
    Words words = { .text = slack_from_markdown(a, str_printf(a, "# %.*s", STR_FMT(title))),
                    .key = key };
    PlatformFault trouble = connection_fault(&c->wire, "thread");

    *ret = (Sent){ 0 };
    if (trouble == FAULT_FAILS)
        return connection_broken(&c->wire, trouble, ret, err);
    return channel_of(c, a, home->chat_id, &words.channel, err) &&
           post_or_find(c, a, &words, true, ret, err) &&
           (trouble == FAULT_NONE || connection_broken(&c->wire, trouble, ret, err));
}

void slack_drop_thread(Connection *c, const HomeChannel *home, Str id)
{
    AUTO(Arena) *a = arena_new();
    Field fields[] = { { "channel", home->chat_id }, { "ts", id }, { NULL, STR_NONE } };
    Reply reply;
    Err ignored;

    (void)!slack_call(c, a, &(Ask){ .method = "chat.delete", .fields = fields }, &reply, &ignored);
}

/* Where the app lacks the scope files:read, Slack sends to a page for people to log in. */
bool slack_fetch(Connection *c, Arena *a, const InboundFile *file, size_t limit, Fetched *ret,
                 Err *err)
{
    Download d = { .platform = "slack",
                   .url = file->ref,
                   .base = c->base,
                   .hosts = "slack.com|slack-files.com",
                   .header = c->token,
                   .limit = limit,
                   .no_pages = !str_starts(file->mime, STR("text/html")) };

    return download(c->host.net, a, &d, ret, err);
}

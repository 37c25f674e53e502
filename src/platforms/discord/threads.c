/* Threads of Discord, so that asking twice makes one.
 *
 * A thread that is asked for directly carries nothing by which a repeat could be known. A message
 * does (its nonce), and a message can have one thread only, whose number is the message's own: so
 * the ordinary way is to write the title, and to open the thread at it. The thread is public (11;
 * 10 in announcements) by Discord's own rule then, and never the private one that asking without a
 * type would give.
 *
 * Two places need another way: a forum, in which a thread is a post with its first message, and a
 * channel in which we may open threads but not write. There the threads that are active are looked
 * at first: one of ours, of that name, in which nobody has written and that was not given to
 * another key, is what an earlier try has left. In a forum its first message has to hold the nonce,
 * too. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "platforms/discord/inside.h"
#include "text/utf8.h"

enum { HAS_THREAD = 160004, MAX_NAME = 100, ARCHIVE_MINUTES = 1440 };

typedef struct Opening {
    Connection *c;
    Arena *a;
    const HomeChannel *home;
    ChannelFacts parent;
    Str name, nonce, seed;
    Snow me;
    int64_t until;
    Rest rest;
} Opening;

/* -- what was given out: under the lock -- */

static void give(Connection *c, Str nonce, Str thread)
{
    Given *g;

    pthread_mutex_lock(&c->wire.lock);
    g = &c->given[c->given_n++ % DISCORD_GIVEN];
    snprintf(g->nonce, sizeof g->nonce, "%.*s", STR_FMT(nonce));
    (void)snow_set(&g->thread, thread);
    pthread_mutex_unlock(&c->wire.lock);
}

static bool given_to_another(Connection *c, Str nonce, Str thread)
{
    bool is = false;

    pthread_mutex_lock(&c->wire.lock);
    for (size_t i = 0; i < DISCORD_GIVEN && !is; i++)
        is = str_eqz(thread, c->given[i].thread.z) && !str_eqz(nonce, c->given[i].nonce);
    pthread_mutex_unlock(&c->wire.lock);
    return is;
}

/* -- the ways -- */

static bool ask(Opening *o, const char *method, Str path, Str body, Err *err)
{
    return rest_call(o->c, o->a,
                     &(Ask){ .method = method, .path = path, .body = body, .until = o->until },
                     &o->rest, err);
}

/* `type` 0: none is said; `message`: that of a post. */
static Str thread_body(Opening *o, int type, Str message)
{
    AUTO_BUF out = BUF(KIB(16));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_str(&w, "name", o->name);
    json_field_int(&w, "auto_archive_duration", ARCHIVE_MINUTES);
    if (type)
        json_field_int(&w, "type", type);
    if (message.n) {
        json_key(&w, "message");
        json_put_raw(&w, message);
    }
    json_end(&w, '}');
    return str_dup(o->a, buf_str(&out));
}

static bool at_message(Opening *o, Str *ret, Err *err)
{
    Str base = str_printf(o->a, "/channels/%.*s/messages", STR_FMT(o->home->chat_id));

    if (!ask(o, "POST", base, discord_message(o->a, o->name, o->nonce), err))
        return false;
    o->seed = str_dup(o->a, update_text(&o->rest.v, "id"));
    if (!ask(o, "POST", str_printf(o->a, "%.*s/%.*s/threads", STR_FMT(base), STR_FMT(o->seed)),
             thread_body(o, 0, STR_NONE), err) &&
        o->rest.code != HAS_THREAD)
        return false;
    *ret = o->seed;
    return true;
}

/* Without a thread at it the message says nothing to anybody. */
static void drop_seed(Opening *o)
{
    Err ignored;

    if (o->seed.n)
        (void)!ask(o, "DELETE",
                   str_printf(o->a, "/channels/%.*s/messages/%.*s", STR_FMT(o->home->chat_id),
                              STR_FMT(o->seed)),
                   STR_NONE, &ignored);
    o->seed = STR_NONE;
}

/* Whose threads are ours. This may be before the link's thread has heard it: then it is asked for
 * here, since without it nothing that was left would be found, and a second thread made. */
static bool know_us(Opening *o, Err *err)
{
    pthread_mutex_lock(&o->c->wire.lock);
    o->me = o->c->me;
    pthread_mutex_unlock(&o->c->wire.lock);
    return o->me.z[0] || (ask(o, "GET", STR("/users/@me"), STR_NONE, err) &&
                          (snow_set(&o->me, update_text(&o->rest.v, "id")) ||
                           err_set(err, ERR_IO, "discord did not return the bot's identity")));
}

/* In a forum: whether the first message of the post holds our mark. */
static bool is_marked(Opening *o, Str thread)
{
    Err ignored;

    return ask(o, "GET",
               str_printf(o->a, "/channels/%.*s/messages/%.*s", STR_FMT(thread), STR_FMT(thread)),
               STR_NONE, &ignored) &&
           str_find(update_text(&o->rest.v, "content"), o->nonce) <
               update_text(&o->rest.v, "content").n;
}

static bool could_be_ours(const Opening *o, const PyValue *t)
{
    return str_eq(update_text(t, "parent_id"), o->home->chat_id) &&
           str_eqz(update_text(t, "owner_id"), o->me.z) &&
           str_eq(update_text(t, "name"), o->name) &&
           str_eqz(update_text(t, "message_count"), "0") &&
           !given_to_another(o->c, o->nonce, update_text(t, "id"));
}

/* What an earlier try has left; *ret stays empty where there is nothing. */
static bool find_earlier(Opening *o, bool forum, Str *ret, Err *err)
{
    const PyValue *threads;

    *ret = STR_NONE;
    if (!ask(o, "GET", str_printf(o->a, "/guilds/%.*s/threads/active", STR_FMT(o->parent.guild)),
             STR_NONE, err))
        return false;
    threads = update_get(&o->rest.v, "threads");
    for (uint32_t i = 0; threads->type == PY_LIST && i < threads->n && !ret->n; i++) {
        Str id = update_text(&threads->items[i], "id");

        if (could_be_ours(o, &threads->items[i]) && (!forum || is_marked(o, id)))
            *ret = id;
    }
    return true;
}

static bool directly(Opening *o, bool forum, Str *ret, Err *err)
{
    int type = forum ? 0 : o->parent.type == CHANNEL_NEWS ? CHANNEL_NEWS_THREAD : CHANNEL_THREAD;
    Str first = STR_NONE;

    if (!know_us(o, err) || !find_earlier(o, forum, ret, err) || ret->n)
        return ret->n > 0;
    if (forum) /* small and grey, as Discord shows "-#" */
        first = discord_message(
            o->a, str_printf(o->a, "%.*s\n-# %.*s", STR_FMT(o->name), STR_FMT(o->nonce)), STR_NONE);
    if (!ask(o, "POST", str_printf(o->a, "/channels/%.*s/threads", STR_FMT(o->home->chat_id)),
             thread_body(o, type, first), err))
        return false;
    *ret = update_text(&o->rest.v, "id");
    return true;
}

/* -- the whole -- */

/* One to a hundred characters, on one line. */
static Str thread_name(Arena *a, Str title)
{
    AUTO_BUF out = BUF(KIB(1));
    Str rest = str_trim(utf8_repair(a, title));

    for (size_t n = 0; rest.n && n < MAX_NAME; n++) {
        Str before = rest;
        uint32_t code = utf8_next(&rest);

        buf_add(&out, code < ' ' ? STR(" ") : str_head(before, before.n - rest.n));
    }
    return out.n ? str_dup(a, str_trim(buf_str(&out))) : STR("session");
}

/* Without being added, nobody would see it. A user who is gone does not spoil the rest. */
static bool add_owner(Opening *o, Str thread, Err *err)
{
    if (!snow_number(o->home->owner_id))
        return true;
    if (ask(o, "PUT",
            str_printf(o->a, "/channels/%.*s/thread-members/%.*s", STR_FMT(thread),
                       STR_FMT(o->home->owner_id)),
            STR_NONE, err))
        return true;
    log_debug("discord: the owner was not added to thread %.*s: %s", STR_FMT(thread), err->text);
    return err->kind != ERR_IO && err->kind != ERR_BUSY;
}

/* A permission of its own: a thread in which we may not speak is of no use. To be seen typing needs
 * the same. What was made goes again, with the title that it hangs at. */
static bool may_write(Opening *o, Str thread, Err *err)
{
    Err why;

    if (ask(o, "POST", str_printf(o->a, "/channels/%.*s/typing", STR_FMT(thread)), STR_NONE,
            &why) ||
        o->rest.status != 403)
        return true;
    discord_drop_thread(o->c, o->home, thread);
    o->seed = STR_NONE;
    return err_set(err, ERR_REFUSED,
                   "discord lets us open threads in this channel, but not send messages in them");
}

static bool open_it(Opening *o, Str *ret, Err *err)
{
    bool forum, forbidden;

    if (!channel_facts(o->c, o->a, o->home->chat_id, o->until, &o->parent, err))
        return false;
    forum = o->parent.type == CHANNEL_FORUM || o->parent.type == CHANNEL_MEDIA;
    if (!forum && o->parent.type != CHANNEL_TEXT && o->parent.type != CHANNEL_NEWS)
        return err_set(err, ERR_REFUSED, "discord does not support threads in a channel of type %d",
                       o->parent.type);
    if (forum)
        return directly(o, true, ret, err);
    if (at_message(o, ret, err))
        return true;
    if (err->kind == ERR_IO || err->kind == ERR_BUSY)
        return false; /* the next try finds the same message */
    forbidden = o->rest.status == 403;
    drop_seed(o);
    return forbidden && directly(o, false, ret, err);
}

bool discord_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title, Str key,
                         Sent *ret, Err *err)
{
    PlatformFault trouble = connection_fault(&c->wire, "thread");
    Opening o = { .c = c,
                  .a = a,
                  .home = home,
                  .name = thread_name(a, title),
                  .nonce = discord_nonce(a, key),
                  .until = clock_mono_ms() + LIMIT_PLATFORM_CALL_MS };
    Str thread = STR_NONE;

    *ret = (Sent){ 0 };
    if (str_eqz(home->chat_type, "dm"))
        return err_set(err, ERR_REFUSED, "discord does not support threads in direct messages");
    if (trouble == FAULT_FAILS)
        return connection_broken(&c->wire, trouble, ret, err);
    if (!open_it(&o, &thread, err) || !may_write(&o, thread, err) || !add_owner(&o, thread, err)) {
        *ret = (Sent){ .id = o.seed, .wait_ms = o.rest.wait_ms, .unsure = o.rest.unsure };
        return false;
    }
    give(c, o.nonce, thread);
    *ret = (Sent){ .id = thread };
    return trouble == FAULT_NONE || connection_broken(&c->wire, trouble, ret, err);
}

static void drop(Connection *c, Arena *a, Str path)
{
    Rest rest;
    Err ignored;

    (void)!rest_call(c, a, &(Ask){ .method = "DELETE", .path = path }, &rest, &ignored);
}

/* And the title that it hangs at: a message of the same number, where there is one. */
void discord_drop_thread(Connection *c, const HomeChannel *home, Str id)
{
    AUTO(Arena) *a = arena_new();

    if (!snow_number(id))
        return;
    drop(c, a, str_printf(a, "/channels/%.*s", STR_FMT(id)));
    drop(c, a, str_printf(a, "/channels/%.*s/messages/%.*s", STR_FMT(home->chat_id), STR_FMT(id)));
}

/* The chat that needs no account: its server is our own database. It is a platform like the others,
 * only that nothing can go wrong on the way; so every trouble that they have can be switched on in
 * it. */
#include <pthread.h>

#include "base/clock.h"
#include "base/limits.h"
#include "chat/local.h"
#include "platforms/platform.h"
#include "platforms/read.h"

enum { TYPING_MS = 6000 };

struct Connection {
    pthread_mutex_t lock; /* the journal: it is for one thread at a time */
    OwnStore *journal;
    PlatformHost host;
    int64_t since_ms;
};

#define LOCKED(c, call)                                                                            \
    ({                                                                                             \
        bool ok_;                                                                                  \
        pthread_mutex_lock(&(c)->lock);                                                            \
        ok_ = (call);                                                                              \
        pthread_mutex_unlock(&(c)->lock);                                                          \
        ok_;                                                                                       \
    })

/* -- the shape -- */

static ChatAddress place_from(Str channel, Str name, Str thread, Str user)
{
    return (ChatAddress){ .platform = STR("local"),
                          .chat_id = channel,
                          .chat_name = name,
                          .chat_type = STR("dm"),
                          .user_id = user,
                          .thread_id = thread };
}

/* {"channel": "home", "thread": "t1", "user": "you", "text": "...", "id": 7} */
static bool local_parse(Arena *a, Str update, const Identity *me, Inbound *ret, bool *ret_is,
                        Err *err)
{
    PyValue v;

    (void)me;
    if (!update_read(a, update, "local", &v, err))
        return false;
    *ret_is = update_text(&v, "channel").n > 0;
    *ret = (Inbound){ .place = place_from(update_text(&v, "channel"), STR_NONE,
                                          update_text(&v, "thread"), update_text(&v, "user")),
                      .text = update_text(&v, "text"),
                      .message_id = update_text(&v, "id"),
                      .by_us = str_eqz(update_text(&v, "user"), "talaria"),
                      .addressed = true };
    return true;
}

static bool local_place(Arena *a, const HomeChannel *home, Str thread_id, ChatAddress *ret,
                        Err *err)
{
    (void)a;
    (void)err;
    *ret = place_from(home->chat_id, home->name, thread_id.n ? thread_id : STR_NONE,
                      home->owner_id.n ? home->owner_id : STR_NONE);
    return true;
}

const Shape shape_local = { .name = "local",
                            .max_text = 16000,
                            .parse = local_parse,
                            .place = local_place,
                            .measure = measure_code_points };

/* -- the connection -- */

static bool local_open(const PlatformHost *host, Connection **ret, Err *err)
{
    OwnStore *journal = own_store_open(host->data, err);
    Connection *c;

    if (!journal)
        return false;
    c = mem_alloc(sizeof *c);
    *c = (Connection){ .journal = journal, .host = *host, .since_ms = clock_wall_ms() };
    pthread_mutex_init(&c->lock, NULL);
    *ret = c;
    return true;
}

static Connection *local_close(Connection *c)
{
    if (c) {
        own_store_close(c->journal);
        pthread_mutex_destroy(&c->lock);
        mem_free(c);
    }
    return NULL;
}

static bool local_identity(Connection *c, Arena *a, Identity *ret)
{
    (void)c;
    (void)a;
    *ret = (Identity){ .id = STR("talaria"), .name = STR("talaria") };
    return true;
}

static void local_health(Connection *c, Arena *a, Health *ret)
{
    (void)a;
    *ret = (Health){ .state = CONNECTION_UP, .since_ms = c->since_ms, .heard_ms = c->since_ms };
}

static bool local_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret, Err *err)
{
    *ret = (HomeChannel){ .chat_id = str_dup(a, chat_id),
                          .chat_type = STR("dm"),
                          .owner_id = owner.n ? str_dup(a, owner) : STR("you"),
                          .threads = true };
    return LOCKED(c, local_channel_name(c->journal, a, ret->chat_id, &ret->name, err));
}

static PlatformFault fault(const Connection *c, const char *call)
{
    return c->host.fault ? c->host.fault(c->host.fault_ctx, call) : FAULT_NONE;
}

static bool broken(Sent *ret, PlatformFault trouble, Err *err)
{
    ret->unsure = trouble == FAULT_LOST;
    return err_set(err, ERR_IO, "the connection to the local chat was lost");
}

static bool local_send(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err)
{
    LocalMessage row = { .channel = m->to->chat_id,
                         .thread = m->to->thread_id,
                         .author = STR("talaria"),
                         .text = m->text,
                         .key = m->key };
    PlatformFault trouble = fault(c, "send");
    int64_t id;

    *ret = (Sent){ 0 };
    if (trouble == FAULT_FAILS)
        return broken(ret, trouble, err);
    if (!LOCKED(c, local_say(c->journal, &row, &id, err) &&
                       local_types(c->journal, row.channel, row.thread, 0, err)))
        return false;
    ret->id = str_printf(a, "%lld", (long long)id);
    return trouble == FAULT_NONE || broken(ret, trouble, err);
}

static bool local_edit_message(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err)
{
    PlatformFault trouble = fault(c, "edit");
    int64_t number;

    *ret = (Sent){ .id = str_dup(a, id) };
    if (trouble == FAULT_FAILS)
        return broken(ret, trouble, err);
    if (!str_to_int(id, 1, INT64_MAX, &number))
        return err_set(err, ERR_NOT_FOUND, "no message '%.*s'", STR_FMT(id));
    return LOCKED(c, local_edit(c->journal, number, m->text, err)) &&
           (trouble == FAULT_NONE || broken(ret, trouble, err));
}

static void local_type(Connection *c, const ChatAddress *at)
{
    int64_t until = clock_wall_ms() + TYPING_MS;
    Err ignored;

    (void)!LOCKED(c, local_types(c->journal, at->chat_id, at->thread_id, until, &ignored));
}

static bool local_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title, Str key,
                              Sent *ret, Err *err)
{
    PlatformFault trouble = fault(c, "thread");

    *ret = (Sent){ 0 };
    if (trouble == FAULT_FAILS)
        return broken(ret, trouble, err);
    return LOCKED(c, local_thread_open(c->journal, a, home->chat_id, title, key, &ret->id, err)) &&
           (trouble == FAULT_NONE || broken(ret, trouble, err));
}

static void local_drop_thread(Connection *c, const HomeChannel *home, Str id)
{
    Err ignored;

    (void)home;
    (void)!LOCKED(c, local_thread_drop(c->journal, id, &ignored));
}

const Platform platform_local = { .shape = &shape_local,
                                  .knows_repeats = true,
                                  .edit_every_ms = 200,
                                  .typing_ms = TYPING_MS,
                                  .open = local_open,
                                  .close = local_close,
                                  .identity = local_identity,
                                  .health = local_health,
                                  .look = local_look,
                                  .send = local_send,
                                  .edit = local_edit_message,
                                  .typing = local_type,
                                  .open_thread = local_open_thread,
                                  .drop_thread = local_drop_thread };

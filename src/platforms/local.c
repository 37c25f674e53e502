/* The chat that needs no account: its server is our own database. It is a platform like the others, only that
 * nothing can go wrong on the way; so every trouble that they have can be switched on in it. */
#include "base/limits.h"
#include "platforms/platform.h"
#include "platforms/read.h"
#include "store/places_local.h"

struct Connection {
    Journal *journal;
    PlatformHost host;
};

/* -- the shape ------------------------------------------------------------------------------------------ */

static Place place_from(Str channel, Str name, Str thread, Str user)
{
    return (Place){ .platform = STR("local"),
                    .chat_id = channel,
                    .chat_name = name,
                    .chat_type = STR("dm"),
                    .user_id = user,
                    .thread_id = thread };
}

/* {"channel": "home", "thread": "t1", "user": "you", "text": "...", "id": 7} */
static bool local_parse(Arena *a, Str update, Inbound *ret, bool *ret_is, Err *err)
{
    PyValue v;

    if (!update_read(a, update, "local", &v, err))
        return false;
    *ret_is = update_text(&v, "channel").n > 0;
    *ret = (Inbound){ .place = place_from(update_text(&v, "channel"), STR_NONE,
                                          update_text(&v, "thread"), update_text(&v, "user")),
                      .text = update_text(&v, "text"),
                      .message_id = update_text(&v, "id") };
    return true;
}

static bool local_place(Arena *a, const HomeChannel *home, Str thread_id, Place *ret, Err *err)
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

/* -- the connection --------------------------------------------------------------------------------------- */

static bool local_open(const PlatformHost *host, Connection **ret, Err *err)
{
    Journal *journal = journal_open(host->data, err);
    Connection *c;

    if (!journal)
        return false;
    c = mem_alloc(sizeof *c);
    *c = (Connection){ .journal = journal, .host = *host };
    *ret = c;
    return true;
}

static Connection *local_close(Connection *c)
{
    if (c) {
        journal_close(c->journal);
        mem_free(c);
    }
    return NULL;
}

static bool local_home(Connection *c, Arena *a, HomeChannel *ret, Err *err)
{
    *ret = (HomeChannel){ .chat_id = STR("home"), .chat_type = STR("dm"), .owner_id = STR("you") };
    return local_channel_name(c->journal, a, ret->chat_id, &ret->name, err);
}

static PlatformFault fault(const Connection *c, const char *call)
{
    return c->host.fault ? c->host.fault(c->host.fault_ctx, call) : FAULT_NONE;
}

static bool broken(Err *err)
{
    return err_set(err, ERR_IO, "the connection to local broke");
}

static bool local_send(Connection *c, Arena *a, const Place *to, Str text, Str key, Str *ret_id,
                       Err *err)
{
    LocalMessage m = { .channel = to->chat_id,
                       .thread = to->thread_id,
                       .author = STR("talaria"),
                       .text = text,
                       .key = key };
    PlatformFault trouble = fault(c, "send");
    int64_t id;

    if (trouble == FAULT_FAILS)
        return broken(err);
    if (!local_say(c->journal, &m, &id, err))
        return false;
    *ret_id = str_printf(a, "%lld", (long long)id);
    return trouble == FAULT_NONE || broken(err);
}

static bool local_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title, Str key,
                              Str *ret_id, Err *err)
{
    PlatformFault trouble = fault(c, "thread");

    if (trouble == FAULT_FAILS)
        return broken(err);
    return local_thread_open(c->journal, a, home->chat_id, title, key, ret_id, err) &&
           (trouble == FAULT_NONE || broken(err));
}

static void local_drop_thread(Connection *c, const HomeChannel *home, Str id)
{
    Err ignored;

    (void)home;
    (void)!local_thread_drop(c->journal, id, &ignored);
}

const Platform platform_local = { .shape = &shape_local,
                                  .knows_repeats = true,
                                  .open = local_open,
                                  .close = local_close,
                                  .home = local_home,
                                  .send = local_send,
                                  .open_thread = local_open_thread,
                                  .drop_thread = local_drop_thread };

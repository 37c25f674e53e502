/* Out of a thread that is gone, into the chat itself. All of it is one transaction, and nothing is
 * sent to the chat before it: so whoever reads an answer there and continues with it is heard by
 * the same session, and whoever comes after a death finds the thread gone once more, or the words'
 * place in the chat. */
#include "chat/outbox.h"
#include "chat/topics.h"
#include "handoff/routing.h"
#include "handoff/routing_inside.h"
#include "store/db.h"

typedef struct Leaving {
    const ChatAddress *from, *to;
    Str from_key, to_key, to_json; /* to_key empty: who writes there next cannot be known */
    Str *homes;                    /* in which an entry of ours may stand */
    size_t n_homes;
    Str prev; /* what lived in the chat until now; p NULL: nothing came there */
} Leaving;

/* Whatever a platform has it was given here: so the homes of that are known. */
static bool find_homes(OwnStore *own, Arena *a, Leaving *l, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    size_t cap = 0;
    bool ok;

    ARENA_PUSH(a, l->homes, l->n_homes, cap, own_store_data(own));
    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT DISTINCT home FROM session_owner WHERE owner_surface = ? AND home <> ?",
                  TEXT(l->from->platform), TEXT(own_store_data(own))))
        return false;
    while (db_next(rows, &ok, err))
        ARENA_PUSH(a, l->homes, l->n_homes, cap, str_dup(a, row_text(rows, 0)));
    return ok;
}

/* -- the session -- */

static bool bind_to_chat(OwnStore *own, Arena *a, SessionDb *s, Leaving *l, Handoff *h, Change *c,
                         Err *err)
{
    if (!routing_bind_session(s, a, h, routing_scope(a, h->home), c, err) ||
        !owner_set(own, h->home, h->session_id, h->platform, STR_NONE, err) ||
        !routing_note_gone(own, a, s, h, l->from, err))
        return false;
    l->prev = h->prev_session_id.n ? h->prev_session_id : STR("");
    return true;
}

/* Of several entries the newest counts, and comes first; those behind it only go, and so does one
 * whose session was deleted. */
static bool move_one(OwnStore *own, Arena *a, Leaving *l, Str home, Str session_id, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Handoff h = { .home = home,
                  .session_id = session_id,
                  .platform = l->from->platform,
                  .dest_key = l->to_key,
                  .dest_source_json = l->to_json };
    Change change = { .gone = &l->from_key, .n_gone = 1 };
    Str source;
    bool lives;

    if (!sessiondb_begin(own_store_db(own), own_store_data(own), home, &s, err))
        return false;
    lives = routing_source(&s, a, session_id, &source, err);
    if (!lives && err->kind != ERR_NOT_FOUND)
        return false;
    if (!(lives && !l->prev.p ? bind_to_chat(own, a, &s, l, &h, &change, err)
                              : routing_drop(&s, routing_scope(a, home), l->from_key, err)) ||
        !sessiondb_commit(&s, err))
        return false;
    routing_follow(a, &s, home, &change);
    return true;
}

/* What the thread's key leads to, home by home until it leads nowhere. */
static bool move_all(OwnStore *own, Arena *a, Leaving *l,
                     bool (*one)(OwnStore *own, Arena *a, Leaving *l, Str home, Str id, Err *err),
                     Err *err)
{
    for (size_t i = 0; i <= l->n_homes; i++) {
        size_t home;
        Str id;

        if (!routing_lookup(own, a, l->homes, l->n_homes, l->from_key, &home, &id, err))
            return false;
        if (!id.n)
            return true;
        if (!one(own, a, l, l->homes[home], id, err))
            return false;
    }
    return true;
}

static bool forget_one(OwnStore *own, Arena *a, Leaving *l, Str home, Str session_id, Err *err)
{
    (void)a;
    (void)l;
    return routing_forget(own, home, session_id, err) || err->kind == ERR_NOT_FOUND;
}

/* -- rows of ours -- */

/* A standing thread of the home channel. */
static bool leave_home(OwnStore *own, const ChatAddress *from, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "UPDATE home_channel SET thread_id = '' WHERE platform = ? AND chat_id = ? AND "
                   "thread_id = ?",
                   TEXT(from->platform), TEXT(from->chat_id), TEXT(from->thread_id));
}

static bool leave_rows(OwnStore *own, Arena *a, Leaving *l, Err *err)
{
    return topic_is_gone(own, l->from, l->to->thread_id, err) && leave_home(own, l->from, err) &&
           (!l->to_key.n ||
            (move_all(own, a, l, move_one, err) &&
             handoff_follow(own, l->from_key, l->to_key, l->to_json, l->prev, err))) &&
           outbox_follow(own, a, l->from, l->to, err);
}

bool routing_leave(OwnStore *own, Arena *a, const ChatAddress *from, const ChatAddress *to,
                   bool known, const KeyFlags *flags, Err *err)
{
    Leaving l = { .from = from,
                  .to = to,
                  .from_key = address_key(a, from, flags),
                  .to_key = known ? address_key(a, to, flags) : STR(""),
                  .to_json = address_json(a, to) };

    if (!find_homes(own, a, &l, err) || (!known && !move_all(own, a, &l, forget_one, err)))
        return false;
    return own_store_begin(own, err) && own_store_end(own, leave_rows(own, a, &l, err), err);
}

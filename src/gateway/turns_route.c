/* Finds the session of a message by its key, in any history folder. A session of another folder
 * continues as a conversation in Talaria's database, and the key is routed to that from then on. */
#include <time.h>

#include "base/log.h"
#include "gateway/turns_inside.h"
#include "handoff/routing.h"
#include "platforms/read.h"

enum { COMING_MS = 60000, LOOK_MS = 100 };

/* -- Who continues with it -- */

/* The conversation's own, else the one that was at it last; what only looked things up, because
 * there was no model, does not stay because of that. */
bool turn_runtime(Turns *t, Arena *a, Str conversation_id, Str *ret_runtime, Err *err)
{
    Runs *r = service_borrow_runs(t->service, err);
    Conversation c;
    bool ok = r && conversation_get(r, a, conversation_id, &c, err);

    service_return_runs(t->service, r);
    if (ok)
        *ret_runtime = c.default_runtime.n            ? c.default_runtime
                       : str_eqz(c.active, "offline") ? STR("")
                                                      : c.active;
    return ok;
}

static bool has_model(Turns *t, Arena *a, Str runtime, bool *ret, Err *err)
{
    const Runtime *r = service_runtime(t->service, runtime, err);
    RuntimeCaps caps = { 0 };

    if (!r || !service_probe(t->service, a, r, &caps, err))
        return false;
    *ret = caps.available && caps.has_model;
    return true;
}

/* -- The session of a key -- */

static bool lead_to(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, Str id, Err *err)
{
    return routing_place(own, a, t->paths[0], id, &job->place, job->key, err);
}

static bool begin_new(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, Str *ret_id, Err *err)
{
    Conversation c = { .id = id_new(a, 'c') };

    if (!service_begin(t->service, &c, err) || !lead_to(t, own, a, job, c.id, err))
        return false;
    *ret_id = c.id;
    return true;
}

/* A message in a chat that is about to receive a session is meant for that session, even if it
 * arrives first. */
static bool wait_for_session(Turns *t, OwnStore *own, const TurnJob *job, Err *err)
{
    struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
    bool coming;

    for (int64_t waited = 0;; waited += LOOK_MS) {
        if (!handoff_is_coming(own, job->place.platform, job->key, job->place.thread_id, &coming,
                               err))
            return false;
        if (!coming)
            return true;
        if (waited >= COMING_MS || turns_closing(t))
            return err_set(err, ERR_BUSY, "another session is being handed over to this chat");
        nanosleep(&pause, NULL);
    }
}

/* Looked up once more before a session is begun: one that was bound between the two looks is
 * found. */
static bool find_session(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, size_t *ret_home,
                         Str *ret_id, Err *err)
{
    if (!routing_lookup(own, a, t->paths, t->n_homes, job->key, ret_home, ret_id, err))
        return false;
    return ret_id->n || !job->seq ||
           (wait_for_session(t, own, job, err) &&
            routing_lookup(own, a, t->paths, t->n_homes, job->key, ret_home, ret_id, err));
}

/* Checked before the session is loaded: without a model the agent cannot speak first. */
static bool can_speak(Turns *t, Arena *a, Str home, Str id, bool *ret, Err *err)
{
    Str runtime = STR("");

    if (str_eq(home, t->paths[0]) && !turn_runtime(t, a, id, &runtime, err) &&
        err->kind != ERR_NOT_FOUND)
        return false;
    return has_model(t, a, runtime, ret, err);
}

bool turn_route(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, Str *ret_id, Err *err)
{
    size_t home;
    bool can = true;
    Str id;

    if (!find_session(t, own, a, job, &home, &id, err))
        return false;
    if (id.n && !job->seq && !can_speak(t, a, t->paths[home], id, &can, err))
        return false;
    if (!can)
        return err_set(
            err, ERR_REFUSED,
            "no model is configured, so the agent cannot speak first; run 'talaria setup'");
    if (id.n && service_adopt(t->service, a, &t->homes[home], id, ret_id, err))
        return (home == 0 && str_eq(id, *ret_id)) || lead_to(t, own, a, job, *ret_id, err);
    /* It was deleted: this message starts a new session. */
    if (id.n && err->kind != ERR_NOT_FOUND)
        return false;
    *ret_id = STR("");
    return !job->seq || begin_new(t, own, a, job, ret_id, err);
}

/* -- For commands -- */

bool turns_session(Turns *t, Arena *a, Str key, Str *ret, Err *err)
{
    size_t home;
    bool ok;

    pthread_mutex_lock(&t->journal_lock);
    ok = routing_lookup(t->journal, a, t->paths, t->n_homes, key, &home, ret, err);
    pthread_mutex_unlock(&t->journal_lock);
    return ok;
}

/* Every home may have an entry; the newest counts, so the one behind it would be next. */
static bool forget(Turns *t, Arena *a, Str key, Err *err)
{
    for (size_t i = 0; i <= t->n_homes; i++) {
        size_t home;
        Str id;

        if (!routing_lookup(t->journal, a, t->paths, t->n_homes, key, &home, &id, err))
            return false;
        if (!id.n)
            return true;
        if (!routing_forget(t->journal, t->paths[home], id, err) && err->kind != ERR_NOT_FOUND)
            return false;
    }
    return true;
}

bool turns_forget(Turns *t, Str key, Err *err)
{
    AUTO(Arena) *a = arena_new();
    bool ok;

    pthread_mutex_lock(&t->journal_lock);
    ok = forget(t, a, key, err);
    pthread_mutex_unlock(&t->journal_lock);
    return ok;
}

bool turns_resume(Turns *t, const ChatAddress *at, Str session_id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Homes homes = homes_again(a, t->o.homes);
    AUTO(Store) *store = store_open(&homes, err);
    Lineage l;
    bool ok;

    if (!store || !store_find(store, a, session_id, &l, err))
        return false;
    pthread_mutex_lock(&t->journal_lock);
    ok = routing_place(t->journal, a, store_home(store, l.tip.home)->path, l.tip.id, at,
                       address_key(a, at, &t->o.flags), err);
    pthread_mutex_unlock(&t->journal_lock);
    return ok;
}

static bool claim(Turns *t, Arena *a, const ChatAddress *at, Str waiting, Str key, Err *err)
{
    bool waits, ok;

    pthread_mutex_lock(&t->journal_lock);
    ok = handoff_waits_at(t->journal, waiting, &waits, err) &&
         (!waits || routing_claim(t->journal, a, t->paths, t->n_homes, waiting, at, key, err));
    pthread_mutex_unlock(&t->journal_lock);
    return ok;
}

bool turns_claim(Turns *t, const ChatAddress *at, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str waiting = waiting_key(a, at, &t->o.flags), key = address_key(a, at, &t->o.flags);
    bool was;
    Err none;

    if (str_eq(waiting, key) || claim(t, a, at, waiting, key, err))
        return true;
    if (err->kind == ERR_BUSY && t->o.interrupts)
        (void)!turns_stop(t, waiting, &was, &none);
    return false;
}

/* Starts turns and sends queued messages. Turns and single messages have separate threads, so that
 * a hundred slow answers do not delay the answer to /stop; single messages have separate threads
 * for each platform, so that a platform that hangs does not delay the others. Messages to one chat
 * go through one lane, in order. */
#include "gateway/turns.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "gateway/authorise.h"
#include "gateway/turns_inside.h"
#include "model/config.h"

enum { POST_THREADS = 4, LOOK_MS = 200, IDLE_MS = 30000, MAX_DUE = 256 };

const GatewayConnection *turns_server(const Turns *t, Str platform)
{
    return gateway_connection_named(t->o.served, t->o.n_served, platform);
}

bool turns_closing(Turns *t)
{
    bool closing;

    pthread_mutex_lock(&t->lock);
    closing = t->closing;
    pthread_mutex_unlock(&t->lock);
    return closing;
}

/* -- Single messages: a lane's work -- */

static void post_drop(void *turns, void *job)
{
    (void)turns;
    mem_free(job);
}

/* Sends the first due message of a chat; the next one is queued behind those of other chats. */
static void post_run(void *turns, OwnStore *own, void *job)
{
    Turns *t = turns;
    AUTO(Arena) *a = arena_new();
    Str place = str_of(job), id;
    const GatewayConnection *s;
    bool found = false, ok;
    Outgoing o;
    Err err = { 0 };

    ok = outbox_due_at(own, a, place, &id, &err) &&
         (!id.n || outbox_get(own, a, id, &o, &found, &err));
    s = ok && found ? turns_server(t, o.platform) : NULL;
    if (s) {
        Delivery d = { .platform = s->platform, .connection = s->connection, .flags = &t->o.flags };

        ok = deliver_waiting(&d, own, a, id, &err);
        if (ok)
            turns_post(t, own, o.platform, place);
    }
    if (!ok)
        log_warning("words for '%.*s': %s", STR_FMT(place), err.text);
    mem_free(job);
}

static bool post_soon(Turns *t, Str platform, Str place, Err *err)
{
    const GatewayConnection *s = turns_server(t, platform);
    char *job;

    if (!s) /* it may be later, and then it is looked for */
        return true;
    job = mem_strdup(place);
    if (lanes_add(t->posts[s - t->o.served], place, job, err))
        return true;
    mem_free(job);
    return false;
}

void turns_post(Turns *t, OwnStore *own, Str platform, Str place)
{
    AUTO(Arena) *a = arena_new();
    Str id;
    Err later;

    if (!outbox_due_at(own, a, place, &id, &later) ||
        (id.n && !post_soon(t, platform, place, &later)))
        log_debug("%s", later.text);
}

/* -- Opening, closing -- */

static void find_homes(Turns *t)
{
    const Homes *all = t->o.homes;

    t->homes = ARENA_ARRAY(t->arena, Home, all->n + 1);
    t->paths = ARENA_ARRAY(t->arena, Str, all->n + 1);
    t->homes[t->n_homes++] =
        (Home){ .kind = HOME_OURS,
                .name = STR("talaria"),
                .path = all->data,
                .database = str_join_path(t->arena, all->data, STR("talaria.db")),
                .present = true };
    for (size_t i = 0; i < all->n; i++) /* also one whose database is not there yet */
        if (!str_eq(all->all[i].path, all->data)) {
            t->homes[t->n_homes] = all->all[i];
            t->homes[t->n_homes++].present = true;
        }
    for (size_t i = 0; i < t->n_homes; i++)
        t->paths[i] = t->homes[i].path;
}

Turns *turns_open(const TurnsOptions *options, Err *err)
{
    AUTO(Turns) *t = mem_alloc(sizeof *t);

    t->o = *options;
    t->arena = arena_new();
    pthread_mutex_init(&t->lock, NULL);
    pthread_mutex_init(&t->journal_lock, NULL);
    find_homes(t);
    t->journal = own_store_open(options->homes->data, err);
    /* What a gateway before this one asked and did not get said cannot be answered any more. */
    if (!t->journal ||
        !outbox_take_back(t->journal, STR("ask:"), STR("the gateway ended before"), err))
        return NULL;
    t->service = service_open(&(ServiceOptions){ .homes = options->homes,
                                                 .settings = options->settings,
                                                 .runtimes = options->runtimes,
                                                 .plain = options->plain },
                              err);
    if (!t->service)
        return NULL;
    t->turns = lanes_open(&(LanesOptions){ .data = options->homes->data,
                                           .threads = LIMIT_GATEWAY_TURNS,
                                           .max = LIMIT_GATEWAY_WAITING,
                                           .run = turn_run,
                                           .drop = turn_drop,
                                           .ctx = t });
    t->posts = ARENA_ARRAY(t->arena, Lanes *, options->n_served + 1);
    for (size_t i = 0; i < options->n_served; i++)
        t->posts[i] = lanes_open(&(LanesOptions){ .data = options->homes->data,
                                                  .threads = POST_THREADS,
                                                  .max = LIMIT_GATEWAY_WAITING,
                                                  .run = post_run,
                                                  .drop = post_drop,
                                                  .ctx = t });
    return TAKE(t);
}

/* Under the lock. */
static void stop_one(Turns *t, ActiveTurn *x)
{
    Err ignored;

    x->stopped = true;
    if (x->run_id.n)
        (void)!service_cancel(t->service, x->run_id, &ignored);
}

Turns *turns_close(Turns *t)
{
    if (!t)
        return NULL;
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    for (ActiveTurn *x = t->active; x; x = x->next)
        stop_one(t, x);
    pthread_mutex_unlock(&t->lock);
    lanes_close(t->turns);
    for (size_t i = 0; t->posts && i < t->o.n_served; i++)
        lanes_close(t->posts[i]);
    service_close(t->service);
    own_store_close(t->journal);
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->journal_lock);
    arena_free(t->arena);
    return mem_free(t);
}

void turns_tidy(Turns *t)
{
    Err err;

    if (!service_recover(t->service, &err))
        log_warning("%s", err.text);
}

/* -- What people write -- */

static bool stop_key(Turns *t, Str key, bool replaced)
{
    bool any = false;

    pthread_mutex_lock(&t->lock);
    for (ActiveTurn *x = t->active; x; x = x->next)
        if (str_eq(x->key, key)) {
            any = true;
            x->replaced |= replaced;
            stop_one(t, x);
        }
    pthread_mutex_unlock(&t->lock);
    return any;
}

static ChatAddress place_dup(Arena *a, const ChatAddress *p)
{
    ChatAddress copy;

#define X(name, always) copy.name = p->name.p ? str_dup(a, p->name) : STR_NONE;
    CHAT_ADDRESS_FIELDS(X)
#undef X
    return copy;
}

static TurnJob *job_new(const Turns *t, const ChatAddress *place, Str text)
{
    Arena *a = arena_new();
    TurnJob *job = ARENA_NEW(a, TurnJob);

    *job = (TurnJob){ .arena = a, .place = place_dup(a, place), .text = str_dup(a, text) };
    job->key = address_key(a, &job->place, &t->o.flags);
    return job;
}

static bool add_job(Turns *t, TurnJob *job, Err *err)
{
    if (lanes_add(t->turns, job->key, job, err))
        return true;
    arena_free(job->arena);
    return false;
}

static Str run_name(Arena *a, const InboxRow *row)
{
    return str_printf(a, "reply:%.*s:%.*s", STR_FMT(row->platform), STR_FMT(row->id));
}

/* The notice that it was parked has that name: a repeated request needs another one. */
static Str words_name(Arena *a, const InboxRow *row)
{
    Str name = run_name(a, row);

    return row->retried ? str_printf(a, "%.*s~%lld", STR_FMT(name), (long long)row->retried) : name;
}

bool turns_message(Turns *t, const InboxRow *row, const Inbound *in, Trust trust, Err *err)
{
    TurnJob *job;

    if (!turns_server(t, in->place.platform))
        return err_set(err, ERR_INVALID, "platform '%.*s' is not connected",
                       STR_FMT(in->place.platform));
    job = job_new(t, &in->place, in->text);
    job->seq = row->seq;
    job->trust = trust;
    turn_files_keep(job, in);
    job->name = run_name(job->arena, row);
    job->words = words_name(job->arena, row);
    if (t->o.interrupts)
        (void)stop_key(t, job->key, true);
    return add_job(t, job, err);
}

bool turns_stop(Turns *t, Str key, bool *ret, Err *err)
{
    (void)err;
    *ret = stop_key(t, key, false);
    return true;
}

TurnsDoing turns_doing(Turns *t, Str key)
{
    TurnsDoing what = lanes_has(t->turns, key) ? TURNS_WAITING : TURNS_IDLE;

    pthread_mutex_lock(&t->lock);
    for (ActiveTurn *x = t->active; x; x = x->next)
        if (str_eq(x->key, key))
            what = x->ask.id.n && !x->ask.answered ? TURNS_ASKING : TURNS_RUNNING;
    pthread_mutex_unlock(&t->lock);
    return what;
}

bool turns_say(Turns *t, const ChatAddress *to, Str id, Str text, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Outgoing row, o = {
        .id = id, .platform = to->platform, .address_json = address_json(a, to), .text = text
    };
    Err later;
    bool ok;

    pthread_mutex_lock(&t->journal_lock);
    ok = outbox_put(t->journal, a, &o, &row, err);
    pthread_mutex_unlock(&t->journal_lock);
    if (ok && !post_soon(t, row.platform, row.place, &later))
        log_debug("%s", later.text);
    return ok;
}

/* -- The first words after a handoff -- */

static Str first_name(Arena *a, Str handoff_id)
{
    return str_printf(a, "first:%.*s", STR_FMT(handoff_id));
}

bool turns_promise(Turns *t, OwnStore *own, const Handoff *h, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Outgoing row, o = { .id = first_name(a, h->id),
                        .platform = h->platform,
                        .address_json = h->dest_source_json,
                        .state = OUTBOX_OPEN };

    (void)t;
    return h->no_turn || outbox_put(own, a, &o, &row, err);
}

/* The owner moved the session there, so its runtime may speak; in a chat that others can read,
 * without the owner's memory. */
static Trust first_trust(const Turns *t, const ChatAddress *at)
{
    const GatewayConnection *s = turns_server(t, at->platform);
    Trust there = s ? trust_at(s->config, at) : TRUST_GUEST;

    return there == TRUST_OWNER ? TRUST_OWNER : TRUST_NAMED;
}

/* Checked on the turn's thread: probing a runtime may take a while. */
static bool add_first(Turns *t, Str handoff_id, Str platform, Str place_json_text, Err *err)
{
    AUTO(Arena) *a = arena_new();
    TurnJob *job;
    ChatAddress place;

    if (!address_parse(a, place_json_text, &place, err))
        return false;
    job = job_new(t, &place,
                  str_printf(a,
                             "[From Talaria, not from the user: this session has just moved to "
                             "%.*s. All that was said so far is loaded. Say in a few sentences "
                             "where things stand and what comes next. Use no tools.]",
                             STR_FMT(platform)));
    job->trust = first_trust(t, &job->place);
    job->name = job->words = first_name(job->arena, handoff_id);
    return add_job(t, job, err);
}

bool turns_first(Turns *t, const Handoff *h, Err *err)
{
    return h->no_turn || add_first(t, h->id, h->platform, h->dest_source_json, err);
}

/* -- What was left -- */

static void keep_promise(Turns *t, Arena *a, const Outgoing *o)
{
    Str id = str_skip(o->id, STR("first:").n);
    bool ok;
    Handoff h;
    Err err;

    ok = handoff_get(t->journal, a, id, &h, &err);
    if (ok && h.state == HANDOFF_DONE)
        ok = turns_first(t, &h, &err);
    else if (ok ? handoff_is_over(h.state) : err.kind == ERR_NOT_FOUND)
        ok = outbox_finish(t->journal, o->id, STR(""), &err);
    if (!ok)
        log_warning("words '%.*s': %s", STR_FMT(o->id), err.text);
}

/* The sender of a parked message sees an answer that stopped growing, or nothing at all; then the
 * outbox has no row, and the address comes from the update. */
static bool tell_one(Turns *t, Arena *a, const InboxRow *parked, Err *err)
{
    static const Str text = STR_INIT("This did not work: the gateway stopped during each of three "
                                     "attempts. Send the message again to retry.");
    const GatewayConnection *s = turns_server(t, parked->platform);
    Outgoing row, o = { .id = words_name(a, parked), .platform = parked->platform, .text = text };
    Identity me = { 0 };
    Inbound in = { 0 };
    bool is = false;

    if (!outbox_finish(t->journal, o.id, text, err))
        return false;
    if (parked->attempt < INBOX_TRIES || !s ||
        !s->platform->shape->parse(a, parked->json, &me, &in, &is, err) || !is)
        return true;
    o.address_json = address_json(a, &in.place);
    return outbox_put(t->journal, a, &o, &row, err);
}

static void tell_parked(Turns *t, Arena *a)
{
    InboxRow *all;
    size_t n;
    Err err;

    if (!inbox_list(t->journal, a, INBOX_PARKED, MAX_DUE, &all, &n, &err)) {
        log_warning("%s", err.text);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!tell_one(t, a, &all[i], &err))
            log_warning("update '%.*s': %s", STR_FMT(all[i].id), err.text);
}

static void look_back(Turns *t)
{
    AUTO(Arena) *a = arena_new();
    Outgoing *all;
    size_t n;
    Err err;

    t->looked_back = true;
    tell_parked(t, a);
    if (!outbox_open(t->journal, a, STR("first:"), &all, &n, &err)) {
        log_warning("%s", err.text);
        return;
    }
    for (size_t i = 0; i < n; i++)
        keep_promise(t, a, &all[i]);
}

/* -- The outbox -- */

/* For one platform; *next: lowered if a message is due sooner. */
static bool send_due(Turns *t, size_t at, int64_t *next, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str name = str_of(t->o.served[at].platform->shape->name);
    Outgoing *all;
    int64_t due;
    size_t n;
    Err busy;

    if (!outbox_due(t->journal, a, name, MAX_DUE, &all, &n, &due, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!lanes_has(t->posts[at], all[i].place) && !post_soon(t, name, all[i].place, &busy))
            break;
    if (due && due - clock_wall_ms() < *next)
        *next = due - clock_wall_ms();
    return true;
}

static bool send_all(Turns *t, int64_t *ret_wait_ms, Err *err)
{
    int64_t next = IDLE_MS;

    if (!outbox_expire(t->journal, err))
        return false;
    for (size_t i = 0; i < t->o.n_served; i++)
        if (!send_due(t, i, &next, err))
            return false;
    *ret_wait_ms = next < LOOK_MS ? LOOK_MS : next;
    return true;
}

bool turns_deliver(Turns *t, int64_t *ret_wait_ms, Err *err)
{
    bool ok;

    pthread_mutex_lock(&t->journal_lock);
    if (!t->looked_back)
        look_back(t);
    ok = send_all(t, ret_wait_ms, err);
    pthread_mutex_unlock(&t->journal_lock);
    return ok;
}

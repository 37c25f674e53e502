/* A step that fails temporarily is postponed: the lease is released, and the next worker continues.
 * A permanent failure ends the handoff with the step and the reason, and deletes a topic that was
 * opened for it. */
#include "gateway/worker.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "chat/home_channels.h"
#include "chat/topics.h"
#include "gateway/authorise.h"
#include "gateway/deliver.h"
#include "gateway/lanes.h"
#include "gateway/turns.h"
#include "handoff/routing.h"
#include "platforms/config.h"
#include "platforms/read.h"

enum {
    LEASE_MS = 30000,
    RETRY_MS = 500,
    MAX_RETRY_MS = 30000,
    THREAD_TRIES = 3, /* refusals of the platform; workers that died there do not count */
    PREPARE_TRIES = 20,
    IDLE_MS = 30000,
    WAITING_MS = 2000,
    REOPEN_MS = 15000, /* how long after its end a session is looked at for a terminal's exit */
    REOPEN_EVERY_MS = 500,
};

struct Worker {
    WorkerOptions o;   /* as given; with its own journal for every step that another thread makes */
    Lanes *lanes;      /* NULL: there are none */
    int64_t looked_ms; /* clock_mono_ms: when sessions were looked at for an exit */
    char *shares;      /* for each folder and connection: 'y', 'n', 0: not checked yet */
    _Atomic int64_t *done_ms, own_done_ms; /* when the last one was done */
    LogOnce *told;
    atomic_bool news;   /* in Hermes' databases */
    int64_t took_up_ms; /* clock_mono_ms: when they were looked at */
};

static const GatewayConnection *server_of(const Worker *w, Str platform)
{
    return gateway_connection_named(w->o.served, w->o.n_served, platform);
}

/* -- Trouble -- */

static int64_t back_off(int64_t attempt)
{
    int64_t ms = RETRY_MS;

    for (int64_t i = 1; i < attempt && ms < MAX_RETRY_MS; i++)
        ms *= 2;
    return ms < MAX_RETRY_MS ? ms : MAX_RETRY_MS;
}

static bool postpone(Worker *w, Handoff *h, int64_t wait_ms, const Err *why, bool *ret_more,
                     Err *err)
{
    int64_t ms = back_off(h->attempt);

    *ret_more = false;
    log_debug("handoff '%.*s', %.*s: %s", STR_FMT(h->id), STR_FMT(h->step), why->text);
    return handoff_postpone(w->o.journal, h, wait_ms > ms ? wait_ms : ms, str_of(why->text), err);
}

/* The chat that was asked for, else the configured one, else the one that /sethome named. */
static bool find_home(Worker *w, Arena *a, const Handoff *h, const GatewayConnection *s,
                      HomeChannel *ret, Err *err)
{
    if (!str_eqz(h->target, "home"))
        return s->platform->look(s->connection, a, h->target, STR_NONE, ret, err);
    if (home_get(w->o.journal, a, h->platform, s->config ? s->config->home_channel : STR(""), ret,
                 err))
        return true;
    if (err->kind != ERR_NOT_FOUND || !s->config->home_channel.n ||
        !s->platform->look(s->connection, a, s->config->home_channel, s->config->home_owner, ret,
                           err))
        return false;
    if (s->config->home_thread.n)
        ret->thread_id = s->config->home_thread;
    return true;
}

/* Marks a topic that was requested from a platform that cannot tell whether it exists already. */
#define UNSURE_THREAD STR("?")

/* Before the session is bound: deletes the topic; the session stays where it is. */
static bool abandon(Worker *w, Arena *a, Handoff *h, HandoffState how, const char *code, Str why,
                    bool *ret_more, Err *err)
{
    const GatewayConnection *s = server_of(w, h->platform);
    Str thread = h->thread_ref;
    HomeChannel home;
    Err ignored;

    *ret_more = false;
    why = str_printf(a, "%.*s: %.*s", STR_FMT(h->step), STR_FMT(why));
    if (!(h->state == HANDOFF_PREPARED ? routing_undo(w->o.journal, a, h, how, code, why, err)
                                       : handoff_fail(w->o.journal, h, how, code, why, err)))
        return false;
    if (thread.n && !str_eq(thread, UNSURE_THREAD) && s && s->platform->drop_thread &&
        find_home(w, a, h, s, &home, &ignored))
        s->platform->drop_thread(s->connection, &home, thread);
    return true;
}

static bool is_temporary(const Err *err)
{
    return err->kind == ERR_IO || err->kind == ERR_BUSY;
}

/* -- Prepare -- */

/* On such a platform the request is recorded first: a worker that finds the mark without a topic id
 * does not ask again. */
static bool mark_thread(Worker *w, Handoff *h, const GatewayConnection *s, Err *err)
{
    if (s->platform->knows_repeats)
        return true;
    h->thread_ref = UNSURE_THREAD;
    return handoff_advance(w->o.journal, h, HANDOFF_CLAIMED, err);
}

/* *ret_wait: try again later. If the platform refuses, or may have opened a topic already, the
 * handoff goes to the channel itself. */
static bool open_thread(Worker *w, Arena *a, Handoff *h, const GatewayConnection *s,
                        const HomeChannel *home, Str title, Err *trouble, bool *ret_wait,
                        int64_t *ret_wait_ms, Err *err)
{
    Sent sent = { 0 };

    *ret_wait = false;
    if (str_eq(h->thread_ref, UNSURE_THREAD)) {
        log_warning("handoff '%.*s' goes to the chat itself; an unused thread may be left there",
                    STR_FMT(h->id));
        h->thread_ref = STR("");
        return true;
    }
    if (h->thread_ref.n || !s->platform->open_thread)
        return true;
    if (!mark_thread(w, h, s, err))
        return false;
    if (s->platform->open_thread(s->connection, a, home, title, h->id, &sent, trouble)) {
        h->thread_ref = sent.id;
        return handoff_advance(w->o.journal, h, HANDOFF_CLAIMED, err); /* kept before it is used */
    }
    h->thread_tries++;
    *ret_wait = is_temporary(trouble) && h->thread_tries < THREAD_TRIES &&
                h->attempt < PREPARE_TRIES && (s->platform->knows_repeats || !sent.unsure);
    *ret_wait_ms = sent.wait_ms;
    /* If it may exist anyway, the mark stays until the address is known: a worker that follows a
     * crash must not ask again either. */
    h->thread_ref = STR("");
    if ((s->platform->knows_repeats || !sent.unsure) &&
        !handoff_advance(w->o.journal, h, HANDOFF_CLAIMED, err))
        return false;
    if (*ret_wait)
        return true;
    log_warning("no thread for handoff '%.*s': %s", STR_FMT(h->id), trouble->text);
    if (sent.id.n)
        s->platform->drop_thread(s->connection, home, sent.id);
    return true;
}

/* A user listed in the settings must be able to claim it there. */
static bool can_be_claimed(Worker *w, Arena *a, const GatewayConnection *s,
                           const ChatAddress *place, Err *err)
{
    return !is_waiting_place(a, place, &w->o.flags) ||
           (s->config && names_anyone(s->config->allowed)) ||
           err_set(err, ERR_REFUSED,
                   "everyone in %.*s chat '%.*s' has a separate session, and nobody is named who "
                   "may continue this one; list user ids in platforms.%.*s.allowed, or name the "
                   "owner with 'talaria gateway sethome %.*s CHAT --owner ID'",
                   STR_FMT(place->platform), STR_FMT(place->chat_id), STR_FMT(place->platform),
                   STR_FMT(place->platform));
}

static bool find_place(Worker *w, Arena *a, Handoff *h, const GatewayConnection *s,
                       const HomeChannel *home, Err *err)
{
    Str thread = h->thread_ref.n ? h->thread_ref : home->thread_id;
    ChatAddress place;

    if (!s->platform->shape->place(a, home, thread, &place, err))
        return false;
    h->dest_key = address_key(a, &place, &w->o.flags);
    if (!can_be_claimed(w, a, s, &place, err))
        return false;
    h->dest_source_json = address_json(a, &place);
    /* From here on messages in the topic are for the agent: a user may write there before the card
     * arrives. */
    return (!place.thread_id.n || topic_keep(w->o.journal, &place, err)) &&
           routing_remember(w->o.journal, a, h, err);
}

static bool prepare(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    const GatewayConnection *s = server_of(w, h->platform);
    int64_t thread_wait = 0;
    HomeChannel home;
    bool wait;
    Card card;
    Err why;

    if (h->cancel)
        return abandon(w, a, h, HANDOFF_CANCELLED, "cancelled", STR("by request"), ret_more, err);
    if (!find_home(w, a, h, s, &home, &why) || !w->o.card(w->o.card_ctx, a, h, &card, &why))
        goto trouble;
    if (!open_thread(w, a, h, s, &home, card.title, &why, &wait, &thread_wait, err))
        return false;
    if (wait)
        return postpone(w, h, thread_wait, &why, ret_more, err);
    if (!find_place(w, a, h, s, &home, &why))
        goto trouble;
    return handoff_advance(w->o.journal, h, HANDOFF_PREPARED, err);
trouble:
    if (is_temporary(&why) && h->attempt < PREPARE_TRIES)
        return postpone(w, h, 0, &why, ret_more, err);
    return abandon(w, a, h, HANDOFF_FAILED, err_name(&why), str_of(why.text), ret_more, err);
}

/* -- Bind -- */

/* A message in the topic before the session arrived may have shown that the topic is gone. */
static bool follow_topic(Worker *w, Arena *a, Handoff *h, Err *err)
{
    Str thread;
    ChatAddress place;

    if (!address_parse(a, h->dest_source_json, &place, err))
        return false;
    thread = place.thread_id;
    if (!topic_now(w->o.journal, a, &place, err))
        return false;
    if (str_eq(place.thread_id, thread))
        return true;
    h->thread_ref = STR("");
    h->dest_key = address_key(a, &place, &w->o.flags);
    h->dest_source_json = address_json(a, &place);
    return routing_remember(w->o.journal, a, h, err);
}

static bool bind_session(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    Handoff now;
    Err why;

    if (!handoff_get(w->o.journal, a, h->id, &now, err))
        return false;
    if (now.cancel && now.fence == h->fence)
        return abandon(w, a, h, HANDOFF_CANCELLED, "cancelled", STR("by request"), ret_more, err);
    if (follow_topic(w, a, h, &why) && routing_bind(w->o.journal, a, h, &why))
        return true;
    if (why.kind == ERR_BUSY && w->o.turns)
        turns_tidy(w->o.turns);
    if (why.kind == ERR_CONFLICT) {
        *err = why;
        return false;
    }
    if (is_temporary(&why) && h->attempt < PREPARE_TRIES)
        return postpone(w, h, 0, &why, ret_more, err);
    return abandon(w, a, h, HANDOFF_FAILED, why.kind == ERR_REFUSED ? "withdrawn" : err_name(&why),
                   str_of(why.text), ret_more, err);
}

/* -- Announce -- */

typedef struct Holding {
    Worker *w;
    Handoff *h;
} Holding;

static bool renew_lease(void *ctx, Err *err)
{
    Holding *holding = ctx;

    return handoff_renew(holding->w->o.journal, holding->h, LEASE_MS, err);
}

/* If the session waits for a user to claim it, the card says who may. */
static Str card_words(Worker *w, Arena *a, const Handoff *h, const Card *card)
{
    ChatAddress place;
    Err none;

    if (!address_parse(a, h->dest_source_json, &place, &none) ||
        !is_waiting_place(a, &place, &w->o.flags))
        return card->text;
    return str_printf(a,
                      "%.*s The first person listed in platforms.%.*s.allowed who writes here "
                      "continues this session.",
                      STR_FMT(card->text), STR_FMT(place.platform));
}

static bool announce(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    const GatewayConnection *s = server_of(w, h->platform);
    Holding holding = { w, h };
    Delivery d = { .platform = s->platform,
                   .connection = s->connection,
                   .flags = &w->o.flags,
                   .may_go_on = renew_lease,
                   .ctx = &holding };
    Outgoing o = { .id = h->id,
                   .platform = h->platform,
                   .address_json = h->dest_source_json,
                   .state = OUTBOX_OPEN };
    Card card;
    Err why;

    if (w->o.card(w->o.card_ctx, a, h, &card, &why)) {
        o.text = card_words(w, a, h, &card);
        if (deliver(&d, w->o.journal, a, &o, &h->notice_ref, &why))
            return handoff_refresh(w->o.journal, a, h, err) &&
                   handoff_advance(w->o.journal, h, HANDOFF_ANNOUNCED, err);
    }
    if (why.kind == ERR_CONFLICT) {
        *err = why;
        return false;
    }
    if (clock_wall_ms() < h->deadline_ms)
        return postpone(w, h, d.wait_ms, &why, ret_more, err);
    /* The session has moved; only the card is missing. */
    h->error_code = STR("not_announced");
    h->error_text = str_dup(a, str_of(why.text));
    return handoff_advance(w->o.journal, h, HANDOFF_ANNOUNCED, err);
}

/* -- Done -- */

static bool finish(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    bool shown;
    Err why;

    *ret_more = false;
    if ((w->o.turns && !turns_promise(w->o.turns, w->o.journal, h, &why)) ||
        !handoff_complete(w->o.journal, h, &shown, &why)) {
        if (is_temporary(&why))
            return postpone(w, h, 0, &why, ret_more, err);
        *err = why;
        return false;
    }
    if (!shown)
        return routing_undo(w->o.journal, a, h, HANDOFF_FAILED, "withdrawn",
                            STR("the request had expired; the session stays where it was"), err);
    atomic_store(w->done_ms, clock_wall_ms());
    if (w->o.turns && !turns_first(w->o.turns, h, &why))
        log_warning("handoff '%.*s': %s", STR_FMT(h->id), why.text);
    return true;
}

bool worker_step(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    *ret_more = true;
    if ((h->state >= HANDOFF_BOUND && !handoff_refresh(w->o.journal, a, h, err)) ||
        !handoff_renew(w->o.journal, h, LEASE_MS, err))
        return false;
    switch (h->state) {
    case HANDOFF_CLAIMED:
        return prepare(w, a, h, ret_more, err);
    case HANDOFF_PREPARED:
        return bind_session(w, a, h, ret_more, err);
    case HANDOFF_BOUND:
        return announce(w, a, h, ret_more, err);
    case HANDOFF_ANNOUNCED:
        return finish(w, a, h, ret_more, err);
    default:
        *ret_more = false;
        return true;
    }
}

/* -- A round -- */

static void process(Worker *w, Str id)
{
    AUTO(Arena) *a = arena_new();
    bool more = false;
    Handoff h;
    Err err;

    if (!handoff_claim(w->o.journal, a, id, w->o.owner, LEASE_MS, &h, &more, &err)) {
        log_once(w->told, str_printf(a, "handoff '%.*s'", STR_FMT(id)), err.text);
        return;
    }
    while (more)
        if (!worker_step(w, a, &h, &more, &err)) {
            if (err.kind != ERR_CONFLICT)
                log_once(w->told,
                         str_printf(a, "handoff '%.*s', %.*s", STR_FMT(id), STR_FMT(h.step)),
                         err.text);
            return;
        }
}

/* On a thread of the lanes, with its journal. */
static void run_job(void *ctx, OwnStore *j, void *job)
{
    const Worker *w = ctx;
    /* What never changes; the rest belongs to the thread that makes the rounds. */
    Worker own = { .o = w->o, .done_ms = w->done_ms, .told = w->told };

    own.o.journal = j;
    process(&own, str_of(job));
    mem_free(job);
}

static void drop_job(void *ctx, void *job)
{
    (void)ctx;
    mem_free(job);
}

/* A handoff that is queued or running is not queued again. */
static void queue_handoff(Worker *w, Str id)
{
    char *job;
    Err err;

    if (!w->lanes) {
        process(w, id);
        return;
    }
    if (lanes_has(w->lanes, id))
        return;
    job = mem_strdup(id);
    if (lanes_add(w->lanes, id, job, &err))
        return;
    log_debug("%s", err.text);
    mem_free(job);
}

Worker *worker_new(const WorkerOptions *options)
{
    Worker *w = mem_alloc(sizeof *w);

    w->o = *options;
    w->done_ms = &w->own_done_ms;
    w->told = mem_alloc(sizeof *w->told);
    w->shares = mem_alloc((options->homes ? options->homes->n : 0) * options->n_served + 1);
    if (options->threads)
        w->lanes = lanes_open(&(LanesOptions){ .data = own_store_data(options->journal),
                                               .threads = options->threads,
                                               .max = LIMIT_HANDOFFS_RECENT,
                                               .run = run_job,
                                               .drop = drop_job,
                                               .ctx = w });
    return w;
}

Worker *worker_free(Worker *w)
{
    if (w) {
        lanes_close(w->lanes);
        mem_free(w->shares);
        mem_free(w->told);
        mem_free(w);
    }
    return NULL;
}

/* A Hermes profile may have its own bot and chat: its sessions must not go to another's. Checked
 * once, because settings are read once. */
static bool may_serve(Worker *w, size_t home, size_t served)
{
    char *known = &w->shares[home * w->o.n_served + served];
    const GatewayConnection *s = &w->o.served[served];

    if (w->o.homes->all[home].kind != HOME_PROFILE)
        return true;
    if (!*known)
        *known = s->config && gateway_profile_shares(w->o.homes->all[home].path,
                                                     str_of(s->platform->shape->name), s->config)
                     ? 'y'
                     : 'n';
    return *known == 'y';
}

/* Requests that programs of Hermes wrote, also into a database that was not there when we began. */
static void take_up(Worker *w, Arena *a)
{
    Homes now = w->o.homes ? homes_again(a, w->o.homes) : (Homes){ 0 };
    Str *names = ARENA_ARRAY(a, Str, w->o.n_served + 1);
    Err err;

    for (size_t i = 0; i < now.n; i++) {
        size_t n = 0;

        if (!now.all[i].present || now.all[i].kind == HOME_OURS)
            continue;
        for (size_t k = 0; k < w->o.n_served; k++)
            if (!w->o.served[k].shut && may_serve(w, i, k))
                names[n++] = str_of(w->o.served[k].platform->shape->name);
        if (n && !handoff_adopt(w->o.journal, now.all[i].path, names, n, &err))
            log_once(w->told, STR(""), err.text);
    }
}

/* Not at every call: whatever we write ourselves calls us, too. */
static void look_again(Worker *w)
{
    int64_t now = clock_mono_ms();
    size_t n = 0;
    Err err;

    if (w->looked_ms && now - w->looked_ms < REOPEN_EVERY_MS)
        return;
    w->looked_ms = now;
    if (!routing_reopen(w->o.journal, clock_wall_ms() - REOPEN_MS, &n, &err))
        log_once(w->told, STR(""), err.text);
    if (n)
        log_note("a terminal had ended %zu session%s that it had handed over; open again", n,
                 n == 1 ? "" : "s");
}

void worker_news(Worker *w)
{
    atomic_store(&w->news, true);
}

/* Without a write-ahead log a reader blocks the writer, and most calls follow from writes to our
 * own database: so not at every call. */
static bool is_time_to_look(Worker *w)
{
    int64_t now = clock_mono_ms();

    if (!atomic_exchange(&w->news, false) && w->o.is_told && w->took_up_ms &&
        now - w->took_up_ms < WAITING_MS)
        return false;
    w->took_up_ms = now;
    return true;
}

bool worker_round(Worker *w, int64_t *ret_wait_ms, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str *names = ARENA_ARRAY(a, Str, w->o.n_served + 1);
    Handoff *all;
    size_t n_names = 0, n, left;

    for (size_t i = 0; i < w->o.n_served; i++)
        if (!w->o.served[i].shut)
            names[n_names++] = str_of(w->o.served[i].platform->shape->name);
    if (is_time_to_look(w))
        take_up(w, a);
    if (!handoff_pending(w->o.journal, a, names, n_names, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        queue_handoff(w, all[i].id);
    if (!handoff_open_count(w->o.journal, &left, err))
        return false;
    *ret_wait_ms = left ? (n ? RETRY_MS : WAITING_MS) : IDLE_MS;
    if (atomic_load(w->done_ms) && clock_wall_ms() - atomic_load(w->done_ms) < REOPEN_MS) {
        look_again(w);
        *ret_wait_ms = REOPEN_EVERY_MS;
    }
    return true;
}

/* A step that fails for now is postponed: its lease is given back and whoever comes next goes on. What can
 * never work fails at once, with the step and the reason, and a thread that was opened for it is taken away. */
#include "gateway/worker.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "gateway/deliver.h"
#include "store/routing.h"

enum {
    LEASE_MS = 30000,
    RETRY_MS = 500,
    MOST_RETRY_MS = 30000,
    THREAD_TRIES = 3,
    PREPARE_TRIES = 20,
    IDLE_MS = 30000,
    WAITING_MS = 2000,
    REOPEN_MS = 15000, /* how long after its end a session is looked at for a terminal's exit */
    REOPEN_EVERY_MS = 500,
};

struct Worker {
    WorkerOptions o;
    int64_t done_ms; /* when the last one was done */
};

Worker *worker_new(const WorkerOptions *options)
{
    Worker *w = mem_alloc(sizeof *w);

    w->o = *options;
    return w;
}

Worker *worker_free(Worker *w)
{
    return mem_free(w);
}

static int64_t now_in_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

static const Served *server_of(const Worker *w, Str platform)
{
    for (size_t i = 0; i < w->o.n_served; i++)
        if (str_eqz(platform, w->o.served[i].platform->shape->name))
            return &w->o.served[i];
    return NULL;
}

/* -- trouble --------------------------------------------------------------------------------------- */

static int64_t back_off(int64_t attempt)
{
    int64_t ms = RETRY_MS;

    for (int64_t i = 1; i < attempt && ms < MOST_RETRY_MS; i++)
        ms *= 2;
    return ms < MOST_RETRY_MS ? ms : MOST_RETRY_MS;
}

static bool postpone(Worker *w, Handoff *h, const Err *why, bool *ret_more, Err *err)
{
    *ret_more = false;
    log_debug("handoff '%.*s', %.*s: %s", STR_FMT(h->id), STR_FMT(h->step), why->text);
    return handoff_postpone(w->o.journal, h, back_off(h->attempt), str_of(why->text), err);
}

/* Before the binding: what was opened for it goes, and the session stays where it is. */
static bool leave(Worker *w, Arena *a, Handoff *h, HandoffState how, const char *code, Str why,
                  bool *ret_more, Err *err)
{
    const Served *s = server_of(w, h->platform);
    Str thread = h->thread_ref;
    HomeChannel home;
    Err ignored;

    *ret_more = false;
    why = str_printf(a, "%.*s: %.*s", STR_FMT(h->step), STR_FMT(why));
    if (!(h->state == HANDOFF_PREPARED ? routing_undo(w->o.journal, a, h, how, code, why, err)
                                       : handoff_fail(w->o.journal, h, how, code, why, err)))
        return false;
    if (thread.n && s && s->platform->drop_thread &&
        s->platform->home(s->connection, a, &home, &ignored))
        s->platform->drop_thread(s->connection, &home, thread);
    return true;
}

static bool for_now(const Err *err)
{
    return err->kind == ERR_IO || err->kind == ERR_BUSY;
}

/* -- prepare ----------------------------------------------------------------------------------------- */

/* *ret_wait: the platform may be able to in a moment. Where it cannot, the channel itself is the place. */
static bool open_thread(Worker *w, Arena *a, Handoff *h, const Served *s, const HomeChannel *home,
                        Str title, Err *trouble, bool *ret_wait, Err *err)
{
    *ret_wait = false;
    if (h->thread_ref.n || !s->platform->open_thread)
        return true;
    if (s->platform->open_thread(s->connection, a, home, title, h->id, &h->thread_ref, trouble))
        return handoff_advance(w->o.journal, h, HANDOFF_CLAIMED, err); /* kept before it is used */
    h->thread_ref = STR_NONE;
    *ret_wait = for_now(trouble) && h->attempt < THREAD_TRIES;
    if (!*ret_wait)
        log_warning("no thread for handoff '%.*s': %s", STR_FMT(h->id), trouble->text);
    return true;
}

static bool find_place(Worker *w, Arena *a, Handoff *h, const Served *s, const HomeChannel *home,
                       Err *err)
{
    Str thread = h->thread_ref.n ? h->thread_ref : home->thread_id;
    Place place;

    if (!s->platform->shape->place(a, home, thread, &place, err))
        return false;
    h->dest_key = place_key(a, &place, &w->o.flags);
    h->dest_source_json = place_json(a, &place);
    return routing_remember(w->o.journal, a, h, err);
}

static bool prepare(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    const Served *s = server_of(w, h->platform);
    HomeChannel home;
    bool wait;
    Card card;
    Err why;

    if (h->cancel)
        return leave(w, a, h, HANDOFF_CANCELLED, "cancelled", STR("it was asked for"), ret_more,
                     err);
    if (!s->platform->home(s->connection, a, &home, &why) ||
        !w->o.card(w->o.card_ctx, a, h, &card, &why))
        goto trouble;
    if (!open_thread(w, a, h, s, &home, card.title, &why, &wait, err))
        return false;
    if (wait)
        return postpone(w, h, &why, ret_more, err);
    if (!find_place(w, a, h, s, &home, &why))
        goto trouble;
    return handoff_advance(w->o.journal, h, HANDOFF_PREPARED, err);
trouble:
    if (for_now(&why) && h->attempt < PREPARE_TRIES)
        return postpone(w, h, &why, ret_more, err);
    return leave(w, a, h, HANDOFF_FAILED, err_name(&why), str_of(why.text), ret_more, err);
}

/* -- bind ------------------------------------------------------------------------------------------------ */

static bool bind_it(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    Handoff now;
    Err why;

    if (!handoff_get(w->o.journal, a, h->id, &now, err))
        return false;
    if (now.cancel && now.fence == h->fence)
        return leave(w, a, h, HANDOFF_CANCELLED, "cancelled", STR("it was asked for"), ret_more,
                     err);
    if (routing_bind(w->o.journal, a, h, &why))
        return true;
    if (why.kind == ERR_CONFLICT) {
        *err = why;
        return false;
    }
    if (for_now(&why) && h->attempt < PREPARE_TRIES)
        return postpone(w, h, &why, ret_more, err);
    return leave(w, a, h, HANDOFF_FAILED, why.kind == ERR_REFUSED ? "withdrawn" : err_name(&why),
                 str_of(why.text), ret_more, err);
}

/* -- announce ---------------------------------------------------------------------------------------------- */

typedef struct Holding {
    Worker *w;
    Handoff *h;
} Holding;

static bool still_ours(void *ctx, Err *err)
{
    Holding *holding = ctx;

    return handoff_renew(holding->w->o.journal, holding->h, LEASE_MS, err);
}

static bool announce(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    const Served *s = server_of(w, h->platform);
    Holding holding = { w, h };
    Delivery d = { .platform = s->platform,
                   .connection = s->connection,
                   .may_go_on = still_ours,
                   .ctx = &holding };
    Outgoing o = { .id = h->id, .platform = h->platform, .place_json = h->dest_source_json };
    Card card;
    Err why;

    if (w->o.card(w->o.card_ctx, a, h, &card, &why)) {
        o.text = card.text;
        if (deliver(&d, w->o.journal, a, &o, &h->notice_ref, &why))
            return handoff_advance(w->o.journal, h, HANDOFF_ANNOUNCED, err);
    }
    if (why.kind == ERR_CONFLICT) {
        *err = why;
        return false;
    }
    if (now_in_ms() < h->deadline_ms)
        return postpone(w, h, &why, ret_more, err);
    /* The session is there; that nobody said so is all that is missing. */
    h->error_code = STR("not_announced");
    h->error_text = str_dup(a, str_of(why.text));
    return handoff_advance(w->o.journal, h, HANDOFF_ANNOUNCED, err);
}

/* -- done ------------------------------------------------------------------------------------------------------ */

static bool finish(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    bool shown;
    Err why;

    *ret_more = false;
    if (!handoff_complete(w->o.journal, h, &shown, &why)) {
        if (for_now(&why))
            return postpone(w, h, &why, ret_more, err);
        *err = why;
        return false;
    }
    if (!shown)
        return routing_undo(w->o.journal, a, h, HANDOFF_FAILED, "withdrawn",
                            STR("whoever asked had given up by then, and keeps the session"), err);
    w->done_ms = now_in_ms();
    return true;
}

bool worker_step(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err)
{
    *ret_more = true;
    if (!handoff_renew(w->o.journal, h, LEASE_MS, err))
        return false;
    switch (h->state) {
    case HANDOFF_CLAIMED:
        return prepare(w, a, h, ret_more, err);
    case HANDOFF_PREPARED:
        return bind_it(w, a, h, ret_more, err);
    case HANDOFF_BOUND:
        return announce(w, a, h, ret_more, err);
    case HANDOFF_ANNOUNCED:
        return finish(w, a, h, ret_more, err);
    default:
        *ret_more = false;
        return true;
    }
}

/* -- a round ---------------------------------------------------------------------------------------------------- */

static void do_one(Worker *w, Str id)
{
    AUTO(Arena) *a = arena_new();
    bool more = false;
    Handoff h;
    Err err;

    if (!handoff_claim(w->o.journal, a, id, w->o.owner, LEASE_MS, &h, &more, &err)) {
        log_warning("handoff '%.*s': %s", STR_FMT(id), err.text);
        return;
    }
    while (more)
        if (!worker_step(w, a, &h, &more, &err)) {
            if (err.kind != ERR_CONFLICT)
                log_warning("handoff '%.*s', %.*s: %s", STR_FMT(id), STR_FMT(h.step), err.text);
            return;
        }
}

static void take_up(Worker *w, const Str *names)
{
    for (size_t i = 0; w->o.homes && i < w->o.homes->n; i++) {
        const Home *home = &w->o.homes->all[i];
        Err err;

        if (home->present && home->kind != HOME_OURS &&
            !handoff_adopt(w->o.journal, home->path, names, w->o.n_served, &err))
            log_warning("%s", err.text);
    }
}

static void look_again(Worker *w)
{
    size_t n = 0;
    Err err;

    if (!routing_reopen(w->o.journal, now_in_ms() - REOPEN_MS, &n, &err))
        log_warning("%s", err.text);
    if (n)
        log_note("a terminal had ended %zu session%s that it had handed over; open again", n,
                 n == 1 ? "" : "s");
}

bool worker_round(Worker *w, int64_t *ret_wait_ms, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str *names = ARENA_ARRAY(a, Str, w->o.n_served + 1);
    Handoff *all;
    size_t n, left;

    for (size_t i = 0; i < w->o.n_served; i++)
        names[i] = str_of(w->o.served[i].platform->shape->name);
    take_up(w, names);
    if (!handoff_pending(w->o.journal, a, names, w->o.n_served, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        do_one(w, all[i].id);
    if (!handoff_open_count(w->o.journal, &left, err))
        return false;
    *ret_wait_ms = left ? (n ? RETRY_MS : WAITING_MS) : IDLE_MS;
    if (w->done_ms && now_in_ms() - w->done_ms < REOPEN_MS) {
        look_again(w);
        *ret_wait_ms = REOPEN_EVERY_MS;
    }
    return true;
}

/* Several homes as one history: newest first by a merge of their lists, lineages put together on
 * the way. Costs grow with what is looked at, not with what is there. */
#include "store/store.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "store/activity.h"
#include "store/db.h"
#include "store/store_inside.h"

enum { PAGE = 64 };

/* -- opening -- */

static bool asked_for(const Home *home, const Homes *homes)
{
    return home->kind == HOME_GIVEN || homes->n == 1;
}

void store_end_reads(void)
{
    db_end_reads();
}

Store *store_open(const Homes *homes, Err *err)
{
    AUTO(Store) *s = mem_alloc(sizeof *s);
    size_t readable = 0, failed = 0;

    s->homes = homes;
    s->engine = &engine_sqlite;
    s->conns = mem_alloc(homes->n * sizeof *s->conns);
    for (size_t i = 0; i < homes->n; i++) {
        const Home *home = &homes->all[i];
        Err why;

        if (!home->present && home->kind == HOME_GIVEN) {
            (void)err_set(err, ERR_NOT_FOUND, "no session database in '%.*s' (no state.db there)",
                          STR_FMT(home->path));
            return NULL;
        }
        if (!home->present)
            continue;
        s->conns[i] = s->engine->open(home, &why);
        if (s->conns[i]) {
            readable++;
            continue;
        }
        *err = why;
        if (asked_for(home, homes))
            return NULL;
        failed++;
        log_warning("left out: %s", why.text);
    }
    return failed && !readable ? NULL : TAKE(s);
}

Store *store_free(Store *s)
{
    if (s) {
        for (size_t i = 0; i < s->homes->n; i++)
            s->engine->close(s->conns[i]);
        mem_free(s->conns);
        mem_free(s);
    }
    return NULL;
}

const char *store_engine_version(void)
{
    return engine_sqlite.version();
}

const Home *store_home(const Store *s, size_t home)
{
    return &s->homes->all[home];
}

void store_facts(Arena *a, const Homes *homes, HomeFacts **ret, size_t *ret_n)
{
    HomeFacts *all = ARENA_ARRAY(a, HomeFacts, homes->n);

    for (size_t i = 0; i < homes->n; i++) {
        HomeFacts *f = &all[i];
        Conn *c;
        Err err;

        f->home = &homes->all[i];
        if (!f->home->present)
            continue;
        c = engine_sqlite.open(f->home, &err);
        f->readable = c && engine_sqlite.facts(c, a, f, &err);
        if (!f->readable)
            snprintf(f->trouble, sizeof f->trouble, "%s", err.text);
        engine_sqlite.close(c);
    }
    *ret = all;
    *ret_n = homes->n;
}

/* -- lineages -- */

static bool parent_of(Store *s, Arena *a, const Session *child, Session *ret, bool *ret_found,
                      Err *err)
{
    Conn *c = s->conns[child->home];
    Session next;
    bool found = false;

    *ret_found = false;
    if (!child->parent_session_id.n)
        return true;
    if (!s->engine->get(c, a, child->parent_session_id, ret, &found, err))
        return false;
    if (!found)
        return true;
    ret->home = child->home;
    if (!s->engine->continuation(c, a, ret, &next, &found, err))
        return false;
    /* The parent may have gone on in another child: then this one stands by itself. */
    *ret_found = found && str_eq(next.id, child->id);
    return true;
}

static double cost_of(const Session *s)
{
    return s->actual_cost_usd > 0 ? s->actual_cost_usd : s->estimated_cost_usd;
}

static bool add_up(Store *s, Arena *a, Lineage *l, Err *err)
{
    double newest = 0;

    for (size_t i = 0; i < l->n_parts; i++) {
        const Session *p = &l->parts[i];

        l->messages += p->message_count;
        l->tool_calls += p->tool_call_count;
        l->input_tokens += p->input_tokens;
        l->output_tokens += p->output_tokens;
        l->cache_read_tokens += p->cache_read_tokens;
        l->cache_write_tokens += p->cache_write_tokens;
        l->cost_usd += cost_of(p);
        if (p->title.n)
            l->title = p->title;
    }
    l->started_at = l->parts[0].started_at;
    if (!s->engine->newest(s->conns[l->tip.home], l->tip.id, &newest, err))
        return false;
    l->last_active = l->tip.last_activity_at > newest ? l->tip.last_activity_at : newest;
    if (l->last_active <= 0)
        l->last_active = l->tip.started_at;
    if (!l->title.n &&
        !s->engine->first_words(s->conns[l->tip.home], a, l->parts[0].id, &l->title, err))
        return false;
    if (!l->title.n)
        l->title = STR("Untitled");
    return true;
}

/* From the tip back to the first part. A ring of parents, which only a damaged file has, ends at
 * the limit. */
bool store_lineage(Store *s, Arena *a, const Session *tip, Lineage *ret, Err *err)
{
    Lineage l = { .tip = *tip };
    size_t cap = 0;
    Session part = *tip;

    for (bool more = true; more && l.n_parts < LIMIT_LINEAGE_PARTS;) {
        Session parent = { 0 };

        ARENA_PUSH(a, l.parts, l.n_parts, cap, part);
        if (!parent_of(s, a, &part, &parent, &more, err))
            return false;
        part = parent;
    }
    for (size_t i = 0; i < l.n_parts / 2; i++) {
        Session swap = l.parts[i];

        l.parts[i] = l.parts[l.n_parts - 1 - i];
        l.parts[l.n_parts - 1 - i] = swap;
    }
    if (!add_up(s, a, &l, err))
        return false;
    *ret = l;
    return true;
}

/* -- listing -- */

/* The progress of one home's list: a page of sessions, read up to `at`. By activity a page is one
 * session, and `keys` are all that are left. */
typedef struct Page {
    Arena *arena, *keys_arena;
    SessionKey *keys;
    size_t n_keys, at_key;
    Session *all;
    size_t n, at;
    Session last; /* key of the last one read, for the next page */
    bool begun, ended, keyed;
    bool look_again; /* a key may be too late: see activity.h */
    double now;      /* when the keys were read */
    double order;    /* of the next session: its start, or its last activity */
} Page;

struct SessionList {
    Store *store;
    SessionQuery query;
    char *source;
    Page *pages;
};

/* As if everything up to `after` had been read. Of sessions that began at the same instant those of
 * an earlier home come first. */
static void begin_after(Page *p, size_t home, const Session *after)
{
    p->begun = true;
    p->last.started_at = after->started_at;
    p->last.rowid = home == after->home ? after->rowid : home < after->home ? INT64_MAX : INT64_MIN;
}

SessionList *sessions_open(Store *s, const SessionQuery *query, Err *err)
{
    SessionList *list = mem_alloc(sizeof *list);

    (void)err;
    list->store = s;
    list->query = *query;
    list->source = mem_strdup(query->source);
    list->query.source.p = list->source;
    list->pages = mem_alloc(s->homes->n * sizeof *list->pages);
    for (size_t i = 0; i < s->homes->n; i++) {
        list->pages[i].arena = arena_new();
        list->pages[i].keys_arena = query->by_activity ? arena_new() : NULL;
        list->pages[i].ended = !s->conns[i];
        if (query->after)
            begin_after(&list->pages[i], i, query->after);
    }
    list->query.after = NULL; /* the caller's; not needed any more */
    return list;
}

SessionList *sessions_close(SessionList *list)
{
    if (list) {
        for (size_t i = 0; i < list->store->homes->n; i++) {
            arena_free(list->pages[i].arena);
            arena_free(list->pages[i].keys_arena);
        }
        mem_free(list->pages);
        mem_free(list->source);
        mem_free(list);
    }
    return NULL;
}

/* A clock that was wrong by years must not keep a session at the top for ever. */
static double sane_activity(double active, double started_at, double now)
{
    enum { AHEAD = 86400 };

    if (active > 0 && active <= now + AHEAD)
        return active;
    return started_at <= now + AHEAD ? started_at : 0;
}

static bool is_behind(const SessionKey *k, double at, int64_t rowid)
{
    return k->active < at || (k->active == at && k->rowid > rowid);
}

/* All keys of a home, in order, without those up to the mark and those that are too old. */
static bool load_keys(SessionList *list, size_t home, Err *err)
{
    Page *p = &list->pages[home];
    Store *s = list->store;
    int64_t hidden =
        (list->query.archived ? 0 : KEY_ARCHIVED) | (list->query.source.n ? 0 : KEY_ONE_SHOT);
    Activity all;

    if (!activity_read(s->engine, s->conns[home], &s->homes->all[home], s->homes->data,
                       &list->query, p->keys_arena, &all, err))
        return false;
    p->now = clock_wall();
    p->keys = all.keys;
    p->look_again = all.upper;
    for (size_t i = 0; i < all.n; i++) {
        SessionKey k = all.keys[i];

        k.active = sane_activity(k.active, k.started_at, p->now);
        if (!(k.marks & hidden) && k.active >= list->query.since &&
            (!p->begun || is_behind(&k, p->last.started_at, p->last.rowid)))
            p->keys[p->n_keys++] = k;
    }
    activity_sort(p->keys_arena, p->keys, p->n_keys);
    p->keyed = true;
    return true;
}

/* *ret_here: the session's place is where its key says. Otherwise the key is moved down to its
 * place. */
static bool look_again(SessionList *list, size_t home, const SessionKey *key, bool *ret_here,
                       Err *err)
{
    Page *p = &list->pages[home];
    Store *s = list->store;
    const Session *session = p->all;
    SessionKey k = *key;
    double newest;
    size_t at;

    if (!s->engine->newest(s->conns[home], session->id, &newest, err))
        return false;
    if (session->last_activity_at > newest)
        newest = session->last_activity_at;
    k.active = sane_activity(newest, session->started_at, p->now);
    *ret_here = k.active >= key->active;
    if (*ret_here || k.active < list->query.since)
        return true;
    for (at = p->at_key; at < p->n_keys && !is_behind(&p->keys[at], k.active, k.rowid); at++)
        p->keys[at - 1] = p->keys[at];
    p->keys[at - 1] = k;
    p->at_key--;
    return true;
}

/* The next session by activity that is still there. */
static bool fill_by_activity(SessionList *list, size_t home, Err *err)
{
    Page *p = &list->pages[home];
    Store *s = list->store;
    bool found = false;

    if (!p->keyed && !load_keys(list, home, err))
        return false;
    p->all = ARENA_NEW(p->arena, Session);
    p->n = p->at = 0;
    while (!found && p->at_key < p->n_keys) {
        SessionKey k = p->keys[p->at_key++];

        if (!s->engine->at(s->conns[home], p->arena, k.rowid, p->all, &found, err) ||
            (found && p->look_again && !look_again(list, home, &k, &found, err)))
            return false;
        p->order = k.active;
    }
    p->n = found;
    p->ended = !found;
    return true;
}

static bool fill_by_start(SessionList *list, size_t home, Err *err)
{
    Page *p = &list->pages[home];
    Store *s = list->store;

    if (!s->engine->list(s->conns[home], p->arena, &list->query, p->begun ? &p->last : NULL, PAGE,
                         &p->all, &p->n, err))
        return false;
    p->at = 0;
    p->begun = true;
    p->ended = p->n == 0;
    if (p->n)
        p->last = p->all[p->n - 1];
    return true;
}

static bool fill_page(SessionList *list, size_t home, Err *err)
{
    Page *p = &list->pages[home];

    if (p->ended)
        return true;
    if (p->at == p->n) {
        arena_reset(p->arena);
        if (!(list->query.by_activity ? fill_by_activity(list, home, err)
                                      : fill_by_start(list, home, err)))
            return false;
    }
    if (!p->ended && !list->query.by_activity)
        p->order = p->all[p->at].started_at;
    return true;
}

/* The home whose next session is the newest; homes->n where all are read. */
static bool newest_page(SessionList *list, size_t *ret, Err *err)
{
    size_t best = list->store->homes->n;

    for (size_t i = 0; i < list->store->homes->n; i++) {
        const Page *p = &list->pages[i];

        if (!fill_page(list, i, err))
            return false;
        if (!p->ended && (best == list->store->homes->n || p->order > list->pages[best].order))
            best = i;
    }
    *ret = best;
    return true;
}

bool sessions_next(SessionList *list, Arena *a, Lineage *ret, bool *ret_more, Err *err)
{
    Store *s = list->store;
    size_t home = 0;

    for (;;) {
        Session session, next;
        bool continued = false;
        double order;

        if (!newest_page(list, &home, err))
            return false;
        *ret_more = home < s->homes->n;
        if (!*ret_more)
            return true;
        order = list->pages[home].order;
        session = session_dup(a, &list->pages[home].all[list->pages[home].at++]);
        session.home = home;
        if (!s->engine->continuation(s->conns[home], a, &session, &next, &continued, err))
            return false;
        if (continued)
            continue;
        if (!store_lineage(s, a, &session, ret, err))
            return false;
        ret->order_at = order;
        return true;
    }
}

bool sessions_count(Store *s, int64_t *ret, Err *err)
{
    int64_t total = 0;

    for (size_t i = 0; i < s->homes->n; i++) {
        int64_t n = 0;

        if (!s->conns[i])
            continue;
        if (!s->engine->count(s->conns[i], &n, err))
            return false;
        total += n;
    }
    *ret = total;
    return true;
}

/* -- one session -- */

bool store_fingerprint(Store *s, Arena *a, const Session *session, Str *ret, Err *err)
{
    return s->engine->mark(s->conns[session->home], a, session->id, ret, err);
}

/* -- messages -- */

bool messages_each(Store *s, const Session *session, const MessageQuery *query, MessageFn *fn,
                   void *ctx, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Message last, *batch;
    size_t n = 0, seen = 0;

    for (bool begun = false;; begun = true) {
        arena_reset(a);
        if (!s->engine->messages(s->conns[session->home], a, session->id, query,
                                 begun ? &last : query->after, &batch, &n, err))
            return false;
        for (size_t i = 0; i < n; i++, seen++) {
            if (query->max && seen == query->max)
                return true;
            if (!fn(ctx, &batch[i], err))
                return false;
        }
        if (n == 0)
            return true;
        last = batch[n - 1];
    }
}

typedef struct Loading {
    Arena *arena;
    Message *all;
    size_t n, cap;
} Loading;

static bool load_one(void *ctx, const Message *m, Err *err)
{
    Loading *l = ctx;
    Message copy = *m;

    (void)err;
#define DUP_TEXT(name) copy.name = m->name.p ? str_dup(l->arena, m->name) : STR_NONE;
#define DUP_REAL(name)
#define DUP_INT(name)
#define X(kind, name) DUP_##kind(name)
    MESSAGE_FIELDS(X)
#undef X
    ARENA_PUSH(l->arena, l->all, l->n, l->cap, copy);
    return true;
}

bool messages_load(Store *s, Arena *a, const Session *session, const MessageQuery *query,
                   Message **ret, size_t *ret_n, Err *err)
{
    Loading l = { .arena = a };

    if (!messages_each(s, session, query, load_one, &l, err))
        return false;
    *ret = l.all;
    *ret_n = l.n;
    return true;
}

bool store_cells(Store *s, Arena *a, const Session *session, const Message *m, StoredCell **ret,
                 size_t *ret_n, Err *err)
{
    return s->engine->cells(s->conns[session->home], a, session, m, ret, ret_n, err);
}

/* Sessions that go on in a conversation of ours, and those in which runtimes keep the turns of one. Either way both are
 * one thread of work: the list shows the conversation, and the session again as soon as it has messages of its own. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "recall/history_files.h"

/* A conversation stands for nothing in a history that leaves it out. */
static bool shows_conversations(const History *h)
{
    for (size_t i = 0; i < h->where.homes->n; i++)
        if (h->where.homes->all[i].kind == HOME_OURS)
            return true;
    return false;
}

static int by_conversation(const void *left, const void *right)
{
    const Continuation *a = *(const Continuation *const *)left;
    const Continuation *b = *(const Continuation *const *)right;

    return str_cmp(a->conversation_id, b->conversation_id);
}

static void load(History *h)
{
    Err err;

    if (h->arena)
        return;
    h->arena = arena_new();
    if (!shows_conversations(h))
        return;
    if (!continuations_load(h->where.homes->data, h->arena, &h->continued, &h->n_continued, &err))
        log_debug("what goes on in conversations is not known: %s", err.text);
    h->conversations = ARENA_ARRAY(h->arena, const Continuation *, h->n_continued + 1);
    for (size_t i = 0; i < h->n_continued; i++)
        if (!h->continued[i].by_runtime)
            h->conversations[h->n_conversations++] = &h->continued[i];
    if (h->n_conversations)
        qsort(h->conversations, h->n_conversations, sizeof *h->conversations, by_conversation);
}

/* The first one that may be of this session. */
static size_t first_of(const History *h, Str session)
{
    size_t low = 0, high = h->n_continued;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_cmp(h->continued[middle].session_id, session) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* As store/continued.h names it. */
static bool is_of(const History *h, const Continuation *c, const HistoryItem *item)
{
    if (item->own)
        return false;
    if (c->by_runtime || item->is_file)
        return str_eqz(c->home, origin_name(item->origin));
    return str_eq(c->home, h->where.homes->all[item->lineage.tip.home].path);
}

static void link_conversation(Arena *a, const Continuation *c, HistoryItem *item)
{
    bool folder = str_starts(c->home, STR("/"));

    item->continues = str_dup(a, c->session_id);
    item->continues_origin = folder ? STR("hermes") : str_dup(a, c->home);
}

void history_link(History *h, Arena *a, HistoryItem *item)
{
    Str id = item->lineage.tip.id;
    const Continuation wanted = { .conversation_id = id }, *key = &wanted;
    const Continuation **found;

    load(h);
    found = item->own && h->n_conversations ? bsearch(&key, h->conversations, h->n_conversations,
                                                      sizeof *h->conversations, by_conversation)
                                            : NULL;
    if (found)
        link_conversation(a, *found, item);
    for (size_t i = first_of(h, id); i < h->n_continued && str_eq(h->continued[i].session_id, id);
         i++)
        if (is_of(h, &h->continued[i], item))
            item->continued_in = str_dup(a, h->continued[i].conversation_id);
}

bool history_fingerprint(History *h, Arena *a, const HistoryItem *item, Str *ret, Err *err)
{
    struct stat st;

    if (!item->is_file)
        return store_fingerprint(h->where.store, a, &item->lineage.tip, ret, err);
    if (stat(str_z(a, item->file.path), &st) != 0)
        return err_errno(err, "cannot look at '%.*s'", STR_FMT(item->file.path));
    *ret = str_printf(a, "%lld.%lld.%ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                      st.st_mtim.tv_nsec);
    return true;
}

/* A conversation that was put aside does not stand for a session that it took along; its own turns it puts aside
 * wherever they are kept. */
static bool covers(History *h, Arena *a, const Continuation *c, const HistoryItem *item)
{
    enum {
        AFTER_THE_END = 10
    }; /* seconds in which a program still writes about a turn that is over */
    Str now;
    Err ignored;

    if (!is_of(h, c, item))
        return false;
    if (c->by_runtime)
        return item->lineage.last_active <= c->until + AFTER_THE_END;
    return !c->archived && history_fingerprint(h, a, item, &now, &ignored) &&
           str_eq(now, c->fingerprint);
}

bool history_is_covered(History *h, Arena *a, const HistoryItem *item)
{
    Str id = item->lineage.tip.id;

    load(h);
    for (size_t i = first_of(h, id); i < h->n_continued && str_eq(h->continued[i].session_id, id);
         i++)
        if (covers(h, a, &h->continued[i], item))
            return true;
    return false;
}

/* -- counts ---------------------------------------------------------------------------------------------- */

static void uncount(const HistoryItem *item, HistoryFacts *facts)
{
    const Session *tip = &item->lineage.tip;
    SessionCounts *const counts[] = { &facts->homes[tip->home],
                                      &facts->sources[item->origin].counts };

    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (session_is_aside(tip->source))
            counts[i]->sub_agents--;
        else if (tip->archived)
            counts[i]->archived--;
        else
            counts[i]->sessions--;
}

bool history_uncount_homes(History *h, Arena *a, HistoryFacts *facts, Err *err)
{
    AUTO(Store) *store = NULL;
    Store *before = h->where.store;

    load(h);
    for (size_t i = 0; i < h->n_continued; i++) {
        const Continuation *c = &h->continued[i];
        HistoryItem item;
        Lineage l;
        Err why;

        if ((i && str_eq(c->session_id, c[-1].session_id)) ||
            !(str_eqz(c->home, "hermes") || str_starts(c->home, STR("/"))))
            continue;
        if (!store && !(store = store_open(h->where.homes, err)))
            return false;
        h->where.store = store;
        if (store_find(store, a, c->session_id, &l, &why)) {
            history_home_item(h, &l, &item);
            if (str_eq(l.tip.id, c->session_id) && history_is_covered(h, a, &item))
                uncount(&item, facts);
        }
    }
    h->where.store = before;
    return true;
}

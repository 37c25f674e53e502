/* Sessions that go on in a conversation of ours, and those in which runtimes keep the turns of one.
 * Either way both are one thread of work: the list shows the conversation, and the session again as
 * soon as it has messages of its own. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "recall/history_files.h"

/* A conversation represents nothing in a history that leaves it out. */
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
    if (!guests_load(h->where.homes->data, h->arena, &h->guests, &h->n_guests, &err))
        log_debug("what guests said is not known: %s", err.text);
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

/* A conversation that was put aside does not represent a session that it took along; its own turns
 * it puts aside wherever they are kept. */
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

/* -- what a conversation represents -- */

static bool find_continued(History *h, Arena *a, const Continuation *c, HistoryItem *ret)
{
    Catalogue *catalogue;
    Lineage l;
    Entry e;
    Err ignored;

    if (str_starts(c->home, STR("/"))) {
        if (!h->where.store || !store_find(h->where.store, a, c->session_id, &l, &ignored) ||
            !str_eq(l.tip.id, c->session_id))
            return false;
        history_home_item(h, &l, ret);
        return true;
    }
    if (!h->where.files || !files_catalogue(&h->files, &catalogue, &ignored) ||
        !catalogue_find(catalogue, a, c->session_id, &e, &ignored) ||
        !str_eq(e.id, c->session_id) || e.source == SOURCE_HERMES)
        return false;
    files_item(a, &e, h->where.homes->n, ret);
    return true;
}

static bool has_line(Str lines, Str line)
{
    Str one;

    while (lines.n && str_split(&lines, '\n', &one))
        if (str_eq(one, line))
            return true;
    return false;
}

static Str lines_of_both(Arena *a, Str first, Str second)
{
    Str all = first, one;

    while (second.n && str_split(&second, '\n', &one))
        if (one.n && !has_line(first, one))
            all = str_printf(a, "%.*s%s%.*s", STR_FMT(all), all.n ? "\n" : "", STR_FMT(one));
    return all;
}

/* Only the words of a session are taken along: what was done in it is counted where it was done. */
static void add_work(History *h, Arena *a, const Continuation *c, HistoryItem *item)
{
    HistoryItem before;

    if (!find_continued(h, a, c, &before) || !covers(h, a, c, &before))
        return;
    item->lineage.tool_calls += before.lineage.tool_calls;
    if (item->has_facts && !before.has_facts)
        history_add_facts(h, a, &before);
    if (item->has_facts && before.has_facts)
        item->tools = lines_of_both(a, item->tools, before.tools);
}

static void link_conversation(Arena *a, const Continuation *c, HistoryItem *item)
{
    bool folder = str_starts(c->home, STR("/"));

    item->continues = str_dup(a, c->session_id);
    item->continues_origin = folder ? STR("hermes") : str_dup(a, c->home);
}

static int by_text(const void *left, const void *right)
{
    return str_cmp(*(const Str *)left, *(const Str *)right);
}

void history_link(History *h, Arena *a, HistoryItem *item)
{
    Str id = item->lineage.tip.id;
    const Continuation wanted = { .conversation_id = id }, *key = &wanted;
    const Continuation **found;

    load(h);
    item->guest =
        item->own && h->n_guests && bsearch(&id, h->guests, h->n_guests, sizeof id, by_text);
    found = item->own && h->n_conversations ? bsearch(&key, h->conversations, h->n_conversations,
                                                      sizeof *h->conversations, by_conversation)
                                            : NULL;
    if (found) {
        link_conversation(a, *found, item);
        add_work(h, a, *found, item);
    }
    for (size_t i = first_of(h, id); i < h->n_continued && str_eq(h->continued[i].session_id, id);
         i++)
        if (is_of(h, &h->continued[i], item))
            item->continued_in = str_dup(a, h->continued[i].conversation_id);
}

/* One that took the session along before one whose turns a runtime keeps there. */
static const Continuation *covering(History *h, Arena *a, const HistoryItem *item)
{
    const Continuation *found = NULL;
    Str id = item->lineage.tip.id;

    load(h);
    for (size_t i = first_of(h, id); i < h->n_continued && str_eq(h->continued[i].session_id, id);
         i++)
        if ((!found || found->by_runtime) && covers(h, a, &h->continued[i], item))
            found = &h->continued[i];
    return found;
}

Str history_covered_by(History *h, Arena *a, const HistoryItem *item, bool *ret_begun_there)
{
    const Continuation *c = covering(h, a, item);

    *ret_begun_there = c && !c->by_runtime && !item->side_chain && !item->lineage.tip.archived;
    return c ? c->conversation_id : STR("");
}

bool history_is_covered(History *h, Arena *a, const HistoryItem *item)
{
    return covering(h, a, item) != NULL;
}

/* -- sessions of homes -- */

typedef void CoveredFn(void *ctx, const HistoryItem *item, Str conversation, bool begun_there);

static bool each_covered(History *h, Arena *a, CoveredFn *fn, void *ctx, Err *err)
{
    AUTO(Store) *store = NULL;
    Store *before = h->where.store;

    load(h);
    for (size_t i = 0; i < h->n_continued; i++) {
        const Continuation *c = &h->continued[i];
        HistoryItem item;
        Lineage l;
        bool begun_there;
        Str by;
        Err why;

        if ((i && str_eq(c->session_id, c[-1].session_id)) ||
            !(str_eqz(c->home, "hermes") || str_starts(c->home, STR("/"))))
            continue;
        if (!store && !(store = store_open(h->where.homes, err)))
            return false;
        h->where.store = store;
        if (store_find(store, a, c->session_id, &l, &why) && str_eq(l.tip.id, c->session_id)) {
            history_home_item(h, &l, &item);
            by = history_covered_by(h, a, &item, &begun_there);
            if (by.n)
                fn(ctx, &item, by, begun_there);
        }
    }
    h->where.store = before;
    return true;
}

typedef struct CoveredList {
    const History *h;
    Arena *a;
    Covered *all;
    size_t n, cap;
} CoveredList;

static void keep_covered(void *ctx, const HistoryItem *item, Str conversation, bool begun_there)
{
    CoveredList *list = ctx;
    Covered c = { .home = list->h->where.homes->all[item->lineage.tip.home].path,
                  .id = item->lineage.tip.id,
                  .conversation = str_dup(list->a, conversation),
                  .begun_there = begun_there };

    ARENA_PUSH(list->a, list->all, list->n, list->cap, c);
}

bool history_covered_homes(History *h, Arena *a, Covered **ret, size_t *ret_n, Err *err)
{
    CoveredList list = { .h = h, .a = a };

    if (!each_covered(h, a, keep_covered, &list, err))
        return false;
    *ret = list.all;
    *ret_n = list.n;
    return true;
}

/* -- counts -- */

void history_count_begun(const History *h, HistoryFacts *facts, const HistoryItem *item)
{
    SessionCounts *ours = &facts->sources[ORIGIN_TALARIA].counts;

    facts->sources[item->origin].counts.continued++;
    ours->sessions--;
    ours->continuing++;
    for (size_t i = 0; i < h->where.homes->n; i++)
        if (h->where.homes->all[i].kind == HOME_OURS) {
            facts->homes[i].sessions--;
            facts->homes[i].continuing++;
        }
}

typedef struct Uncounting {
    const History *h;
    HistoryFacts *facts;
} Uncounting;

static void uncount(void *ctx, const HistoryItem *item, Str conversation, bool begun_there)
{
    const Uncounting *u = ctx;
    const Session *tip = &item->lineage.tip;
    SessionCounts *const counts[] = { &u->facts->homes[tip->home],
                                      &u->facts->sources[item->origin].counts };

    (void)conversation;
    if (begun_there) {
        u->facts->homes[tip->home].continued++;
        history_count_begun(u->h, u->facts, item);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (session_is_aside(tip->source))
            counts[i]->sub_agents--;
        else if (tip->archived)
            counts[i]->archived--;
        else
            counts[i]->sessions--;
}

bool history_count_continued(History *h, Arena *a, HistoryFacts *facts, Err *err)
{
    return each_covered(h, a, uncount, &(Uncounting){ h, facts }, err);
}

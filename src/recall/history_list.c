/* A merge of lanes: the homes, which the store has merged already, and one lane a kind of
 * transcript. Each is read a page at a time and ordered by (time, lane, number); a mark names such
 * a place, so that the next page begins there whatever was added above it. */
#include <math.h>

#include "base/log.h"
#include "recall/history.h"
#include "recall/history_files.h"

enum { PAGE = 64 };

/* One kind of transcript; with a filter of the catalogue also the homes' entries. */
typedef struct Lane {
    bool wanted, ended;
    SourceKind source;
    EntryQuery query;
    Arena *arena;
    Entry *page;
    size_t n, at;
} Lane;

struct HistoryList {
    History *history;
    Arena *arena;
    HistoryQuery query;
    bool has_origin, filtered; /* `filtered`: the catalogue answers for all */
    Origin origin;
    Store *own; /* over a part of the homes, where an origin means only these */
    Homes homes;
    size_t *home_of; /* from these to all */
    SessionList *sessions;
    Lineage head; /* the next one of the homes */
    Arena *head_arena;
    bool has_head, homes_ended;
    Lane lanes[HISTORY_FILE_LANES];
};

HistoryList *history_list_close(HistoryList *list)
{
    if (list) {
        for (size_t i = 0; i < HISTORY_FILE_LANES; i++)
            arena_free(list->lanes[i].arena);
        sessions_close(list->sessions);
        store_free(list->own);
        arena_free(list->head_arena);
        arena_free(list->arena);
        mem_free(list);
    }
    return NULL;
}

/* -- the homes' lane -- */

static bool wants_homes(const HistoryList *list)
{
    return !list->filtered;
}

/* "hermes" and "talaria" are homes: a store over these alone need not pass over the others. */
static bool narrow_homes(HistoryList *list, Err *err)
{
    const Homes *all = list->history->where.homes;
    bool ours = list->origin != ORIGIN_HERMES;

    list->homes = *all;
    list->homes.all = ARENA_ARRAY(list->arena, Home, all->n + 1);
    list->home_of = ARENA_ARRAY(list->arena, size_t, all->n + 1);
    list->homes.n = 0;
    for (size_t i = 0; i < all->n; i++)
        if ((all->all[i].kind == HOME_OURS) == ours) {
            list->home_of[list->homes.n] = i;
            list->homes.all[list->homes.n++] = all->all[i];
        }
    if (!list->homes.n) {
        list->homes_ended = true;
        return true;
    }
    list->own = store_open(&list->homes, err);
    return list->own != NULL;
}

/* Where the homes go on: after the mark, and not before `until`. At the same instant homes come
 * first, so behind a transcript nothing of that instant is left. */
static bool begin_of_homes(const HistoryList *list, Session *ret)
{
    const HistoryMark *after = list->query.after;
    size_t homes = list->history->where.homes->n;
    bool begun = false;

    if (list->query.until > 0) {
        *ret = (Session){ .home = homes, .started_at = list->query.until, .rowid = INT64_MAX };
        begun = true;
    }
    if (after && (!begun || after->at <= list->query.until)) {
        *ret = (Session){ .home = after->lane, .started_at = after->at, .rowid = after->number };
        if (after->lane >= homes)
            ret->home = homes;
        begun = true;
    }
    return begun;
}

/* The place among the homes that are read, where these are fewer. */
static size_t narrow_index(const HistoryList *list, size_t home)
{
    size_t i = 0;

    while (i < list->homes.n && list->home_of[i] < home)
        i++;
    return i;
}

static bool open_homes(HistoryList *list, Err *err)
{
    Store *store = list->history->where.store;
    SessionQuery query = { .since = list->query.since,
                           .archived = list->query.archived,
                           .by_activity = true };
    Session after;

    if (!wants_homes(list)) {
        list->homes_ended = true;
        return true;
    }
    if (!list->has_origin)
        query.source = list->query.source;
    else if (list->origin == ORIGIN_CLAUDE || list->origin == ORIGIN_CODEX)
        query.source = str_of(origin_name(list->origin));
    if (list->has_origin && !narrow_homes(list, err))
        return false;
    if (list->homes_ended)
        return true;
    if (begin_of_homes(list, &after)) {
        if (list->own) {
            size_t home = narrow_index(list, after.home);
            bool same = home < list->homes.n && list->home_of[home] == after.home;

            /* A mark of a home that is left out: what comes before it in order has been shown. */
            if (!same && after.rowid != INT64_MIN)
                after.rowid = INT64_MIN;
            after.home = home;
        }
        query.after = &after;
    }
    list->head_arena = arena_new();
    list->sessions = sessions_open(list->own ? list->own : store, &query, err);
    return list->sessions != NULL;
}

/* Sub-agents' runs only where they are asked for. */
static bool is_shown(const HistoryList *list, const Session *tip)
{
    const Home *home = &list->history->where.homes->all[tip->home];

    if (list->has_origin && origin_of(home, tip->source) != list->origin)
        return false;
    return list->query.side_chains || !session_is_aside(tip->source) ||
           str_eq(list->query.source, tip->source);
}

static bool fill_head(HistoryList *list, Err *err)
{
    while (!list->has_head && !list->homes_ended) {
        bool more = false;

        arena_reset(list->head_arena);
        if (!sessions_next(list->sessions, list->head_arena, &list->head, &more, err))
            return false;
        list->homes_ended = !more;
        if (!more)
            break;
        if (list->own) {
            list->head.tip.home = list->home_of[list->head.tip.home];
            for (size_t i = 0; i < list->head.n_parts; i++)
                list->head.parts[i].home = list->head.tip.home;
        }
        list->has_head = is_shown(list, &list->head.tip);
    }
    return true;
}

/* -- the lanes of the catalogue -- */

static bool wants_lane(const HistoryList *list, SourceKind source)
{
    if (list->has_origin)
        return (source == SOURCE_CLAUDE && list->origin == ORIGIN_CLAUDE) ||
               (source == SOURCE_CODEX && list->origin == ORIGIN_CODEX) ||
               (source == SOURCE_HERMES && list->filtered);
    if (list->query.source.n) /* a name of Hermes' own */
        return source == SOURCE_HERMES && list->filtered;
    return source != SOURCE_HERMES || list->filtered;
}

static void begin_lane(HistoryList *list, Lane *lane)
{
    const HistoryQuery *q = &list->query;
    size_t number = list->history->where.homes->n + lane->source;

    lane->query = (EntryQuery){ .source = (int)lane->source,
                                .project = q->project,
                                .model = q->model,
                                .tool = q->tool,
                                .since = q->since,
                                .until = q->until,
                                .side_chains = q->side_chains,
                                .archived = q->archived,
                                .max = PAGE };
    if (q->after) {
        lane->query.before_at = q->after->at;
        /* Keys begin at 1: before (at, 1) is what is older than that instant. */
        lane->query.before_key = q->after->lane == number  ? q->after->number
                                 : q->after->lane < number ? INT64_MAX
                                                           : 1;
    }
    lane->arena = arena_new();
    lane->wanted = true;
}

/* Without a filter a catalogue that fails hides its own sessions only, and says so. */
static bool open_lanes(HistoryList *list, Err *err)
{
    Files *files = &list->history->files;
    bool present = false;

    if (!files_present(files, &present, err))
        return false;
    if (!present && !list->filtered)
        return true;
    if (!files_update(files, list->filtered, err)) {
        if (list->filtered)
            return false;
        log_warning("without transcripts: %s", err->text);
        files->partial = true;
        return true;
    }
    for (size_t i = 0; i < HISTORY_FILE_LANES; i++) {
        list->lanes[i].source = (SourceKind)i;
        if (wants_lane(list, (SourceKind)i))
            begin_lane(list, &list->lanes[i]);
    }
    return true;
}

static bool fill_lane(HistoryList *list, Lane *lane, Err *err)
{
    Catalogue *c;

    if (!lane->wanted || lane->ended || lane->at < lane->n)
        return true;
    arena_reset(lane->arena);
    if (!files_catalogue(&list->history->files, &c, err) ||
        !catalogue_list(c, lane->arena, &lane->query, &lane->page, &lane->n, err))
        return false;
    lane->at = 0;
    lane->ended = lane->n == 0;
    if (lane->n) {
        lane->query.before_at = lane->page[lane->n - 1].last_at;
        lane->query.before_key = lane->page[lane->n - 1].key;
    }
    return true;
}

HistoryList *history_list(History *h, const HistoryQuery *query, Err *err)
{
    AUTO(HistoryList) *list = mem_alloc(sizeof *list);

    list->history = h;
    list->arena = arena_new();
    list->query = *query;
    list->has_origin = origin_parse(query->source, &list->origin);
    list->filtered = query->project.n || query->model.n || query->tool.n;
    if (!open_homes(list, err) || !open_lanes(list, err))
        return NULL;
    list->query.after = NULL; /* the caller's; not needed any more */
    return TAKE(list);
}

/* -- the next one -- */

/* NULL where all lanes are read. Of the same instant the earlier lane comes first. */
static bool newest_lane(HistoryList *list, Lane **ret, Err *err)
{
    Lane *best = NULL;

    for (size_t i = 0; i < HISTORY_FILE_LANES; i++) {
        Lane *lane = &list->lanes[i];

        if (!fill_lane(list, lane, err))
            return false;
        if (lane->wanted && !lane->ended &&
            (!best || lane->page[lane->at].last_at > best->page[best->at].last_at))
            best = lane;
    }
    *ret = best;
    return true;
}

static Entry entry_dup(Arena *a, const Entry *e)
{
    Entry copy = *e;
    Str *const texts[] = { &copy.home,    &copy.id,    &copy.path,      &copy.parent,
                           &copy.title,   &copy.cwd,   &copy.branch,    &copy.model,
                           &copy.version, &copy.tools, &copy.entrypoint };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = str_dup(a, *texts[i]);
    return copy;
}

/* Whether the part of a chain is in the filtered list, too: asked of the list itself, at its
 * place. */
static bool is_listed(HistoryList *list, Catalogue *c, Arena *a, Str id, bool *ret, Err *err)
{
    EntryQuery query = list->lanes[SOURCE_HERMES].query;
    Entry part, *all;
    size_t n = 0;
    Err ignored;

    *ret = false;
    if (!catalogue_find(c, a, id, &part, &ignored) || !str_eq(part.id, id) ||
        part.last_at < query.since || (query.until > 0 && part.last_at >= query.until))
        return true;
    query.since = part.last_at;
    query.until = nextafter(part.last_at, INFINITY);
    query.before_key = 0;
    if (!catalogue_list(c, a, &query, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        *ret |= str_eq(all[i].id, id);
    return true;
}

/* A chain stands in the list where its newest fitting part does, on whichever page that is. */
static bool comes_earlier(HistoryList *list, Arena *a, const Lineage *l, Str id, bool *ret,
                          Err *err)
{
    Catalogue *c;

    *ret = false;
    if (l->n_parts == 1)
        return true;
    if (!files_catalogue(&list->history->files, &c, err))
        return false;
    for (size_t i = l->n_parts; i > 0 && !*ret && !str_eq(l->parts[i - 1].id, id); i--)
        if (!is_listed(list, c, a, l->parts[i - 1].id, ret, err))
            return false;
    return true;
}

/* A home's session that the catalogue named: the whole chain, once. *ret_fits false: not shown. */
static bool item_of_home(HistoryList *list, Arena *a, const Entry *e, HistoryItem *ret,
                         bool *ret_fits, Err *err)
{
    History *h = list->history;
    bool earlier = false;
    Lineage l;
    Err why;

    *ret_fits = false;
    /* Gone since, or of a home that is not read now: the catalogue is only a memory of it. */
    if (!store_find(h->where.store, a, e->id, &l, &why))
        return why.kind == ERR_NOT_FOUND || why.kind == ERR_CONFLICT || (*err = why, false);
    history_home_item(h, &l, ret);
    ret->mark = (HistoryMark){ h->where.homes->n + SOURCE_HERMES, e->last_at, e->key };
    files_facts(a, e, ret);
    if ((list->has_origin && ret->origin != list->origin) ||
        (!list->has_origin && list->query.source.n && !str_eq(l.tip.source, list->query.source)))
        return true;
    if (!comes_earlier(list, a, &l, e->id, &earlier, err))
        return false;
    *ret_fits = !earlier;
    return true;
}

static Lineage lineage_dup(Arena *a, const Lineage *l)
{
    Lineage copy = *l;

    copy.parts = ARENA_ARRAY(a, Session, l->n_parts);
    for (size_t i = 0; i < l->n_parts; i++)
        copy.parts[i] = session_dup(a, &l->parts[i]);
    copy.tip = copy.parts[l->n_parts - 1];
    copy.title = str_dup(a, l->title);
    return copy;
}

static bool next_of_all(HistoryList *list, Arena *a, HistoryItem *ret, bool *ret_more, Err *err)
{
    *ret_more = true;
    for (;;) {
        Lane *lane;
        Entry e;
        bool fits = true;

        if (!fill_head(list, err) || !newest_lane(list, &lane, err))
            return false;
        if (list->has_head && (!lane || list->head.order_at >= lane->page[lane->at].last_at)) {
            Lineage l = lineage_dup(a, &list->head);

            list->has_head = false;
            history_home_item(list->history, &l, ret);
            if (list->query.facts)
                history_add_facts(list->history, a, ret);
            return true;
        }
        if (!lane) {
            *ret_more = false;
            return true;
        }
        e = entry_dup(a, &lane->page[lane->at++]);
        if (lane->source != SOURCE_HERMES) {
            files_item(a, &e, list->history->where.homes->n, ret);
            return true;
        }
        if (!item_of_home(list, a, &e, ret, &fits, err))
            return false;
        if (fits)
            return true;
    }
}

/* With a filter the conversation may not be in the list, so the session stays. */
static bool stands_alone(const HistoryList *list, Arena *a, const HistoryItem *item)
{
    const HistoryQuery *q = &list->query;

    return q->source.n || list->filtered || q->since > 0 || q->until > 0 ||
           !history_is_covered(list->history, a, item);
}

bool history_next(HistoryList *list, Arena *a, HistoryItem *ret, bool *ret_more, Err *err)
{
    do {
        if (!next_of_all(list, a, ret, ret_more, err))
            return false;
        if (!*ret_more)
            return true;
        history_link(list->history, a, ret);
    } while (!stands_alone(list, a, ret));
    return true;
}

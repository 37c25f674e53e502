/* Origins, finding, messages: what is asked of one session. The list is in history_list.c. */
#include "recall/history.h"

#include "recall/history_files.h"
#include "text/utf8.h"

/* -- opening -- */

History *history_open(const HistoryWhere *where)
{
    History *h = mem_alloc(sizeof *h);

    h->where = *where;
    h->files.where = *where;
    return h;
}

History *history_close(History *h)
{
    if (h) {
        files_done(&h->files);
        arena_free(h->arena);
        mem_free(h);
    }
    return NULL;
}

bool history_partial(const History *h)
{
    return h->files.partial;
}

void history_home_item(const History *h, const Lineage *l, HistoryItem *ret)
{
    const Home *home = &h->where.homes->all[l->tip.home];

    *ret = (HistoryItem){ .origin = origin_of(home, l->tip.source),
                          .lineage = *l,
                          .home = home->name,
                          .own = home->kind == HOME_OURS,
                          .side_chain = session_is_aside(l->tip.source),
                          .mark = { l->tip.home, l->order_at, l->tip.rowid } };
}

/* -- finding -- */

static bool names_a_part(const Lineage *l, Str id)
{
    for (size_t i = 0; i < l->n_parts; i++)
        if (str_eq(l->parts[i].id, id))
            return true;
    return false;
}

void history_add_facts(History *h, Arena *a, HistoryItem *item)
{
    const Home *home = &h->where.homes->all[item->lineage.tip.home];
    Catalogue *c;
    Entry e;
    Err ignored;

    if (files_catalogue(&h->files, &c, &ignored) &&
        catalogue_find(c, a, item->lineage.tip.id, &e, &ignored) &&
        str_eq(e.id, item->lineage.tip.id) && str_eq(e.home, home->path))
        files_facts(a, &e, item);
}

/* Sessions of homes and transcripts whose id begins so. A catalogue that cannot be read hides its
 * own. */
static bool begins(History *h, Arena *a, Str prefix, size_t max, Session **ret, size_t *ret_n,
                   Err *err)
{
    Session *all, *files = NULL;
    size_t n, n_files = 0, cap;
    Err ignored;

    if (!store_begins(h->where.store, a, prefix, max, &all, &n, err))
        return false;
    (void)!files_begins(&h->files, a, prefix, max, &files, &n_files, &ignored);
    cap = n;
    for (size_t i = 0; i < n_files; i++)
        ARENA_PUSH(a, all, n, cap, files[i]);
    *ret = all;
    *ret_n = n;
    return true;
}

/* The answer to an id that several sessions may mean; `err` says so already. */
static bool ambiguous(History *h, Arena *a, Str id, Err *err)
{
    Session *all;
    size_t n;
    Err ignored;

    if (begins(h, a, id, CANDIDATES_COUNTED, &all, &n, &ignored) && n > 1)
        return session_ambiguous(a, id, all, n, err);
    return false;
}

static bool is_unique(History *h, Arena *a, Str id, size_t n)
{
    enum { ENOUGH = 4 }; /* the same id may be in several places */
    Session *all;
    size_t found;
    Err ignored;

    if (!begins(h, a, str_head(id, n), ENOUGH, &all, &found, &ignored) || found >= 2 * ENOUGH)
        return false;
    for (size_t i = 0; i < found; i++)
        if (!str_eq(all[i].id, id))
            return false;
    return true;
}

Str history_short_id(History *h, Arena *a, Str id)
{
    enum { SHORTEST = 8, WORTH = 4 };
    size_t low = SHORTEST, high = id.n;

    if (id.n < SHORTEST + WORTH)
        return id;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (is_unique(h, a, id, middle))
            high = middle;
        else
            low = middle + 1;
    }
    /* A separator at the end, or an id without its last few characters, is no easier to type. */
    while (low < id.n && low > 0 && strchr("-_.", id.p[low - 1]))
        low++;
    return id.n - low < WORTH ? id : utf8_head(id, low);
}

static bool find(History *h, Arena *a, Str id, HistoryItem *ret, Err *err)
{
    bool in_homes, in_files;
    HistoryItem file;
    Lineage l;
    Err why;

    in_homes = store_find(h->where.store, a, id, &l, err);
    if (!in_homes && err->kind == ERR_CONFLICT)
        return ambiguous(h, a, id, err);
    if (!in_homes && err->kind != ERR_NOT_FOUND)
        return false;
    if (in_homes && names_a_part(&l, id)) {
        history_home_item(h, &l, ret);
        history_add_facts(h, a, ret);
        return true;
    }
    in_files = files_find(&h->files, a, id, &file, &why);
    if (!in_files && why.kind != ERR_NOT_FOUND) {
        *err = why;
        return why.kind == ERR_CONFLICT ? ambiguous(h, a, id, err) : false;
    }
    if (in_homes && in_files) {
        (void)!err_set(err, ERR_CONFLICT, "'%.*s' matches 2 sessions; type more of the id",
                       STR_FMT(id));
        return ambiguous(h, a, id, err);
    }
    if (in_homes) {
        history_home_item(h, &l, ret);
        history_add_facts(h, a, ret);
    } else if (in_files) {
        *ret = file;
    }
    return in_homes || in_files;
}

bool history_find(History *h, Arena *a, Str id, HistoryItem *ret, Err *err)
{
    if (!find(h, a, id, ret, err))
        return false;
    history_link(h, a, ret);
    return true;
}

Str history_parent(const HistoryItem *item)
{
    Str parent = item->lineage.tip.parent_session_id;

    return item->is_file && parent.n && !str_eq(parent, item->lineage.tip.id) ? parent : STR_NONE;
}

/* -- messages -- */

static const Str side_chain_mark = STR_INIT("side_chain");

bool message_is_side_chain(const Message *m)
{
    return str_eq(m->display_kind, side_chain_mark);
}

bool history_load_file(Arena *a, const HistoryItem *item, Loaded *ret, Err *err)
{
    LoadOptions options = { 0 };
    double last = 0;

    if (!transcript_load(a, &item->file, &options, ret, err))
        return false;
    for (size_t i = 0; i < ret->n; i++) {
        if (ret->side_chain && ret->side_chain[i])
            ret->messages[i].display_kind = side_chain_mark;
        if (ret->messages[i].timestamp < last)
            ret->messages[i].timestamp = last;
        last = ret->messages[i].timestamp;
    }
    return true;
}

bool history_messages(History *h, const HistoryItem *item, size_t part, const MessageQuery *query,
                      MessageFn *fn, void *ctx, Err *err)
{
    AUTO(Arena) *a = NULL;
    Loaded loaded;

    if (!item->is_file)
        return messages_each(h->where.store, &item->lineage.parts[part], query, fn, ctx, err);
    a = arena_new();
    if (!history_load_file(a, item, &loaded, err))
        return false;
    for (size_t i = 0; i < loaded.n && (!query->max || i < query->max); i++)
        if (!fn(ctx, &loaded.messages[i], err))
            return false;
    return true;
}

bool history_cells(History *h, Arena *a, const HistoryItem *item, const Session *part,
                   const Message *m, StoredCell **ret, size_t *ret_n, Err *err)
{
    *ret = NULL;
    *ret_n = 0;
    return item->is_file || store_cells(h->where.store, a, part, m, ret, ret_n, err);
}

bool history_load_part(History *h, Arena *a, const HistoryItem *item, size_t part, size_t max,
                       Message **ret, size_t *ret_n, Err *err)
{
    MessageQuery query = { .max = max };
    Loaded loaded;

    if (!item->is_file)
        return messages_load(h->where.store, a, &item->lineage.parts[part], &query, ret, ret_n,
                             err);
    if (!history_load_file(a, item, &loaded, err))
        return false;
    *ret = loaded.messages;
    *ret_n = max && loaded.n > max ? max : loaded.n;
    return true;
}

bool history_load(History *h, Arena *a, const HistoryItem *item, size_t max, Message **ret,
                  size_t *ret_n, Err *err)
{
    Message *all = NULL;
    size_t n = 0, cap = 0;

    if (item->is_file)
        return history_load_part(h, a, item, 0, max, ret, ret_n, err);
    for (size_t p = 0; p < item->lineage.n_parts && (!max || n < max); p++) {
        Message *part;
        size_t n_part;

        if (!history_load_part(h, a, item, p, max ? max - n : 0, &part, &n_part, err))
            return false;
        for (size_t i = 0; i < n_part; i++)
            ARENA_PUSH(a, all, n, cap, part[i]);
    }
    *ret = all;
    *ret_n = n;
    return true;
}

bool history_transcripts(History *h, Arena *a, SourceKind source, HistoryItem **ret, size_t *ret_n,
                         Err *err)
{
    EntryQuery query = { .source = (int)source };
    bool present = false;
    HistoryItem *items;
    Catalogue *c;
    Entry *all;
    size_t n;

    *ret = NULL;
    *ret_n = 0;
    if (!files_present(&h->files, &present, err))
        return false;
    if (!present)
        return true;
    if (!files_update(&h->files, false, err) || !files_catalogue(&h->files, &c, err) ||
        !catalogue_list(c, a, &query, &all, &n, err))
        return false;
    items = ARENA_ARRAY(a, HistoryItem, n + 1);
    for (size_t i = 0; i < n; i++)
        files_item(a, &all[i], h->where.homes->n, &items[i]);
    *ret = items;
    *ret_n = n;
    return true;
}

/* -- what filters offer -- */

bool history_facets(History *h, Arena *a, const char *which, size_t max, Facet **ret, size_t *ret_n,
                    Err *err)
{
    Catalogue *c;

    return files_update(&h->files, true, err) && files_catalogue(&h->files, &c, err) &&
           catalogue_facets(c, a, which, max, ret, ret_n, err);
}

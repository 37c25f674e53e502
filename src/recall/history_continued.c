/* Sessions that go on in a conversation of ours. Both are one thread of work: the list shows the conversation,
 * which begins with the session's messages, and the session again as soon as it has messages of its own. */
#include <sys/stat.h>

#include "base/log.h"
#include "recall/history_files.h"

static void load(History *h)
{
    Err err;

    if (h->arena)
        return;
    h->arena = arena_new();
    if (!continuations_load(h->where.homes->data, h->arena, &h->continued, &h->n_continued, &err))
        log_debug("what goes on in conversations is not known: %s", err.text);
}

/* As store/conversations_adopt.h names it. */
static Str place_of(const History *h, const HistoryItem *item)
{
    return item->is_file ? str_of(origin_name(item->origin))
                         : h->where.homes->all[item->lineage.tip.home].path;
}

static void link_conversation(Arena *a, const Continuation *c, HistoryItem *item)
{
    bool folder = str_starts(c->home, STR("/"));

    item->continues = str_dup(a, c->session_id);
    item->continues_origin = folder ? STR("hermes") : str_dup(a, c->home);
}

void history_link(History *h, Arena *a, HistoryItem *item)
{
    Str id = item->lineage.tip.id, place = place_of(h, item);

    load(h);
    for (size_t i = 0; i < h->n_continued; i++) {
        const Continuation *c = &h->continued[i];

        if (item->own && str_eq(c->conversation_id, id))
            link_conversation(a, c, item);
        else if (str_eq(c->session_id, id) && str_eq(c->home, place))
            item->continued_in = str_dup(a, c->conversation_id);
    }
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

/* A conversation that was put aside does not stand for the session. */
bool history_is_continued(History *h, Arena *a, const HistoryItem *item)
{
    Str now;
    Err ignored;

    for (size_t i = 0; item->continued_in.n && i < h->n_continued; i++)
        if (str_eq(h->continued[i].conversation_id, item->continued_in))
            return !h->continued[i].archived && history_fingerprint(h, a, item, &now, &ignored) &&
                   str_eq(now, h->continued[i].fingerprint);
    return false;
}

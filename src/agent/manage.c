#include "agent/manage.h"

#include "agent/files.h"
#include "agent/service.h"
#include "agent/sessions_edit.h"
#include "base/log.h"
#include "recall/forget.h"

bool manage_check_own(const Homes *homes, const HistoryItem *item, Err *err)
{
    Str path = item->is_file ? item->file.path : homes->all[item->lineage.tip.home].database;

    return item->own ||
           err_set(err, ERR_REFUSED,
                   "session '%.*s' belongs to %s; Talaria does not change its file '%.*s'",
                   STR_FMT(item->lineage.tip.id), origin_title(item->origin), STR_FMT(path));
}

static SessionParts parts_of(Arena *a, const HistoryItem *item)
{
    Str *ids = ARENA_ARRAY(a, Str, item->lineage.n_parts);

    for (size_t i = 0; i < item->lineage.n_parts; i++)
        ids[i] = item->lineage.parts[i].id;
    return (SessionParts){ ids, item->lineage.n_parts };
}

/* A run whose process died does not count as an answer on its way. */
static bool check_may_change(const Homes *homes, const HistoryItem *item, Err *err)
{
    return manage_check_own(homes, item, err) && service_close_dead(homes->data, err);
}

bool manage_rename(Runs *r, const Homes *homes, const HistoryItem *item, Str title, Err *err)
{
    AUTO(Arena) *a = arena_new();

    return check_may_change(homes, item, err) && session_rename(r, parts_of(a, item), title, err);
}

bool manage_archive(Runs *r, const Homes *homes, const HistoryItem *item, bool archived, Err *err)
{
    AUTO(Arena) *a = arena_new();

    return check_may_change(homes, item, err) &&
           session_archive(r, parts_of(a, item), archived, err);
}

bool manage_delete(Runs *r, const Homes *homes, const HistoryItem *item, Err *err)
{
    AUTO(Arena) *a = arena_new();
    SessionParts parts = parts_of(a, item);
    Err why;

    if (!check_may_change(homes, item, err) || !session_delete(r, parts, err))
        return false;
    for (size_t i = 0; i < parts.n; i++)
        files_delete(homes->data, parts.ids[i]);
    /* The session is gone; an index that is in use by an update forgets it with the next one. */
    if (!recall_forget(homes, parts.ids, parts.n, &why))
        log_note("the search index still has session '%.*s' until its next update: %s",
                 STR_FMT(item->lineage.tip.id), why.text);
    return true;
}

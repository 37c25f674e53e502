#include "gateway/pick.h"

#include "recall/history.h"

enum { UPDATE_MS = 1000 };

static bool newest(const Pick *pick, Arena *a, Str *ret, Err *err)
{
    AUTO(History) *h = history_open(&(HistoryWhere){ .homes = pick->where.homes,
                                                     .store = pick->store,
                                                     .files = pick->files,
                                                     .budget_ms = UPDATE_MS });
    AUTO(HistoryList) *list = history_list(h, &(HistoryQuery){ 0 }, err);
    HistoryItem item;
    bool more;

    if (!list || !history_next(list, a, &item, &more, err))
        return false;
    *ret = more ? item.lineage.tip.id : STR("");
    return more || err_set(err, ERR_NOT_FOUND, "there is no session yet");
}

/* What is known of a transcript in our own database. */
static bool conversation_for(const Pick *pick, Arena *a, Str id, Str *ret, Err *err)
{
    AUTO(Runs) *r = runs_open(pick->where.homes->data, err);

    if (!r)
        return false;
    if (!pick->look)
        return session_continue(&pick->where, r, a, id, ret, err);
    return session_continued_in(&pick->where, r, a, id, ret, err) &&
           (ret->n ||
            err_set(err, ERR_NOT_FOUND, "session '%.*s' was never handed over", STR_FMT(id)));
}

bool handoff_pick(const Pick *pick, Arena *a, Str id, Lineage *ret, Str *ret_home, Err *err)
{
    Str ours;

    if (!id.n && !newest(pick, a, &id, err))
        return false;
    if (!store_find(pick->store, a, id, ret, err) &&
        (err->kind != ERR_NOT_FOUND || !pick->files || !conversation_for(pick, a, id, &ours, err) ||
         !store_find(pick->store, a, ours, ret, err)))
        return false;
    *ret_home = store_home(pick->store, ret->tip.home)->path;
    return true;
}

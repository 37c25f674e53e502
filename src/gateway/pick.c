#include "gateway/pick.h"

#include <time.h>

#include "recall/history.h"

enum { UPDATE_MS = 1000, LOOKS = 10, LOOK_MS = 100 };

static bool look_for_newest(const Pick *pick, Arena *a, Str *ret, bool *ret_partial, Err *err)
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
    *ret_partial = history_partial(h);
    return true;
}

/* Another process may be reading the transcripts just now: it is given a second to finish. */
static bool newest(const Pick *pick, Arena *a, Str *ret, Err *err)
{
    struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
    bool partial = true;

    for (int i = 0; i < LOOKS && partial; i++) {
        if (i)
            nanosleep(&pause, NULL);
        if (!look_for_newest(pick, a, ret, &partial, err))
            return false;
    }
    return ret->n || err_set(err, ERR_NOT_FOUND, "no sessions yet");
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

/* Our database may be newer than the store that was opened before. */
static bool find_ours(const Pick *pick, Arena *a, Str id, Lineage *ret, Str *ret_home, Err *err)
{
    Homes now = homes_again(a, pick->where.homes);
    AUTO(Store) *store = store_open(&now, err);

    if (!store || !store_find(store, a, id, ret, err))
        return false;
    *ret_home = pick->where.homes->data;
    return true;
}

bool handoff_pick(const Pick *pick, Arena *a, Str id, Lineage *ret, Str *ret_home, Err *err)
{
    Str ours;

    if (!id.n && !newest(pick, a, &id, err))
        return false;
    if (store_find(pick->store, a, id, ret, err)) {
        *ret_home = store_home(pick->store, ret->tip.home)->path;
        return true;
    }
    return err->kind == ERR_NOT_FOUND && pick->files && conversation_for(pick, a, id, &ours, err) &&
           find_ours(pick, a, ours, ret, ret_home, err);
}

#include "handoff/pick.h"

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

/* Our database may be newer than the store that was opened before. */
static bool find_ours(const Pick *pick, Arena *a, Str id, Lineage *ret, Err *err)
{
    Homes now = homes_again(a, pick->where.homes);
    AUTO(Store) *store = store_open(&now, err);

    return store && store_find(store, a, id, ret, err);
}

/* What is known of a transcript in our own database. */
static bool find_transcript(const Pick *pick, Arena *a, Str id, Picked *ret, Err *err)
{
    AUTO(Runs) *r = runs_open(pick->where.homes->data, err);
    Str ours;

    if (!r || !session_continued_in(&pick->where, r, a, id, &ours, err))
        return false;
    *ret = (Picked){ .home = pick->where.homes->data, .transcript = str_dup(a, id) };
    if (ours.n)
        return find_ours(pick, a, ours, &ret->session, err);
    return !pick->look ||
           err_set(err, ERR_NOT_FOUND, "session '%.*s' was never handed over", STR_FMT(id));
}

bool handoff_pick(const Pick *pick, Arena *a, Str id, Picked *ret, Err *err)
{
    *ret = (Picked){ 0 };
    if (!id.n && !newest(pick, a, &id, err))
        return false;
    if (store_find(pick->store, a, id, &ret->session, err)) {
        ret->home = store_home(pick->store, ret->session.tip.home)->path;
        return true;
    }
    return err->kind == ERR_NOT_FOUND && pick->files && find_transcript(pick, a, id, ret, err);
}

bool handoff_pick_begin(const Pick *pick, Arena *a, Picked *p, Err *err)
{
    AUTO(Runs) *r = NULL;
    Str ours;

    if (!p->transcript.n)
        return true;
    r = runs_open(pick->where.homes->data, err);
    return r && session_continue(&pick->where, r, a, p->transcript, &ours, err) &&
           find_ours(pick, a, ours, &p->session, err);
}

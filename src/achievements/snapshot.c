/* A snapshot is made once, from totals and from what was unlocked before, and not changed after.
 * How it is written is in snapshot_items.c (badges) and snapshot_files.c (sessions, and the
 * plugin's files). */
#include "achievements/snapshot.h"

#include "achievements/cache.h"

const char *scan_mode_name(ScanMode mode)
{
    static const char *const names[] = {
#define X(name, text) [name] = (text),
        SCAN_MODES(X)
#undef X
    };

    return names[mode];
}

/* -- making -- */

static Evidence keep_evidence(Arena *a, Evidence e)
{
    e.session_id = e.session_id.p ? str_dup(a, e.session_id) : STR_NONE;
    e.title = e.title.p ? str_dup(a, e.title) : STR_NONE;
    return e;
}

/* Only a best session can be pointed at. */
static void find_best(Snapshot *s, const Totals *totals)
{
    const Catalogue *c = catalogue();

    for (size_t i = 0; i < c->n_peaks && totals->sessions; i++) {
        const Peak *peak = &totals->peaks[i];

        s->best[c->peaks[i]] = keep_evidence(s->arena, (Evidence){ .known = peak->id.p != NULL,
                                                                   .session_id = peak->id,
                                                                   .title = peak->title,
                                                                   .value = peak->value,
                                                                   .message = peak->message });
    }
}

static void keep_badge(SnapshotItem *item, const Unlock *u)
{
    item->kept = true;
    item->badge.unlocked = item->badge.discovered = true;
    item->badge.state = BADGE_UNLOCKED;
    item->badge.tier = u->tier;
}

static void fill_item(Snapshot *s, size_t i, const SnapshotDates *dates, int64_t now)
{
    const Achievement *a = &catalogue()->all[i];
    SnapshotItem *item = &s->items[i];
    Evidence found = a->tiered ? s->best[a->aggregate] : (Evidence){ 0 };
    Unlocks *unlocks = dates->unlocks;
    const Unlock *u;

    item->badge = badge_evaluate(a, s->totals.value);
    if (!unlocks)
        return;
    u = &unlocks->all[i];
    if (item->badge.unlocked)
        unlocks_note(unlocks, i, item->badge.tier, &found, dates->at ? dates->at[i] : NULL, now);
    else if (u->known && !dates->compat)
        keep_badge(item, u);
    if (!item->badge.unlocked)
        return;
    item->unlocked_at = u->unlocked_at;
    item->shown_at = dates->compat ? u->unlocked_at : u->tier_at;
    item->evidence = keep_evidence(s->arena, u->evidence.known ? u->evidence : found);
    if (!item->evidence.message && str_eq(item->evidence.session_id, found.session_id))
        item->evidence.message = found.message;
}

static void count_states(Snapshot *s)
{
    for (size_t i = 0; i < catalogue()->n; i++) {
        s->unlocked += s->items[i].badge.state == BADGE_UNLOCKED;
        s->discovered += s->items[i].badge.state == BADGE_DISCOVERED;
        s->secret += s->items[i].badge.state == BADGE_SECRET;
    }
}

bool snapshot_has_news(const Totals *totals, const Unlocks *unlocks)
{
    for (size_t i = 0; i < catalogue()->n; i++) {
        Badge badge = badge_evaluate(&catalogue()->all[i], totals->value);

        if (badge.unlocked && (!unlocks->all[i].known || badge.tier > unlocks->all[i].tier))
            return true;
    }
    return false;
}

Snapshot *snapshot_make(Arena *arena, const Totals *totals, const ScanMeta *meta,
                        const SnapshotDates *dates, int64_t now)
{
    Snapshot *s = mem_alloc(sizeof *s);

    *s = (Snapshot){ .arena = arena, .users = 1, .generated_at = now, .meta = *meta };
    s->totals.sessions = totals->sessions;
    memcpy(s->totals.value, totals->value, sizeof s->totals.value);
    find_best(s, totals);
    for (size_t i = 0; i < catalogue()->n; i++)
        fill_item(s, i, dates, now);
    count_states(s);
    return s;
}

Snapshot *snapshot_pending(int64_t now)
{
    Snapshot *s = mem_alloc(sizeof *s);

    *s = (Snapshot){ .arena = arena_new(), .users = 1, .generated_at = now };
    for (size_t i = 0; i < catalogue()->n; i++)
        s->items[i].badge = badge_pending(&catalogue()->all[i]);
    count_states(s);
    return s;
}

Snapshot *snapshot_free(Snapshot *s)
{
    if (s) {
        arena_free(s->arena);
        arena_free(s->kept);
        mem_free(s);
    }
    return NULL;
}

static Record *of_origin(const RecordSource *source, Record *all, size_t *n)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++)
        if (origin_of(&source->homes->all[all[i].home], all[i].source) + 1 ==
            (Origin)source->origin)
            all[kept++] = all[i];
    *n = kept;
    return all;
}

const Record *snapshot_records(const Snapshot *s, Arena *a, size_t *ret_n)
{
    const RecordSource *source = &s->source;
    AUTO(Index) *index = NULL;
    Record *all;

    *ret_n = source->n;
    if (source->records || !source->homes)
        return source->records;
    index = index_open(source->homes->data);
    all = cache_records(index, a, source->topic, source->homes, source->read, ret_n);
    return source->origin ? of_origin(source, all, ret_n) : all;
}

/* -- recent -- */

typedef struct Recent {
    size_t at;
    int64_t when;
} Recent;

static int newest_first(const void *left, const void *right)
{
    const Recent *a = left, *b = right;

    if (a->when != b->when)
        return a->when > b->when ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

size_t snapshot_recent(const Snapshot *s, size_t order[MAX_ACHIEVEMENTS])
{
    enum { MAX_RECENT = 20 };
    Recent all[MAX_ACHIEVEMENTS];
    size_t n = 0;

    for (size_t i = 0; i < catalogue()->n; i++)
        if (s->items[i].badge.unlocked)
            all[n++] = (Recent){ i, s->items[i].shown_at };
    if (n)
        qsort(all, n, sizeof *all, newest_first);
    for (size_t i = 0; i < n && i < MAX_RECENT; i++)
        order[i] = all[i].at;
    return n < MAX_RECENT ? n : MAX_RECENT;
}

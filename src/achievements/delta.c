#include "achievements/delta.h"

#include "achievements/lanes.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"

/* -- chunks -- */

/* Rows come in order of their rowids, so the chunk wanted is the last one or one behind it. */
static Chunk *chunk_for(Arena *a, HomeDelta *home, int64_t number)
{
    if (home->n_chunks && home->chunks[home->n_chunks - 1].number == number)
        return &home->chunks[home->n_chunks - 1];
    ARENA_PUSH(a, home->chunks, home->n_chunks, home->cap_chunks, (Chunk){ .number = number });
    return &home->chunks[home->n_chunks - 1];
}

/* -- what differs -- */

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static bool is_newer(const HomeDelta *home, Str id)
{
    return home->n_newer && bsearch(&id, home->newer, home->n_newer, sizeof id, by_text);
}

typedef struct Walk {
    Delta *delta;
    Arena *arena;
    HomeDelta *home;
    size_t place; /* of the home */
    size_t at;    /* the next mark of the head */
    bool all;     /* conversations are counted */
    bool archived;
    const CoveredRow *covered; /* sessions of homes that a conversation of ours represents */
    size_t n_covered;
    const TranscriptFile *file; /* of the row at hand */
} Walk;

/* Marks before the rowid were not met again: those sessions are gone. */
static void pass_gone(Walk *w, int64_t rowid, bool all)
{
    const CacheHead *head = &w->home->head;

    for (; w->at < head->n_marks && (all || head->marks[w->at].rowid < rowid); w->at++) {
        chunk_for(w->arena, w->home, chunk_number(head->marks[w->at].rowid))->touched = true;
        w->home->changed = true;
    }
}

static SessionRow keep_row(Arena *a, const SessionRow *s)
{
    SessionRow row = *s;

    row.id = str_dup(a, s->id);
    row.source = str_dup(a, s->source);
    row.model = str_dup(a, s->model);
    row.title = str_dup(a, s->title);
    row.conversation = str_dup(a, s->conversation);
    return row;
}

/* Where the conversation continues to its end. False: lists do not show it, so it does not count. A
 * ring, which only a damaged file has, ends at the limit. */
static bool find_conversation(const Walk *w, SessionRow *s)
{
    const HomeDelta *home = w->home;
    const ChainLink *link = chain_next(home->links, home->n_links, s->id);
    bool shown = !session_is_aside(s->source);

    for (size_t i = 0; link && i < LIMIT_LINEAGE_PARTS; i++) {
        s->conversation = link->next;
        shown = !session_is_aside(link->next_source) && (w->archived || !link->next_archived);
        link = chain_next(home->links, home->n_links, link->next);
    }
    return shown;
}

/* The conversation of ours that represents the session is what it is a part of. */
static void find_covering(const Walk *w, SessionRow *s)
{
    Str id = s->conversation.n ? s->conversation : s->id;

    for (size_t i = 0; i < w->n_covered; i++)
        if (str_eq(w->covered[i].id, id) && str_eq(w->covered[i].home, w->home->key.home)) {
            s->conversation = w->covered[i].conversation;
            s->covered = true;
            s->begun_there = w->covered[i].begun_there;
        }
}

static bool place_row(const Walk *w, SessionRow *s)
{
    if (!w->all)
        return true;
    if (!w->file) {
        s->conversation = STR("");
        if (!find_conversation(w, s))
            return false;
        find_covering(w, s);
    }
    if (s->conversation.n)
        s->mark = hash_text(s->mark + s->begun_there, s->conversation) >> 1;
    return true;
}

static void see_row(void *ctx, const SessionRow *seen)
{
    SessionRow row = *seen, *s = &row;
    Walk *w = ctx;
    HomeDelta *home = w->home;
    const SessionMark *mark;
    Chunk *chunk;

    pass_gone(w, s->rowid, false);
    if (!s->id.n || !place_row(w, s))
        return;
    w->delta->sessions++;
    chunk = chunk_for(w->arena, home, chunk_number(s->rowid));
    mark = w->at < home->head.n_marks ? &home->head.marks[w->at] : NULL;
    if (mark && mark->rowid == s->rowid) {
        w->at++;
        if (mark->mark == s->mark && !is_newer(home, s->id)) {
            ARENA_PUSH(w->arena, home->kept, home->n_kept, home->cap_kept, *mark);
            return;
        }
    }
    chunk->touched = home->changed = true;
    ARENA_PUSH(w->arena, w->delta->work, w->delta->n, w->delta->cap,
               ((Work){ .row = keep_row(w->arena, s),
                        .file = w->file,
                        .home = w->place,
                        .chunk = (size_t)(chunk - home->chunks) }));
}

/* -- what is known -- */

/* The records of a touched chunk that are as they were. False: the index is not what its head
 * says. */
static bool fetch_chunk(Arena *a, HomeDelta *home, Chunk *chunk, Index *index, size_t *at)
{
    size_t n = 0, have = 0;
    Record *all = NULL;

    chunk->tools = ARENA_NEW(a, ToolTable);
    chunk->unsaved = chunk->stale = true;
    while (*at < home->n_kept && chunk_number(home->kept[*at].rowid) < chunk->number)
        ++*at;
    if (*at == home->n_kept || chunk_number(home->kept[*at].rowid) != chunk->number)
        return true;
    if (!cache_chunk(index, a, home->key, chunk->number, &all, &have, &chunk->tools))
        return false;
    for (size_t i = 0; *at < home->n_kept; ++*at, n++) {
        const SessionMark *mark = &home->kept[*at];

        if (chunk_number(mark->rowid) != chunk->number)
            break;
        while (i < have && all[i].rowid < mark->rowid)
            i++;
        if (i == have || all[i].rowid != mark->rowid || all[i].mark != mark->mark)
            return false;
        ARENA_PUSH(a, chunk->all, chunk->n, chunk->cap, all[i]);
    }
    return true;
}

/* Sums as they were, or records to make them of. */
static bool fetch(Arena *a, HomeDelta *home, Index *index)
{
    bool zone = home->head.n_chunks && home->head.zone != sum_zone();
    size_t at = 0, known = 0;

    home->changed = home->changed || zone;
    for (size_t i = 0; i < home->n_chunks; i++) {
        Chunk *chunk = &home->chunks[i];

        while (known < home->head.n_chunks && home->head.chunks[known].number < chunk->number)
            known++;
        if (!chunk->touched && !zone) {
            if (known == home->head.n_chunks || home->head.chunks[known].number != chunk->number)
                return false;
            chunk->sum = home->head.chunks[known].sum;
            continue;
        }
        chunk->touched = true;
        if (!fetch_chunk(a, home, chunk, index, &at))
            return false;
    }
    return true;
}

/* -- a home -- */

/* Most sessions are as they were: room for them at once. */
static void reserve(Arena *a, HomeDelta *home)
{
    home->cap_kept = home->head.n_marks + 1;
    home->kept = ARENA_ARRAY(a, SessionMark, home->cap_kept);
    home->cap_chunks = home->head.n_chunks + 1;
    home->chunks = ARENA_ARRAY(a, Chunk, home->cap_chunks);
}

/* The newest message first, then the list: what comes in between is read next time. */
static bool compare(Delta *delta, Arena *a, const ScanOptions *o, size_t place, Rows *rows,
                    Err *err)
{
    HomeDelta *home = &delta->homes[place];
    Walk walk = { .delta = delta,
                  .arena = a,
                  .home = home,
                  .place = place,
                  .all = o->all,
                  .archived = o->rows.archived };

    if (!rows_newer(rows, a, home->known ? home->head.last_message : -1, &home->newer,
                    &home->n_newer, &home->last_message, err))
        return false;
    if (home->n_newer)
        qsort(home->newer, home->n_newer, sizeof *home->newer, by_text);
    home->changed = home->last_message != home->head.last_message;
    reserve(a, home);
    if (o->all && o->homes->all[place].kind != HOME_OURS)
        covered_rows(a, o->homes, &walk.covered, &walk.n_covered);
    if (o->all && !rows_chains(rows, a, &home->links, &home->n_links, err))
        return false;
    if (!rows_walk(rows, see_row, &walk, err))
        return false;
    pass_gone(&walk, 0, true);
    home->read = true;
    return true;
}

static bool delta_home(Delta *delta, Arena *a, const ScanOptions *o, size_t place, Err *err)
{
    AUTO(Rows) *rows = rows_open(&o->homes->all[place], &o->rows, err);
    HomeDelta *home = &delta->homes[place];
    size_t work = delta->n, sessions = delta->sessions;
    CacheKey key = { scan_topic(a, o), o->homes->all[place].path };

    if (!rows)
        return false;
    *home = (HomeDelta){ .key = key };
    if (o->all)
        rows_count_once(a, o->homes, &o->homes->all[place], rows);
    delta->one_reader = delta->one_reader || rows_want_one_reader(rows);
    home->known = !o->full && cache_head(o->index, a, key, &home->head);
    if (!compare(delta, a, o, place, rows, err))
        return false;
    if (fetch(a, home, o->index)) {
        home->rows = TAKE(rows);
        return true;
    }
    log_note("what was counted before does not fit together; counting anew");
    delta->n = work;
    delta->sessions = sessions;
    *home = (HomeDelta){ .key = key };
    return compare(delta, a, o, place, rows, err) && fetch(a, home, NULL);
}

/* -- transcripts -- */

static void compare_files(Delta *delta, Arena *a, const ScanOptions *o, size_t place,
                          const TranscriptRow *rows, size_t n)
{
    HomeDelta *home = &delta->homes[place];
    Walk walk = { .delta = delta, .arena = a, .home = home, .place = place, .all = o->all };

    reserve(a, home);
    for (size_t i = 0; i < n; i++) {
        walk.file = &rows[i].file;
        see_row(&walk, &rows[i].row);
    }
    pass_gone(&walk, 0, true);
    home->read = true;
}

static bool delta_files(Delta *delta, Arena *a, const ScanOptions *o, size_t place, Err *err)
{
    const Home *lane = &o->homes->all[place];
    HomeDelta *home = &delta->homes[place];
    size_t work = delta->n, sessions = delta->sessions, n = 0;
    CacheKey key = { scan_topic(a, o), lane->path };
    TranscriptRow *rows;
    bool partial = false;

    if (!transcript_rows(a, o->homes, lane, &rows, &n, &partial, err))
        return false;
    delta->partial |= partial;
    *home = (HomeDelta){ .key = key };
    home->known = !o->full && cache_head(o->index, a, key, &home->head);
    compare_files(delta, a, o, place, rows, n);
    if (fetch(a, home, o->index))
        return true;
    delta->n = work;
    delta->sessions = sessions;
    *home = (HomeDelta){ .key = key };
    compare_files(delta, a, o, place, rows, n);
    return fetch(a, home, NULL);
}

void delta_close(Delta *delta, size_t n_homes)
{
    for (size_t i = 0; delta->homes && i < n_homes; i++)
        delta->homes[i].rows = rows_close(delta->homes[i].rows);
}

/* Between homes the newer comes first. */
static int newest_first(const void *left, const void *right)
{
    const Work *a = left, *b = right;

    if (a->row.started_at != b->row.started_at)
        return a->row.started_at > b->row.started_at ? -1 : 1;
    if (a->home != b->home)
        return a->home < b->home ? -1 : 1;
    return a->row.rowid < b->row.rowid ? -1 : a->row.rowid > b->row.rowid;
}

bool delta_make(Delta *delta, Arena *a, const ScanOptions *o, Err *err)
{
    const Homes *homes = o->homes;

    *delta = (Delta){ .homes = ARENA_ARRAY(a, HomeDelta, homes->n) };
    /* Transcripts first, and they come last: what is in them is not counted in our own. */
    for (size_t i = homes->n; i-- > 0;) {
        size_t work = delta->n, sessions = delta->sessions;

        if (!lane_there(&homes->all[i]) && homes->all[i].kind != HOME_GIVEN)
            continue;
        if (lane_is_files(&homes->all[i]) ? delta_files(delta, a, o, i, err)
                                          : delta_home(delta, a, o, i, err))
            continue;
        /* One home that cannot be read must not hide the others; but without the first, whose
         * badges these are, the counts would only fall. */
        if (&homes->all[i] == homes->primary)
            return false;
        log_warning("left out: %s", err->text);
        delta->n = work;
        delta->sessions = sessions;
        delta->homes[i] = (HomeDelta){ 0 };
    }
    if (delta->n)
        qsort(delta->work, delta->n, sizeof *delta->work, newest_first);
    return true;
}

/* -- sums -- */

static int by_rowid(const void *a, const void *b)
{
    int64_t left = (*(const Record *const *)a)->rowid, right = (*(const Record *const *)b)->rowid;

    return left < right ? -1 : left > right;
}

static const Record **in_order(Arena *a, const Chunk *chunk)
{
    const Record **list = ARENA_ARRAY(a, const Record *, chunk->n + 1);

    for (size_t i = 0; i < chunk->n; i++)
        list[i] = &chunk->all[i];
    qsort(list, chunk->n, sizeof *list, by_rowid);
    return list;
}

void delta_sum(Delta *delta, Arena *a, size_t n_homes)
{
    for (size_t h = 0; h < n_homes; h++)
        for (size_t i = 0; i < delta->homes[h].n_chunks; i++) {
            Chunk *chunk = &delta->homes[h].chunks[i];
            Sum *sum;

            if (!chunk->stale)
                continue;
            sum = ARENA_NEW(a, Sum);
            *sum = sum_of(a, in_order(a, chunk), chunk->n);
            chunk->sum = sum;
            chunk->stale = false;
        }
}

void delta_totals(Delta *delta, Arena *a, size_t n_homes, Totals *ret)
{
    *ret = (Totals){ 0 };
    delta_sum(delta, a, n_homes);
    for (size_t h = 0; h < n_homes; h++) {
        for (size_t i = 0; i < delta->homes[h].n_chunks; i++)
            if (delta->homes[h].chunks[i].sum)
                totals_add(a, ret, delta->homes[h].chunks[i].sum);
        totals_next_home(ret);
    }
    totals_end(ret);
}

/* Sessions come in any order, so what each says is added up. */
static uint64_t stamp_of(size_t home, SessionMark m)
{
    return hash_number(hash_number(home, (uint64_t)m.rowid), m.mark);
}

uint64_t delta_stamp(const Delta *delta, size_t n_homes)
{
    uint64_t stamp = sum_zone();

    for (size_t h = 0; h < n_homes; h++)
        for (size_t i = 0; i < delta->homes[h].n_kept; i++)
            stamp += stamp_of(h, delta->homes[h].kept[i]);
    for (size_t i = 0; i < delta->n; i++)
        stamp += stamp_of(delta->work[i].home,
                          (SessionMark){ delta->work[i].row.rowid, delta->work[i].row.mark });
    return stamp;
}

/* -- saving -- */

static int by_mark(const void *a, const void *b)
{
    int64_t left = ((const SessionMark *)a)->rowid, right = ((const SessionMark *)b)->rowid;

    return left < right ? -1 : left > right;
}

/* The parts of the head that differ from the index. */
static size_t changed_parts(const HomeDelta *home, int64_t *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < home->n_chunks; i++) {
        int64_t part = part_number(home->chunks[i].number);

        if (home->chunks[i].touched && (n == 0 || ret[n - 1] != part))
            ret[n++] = part;
    }
    return n;
}

/* A session that is not counted yet has no mark, so that the next scan reads it whatever the number
 * of the last message. */
static void save_head(const Delta *delta, Arena *a, size_t place, Index *index)
{
    const HomeDelta *home = &delta->homes[place];
    CacheHead head = { .last_message = home->last_message,
                       .zone = sum_zone(),
                       .marks = ARENA_ARRAY(a, SessionMark, home->n_kept + delta->n + 1),
                       .n_marks = home->n_kept,
                       .chunks = ARENA_ARRAY(a, ChunkSum, home->n_chunks + 1) };
    int64_t *changed = ARENA_ARRAY(a, int64_t, home->n_chunks + 1);

    if (home->n_kept)
        memcpy(head.marks, home->kept, home->n_kept * sizeof *head.marks);
    for (size_t i = 0; i < delta->n; i++)
        if (delta->work[i].done && delta->work[i].home == place)
            head.marks[head.n_marks++] =
                (SessionMark){ delta->work[i].row.rowid, delta->work[i].row.mark };
    qsort(head.marks, head.n_marks, sizeof *head.marks, by_mark);
    for (size_t i = 0; i < home->n_chunks; i++)
        if (home->chunks[i].sum && home->chunks[i].sum->sessions)
            head.chunks[head.n_chunks++] =
                (ChunkSum){ home->chunks[i].number, home->chunks[i].sum };
    cache_put_head(index, home->key, &head, changed, changed_parts(home, changed));
}

/* Chunks first: a head that is older than its chunks only makes a scan read some again. */
void delta_save(Delta *delta, const ScanOptions *o)
{
    AUTO(Arena) *a = arena_new();

    if (!o->index)
        return;
    for (size_t h = 0; h < o->homes->n; h++) {
        HomeDelta *home = &delta->homes[h];

        if (!home->read || !home->changed)
            continue;
        for (size_t i = 0; i < home->n_chunks; i++) {
            Chunk *chunk = &home->chunks[i];

            if (chunk->unsaved)
                cache_put_chunk(o->index, home->key, chunk->number, in_order(a, chunk), chunk->n,
                                chunk->tools);
            chunk->unsaved = false;
        }
        save_head(delta, a, h, o->index);
        home->changed = false;
    }
    index_commit(o->index);
}

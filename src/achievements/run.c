#include "achievements/run.h"

#include <unistd.h>

#include "achievements/cache.h"
#include "achievements/lanes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"

enum { LOCK_WAIT_MS = 10 * 60 * 1000 };

static Str topic_of(Arena *a, const ScanOptions *o)
{
    return str_printf(a, "achievements answer %s%d%d%d%d%d", o->all ? "all " : "", o->rows.archived,
                      o->rows.compacted, o->rows.all_models, o->count.double_encoded,
                      o->count.memory_writes);
}

/* Where there is no home at all, nothing is kept by its name. */
static Str home_key(const ScanOptions *o)
{
    return o->homes->n ? o->homes->primary->path : STR("");
}

StatePlace run_place(Arena *a, const ScanOptions *scan)
{
    if (scan->all)
        return scan->origin ? (StatePlace){ .folder = STR("") } : own_place(a, scan->homes);
    return scan->homes->n ? plugin_place(a, scan->homes->primary)
                          : (StatePlace){ .folder = STR("") };
}

void run_settings(ScanOptions *scan, const Settings *s)
{
    scan->rows = (RowsQuery){ .archived = setting_bool(s, SETTING_COUNT_ARCHIVED),
                              .compacted = setting_bool(s, SETTING_COUNT_COMPACTED),
                              .no_guests = true,
                              .all_models = setting_bool(s, SETTING_COUNT_ALL_MODELS) };
    scan->count = (ScannerOptions){ .double_encoded = setting_bool(s, SETTING_COUNT_DOUBLE_ENCODED),
                                    .memory_writes = setting_bool(s, SETTING_COUNT_MEMORY_WRITES) };
}

static Str mark_text(Arena *a, uint64_t mark)
{
    return str_printf(a, "%016llx", (unsigned long long)mark);
}

/* As JSON: small, and read once a command. */
static void keep_answer(const Run *run, Index *index, const Snapshot *s)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_int(&w, "at", s->generated_at);
    json_field_int(&w, "sessions", s->meta.sessions_total);
    json_key(&w, "totals");
    json_begin(&w, '[');
    for (size_t i = 0; i < catalogue()->n_aggregates; i++)
        json_put_int(&w, s->totals.value[i]);
    json_end(&w, ']');
    json_key(&w, "best");
    json_begin(&w, '[');
    for (size_t i = 0; i < catalogue()->n_peaks; i++)
        evidence_put(&w, &s->best[catalogue()->peaks[i]]);
    json_end(&w, ']');
    json_key(&w, "sources");
    json_begin(&w, '[');
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        json_put_int(&w, s->sources[i]);
    json_end(&w, ']');
    json_end(&w, '}');
    if (run->mark && !run->scan.origin && !buf_full(&out))
        index_put(index, topic_of(a, &run->scan), home_key(&run->scan), STR(""),
                  mark_text(a, run->mark), buf_str(&out));
}

static bool read_answer(Json answer, Totals *totals, ScanMeta *meta, int64_t *at)
{
    const Catalogue *c = catalogue();

    for (size_t i = 0; i < c->n_aggregates; i++)
        if (!json_int(json_at(json_get(answer, STR("totals")), i), &totals->value[i]))
            return false;
    for (size_t i = 0; i < c->n_peaks; i++) {
        Evidence e = evidence_of(json_at(json_get(answer, STR("best")), i));

        totals->peaks[i] =
            (Peak){ .id = e.session_id, .title = e.title, .value = e.value, .message = e.message };
    }
    *meta = (ScanMeta){ .mode = MODE_INCREMENTAL };
    if (!json_int(json_get(answer, STR("sessions")), &meta->sessions_total) ||
        !json_int(json_get(answer, STR("at")), at))
        return false;
    meta->sessions_expected = meta->sessions_reused = meta->sessions_total;
    totals->sessions = meta->sessions_total;
    return true;
}

RecordSource run_source(Arena *a, const ScanOptions *scan)
{
    RecordSource source = {
        .homes = scan->homes, .topic = scan_topic(a, scan), .all = scan->all, .origin = scan->origin
    };

    for (size_t i = 0; i < scan->homes->n; i++)
        source.read |= (uint64_t)lane_there(&scan->homes->all[i]) << i;
    return source;
}

/* What was kept under the mark, with the dates of now. */
static Snapshot *make_known(Arena *a, const ScanOptions *scan, bool compat, Json kept)
{
    StatePlace place = run_place(a, scan);
    Totals totals = { 0 };
    Unlocks unlocks;
    SnapshotDates dates = { .unlocks = &unlocks, .compat = compat };
    Snapshot *s = NULL;
    ScanMeta meta;
    int64_t at;
    Err err;

    if (!read_answer(kept, &totals, &meta, &at) || !unlocks_load(a, &place, &unlocks, &err))
        return NULL;
    s = snapshot_make(arena_new(), &totals, &meta, &dates, at);
    s->source = run_source(s->arena, scan);
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        (void)json_int(json_at(json_get(kept, STR("sources")), i), &s->sources[i]);
    /* A badge without a date means that the record was reset: then the scan has to note it. */
    if (unlocks.changed)
        s = snapshot_free(s);
    unlocks_done(&unlocks);
    return s;
}

Snapshot *run_known(const ScanOptions *scan, bool compat)
{
    AUTO(Index) *index = NULL;
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = NULL;
    uint64_t mark = scan->origin ? 0 : lanes_mark(scan->homes);
    Str kept;
    Err err;

    if (!mark)
        return NULL;
    index = index_open(scan->homes->data);
    if (!index_get(index, a, topic_of(a, scan), home_key(scan), STR(""), mark_text(a, mark), &kept))
        return NULL;
    doc = json_parse(kept, &err);
    return doc ? make_known(a, scan, compat, json_root(doc)) : NULL;
}

/* -- a scan ------------------------------------------------------------------------------------------------ */

/* The records stay where they are: in the index, or, without one, in the arena of the scan. */
static void take_records(Snapshot *s, const Run *run, Scan *scan)
{
    s->source = (RecordSource){ .homes = run->scan.homes,
                                .topic = str_dup(s->arena, scan->topic),
                                .read = scan->read,
                                .all = run->scan.all,
                                .origin = run->scan.origin };
    if (scan->records) {
        s->source.records = scan->records;
        s->source.n = scan->n;
        s->kept = TAKE(scan->arena);
    }
}

static uint64_t stamp_of(const Run *run, const Scan *scan, const Snapshot *s)
{
    uint64_t stamp = scan->stamp + run->compat;

    for (size_t i = 0; i < catalogue()->n; i++) {
        const SnapshotItem *item = &s->items[i];

        stamp = hash_number(stamp, (uint64_t)item->unlocked_at);
        stamp = hash_number(stamp, (uint64_t)item->shown_at);
        stamp += (uint64_t)item->badge.tier + item->kept;
    }
    for (size_t i = 0; i < catalogue()->n_aggregates; i++)
        stamp = hash_number(stamp, (uint64_t)s->totals.value[i]);
    return hash_text(stamp, scan->topic) | 1;
}

/* Conversations of all lanes; with dates only where a badge is new, since that takes twice as long. */
static void fold_all(const Run *run, Scan *scan, const Unlocks *unlocks, Fold *ret)
{
    FoldQuery query = { .lanes = run->scan.homes, .origin = run->scan.origin };
    const Record *records = scan->records;
    size_t n = scan->n;

    if (!records)
        records = cache_records(run->scan.index, scan->arena, scan->topic, run->scan.homes,
                                scan->read, &n);
    fold_records(records, n, &query, ret);
    if (!snapshot_has_news(&ret->totals, unlocks))
        return;
    query.dates = true;
    fold_records(records, n, &query, ret);
}

static ScanMeta meta_of(const Scan *scan, int64_t sessions)
{
    return (ScanMeta){ .mode = scan->reused ? MODE_INCREMENTAL : MODE_FULL,
                       .sessions_total = sessions,
                       .sessions_expected = sessions,
                       .sessions_rescanned = scan->rescanned,
                       .sessions_reused = scan->reused,
                       .messages_scanned = scan->messages,
                       .duration_ms = scan->duration_ms };
}

static Snapshot *make_snapshot(Run *run, Scan *scan, Unlocks *unlocks)
{
    SnapshotDates dates = { .unlocks = unlocks, .compat = run->compat };
    Fold *fold = ARENA_NEW(scan->arena, Fold);
    const Totals *totals = &scan->totals;
    ScanMeta meta = meta_of(scan, (int64_t)scan->n);
    int64_t before[MAX_ACHIEVEMENTS];
    Snapshot *s;

    if (run->scan.all) {
        fold_all(run, scan, unlocks, fold);
        totals = &fold->totals;
        meta.sessions_total = meta.sessions_expected = fold->totals.sessions;
        dates.at = fold->at;
    }
    for (size_t i = 0; i < catalogue()->n; i++)
        before[i] = unlocks->all[i].known ? unlocks->all[i].tier : -2;
    s = snapshot_make(arena_new(), totals, &meta, &dates, (int64_t)clock_wall());
    memcpy(s->sources, fold->sources, sizeof s->sources);
    for (size_t i = 0; i < catalogue()->n; i++)
        run->fresh[i] = unlocks->all[i].known && unlocks->all[i].tier != before[i];
    return s;
}

static Snapshot *conclude(Run *run, Scan *scan, Err *err)
{
    AUTO(Arena) *a = arena_new();
    StatePlace place = run_place(a, &run->scan);
    Unlocks unlocks;
    Snapshot *s = NULL;

    if (unlocks_load(a, &place, &unlocks, err)) {
        s = make_snapshot(run, scan, &unlocks);
        take_records(s, run, scan);
        s->stamp = stamp_of(run, scan, s);
        if (unlocks.changed && place.folder.n && !unlocks_save(a, &place, &unlocks, err) &&
            err->kind != ERR_READ_ONLY)
            s = snapshot_free(s);
        unlocks_done(&unlocks);
    }
    arena_free(scan->arena);
    return s;
}

static FileLock *lock_alone(const Homes *homes, Err *err)
{
    AUTO(Arena) *a = arena_new();

    if (!folder_make(str_z(a, homes->data), err))
        return NULL;
    return lock_take(str_join_path(a, homes->data, STR("achievements.lock")).p, LOCK_WAIT_MS, err);
}

Snapshot *run_scan(Run *run, Err *err)
{
    const Homes *homes = run->scan.homes;
    AUTO(FileLock) *alone = lock_alone(homes, err);
    AUTO(Index) *index = NULL;
    Snapshot *s;
    Scan scan;

    /* Where nothing can be written, nobody needs to wait for anybody. */
    if (!alone && err->kind != ERR_READ_ONLY)
        return NULL;
    /* Before the scan: what is written meanwhile makes it differ. */
    run->mark = lanes_mark(homes);
    index = run->scan.index = index_open(homes->data);
    if (!scan_run(&run->scan, &scan, err))
        return NULL;
    if (scan.partial)
        run->mark = 0;
    s = conclude(run, &scan, err);
    if (s)
        keep_answer(run, index, s);
    return s;
}

static bool remove_file(Arena *a, Str folder, const char *name, Err *err)
{
    Str path = str_join_path(a, folder, str_of(name));

    return access(path.p, F_OK) != 0 || file_remove(path.p, err);
}

bool run_reset(const ScanOptions *scan, Err *err)
{
    AUTO(FileLock) *alone = lock_alone(scan->homes, err);
    AUTO(Arena) *a = arena_new();
    StatePlace place = run_place(a, scan);

    if (!alone || !place.folder.n)
        return alone != NULL;
    return folder_make(str_z(a, place.folder), err) &&
           file_write_atomic(str_join_path(a, place.folder, place.file).p,
                             STR("{\n  \"unlocks\": {}\n}"), err) &&
           remove_file(a, place.folder, "scan_snapshot.json", err) &&
           remove_file(a, place.folder, "scan_checkpoint.json", err);
}

/* -- the large files ------------------------------------------------------------------------------------- */

static bool write_one(Arena *a, Str folder, const char *name, const Buf *bytes)
{
    Err err;

    if (!buf_full(bytes) && folder_make(folder.p, &err) &&
        file_write_atomic(str_join_path(a, folder, str_of(name)).p, buf_str(bytes), &err))
        return true;
    log_warning("'%s' was not written: %s", name, buf_full(bytes) ? "too large" : err.text);
    return false;
}

/* Tens of megabytes of a large history, and mostly what is there already: so the index knows of which
 * counts they are. Noted when both are written, so that whoever was killed before writes them. */
static const Str files_topic = STR_INIT("achievements files");

static bool is_written(Arena *a, Index *index, Str home, Str folder, const Snapshot *s)
{
    Str noted;

    return s->stamp &&
           index_get(index, a, files_topic, home, STR(""), mark_text(a, s->stamp), &noted) &&
           access(str_join_path(a, folder, STR("scan_snapshot.json")).p, F_OK) == 0 &&
           access(str_join_path(a, folder, STR("scan_checkpoint.json")).p, F_OK) == 0;
}

void run_write_files(const ScanOptions *scan, const Snapshot *s)
{
    AUTO(Arena) *a = arena_new();
    Str folder = run_place(a, scan).folder;
    AUTO_BUF bytes = BUF(LIMIT_OUTPUT_BYTES);
    AUTO(Index) *index = NULL;
    bool ok;

    if (scan->all || !folder.n)
        return;
    index = index_open(scan->homes->data);
    if (is_written(a, index, home_key(scan), folder, s))
        return;
    snapshot_write_file(s, &bytes);
    ok = write_one(a, folder, "scan_snapshot.json", &bytes);
    buf_clear(&bytes);
    snapshot_write_checkpoint(s, &bytes);
    if (write_one(a, folder, "scan_checkpoint.json", &bytes) && ok)
        index_put(index, files_topic, home_key(scan), STR(""), mark_text(a, s->stamp),
                  STR("written"));
}

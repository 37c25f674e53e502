#include "achievements/run.h"

#include <malloc.h>
#include <sys/stat.h>
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
    json_field_begin(&w, "totals", '[');
    for (size_t i = 0; i < catalogue()->n_aggregates; i++)
        json_put_int(&w, s->totals.value[i]);
    json_end(&w, ']');
    json_field_begin(&w, "best", '[');
    for (size_t i = 0; i < catalogue()->n_peaks; i++)
        evidence_put(&w, &s->best[catalogue()->peaks[i]]);
    json_end(&w, ']');
    json_field_begin(&w, "sources", '[');
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

/* Where the records of such a scan are, of every home that exists. */
static RecordSource run_source(Arena *a, const ScanOptions *scan)
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

/* -- the last answer of an earlier process -- */

static bool read_totals(Json root, Totals *ret)
{
    const Catalogue *c = catalogue();
    Json aggregate = json_get(root, STR("aggregate"));

    for (size_t i = 0; i < c->n_aggregates; i++)
        if (!json_int(json_get(aggregate, c->aggregates[i].name), &ret->value[i]))
            return false;
    ret->sessions = ret->value[catalogue_aggregate(c, STR("session_count"))];
    return true;
}

/* Best sessions are stored with the badges they earned; others are not needed. */
static void read_peaks(Json root, Totals *ret)
{
    const Catalogue *c = catalogue();
    JsonIter it = json_each(json_get(root, STR("achievements")));
    Json item;
    Str key;

    while (json_next(&it, &key, &item)) {
        size_t at = catalogue_aggregate(c, json_str(json_get(item, STR("threshold_metric"))));
        Evidence e = evidence_of(json_get(item, STR("evidence")));

        for (size_t i = 0; i < c->n_peaks && e.known; i++)
            if (c->peaks[i] == at)
                ret->peaks[i] = (Peak){
                    .id = e.session_id, .title = e.title, .value = e.value, .message = e.message
                };
    }
}

/* False: it is not of a scan that came to its end. */
static bool read_meta(Json root, ScanMeta *ret)
{
    Json meta = json_get(root, STR("scan_meta"));
    Str mode = json_str(json_get(meta, STR("mode")));

    if (json_str(json_get(root, STR("error"))).n)
        return false;
    ret->mode = str_eqz(mode, scan_mode_name(MODE_INCREMENTAL)) ? MODE_INCREMENTAL : MODE_FULL;
    if (!str_eqz(mode, scan_mode_name(ret->mode)) ||
        !json_int(json_get(meta, STR("sessions_total")), &ret->sessions_total))
        return false;
    ret->sessions_expected = ret->sessions_total;
    (void)json_int(json_get(meta, STR("sessions_rescanned")), &ret->sessions_rescanned);
    (void)json_int(json_get(meta, STR("sessions_reused")), &ret->sessions_reused);
    (void)json_int(json_get(meta, STR("messages_scanned")), &ret->messages_scanned);
    (void)json_int(json_get(meta, STR("duration_ms")), &ret->duration_ms);
    return true;
}

/* Of Hermes' plugin: scan_snapshot.json, written by us or by the plugin. */
static Snapshot *from_file(const ScanOptions *scan, bool compat)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = NULL;
    Totals totals = { 0 };
    ScanMeta meta = { 0 };
    StatePlace place = run_place(a, scan);
    Unlocks unlocks;
    SnapshotDates dates = { .unlocks = &unlocks, .compat = compat };
    int64_t at = 0;
    Snapshot *s;
    Str path, text;
    Err err;

    if (scan->all || !place_find(a, &place, STR("scan_snapshot.json"), &path) ||
        !file_read(a, path.p, LIMIT_SNAPSHOT_BYTES, &text, &err))
        return NULL;
    if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_skip(text, 3);
    doc = json_parse(text, &err);
    if (!doc || !read_totals(json_root(doc), &totals) || !read_meta(json_root(doc), &meta) ||
        !unlocks_load(a, &place, &unlocks, &err))
        return NULL;
    read_peaks(json_root(doc), &totals);
    if (!json_int(json_get(json_root(doc), STR("generated_at")), &at) || at <= 0)
        at = (int64_t)clock_wall();
    s = snapshot_make(arena_new(), &totals, &meta, &dates, at);
    s->source = run_source(s->arena, scan);
    unlocks_done(&unlocks);
    return s;
}

static bool written_since(const Homes *homes, int64_t at)
{
    static const char *const files[] = { "", "-wal" };
    char path[LIMIT_PATH_BYTES];
    struct stat st;
    bool any = false;

    for (size_t i = 0; i < homes->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(files); k++) {
            snprintf(path, sizeof path, "%.*s%s", STR_FMT(homes->all[i].database), files[k]);
            if (stat(path, &st) != 0)
                continue;
            any = true;
            if (st.st_size && st.st_mtim.tv_sec >= at)
                return true;
        }
    return !any;
}

Snapshot *run_restore(const ScanOptions *scan, bool compat, uint64_t *ret_mark, bool *ret_sure)
{
    Snapshot *s = run_known(scan, compat);

    *ret_mark = 0;
    *ret_sure = s != NULL;
    if (s) {
        *ret_mark = lanes_mark(scan->homes);
        return s;
    }
    s = from_file(scan, compat);
    if (s)
        *ret_sure = !written_since(scan->homes, s->generated_at);
    malloc_trim(0); /* the file is large, and an idle server small */
    return s;
}

/* -- a scan -- */

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

/* Conversations of all lanes; with dates only where a badge is new, since that takes twice as
 * long. */
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

static Snapshot *make_snapshot(Run *run, Scan *scan, Unlocks *unlocks)
{
    SnapshotDates dates = { .unlocks = unlocks, .compat = run->compat };
    Fold *fold = ARENA_NEW(scan->arena, Fold);
    const Totals *totals = &scan->totals;
    ScanMeta meta = { .mode = scan->reused ? MODE_INCREMENTAL : MODE_FULL,
                      .sessions_total = (int64_t)scan->n,
                      .sessions_expected = (int64_t)scan->n,
                      .sessions_rescanned = scan->rescanned,
                      .sessions_reused = scan->reused,
                      .messages_scanned = scan->messages,
                      .duration_ms = scan->duration_ms };
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

    /* Where nothing can be written, no process has to wait for another. */
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

/* -- the large files -- */

static bool write_one(Arena *a, Str folder, const char *name, const Buf *bytes)
{
    Err err;

    if (!buf_full(bytes) && folder_make(folder.p, &err) &&
        file_write_atomic(str_join_path(a, folder, str_of(name)).p, buf_str(bytes), &err))
        return true;
    log_warning("'%s' was not written: %s", name, buf_full(bytes) ? "too large" : err.text);
    return false;
}

/* Tens of megabytes of a large history, and mostly what is there already: so the index knows of
 * which counts they are. Noted when both are written, so that a process killed before that writes
 * them again. */
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

#include "achievements/run.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"

enum { LOCK_WAIT_MS = 10 * 60 * 1000 };

static Str topic_of(Arena *a, const ScanOptions *o)
{
    return str_printf(a, "achievements answer %d%d%d%d%d", o->rows.archived, o->rows.compacted,
                      o->rows.all_models, o->count.double_encoded, o->count.memory_writes);
}

void run_settings(ScanOptions *scan, const Settings *s)
{
    scan->rows = (RowsQuery){ .archived = setting_bool(s, SETTING_COUNT_ARCHIVED),
                              .compacted = setting_bool(s, SETTING_COUNT_COMPACTED),
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
    json_end(&w, '}');
    if (run->mark && !buf_full(&out))
        index_put(index, topic_of(a, &run->scan), run->scan.homes->primary->path, STR(""),
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
    RecordSource source = { .homes = scan->homes, .topic = scan_topic(a, scan) };

    for (size_t i = 0; i < scan->homes->n; i++)
        source.read |= (uint64_t)scan_home_there(&scan->homes->all[i]) << i;
    return source;
}

Snapshot *run_known(const ScanOptions *scan, bool compat)
{
    const Homes *homes = scan->homes;
    AUTO(Index) *index = NULL;
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = NULL;
    Totals totals = { 0 };
    Snapshot *s = NULL;
    Unlocks unlocks;
    ScanMeta meta;
    uint64_t mark;
    int64_t at;
    Str kept;
    Err err;

    (void)scan_unchanged(homes, 0, &mark);
    if (!mark)
        return NULL;
    index = index_open(homes->data);
    if (!index_get(index, a, topic_of(a, scan), homes->primary->path, STR(""), mark_text(a, mark),
                   &kept))
        return NULL;
    doc = json_parse(kept, &err);
    if (!doc || !read_answer(json_root(doc), &totals, &meta, &at) ||
        !unlocks_load(a, homes->primary, &unlocks, &err))
        return NULL;
    s = snapshot_make(arena_new(), &totals, &meta, &unlocks, compat, at);
    s->source = run_source(s->arena, scan);
    /* A badge without a date means that the record was reset: then the scan has to note it. */
    if (unlocks.changed)
        s = snapshot_free(s);
    unlocks_done(&unlocks);
    return s;
}

/* -- a scan ------------------------------------------------------------------------------------------------ */

/* The records stay where they are: in the index, or, without one, in the arena of the scan. */
static void take_records(Snapshot *s, const Run *run, Scan *scan)
{
    s->source = (RecordSource){ .homes = run->scan.homes,
                                .topic = str_dup(s->arena, scan->topic),
                                .read = scan->read };
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

        stamp = (stamp ^ (uint64_t)item->unlocked_at ^ (uint64_t)item->shown_at << 20) *
                0x9e3779b97f4a7c15u;
        stamp = (stamp ^ stamp >> 31) + (uint64_t)item->badge.tier + item->kept;
    }
    for (size_t i = 0; i < catalogue()->n_aggregates; i++)
        stamp = (stamp ^ (uint64_t)s->totals.value[i]) * 0xff51afd7ed558ccdu;
    for (size_t i = 0; i < scan->topic.n; i++)
        stamp = (stamp ^ (unsigned char)scan->topic.p[i]) * 0x100000001b3u;
    return stamp | 1;
}

static Snapshot *conclude(Run *run, Scan *scan, Err *err)
{
    AUTO(Arena) *a = arena_new();
    const Home *home = run->scan.homes->primary;
    ScanMeta meta = { .mode = scan->reused ? MODE_INCREMENTAL : MODE_FULL,
                      .sessions_total = (int64_t)scan->n,
                      .sessions_expected = (int64_t)scan->n,
                      .sessions_rescanned = scan->rescanned,
                      .sessions_reused = scan->reused,
                      .messages_scanned = scan->messages,
                      .duration_ms = scan->duration_ms };
    int64_t before[MOST_ACHIEVEMENTS] = { 0 };
    Unlocks unlocks;
    Snapshot *s = NULL;

    if (unlocks_load(a, home, &unlocks, err)) {
        for (size_t i = 0; i < catalogue()->n; i++)
            before[i] = unlocks.all[i].tier_at;
        s = snapshot_make(arena_new(), &scan->totals, &meta, &unlocks, run->compat,
                          (int64_t)clock_wall());
        take_records(s, run, scan);
        s->stamp = stamp_of(run, scan, s);
        for (size_t i = 0; i < catalogue()->n; i++)
            run->fresh[i] = unlocks.all[i].tier_at != before[i];
        if (unlocks.changed && !unlocks_save(a, home, &unlocks, err))
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

    if (!alone)
        return NULL;
    /* Before the scan: what is written meanwhile makes it differ. */
    (void)scan_unchanged(homes, 0, &run->mark);
    index = run->scan.index = index_open(homes->data);
    if (!scan_run(&run->scan, &scan, err))
        return NULL;
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

bool run_reset(const Homes *homes, Err *err)
{
    AUTO(FileLock) *alone = lock_alone(homes, err);
    AUTO(Arena) *a = arena_new();
    Str folder = achievements_folder(a, homes->primary);

    return alone && folder_make(folder.p, err) &&
           file_write_atomic(str_join_path(a, folder, STR("state.json")).p,
                             STR("{\n  \"unlocks\": {}\n}"), err) &&
           remove_file(a, folder, "scan_snapshot.json", err) &&
           remove_file(a, folder, "scan_checkpoint.json", err);
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

static bool is_written(Arena *a, Index *index, const Homes *homes, Str folder, const Snapshot *s)
{
    Str noted;

    return s->stamp &&
           index_get(index, a, files_topic, homes->primary->path, STR(""), mark_text(a, s->stamp),
                     &noted) &&
           access(str_join_path(a, folder, STR("scan_snapshot.json")).p, F_OK) == 0 &&
           access(str_join_path(a, folder, STR("scan_checkpoint.json")).p, F_OK) == 0;
}

void run_write_files(const Homes *homes, const Snapshot *s)
{
    AUTO(Arena) *a = arena_new();
    Str folder = achievements_folder(a, homes->primary);
    AUTO_BUF bytes = BUF(LIMIT_OUTPUT_BYTES);
    AUTO(Index) *index = index_open(homes->data);
    bool ok;

    if (is_written(a, index, homes, folder, s))
        return;
    snapshot_write_file(s, &bytes);
    ok = write_one(a, folder, "scan_snapshot.json", &bytes);
    buf_clear(&bytes);
    snapshot_write_checkpoint(s, &bytes);
    if (write_one(a, folder, "scan_checkpoint.json", &bytes) && ok)
        index_put(index, files_topic, homes->primary->path, STR(""), mark_text(a, s->stamp),
                  STR("written"));
}

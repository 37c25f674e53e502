#include "achievements/restore.h"

#include <malloc.h>
#include <sys/stat.h>

#include "achievements/lanes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"

/* -- the file ------------------------------------------------------------------------------------- */

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

/* Best sessions stand with the badges they earned; of the others nobody asks. */
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

Snapshot *restore_text(const ScanOptions *scan, bool compat, Str text)
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
    Err err;

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

static Snapshot *from_file(const ScanOptions *scan, bool compat)
{
    AUTO(Arena) *a = arena_new();
    StatePlace place = run_place(a, scan);
    Str path, text;
    Err err;

    if (scan->all || !place_find(a, &place, STR("scan_snapshot.json"), &path) ||
        !file_read(a, path.p, LIMIT_SNAPSHOT_BYTES, &text, &err))
        return NULL;
    return restore_text(scan, compat, text);
}

/* -- how old it is ---------------------------------------------------------------------------------- */

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

Snapshot *restore(const ScanOptions *scan, bool compat, uint64_t *ret_mark, bool *ret_sure)
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

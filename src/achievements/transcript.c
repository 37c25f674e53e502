#include "achievements/transcript.h"

#include <stdlib.h>
#include <unistd.h>

#include "achievements/lanes.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "recall/history.h"
#include "store/index.h"
#include "text/json.h"

/* A scan reads everything there is, so the catalogue gets the time it needs. */
enum { UPDATE_MS = 24 * 3600 * 1000, OTHERS_MS = 60 * 1000, LOOK_EVERY_US = 50 * 1000 };

/* -- which there are -- */

static uint64_t mark_of(const HistoryItem *item)
{
    const TranscriptFile *f = &item->file;
    int64_t numbers[] = { f->size, f->mtime_ns, (int64_t)f->inode, item->mark.number };
    uint64_t hash = hash_bytes(HASH_START, numbers, sizeof numbers);

    hash = hash_text(hash, item->lineage.title);
    return hash_text(hash, item->lineage.tip.model) >> 1;
}

void covered_rows(Arena *a, const Homes *lanes, const CoveredRow **ret, size_t *ret_n)
{
    Homes homes = *lanes;
    HistoryWhere where = { .homes = &homes };
    AUTO(History) *h = NULL;
    CoveredRow *rows;
    Covered *all;
    Err why;

    *ret = NULL;
    *ret_n = 0;
    for (homes.n = 0; homes.n < lanes->n && !lane_is_files(&lanes->all[homes.n]);)
        homes.n++; /* transcripts come behind the homes */
    h = history_open(&where);
    if (!history_covered_homes(h, a, &all, ret_n, &why)) {
        log_debug("conversations are counted beside their sessions: %s", why.text);
        *ret_n = 0;
        return;
    }
    *ret = rows = ARENA_ARRAY(a, CoveredRow, *ret_n + 1);
    for (size_t i = 0; i < *ret_n; i++)
        rows[i] = (CoveredRow){ all[i].home, all[i].id, all[i].conversation, all[i].begun_there };
}

void rows_count_once(Arena *a, const Homes *lanes, const Home *lane, Rows *rows)
{
    AUTO(Db) *index = NULL;
    Err why;

    if (lane->kind != HOME_OURS)
        return;
    index = index_db_open(lanes->data, &why);
    if (!index || !catalogue_read_once(index, a, lane, rows, &why))
        log_debug("turns of other programs are counted in both places: %s", why.text);
}

static TranscriptRow row_of(History *h, Arena *a, const HistoryItem *item)
{
    const Session *s = &item->lineage.tip;
    bool begun_there;
    Str by = str_dup(a, history_covered_by(h, a, item, &begun_there));

    return (TranscriptRow){ .row = { .id = s->id,
                                     .source = s->source,
                                     .model = s->model.p ? s->model : STR(""),
                                     .title = item->lineage.title,
                                     .started_at = item->lineage.started_at,
                                     .last_activity_at = item->lineage.last_active,
                                     .rowid = item->mark.number,
                                     .conversation = by,
                                     .covered = by.n > 0,
                                     .begun_there = begun_there,
                                     .mark = mark_of(item) },
                            .file = item->file };
}

static int by_rowid(const void *left, const void *right)
{
    const TranscriptRow *a = left, *b = right;

    return a->row.rowid < b->row.rowid ? -1 : a->row.rowid > b->row.rowid;
}

static bool list_rows(Arena *a, const Homes *lanes, SourceKind source, TranscriptRow **ret,
                      size_t *ret_n, bool *ret_partial, Err *err)
{
    HistoryWhere where = { .homes = lanes, .files = true, .budget_ms = UPDATE_MS };
    AUTO(History) *h = history_open(&where);
    HistoryItem *items;

    if (!history_transcripts(h, a, source, &items, ret_n, err))
        return false;
    *ret_partial = history_partial(h);
    *ret = ARENA_ARRAY(a, TranscriptRow, *ret_n + 1);
    for (size_t i = 0; i < *ret_n; i++)
        (*ret)[i] = row_of(h, a, &items[i]);
    return true;
}

bool transcript_rows(Arena *a, const Homes *lanes, const Home *lane, TranscriptRow **ret,
                     size_t *ret_n, bool *ret_partial, Err *err)
{
    SourceKind source = lane->kind == HOME_CODEX ? SOURCE_CODEX : SOURCE_CLAUDE;
    int64_t end = clock_mono_ms() + OTHERS_MS;
    TranscriptRow *all;
    size_t n;

    if (!list_rows(a, lanes, source, &all, &n, ret_partial, err))
        return false;
    /* Another process is bringing the catalogue up to date: what it reads is not in it yet. */
    while (*ret_partial && clock_mono_ms() < end) {
        usleep(LOOK_EVERY_US);
        if (!list_rows(a, lanes, source, &all, &n, ret_partial, err))
            return false;
    }
    if (n)
        qsort(all, n, sizeof *all, by_rowid);
    *ret = all;
    *ret_n = n;
    return true;
}

/* -- counting -- */

/* Words and calls that follow each other without a result between them are one message. */
typedef struct Counting {
    Scanner *scanner;
    Arena *a; /* of the event at hand */
    Buf words, calls;
    bool open;
    int64_t where, n;
} Counting;

static void put_row(Counting *c, ScanRow row)
{
    scanner_row(c->scanner, &row);
    c->n++;
}

static void close_message(Counting *c)
{
    if (!c->open)
        return;
    if (c->calls.n)
        buf_addc(&c->calls, ']');
    put_row(c, (ScanRow){ .role = STR("assistant"),
                          .content = buf_str(&c->words),
                          .tool_calls = c->calls.n ? buf_str(&c->calls) : STR_NONE,
                          .id = c->where });
    buf_clear(&c->words);
    buf_clear(&c->calls);
    c->open = false;
}

static void open_message(Counting *c, const Event *e)
{
    if (!c->open)
        c->where = e->where;
    c->open = true;
}

static void add_call(Counting *c, const Event *e)
{
    JsonWriter w = JSON_WRITER(&c->calls, 0);

    open_message(c, e);
    buf_addz(&c->calls, c->calls.n ? "," : "[");
    json_begin(&w, '{');
    json_field_begin(&w, "function", '{');
    json_field_str(&w, "name", e->name.p ? e->name : STR(""));
    json_field_str(&w, "arguments", e->arguments.n ? e->arguments : STR("{}"));
    json_end(&w, '}');
    json_end(&w, '}');
}

static bool on_event(void *ctx, const Event *e, Err *err)
{
    enum { ASIDE = EVENT_IS_META | EVENT_IS_COMMAND | EVENT_IS_SUMMARY | EVENT_IS_INTERRUPT };
    Counting *c = ctx;

    (void)err;
    if (e->flags & ASIDE && e->kind != EVENT_TOOL_RESULT)
        return true;
    if (e->kind == EVENT_ASSISTANT) {
        if (c->calls.n)
            close_message(c);
        open_message(c, e);
        if (c->words.n)
            buf_addc(&c->words, '\n');
        buf_add(&c->words, event_text(c->a, e));
    } else if (e->kind == EVENT_TOOL_CALL) {
        add_call(c, e);
    } else {
        close_message(c);
        put_row(c, (ScanRow){ .role = e->kind == EVENT_USER          ? STR("user")
                                      : e->kind == EVENT_TOOL_RESULT ? STR("tool")
                                                                     : STR("system"),
                              .content = event_text(c->a, e),
                              .id = e->where });
    }
    arena_reset(c->a);
    return true;
}

bool transcript_count(Reader *reader, Scanner *scanner, const TranscriptFile *file, int64_t *ret,
                      Err *err)
{
    ReadOptions options = { .kinds = 1u << EVENT_USER | 1u << EVENT_ASSISTANT |
                                     1u << EVENT_TOOL_CALL | 1u << EVENT_TOOL_RESULT |
                                     1u << EVENT_ERROR | 1u << EVENT_COMPACTION };
    AUTO(Arena) *a = arena_new();
    Counting c = { .scanner = scanner,
                   .a = a,
                   .words = BUF(LIMIT_TRANSCRIPT_BYTES),
                   .calls = BUF(LIMIT_TRANSCRIPT_BYTES) };
    Cursor cursor = { 0 };
    ReadStats stats;
    bool ok = transcript_read(reader, file, &options, &cursor, on_event, NULL, &c, &stats, err);

    close_message(&c);
    buf_done(&c.words);
    buf_done(&c.calls);
    *ret = c.n;
    return ok;
}

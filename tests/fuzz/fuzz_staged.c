/* Files of sleep that others may have written to: a manifest, a report, what is known of edits,
 * tasks to be reviewed. Whatever they hold, what is read of them keeps its promises, and is the
 * same when it is written and read again. */
#include "base/limits.h"
#include "sleep/adoption/manifest.h"
#include "sleep/adoption/report.h"
#include "sleep/learning/known.h"
#include "sleep/task/places.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_manifest(Arena *a, Str text)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&out, 0);
    Manifest m, again;
    Err err;

    if (!manifest_parse(a, text, &m, &err))
        return;
    for (size_t i = 0; i < m.n; i++) {
        const StagedItem *item = &m.items[i];

        ASSERT(item->live_path.n && item->live_path.p[0] == '/' && item->sha256.n == 64);
        ASSERT(str_find(item->proposed_file, STR("/")) == item->proposed_file.n);
        ASSERT(item->kind != ITEM_SKILL || inside_roots(item->live_path, &m.skill_roots));
    }
    manifest_put(&w, &m);
    ASSERT(buf_full(&out) || manifest_parse(a, buf_str(&out), &again, &err));
    ASSERT(buf_full(&out) || again.n == m.n);
}

static void check_report(Arena *a, Str text)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_FILE);
    AUTO_BUF md = BUF(LIMIT_SLEEP_FILE);
    NightReport r, again;
    Err err;

    if (!report_parse(a, text, &r, &err))
        return;
    report_md(&md, &r);
    ASSERT(memchr(md.p, '\033', md.n) == NULL);
    report_json(&out, &r);
    ASSERT(buf_full(&out) || report_parse(a, buf_str(&out), &again, &err));
    ASSERT(buf_full(&out) || (again.tasks.n == r.tasks.n && again.shares.n == r.shares.n));
}

static void check_known(Arena *a, Str text)
{
    KnownBook book = known_book_read(a, text),
              again = known_book_read(a, known_book_text(a, &book));

    ASSERT(again.n == book.n);
    for (size_t i = 0; i < book.n; i++)
        ASSERT(again.items[i].edits.n == book.items[i].edits.n);
}

static void check_tasks(Arena *a, Str text)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(text, &err);
    TaskRecords tasks = { 0 };

    if (!doc || !tasks_read(a, json_root(doc), &tasks, &err))
        return;
    for (size_t i = 0; i < tasks.n; i++)
        ASSERT(tasks.items[i].id.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };

    check_manifest(a, text);
    check_report(a, text);
    check_known(a, text);
    check_tasks(a, text);
    return 0;
}

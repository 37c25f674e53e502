#include "sleep/adoption/reject.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "sleep/adoption/adopt.h"
#include "sleep/adoption/nights.h"
#include "sleep/adoption/stage.h"
#include "sleep/learning/known.h"
#include "sleep/learning/state.h"
#include "text/human.h"

#define RECEIPT "rejected.json"

enum { WAIT_MS = 2000 };

static const char *receipt_path(Arena *a, Str folder)
{
    return str_z(a, str_join_path(a, folder, STR(RECEIPT)));
}

static const RecordField rejection_fields[] = {
    RECORD_FIELD(Rejection, night),
    RECORD_FIELD(Rejection, at),
    RECORD_FIELD(Rejection, reason),
    RECORD_FIELD(Rejection, n_edits),
};
static const RecordTable rejection_record =
    RECORD(Rejection, "rejection", rejection_fields, .lenient = true);

/* An unreadable receipt still counts as a rejection. */
bool rejection_read(Arena *a, Str folder, Rejection *ret)
{
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;
    Str text;

    record_init(&rejection_record, ret);
    if (!file_read(a, receipt_path(a, folder), LIMIT_SLEEP_FILE, &text, &ignored))
        return ignored.kind != ERR_NOT_FOUND;
    doc = json_parse(text, &ignored);
    if (doc && !record_read(a, &rejection_record, json_root(doc), ret, &ignored))
        record_init(&rejection_record, ret);
    return true;
}

void rejection_put(JsonWriter *w, const Rejection *r)
{
    record_put(w, &rejection_record, r);
}

bool night_proposed(Arena *a, const SleepHome *home, Str *ret, Err *err)
{
    Str *nights, latest;
    size_t n;

    if (!stage_latest(a, home, &latest, err) || !stage_nights(a, home, &nights, &n, err))
        return false;
    for (size_t i = n; i-- > 0;) {
        Str folder = night_folder(a, home, nights[i]);
        Rejection no;
        Manifest m;
        Err broken;

        /* A manifest that cannot be read is reported to the user, not skipped. */
        if (!manifest_read(a, folder, &m, &broken) || (m.n && !rejection_read(a, folder, &no))) {
            latest = nights[i];
            break;
        }
    }
    *ret = latest;
    return true;
}

/* -- Rejecting -- */

static bool may_reject(Arena *a, const SleepHome *home, Str folder, NightSummary *ret, Err *err)
{
    Str name = str_skip(folder, home->staging.n + 1);
    Rejection already;

    if (!night_summary(a, home, name, ret, err))
        return false;
    if (!ret->manifest.n)
        return err_set(err, ERR_NOT_FOUND, "night '%.*s' has no proposal", STR_FMT(name));
    if (ret->adopted)
        return err_set(err, ERR_CONFLICT, "night '%.*s' is adopted; run 'talaria sleep undo' first",
                       STR_FMT(name));
    return !rejection_read(a, folder, &already) ||
           err_set(err, ERR_CONFLICT, "night '%.*s' is already rejected", STR_FMT(name));
}

static bool remember_edits(Arena *a, const SleepHome *home, const NightReport *r, Str reason,
                           Err *err)
{
    const SleepReport *s = &r->report;
    StateProject *project;
    SleepState state;
    KnownBook book;
    Str note;

    if (!state_load(a, home->state, &state, &note, err))
        return false;
    project = state_project(a, &state, s->project);
    book = known_book_read(a, project->pending);
    for (size_t i = 0; i < s->edits.n && i < r->shares.n; i++)
        rejected_add(a, known_book_of(a, &book, r->shares.items[i].skill), &s->edits.items[i],
                     s->night, reason);
    project->pending = known_book_text(a, &book);
    return state_save(home->state, &state, err);
}

bool night_reject(Arena *a, const SleepHome *home, Str night, Str reason, bool dry_run,
                  Rejection *ret, Err *err)
{
    Str why = reason.n ? reason : STR("rejected in review"), folder;
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&text, 2);
    AUTO(FileLock) *state = NULL;
    AUTO(FileLock) *adoption = NULL;
    Recovery recovery = { 0 };
    NightSummary n;

    if ((!night.n && !night_proposed(a, home, &night, err)) ||
        !stage_find(a, home, night, &folder, err))
        return false;
    state = state_lock(a, home->state, WAIT_MS, err); /* in the order in which a night takes them */
    if (!state)
        return err_wrap(err, "another night is running");
    adoption = adopt_begin(a, home, &recovery, err);
    if (!adoption || !may_reject(a, home, folder, &n, err))
        return false;
    *ret = (Rejection){ .night = n.staging,
                        .at = human_iso(a, clock_wall()),
                        .reason = why,
                        .n_edits = (int64_t)n.report.report.edits.n };
    rejection_put(&w, ret);
    buf_addc(&text, '\n');
    return dry_run || (remember_edits(a, home, &n.report, why, err) &&
                       file_write_atomic(receipt_path(a, folder), buf_str(&text), err));
}

#include "sleep/adoption/nights.h"

#include "base/file.h"
#include "base/limits.h"
#include "sleep/adoption/live.h"
#include "sleep/adoption/stage.h"
#include "text/diff.h"

const char *live_state_name(LiveState state)
{
    static const char *const names[] = {
#define X(state, word) word,
        LIVE_STATES(X)
#undef X
    };

    return names[state];
}

/* -- a night's files ------------------------------------------------------------------------------ */

static void read_report(Arena *a, Str folder, NightSummary *n)
{
    char *path = str_z(a, str_join_path(a, folder, STR("report.json")));
    Err why;
    Str text;

    if (file_read(a, path, LIMIT_SLEEP_FILE, &text, &why) &&
        report_parse(a, text, &n->report, &why))
        return;
    report_init(&n->report);
    LIST_PUSH(a, &n->report.report.notes, str_dup(a, str_of(why.text)));
}

bool night_summary(Arena *a, const SleepHome *home, Str night, NightSummary *ret, Err *err)
{
    Str folder = night_folder(a, home, night);
    NightSummary n = { .staging = night };
    Err why;

    read_report(a, folder, &n);
    if (!manifest_read(a, folder, &n.manifest, &why))
        LIST_PUSH(a, &n.report.report.notes, str_dup(a, str_of(why.text)));
    if (!receipts_read(a, folder, night, &n.receipts, err))
        return false;
    for (size_t i = 0; i < n.receipts.n; i++)
        n.adopted = n.adopted ||
                    receipt_active(&n.receipts, n.receipts.all[i].kind, n.receipts.all[i].name);
    n.undone = n.receipts.n && !n.adopted;
    n.rejected = rejection_read(a, folder, &n.rejection);
    *ret = n;
    return true;
}

bool nights_list(Arena *a, const SleepHome *home, Str project, NightSummary **ret, size_t *ret_n,
                 Err *err)
{
    NightSummary *all;
    size_t n, kept = 0;
    Str *names;

    if (!stage_nights(a, home, &names, &n, err))
        return false;
    all = ARENA_ARRAY(a, NightSummary, n + 1);
    for (size_t i = n; i-- > 0;) {
        if (!night_summary(a, home, names[i], &all[kept], err))
            return false;
        kept += !project.n || str_eq(all[kept].report.report.project, project);
    }
    *ret = all;
    *ret_n = kept;
    return true;
}

/* -- a proposal beside what is live --------------------------------------------------------------- */

static LiveState state_of(const StagedItem *item, const LiveDoc *live)
{
    if (live->exists && str_eq(live->sha256, item->sha256))
        return LIVE_ADOPTED;
    return str_eq(live->sha256, item->live_sha256) ? LIVE_AS_BEFORE : LIVE_CHANGED;
}

/* As the night read it: still live, or kept as the backup of an adoption. */
static Str text_before(Arena *a, Str folder, const NightSkill *s, const Receipts *receipts,
                       const LiveDoc *live)
{
    LiveDoc backup;
    Err ignored;

    if (s->live == LIVE_AS_BEFORE || !s->item.live_sha256.n)
        return s->item.live_sha256.n ? live->bytes : STR("");
    for (size_t i = 0; i < receipts->n; i++) {
        const Receipt *r = &receipts->all[i];

        if (r->kind == s->item.kind && str_eq(r->name, s->item.name) && r->backup_path.n &&
            live_read(a, str_join_path(a, folder, r->backup_path), &backup, &ignored) &&
            str_eq(backup.sha256, s->item.live_sha256))
            return backup.bytes;
    }
    return live->bytes;
}

static bool load_skill(Arena *a, Str folder, const StagedItem *item, const Receipts *receipts,
                       NightSkill *ret, Err *err)
{
    NightSkill s = { .item = *item };
    LiveDoc live = { .bytes = STR(""), .sha256 = STR("") }, proposal;
    AUTO_BUF diff = BUF(2 * LIMIT_SLEEP_DOCUMENT + MIB(1));
    Err ignored;

    if (!live_read(a, str_join_path(a, folder, item->proposed_file), &proposal, err))
        return false;
    s.after = proposal.bytes;
    s.live =
        live_read(a, item->live_path, &live, &ignored) ? state_of(item, &live) : LIVE_UNREADABLE;
    s.before = text_before(a, folder, &s, receipts, &live);
    s.adopted = receipt_active(receipts, item->kind, item->name);
    diff_unified(&diff, s.before, s.after, item->live_sha256.n ? item->live_path : STR("/dev/null"),
                 item->live_path);
    s.diff = str_dup(a, buf_str(&diff));
    *ret = s;
    return true;
}

bool night_load(Arena *a, const SleepHome *home, Str night, Night *ret, Err *err)
{
    Str folder;
    Night n = { .report_md = STR("") };
    Err ignored;

    if (!stage_find(a, home, night, &folder, err) ||
        !night_summary(a, home, str_skip(folder, home->staging.n + 1), &n.summary, err))
        return false;
    n.skills = ARENA_ARRAY(a, NightSkill, n.summary.manifest.n + 1);
    for (size_t i = 0; i < n.summary.manifest.n; i++)
        if (!load_skill(a, folder, &n.summary.manifest.items[i], &n.summary.receipts,
                        &n.skills[n.n++], err))
            return false;
    (void)!file_read(a, str_z(a, str_join_path(a, folder, STR("report.md"))), LIMIT_SLEEP_FILE,
                     &n.report_md, &ignored);
    *ret = n;
    return true;
}

/* -- JSON ----------------------------------------------------------------------------------------- */

static void put_summary_fields(JsonWriter *w, const NightSummary *n)
{
    const SleepReport *s = &n->report.report;

    json_field_int(w, "night", s->night);
    json_field_str(w, "started_at", s->started_at);
    json_field_str(w, "ended_at", s->ended_at);
    json_field_str(w, "project", s->project);
    json_field_str(w, "backend", n->report.backend);
    json_field_str(w, "model", n->report.model);
    json_field_bool(w, "accepted", s->accepted);
    json_field_str(w, "gate_action", s->gate_action);
    json_field_str(w, "verdict", report_verdict(s));
    json_field_bool(w, "simulated", report_simulated(&n->report));
    json_field_double(w, "baseline", s->baseline_score);
    json_field_double(w, "candidate", s->candidate_score);
    json_key(w, "interval");
    if (n->report.has_interval) {
        json_begin(w, '[');
        json_put_double(w, n->report.low);
        json_put_double(w, n->report.high);
        json_end(w, ']');
    } else {
        json_put_null(w);
    }
    json_field_int(w, "n_tasks", s->n_tasks);
    json_field_int(w, "n_sessions", s->n_sessions);
    json_field_int(w, "tokens", s->tokens_used);
    json_field_double(w, "cost_usd", n->report.cost_usd);
    json_field_str(w, "staging", n->staging);
    json_field_bool(w, "adopted", n->adopted);
    json_field_bool(w, "undone", n->undone);
    json_field_bool(w, "rejected", n->rejected);
    json_field_str(w, "no_edits_reason", s->no_edits_reason);
    json_field_int(w, "n_proposals", (int64_t)n->manifest.n);
}

void night_put_summary(JsonWriter *w, const NightSummary *n)
{
    json_begin(w, '{');
    put_summary_fields(w, n);
    json_end(w, '}');
}

static void put_skill(JsonWriter *w, const NightSkill *s)
{
    json_begin(w, '{');
    json_field_str(w, "skill_name", s->item.name);
    json_field_str(w, "kind", str_of(item_kind_name(s->item.kind)));
    json_field_str(w, "live_path", s->item.live_path);
    json_field_str(w, "live_state", str_of(live_state_name(s->live)));
    json_field_bool(w, "adopted", s->adopted);
    json_field_str(w, "diff", s->diff);
    json_field_str(w, "before", s->before);
    json_field_str(w, "after", s->after);
    json_end(w, '}');
}

/* The rest of what report.json holds, as the writer of the report writes it. */
static void put_report_lists(JsonWriter *w, const NightReport *r)
{
    static const char *const keys[] = { "edits", "rejected_edits", "unmatched_edits", "edit_shares",
                                        "tasks", "gate_trials",    "skill_groups",    "notes" };
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;

    report_json(&text, r);
    doc = json_parse(buf_str(&text), &ignored);
    for (size_t i = 0; doc && i < ARRAY_LEN(keys); i++) {
        json_key(w, keys[i]);
        json_put(w, json_get(json_root(doc), str_of(keys[i])));
    }
}

void night_put(JsonWriter *w, const Night *n)
{
    json_begin(w, '{');
    put_summary_fields(w, &n->summary);
    json_key(w, "skills");
    json_begin(w, '[');
    for (size_t i = 0; i < n->n; i++)
        put_skill(w, &n->skills[i]);
    json_end(w, ']');
    put_report_lists(w, &n->summary.report);
    json_field_str(w, "report_md", n->report_md);
    json_end(w, '}');
}

#include "sleep/adoption/nights.h"

#include "base/file.h"
#include "base/limits.h"
#include "sleep/adoption/live.h"
#include "sleep/adoption/stage.h"
#include "text/diff.h"

static const char *const live_state_names[] = {
#define X(state, word) word,
    LIVE_STATES(X)
#undef X
};

/* -- Files of a night -- */

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
                    receipt_active(&n.receipts, n.receipts.items[i].kind, n.receipts.items[i].name);
    n.undone = n.receipts.n && !n.adopted;
    n.rejected = rejection_read(a, folder, &n.rejection);
    n.verdict = report_verdict(&n.report.report);
    n.simulated = report_simulated(&n.report);
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

/* -- A proposal beside the live document -- */

/* The text as the night read it: still live, or in the backup of an adoption. */
static Str text_before(Arena *a, Str folder, const NightSkill *s, const Receipts *receipts,
                       const LiveDoc *live)
{
    LiveDoc backup;
    Err ignored;

    if (s->live == LIVE_AS_BEFORE || !s->item.live_sha256.n)
        return s->item.live_sha256.n ? live->bytes : STR("");
    for (size_t i = 0; i < receipts->n; i++) {
        const Receipt *r = &receipts->items[i];

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
    if (!live_read(a, item->live_path, &live, &ignored))
        s.live = LIVE_UNREADABLE;
    else if (live.exists && str_eq(live.sha256, item->sha256))
        s.live = LIVE_ADOPTED;
    else
        s.live = str_eq(live.sha256, item->live_sha256) ? LIVE_AS_BEFORE : LIVE_CHANGED;
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
    for (size_t i = 0; i < n.summary.manifest.n; i++) {
        NightSkill skill;

        if (!load_skill(a, folder, &n.summary.manifest.items[i], &n.summary.receipts, &skill, err))
            return false;
        LIST_PUSH(a, &n.skills, skill);
    }
    (void)!file_read(a, str_z(a, str_join_path(a, folder, STR("report.md"))), LIMIT_SLEEP_FILE,
                     &n.report_md, &ignored);
    *ret = n;
    return true;
}

/* -- JSON -- */

static const RecordField summary_fields[] = {
    RECORD_FIELD(NightSummary, report.report.night, .key = "night"),
    RECORD_FIELD(NightSummary, report.report.started_at, .key = "started_at"),
    RECORD_FIELD(NightSummary, report.report.ended_at, .key = "ended_at"),
    RECORD_FIELD(NightSummary, report.report.project, .key = "project"),
    RECORD_FIELD(NightSummary, report.backend, .key = "backend"),
    RECORD_FIELD(NightSummary, report.model, .key = "model"),
    RECORD_FIELD(NightSummary, report.report.accepted, .key = "accepted"),
    RECORD_FIELD(NightSummary, report.report.gate_action, .key = "gate_action"),
    RECORD_FIELD(NightSummary, verdict),
    RECORD_FIELD(NightSummary, simulated),
    RECORD_FIELD(NightSummary, report.report.baseline_score, .key = "baseline"),
    RECORD_FIELD(NightSummary, report.report.candidate_score, .key = "candidate"),
    RECORD_FIELD(NightSummary, report.interval, .key = "interval", .when_empty = RECORD_NULL),
    RECORD_FIELD(NightSummary, report.report.n_tasks, .key = "n_tasks"),
    RECORD_FIELD(NightSummary, report.report.n_sessions, .key = "n_sessions"),
    RECORD_FIELD(NightSummary, report.report.tokens_used, .key = "tokens"),
    RECORD_FIELD(NightSummary, report.cost_usd, .key = "cost_usd"),
    RECORD_FIELD(NightSummary, staging),
    RECORD_FIELD(NightSummary, adopted),
    RECORD_FIELD(NightSummary, undone),
    RECORD_FIELD(NightSummary, rejected),
    RECORD_FIELD(NightSummary, report.report.no_edits_reason, .key = "no_edits_reason"),
    RECORD_FIELD(NightSummary, manifest.n, .key = "n_proposals"),
};
static const RecordTable summary_record = RECORD(NightSummary, "night", summary_fields);

static const RecordField skill_fields[] = {
    RECORD_FIELD(NightSkill, item.name, .key = "skill_name"),
    RECORD_ENUM(NightSkill, item.kind, item_kind_names, .key = "kind"),
    RECORD_FIELD(NightSkill, item.live_path, .key = "live_path"),
    RECORD_ENUM(NightSkill, live, live_state_names, .key = "live_state"),
    RECORD_FIELD(NightSkill, adopted),
    RECORD_FIELD(NightSkill, diff),
    RECORD_FIELD(NightSkill, before),
    RECORD_FIELD(NightSkill, after),
};
static const RecordTable skill_record = RECORD(NightSkill, "skill", skill_fields);

#define REPORT_LIST(member, of)                                                                    \
    RECORD_LIST(Night, summary.report.report.member, &of, .key = #member)
static const RecordField night_fields[] = {
    RECORD_EMBED(Night, summary, &summary_record),
    RECORD_LIST(Night, skills, &skill_record),
    REPORT_LIST(edits, edit_record),
    REPORT_LIST(rejected_edits, edit_record),
    REPORT_LIST(unmatched_edits, edit_record),
    RECORD_LIST(Night, summary.report.shares, &edit_share_record, .key = "edit_shares"),
    RECORD_LIST(Night, summary.report.tasks, &task_pair_record, .key = "tasks"),
    REPORT_LIST(gate_trials, gate_trial_record),
    REPORT_LIST(skill_groups, skill_group_record),
    RECORD_FIELD(Night, summary.report.report.notes, .key = "notes"),
    RECORD_FIELD(Night, report_md),
};
static const RecordTable night_record = RECORD(Night, "night", night_fields);

void night_put_summary(JsonWriter *w, const NightSummary *n)
{
    record_put(w, &summary_record, n);
}

void night_put(JsonWriter *w, const Night *n)
{
    record_put(w, &night_record, n);
}

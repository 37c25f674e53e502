/* talaria sleep status, adopt, undo. */

#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd_sleep.h"
#include "cmd/table.h"
#include "sleep/adoption/adopt.h"
#include "sleep/adoption/nights.h"
#include "sleep/adoption/reject.h"
#include "sleep/adoption/stage.h"
#include "sleep/learning/state.h"
#include "sleep/schedule/schedule.h"
#include "terminal/paint.h"
#include "text/redact.h"

#define STAGING_OPTION                                                                             \
    {                                                                                              \
        OPT_TEXT("staging", "NIGHT", "this night, by name or folder")                              \
    }
#define SELECTION_OPTIONS                                                                          \
    { OPT_TEXT("skill", "NAME", "this skill; repeatable") },                                       \
        { OPT_FLAG("all-skills", "every skill the night proposes") },                              \
    {                                                                                              \
        OPT_FLAG("legacy", "the skill that sleep manages, and the memory")                         \
    }

const Option sleep_status_options[] = { SLEEP_PROJECT_OPTION, { 0 } };

const Option sleep_adopt_options[] = {
    STAGING_OPTION,
    SELECTION_OPTIONS,
    { OPT_FLAG("dry-run", "check everything, change nothing") },
    { 0 },
};

const Option sleep_undo_options[] = {
    STAGING_OPTION,
    SELECTION_OPTIONS,
    { OPT_FLAG("dry-run", "check everything, change nothing") },
    { 0 },
};

const Example sleep_adopt_examples[] = {
    { "talaria sleep review", "review the proposal first" },
    { "talaria sleep adopt", "apply what the newest night proposes" },
    { "talaria sleep adopt --skill pdf-tools", "one skill of several" },
    { 0 },
};

/* -- Shared -- */

bool sleep_home_of(Cli *cli, SleepHome *ret, Err *err)
{
    const Homes *homes;

    if (!cli_homes(cli, &homes, err))
        return false;
    *ret = sleep_home(cli->arena, homes->data);
    return true;
}

bool sleep_project_of(Cli *cli, const Args *args, Str *ret, Err *err)
{
    const char *given = args_z(args, "project");
    char real[LIMIT_PATH_BYTES];

    if (!realpath(given ? given : ".", real)) {
        if (given && given[0] == '/') {
            *ret = str_of(given);
            return true;
        }
        return err_errno(err, "cannot find project '%s'", given ? given : ".");
    }
    *ret = str_dup(cli->arena, str_of(real));
    return true;
}

static void tell_recovery(const Recovery *r)
{
    if (r->found)
        log_note("rolled back %zu interrupted adoption%s", r->found, r->found == 1 ? "" : "s");
    if (r->kept)
        log_warning("%.*s", STR_FMT(r->note));
}

/* -- Status -- */

typedef struct Status {
    SleepHome home;
    SleepState state;
    Str project, note, latest, staging_error;
    Night night; /* the latest */
    ScheduleRows schedules;
} Status;

static void put_skill_rows(JsonWriter *w, const char *key, const Manifest *m)
{
    json_field_begin(w, key, '[');
    for (size_t i = 0; i < m->n; i++) {
        if (m->items[i].kind != ITEM_SKILL)
            continue;
        json_begin(w, '{');
        json_field_str(w, "skill_name", m->items[i].name);
        json_field_str(w, "live_skill_path", m->items[i].live_path);
        json_end(w, '}');
    }
    json_end(w, ']');
}

/* Of the project that was asked for, else of all together. */
static int64_t nights_of(Cli *cli, Status *s)
{
    return s->project.n ? state_project(cli->arena, &s->state, s->project)->night : s->state.night;
}

/* --json: {format, night, state_path, project, history_tail, latest_staging, slow_memory_chars,
 *          staged_skills, adopted_skills, has_managed_proposal, schedules [, staging_error]} */
static void put_status(Cli *cli, Status *s)
{
    enum { TAIL = 5 };
    const Manifest *m = &s->night.summary.manifest;
    const Receipts *r = &s->night.summary.receipts;
    HistoryRows tail = s->state.history;
    JsonWriter w = cli_json_begin(cli);

    if (tail.n > TAIL) {
        tail.items += tail.n - TAIL;
        tail.n = TAIL;
    }
    json_field_int(&w, "night", nights_of(cli, s));
    json_field_str(&w, "state_path", s->home.state);
    json_field_str(&w, "project", s->project);
    json_key(&w, "history_tail");
    record_put_list(&w, &history_row_record, &tail);
    json_field_str(&w, "latest_staging", s->latest);
    json_field_int(&w, "slow_memory_chars", (int64_t)s->state.slow_memory.n);
    put_skill_rows(&w, "staged_skills", m);
    json_field_begin(&w, "adopted_skills", '[');
    for (size_t i = 0; i < r->n; i++)
        if (receipt_active(r, r->items[i].kind, r->items[i].name) == &r->items[i])
            receipt_put(&w, &r->items[i]);
    json_end(&w, ']');
    json_field_bool(&w, "has_managed_proposal", manifest_has(m, ITEM_MANAGED));
    json_key(&w, "schedules");
    record_put_list(&w, &schedule_row_record, &s->schedules);
    if (s->staging_error.n)
        json_field_str(&w, "staging_error", s->staging_error);
    cli_json_end(cli, &w);
}

/* The same words as on the page. */
static const char *state_of(const NightSummary *n)
{
    return n->adopted                                   ? "adopted"
           : n->rejected                                ? "rejected"
           : n->undone                                  ? "adoption undone"
           : n->report.report.accepted && n->manifest.n ? "to review"
                                                        : "no proposal";
}

static bool print_nights(Cli *cli, const SleepHome *home, Str project, Err *err)
{
    static const TableColumn columns[] = {
        { .title = "NIGHT" },
        { .title = "PROJECT", .min = 12 },
        { .title = "BEFORE", .right = true },
        { .title = "AFTER", .right = true },
        { .title = "ANSWERS", .min = 9, .drop = 1 },
        { .title = "STATUS" },
    };
    AUTO(Table) *t = NULL;
    NightSummary *all;
    size_t n;

    if (!nights_list(cli->arena, home, project, &all, &n, err))
        return false;
    t = table_begin(cli, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < n; i++) {
        const SleepReport *r = &all[i].report.report;
        Str model = all[i].report.model.n ? all[i].report.model : all[i].report.backend;

        table_cell(t, all[i].staging);
        table_cell(t, r->project);
        table_cellf(t, "%.1f", 100 * r->baseline_score);
        table_cellf(t, "%.1f", 100 * r->candidate_score);
        table_cell(t, all[i].simulated ? STR("simulated") : model);
        table_cell(t, str_of(state_of(&all[i])));
    }
    table_end(t);
    return true;
}

/* A pipe gets only the table of nights. */
static bool print_status(Cli *cli, Status *s, Err *err)
{
    int64_t nights = nights_of(cli, s);

    if (cli_on_terminal(cli)) {
        say(cli, "%lld night%s", (long long)nights, nights == 1 ? "" : "s");
        if (s->project.n) {
            say(cli, " of ");
            say_text(cli, s->project, false);
        }
        say(cli, "\n");
        for (size_t i = 0; i < s->schedules.n; i++) {
            const ScheduleRow *row = &s->schedules.items[i];

            say(cli, "every night at %02d:%02d by %s: ", row->hour, row->minute,
                scheduler_name(row->kind));
            say_text(cli, row->project, false);
            say(cli, "\n");
        }
    }
    if (s->staging_error.n) {
        log_warning("cannot read the last night: %.*s", STR_FMT(s->staging_error));
    } else if (!s->latest.n) {
        say(cli, "No night yet; 'talaria sleep run' runs one\n");
        return true;
    }
    if (!print_nights(cli, &s->home, s->project, err))
        return false;
    if (!cli_on_terminal(cli) || cli->quiet)
        return true;
    for (size_t i = 0; i < s->night.skills.n; i++) {
        say(cli, "%s%s", i ? "" : "\n", style(cli, STYLE_DIM));
        say_text(cli, s->night.skills.items[i].item.live_path, false);
        say(cli, "%s\n", style(cli, STYLE_OFF));
    }
    if (s->night.report_md.n) {
        say(cli, "\n");
        paint_text(&(PaintOptions){ .columns = cli_width(cli), .color = cli->color },
                   s->night.report_md, cli->out);
    }
    return true;
}

bool sleep_status(Cli *cli, const Args *args, Err *err)
{
    Status s = { .project = STR(""), .latest = STR(""), .staging_error = STR("") };
    Recovery recovery = { 0 };
    Err why;

    if (!sleep_home_of(cli, &s.home, err) ||
        (args_given(args, "project") && !sleep_project_of(cli, args, &s.project, err)) ||
        !adopt_recover(cli->arena, &s.home, &recovery, err) ||
        !state_load(cli->arena, s.home.state, &s.state, &s.note, err) ||
        !schedule_list(cli->arena, &s.home, &s.schedules, err))
        return false;
    tell_recovery(&recovery);
    if (s.note.n)
        log_warning("%.*s", STR_FMT(s.note));
    if (stage_latest(cli->arena, &s.home, &s.latest, &why) &&
        !night_load(cli->arena, &s.home, s.latest, &s.night, &why))
        s.staging_error = str_dup(cli->arena, str_of(why.text));
    if (cli->json)
        put_status(cli, &s);
    else
        return print_status(cli, &s, err);
    return true;
}

/* -- Adopt and undo -- */

static Selection selection_of(Cli *cli, const Args *args)
{
    Selection s = { .night = args_text(args, "staging"),
                    .all_skills = args_flag(args, "all-skills"),
                    .legacy = args_flag(args, "legacy") };
    const Option *option;
    size_t at = 0, cap = 0;
    Str *skills = NULL, text;

    while (args_each(args, &at, &option, &text))
        if (strcmp(option->name, "skill") == 0)
            ARENA_PUSH(cli->arena, skills, s.n_skills, cap, str_trim(text));
    s.skills = skills;
    return s;
}

/* Answers an ambiguous selection with the available names. */
static bool tell_choices(Cli *cli, const SleepHome *home, Str night, Err *err)
{
    AUTO_BUF line = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&line, 0);
    Manifest m = { 0 };
    Str folder;
    Err none;

    if (err->kind != ERR_USAGE || (!night.n && !night_proposed(cli->arena, home, &night, &none)) ||
        !stage_find(cli->arena, home, night, &folder, &none) ||
        !manifest_read(cli->arena, folder, &m, &none))
        return false;
    cli->told = true;
    if (cli->json) {
        json_begin(&w, '{');
        json_field_int(&w, "format", 1);
        json_field_bool(&w, "ok", false);
        json_field_str(&w, "error", str_of(err_name(err)));
        json_field_str(&w, "message", redact_text(cli->arena, str_of(err->text)));
        put_skill_rows(&w, "available_skills", &m);
        json_end(&w, '}');
        fprintf(stderr, "%s\n", line.p);
        return false;
    }
    log_error("%s", err->text);
    for (size_t i = 0; i < m.n; i++)
        log_error("  %s %.*s", m.items[i].kind == ITEM_SKILL ? "--skill" : "--legacy:",
                  STR_FMT(m.items[i].name));
    return false;
}

static void put_adopted(Cli *cli, const Adopted *done, const char *key, bool dry_run)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_bool(&w, "ok", true);
    json_field_bool(&w, "dry_run", dry_run);
    json_field_str(&w, "staging_dir", done->folder);
    json_field_str(&w, "mode", done->legacy ? STR("legacy") : STR("skills"));
    json_field_begin(&w, key, '[');
    for (size_t i = 0; i < done->receipts.n; i++)
        receipt_put(&w, &done->receipts.items[i]);
    json_end(&w, ']');
    json_field_begin(&w, "updated_paths", '[');
    for (size_t i = 0; i < done->receipts.n; i++)
        json_put_str(&w, done->receipts.items[i].live_path);
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

static const char *verb_of(const Receipt *r, bool dry_run)
{
    if (r->undo)
        return r->sha256_after.n ? (dry_run ? "would restore" : "restored")
                                 : (dry_run ? "would remove" : "removed");
    return r->sha256_before.n ? (dry_run ? "would update" : "updated")
                              : (dry_run ? "would create" : "created");
}

static void print_adopted(Cli *cli, const Adopted *done, bool dry_run)
{
    for (size_t i = 0; i < done->receipts.n; i++) {
        say(cli, "%s%s%s ", style(cli, STYLE_GREEN), verb_of(&done->receipts.items[i], dry_run),
            style(cli, STYLE_OFF));
        say_text(cli, done->receipts.items[i].live_path, false);
        say(cli, "\n");
    }
    if (done->receipts.n && !done->receipts.items[0].undo && !dry_run)
        say(cli, "%s'talaria sleep undo' reverts this%s\n", style(cli, STYLE_DIM),
            style(cli, STYLE_OFF));
}

static bool adopt_or_undo(Cli *cli, const Args *args, bool is_undo, Err *err)
{
    Selection selection = selection_of(cli, args);
    bool dry_run = args_flag(args, "dry-run");
    SleepHome home;
    Adopted done;

    if (!sleep_home_of(cli, &home, err))
        return false;
    if (!(is_undo ? undo : adopt)(cli->arena, &home, &selection, dry_run, &done, err))
        return !is_undo && tell_choices(cli, &home, selection.night, err);
    tell_recovery(&done.recovery);
    if (cli->json)
        put_adopted(cli, &done, is_undo ? "undone_skills" : "adopted_skills", dry_run);
    else
        print_adopted(cli, &done, dry_run);
    return true;
}

/* --json: {format, ok, dry_run, staging_dir, mode, adopted_skills, updated_paths}; a choice that is
 * not clear adds available_skills to the error. */
bool sleep_adopt(Cli *cli, const Args *args, Err *err)
{
    return adopt_or_undo(cli, args, false, err);
}

/* --json: as for adopt, with undone_skills. */
bool sleep_undo(Cli *cli, const Args *args, Err *err)
{
    return adopt_or_undo(cli, args, true, err);
}

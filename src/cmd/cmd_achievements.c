/* talaria achievements: list, scan, show, recent, reset, export. */
#include <unistd.h>

#include "achievements/lanes.h"
#include "achievements/run.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/table.h"
#include "text/human.h"
#include "text/utf8.h"

/* -- getting there -- */

static bool on_progress(void *ctx, size_t done, size_t total)
{
    (void)ctx;
    progress_show("sessions counted", done, total);
    return true;
}

/* Which sessions are counted: all, or those of one program. Hermes' own are counted as its plugin
 * does it, and kept in its files. */
static bool scan_options_of(Cli *cli, const Args *args, ScanOptions *ret, Err *err)
{
    Str source = args_text(args, "source");
    Homes *lanes = ARENA_NEW(cli->arena, Homes);
    const Homes *homes;
    Origin origin;

    cli->with_profiles = setting_bool(&cli->settings, SETTING_COUNT_PROFILES);
    if (!cli_homes(cli, &homes, err))
        return false;
    run_settings(ret, &cli->settings);
    ret->homes = lanes;
    if (str_eqz(source, "hermes")) {
        *lanes = lanes_plugin(cli->arena, homes);
        return true;
    }
    ret->all = true;
    if (origin_parse(source, &origin))
        ret->origin = 1 + (int)origin;
    return lanes_all(cli->arena, homes, lanes, err);
}

/* The answer of last time where nothing changed, else a scan. */
static Snapshot *answer(Cli *cli, const Args *args, bool scan, Err *err)
{
    Run run = { .scan = { .progress = on_progress }, .compat = args_flag(args, "compat") };
    Snapshot *s = NULL;

    if (!scan_options_of(cli, args, &run.scan, err))
        return NULL;
    if (!scan)
        s = run_known(&run.scan, run.compat);
    if (s)
        return s;
    run.scan.full = scan && args_flag(args, "full");
    s = run_scan(&run, err);
    progress_end();
    if (s && (s->meta.sessions_rescanned || scan))
        run_write_files(&run.scan, s);
    return s;
}

typedef Snapshot AutoSnapshot;
AUTO_FREE(AutoSnapshot, snapshot_free)

#define SOURCE_OPTION                                                                              \
    {                                                                                              \
        OPT_CHOICE(                                                                                \
            "source", "SOURCE",                                                                    \
            "count only the sessions of this program; hermes: as its own plugin counts them"),     \
            .choices = "hermes|claude|codex|talaria"                                               \
    }
#define COMPAT_OPTION                                                                              \
    {                                                                                              \
        OPT_FLAG("compat", "count as Hermes' plugin does: a badge is lost when its count falls")   \
    }

static const Option common_options[] = { SOURCE_OPTION, COMPAT_OPTION, { 0 } };

/* -- list -- */

static Style style_of_tier(int tier)
{
    static const Style styles[] = { STYLE_YELLOW, STYLE_DIM, STYLE_YELLOW, STYLE_CYAN,
                                    STYLE_MAGENTA };

    return tier < 0 ? STYLE_OFF : styles[tier];
}

static const char *tier_text(const Badge *b)
{
    return b->tier >= 0 ? catalogue()->tier_names[b->tier].p : b->unlocked ? "Done" : "-";
}

static Str bar(Arena *a, int percent)
{
    enum { CELLS = 8 };
    AUTO_BUF out = BUF(64);

    for (int i = 0; i < CELLS; i++)
        buf_addz(&out, percent * CELLS >= (i + 1) * 100 - 50 && percent ? "█" : "░");
    return str_dup(a, buf_str(&out));
}

static const TableColumn list_columns[] = {
    { .title = "TIER" },
    { .title = "BADGE" },
    { .title = "PROGRESS", .drop = 1, .only_terminal = true },
    { .title = "%", .right = true },
    { .title = "NEXT TIER", .style = STYLE_DIM, .min = 28 },
};

static void list_row(Cli *cli, Table *t, const Snapshot *s, size_t i)
{
    const Achievement *a = &catalogue()->all[i];
    const Badge *b = &s->items[i].badge;
    bool hidden = b->state == BADGE_SECRET;
    AUTO_BUF next = BUF(256);

    if (!hidden && b->next_tier >= 0)
        buf_addf(&next, "%.*s of %.*s to %s", STR_FMT(human_count(cli->arena, b->progress)),
                 STR_FMT(human_count(cli->arena, b->next_threshold)),
                 catalogue()->tier_names[b->next_tier].p);
    if (s->items[i].kept)
        buf_addf(&next, "%skept", next.n ? ", " : "");
    table_cell_style(t, str_of(tier_text(b)), style_of_tier(b->tier));
    table_cell(t, hidden ? STR("???") : a->name);
    table_cell(t, bar(cli->arena, b->progress_pct));
    table_cellf(t, "%d", b->progress_pct);
    table_cell(t, buf_str(&next));
}

/* "60 sessions (42 Claude Code, 18 Codex)" */
static Str counted(Cli *cli, const Snapshot *s)
{
    Str total = human_n(cli->arena, s->meta.sessions_total, "session");
    AUTO_BUF each = BUF(KIB(1));
    size_t n = 0;

    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        if (s->sources[i]) {
            buf_addf(&each, "%s%.*s %s", n++ ? ", " : "",
                     STR_FMT(human_count(cli->arena, s->sources[i])), origin_title((Origin)i));
        }
    return n ? str_printf(cli->arena, "%.*s (%.*s)", STR_FMT(total), STR_FMT(buf_str(&each)))
             : total;
}

/* A table a category, all of one shape; in a pipe the badges alone. */
static void print_list(Cli *cli, const Snapshot *s)
{
    const Catalogue *c = catalogue();
    AUTO(Table) *t = table_begin(cli, list_columns, ARRAY_LEN(list_columns));

    Str secrets = human_n(cli->arena, s->secret, "secret");

    if (cli_on_terminal(cli))
        say(cli, "%s%lld of %zu badges%s, %.*s left, %.*s\n\n", style(cli, STYLE_BOLD),
            (long long)s->unlocked, c->n, style(cli, STYLE_OFF), STR_FMT(secrets),
            STR_FMT(counted(cli, s)));
    else
        log_note("%lld of %zu badges, %.*s left, %.*s", (long long)s->unlocked, c->n,
                 STR_FMT(secrets), STR_FMT(counted(cli, s)));
    for (size_t i = 0; i < c->n; i++) {
        bool first = true;

        for (size_t k = 0; k < i; k++)
            first = first && !str_eq(c->all[k].category, c->all[i].category);
        if (!first)
            continue;
        table_heading(t, c->all[i].category);
        for (size_t k = i; k < c->n; k++)
            if (str_eq(c->all[k].category, c->all[i].category))
                list_row(cli, t, s, k);
    }
    table_end(t);
}

static void put_answer(JsonWriter *w, const Snapshot *s)
{
    json_key(w, "achievements");
    snapshot_put_items(w, s);
    json_field_begin(w, "counts", '{');
    json_field_int(w, "unlocked_count", s->unlocked);
    json_field_int(w, "discovered_count", s->discovered);
    json_field_int(w, "secret_count", s->secret);
    json_field_int(w, "total_count", (int64_t)catalogue()->n);
    json_end(w, '}');
    json_field_begin(w, "scan_meta", '{');
    json_field_str(w, "mode", str_of(scan_mode_name(s->meta.mode)));
    json_field_int(w, "sessions_total", s->meta.sessions_total);
    json_field_int(w, "sessions_rescanned", s->meta.sessions_rescanned);
    json_field_int(w, "sessions_reused", s->meta.sessions_reused);
    json_field_int(w, "sessions_scanned", s->meta.sessions_rescanned);
    json_field_int(w, "messages_scanned", s->meta.messages_scanned);
    json_field_int(w, "duration_ms", s->meta.duration_ms);
    json_field_int(w, "generated_at", s->generated_at);
    json_end(w, '}');
    if (s->source.all)
        snapshot_put_sources(w, s);
}

/* --json: {format, achievements, counts, scan_meta, sources}. */
static bool list(Cli *cli, const Args *args, Err *err)
{
    AUTO(AutoSnapshot) *s = answer(cli, args, false, err);
    JsonWriter w;

    if (!s)
        return false;
    if (!cli->json) {
        print_list(cli, s);
        return true;
    }
    w = cli_json_begin(cli);
    put_answer(&w, s);
    cli_json_end(cli, &w);
    return true;
}

/* -- scan -- */

static const Option scan_options[] = {
    { OPT_FLAG("full", "count every session again") },
    SOURCE_OPTION,
    COMPAT_OPTION,
    { 0 },
};

/* --json: {format, aggregate, sessions: [{session_id, ...metrics}], achievements, counts,
 *          scan_meta}. */
static bool scan(Cli *cli, const Args *args, Err *err)
{
    AUTO(AutoSnapshot) *s = answer(cli, args, true, err);
    JsonWriter w;

    if (!s)
        return false;
    if (!cli->json) {
        say(cli, "%.*s, %lld read now (%.*s) in %lld ms: %lld of %zu badges\n",
            STR_FMT(counted(cli, s)), (long long)s->meta.sessions_rescanned,
            STR_FMT(human_n(cli->arena, s->meta.messages_scanned, "message")),
            (long long)s->meta.duration_ms, (long long)s->unlocked, catalogue()->n);
        return true;
    }
    w = cli_json_begin(cli);
    json_key(&w, "aggregate");
    snapshot_put_totals(&w, s);
    json_key(&w, "sessions");
    snapshot_put_sessions(&w, s);
    put_answer(&w, s);
    cli_json_end(cli, &w);
    return true;
}

/* -- show -- */

static bool find_id(Str id, size_t *ret, Err *err)
{
    const Catalogue *c = catalogue();
    size_t best = 0, min = SIZE_MAX;

    for (size_t i = 0; i < c->n; i++) {
        size_t d = str_distance(id, c->all[i].id);

        if (d < min) {
            min = d;
            best = i;
        }
    }
    if (min != 0)
        return err_set(err, ERR_NOT_FOUND, "no achievement '%.*s'; did you mean '%.*s'?",
                       STR_FMT(id), STR_FMT(c->all[best].id));
    *ret = best;
    return true;
}

static void print_one(Cli *cli, const Snapshot *s, size_t i)
{
    const Achievement *a = &catalogue()->all[i];
    const SnapshotItem *item = &s->items[i];
    bool hidden = item->badge.state == BADGE_SECRET;

    say(cli, "%s%s%s\n", style(cli, STYLE_BOLD), hidden ? "???" : a->name.p, style(cli, STYLE_OFF));
    say(cli, "  %s\n  %.*s, %s\n",
        hidden ? "Not discovered yet. Keep going about your work." : a->description.p,
        STR_FMT(a->category), badge_state_name(item->badge.state));
    say(cli, "  %s %.*s %d %%", tier_text(&item->badge),
        STR_FMT(bar(cli->arena, item->badge.progress_pct)), item->badge.progress_pct);
    if (!hidden && item->badge.next_tier >= 0)
        say(cli, ", %.*s of %.*s to %s", STR_FMT(human_count(cli->arena, item->badge.progress)),
            STR_FMT(human_count(cli->arena, item->badge.next_threshold)),
            catalogue()->tier_names[item->badge.next_tier].p);
    say(cli, "\n");
    if (item->unlocked_at)
        say(cli, "  unlocked %.*s\n", STR_FMT(human_time(cli->arena, (double)item->unlocked_at)));
    if (item->evidence.known)
        say(cli, "  best session %.*s (%.*s)\n", STR_FMT(item->evidence.session_id),
            STR_FMT(human_count(cli->arena, item->evidence.value)));
}

/* --json: {format, achievement}. */
static bool show(Cli *cli, const Args *args, Err *err)
{
    AUTO(AutoSnapshot) *s = NULL;
    JsonWriter w;
    size_t i;

    if (!find_id(args_operand(args, 0), &i, err))
        return false;
    s = answer(cli, args, false, err);
    if (!s)
        return false;
    if (!cli->json) {
        print_one(cli, s, i);
        return true;
    }
    w = cli_json_begin(cli);
    json_key(&w, "achievement");
    snapshot_put_item(&w, s, i);
    cli_json_end(cli, &w);
    return true;
}

/* -- recent -- */

/* --json: {format, achievements}, newest first. */
static bool recent(Cli *cli, const Args *args, Err *err)
{
    AUTO(AutoSnapshot) *s = answer(cli, args, false, err);
    size_t order[MAX_ACHIEVEMENTS], n;
    JsonWriter w;

    if (!s)
        return false;
    n = snapshot_recent(s, order);
    if (!cli->json) {
        for (size_t i = 0; i < n; i++)
            say(cli, "%.*s  %-9s %.*s\n",
                STR_FMT(human_time(cli->arena, (double)s->items[order[i]].shown_at)),
                tier_text(&s->items[order[i]].badge), STR_FMT(catalogue()->all[order[i]].name));
        if (!n)
            say(cli, "No badges yet\n");
        return true;
    }
    w = cli_json_begin(cli);
    json_field_begin(&w, "achievements", '[');
    for (size_t i = 0; i < n; i++)
        snapshot_put_item(&w, s, order[i]);
    json_end(&w, ']');
    cli_json_end(cli, &w);
    return true;
}

/* -- reset -- */

static const Option reset_options[] = {
    { OPT_FLAG("dry-run", "print what would be deleted, change nothing") },
    { OPT_FLAG("yes", "delete every unlock") },
    SOURCE_OPTION,
    { 0 },
};

/* --json: {format, ok, dry_run}. */
static bool reset(Cli *cli, const Args *args, Err *err)
{
    bool dry = args_flag(args, "dry-run");
    ScanOptions scan = { 0 };
    StatePlace place;
    JsonWriter w;

    if (!scan_options_of(cli, args, &scan, err))
        return false;
    place = run_place(cli->arena, &scan);
    if (!place.folder.n)
        return err_set(err, ERR_NOT_FOUND, "nothing is recorded for this source alone");
    if (!dry && !args_flag(args, "yes"))
        return err_set(err, ERR_REFUSED,
                       "this forgets every unlock, also of badges that your history no longer "
                       "earns; add --yes to go ahead");
    if (!dry && !run_reset(&scan, err))
        return false;
    if (!cli->json) {
        say(cli, "%s every unlock recorded in %.*s\n", dry ? "Would forget" : "Forgot",
            STR_FMT(place.folder));
        return true;
    }
    w = cli_json_begin(cli);
    json_field_bool(&w, "ok", true);
    json_field_bool(&w, "dry_run", dry);
    cli_json_end(cli, &w);
    return true;
}

/* -- export -- */

static const Option export_options[] = {
    { OPT_CHOICE("format", "FORMAT", "output format"), .fallback = "md", .choices = "json|md" },
    SOURCE_OPTION,
    COMPAT_OPTION,
    { 0 },
};

static void export_markdown(Cli *cli, const Snapshot *s)
{
    const Catalogue *c = catalogue();

    say(cli, "# Achievements\n\n%lld of %zu badges over %.*s.\n\n", (long long)s->unlocked, c->n,
        STR_FMT(counted(cli, s)));
    say(cli, "| badge | tier | category | since |\n|---|---|---|---|\n");
    for (size_t i = 0; i < c->n; i++)
        if (s->items[i].badge.unlocked)
            say(cli, "| %.*s | %s | %.*s | %.*s |\n", STR_FMT(c->all[i].name),
                tier_text(&s->items[i].badge), STR_FMT(c->all[i].category),
                STR_FMT(human_time(cli->arena, (double)s->items[i].unlocked_at)));
}

static bool export_all(Cli *cli, const Args *args, Err *err)
{
    AUTO(AutoSnapshot) *s = NULL;

    if (str_eqz(args_text(args, "format"), "json")) {
        cli->json = true;
        return list(cli, args, err);
    }
    s = answer(cli, args, false, err);
    if (s)
        export_markdown(cli, s);
    return s != NULL;
}

/* -- rows -- */

static const Command children[] = {
    { .name = "list",
      .summary = "list every badge and its progress",
      .options = common_options,
      .run = list },
    { .name = "scan",
      .summary = "count new sessions",
      .options = scan_options,
      .acts = true,
      .run = scan },
    { .name = "show",
      .operands = "ID",
      .values = "badges",
      .summary = "show one badge, what counts for it and the session that earned it",
      .options = common_options,
      .run = show },
    { .name = "recent",
      .summary = "list the latest unlocks and new tiers",
      .options = common_options,
      .run = recent },
    { .name = "reset",
      .summary = "delete every unlock",
      .options = reset_options,
      .acts = true,
      .run = reset },
    { .name = "export",
      .summary = "write the badges as JSON or Markdown",
      .options = export_options,
      .run = export_all },
    { 0 },
};

static const Example examples[] = {
    { "talaria achievements list", "every badge, by category" },
    { "talaria achievements list --source claude", "what your Claude Code sessions alone earn" },
    { "talaria achievements show let_him_cook", "one badge and the session that earned it" },
    { "talaria achievements scan --full --json", "count everything again, for a program" },
    { 0 },
};

const Command cmd_achievements = { .name = "achievements",
                                   .summary = "badges from your whole history",
                                   .examples = examples,
                                   .children = children };

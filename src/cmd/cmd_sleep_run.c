/* talaria sleep run, dry-run, worth. */
#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd_sleep.h"
#include "sleep/adoption/adopt.h"
#include "sleep/night/night.h"
#include "sleep/trial/backends.h"
#include "text/human.h"

/* -- Options -- */

static bool read_real(const Args *args, const char *option, double low, double high, double *ret,
                      Err *err)
{
    const char *text = args_z(args, option);
    char *end;
    double value;

    if (!text)
        return true;
    value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high))
        return err_set(err, ERR_USAGE, "--%s '%s': a number from %g to %g", option, text, low,
                       high);
    *ret = value;
    return true;
}

static int64_t number_or(const Args *args, const char *option, int64_t otherwise)
{
    return args_given(args, option) ? args_number(args, option) : otherwise;
}

static bool read_options(Cli *cli, const Args *args, NightOptions *o, Err *err)
{
    Str metric = args_text(args, "gate-metric"), objective = args_text(args, "objective"), text;
    const Option *option;
    size_t at = 0;

    if (!night_options(cli->arena, &cli->settings, o, err))
        return false;
    while (args_each(args, &at, &option, &text))
        if (strcmp(option->name, "skill-root") == 0)
            LIST_PUSH(cli->arena, &o->skill_roots, text);
    o->tasks_file = args_z(args, "tasks-file");
    o->max_tasks = (size_t)number_or(args, "max-tasks", (int64_t)o->max_tasks);
    o->dream_factor = number_or(args, "dream-factor", o->dream_factor);
    o->recall_k = number_or(args, "recall", o->recall_k);
    o->auto_adopt = args_flag(args, "auto-adopt");
    o->evidence &= !args_flag(args, "no-evidence");
    o->model_miner &= !args_flag(args, "no-miner");
    o->rules.edit_budget = number_or(args, "edit-budget", o->rules.edit_budget);
    o->rules.rollouts = number_or(args, "rollouts", o->rules.rollouts);
    if (args_text(args, "preferences").p)
        o->rules.preferences = args_text(args, "preferences");
    o->rules.evolve_memory &= !args_flag(args, "no-memory");
    o->split.seed = number_or(args, "seed", o->split.seed);
    o->budget.max_tokens = number_or(args, "max-tokens", o->budget.max_tokens);
    o->budget.max_calls = number_or(args, "max-calls", o->budget.max_calls);
    if (metric.p && !score_metric_parse(metric, &o->rules.score.metric))
        return err_set(err, ERR_USAGE, "--gate-metric '%.*s'", STR_FMT(metric));
    if (objective.p && !objective_parse(cli->arena, objective, &o->rules.objective))
        return err_set(err, ERR_USAGE,
                       "--objective: three weights, 'accuracy,tokens,latency', such as '1,0.2,0'");
    o->target = args_text(args, "target");
    return read_real(args, "max-usd", 0, 1e6, &o->budget.max_usd, err) &&
           read_real(args, "max-minutes", 0, 1e6, &o->budget.max_minutes, err) &&
           read_real(args, "val-fraction", 0, 1, &o->split.val, err) &&
           read_real(args, "test-fraction", 0, 1, &o->split.test, err) &&
           night_options_check(o, err) && sleep_sources(cli, args, &o->harvest, err) &&
           (o->target.n || !o->tasks_file ||
            night_tasks_target(cli->arena, o->tasks_file, &o->target, err));
}

/* -- Who answers -- */

static bool find_answerer(Cli *cli, const Args *args, Answerer *ret, Err *err)
{
    AnswererOptions answerer = { .kind = args_text(args, "backend"),
                                 .model = args_text(args, "model") };
    SleepHome home;

    return sleep_home_of(cli, &home, err) &&
           answerer_open(cli->arena, &home, &cli->settings, &answerer, ret, err);
}

/* -- Printing -- */

#define DONE(member, ...)     RECORD_FIELD(NightDone, report.report.member, __VA_ARGS__)
#define DONE_LIST(member, of) RECORD_LIST(NightDone, report.report.member, &of, .key = #member)
static const RecordField done_fields[] = {
    DONE(night, .key = "night"),
    DONE(accepted, .key = "accepted"),
    DONE(gate_action, .key = "gate_action"),
    DONE(no_edits_reason, .key = "no_edits_reason"),
    DONE(baseline_score, .key = "baseline"),
    DONE(candidate_score, .key = "candidate"),
    DONE(n_tasks, .key = "n_tasks"),
    DONE(n_sessions, .key = "n_sessions"),
    DONE(edits.n, .key = "n_accepted_edits"),
    DONE(rejected_edits.n, .key = "n_rejected_edits"),
    DONE_LIST(edits, edit_record),
    DONE_LIST(rejected_edits, edit_record),
    DONE(gate_no_regression, .key = "gate_no_regression"),
    DONE_LIST(gate_trials, gate_trial_record),
    DONE_LIST(skill_groups, skill_group_record),
    DONE(notes, .key = "notes"),
    RECORD_FIELD(NightDone, folder, .key = "staging_dir"),
    RECORD_FIELD(NightDone, staged_skills),
    RECORD_FIELD(NightDone, adopted),
    RECORD_FIELD(NightDone, resumed),
    RECORD_FIELD(NightDone, report.n_calls, .key = "calls"),
    DONE(tokens_used, .key = "tokens"),
};
static const RecordTable done_record = RECORD(NightDone, "night", done_fields);

static void print_json(Cli *cli, const Args *args, const NightDone *done)
{
    JsonWriter w = cli_json_begin(cli);

    record_put_fields(&w, &done_record, done);
    if (args_z(args, "tasks-file")) {
        json_field_str(&w, "tasks_file", args_text(args, "tasks-file"));
        json_field_bool(&w, "tasks_reviewed", done->tasks_reviewed);
    }
    cli_json_end(cli, &w);
}

static void print_edits(Cli *cli, const SleepReport *s)
{
    for (size_t i = 0; i < s->edits.n; i++) {
        say(cli, "  %s+%s ", style(cli, STYLE_GREEN), style(cli, STYLE_OFF));
        say_text(cli, s->edits.items[i].content, false);
        say(cli, "\n");
    }
    for (size_t i = 0; i < s->rejected_edits.n; i++) {
        say(cli, "  %sx%s ", style(cli, STYLE_RED), style(cli, STYLE_OFF));
        say_text(cli, s->rejected_edits.items[i].content, false);
        say(cli, "%s (", style(cli, STYLE_DIM));
        say_text(cli, s->rejected_edits.items[i].rationale, false);
        say(cli, ")%s\n", style(cli, STYLE_OFF));
    }
}

static void print_people(Cli *cli, const NightDone *done)
{
    const SleepReport *s = &done->report.report;

    say(cli, "Night %lld: %lld task%s from %lld session%s\n", (long long)s->night,
        (long long)s->n_tasks, s->n_tasks == 1 ? "" : "s", (long long)s->n_sessions,
        s->n_sessions == 1 ? "" : "s");
    if (s->n_tasks)
        say(cli, "Validation score: %.1f -> %s%.1f%s of 100%s\n", 100 * s->baseline_score,
            style(cli, s->accepted ? STYLE_GREEN : STYLE_OFF), 100 * s->candidate_score,
            style(cli, STYLE_OFF),
            report_simulated(&done->report) ? " (simulated: no model answered)" : "");
    print_edits(cli, s);
    say(cli, "%.*s\n", STR_FMT(report_verdict(s)));
    for (size_t i = 0; i < s->notes.n; i++) {
        say(cli, "%snote:%s ", style(cli, STYLE_DIM), style(cli, STYLE_OFF));
        say_text(cli, s->notes.items[i], false);
        say(cli, "\n");
    }
    for (size_t i = 0; i < done->staged_skills.n; i++) {
        say(cli, "%s: ", done->adopted ? "Adopted" : "Staged");
        say_text(cli, done->staged_skills.items[i], false);
        say(cli, "\n");
    }
    if (done->staged_skills.n && !done->adopted)
        say(cli,
            "\n'talaria sleep review' shows the proposal, 'talaria sleep adopt' applies it.\n");
}

/* -- A night -- */

/* A night that waits for answers has not failed, but has no result either. */
static bool tell_pending(Cli *cli, Answerer *who, Err *err)
{
    size_t pending = 0;
    Str folder;

    if (!handoff_flush(who->handoff, &pending, &folder, err))
        return false;
    if (cli->json) {
        JsonWriter w = cli_json_begin(cli);

        json_field_int(&w, "handoff_pending", (int64_t)pending);
        json_field_str(&w, "prompts", str_join_path(cli->arena, folder, STR("PROMPTS.md")));
        json_field_str(&w, "answers_dir", str_join_path(cli->arena, folder, STR("answers")));
        cli_json_end(cli, &w);
    }
    return err_set(
        err, ERR_NOT_FOUND,
        "waiting for %zu answers: see '%.*s/PROMPTS.md', then run the same command again", pending,
        STR_FMT(folder));
}

/* Only the managed skill: the others are for the user to adopt. */
static bool adopt_at_once(Cli *cli, NightDone *done, Err *err)
{
    SleepHome home;
    Adopted adopted;

    if (!done->has_managed)
        return true;
    done->adopted = sleep_home_of(cli, &home, err) &&
                    adopt_managed(cli->arena, &home, done->staging, &adopted, err);
    return done->adopted;
}

/* Adopts the last night if it was interrupted before it could. A failure does not stop tonight. */
static bool adopt_what_was_left(Cli *cli, Err *err)
{
    Adopted adopted;
    SleepHome home;
    bool done;

    if (!sleep_home_of(cli, &home, err))
        return false;
    if (!adopt_left_over(cli->arena, &home, &adopted, &done, err))
        log_warning("cannot adopt the last night: %s", err->text);
    else if (done)
        log_note("adopted the proposal of interrupted night '%.*s'", STR_FMT(adopted.night));
    return true;
}

static bool one_night(Cli *cli, const Args *args, const NightOptions *options, Answerer *who,
                      Err *err)
{
    NightDone done;

    if (!options->dry_run && !adopt_what_was_left(cli, err))
        return false;
    if (!night_run(cli->arena, options, who->backend, &done, err)) {
        if (who->handoff && err->kind == ERR_NOT_FOUND)
            return tell_pending(cli, who, err);
        return false;
    }
    if (who->handoff && !options->dry_run &&
        !handoff_archive(who->handoff, done.report.report.night, err))
        return false;
    if (options->auto_adopt && !options->dry_run && !adopt_at_once(cli, &done, err))
        return false;
    if (cli->json)
        print_json(cli, args, &done);
    else
        print_people(cli, &done);
    if (!cli->json && options->dry_run)
        say(cli, "Dry run: nothing staged, nothing saved.\n");
    return true;
}

static bool sleep_once(Cli *cli, const Args *args, bool dry_run, Err *err)
{
    AUTO_ANSWERER who = { 0 };
    NightOptions options;
    bool ok = read_options(cli, args, &options, err) && find_answerer(cli, args, &who, err) &&
              answerer_can_count(&who, &options.budget, err);

    if (ok && options.auto_adopt && !options.rules.gate)
        return err_set(err, ERR_USAGE,
                       "--auto-adopt needs validation, but 'sleep.gate_mode' is off");
    options.dry_run = dry_run;
    return ok && one_night(cli, args, &options, &who, err);
}

/* --json: {format, night, accepted, gate_action, no_edits_reason, baseline, candidate, n_tasks,
 * n_sessions, n_accepted_edits, n_rejected_edits, edits, rejected_edits, gate_no_regression,
 * gate_trials, skill_groups, notes, staging_dir, staged_skills, adopted, resumed, calls, tokens [,
 * tasks_file, tasks_reviewed]} */
bool sleep_run(Cli *cli, const Args *args, Err *err)
{
    return sleep_once(cli, args, false, err);
}

bool sleep_dry_run(Cli *cli, const Args *args, Err *err)
{
    return sleep_once(cli, args, true, err);
}

/* -- Worth -- */

static void print_worth(Cli *cli, const NightWorth *w, bool simulated)
{
    const NightPlan *p = &w->plan;

    say(cli,
        "%s of your sessions contain%s %s, %s of them repeated; %s can be checked "
        "automatically\n",
        human_count(cli->arena, (int64_t)p->n_sessions).p, p->n_sessions == 1 ? "s" : "",
        human_n(cli->arena, (int64_t)p->tasks.n, "task").p,
        human_count(cli->arena, (int64_t)p->recurring).p,
        human_count(cli->arena, (int64_t)p->checkable).p);
    say(cli, "Automated sessions and single questions do not count\n");
    say(cli, "A night would train on %zu and validate on %zu\n", p->train, p->val);
    if (simulated)
        say(cli, "Cost: none (simulated, no model calls)");
    else
        say(cli, "Cost: at most %s calls, about %s tokens", human_count(cli->arena, w->max_calls).p,
            human_short(cli->arena, w->max_tokens).p);
    if (w->max_usd >= 0 && !simulated)
        say(cli, ", %s", human_cost(cli->arena, w->max_usd).p);
    say(cli, "\n%s%.*s%s\n", style(cli, STYLE_BOLD), STR_FMT(w->text), style(cli, STYLE_OFF));
}

/* --json: {format, sessions, tasks, recurring, checkable, train, val, test, max_calls, max_tokens,
 * max_cost_usd, detectable_effect, budget_plan: {nights, rollouts}, verdict, text} */
bool sleep_worth(Cli *cli, const Args *args, Err *err)
{
    AUTO_ANSWERER who = { 0 };
    NightOptions options;
    NightWorth worth;
    bool ok = read_options(cli, args, &options, err) && find_answerer(cli, args, &who, err) &&
              night_worth(cli->arena, &options, who.backend, who.usd_per_token, &worth, err);

    if (!ok)
        return false;
    if (cli->json) {
        JsonWriter w = cli_json_begin(cli);

        night_worth_put(&w, &worth);
        cli_json_end(cli, &w);
    } else {
        print_worth(cli, &worth, !who.backend->call);
    }
    return true;
}

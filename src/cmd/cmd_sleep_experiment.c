/* talaria sleep experiment. */
#include <math.h>

#include "base/clock.h"
#include "cmd/cmd_sleep.h"
#include "sleep/night/experiment.h"
#include "sleep/trial/backend_mock.h"

enum { BAR = 24 };

const Option sleep_experiment_options[] = {
    { OPT_CHOICE("persona", "NAME", "only this persona"), .choices = "researcher|programmer" },
    { OPT_NUMBER("nights", "N", "maximum nights"), .fallback = "3" },
    { OPT_NUMBER("edit-budget", "N", "maximum new rules per night"), .fallback = "4" },
    { 0 },
};

const Example sleep_experiment_examples[] = {
    { "talaria sleep experiment", "both personas" },
    { "talaria sleep experiment --persona researcher --edit-budget 1",
      "two rules that help only together, one proposed per night" },
    { "talaria sleep experiment --json", "machine-readable output" },
    { 0 },
};

/* -- For people -- */

static void say_bar(Cli *cli, double score)
{
    int full = (int)lround(score * BAR);

    say(cli, "%s", style(cli, score >= 1 ? STYLE_GREEN : STYLE_YELLOW));
    for (int i = 0; i < BAR; i++)
        say(cli, "%s", i < full ? "█" : "░");
    say(cli, "%s %5.1f", style(cli, STYLE_OFF), 100 * score);
}

static void say_rule(Cli *cli, const char *mark, Style colour, Str key, double share)
{
    Str sentence = mock_rule(key);

    say(cli, "             %s%s%s %.*s", style(cli, colour), mark, style(cli, STYLE_OFF),
        STR_FMT(sentence));
    if (share > 0)
        say(cli, " %s(%.0f %% of the gain)%s", style(cli, STYLE_DIM), 100 * share,
            style(cli, STYLE_OFF));
    say(cli, "\n");
}

static void say_night(Cli *cli, const ExperimentNight *night)
{
    if (night->night)
        say(cli, "  night %lld    ", (long long)night->night);
    else
        say(cli, "  before     ");
    say_bar(cli, night->score);
    if (night->night)
        say(cli, "  %s%s%s", style(cli, night->accepted ? STYLE_GREEN : STYLE_DIM),
            night->accepted ? "accepted" : "not accepted", style(cli, STYLE_OFF));
    say(cli, "\n");
    for (size_t i = 0; i < night->edits.n; i++)
        say_rule(cli, "+", STYLE_GREEN, night->edits.items[i],
                 i < night->attribution.n ? night->attribution.items[i].share : 0);
    for (size_t i = 0; i < night->pending.n; i++)
        say_rule(cli, "~ waits:", STYLE_YELLOW, night->pending.items[i], 0);
}

static void say_experiment(Cli *cli, const Experiment *x)
{
    say(cli, "%s%.*s%s: %zu tasks, %zu held out for validation\n", style(cli, STYLE_BOLD),
        STR_FMT(x->persona), style(cli, STYLE_OFF), x->n_tasks, x->n_val);
    for (size_t i = 0; i < x->nights.n; i++)
        say_night(cli, &x->nights.items[i]);
    say(cli, "  harmful    %s%s%s: \"%.*s\"\n",
        style(cli, x->harmful_blocked ? STYLE_GREEN : STYLE_RED),
        x->harmful_blocked ? "blocked" : "LET THROUGH", style(cli, STYLE_OFF),
        STR_FMT(x->harmful_rule));
    if (x->harmful_blocked)
        say(cli, "             it would have lowered the score from %.1f to %.1f\n",
            100 * x->harmful_before, 100 * x->harmful_after);
}

/* -- For programs -- */

static double rounded(double score)
{
    return round(score * 1e4) / 1e4;
}

static void put_night(JsonWriter *w, const ExperimentNight *night)
{
    json_begin(w, '{');
    json_field_int(w, "night", night->night);
    json_field_double(w, "holdout_score", rounded(night->score));
    json_field_str(w, "action", night->action);
    if (night->night)
        json_field_bool(w, "accepted", night->accepted);
    json_field_int(w, "n_edits", (int64_t)night->edits.n);
    if (night->night) {
        json_key(w, "edits");
        strs_put(w, &night->edits);
        json_field_int(w, "n_rejected", (int64_t)night->rejected);
        json_key(w, "pending");
        strs_put(w, &night->pending);
        json_key(w, "attribution");
        record_put_list(w, &attribution_record, &night->attribution);
    }
    json_end(w, '}');
}

static void put_experiment(JsonWriter *w, const Experiment *x)
{
    json_field_str(w, "persona", x->persona);
    json_field_str(w, "backend", STR("mock"));
    json_field_str(w, "model", STR("(default)"));
    json_field_int(w, "n_tasks", (int64_t)x->n_tasks);
    json_field_int(w, "nights_run", (int64_t)x->nights.n - 1);
    json_field_double(w, "baseline_holdout", rounded(x->before));
    json_field_double(w, "after_holdout", rounded(x->after));
    json_field_double(w, "lift", rounded(x->after - x->before));
    json_field_bool(w, "improved", x->after > x->before);
    json_field_bool(w, "gate_blocks_harmful", x->harmful_blocked);
    json_field_double(w, "harmful_holdout", rounded(x->harmful_after));
    json_field_str(w, "harmful_reason", x->harmful_why.n ? x->harmful_why : STR(""));
    json_field_int(w, "tokens_used", x->tokens);
    json_field_begin(w, "trace", '[');
    for (size_t i = 0; i < x->nights.n; i++)
        put_night(w, &x->nights.items[i]);
    json_end(w, ']');
    json_field_str(w, "skill", x->skill);
}

/* -- The command -- */

static const Str both[] = { STR_INIT("researcher"), STR_INIT("programmer") };

/* --json: of one persona {format, persona, backend, model, n_tasks, nights_run, baseline_holdout,
 * after_holdout, lift, improved, gate_blocks_harmful, harmful_holdout, harmful_reason, tokens_used,
 * trace: [...], skill}; of both {format, experiments: [...]}. */
static void put_json(Cli *cli, const Experiment *all, size_t n)
{
    JsonWriter w = cli_json_begin(cli);

    if (n == 1) {
        put_experiment(&w, &all[0]);
        cli_json_end(cli, &w);
        return;
    }
    json_field_begin(&w, "experiments", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        put_experiment(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

bool sleep_experiment(Cli *cli, const Args *args, Err *err)
{
    Str given = args_text(args, "persona");
    int64_t nights = args_number(args, "nights"), budget = args_number(args, "edit-budget");
    int64_t start = clock_mono_ns();
    Experiment all[ARRAY_LEN(both)];
    size_t n = 0;

    if (nights < 1 || nights > 1000)
        return err_set(err, ERR_USAGE, "--nights must be between 1 and 1000");
    if (budget < 1)
        return err_set(err, ERR_USAGE, "--edit-budget must be 1 or more");
    for (size_t i = 0; i < ARRAY_LEN(both); i++)
        if (!given.p || str_eq(given, both[i])) {
            if (!experiment_run(cli->arena, both[i], nights, budget, &all[n], err))
                return false;
            n++;
        }
    if (cli->json) {
        put_json(cli, all, n);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        say_experiment(cli, &all[i]);
    say(cli, "%sSimulated in %.1f ms: no model calls, no files written%s\n", style(cli, STYLE_DIM),
        (double)(clock_mono_ns() - start) / 1e6, style(cli, STYLE_OFF));
    return true;
}

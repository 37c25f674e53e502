/* talaria sleep: the table of its commands. */
#include "cmd/cmd_sleep.h"

#include "cmd/commands.h"

static const Option run_options[] = { SLEEP_RUN_OPTIONS, { 0 } };

static const Option harvest_options[] = {
    SLEEP_SOURCE_OPTIONS,
    { OPT_TIME("since", "TIME", "only sessions active after TIME") },
    { OPT_NUMBER("max-sessions", "N", "only the newest N sessions; 0 = all"), .fallback = "0" },
    { OPT_TEXT("output", "FILE", "write the tasks to FILE for review") },
    { 0 },
};

static const Example harvest_examples[] = {
    { "talaria sleep harvest", "tasks that recur in your sessions" },
    { "talaria sleep harvest --scope invoked", "only in the current project" },
    { "talaria sleep harvest --output tasks.json",
      "write the tasks to a file, to review before a night" },
    { 0 },
};

static const Example run_examples[] = {
    { "talaria sleep run --backend mock", "simulate a night, without a model" },
    { "talaria sleep run --backend model --max-usd 2",
      "use the configured model, spend at most two dollars" },
    { "talaria sleep run --backend handoff",
      "write questions to files, read the answers from files" },
    { 0 },
};

static const Command children[] = {
    { .name = "run",
      .summary = "run one learning pass and stage its proposals for review",
      .details =
          "A night is one run of sleep. It finds tasks that recur in your sessions, tries rules "
          "that "
          "would have answered them better, and stages the rules that improve the validation "
          "score. Skills and memory files change only when you run 'talaria sleep adopt'. An "
          "interrupted night resumes where it stopped; no answer is paid for twice.",
      .options = run_options,
      .examples = run_examples,
      .acts = true,
      .run = sleep_run },
    { .name = "dry-run",
      .summary = "run a learning pass without staging or saving anything",
      .options = run_options,
      .run = sleep_dry_run },
    { .name = "harvest",
      .summary = "show the tasks a night would learn from",
      .options = harvest_options,
      .examples = harvest_examples,
      .run = sleep_harvest_command },
    { .name = "worth",
      .summary = "estimate what a night would cost and could learn",
      .options = run_options,
      .run = sleep_worth },
    { .name = "status",
      .summary = "show nights, staged and adopted proposals, schedules",
      .options = sleep_status_options,
      .run = sleep_status },
    { .name = "review",
      .operands = "[NIGHT]",
      .summary = "show what a night proposes: diff, edits, scores, answers",
      .details = "Default: the newest night with a proposal, which is the one that "
                 "'talaria sleep adopt' adopts. 'talaria sleep status' shows the last night.",
      .options = sleep_review_options,
      .run = sleep_review },
    { .name = "adopt",
      .summary = "apply a night's proposals to your skills",
      .details = "A file that changed since the night is not touched. Either every selected "
                 "proposal is applied or none is; 'talaria sleep undo' reverts.",
      .options = sleep_adopt_options,
      .examples = sleep_adopt_examples,
      .acts = true,
      .run = sleep_adopt },
    { .name = "undo",
      .summary = "revert the last adoption",
      .details = "Restores a file only if it is unchanged since it was adopted; later edits "
                 "are kept.",
      .options = sleep_undo_options,
      .acts = true,
      .run = sleep_undo },
    { .name = "reject",
      .operands = "[NIGHT]",
      .summary = "reject a proposal; its edits are not proposed again",
      .options = sleep_reject_options,
      .acts = true,
      .run = sleep_reject },
    { .name = "schedule",
      .summary = "run 'sleep run' every night (systemd timer or cron)",
      .details = "Keeps all flags of 'talaria sleep run'. A missed night runs at the next "
                 "opportunity. API keys are not stored: a scheduled night reads them from "
                 "the configuration.",
      .options = sleep_schedule_options,
      .examples = sleep_schedule_examples,
      .draws = true,
      .acts = true,
      .run = sleep_schedule },
    { .name = "unschedule",
      .summary = "stop the nightly runs of a project",
      .options = sleep_unschedule_options,
      .acts = true,
      .run = sleep_unschedule },
    { .name = "experiment",
      .summary = "demonstrate learning on made-up tasks, without a model",
      .details =
          "Two made-up users have tasks that fail until a skill states the rules they share. "
          "Simulated nights must find the rules, and validation must block a harmful one. "
          "Reads and writes no files.",
      .options = sleep_experiment_options,
      .examples = sleep_experiment_examples,
      .run = sleep_experiment },
    { 0 },
};

static const Example examples[] = {
    { "talaria sleep worth", "check whether there is anything to learn, and the cost" },
    { "talaria sleep run --backend mock", "simulate a night, without a model" },
    { "talaria sleep review", "show what it proposes" },
    { 0 },
};

const Command cmd_sleep = { .name = "sleep",
                            .summary = "turn corrections you keep repeating into tested skills",
                            .examples = examples,
                            .children = children };

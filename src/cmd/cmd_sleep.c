/* talaria sleep: the table of its commands; each is in a file of its own. */
#include "cmd/cmd_sleep.h"

#include "cmd/cmd_sleep_adopt.h"
#include "cmd/cmd_sleep_run_options.h"
#include "cmd/commands.h"

static const Option run_options[] = { SLEEP_RUN_OPTIONS, { 0 } };

static const Option harvest_options[] = {
    SLEEP_SOURCE_OPTIONS,
    { .kind = OPTION_TIME,
      .name = "since",
      .metavar = "TIME",
      .help = "sessions that went on after this" },
    { .kind = OPTION_NUMBER,
      .name = "max-sessions",
      .metavar = "N",
      .help = "the newest so many; 0 = all",
      .fallback = "0" },
    { .kind = OPTION_TEXT,
      .name = "output",
      .metavar = "FILE",
      .help = "write the tasks there, to be reviewed" },
    { 0 },
};

static const Example harvest_examples[] = {
    { "talaria sleep harvest", "what comes back in all that people asked" },
    { "talaria sleep harvest --scope invoked", "in this project alone" },
    { "talaria sleep harvest --output tasks.json", "tasks to look through before a night" },
    { 0 },
};

static const Example run_examples[] = {
    { "talaria sleep run --backend mock", "a whole night without a model" },
    { "talaria sleep run --backend model --max-usd 2",
      "with the configured model, for two dollars" },
    { "talaria sleep run --backend handoff", "questions to files, answers from files" },
    { 0 },
};

static const Command children[] = {
    { .name = "run",
      .summary = "one night: harvest, mine, replay, consolidate, stage",
      .details =
          "Nothing live is changed: what is learned is staged, to be reviewed and adopted. A "
          "night that was interrupted goes on where it was, and no answer is paid for twice.",
      .options = run_options,
      .examples = run_examples,
      .run = sleep_run },
    { .name = "dry-run",
      .summary = "the same, and nothing is staged or remembered",
      .options = run_options,
      .run = sleep_dry_run },
    { .name = "harvest",
      .summary = "show what a night would learn from",
      .options = harvest_options,
      .examples = harvest_examples,
      .run = sleep_harvest_command },
    { .name = "worth",
      .summary = "what a night would cost at most, and what it could find out",
      .options = run_options,
      .run = sleep_worth },
    SLEEP_ADOPT_ROWS,
    { .name = "experiment",
      .summary = "prove on invented tasks that learning works, without a model",
      .details = "Two invented personas have tasks that fail until a skill states the rules they "
                 "share. Nights of the backend without a model have to find the rules, and the "
                 "gate has to block a harmful one. Nothing is read or written.",
      .options = sleep_experiment_options,
      .examples = sleep_experiment_examples,
      .run = sleep_experiment },
    { 0 },
};

static const Example examples[] = {
    { "talaria sleep worth", "is there anything to learn, and what would it cost?" },
    { "talaria sleep run --backend mock", "a whole night without a model" },
    { "talaria sleep review", "what it proposes" },
    { 0 },
};

const Command cmd_sleep = { .name = "sleep",
                            .summary = "learn skills overnight from past sessions, with proof",
                            .examples = examples,
                            .children = children };

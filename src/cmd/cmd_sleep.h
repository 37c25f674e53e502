/* cmd_sleep.h - what the files of `talaria sleep` share: the subcommands and the options of a
 * night. */
#ifndef TALARIA_CMD_SLEEP_H
#define TALARIA_CMD_SLEEP_H

#include "cmd/cli.h"
#include "sleep/mining/harvest.h"
#include "sleep/task/places.h"

extern const Option sleep_status_options[], sleep_review_options[], sleep_adopt_options[],
    sleep_undo_options[], sleep_reject_options[], sleep_schedule_options[],
    sleep_unschedule_options[], sleep_experiment_options[];
extern const Example sleep_adopt_examples[], sleep_schedule_examples[], sleep_experiment_examples[];

MUST_CHECK bool sleep_run(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_dry_run(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_worth(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_harvest_command(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_experiment(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_status(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_review(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_adopt(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_undo(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_reject(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_schedule(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_unschedule(Cli *cli, const Args *args, Err *err);
/* For 'setup': schedules a plain night of the current folder every day at that time, and says
 * so. */
MUST_CHECK bool sleep_schedule_here(Cli *cli, int hour, int minute, Err *err);

/* Sources, scope and window, as every command of a night takes them. */
MUST_CHECK bool sleep_sources(Cli *cli, const Args *args, HarvestQuery *ret, Err *err);
MUST_CHECK bool sleep_home_of(Cli *cli, SleepHome *ret, Err *err);
/* --project, else the working directory; absolute, and canonical if it exists. */
MUST_CHECK bool sleep_project_of(Cli *cli, const Args *args, Str *ret, Err *err);

/* -- Options of a night --
 *
 * `sleep run`, `dry-run` and `worth` take them, and `sleep schedule` stores them for later nights,
 * so no command can miss an option that another one knows. */

#define SLEEP_PROJECT_OPTION                                                                       \
    {                                                                                              \
        OPT_FOLDER("project", "DIR",                                                               \
                   "only sessions of this project; its CLAUDE.md may be updated too")              \
    }

#define SLEEP_SOURCE_OPTIONS                                                                       \
    SLEEP_PROJECT_OPTION,                                                                          \
        { OPT_CHOICE("scope", "SCOPE", "all projects, or the current folder's (default: all)"),    \
          .choices = "all|invoked" },                                                              \
        { OPT_CHOICE("source", "SOURCE", "agent whose sessions to learn from (default: all)"),     \
          .choices = "all|hermes|claude|codex" },                                                  \
    {                                                                                              \
        OPT_NUMBER("max-tasks", "N", "tasks per night, most useful first")                         \
    }

#define SLEEP_RUN_OPTIONS                                                                          \
    SLEEP_SOURCE_OPTIONS,                                                                          \
        { OPT_FOLDER("skill-root", "DIR", "additional skills folder; repeatable") },               \
        { OPT_CHOICE(                                                                              \
              "backend", "B",                                                                      \
              "mock: simulated answers, free; model: your model; handoff: answers from files"),    \
          .choices = "mock|model|handoff" },                                                       \
        { OPT_TEXT("model", "NAME", "use this model instead of the configured one") },             \
        { OPT_TEXT("target", "PATH", "write every learned rule into this SKILL.md") },             \
        { OPT_TEXT("tasks-file", "FILE", "use reviewed tasks from FILE instead of a harvest") },   \
        { OPT_NUMBER("edit-budget", "N", "maximum edits per proposal") },                          \
        { OPT_NUMBER("rollouts", "N", "attempts per training task") },                             \
        { OPT_NUMBER("dream-factor", "N", "variants per training task") },                         \
        { OPT_NUMBER("recall", "N", "tasks from earlier nights to include again") },               \
        { OPT_NUMBER("max-tokens", "N", "stop after N tokens") },                                  \
        { OPT_NUMBER("max-calls", "N", "stop after N model calls") },                              \
        { OPT_TEXT("max-minutes", "N", "stop after N minutes") },                                  \
        { OPT_TEXT("max-usd", "X", "stop after X US dollars") },                                   \
        { OPT_CHOICE("gate-metric", "M",                                                           \
                     "score that decides: all checks passed, share of checks, or both"),           \
          .choices = "mixed|hard|soft" },                                                          \
        { OPT_TEXT("val-fraction", "X", "share of tasks held out for validation (0.34)") },        \
        { OPT_TEXT("test-fraction", "X", "share of tasks held out for the final test (0)") },      \
        { OPT_NUMBER("seed", "N", "random seed of the split (42)") },                              \
        { OPT_TEXT("objective", "A,T,L", "weights of accuracy, tokens and latency (1,0,0)") },     \
        { OPT_TEXT("preferences", "TEXT",                                                          \
                   "your preferences, passed to the model that proposes rules") },                 \
        { OPT_FLAG("no-memory", "don't propose changes to the project's CLAUDE.md") },             \
        { OPT_FLAG("no-miner", "don't ask the model to describe tasks") },                         \
        { OPT_FLAG("no-evidence", "don't record answers") },                                       \
    {                                                                                              \
        OPT_FLAG("auto-adopt", "adopt the managed skill if it is accepted")                        \
    }

#endif

/* cmd_sleep_run_options.h - the flags of a night, once.
 *
 * `sleep run`, `dry-run` and `worth` take them, and `sleep schedule` keeps them for the nights to come,
 * so that a flag cannot be known to one and lost by the other. */
#ifndef TALARIA_CMD_SLEEP_RUN_OPTIONS_H
#define TALARIA_CMD_SLEEP_RUN_OPTIONS_H

#define SLEEP_PROJECT_OPTION                                                                       \
    {                                                                                              \
        .kind = OPTION_FOLDER, .name = "project", .metavar = "DIR",                                \
        .help = "only sessions of this project; its CLAUDE.md may be updated too"                  \
    }

#define SLEEP_SOURCE_OPTIONS                                                                       \
    SLEEP_PROJECT_OPTION,                                                                          \
        { .kind = OPTION_CHOICE,                                                                   \
          .name = "scope",                                                                         \
          .metavar = "SCOPE",                                                                      \
          .help = "all projects, or the current folder's (default: all)",                          \
          .choices = "all|invoked" },                                                              \
        { .kind = OPTION_CHOICE,                                                                   \
          .name = "source",                                                                        \
          .metavar = "SOURCE",                                                                     \
          .help = "agent whose sessions to learn from (default: all)",                             \
          .choices = "all|hermes|claude|codex" },                                                  \
    {                                                                                              \
        .kind = OPTION_NUMBER, .name = "max-tasks", .metavar = "N",                                \
        .help = "tasks per night, most useful first"                                               \
    }

#define SLEEP_RUN_OPTIONS                                                                          \
    SLEEP_SOURCE_OPTIONS,                                                                          \
        { .kind = OPTION_FOLDER,                                                                   \
          .name = "skill-root",                                                                    \
          .metavar = "DIR",                                                                        \
          .help = "additional skills folder; repeatable" },                                        \
        { .kind = OPTION_CHOICE,                                                                   \
          .name = "backend",                                                                       \
          .metavar = "B",                                                                          \
          .help = "mock: simulated answers, free; model: your model; handoff: answers from files", \
          .choices = "mock|model|handoff" },                                                       \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "model",                                                                         \
          .metavar = "NAME",                                                                       \
          .help = "use this model instead of the configured one" },                                \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "target",                                                                        \
          .metavar = "PATH",                                                                       \
          .help = "write every learned rule into this SKILL.md" },                                 \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "tasks-file",                                                                    \
          .metavar = "FILE",                                                                       \
          .help = "use reviewed tasks from FILE instead of a harvest" },                           \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "edit-budget",                                                                   \
          .metavar = "N",                                                                          \
          .help = "maximum edits per proposal" },                                                  \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "rollouts",                                                                      \
          .metavar = "N",                                                                          \
          .help = "attempts per training task" },                                                  \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "dream-factor",                                                                  \
          .metavar = "N",                                                                          \
          .help = "variants per training task" },                                                  \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "recall",                                                                        \
          .metavar = "N",                                                                          \
          .help = "tasks from earlier nights to include again" },                                  \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "max-tokens",                                                                    \
          .metavar = "N",                                                                          \
          .help = "stop after N tokens" },                                                         \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "max-calls",                                                                     \
          .metavar = "N",                                                                          \
          .help = "stop after N model calls" },                                                    \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "max-minutes",                                                                   \
          .metavar = "N",                                                                          \
          .help = "stop after N minutes" },                                                        \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "max-usd",                                                                       \
          .metavar = "X",                                                                          \
          .help = "stop after X US dollars" },                                                     \
        { .kind = OPTION_CHOICE,                                                                   \
          .name = "gate-metric",                                                                   \
          .metavar = "M",                                                                          \
          .help = "score that decides: all checks passed, share of checks, or both",               \
          .choices = "mixed|hard|soft" },                                                          \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "val-fraction",                                                                  \
          .metavar = "X",                                                                          \
          .help = "share of tasks held out for validation (0.34)" },                               \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "test-fraction",                                                                 \
          .metavar = "X",                                                                          \
          .help = "share of tasks held out for the final test (0)" },                              \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "seed",                                                                          \
          .metavar = "N",                                                                          \
          .help = "random seed of the split (42)" },                                               \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "objective",                                                                     \
          .metavar = "A,T,L",                                                                      \
          .help = "weights of accuracy, tokens and latency (1,0,0)" },                             \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "preferences",                                                                   \
          .metavar = "TEXT",                                                                       \
          .help = "your preferences, passed to the model that proposes rules" },                   \
        { .kind = OPTION_FLAG,                                                                     \
          .name = "no-memory",                                                                     \
          .help = "don't propose changes to the project's CLAUDE.md" },                            \
        { .kind = OPTION_FLAG,                                                                     \
          .name = "no-miner",                                                                      \
          .help = "don't ask the model to describe tasks" },                                       \
        { .kind = OPTION_FLAG, .name = "no-evidence", .help = "don't record answers" },            \
    {                                                                                              \
        .kind = OPTION_FLAG, .name = "auto-adopt",                                                 \
        .help = "adopt the managed skill if it is accepted"                                        \
    }

#endif

/* cmd_sleep_run_options.h - the flags of a night, once.
 *
 * `sleep run`, `dry-run` and `worth` take them, and `sleep schedule` keeps them for the nights to come,
 * so that a flag cannot be known to one and lost by the other. */
#ifndef TALARIA_CMD_SLEEP_RUN_OPTIONS_H
#define TALARIA_CMD_SLEEP_RUN_OPTIONS_H

#define SLEEP_PROJECT_OPTION                                                                       \
    {                                                                                              \
        .kind = OPTION_FOLDER, .name = "project", .metavar = "DIR",                                \
        .help = "sessions of this project alone; its CLAUDE.md may learn too"                      \
    }

#define SLEEP_SOURCE_OPTIONS                                                                       \
    SLEEP_PROJECT_OPTION,                                                                          \
        { .kind = OPTION_CHOICE,                                                                   \
          .name = "scope",                                                                         \
          .metavar = "SCOPE",                                                                      \
          .help = "all projects, or the one of the current folder (default: all)",                 \
          .choices = "all|invoked" },                                                              \
        { .kind = OPTION_CHOICE,                                                                   \
          .name = "source",                                                                        \
          .metavar = "SOURCE",                                                                     \
          .help = "whose sessions (default: all)",                                                 \
          .choices = "all|hermes|claude|codex" },                                                  \
        { .kind = OPTION_FOLDER,                                                                   \
          .name = "claude-home",                                                                   \
          .metavar = "DIR",                                                                        \
          .help = "Claude Code's folder (default: $CLAUDE_CONFIG_DIR, ~/.claude)" },               \
        { .kind = OPTION_FOLDER,                                                                   \
          .name = "codex-home",                                                                    \
          .metavar = "DIR",                                                                        \
          .help = "Codex' folder (default: $CODEX_HOME, ~/.codex)" },                              \
    {                                                                                              \
        .kind = OPTION_NUMBER, .name = "max-tasks", .metavar = "N",                                \
        .help = "tasks of a night, the most worthwhile first"                                      \
    }

#define SLEEP_RUN_OPTIONS                                                                          \
    SLEEP_SOURCE_OPTIONS,                                                                          \
        { .kind = OPTION_FOLDER,                                                                   \
          .name = "skill-root",                                                                    \
          .metavar = "DIR",                                                                        \
          .help = "a further folder of skills; may be given more than once" },                     \
        { .kind = OPTION_CHOICE,                                                                   \
          .name = "backend",                                                                       \
          .metavar = "B",                                                                          \
          .help = "who answers in replays: nobody, the configured model, people through files",    \
          .choices = "mock|model|handoff" },                                                       \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "model",                                                                         \
          .metavar = "NAME",                                                                       \
          .help = "another model than the configured one" },                                       \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "target",                                                                        \
          .metavar = "PATH",                                                                       \
          .help = "the one SKILL.md that everything is learned into" },                            \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "tasks-file",                                                                    \
          .metavar = "FILE",                                                                       \
          .help = "tasks that were reviewed, instead of a harvest" },                              \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "edit-budget",                                                                   \
          .metavar = "N",                                                                          \
          .help = "edits that may be proposed at a time" },                                        \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "rollouts",                                                                      \
          .metavar = "N",                                                                          \
          .help = "attempts at each task that teaches" },                                          \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "dream-factor",                                                                  \
          .metavar = "N",                                                                          \
          .help = "variants of each task that teaches" },                                          \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "recall",                                                                        \
          .metavar = "N",                                                                          \
          .help = "tasks of earlier nights that are looked at again" },                            \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "max-tokens",                                                                    \
          .metavar = "N",                                                                          \
          .help = "end the night after so many tokens" },                                          \
        { .kind = OPTION_NUMBER,                                                                   \
          .name = "max-calls",                                                                     \
          .metavar = "N",                                                                          \
          .help = "end the night after so many model calls" },                                     \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "max-minutes",                                                                   \
          .metavar = "N",                                                                          \
          .help = "end the night after so many minutes" },                                         \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "max-usd",                                                                       \
          .metavar = "X",                                                                          \
          .help = "end the night after so many dollars" },                                         \
        { .kind = OPTION_CHOICE,                                                                   \
          .name = "gate-metric",                                                                   \
          .metavar = "M",                                                                          \
          .help = "what the gate compares: all checks, their share, or both",                      \
          .choices = "mixed|hard|soft" },                                                          \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "val-fraction",                                                                  \
          .metavar = "X",                                                                          \
          .help = "share of the tasks that decides (0.34)" },                                      \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "test-fraction",                                                                 \
          .metavar = "X",                                                                          \
          .help = "share of the tasks that only measures (0)" },                                   \
        { .kind = OPTION_NUMBER, .name = "seed", .metavar = "N", .help = "of the split (42)" },    \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "objective",                                                                     \
          .metavar = "A,T,L",                                                                      \
          .help = "weights of accuracy, tokens and latency (1,0,0)" },                             \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "preferences",                                                                   \
          .metavar = "TEXT",                                                                       \
          .help = "what reflection should know of your taste" },                                   \
        { .kind = OPTION_FLAG,                                                                     \
          .name = "no-memory",                                                                     \
          .help = "leave the project's CLAUDE.md alone" },                                         \
        { .kind = OPTION_FLAG,                                                                     \
          .name = "no-miner",                                                                      \
          .help = "never ask the model what tasks are about" },                                    \
        { .kind = OPTION_FLAG, .name = "no-evidence", .help = "keep no record of answers" },       \
    {                                                                                              \
        .kind = OPTION_FLAG, .name = "auto-adopt",                                                 \
        .help = "adopt the managed skill where the gate accepts it"                                \
    }

#endif

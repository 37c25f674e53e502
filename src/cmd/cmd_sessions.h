/* cmd_sessions.h - the parts of `talaria sessions`, one file each. */
#ifndef TALARIA_CMD_CMD_SESSIONS_H
#define TALARIA_CMD_CMD_SESSIONS_H

#include "cmd/commands.h"
#include "recall/history.h"

/* The history that the command line means: transcripts too, unless --home names one home. */
MUST_CHECK History *sessions_history(Cli *cli, Err *err);

/* Filters that list and export share: rows for their tables, and what they say. */
#define SESSION_SOURCES "hermes|claude|codex|talaria|cli|telegram|discord|slack|cron"
#define SESSIONS_FILTERS                                                                           \
    { .kind = OPTION_TEXT,                                                                         \
      .name = "source",                                                                            \
      .metavar = "SOURCE",                                                                         \
      .choices = SESSION_SOURCES,                                                                  \
      .values = "sources",                                                                         \
      .help = "only sessions from this agent or platform" },                                       \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "project",                                                                       \
          .metavar = "PROJECT",                                                                    \
          .help = "only sessions in this folder or below it (path or folder name)" },              \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "model",                                                                         \
          .metavar = "MODEL",                                                                      \
          .help = "only sessions with a model whose name contains this" },                         \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "tool",                                                                          \
          .metavar = "TOOL",                                                                       \
          .help = "only sessions that used this tool" },                                           \
        { .kind = OPTION_TIME,                                                                     \
          .name = "since",                                                                         \
          .metavar = "TIME",                                                                       \
          .help = "only sessions active since: 7d, yesterday, last week, 2026-11-15" },            \
        { .kind = OPTION_TIME,                                                                     \
          .name = "until",                                                                         \
          .metavar = "TIME",                                                                       \
          .help = "only sessions last active before this time" },                                  \
        { .kind = OPTION_FLAG, .name = "archived", .help = "include archived sessions" },          \
    {                                                                                              \
        .kind = OPTION_FLAG, .name = "side-chains", .help = "include transcripts of sub-agents"    \
    }
HistoryQuery sessions_filters(const Args *args);
/* Says on stderr that not everything has been read yet, where that is so. */
void sessions_tell_partial(const History *h);

#define X(name)                                                                                    \
    extern const Option sessions_##name##_options[];                                               \
    extern const Example sessions_##name##_examples[];                                             \
    MUST_CHECK bool sessions_##name(Cli *cli, const Args *args, Err *err);
X(show)
X(resume)
X(export)
X(import)
X(archive)
X(delete)
#undef X
extern const Example sessions_rename_examples[];
MUST_CHECK bool sessions_rename(Cli *cli, const Args *args, Err *err);

#endif

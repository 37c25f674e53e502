/* cmd_sessions.h - the parts of `talaria sessions`, one file each. */
#ifndef TALARIA_CMD_CMD_SESSIONS_H
#define TALARIA_CMD_CMD_SESSIONS_H

#include "cmd/commands.h"
#include "recall/history.h"

/* The history that the command line means: transcripts too, unless --home names one home. */
MUST_CHECK History *sessions_history(Cli *cli, Err *err);

/* Filters that list and export share: rows for their tables, and what they say. */
#define SESSIONS_FILTERS                                                                           \
    { .kind = OPTION_TEXT,                                                                         \
      .name = "source",                                                                            \
      .metavar = "S",                                                                              \
      .help = "only this source: hermes, claude, codex, talaria, or cli, telegram, ..." },         \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "project",                                                                       \
          .metavar = "P",                                                                          \
          .help = "only in this folder or below it; a name is the folder's last part" },           \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "model",                                                                         \
          .metavar = "M",                                                                          \
          .help = "only by models whose name has this in it" },                                    \
        { .kind = OPTION_TEXT,                                                                     \
          .name = "tool",                                                                          \
          .metavar = "T",                                                                          \
          .help = "only those that used this tool" },                                              \
        { .kind = OPTION_TIME,                                                                     \
          .name = "since",                                                                         \
          .metavar = "DATE",                                                                       \
          .help = "only those that began then or later" },                                         \
        { .kind = OPTION_TIME, .name = "until", .metavar = "DATE", .help = "only those before" },  \
        { .kind = OPTION_FLAG, .name = "archived", .help = "the archived ones too" },              \
    {                                                                                              \
        .kind = OPTION_FLAG, .name = "side-chains", .help = "transcripts of sub-agents too"        \
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

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
    { OPT_TEXT("source", "SOURCE", "only sessions from this agent or platform"),                   \
      .choices = SESSION_SOURCES, .values = "sources" },                                           \
        { OPT_TEXT("project", "PROJECT",                                                           \
                   "only sessions in this folder or below it (path or folder name)") },            \
        { OPT_TEXT("model", "MODEL", "only sessions with a model whose name contains this") },     \
        { OPT_TEXT("tool", "TOOL", "only sessions that used this tool") },                         \
        { OPT_TIME("since", "TIME",                                                                \
                   "only sessions active since: 7d, yesterday, last week, 2026-11-15") },          \
        { OPT_TIME("until", "TIME", "only sessions last active before this time") },               \
        { OPT_FLAG("archived", "include archived sessions") },                                     \
    {                                                                                              \
        OPT_FLAG("side-chains", "include transcripts of sub-agents")                               \
    }
HistoryQuery sessions_filters(const Args *args);
/* Says on stderr that not everything has been read yet, where that is so. */
void sessions_tell_partial(const History *h);

#define X(name)                                                                                    \
    extern const Option sessions_##name##_options[];                                               \
    extern const Example sessions_##name##_examples[];                                             \
    MUST_CHECK bool sessions_##name(Cli *cli, const Args *args, Err *err);
X(show)
X(search)
X(resume)
X(export)
X(import)
X(archive)
X(delete)
#undef X
extern const Example sessions_rename_examples[];
MUST_CHECK bool sessions_rename(Cli *cli, const Args *args, Err *err);

#endif

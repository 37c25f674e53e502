/* cmd_sessions_search.h - the row of `talaria sessions search`, for the table of its parent. */
#ifndef TALARIA_CMD_SESSIONS_SEARCH_H
#define TALARIA_CMD_SESSIONS_SEARCH_H

#include "cmd/cli.h"

extern const Option search_options[];
extern const Example search_examples[];
MUST_CHECK bool search_run(Cli *cli, const Args *args, Err *err);

#define SEARCH_COMMAND                                                                             \
    {                                                                                              \
        .name = "search", .operands = "QUERY",                                                     \
        .summary = "what was said and done, in every session of every source",                     \
        .details =                                                                                 \
            "Words find messages that have all of them, in any form; a question finds those "      \
            "that have some, and their neighbours. \"exact words\", -without, begin*, "            \
            "role:user, tool:Bash, source:claude, project:NAME and since:2026-01-01 narrow "       \
            "it down; anything else is text.",                                                     \
        .options = search_options, .examples = search_examples, .least = 1, .most = -1,            \
        .run = search_run                                                                          \
    }

#endif

/* cmd_sessions_search.h - the row of `talaria sessions search`, for the table of its parent. */
#ifndef TALARIA_CMD_SESSIONS_SEARCH_H
#define TALARIA_CMD_SESSIONS_SEARCH_H

#include "cmd/searching.h"

extern const Option search_options[];
extern const Example search_examples[];
MUST_CHECK bool search_run(Cli *cli, const Args *args, Err *err);

/* The hits, grouped by session, at most `max` passages; in a pipe one passage a line. */
MUST_CHECK bool search_print(Cli *cli, const Searching *s, const SearchAnswer *answer, size_t max,
                             Err *err);

#define SEARCH_COMMAND                                                                             \
    {                                                                                              \
        .name = "search", .operands = "QUERY",                                                     \
        .summary = "search messages and tool output in every session",                             \
        .details =                                                                                 \
            "Words find messages that contain all of them, in any form. A question finds "         \
            "messages that contain some of its words, and their context. Narrow a search with "    \
            "\"exact words\", -without, prefix*, role:user, tool:Bash, source:claude, "            \
            "project:NAME, model:NAME, since:7d and until:2026-01-01. Anything else is text.",     \
        .options = search_options, .examples = search_examples, .min = 1, .max = -1,               \
        .run = search_run                                                                          \
    }

#endif

/* cmd_debug.h - the subcommands of `talaria debug` in cmd_debug_runtime.c. */
#ifndef TALARIA_CMD_CMD_DEBUG_H
#define TALARIA_CMD_CMD_DEBUG_H

#include "cmd/cli.h"

extern const Option debug_replay_options[], debug_run_options[];
extern const Example debug_replay_examples[], debug_run_examples[];

MUST_CHECK bool debug_replay(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool debug_run(Cli *cli, const Args *args, Err *err);

#endif

/* cmd_sleep.h - what the files of `talaria sleep` share: one function a subcommand. */
#ifndef TALARIA_CMD_SLEEP_H
#define TALARIA_CMD_SLEEP_H

#include "cmd/cli.h"
#include "sleep/mining/harvest.h"

/* Sources, scope and window, as every command of a night takes them. */
MUST_CHECK bool sleep_sources(Cli *cli, const Args *args, HarvestQuery *ret, Err *err);

MUST_CHECK bool sleep_run(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_dry_run(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_worth(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_harvest_command(Cli *cli, const Args *args, Err *err);

extern const Option sleep_experiment_options[];
extern const Example sleep_experiment_examples[];
MUST_CHECK bool sleep_experiment(Cli *cli, const Args *args, Err *err);

#endif

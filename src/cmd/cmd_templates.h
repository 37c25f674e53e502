/* cmd_templates.h - what the two files of `talaria templates` share. */
#ifndef TALARIA_CMD_TEMPLATES_H
#define TALARIA_CMD_TEMPLATES_H

#include "cmd/cli.h"

/* cmd_templates_history.c: what looks through the whole history. */
MUST_CHECK bool templates_harvest(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool templates_study(Cli *cli, const Args *args, Err *err);

#endif

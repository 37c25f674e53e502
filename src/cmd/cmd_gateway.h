/* cmd_gateway.h - rows of `talaria gateway` that have a file of their own. */
#ifndef TALARIA_CMD_CMD_GATEWAY_H
#define TALARIA_CMD_CMD_GATEWAY_H

#include "cmd/cli.h"

extern const Example gateway_examples[];
extern const Command gateway_pair[]; /* list, approve */

bool gateway_status(Cli *cli, const Args *args, Err *err);
bool gateway_sethome(Cli *cli, const Args *args, Err *err);

#endif

/* version.h - what this binary is made of. */
#ifndef TALARIA_CMD_VERSION_H
#define TALARIA_CMD_VERSION_H

#include "cmd/cli.h"

extern const char talaria_version[];

void version_print(Cli *cli);

#endif

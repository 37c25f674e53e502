/* version.h - what this binary is made of. */
#ifndef TALARIA_CMD_VERSION_H
#define TALARIA_CMD_VERSION_H

#include "cmd/cli.h"

extern const char talaria_version[];

/* This program, and every library in it. */
typedef struct VersionPart {
    const char *name, *version;
} VersionPart;
enum { VERSION_PARTS = 8 };
void version_parts(VersionPart ret[VERSION_PARTS]);

void version_print(Cli *cli);

#endif

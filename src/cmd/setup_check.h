/* setup_check.h - what is set up, and whether it works: for 'talaria setup'. */
#ifndef TALARIA_CMD_SETUP_CHECK_H
#define TALARIA_CMD_SETUP_CHECK_H

#include "cmd/cli.h"
#include "model/config.h"
#include "platforms/config.h"

typedef enum SetupStatus { SETUP_UNSET, SETUP_OK, SETUP_FAILED } SetupStatus;

typedef struct SetupItem {
    const char *name; /* "model", "telegram", ... */
    const char *title;
    SetupStatus status;
    Str text;
} SetupItem;

enum { SETUP_ITEMS = 5 };

/* One tiny request to the model: "gpt-5-mini answered in 0.4 s", or why not. */
MUST_CHECK bool setup_try_model(Arena *a, const ModelConfig *config, Str *ret, Err *err);
/* Asks the platform whose token that is: "works as @name". */
MUST_CHECK bool setup_try_platform(Arena *a, Str platform, const PlatformConfig *config, Str *ret,
                                   Err *err);

/* test: ask the model and the platforms; else only what is configured. */
MUST_CHECK bool setup_look(Cli *cli, bool test, SetupItem ret[SETUP_ITEMS], Err *err);
const char *setup_status_name(SetupStatus s); /* "unset", "ok", "failed" */

#endif

/* serving.h - the server of `talaria serve`, with or without something that runs beside it. */
#ifndef TALARIA_CMD_SERVING_H
#define TALARIA_CMD_SERVING_H

#include "cmd/cli.h"

/* Called on the thread that waits for signals, all of which are blocked by then. */
typedef struct ServingBeside {
    void (*begin)(void *ctx); /* the server listens */
    void (*look)(void *ctx);  /* SIGCHLD or SIGALRM came */
    void (*end)(void *ctx);   /* the server has ended its requests */
    void *ctx;
} ServingBeside;

extern const Option serving_options[];

/* Until SIGINT or SIGTERM. beside: may be NULL. */
MUST_CHECK bool serving_run(Cli *cli, const Args *args, const ServingBeside *beside, Err *err);

#endif

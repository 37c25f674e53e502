/* serving.h - the server of `talaria serve`, with or without something that runs beside it. */
#ifndef TALARIA_CMD_SERVING_H
#define TALARIA_CMD_SERVING_H

#include "cmd/cli.h"

/* Something that runs beside the server. Its functions are called on the thread that waits for
 * signals. */
typedef struct ServingBeside {
    void (*begin)(void *ctx); /* the server listens */
    void (*look)(void *ctx);  /* fd became readable, or it is due */
    void (*end)(void *ctx);   /* the server has ended its requests */
    void *ctx;
    int fd;         /* -1: none */
    int64_t due_ms; /* monotonic; 0: never */
} ServingBeside;

extern const Option serving_options[];

/* Until SIGINT or SIGTERM. beside: may be NULL. */
MUST_CHECK bool serving_run(Cli *cli, const Args *args, ServingBeside *beside, Err *err);

/* Where the page of a data folder is served: "http://127.0.0.1:8717/"; p NULL: no server answers
 * there now. */
Str serving_address(Arena *a, Str data);

#endif

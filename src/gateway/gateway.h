/* gateway.h - the process that serves chat platforms and carries out handoffs.
 *
 * One per data folder: it holds gateway.lock, which the kernel releases however it ends. */
#ifndef TALARIA_GATEWAY_GATEWAY_H
#define TALARIA_GATEWAY_GATEWAY_H

#include "store/homes.h"
#include "text/settings.h"

typedef struct GatewayOptions {
    const Homes *homes;
    const Settings *settings;
    int stop_fd;                             /* readable: stop */
    void (*ready)(void *ctx, Str platforms); /* "local, telegram" */
    void *ctx;
} GatewayOptions;

/* Returns when stop_fd is readable. ERR_CONFLICT: one is running already. */
MUST_CHECK bool gateway_run(const GatewayOptions *options, Err *err);

#endif

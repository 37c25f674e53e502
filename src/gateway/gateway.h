/* gateway.h - the process that serves chat platforms and carries handoffs out.
 *
 * One for a data folder: it holds gateway.lock, which the kernel gives back however it ends. */
#ifndef TALARIA_GATEWAY_GATEWAY_H
#define TALARIA_GATEWAY_GATEWAY_H

#include "store/homes.h"
#include "text/settings.h"

typedef struct GatewayOptions {
    const Homes *homes;
    const Settings *settings;
    int stop_fd;                             /* readable: it is time to end */
    void (*ready)(void *ctx, Str platforms); /* "local, telegram" */
    void *ctx;
} GatewayOptions;

/* Until stop_fd can be read. ERR_CONFLICT: one is running already. */
MUST_CHECK bool gateway_run(const GatewayOptions *options, Err *err);

#endif

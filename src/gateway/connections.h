/* connections.h - the connections to all configured platforms, and their health.
 *
 * A platform that cannot be opened is logged and left out; the others are served. If the reason may
 * go away (an unreadable file), it is tried again with growing pauses. Every update is in the
 * inbox, on disk, before the platform gets its acknowledgement. */
#ifndef TALARIA_GATEWAY_CONNECTIONS_H
#define TALARIA_GATEWAY_CONNECTIONS_H

#include "gateway/worker.h"
#include "platforms/config.h"

typedef struct GatewayConnectionsOptions {
    Str data; /* Talaria's data folder; borrowed, like the rest */
    const GatewayConfig *config;
    const Settings *settings; /* both are read again when a platform is retried; or NULL */
    const Homes *homes;
    void (*arrived)(void *ctx); /* the inbox has new updates; any thread */
    void *ctx;
} GatewayConnectionsOptions;

typedef struct GatewayConnections GatewayConnections;

MUST_CHECK GatewayConnections *gateway_connections_open(const GatewayConnectionsOptions *options,
                                                        Err *err);
GatewayConnections *gateway_connections_close(GatewayConnections *l);
AUTO_FREE(GatewayConnections, gateway_connections_close)

/* The open connections, and those that may still open (`shut`); valid until
 * gateway_connections_close. */
const GatewayConnection *gateway_connections_list(const GatewayConnections *l, size_t *ret_n);

/* Retries connections that are due. Stores changes of their status: at once when a connection opens
 * or breaks, at most every two seconds that a platform was heard from. One thread. */
MUST_CHECK bool gateway_connections_note(GatewayConnections *l, OwnStore *own, Err *err);
/* The gateway stops: stores that no platform is connected. */
void gateway_connections_note_end(GatewayConnections *l, OwnStore *own);

#endif

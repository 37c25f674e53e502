/* connections.h - the connections to all platforms that are configured, and what is known of their health.
 *
 * A platform that cannot be opened is told and left out; the others are served. Where that may change (a file that
 * cannot be read now), it is tried again, later each time. Whatever a platform sends is in the
 * inbox, on the disk, before the platform hears that it arrived. */
#ifndef TALARIA_GATEWAY_CONNECTIONS_H
#define TALARIA_GATEWAY_CONNECTIONS_H

#include "gateway/worker.h"
#include "platforms/config.h"

typedef struct GatewayConnectionsOptions {
    Str data; /* our own home; borrowed, as all of it */
    const GatewayConfig *config;
    const Settings *settings; /* both: read anew where a platform is tried again; or NULL */
    const Homes *homes;
    void (*arrived)(void *ctx); /* something new lies in the inbox; any thread */
    void *ctx;
} GatewayConnectionsOptions;

typedef struct GatewayConnections GatewayConnections;

MUST_CHECK GatewayConnections *gateway_connections_open(const GatewayConnectionsOptions *options,
                                                        Err *err);
GatewayConnections *gateway_connections_close(GatewayConnections *l);
AUTO_FREE(GatewayConnections, gateway_connections_close)

/* Those that are open, and (`shut`) those that may still be; stays where it is until gateway_connections_close. */
const GatewayConnection *gateway_connections_list(const GatewayConnections *l, size_t *ret_n);

/* Tries again what could not be opened, where it is time. Writes down how they are, where that is news: at once where a line came up or went down, at most every two seconds
 * that a platform was heard. One thread. */
MUST_CHECK bool gateway_connections_note(GatewayConnections *l, OwnStore *own, Err *err);
/* Nobody is served any more. */
void gateway_connections_note_end(GatewayConnections *l, OwnStore *own);

#endif

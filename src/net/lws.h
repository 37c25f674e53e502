/* lws.h - libwebsockets, loaded when the first WebSocket is opened, for the reason given in curl.h.
 *
 * Its structs change from release to release, so only the one that the header came with is taken.
 * Its prefix is kept: lws()->service() is lws_service(). */
#ifndef TALARIA_NET_LWS_H
#define TALARIA_NET_LWS_H

#include <libwebsockets.h>

#include "base/err.h"

#define LWS_FUNCTIONS(X)                                                                           \
    X(get_library_version)                                                                         \
    X(set_log_level)                                                                               \
    X(create_context)                                                                              \
    X(create_vhost)                                                                                \
    X(context_destroy)                                                                             \
    X(context_user)                                                                                \
    X(get_context)                                                                                 \
    X(set_proxy)                                                                                   \
    X(client_connect_via_info)                                                                     \
    X(service)                                                                                     \
    X(cancel_service)                                                                              \
    X(callback_on_writable)                                                                        \
    X(write)                                                                                       \
    X(rx_flow_control)                                                                             \
    X(sul_schedule)                                                                                \
    X(sul_cancel)                                                                                  \
    X(frame_is_binary)                                                                             \
    X(is_final_fragment)                                                                           \
    X(remaining_packet_payload)

typedef struct Lws {
#define X(name) __typeof__(lws_##name) *name;
    LWS_FUNCTIONS(X)
#undef X
} Lws;

/* Opens it once a process; ERR_NOT_FOUND where it is not installed. Any thread. */
MUST_CHECK bool lws_load(Err *err);

/* What lws_load opened. */
const Lws *lws(void);

#endif

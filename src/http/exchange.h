/* exchange.h - the callbacks of libmicrohttpd: a request from its first byte to its last. */
#ifndef TALARIA_HTTP_EXCHANGE_H
#define TALARIA_HTTP_EXCHANGE_H

#include "http/request.h"

/* Two things are used that libmicrohttpd does not document. The head of a request lies in its
 * buffer as it came, from the method on: framing.c sees there what was dropped in silence. And a
 * descriptor that is another one after a suspension is closed like its own: streams.c keeps the
 * socket. Both hold in 0.9.75 to 1.0, which its version says when we begin; the library is shared,
 * so it may be another one than when we were built. */
MUST_CHECK bool exchange_library_is_known(const char *version, Err *err);

void *exchange_uri(void *server, const char *uri, struct MHD_Connection *connection);
size_t exchange_unescape(void *server, struct MHD_Connection *connection, char *text);
void exchange_connection(void *server, struct MHD_Connection *connection, void **context,
                         enum MHD_ConnectionNotificationCode what);
void exchange_completed(void *server, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode why);
enum MHD_Result exchange_request(void *server, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_size, void **request);

#endif

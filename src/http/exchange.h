/* exchange.h - the callbacks of libmicrohttpd: a request from its first byte to its last. */
#ifndef TALARIA_HTTP_EXCHANGE_H
#define TALARIA_HTTP_EXCHANGE_H

#include "http/request.h"

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

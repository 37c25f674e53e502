/* api.h - what the handlers of routes.h share with the server. */
#ifndef TALARIA_HTTP_API_H
#define TALARIA_HTTP_API_H

#include "http/state.h"

/* A ScanListener: what the scan says goes to the event streams. ctx is the Server. */
void api_scan_event(void *ctx, const char *event, Str data);

void api_forget_badges(BadgeCache *cache);

/* A field of the body's object of the right type; absent or null is fine and leaves *ret alone. */
MUST_CHECK bool field_str(Json object, const char *key, Str *ret, Err *err);
MUST_CHECK bool field_bool(Json object, const char *key, bool *ret, Err *err);
MUST_CHECK bool field_int(Json object, const char *key, int64_t min, int64_t max, int64_t *ret,
                          Err *err);

#endif

/* metrics.h - what the server counts, for GET /metrics. Any thread. */
#ifndef TALARIA_HTTP_METRICS_H
#define TALARIA_HTTP_METRICS_H

#include "base/buf.h"

void metrics_count_reply(int status);
void metrics_count_refusal(void); /* by the guard */
void metrics_stream(int change);  /* +1 opened, -1 ended */
void metrics_stream_dropped(void);
void metrics_connection(int change);
int64_t metrics_connections(void);

/* Prometheus' text format. */
void metrics_write(Buf *out);

#endif

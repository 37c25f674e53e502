/* lines.h - the connections to all platforms that are configured, and what is known of their health.
 *
 * A platform that cannot be opened is told and left out; the others are served. Where that may change (a file that
 * cannot be read now), it is tried again, later each time. Whatever a platform sends is in the
 * inbox, on the disk, before the platform hears that it arrived. */
#ifndef TALARIA_GATEWAY_LINES_H
#define TALARIA_GATEWAY_LINES_H

#include "platforms/config.h"
#include "gateway/worker.h"

typedef struct LinesOptions {
    Str data; /* our own home; borrowed, as all of it */
    const GatewayConfig *config;
    const Settings *settings; /* both: read anew where a platform is tried again; or NULL */
    const Homes *homes;
    void (*arrived)(void *ctx); /* something new lies in the inbox; any thread */
    void *ctx;
} LinesOptions;

typedef struct Lines Lines;

MUST_CHECK Lines *lines_open(const LinesOptions *options, Err *err);
Lines *lines_close(Lines *l);
AUTO_FREE(Lines, lines_close)

/* Those that are open, and (`shut`) those that may still be; stays where it is until lines_close. */
const Served *lines_served(const Lines *l, size_t *ret_n);

/* Tries again what could not be opened, where it is time. Writes down how they are, where that is news: at once where a line came up or went down, at most every two seconds
 * that a platform was heard. One thread. */
MUST_CHECK bool lines_note(Lines *l, Journal *j, Err *err);
/* Nobody is served any more. */
void lines_note_end(Lines *l, Journal *j);

#endif

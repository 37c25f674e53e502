/* hermes_double.h - a stand-in for the API server of a Hermes, on loopback, with no model behind it.
 *
 * Serves the routes that our adapter knows (capabilities, sessions, runs, responses, chat completions)
 * from streams that are made up on the spot, in the shape that a Hermes gives them: for demos, and for
 * the tests of the adapter. It remembers how many turns a session had, waits for approvals, stops when
 * asked, and fails on demand. */
#ifndef TALARIA_HTTP_HERMES_DOUBLE_H
#define TALARIA_HTTP_HERMES_DOUBLE_H

#include "base/err.h"

typedef struct HermesDouble HermesDouble;

typedef struct HermesDoubleOptions {
    uint16_t port; /* 0: any that is free */
    Str fail;      /* "401", "400", "cut", "empty", "slow", or empty */
    Str key;       /* empty: everyone is let in */
} HermesDoubleOptions;

/* Listens on 127.0.0.1 when it returns; one thread a connection. */
MUST_CHECK HermesDouble *hermes_double_start(const HermesDoubleOptions *options, Err *err);
HermesDouble *hermes_double_free(HermesDouble *d);
AUTO_FREE(HermesDouble, hermes_double_free)

uint16_t hermes_double_port(const HermesDouble *d);

#endif

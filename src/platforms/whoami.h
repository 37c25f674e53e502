/* whoami.h - one harmless request that tells whether a platform accepts a token, and whose account
 * it is.
 *
 * For people who set a platform up: no connection is opened, nothing is read or acknowledged, so a
 * gateway that is running is not disturbed. */
#ifndef TALARIA_PLATFORMS_WHOAMI_H
#define TALARIA_PLATFORMS_WHOAMI_H

#include "platforms/platform.h"

/* *ret_name: the account's name there. ERR_REFUSED: the token is not accepted; ERR_IO: no
 * answer. */
MUST_CHECK bool platform_whoami(Net *net, Arena *a, Str platform, const PlatformConfig *config,
                                Str *ret_name, Err *err);

#endif

/* platforms.h - the platforms that can be connected to, by name. */
#ifndef TALARIA_PLATFORMS_PLATFORMS_H
#define TALARIA_PLATFORMS_PLATFORMS_H

#include "platforms/platform.h"

/* X(name): platform_<name> of platform.h. A row here is all that a new platform needs to be
 * served. */
#define PLATFORMS(X)                                                                               \
    X(local)                                                                                       \
    X(telegram)                                                                                    \
    X(discord)                                                                                     \
    X(slack)

/* platforms_each(0), (1), ... until NULL. */
const Platform *platforms_each(size_t i);
const Platform *platform_named(Str name); /* NULL: there is none */

#endif

/* config.h - which chat platforms are served, with what, and for whom.
 *
 * Four layers, the later one wins: what a Hermes in one of our homes is configured with
 * (gateway.json, config.yaml and .env there), the environment variables that Hermes knows
 * (TELEGRAM_BOT_TOKEN), our own config.yaml (platforms.telegram.*), and our own environment
 * (TALARIA_TELEGRAM_TOKEN). As long as a Hermes gateway is running the first two are left to it:
 * two readers of one account would take each other's messages.
 *
 * Secrets come from the environment, or from files that nobody else can read. */
#ifndef TALARIA_PLATFORMS_CONFIG_H
#define TALARIA_PLATFORMS_CONFIG_H

#include "base/log.h"
#include "platforms/platform.h"
#include "store/homes.h"
#include "text/settings.h"

/* X(name, NAME) */
#define GATEWAY_PLATFORMS(X)                                                                       \
    X(local, LOCAL)                                                                                \
    X(telegram, TELEGRAM)                                                                          \
    X(discord, DISCORD)                                                                            \
    X(slack, SLACK)

typedef enum GatewayPlatform {
#define X(name, NAME) GATEWAY_##NAME,
    GATEWAY_PLATFORMS(X)
#undef X
        GATEWAY_PLATFORM_COUNT
} GatewayPlatform;

typedef struct GatewayConfig {
    PlatformConfig platforms[GATEWAY_PLATFORM_COUNT];
    /* Of a platform that is enabled: a file with its secret that cannot be read now, and may be
     * later. Of one that is not: what is missing, and how it is given. Else empty. */
    Str trouble[GATEWAY_PLATFORM_COUNT];
    bool interrupts; /* what comes in ends the turn that runs; else it waits */
    KeyFlags flags;
    Str unfollowed; /* settings of a Hermes that have no effect here: "a, b"; empty: there are
                     * none */
} GatewayConfig;

/* Text lives in the arena. ERR_REFUSED: a file with a secret that others can read. */
MUST_CHECK bool gateway_config(Arena *a, const Settings *settings, const Homes *homes,
                               GatewayConfig *ret, Err *err);

const char *gateway_platform_name(GatewayPlatform p);
/* NULL: there is no such platform. */
const PlatformConfig *gateway_config_of(const GatewayConfig *c, Str platform);
Str gateway_config_trouble(const GatewayConfig *c, Str platform);

/* -- config_hermes.c -- */

/* What a Hermes is configured with: its files in `home`, then its variables. Trouble in them is
 * told, and ends nothing. */
void gateway_config_hermes(Arena *a, Str home, GatewayConfig *c);
/* Whether a gateway of it is running on that home. */
bool hermes_gateway_runs(Str home);

/* Whether a profile of a Hermes speaks through the account that we serve, and to the same chat:
 * only then its handoffs are ours to carry out. */
bool gateway_profile_shares(Str home, Str platform, const PlatformConfig *ours);

/* A server reads the configuration whenever somebody asks for it: what is odd in it is told the
 * first time, with one line for each oddity. */
void gateway_config_tell(LogLevel level, const char *fmt, ...) PRINTF(2, 3);

/* A value for one field. Another home channel is another chat: its thread and owner are not those
 * of the first. */
void gateway_config_put(PlatformConfig *p, Str *field, Str value);

#endif

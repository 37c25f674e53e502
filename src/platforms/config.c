#include "platforms/config.h"

#include <pthread.h>
#include <stdarg.h>

#include "base/hash.h"
#include "base/limits.h"
#include "text/settings_secret.h"

enum { MAX_TOLD = 64 };

static const char *const names[] = {
#define X(name, NAME) [GATEWAY_##NAME] = #name,
    GATEWAY_PLATFORMS(X)
#undef X
};

/* As the environment has them. */
static const char *const variables[] = {
#define X(name, NAME) [GATEWAY_##NAME] = #NAME,
    GATEWAY_PLATFORMS(X)
#undef X
};

const char *gateway_platform_name(GatewayPlatform p)
{
    return names[p];
}

const PlatformConfig *gateway_config_of(const GatewayConfig *c, Str platform)
{
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++)
        if (str_eqz(platform, names[i]))
            return &c->platforms[i];
    return NULL;
}

Str gateway_config_trouble(const GatewayConfig *c, Str platform)
{
    const PlatformConfig *p = gateway_config_of(c, platform);

    return p ? c->trouble[p - c->platforms] : STR("");
}

void gateway_config_tell(LogLevel level, const char *fmt, ...)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t told[MAX_TOLD];
    char text[ERR_TEXT_BYTES];
    uint64_t name;
    size_t at = 0;
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    name = hash_text(HASH_START, str_of(text));
    pthread_mutex_lock(&lock);
    while (at < MAX_TOLD && told[at] && told[at] != name)
        at++;
    if (at < MAX_TOLD && told[at] == name)
        level = LOG_DEBUG;
    else if (at < MAX_TOLD)
        told[at] = name;
    pthread_mutex_unlock(&lock);
    log_at(level, "%s", text);
}

void gateway_config_put(PlatformConfig *p, Str *field, Str value)
{
    if (!value.n)
        return;
    if (field == &p->home_channel && field->n && !str_eq(*field, value))
        p->home_thread = p->home_owner = STR_NONE;
    *field = value;
}

/* -- our own file -- */

/* X(PLATFORM, field, setting): what our file says about a platform. */
#define ONE_PLATFORM(X, NAME)                                                                      \
    X(NAME, api_base, SETTING_##NAME##_API_BASE)                                                   \
    X(NAME, home_channel, SETTING_##NAME##_HOME_CHANNEL)                                           \
    X(NAME, allowed, SETTING_##NAME##_ALLOWED)
#define TEXT_SETTINGS(X)                                                                           \
    ONE_PLATFORM(X, TELEGRAM)                                                                      \
    ONE_PLATFORM(X, DISCORD)                                                                       \
    X(DISCORD, allowed_roles, SETTING_DISCORD_ALLOWED_ROLES)                                       \
    ONE_PLATFORM(X, SLACK)
#define SECRET_FILES(X)                                                                            \
    X(TELEGRAM, token, SETTING_TELEGRAM_TOKEN_FILE)                                                \
    X(DISCORD, token, SETTING_DISCORD_TOKEN_FILE)                                                  \
    X(SLACK, token, SETTING_SLACK_TOKEN_FILE)                                                      \
    X(SLACK, app_token, SETTING_SLACK_APP_TOKEN_FILE)                                              \
    X(SLACK, signing_secret, SETTING_SLACK_SIGNING_SECRET_FILE)

/* What others can read, or says nothing, is a mistake. A file that is not there may still come,
 * unless its secret is given elsewhere: the other platforms are served meanwhile. */
static bool take_file(Arena *a, const Settings *s, SettingId id, bool needed, Str *ret,
                      Str *ret_trouble, Err *err)
{
    Str secret;

    if (secret_read(a, s, id, &secret, err)) {
        if (secret.n)
            *ret = secret;
        return true;
    }
    if (err->kind != ERR_NOT_FOUND && err->kind != ERR_IO && err->kind != ERR_BUSY)
        return false;
    if (needed)
        *ret_trouble = str_dup(a, str_of(err->text));
    return true;
}

static bool take_settings(Arena *a, const Settings *s, const GatewayConfig *environment,
                          GatewayConfig *c, Err *err)
{
#define X(NAME, field, id)                                                                         \
    gateway_config_put(&c->platforms[GATEWAY_##NAME], &c->platforms[GATEWAY_##NAME].field,         \
                       setting_text(s, id));
    TEXT_SETTINGS(X)
#undef X
#define X(NAME, field, id)                                                                         \
    if (!take_file(a, s, id, !environment->platforms[GATEWAY_##NAME].field.n,                      \
                   &c->platforms[GATEWAY_##NAME].field, &c->trouble[GATEWAY_##NAME], err))         \
        return false;
    SECRET_FILES(X)
#undef X
    c->interrupts = str_eqz(setting_text(s, SETTING_GATEWAY_BUSY), "interrupt");
    return true;
}

/* -- the environment -- */

static void take_variable(const char *name, PlatformConfig *p, Str *field)
{
    gateway_config_put(p, field, str_trim(str_of(getenv(name))));
}

static void take_environment(GatewayConfig *c)
{
#define X(field, KEY, secret, text)                                                                \
    take_variable("TALARIA_TELEGRAM_" KEY, telegram, &telegram->field);
    PlatformConfig *telegram = &c->platforms[GATEWAY_TELEGRAM];
    PLATFORM_TEXTS(X)
#undef X
#define X(field, KEY, secret, text) take_variable("TALARIA_DISCORD_" KEY, discord, &discord->field);
    PlatformConfig *discord = &c->platforms[GATEWAY_DISCORD];
    PLATFORM_TEXTS(X)
#undef X
#define X(field, KEY, secret, text) take_variable("TALARIA_SLACK_" KEY, slack, &slack->field);
    PlatformConfig *slack = &c->platforms[GATEWAY_SLACK];
    PLATFORM_TEXTS(X)
#undef X
}

/* -- all of it -- */

static const Home *hermes_home(const Homes *homes)
{
    for (size_t i = 0; i < homes->n; i++)
        if (homes->all[i].kind == HOME_HERMES)
            return &homes->all[i];
    return NULL;
}

static void enable(Arena *a, GatewayPlatform which, bool wanted, GatewayConfig *c)
{
    PlatformConfig *p = &c->platforms[which];
    Str *trouble = &c->trouble[which];

    p->enabled = wanted && (p->token.n || trouble->n);
    if (!wanted)
        *trouble = str_printf(
            a, "switched off; 'talaria config set platforms.%s.enabled true' turns it on",
            names[which]);
    else if (!p->enabled)
        *trouble = str_printf(a,
                              "no token; run 'talaria setup' or 'talaria config set "
                              "platforms.%s.token', or set TALARIA_%s_TOKEN",
                              names[which], variables[which]);
}

/* A secret becomes part of a header or of a path. */
static bool check_secrets(const GatewayConfig *c, Err *err)
{
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++) {
        const Str all[] = { c->platforms[i].token, c->platforms[i].app_token,
                            c->platforms[i].signing_secret };

        for (size_t k = 0; k < ARRAY_LEN(all); k++)
            for (size_t at = 0; at < all[k].n; at++)
                if ((unsigned char)all[k].p[at] <= ' ' || (unsigned char)all[k].p[at] >= 0x7f)
                    return err_set(
                        err, ERR_INVALID,
                        "a %s token contains a space or a control character; copy it again",
                        names[i]);
    }
    return true;
}

bool gateway_config(Arena *a, const Settings *settings, const Homes *homes, GatewayConfig *ret,
                    Err *err)
{
    const Home *hermes = hermes_home(homes);
    GatewayConfig c = { .flags = KEY_FLAGS }, environment = { 0 };

    take_environment(&environment);
    if (hermes && hermes_gateway_runs(hermes->path))
        gateway_config_tell(
            LOG_NOTE,
            "a Hermes gateway is running on '%.*s'; it keeps the platforms it is configured for",
            STR_FMT(hermes->path));
    else
        gateway_config_hermes(a, hermes ? hermes->path : STR_NONE, &c);
    if (!take_settings(a, settings, &environment, &c, err))
        return false;
    take_environment(&c);
    if (!check_secrets(&c, err))
        return false;
    c.platforms[GATEWAY_LOCAL].enabled = setting_bool(settings, SETTING_LOCAL_ENABLED);
    if (!c.platforms[GATEWAY_LOCAL].enabled)
        c.trouble[GATEWAY_LOCAL] =
            STR("switched off; 'talaria config set platforms.local.enabled true' turns it on");
#define X(NAME) enable(a, GATEWAY_##NAME, setting_bool(settings, SETTING_##NAME##_ENABLED), &c);
    X(TELEGRAM)
    X(DISCORD)
    X(SLACK)
#undef X
    *ret = c;
    return true;
}

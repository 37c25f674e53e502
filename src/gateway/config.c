#include "gateway/config.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"

enum { MOST_SECRET = 4096 };

static const char *const names[] = {
#define X(name, NAME) [GATEWAY_##NAME] = #name,
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

/* -- our own file ---------------------------------------------------------------------------------------- */

/* Relative to the folder of config.yaml, or ~/..., or /... */
static Str absolute(Arena *a, const Settings *s, Str path)
{
    size_t n = s->path.n;

    if (path.p[0] == '/')
        return path;
    if (str_starts(path, STR("~/")))
        return str_join_path(a, str_of(getenv("HOME")), str_skip(path, 2));
    while (n && s->path.p[n - 1] != '/')
        n--;
    return str_join_path(a, str_head(s->path, n ? n - 1 : 0), path);
}

static bool read_secret(Arena *a, const char *path, const char *key, Str *ret, Err *err)
{
    struct stat st;
    Str text;

    if (stat(path, &st) != 0)
        return err_errno(err, "cannot read '%s' (%s)", path, key);
    if (st.st_mode & 077)
        return err_set(err, ERR_REFUSED,
                       "'%s' (%s) can be read by others: it must have mode 0600, not %04o", path,
                       key, st.st_mode & 07777);
    if (!file_read(a, path, MOST_SECRET, &text, err))
        return err_wrap(err, "%s", key);
    *ret = str_trim(text);
    return ret->n || err_set(err, ERR_INVALID, "'%s' (%s) is empty", path, key);
}

/* X(PLATFORM, field, setting): what our file says about a platform. */
#define ONE_PLATFORM(X, NAME)                                                                      \
    X(NAME, api_base, SETTING_##NAME##_API_BASE)                                                   \
    X(NAME, home_channel, SETTING_##NAME##_HOME_CHANNEL)                                           \
    X(NAME, allowed, SETTING_##NAME##_ALLOWED)
#define TEXT_SETTINGS(X)                                                                           \
    ONE_PLATFORM(X, TELEGRAM)                                                                      \
    ONE_PLATFORM(X, DISCORD)                                                                       \
    ONE_PLATFORM(X, SLACK)
#define SECRET_FILES(X)                                                                            \
    X(TELEGRAM, token, SETTING_TELEGRAM_TOKEN_FILE)                                                \
    X(DISCORD, token, SETTING_DISCORD_TOKEN_FILE)                                                  \
    X(SLACK, token, SETTING_SLACK_TOKEN_FILE)                                                      \
    X(SLACK, app_token, SETTING_SLACK_APP_TOKEN_FILE)                                              \
    X(SLACK, signing_secret, SETTING_SLACK_SIGNING_SECRET_FILE)

static bool take_file(Arena *a, const Settings *s, SettingId id, Str *ret, Err *err)
{
    Str path = setting_text(s, id);

    return !path.n ||
           read_secret(a, str_z(a, absolute(a, s, path)), setting_infos[id].key, ret, err);
}

static bool take_settings(Arena *a, const Settings *s, GatewayConfig *c, Err *err)
{
#define X(NAME, field, id)                                                                         \
    if (setting_text(s, id).n)                                                                     \
        c->platforms[GATEWAY_##NAME].field = setting_text(s, id);
    TEXT_SETTINGS(X)
#undef X
#define X(NAME, field, id)                                                                         \
    if (!take_file(a, s, id, &c->platforms[GATEWAY_##NAME].field, err))                            \
        return false;
    SECRET_FILES(X)
#undef X
    c->interrupts = str_eqz(setting_text(s, SETTING_GATEWAY_BUSY), "interrupt");
    return true;
}

/* -- the environment --------------------------------------------------------------------------------------- */

static void take_variable(const char *name, Str *ret)
{
    Str value = str_trim(str_of(getenv(name)));

    if (value.n)
        *ret = value;
}

static void take_environment(GatewayConfig *c)
{
#define X(field, KEY, secret, text) take_variable("TALARIA_TELEGRAM_" KEY, &telegram->field);
    PlatformConfig *telegram = &c->platforms[GATEWAY_TELEGRAM];
    PLATFORM_TEXTS(X)
#undef X
#define X(field, KEY, secret, text) take_variable("TALARIA_DISCORD_" KEY, &discord->field);
    PlatformConfig *discord = &c->platforms[GATEWAY_DISCORD];
    PLATFORM_TEXTS(X)
#undef X
#define X(field, KEY, secret, text) take_variable("TALARIA_SLACK_" KEY, &slack->field);
    PlatformConfig *slack = &c->platforms[GATEWAY_SLACK];
    PLATFORM_TEXTS(X)
#undef X
}

/* -- all of it ---------------------------------------------------------------------------------------------- */

static const Home *hermes_home(const Homes *homes)
{
    for (size_t i = 0; i < homes->n; i++)
        if (homes->all[i].kind == HOME_HERMES)
            return &homes->all[i];
    return NULL;
}

static bool has_token(const PlatformConfig *p)
{
    return p->token.n > 0;
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
                    return err_set(err, ERR_INVALID,
                                   "a secret of %s has a blank or a control in it", names[i]);
    }
    return true;
}

bool gateway_config(Arena *a, const Settings *settings, const Homes *homes, GatewayConfig *ret,
                    Err *err)
{
    const Home *hermes = hermes_home(homes);
    GatewayConfig c = { .flags = KEY_FLAGS };

    if (hermes && hermes_gateway_runs(hermes->path))
        log_note("a Hermes gateway is running on '%.*s': the platforms that it is configured "
                 "with are left to it",
                 STR_FMT(hermes->path));
    else
        gateway_config_hermes(a, hermes ? hermes->path : STR_NONE, &c);
    if (!take_settings(a, settings, &c, err))
        return false;
    take_environment(&c);
    if (!check_secrets(&c, err))
        return false;
    c.platforms[GATEWAY_LOCAL].enabled = setting_bool(settings, SETTING_LOCAL_ENABLED);
#define X(NAME)                                                                                    \
    c.platforms[GATEWAY_##NAME].enabled = has_token(&c.platforms[GATEWAY_##NAME]) &&               \
                                          setting_bool(settings, SETTING_##NAME##_ENABLED);
    X(TELEGRAM)
    X(DISCORD)
    X(SLACK)
#undef X
    *ret = c;
    return true;
}

#include "model/config.h"

#include "base/limits.h"
#include "model/dialect.h"
#include "net/url.h"
#include "text/settings_secret.h"

enum { BACKOFF_MS = 500 };

static Str env_or(const char *variable, const Settings *settings, SettingId id)
{
    Str value = str_trim(str_of(getenv(variable)));

    return value.n ? value : setting_text(settings, id);
}

bool model_config_exists(const Settings *settings)
{
    return env_or("TALARIA_MODEL_BASE_URL", settings, SETTING_MODEL_BASE_URL).n ||
           env_or("TALARIA_MODEL", settings, SETTING_MODEL_NAME).n || settings->n_models > 0;
}

ModelConfig model_config_plain(Str base_url, Str name, ModelDialect dialect, Str key)
{
    return (ModelConfig){ .base_url = base_url,
                          .name = name,
                          .dialect = dialect,
                          .key = key,
                          .at_once = 1,
                          .times = { .connect = LIMIT_MODEL_CONNECT_MS,
                                     .first = LIMIT_MODEL_FIRST_MS,
                                     .idle = LIMIT_MODEL_IDLE_MS,
                                     .total = LIMIT_MODEL_TOTAL_MS },
                          .tries = LIMIT_MODEL_TRIES,
                          .retry_ms = LIMIT_MODEL_RETRY_MS,
                          .backoff_ms = BACKOFF_MS };
}

/* A header is one line: a key with a line break in it would be two. */
static bool key_is_clean(Str key)
{
    for (size_t i = 0; i < key.n; i++)
        if ((unsigned char)key.p[i] <= ' ' || key.p[i] == 0x7f)
            return false;
    return true;
}

static bool find_key(Arena *a, const Settings *settings, bool own, Str *ret, Err *err)
{
    Str key = own ? STR("") : str_trim(str_of(getenv("TALARIA_MODEL_KEY")));
    Str variable = setting_text(settings, SETTING_MODEL_API_KEY_ENV);

    if (!key.n && variable.n)
        key = str_trim(str_of(getenv(str_z(a, variable))));
    if (!key.n && !secret_read(a, settings, SETTING_MODEL_API_KEY_FILE, &key, err))
        return false;
    if (!key.n && variable.n)
        return err_set(err, ERR_NOT_FOUND,
                       "the environment variable '%.*s' (model.api_key_env) is not set; set it, or "
                       "run 'talaria config set model.api_key'",
                       STR_FMT(variable));
    if (!key_is_clean(key))
        return err_set(err, ERR_INVALID,
                       "the API key of the model has a space or a control character in it");
    *ret = str_dup(a, key);
    return true;
}

static bool find_dialect(const Settings *settings, bool own, ModelDialect *ret, Err *err)
{
    Str name = own ? setting_text(settings, SETTING_MODEL_DIALECT)
                   : env_or("TALARIA_MODEL_DIALECT", settings, SETTING_MODEL_DIALECT);

    if (!model_dialect_of(name, ret))
        return err_set(err, ERR_INVALID,
                       "unknown dialect '%.*s'; use openai-chat, openai-responses or anthropic",
                       STR_FMT(name));
    return true;
}

static bool check_address(Arena *a, const ModelConfig *c, Err *err)
{
    FetchRequest probe = { .secret = c->key.n > 0, .allow_plain = c->allow_plain };
    Str url;

    if (!model_url(a, c, &url, err))
        return false;
    probe.url = url.p;
    return fetch_check(&probe, err);
}

/* own: an address from the file alone; what the environment says is about another one. */
static bool read_config(Arena *a, const Settings *settings, bool own, Str name, ModelConfig *ret,
                        Err *err)
{
    ModelConfig c = model_config_plain(STR(""), STR(""), MODEL_OPENAI_CHAT, STR(""));

    c.base_url =
        str_dup(a, own ? setting_text(settings, SETTING_MODEL_BASE_URL)
                       : env_or("TALARIA_MODEL_BASE_URL", settings, SETTING_MODEL_BASE_URL));
    c.name = str_dup(a, name.n ? name : env_or("TALARIA_MODEL", settings, SETTING_MODEL_NAME));
    c.proxy = setting_text(settings, SETTING_MODEL_PROXY);
    c.allow_plain = setting_bool(settings, SETTING_MODEL_ALLOW_PLAIN);
    c.at_once = setting_int(settings, SETTING_MODEL_AT_ONCE);
    c.max_tokens = setting_int(settings, SETTING_MODEL_MAX_TOKENS);
    c.window = setting_int(settings, SETTING_MODEL_WINDOW);
    c.price_input = setting_real(settings, SETTING_MODEL_PRICE_INPUT);
    c.price_output = setting_real(settings, SETTING_MODEL_PRICE_OUTPUT);
    if (!c.base_url.n)
        return err_set(err, ERR_NOT_FOUND,
                       "no model is configured; run 'talaria setup', or 'talaria config set "
                       "model.base_url URL' and 'talaria config set model.name NAME'");
    if (!c.name.n)
        return err_set(err, ERR_NOT_FOUND,
                       "the model has no name; run 'talaria setup' or 'talaria config set "
                       "model.name NAME'");
    if (c.at_once < 1)
        return err_set(err, ERR_INVALID, "model.at_once must be at least 1");
    if (!find_dialect(settings, own, &c.dialect, err) || !find_key(a, settings, own, &c.key, err))
        return false;
    if (!check_address(a, &c, err))
        return err_wrap(err, "the model's address");
    *ret = c;
    return true;
}

bool model_config(Arena *a, const Settings *settings, ModelConfig *ret, Err *err)
{
    return model_config_of(a, settings, STR(""), ret, err);
}

/* The file as it would be if `model` were this one. */
static Settings settings_for(const Settings *settings, const NamedModel *m)
{
    Settings s = *settings;

    if (m->values[SETTING_MODEL_BASE_URL].n)
        s.values[SETTING_MODEL_API_KEY_ENV].text = s.values[SETTING_MODEL_API_KEY_FILE].text =
            STR("");
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (m->values[i].p)
            s.values[i].text = m->values[i];
    return s;
}

bool model_config_of(Arena *a, const Settings *settings, Str request, ModelConfig *ret, Err *err)
{
    const NamedModel *m = settings_model(settings, request);
    Settings s;

    /* Where there is no default, the first of those that have a name is it. */
    if (!m && settings->n_models &&
        !env_or("TALARIA_MODEL_BASE_URL", settings, SETTING_MODEL_BASE_URL).n)
        m = request.n ? NULL : &settings->models[0];
    if (!m)
        return read_config(a, settings, false, request, ret, err);
    s = settings_for(settings, m);
    return read_config(a, &s, m->values[SETTING_MODEL_BASE_URL].n > 0,
                       m->values[SETTING_MODEL_NAME].n ? m->values[SETTING_MODEL_NAME] : m->name,
                       ret, err) ||
           err_wrap(err, "model '%.*s'", STR_FMT(m->name));
}

bool model_url(Arena *a, const ModelConfig *config, Str *ret, Err *err)
{
    const Dialect *d = dialect_of(config->dialect);
    Str base = config->base_url;
    bool add;
    Url url;

    if (!url_parse(a, str_z(a, base), &url, err))
        return false;
    while (base.n && base.p[base.n - 1] == '/')
        base.n--;
    add = url.path.n <= 1 || (d->v1_always && !str_ends(base, STR("/v1")));
    *ret = str_printf(a, "%.*s%s%s", STR_FMT(base), add ? "/v1" : "", d->path);
    return true;
}

bool model_is_official(const ModelConfig *config)
{
    AUTO(Arena) *a = arena_new();
    Err ignored;
    Url url;

    return url_parse(a, str_z(a, config->base_url), &url, &ignored) &&
           (str_eqz(url.host, "api.openai.com") || str_ends(url.host, STR(".openai.azure.com")));
}

#include "text/settings.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "text/yml.h"

const SettingInfo setting_infos[SETTING_COUNT] = {
#define X(id, key, kind, fallback, help) [id] = { key, kind, fallback, help },
    SETTINGS(X)
#undef X
};

static bool unknown(Str key, Err *err)
{
    size_t best = 0, min = SIZE_MAX;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        size_t d = str_distance(key, str_of(setting_infos[i].key));

        if (d < min) {
            min = d;
            best = i;
        }
    }
    if (min <= 2 + key.n / 4) /* a guess that is far off does not help */
        return err_set(err, ERR_INVALID, "unknown setting '%.*s'; did you mean '%s'?", STR_FMT(key),
                       setting_infos[best].key);
    return err_set(err, ERR_INVALID,
                   "unknown setting '%.*s'; 'talaria config list' shows all of them", STR_FMT(key));
}

static bool valid(const SettingInfo *info, Str value)
{
    int64_t n;
    double real;

    switch (info->kind) {
    case SETTING_BOOL:
        return str_eqz(value, "true") || str_eqz(value, "false");
    case SETTING_INT:
        return str_to_int(value, 0, INT32_MAX, &n);
    case SETTING_REAL:
        return str_to_double(value, &real) && real >= 0 && real < 1e9;
    case SETTING_CHOICE:
        return str_is_one_of(value, info->fallback);
    case SETTING_TEXT:
        return value.n < LIMIT_PATH_BYTES;
    }
    return false;
}

/* "a|b|c" as a sentence has it. */
static const char *choices_text(Arena *a, const char *choices)
{
    Str rest = str_of(choices), text = STR(""), one;

    while (str_split(&rest, '|', &one))
        text = !text.n  ? one
               : rest.n ? str_printf(a, "%.*s, %.*s", STR_FMT(text), STR_FMT(one))
                        : str_printf(a, "%.*s or %.*s", STR_FMT(text), STR_FMT(one));
    return str_z(a, text);
}

static const char *wanted(Arena *a, const SettingInfo *info)
{
    switch (info->kind) {
    case SETTING_BOOL:
        return "true or false";
    case SETTING_INT:
        return "a whole number";
    case SETTING_REAL:
        return "a number of 0 or more";
    case SETTING_CHOICE:
        return choices_text(a, info->fallback);
    case SETTING_TEXT:
        return "a shorter text";
    }
    return "";
}

static bool check_value(Arena *a, const SettingInfo *info, Str key, Str value, Err *err)
{
    return valid(info, value) || err_set(err, ERR_INVALID, "'%.*s' must be %s, not '%.*s'",
                                         STR_FMT(key), wanted(a, info), STR_FMT(value));
}

static NamedModel *model_named(Arena *a, Settings *s, Str name)
{
    const NamedModel *known = settings_model(s, name);

    if (known)
        return &s->models[known - s->models];
    if (s->n_models == LIMIT_MODELS)
        return NULL;
    if (!s->models)
        s->models = ARENA_ARRAY(a, NamedModel, LIMIT_MODELS);
    s->models[s->n_models].name = str_dup(a, name);
    return &s->models[s->n_models++];
}

/* models.NAME.FIELD, where model.FIELD is a setting; the name may have dots in it. */
static bool set_model(Arena *a, Settings *s, Str key, Str value, Err *err)
{
    Str rest = str_skip(key, strlen("models.")), field;
    size_t dot = rest.n;
    NamedModel *m;

    while (dot && rest.p[dot - 1] != '.')
        dot--;
    field = str_printf(a, "model.%.*s", STR_FMT(str_skip(rest, dot)));
    for (size_t i = 0; dot > 1 && i < SETTING_COUNT; i++) {
        if (!str_eqz(field, setting_infos[i].key))
            continue;
        if (!check_value(a, &setting_infos[i], key, value, err))
            return false;
        m = model_named(a, s, str_head(rest, dot - 1));
        if (!m)
            return err_set(err, ERR_INVALID, "more than %d models", LIMIT_MODELS);
        m->values[i] = str_dup(a, value);
        return true;
    }
    return err_set(err, ERR_INVALID,
                   "unknown setting '%.*s'; a model is 'models: {NAME: {base_url: ..., "
                   "name: ...}}'",
                   STR_FMT(key));
}

static bool set_value(Arena *a, Settings *s, Str key, Str value, Err *err)
{
    if (setting_is_secret(key))
        return err_set(err, ERR_INVALID,
                       "a secret does not belong in this file; 'talaria config set %.*s' asks for "
                       "it and keeps it in a file of mode 0600, which '%.*s_file' names",
                       STR_FMT(key), STR_FMT(key));
    if (str_starts(key, STR("models.")))
        return set_model(a, s, key, value, err);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const SettingInfo *info = &setting_infos[i];

        if (!str_eqz(key, info->key))
            continue;
        if (!check_value(a, info, key, value, err))
            return false;
        s->values[i].text = str_dup(a, value);
        s->values[i].given = true;
        return true;
    }
    return unknown(key, err);
}

bool setting_check(Arena *a, Str key, Str value, Err *err)
{
    Settings scratch = { 0 };

    return set_value(a, &scratch, key, value, err);
}

/* "model:" with everything below it commented out. */
static bool is_empty_group(Arena *a, Str key, Str value)
{
    Str prefix = str_printf(a, "%.*s.", STR_FMT(key));

    for (size_t i = 0; !value.n && i < SETTING_COUNT; i++)
        if (str_starts(str_of(setting_infos[i].key), prefix))
            return true;
    return !value.n && str_eqz(key, "models");
}

/* Maps within maps become dotted keys; anything but a scalar at the end is refused. */
static bool take_map(Arena *a, Settings *s, yaml_document_t *doc, yaml_node_t *map, Str prefix,
                     size_t depth, Err *err)
{
    if (depth > LIMIT_SETTING_DEPTH)
        return err_set(err, ERR_INVALID, "more than %d levels", LIMIT_SETTING_DEPTH);
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        yaml_node_t *k = yaml_document_get_node(doc, p->key);
        yaml_node_t *v = yaml_document_get_node(doc, p->value);
        size_t line = k->start_mark.line + 1;
        Str name, key;

        if (k->type != YAML_SCALAR_NODE)
            return err_set(err, ERR_INVALID, "line %zu: a key must be a word", line);
        name = yml_text(k);
        key = prefix.n ? str_printf(a, "%.*s.%.*s", STR_FMT(prefix), STR_FMT(name)) : name;
        if (v->type == YAML_MAPPING_NODE) {
            if (!take_map(a, s, doc, v, key, depth + 1, err))
                return false;
        } else if (v->type != YAML_SCALAR_NODE) {
            return err_set(err, ERR_INVALID, "line %zu: '%.*s' cannot be a list", line,
                           STR_FMT(key));
        } else if (!is_empty_group(a, key, yml_text(v)) &&
                   !set_value(a, s, key, yml_text(v), err)) {
            return err_wrap(err, "line %zu", line);
        }
    }
    return true;
}

bool settings_parse(Arena *a, Str yaml, Settings *s, Err *err)
{
    yaml_document_t doc;
    yaml_node_t *root;
    bool ok = true;

    if (!yml_load(yaml, 1, &doc, err))
        return false;
    root = yaml_document_get_root_node(&doc);
    if (root && root->type == YAML_MAPPING_NODE)
        ok = take_map(a, s, &doc, root, STR(""), 0, err);
    else if (root && !(root->type == YAML_SCALAR_NODE && root->data.scalar.length == 0))
        ok = err_set(err, ERR_INVALID, "line 1: 'key: value' was expected");
    yaml_document_delete(&doc);
    return ok;
}

Str settings_path(Arena *a)
{
    Str config = str_trim(str_of(getenv("XDG_CONFIG_HOME")));
    Str user = str_trim(str_of(getenv("HOME")));

    if (!config.n && !user.n)
        return STR("");
    if (!config.n)
        config = str_join_path(a, user, STR(".config"));
    return str_join_path(a, config, STR("talaria/config.yaml"));
}

void settings_defaults(Settings *ret)
{
    *ret = (Settings){ 0 };
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        Str fallback = str_of(setting_infos[i].fallback);

        if (setting_infos[i].kind == SETTING_CHOICE)
            (void)str_split(&fallback, '|', &ret->values[i].text);
        else
            ret->values[i].text = fallback;
    }
}

bool settings_load(Arena *a, Settings *ret, Err *err)
{
    Settings s;
    Str yaml;

    settings_defaults(&s);
    /* Most machines have no file; asking first keeps the common case quiet and cheap. */
    s.path = settings_path(a);
    if (s.path.n && access(s.path.p, F_OK) == 0) {
        s.found = true;
        if (!file_read(a, s.path.p, LIMIT_CONFIG_BYTES, &yaml, err))
            return false;
        if (!settings_parse(a, yaml, &s, err))
            return err_wrap(err, "'%.*s'", STR_FMT(s.path));
    }
    *ret = s;
    return true;
}

const NamedModel *settings_model(const Settings *s, Str name)
{
    for (size_t i = 0; i < s->n_models; i++)
        if (str_eq(s->models[i].name, name))
            return &s->models[i];
    return NULL;
}

bool setting_bool(const Settings *s, SettingId id)
{
    return str_eqz(s->values[id].text, "true");
}

int64_t setting_int(const Settings *s, SettingId id)
{
    int64_t n = 0;

    ASSERT(str_to_int(s->values[id].text, 0, INT32_MAX, &n));
    return n;
}

double setting_real(const Settings *s, SettingId id)
{
    double n = 0;

    ASSERT(str_to_double(s->values[id].text, &n));
    return n;
}

Str setting_text(const Settings *s, SettingId id)
{
    return s->values[id].text;
}

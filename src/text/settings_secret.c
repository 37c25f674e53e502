#include "text/settings_secret.h"

#include <sys/stat.h>

#include "base/file.h"

enum { MAX_SECRET = 4096 };

const SecretInfo secret_infos[] = {
#define X(key, file, variable, help) { key, file, variable, help },
    SECRETS(X)
#undef X
};
const size_t secret_count = ARRAY_LEN(secret_infos);

const SecretInfo *secret_info(Str key)
{
    if (str_starts(key, STR("models.")) && str_ends(key, STR(".api_key")))
        key = STR("model.api_key");
    for (size_t i = 0; i < secret_count; i++)
        if (str_eqz(key, secret_infos[i].key))
            return &secret_infos[i];
    return NULL;
}

bool setting_is_secret(Str key)
{
    return secret_info(key) != NULL;
}

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

static bool read_file(Arena *a, const char *path, const char *key, Str *ret, Err *err)
{
    struct stat st;
    Str text;

    if (stat(path, &st) != 0)
        return err_errno(err, "cannot read '%s' (%s)", path, key);
    if (st.st_mode & 077)
        return err_set(err, ERR_REFUSED,
                       "'%s' (%s) can be read by others: it must have mode 0600, not %04o", path,
                       key, st.st_mode & 07777);
    if (!file_read(a, path, MAX_SECRET, &text, err))
        return err_wrap(err, "%s", key);
    *ret = str_trim(text);
    return ret->n || err_set(err, ERR_INVALID, "'%s' (%s) is empty", path, key);
}

bool secret_read(Arena *a, const Settings *s, SettingId id, Str *ret, Err *err)
{
    Str path = setting_text(s, id);

    if (path.n)
        return read_file(a, str_z(a, absolute(a, s, path)), setting_infos[id].key, ret, err);
    *ret = STR("");
    return true;
}

Str secret_source(Arena *a, const Settings *s, const SecretInfo *info)
{
    Str path = setting_text(s, info->file);
    Str other = info->file == SETTING_MODEL_API_KEY_FILE
                    ? setting_text(s, SETTING_MODEL_API_KEY_ENV)
                    : STR("");

    if (str_trim(str_of(getenv(info->variable))).n)
        return str_printf(a, "environment variable %s", info->variable);
    if (other.n && str_trim(str_of(getenv(str_z(a, other)))).n)
        return str_printf(a, "environment variable %.*s", STR_FMT(other));
    return path.n ? absolute(a, s, path) : STR_NONE;
}

bool secret_check(Str key, Str secret, Err *err)
{
    if (!secret.n)
        return err_set(err, ERR_INVALID, "no value was given for '%.*s'", STR_FMT(key));
    if (secret.n > MAX_SECRET)
        return err_set(err, ERR_TOO_LARGE, "'%.*s' has more than %d bytes", STR_FMT(key),
                       MAX_SECRET);
    for (size_t i = 0; i < secret.n; i++)
        if ((unsigned char)secret.p[i] <= ' ' || (unsigned char)secret.p[i] >= 0x7f)
            return err_set(err, ERR_INVALID,
                           "'%.*s' has a space or a control character in it; copy it again",
                           STR_FMT(key));
    return true;
}

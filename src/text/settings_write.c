#include "text/settings_write.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "text/yml_edit.h"

enum { LOCK_MS = 10000 };

/* -- the file -- */

typedef struct ConfigFile {
    char *path; /* what is replaced: where config.yaml is a link, the file behind it */
    FileLock *lock;
    Str text;
} ConfigFile;

static void file_done(ConfigFile *f)
{
    lock_release(f->lock);
}
#define AUTO_CONFIG __attribute__((cleanup(file_done))) ConfigFile

static Str folder_of(Str path)
{
    size_t n = path.n;

    while (n && path.p[n - 1] != '/')
        n--;
    return str_head(path, n ? n - 1 : 0);
}

static bool file_begin(Arena *a, const Settings *s, ConfigFile *f, Err *err)
{
    char *real;

    if (!s->path.n)
        return err_set(err, ERR_NOT_FOUND,
                       "no place for config.yaml: neither HOME nor XDG_CONFIG_HOME is set");
    if (!folder_make(str_z(a, folder_of(s->path)), err))
        return false;
    f->lock = lock_take(str_z(a, str_printf(a, "%.*s.lock", STR_FMT(s->path))), LOCK_MS, err);
    if (!f->lock)
        return false;
    real = realpath(s->path.p, NULL);
    f->path = str_z(a, real ? str_of(real) : s->path);
    free(real);
    f->text = STR("");
    return access(f->path, F_OK) != 0 || file_read(a, f->path, LIMIT_CONFIG_BYTES, &f->text, err);
}

static bool file_end(const ConfigFile *f, Str text, Err *err)
{
    if (text.n > LIMIT_CONFIG_BYTES)
        return err_set(err, ERR_TOO_LARGE, "'%s' would have more than %zu bytes", f->path,
                       (size_t)LIMIT_CONFIG_BYTES);
    return str_eq(text, f->text) || file_write_atomic(f->path, text, err);
}

/* -- settings -- */

static bool is_known(Str key)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (str_eqz(key, setting_infos[i].key))
            return true;
    return setting_is_secret(key);
}

Str setting_full_key(Arena *a, Str key)
{
    Str full = str_printf(a, "platforms.%.*s", STR_FMT(key));

    return !is_known(key) && is_known(full) ? full : key;
}

static bool put(Arena *a, const Settings *s, Str key, Str value, Err *err)
{
    AUTO_CONFIG f = { 0 };
    Str text;

    return file_begin(a, s, &f, err) &&
           (yml_set(a, f.text, key, value, &text, err) || err_wrap(err, "'%s'", f.path)) &&
           file_end(&f, text, err);
}

bool settings_set(Arena *a, const Settings *s, Str key, Str value, Err *err)
{
    return setting_check(a, key, value, err) && put(a, s, key, value, err);
}

bool settings_unset(Arena *a, const Settings *s, Str key, bool *ret_found, Err *err)
{
    AUTO_CONFIG f = { 0 };
    Str text;

    return file_begin(a, s, &f, err) &&
           (yml_unset(a, f.text, key, &text, ret_found, err) || err_wrap(err, "'%s'", f.path)) &&
           file_end(&f, text, err);
}

/* -- secrets -- */

/* A key as the name of a file: that of a model may have anything in it. */
static Str secret_name(Arena *a, Str key)
{
    char *name = str_z(a, str_printf(a, "secrets/%.*s", STR_FMT(key)));

    for (char *c = name + strlen("secrets/"); *c; c++)
        if (!((*c >= '0' && *c <= '9') || ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') ||
              strchr("._-", *c)))
            *c = '_';
    return str_of(name);
}

static Str file_key(Arena *a, Str key)
{
    return str_printf(a, "%.*s_file", STR_FMT(key));
}

bool secret_set(Arena *a, const Settings *s, Str key, Str secret, Err *err)
{
    Str name = secret_name(a, key), path = str_join_path(a, folder_of(s->path), name);

    /* The value first: a setting never names a file that is not there. */
    return secret_check(key, secret, err) && setting_check(a, file_key(a, key), name, err) &&
           folder_make(str_z(a, folder_of(path)), err) &&
           file_write_atomic(str_z(a, path), str_printf(a, "%.*s\n", STR_FMT(secret)), err) &&
           put(a, s, file_key(a, key), name, err);
}

bool secret_unset(Arena *a, const Settings *s, Str key, bool *ret_found, Err *err)
{
    char *path = str_z(a, str_join_path(a, folder_of(s->path), secret_name(a, key)));

    if (!settings_unset(a, s, file_key(a, key), ret_found, err))
        return false;
    return access(path, F_OK) != 0 || file_remove(path, err);
}

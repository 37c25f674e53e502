#include "store/homes.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"

static bool is_folder(Arena *a, Str path)
{
    struct stat st;

    return stat(str_z(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

/* Anything in the database's place counts: a folder there is an error that must be told. */
static bool exists(Arena *a, Str path)
{
    struct stat st;

    return lstat(str_z(a, path), &st) == 0;
}

/* "~/x" and relative paths, made absolute without asking whether they exist. */
static Str absolute(Arena *a, Str path)
{
    char here[LIMIT_PATH_BYTES];

    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    if ((path.n && path.p[0] == '/') || !getcwd(here, sizeof here))
        return str_dup(a, path);
    return str_join_path(a, str_of(here), path);
}

static Str from_env(const char *name)
{
    return str_trim(str_of(getenv(name)));
}

/* $NAME, or the folder under the user's home. */
static bool folder_setting(Arena *a, const char *variable, const char *under_home, Str *ret,
                           Err *err)
{
    Str value = from_env(variable), user = from_env("HOME");

    if (value.n) {
        *ret = absolute(a, value);
        return true;
    }
    if (!user.n)
        return err_set(err, ERR_USAGE, "neither $%s nor $HOME is set; give --data DIR", variable);
    *ret = str_join_path(a, absolute(a, user), str_of(under_home));
    return true;
}

bool homes_hermes_folder(Arena *a, Str *ret, Err *err)
{
    return folder_setting(a, "HERMES_HOME", ".hermes", ret, err);
}

static bool data_folder(Arena *a, const char *option, Str *ret, Err *err)
{
    Str state;

    if (option) {
        if (!*option)
            return err_set(err, ERR_USAGE, "--data needs a folder");
        *ret = absolute(a, str_of(option));
        return true;
    }
    if (from_env("TALARIA_HOME").n)
        return folder_setting(a, "TALARIA_HOME", "", ret, err);
    if (!folder_setting(a, "XDG_STATE_HOME", ".local/state", &state, err))
        return false;
    *ret = str_join_path(a, state, STR("talaria"));
    return true;
}

static void add(Arena *a, Homes *homes, size_t *cap, HomeKind kind, Str name, Str path,
                const char *file)
{
    Home home = { .kind = kind, .name = name, .path = path };

    for (size_t i = 0; i < homes->n; i++)
        if (str_eq(homes->all[i].path, path))
            return;
    if (homes->n == LIMIT_HOMES)
        return;
    home.database = str_join_path(a, path, str_of(file));
    home.present = exists(a, home.database);
    ARENA_PUSH(a, homes->all, homes->n, *cap, home);
}

static bool add_profiles(Arena *a, Homes *homes, size_t *cap, Str hermes, Err *err)
{
    Str folder = str_join_path(a, hermes, STR("profiles"));
    FileEntry *entries;
    size_t n;

    if (!is_folder(a, folder))
        return true;
    if (!folder_list(a, str_z(a, folder), LIMIT_HOMES, &entries, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (entries[i].is_folder)
            add(a, homes, cap, HOME_PROFILE, str_printf(a, "hermes/%.*s", STR_FMT(entries[i].name)),
                str_join_path(a, folder, entries[i].name), "state.db");
    return true;
}

static bool add_given(Arena *a, Homes *homes, size_t *cap, const char *option, Err *err)
{
    Str path = absolute(a, str_of(option));
    bool ours;

    if (!*option)
        return err_set(err, ERR_USAGE, "--home needs a folder");
    if (!is_folder(a, path)) {
        if (exists(a, path))
            return err_set(err, ERR_INVALID, "home '%s' is not a folder", option);
        return err_set(err, ERR_NOT_FOUND, "no home at '%s'", option);
    }
    ours = !exists(a, str_join_path(a, path, STR("state.db"))) &&
           (str_eq(path, homes->data) || exists(a, str_join_path(a, path, STR("talaria.db"))));
    add(a, homes, cap, ours ? HOME_OURS : HOME_GIVEN, path, path, ours ? "talaria.db" : "state.db");
    return true;
}

bool homes_find(Arena *a, const HomesQuery *query, Homes *ret, Err *err)
{
    Homes homes = { 0 };
    size_t cap = 0;
    Str hermes;

    if (!data_folder(a, query->data, &homes.data, err))
        return false;
    if (query->home) {
        if (!add_given(a, &homes, &cap, query->home, err))
            return false;
    } else {
        if (!homes_hermes_folder(a, &hermes, err))
            return false;
        if (is_folder(a, hermes)) {
            add(a, &homes, &cap, HOME_HERMES, STR("hermes"), hermes, "state.db");
            if (query->profiles && !add_profiles(a, &homes, &cap, hermes, err))
                return false;
        }
        add(a, &homes, &cap, HOME_OURS, STR("talaria"), homes.data, "talaria.db");
    }
    homes.primary = homes.all;
    *ret = homes;
    return true;
}

Homes homes_again(Arena *a, const Homes *homes)
{
    Homes now = *homes;

    now.all = ARENA_ARRAY(a, Home, homes->n + 1);
    for (size_t i = 0; i < homes->n; i++) {
        now.all[i] = homes->all[i];
        now.all[i].present = exists(a, now.all[i].database);
    }
    now.primary = homes->primary ? now.all + (homes->primary - homes->all) : NULL;
    return now;
}

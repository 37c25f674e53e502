/* Roots are made canonical before any lookup, so "inside" is a comparison of text. */
#include "sleep/task/places.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "sleep/task/names.h"

/* -- Files of sleep -- */

SleepHome sleep_home(Arena *a, Str data)
{
    Str folder = str_join_path(a, data, STR("sleep"));

    return (SleepHome){ .folder = folder,
                        .staging = str_join_path(a, folder, STR("staging")),
                        .state = str_join_path(a, folder, STR("state.json")) };
}

static bool make_plain_folder(Str folder, Err *err)
{
    AUTO(Arena) *a = arena_new();
    char *path = str_z(a, folder);
    struct stat st;

    if (!folder_make(path, err))
        return false;
    if (lstat(path, &st) != 0)
        return err_errno(err, "cannot look at '%s'", path);
    return S_ISDIR(st.st_mode) ||
           err_set(err, ERR_REFUSED, "'%s' is a symbolic link; sleep needs the folder itself",
                   path);
}

bool sleep_home_make(const SleepHome *home, Err *err)
{
    return make_plain_folder(home->folder, err) && make_plain_folder(home->staging, err);
}

/* -- The managed skill -- */

static bool is_folder(Arena *a, Str path)
{
    struct stat st;

    return path.n && stat(str_z(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

/* A folder below the user's home. */
static Str user_folder(Arena *a, Str name)
{
    const char *user = getenv("HOME");

    return user && *user ? str_join_path(a, str_of(user), name) : STR("");
}

static Str claude_home(Arena *a, const PlaceQuery *query)
{
    return query->claude_home.n ? query->claude_home : user_folder(a, STR(".claude"));
}

static Str hermes_home(const PlaceQuery *query)
{
    for (size_t i = 0; i < query->homes->n; i++)
        if (query->homes->all[i].kind == HOME_HERMES || query->homes->all[i].kind == HOME_GIVEN)
            return query->homes->all[i].path;
    return STR("");
}

static bool place_of_target(Arena *a, const PlaceQuery *query, Str *ret, Err *err)
{
    Str target = query->target;

    if (target.p[0] != '/') {
        if (!query->project.n)
            return err_set(err, ERR_USAGE, "'%.*s' is relative, but there is no project",
                           STR_FMT(target));
        target = str_join_path(a, query->project, target);
    }
    if (!str_ends(target, STR("/SKILL.md")))
        return err_set(err, ERR_USAGE, "the target must be a SKILL.md, not '%.*s'",
                       STR_FMT(target));
    *ret = target;
    return true;
}

bool place_of_managed(Arena *a, const PlaceQuery *query, Str name, Str *ret, Err *err)
{
    Str safe = name_to_stage(name), home;

    if (query->target.n)
        return place_of_target(a, query, ret, err);
    if (!safe.n)
        return err_set(err, ERR_USAGE, "'%.*s' cannot be the name of a skill", STR_FMT(name));
    home = hermes_home(query);
    if (!is_folder(a, home))
        home = claude_home(a, query);
    if (!is_folder(a, home))
        home = query->homes->data;
    *ret = str_printf(a, "%.*s/skills/%.*s/SKILL.md", STR_FMT(home), STR_FMT(safe));
    return true;
}

/* -- Roots -- */

static void add_root(Arena *a, StrList *roots, Str path)
{
    char real[PATH_MAX];

    if (path.n && roots->n < LIMIT_SLEEP_ROOTS && realpath(str_z(a, path), real) &&
        is_folder(a, str_of(real)))
        strs_add_new(a, roots, str_dup(a, str_of(real)));
}

static void add_below(Arena *a, StrList *roots, Str folder, const char *name)
{
    if (folder.n)
        add_root(a, roots, str_join_path(a, folder, str_of(name)));
}

/* The folders in a folder; none if it cannot be listed. */
static size_t subfolders(Arena *a, Str folder, FileEntry **ret)
{
    size_t n = 0, kept = 0;
    Err ignored;

    if (!folder_list(a, str_z(a, folder), LIMIT_SLEEP_ROOTS, ret, &n, &ignored))
        return 0;
    for (size_t i = 0; i < n; i++)
        if ((*ret)[i].is_folder)
            (*ret)[kept++] = (*ret)[i];
    return kept;
}

/* <plugin>/<version>/skills of the newest version, or the older <plugin>/skills. */
static void add_plugin(Arena *a, StrList *roots, Str plugin)
{
    FileEntry *versions;
    size_t n = subfolders(a, plugin, &versions);
    Str newest = STR_NONE;

    for (size_t i = 0; i < n; i++) {
        Str skills = str_join_path(a, str_join_path(a, plugin, versions[i].name), STR("skills"));

        if (!str_eqz(versions[i].name, "skills") && is_folder(a, skills) &&
            (!newest.p || version_cmp(versions[i].name, newest) > 0))
            newest = versions[i].name;
    }
    if (newest.p)
        add_below(a, roots, str_join_path(a, plugin, newest), "skills");
    else
        add_below(a, roots, plugin, "skills");
}

static void add_plugins(Arena *a, StrList *roots, Str claude)
{
    Str cache = str_join_path(a, claude, STR("plugins/cache"));
    FileEntry *markets, *plugins;
    size_t n = subfolders(a, cache, &markets);

    for (size_t i = 0; i < n; i++) {
        Str market = str_join_path(a, cache, markets[i].name);
        size_t m = subfolders(a, market, &plugins);

        for (size_t k = 0; k < m; k++)
            add_plugin(a, roots, str_join_path(a, market, plugins[k].name));
    }
}

bool skill_roots(Arena *a, const PlaceQuery *query, StrList *ret, Err *err)
{
    static const char *const of_project[] = { ".agents/skills", ".claude/skills", ".cursor/skills",
                                              ".devin/skills" };
    Str claude = claude_home(a, query);
    StrList roots = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(of_project); i++)
        add_below(a, &roots, query->project, of_project[i]);
    for (size_t i = 0; i < query->homes->n; i++)
        if (query->homes->all[i].kind != HOME_OURS)
            add_below(a, &roots, query->homes->all[i].path, "skills");
    add_below(a, &roots, claude, "skills");
    add_below(a, &roots, user_folder(a, STR(".agents")), "skills");
    for (size_t i = 0; i < query->extra_roots.n; i++) {
        Str root = query->extra_roots.items[i];

        if (root.n && root.p[0] != '/' && !query->project.n)
            return err_set(err, ERR_USAGE, "'%.*s' is relative, but there is no project",
                           STR_FMT(root));
        root = root.n && root.p[0] != '/' ? str_join_path(a, query->project, root) : root;
        if (!is_folder(a, root))
            return err_set(err, ERR_NOT_FOUND, "there is no folder of skills '%.*s'",
                           STR_FMT(root));
        add_root(a, &roots, root);
    }
    if (claude.n)
        add_plugins(a, &roots, claude);
    *ret = roots;
    return true;
}

static bool is_below(Str path, Str root)
{
    return str_starts(path, root) && path.n > root.n && path.p[root.n] == '/';
}

bool inside_roots(Str path, const StrList *roots)
{
    for (size_t i = 0; i < roots->n; i++)
        if (is_below(path, roots->items[i]))
            return true;
    return false;
}

const char *skill_found_says(SkillFound found)
{
    static const char *const says[] = {
#define X(id, words) words,
        SKILL_FOUNDS(X)
#undef X
    };

    return says[found];
}

/* Hermes keeps skills in folders of categories: root/category/name/SKILL.md, and deeper. */
enum { MAX_DEPTH = 4 };

typedef struct Search {
    Arena *arena;
    Str root, name, found;
    size_t looked; /* folders so far */
    SkillFound result;
} Search;

static void take_file(Search *s, Str folder)
{
    char real[PATH_MAX];
    struct stat st;

    if (!realpath(str_z(s->arena, str_join_path(s->arena, folder, STR("SKILL.md"))), real) ||
        stat(real, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    if (!is_below(str_of(real), s->root))
        s->result = SKILL_REJECTED;
    else if (s->found.p && !str_eqz(s->found, real))
        s->result = SKILL_AMBIGUOUS;
    else if (s->result == SKILL_MISSING)
        s->result = SKILL_FOUND;
    if (!s->found.p)
        s->found = str_dup(s->arena, str_of(real));
}

static bool is_skill(Search *s, Str folder)
{
    return access(str_z(s->arena, str_join_path(s->arena, folder, STR("SKILL.md"))), F_OK) == 0;
}

static void look_below(Search *s, Str folder, int depth)
{
    FileEntry *below;
    size_t n = subfolders(s->arena, folder, &below);

    for (size_t i = 0; i < n && s->looked < LIMIT_SLEEP_ROOTS; i++) {
        Str one = str_join_path(s->arena, folder, below[i].name);

        s->looked++;
        if (str_eq(below[i].name, s->name))
            take_file(s, one);
        else if (depth < MAX_DEPTH && below[i].name.p[0] != '.' && !is_skill(s, one))
            look_below(s, one, depth + 1);
    }
}

SkillFound skill_find(Arena *a, const StrList *roots, Str name, Str *ret_path)
{
    Search s = { .arena = a, .name = name_to_look_up(name), .result = SKILL_MISSING };

    if (!s.name.n)
        return SKILL_REJECTED;
    for (size_t i = 0; i < roots->n && s.result != SKILL_REJECTED; i++) {
        SkillFound so_far = s.result;

        s.root = roots->items[i];
        take_file(&s, str_join_path(a, s.root, s.name));
        if (s.result == so_far && !is_skill(&s, str_join_path(a, s.root, s.name)))
            look_below(&s, s.root, 1);
    }
    if (s.result == SKILL_FOUND)
        *ret_path = s.found;
    return s.result;
}

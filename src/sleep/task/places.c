/* Roots are canonical before anything is looked up in them, so that "inside" is a comparison of text. */
#include "sleep/task/places.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "sleep/task/names.h"

/* -- our own ---------------------------------------------------------------------------------- */

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

/* -- the managed skill ------------------------------------------------------------------------ */

static bool is_folder(Arena *a, Str path)
{
    struct stat st;

    return path.n && stat(str_z(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

static Str claude_home(Arena *a, const PlaceQuery *query)
{
    const char *user = getenv("HOME");

    if (query->claude_home.n)
        return query->claude_home;
    return user && *user ? str_join_path(a, str_of(user), STR(".claude")) : STR("");
}

static Str agents_home(Arena *a)
{
    const char *user = getenv("HOME");

    return user && *user ? str_join_path(a, str_of(user), STR(".agents")) : STR("");
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

/* -- roots ------------------------------------------------------------------------------------ */

typedef struct Roots {
    Arena *arena;
    Str *all;
    size_t n, cap;
} Roots;

static void add_root(Roots *r, Str path)
{
    char real[PATH_MAX];

    if (!path.n || r->n >= LIMIT_SLEEP_ROOTS || !realpath(str_z(r->arena, path), real) ||
        !is_folder(r->arena, str_of(real)))
        return;
    for (size_t i = 0; i < r->n; i++)
        if (str_eqz(r->all[i], real))
            return;
    ARENA_PUSH(r->arena, r->all, r->n, r->cap, str_dup(r->arena, str_of(real)));
}

static void add_below(Roots *r, Str folder, const char *name)
{
    if (folder.n)
        add_root(r, str_join_path(r->arena, folder, str_of(name)));
}

/* Folders in a folder; a folder that cannot be listed has none. */
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

/* <plugin>/<version>/skills of the newest version, or <plugin>/skills as it once was. */
static void add_plugin(Roots *r, Str plugin)
{
    FileEntry *versions;
    size_t n = subfolders(r->arena, plugin, &versions);
    Str newest = STR_NONE;

    for (size_t i = 0; i < n; i++) {
        Str skills = str_join_path(r->arena, str_join_path(r->arena, plugin, versions[i].name),
                                   STR("skills"));

        if (!str_eqz(versions[i].name, "skills") && is_folder(r->arena, skills) &&
            (!newest.p || version_cmp(versions[i].name, newest) > 0))
            newest = versions[i].name;
    }
    if (newest.p)
        add_below(r, str_join_path(r->arena, plugin, newest), "skills");
    else
        add_below(r, plugin, "skills");
}

static void add_plugins(Roots *r, Str claude)
{
    Str cache = str_join_path(r->arena, claude, STR("plugins/cache"));
    FileEntry *markets, *plugins;
    size_t n = subfolders(r->arena, cache, &markets);

    for (size_t i = 0; i < n; i++) {
        Str market = str_join_path(r->arena, cache, markets[i].name);
        size_t m = subfolders(r->arena, market, &plugins);

        for (size_t k = 0; k < m; k++)
            add_plugin(r, str_join_path(r->arena, market, plugins[k].name));
    }
}

bool skill_roots(Arena *a, const PlaceQuery *query, Str **ret, size_t *ret_n, Err *err)
{
    static const char *const of_project[] = { ".agents/skills", ".claude/skills", ".cursor/skills",
                                              ".devin/skills" };
    Str claude = claude_home(a, query);
    Roots r = { .arena = a };

    for (size_t i = 0; i < ARRAY_LEN(of_project); i++)
        add_below(&r, query->project, of_project[i]);
    for (size_t i = 0; i < query->homes->n; i++)
        if (query->homes->all[i].kind != HOME_OURS)
            add_below(&r, query->homes->all[i].path, "skills");
    add_below(&r, claude, "skills");
    add_below(&r, agents_home(a), "skills");
    for (size_t i = 0; i < query->n_extra_roots; i++) {
        Str root = query->extra_roots[i];

        if (root.n && root.p[0] != '/' && !query->project.n)
            return err_set(err, ERR_USAGE, "'%.*s' is relative, but there is no project",
                           STR_FMT(root));
        root = root.n && root.p[0] != '/' ? str_join_path(a, query->project, root) : root;
        if (!is_folder(a, root))
            return err_set(err, ERR_NOT_FOUND, "there is no folder of skills '%.*s'",
                           STR_FMT(root));
        add_root(&r, root);
    }
    if (claude.n)
        add_plugins(&r, claude);
    *ret = r.all;
    *ret_n = r.n;
    return true;
}

bool inside_roots(Str path, const Str *roots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_starts(path, roots[i]) && path.n > roots[i].n && path.p[roots[i].n] == '/')
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
    size_t looked; /* at so many folders */
    SkillFound result;
} Search;

static void take_file(Search *s, Str folder)
{
    char real[PATH_MAX];
    struct stat st;

    if (!realpath(str_z(s->arena, str_join_path(s->arena, folder, STR("SKILL.md"))), real) ||
        stat(real, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    if (!inside_roots(str_of(real), &s->root, 1))
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

SkillFound skill_find(Arena *a, const Str *roots, size_t n, Str name, Str *ret_path)
{
    Search s = { .arena = a, .name = name_to_look_up(name), .result = SKILL_MISSING };

    if (!s.name.n)
        return SKILL_REJECTED;
    for (size_t i = 0; i < n && s.result != SKILL_REJECTED; i++) {
        SkillFound so_far = s.result;

        s.root = roots[i];
        take_file(&s, str_join_path(a, roots[i], s.name));
        if (s.result == so_far && !is_skill(&s, str_join_path(a, roots[i], s.name)))
            look_below(&s, roots[i], 1);
    }
    if (s.result == SKILL_FOUND)
        *ret_path = s.found;
    return s.result;
}

/* Where skills lie. A root that does not exist is left out; links are resolved once, so that one
 * folder that is reached by two ways counts once. */
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "recall/skills_inside.h"

typedef struct Roots {
    Arena *arena;
    SkillRoot *all;
    size_t n, cap;
} Roots;

static void add_root(Roots *r, Str folder, const char *below, Str origin)
{
    char real[PATH_MAX];
    struct stat st;
    SkillRoot root;

    if (!folder.n || r->n >= LIMIT_SKILL_ROOTS)
        return;
    if (*below)
        folder = str_join_path(r->arena, folder, str_of(below));
    if (!realpath(str_z(r->arena, folder), real) || stat(real, &st) != 0 || !S_ISDIR(st.st_mode))
        return;
    for (size_t i = 0; i < r->n; i++)
        if (str_eqz(r->all[i].folder, real))
            return;
    root = (SkillRoot){ str_dup(r->arena, str_of(real)), str_dup(r->arena, origin) };
    ARENA_PUSH(r->arena, r->all, r->n, r->cap, root);
}

static Str below_user(Arena *a, const char *name)
{
    Str user = str_of(getenv("HOME"));

    return user.n ? str_join_path(a, user, str_of(name)) : STR("");
}

static Str claude_home(Arena *a, const SkillPlaces *places)
{
    Str given = str_of(getenv("CLAUDE_CONFIG_DIR"));

    if (places->claude_home.n)
        return places->claude_home;
    return given.n ? given : below_user(a, ".claude");
}

void skills_find_roots(Arena *a, const SkillPlaces *places, SkillRoot **ret, size_t *ret_n)
{
    Roots r = { .arena = a };
    Str claude = claude_home(a, places);
    Str agents = places->agents_home.n ? places->agents_home : below_user(a, ".agents");

    if (places->only.n) {
        add_root(&r, places->only, "", STR("folder"));
    } else {
        add_root(&r, places->project, ".claude/skills", STR("project"));
        add_root(&r, places->project, ".agents/skills", STR("project"));
        for (size_t i = 0; places->homes && i < places->homes->n; i++)
            add_root(&r, places->homes->all[i].path, "skills", places->homes->all[i].name);
        add_root(&r, claude, "skills", STR("claude"));
        add_root(&r, agents, "skills", STR("agents"));
        add_root(&r, claude, "plugins", STR("plugin"));
    }
    *ret = r.all;
    *ret_n = r.n;
}

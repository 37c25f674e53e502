/* Opening, looking again, listing. A look is a walk with one stat a skill; only where the stamp of
 * that walk differs is everything read and indexed anew. A few hundred skills take some ten
 * milliseconds then; keeping files apart would save some of that once in a while, for twice the
 * code. */
#include "recall/skills.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "recall/skills_inside.h"

Skills *skills_open(const SkillPlaces *places, Err *err)
{
    AUTO(Skills) *s = mem_alloc(sizeof *s);

    s->places_arena = arena_new();
    s->arena = arena_new();
    skills_find_roots(s->places_arena, places, &s->roots, &s->n_roots);
    if (!skills_prepare(s, err))
        return NULL;
    return TAKE(s);
}

Skills *skills_close(Skills *s)
{
    if (s) {
        db_close(s->db);
        arena_free(s->arena);
        arena_free(s->places_arena);
    }
    return mem_free(s);
}

/* -- reading -- */

static bool is_known(const Skills *s, Str name)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_eq(s->all[i].name, name))
            return true;
    return false;
}

static void push(Skills *s, const Skill *skill)
{
    if (is_known(s, skill->name))
        s->shadowed++;
    else
        ARENA_PUSH(s->arena, s->all, s->n, s->cap, *skill);
}

static void read_skill(Skills *s, const SkillFile *f)
{
    Arena *a = s->arena;
    Skill skill;
    Str text;
    Err err;

    if (file_read(a, str_z(a, f->path), LIMIT_SKILL_BYTES, &text, &err)) {
        skill_parse(a, str_dup(a, f->name), text, &skill);
    } else {
        skill = (Skill){ .name = str_dup(a, f->name) };
        skill.warning = str_dup(a, str_of(err.text));
    }
    skill.path = str_dup(a, f->path);
    skill.origin = f->origin;
    /* Folders between a plugin's root and its skills say where it came from, not what it is for. */
    if (!skill.category.n && !str_eqz(f->origin, "plugin"))
        skill.category = str_dup(a, f->category);
    push(s, &skill);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const Skill *)a)->name, ((const Skill *)b)->name);
}

static bool read_all(Skills *s, const SkillFile *files, size_t n, Err *err)
{
    Arena *old = s->arena;

    s->arena = arena_new();
    s->all = NULL;
    s->n = s->cap = s->shadowed = 0;
    arena_free(old);
    for (size_t i = 0; i < n; i++)
        read_skill(s, &files[i]);
    for (size_t i = 0; i < s->n_roots; i++)
        skills_read_habits(s->arena, &s->roots[i], s->all, s->n);
    if (s->n)
        qsort(s->all, s->n, sizeof *s->all, by_name);
    return skills_index(s, err);
}

bool skills_refresh(Skills *s, int64_t age_ms, Err *err)
{
    AUTO(Arena) *a = NULL;
    SkillFile *files;
    size_t n, left;
    uint64_t stamp;

    if (s->looked && clock_mono_ms() - s->looked_ms < age_ms)
        return true;
    a = arena_new();
    skills_walk(a, s->roots, s->n_roots, &files, &n, &left, &stamp);
    if (!s->looked || stamp != s->stamp) {
        if (!read_all(s, files, n, err))
            return false;
        s->shadowed += left;
    }
    s->stamp = stamp;
    s->looked = true;
    s->looked_ms = clock_mono_ms();
    return true;
}

bool skills_put(Skills *s, const Skill *all, size_t n, Err *err)
{
    s->all = NULL;
    s->n = s->cap = s->shadowed = 0;
    for (size_t i = 0; i < n; i++)
        push(s, &all[i]);
    if (s->n)
        qsort(s->all, s->n, sizeof *s->all, by_name);
    return skills_index(s, err);
}

/* -- listing -- */

const Skill *skills_all(const Skills *s, size_t *ret_n)
{
    *ret_n = s->n;
    return s->all;
}

size_t skills_shadowed(const Skills *s)
{
    return s->shadowed;
}

const Skill *skills_find(const Skills *s, Str name)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_eq(s->all[i].name, name))
            return &s->all[i];
    return NULL;
}

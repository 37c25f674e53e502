/* skills_inside.h - Skills as its files see it. */
#ifndef TALARIA_RECALL_SKILLS_INSIDE_H
#define TALARIA_RECALL_SKILLS_INSIDE_H

#include "recall/skills.h"
#include "store/db.h"

/* A folder to look in. */
typedef struct SkillRoot {
    Str folder; /* canonical */
    Str origin;
} SkillRoot;

/* What a SKILL.md was when it was read. */
typedef struct SkillFile {
    Str path, name, category, origin; /* the folder's name, the folders above it */
    size_t root;
    int64_t mtime_ns, size;
} SkillFile;

struct Skills {
    Arena *places_arena; /* of the roots */
    SkillRoot *roots;
    size_t n_roots;
    Arena *arena; /* of the list; replaced when something has changed */
    Skill *all;   /* by name */
    Str *names;   /* as requests are compared with them: words with a blank at both ends */
    size_t n, cap, shadowed;
    uint64_t stamp; /* of all files and what is beside them */
    int64_t looked_ms;
    bool looked;
    Db *db;
};

/* skills_places.c */
void skills_find_roots(Arena *a, const SkillPlaces *places, SkillRoot **ret, size_t *ret_n);

/* skills_walk.c: every SKILL.md below the roots, nearest root first, and a number that differs when
 * any of them, a usage file or a list of disabled ones does. */
void skills_walk(Arena *a, const SkillRoot *roots, size_t n_roots, SkillFile **ret, size_t *ret_n,
                 size_t *ret_left, uint64_t *ret_stamp);

/* skills_habits.c: how often each was used, and which the user has switched off. */
void skills_read_habits(Arena *a, const SkillRoot *root, Skill *skills, size_t n);

/* skills_rank.c */
MUST_CHECK bool skills_prepare(Skills *s, Err *err);
MUST_CHECK bool skills_index(Skills *s, Err *err); /* all anew */

#endif

/* places.h - where sleep keeps its files, and where skills live.
 *
 * Everything of our own is below $TALARIA_HOME/sleep (folders 0700, files 0600). A new skill goes to
 * the Hermes home where there is one, else to Claude's, else to ours. A skill that a session used is
 * looked up by its name in the folders that agents read; a name that two of them hold is ambiguous
 * and nobody's. */
#ifndef TALARIA_SLEEP_TASK_PLACES_H
#define TALARIA_SLEEP_TASK_PLACES_H

#include "base/arena.h"
#include "base/err.h"
#include "store/homes.h"

typedef struct SleepHome {
    Str folder;  /* $TALARIA_HOME/sleep */
    Str staging; /* one folder a night */
    Str state;   /* state.json */
} SleepHome;

/* Names only; sleep_home_make makes the folders, and refuses one that is a symbolic link. */
SleepHome sleep_home(Arena *a, Str data);
MUST_CHECK bool sleep_home_make(const SleepHome *home, Err *err);

typedef struct PlaceQuery {
    const Homes *homes;
    Str claude_home; /* empty: ~/.claude */
    Str project;     /* absolute, or empty */
    Str target;      /* --target: an explicit SKILL.md, relative to the project; or empty */
    const Str *extra_roots;
    size_t n_extra_roots;
} PlaceQuery;

/* The SKILL.md of the skill that sleep writes by itself. It need not exist. */
MUST_CHECK bool place_of_managed(Arena *a, const PlaceQuery *query, Str name, Str *ret, Err *err);

/* Folders that hold <name>/SKILL.md: of the project, of the homes of others (Hermes, its profiles), Claude's,
 * ~/.agents, given ones, and the newest version of every plugin of Claude's. Existing ones, canonical, each
 * once. What is learned for a skill of our own home goes to the managed one beside it. */
MUST_CHECK bool skill_roots(Arena *a, const PlaceQuery *query, Str **ret, size_t *ret_n, Err *err);

/* X(id, what is said of a skill that is not to be had) */
#define SKILL_FOUNDS(X)                                                                            \
    X(SKILL_FOUND, "it is there")                                                                  \
    X(SKILL_MISSING, "it is in none of the folders of skills")                                     \
    X(SKILL_AMBIGUOUS, "it is in more than one folder of skills")                                  \
    X(SKILL_REJECTED, "its name is none for a folder, or a link leads out of the folder of "       \
                      "skills")

typedef enum SkillFound {
#define X(id, says) id,
    SKILL_FOUNDS(X)
#undef X
} SkillFound;

const char *skill_found_says(SkillFound found);

/* Directly in a root, else below it in folders of categories. path is set for SKILL_FOUND alone. */
SkillFound skill_find(Arena *a, const Str *roots, size_t n, Str name, Str *ret_path);

/* Whether a canonical path lies inside one of the roots. */
bool inside_roots(Str path, const Str *roots, size_t n);

#endif

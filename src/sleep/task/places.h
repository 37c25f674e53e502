/* places.h - folders: where sleep keeps its files, and where skills are.
 *
 * Sleep's files are below $TALARIA_HOME/sleep (folders 0700, files 0600). A new skill goes to the
 * Hermes history folder if there is one, else to Claude's, else to Talaria's data folder. A skill
 * that a session used is looked up by name in the folders that agents read; a name found in two of
 * them is ambiguous, and that skill is left alone. */
#ifndef TALARIA_SLEEP_TASK_PLACES_H
#define TALARIA_SLEEP_TASK_PLACES_H

#include "store/homes.h"
#include "text/record.h"

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
    StrList extra_roots;
} PlaceQuery;

/* The SKILL.md of the skill that sleep manages. It need not exist. */
MUST_CHECK bool place_of_managed(Arena *a, const PlaceQuery *query, Str name, Str *ret, Err *err);

/* Folders that hold <name>/SKILL.md: of the project, of Hermes and its profiles, of Claude,
 * ~/.agents, the extra ones, and the newest version of each Claude plugin. Only those that exist,
 * canonical, each once. Skills in Talaria's data folder are not among them: what is learned for one
 * goes to the managed skill. */
MUST_CHECK bool skill_roots(Arena *a, const PlaceQuery *query, StrList *ret, Err *err);

/* X(id, message about a skill that cannot be used) */
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
SkillFound skill_find(Arena *a, const StrList *roots, Str name, Str *ret_path);

/* Whether a canonical path is inside one of the roots. */
bool inside_roots(Str path, const StrList *roots);

#endif

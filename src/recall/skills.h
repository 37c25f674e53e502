/* skills.h - the skills that agents on this machine can use, and which of them fit a request.
 *
 * A skill is a folder with a SKILL.md: front matter in YAML, then Markdown. They are found below
 * the homes (Hermes, its profiles, ours), below Claude Code's folder with its plugins, below
 * ~/.agents and in the project. Nothing that is missing or broken in the front matter hides a
 * skill: it is listed with a warning. Of two skills of one name the nearer one counts: project,
 * homes, Claude, plugins.
 *
 * Everything is read once, into an FTS5 table in memory; skills_refresh looks what has changed and
 * reads that. A Skills is for one thread at a time. What is handed out of the list lives until the
 * next refresh; what a shortlist hands out lives in its arena. */
#ifndef TALARIA_RECALL_SKILLS_H
#define TALARIA_RECALL_SKILLS_H

#include "base/arena.h"
#include "base/err.h"
#include "store/homes.h"

/* -- one SKILL.md -- */

typedef struct Skill {
    Str name; /* of the front matter, else of the folder */
    Str description;
    Str tags;      /* blank between them */
    Str category;  /* of the front matter, else the folders between root and skill */
    Str platforms; /* blank between them; empty: any */
    Str headings, body;
    Str path;    /* of the SKILL.md; canonical folder */
    Str origin;  /* "hermes", "hermes/work", "talaria", "claude", "plugin", "agents", "project" */
    Str warning; /* what is wrong with it, for people; empty: nothing */
    bool experimental, disabled;
    int64_t successes, failures; /* as .usage.json beside the skills counts them */
} Skill;

/* Never fails: what cannot be read as front matter is a warning. `name` is the folder's. Text is
 * borrowed from the arena and from `text`. */
void skill_parse(Arena *a, Str name, Str text, Skill *ret);

/* -- all of them -- */

typedef struct SkillPlaces {
    const Homes *homes;
    Str claude_home; /* empty: $CLAUDE_CONFIG_DIR, else ~/.claude */
    Str agents_home; /* empty: ~/.agents */
    Str project;     /* absolute, or empty */
    Str only;        /* this folder and nothing else; empty: the places above */
} SkillPlaces;

typedef struct Skills Skills;

/* Copies what it needs of the places. */
MUST_CHECK Skills *skills_open(const SkillPlaces *places, Err *err);
Skills *skills_close(Skills *s);
AUTO_FREE(Skills, skills_close)

/* Looks again at what is there; within `age_ms` of the last look it does nothing. */
MUST_CHECK bool skills_refresh(Skills *s, int64_t age_ms, Err *err);

/* By name, in byte order. */
const Skill *skills_all(const Skills *s, size_t *ret_n);
/* How many were passed over because a nearer one has their name, or there are too many. */
size_t skills_shadowed(const Skills *s);
/* By name; NULL: there is none. */
const Skill *skills_find(const Skills *s, Str name);

/* -- which of them fit -- */

/* X(id, "name") */
#define SKILL_CONFIDENCES(X)                                                                       \
    X(SKILL_HIGH, "high")                                                                          \
    X(SKILL_MEDIUM, "medium")                                                                      \
    X(SKILL_LOW, "low")

typedef enum SkillConfidence {
#define X(id, name) id,
    SKILL_CONFIDENCES(X)
#undef X
} SkillConfidence;

const char *skill_confidence_name(SkillConfidence c);

enum { SHORTLIST_MOST = 8, SKILL_REASONS = 4 };

typedef struct SkillPick {
    Str name, description, path, origin;
    double score;
    SkillConfidence confidence;
    Str reasons[SKILL_REASONS];
    size_t n_reasons;
} SkillPick;

typedef struct ShortlistQuery {
    Str text;
    Str platform; /* "linux"; empty: the one this runs on */
    size_t max;   /* 0: SHORTLIST_MOST, and never more */
} ShortlistQuery;

typedef struct Shortlist {
    SkillPick *picks; /* best first */
    size_t n;
    struct {
        size_t platform, disabled, score; /* left out, and why */
    } omitted;
} Shortlist;

/* A request without a word to look for has an empty answer. */
MUST_CHECK bool skills_shortlist(Skills *s, Arena *a, const ShortlistQuery *query, Shortlist *ret,
                                 Err *err);

/* These instead of what lies on disk, for the bench and the tests; their text is borrowed. */
MUST_CHECK bool skills_put(Skills *s, const Skill *all, size_t n, Err *err);

#endif

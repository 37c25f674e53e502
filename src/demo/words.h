/* words.h - dice, and texts with holes in them.
 *
 * Every choice of the demo is a throw of seeded dice (splitmix64), so the same seed tells the same
 * story. A text in data/demo/ has holes like «name», filled as follows, first match wins:
 *
 *   «12-40» «4.90-5.60»    a number from a range, with the digits of its bounds
 *   «hex7»                 seven hexadecimal digits
 *   «date» «long» «year»   the day of the session: 2026-03-02, 2 March 2026, 2026
 *   «day-3» «day+1» «mon-1»  three days before it, one day after, the month before
 *   «~name»                «name» as a file would be called: "Gull Rock" is gull-rock
 *   «branch» «cwd» «project»
 *   «name=12-40»           the range, and from now on (in a call: until its end) «name» is that
 *                          number
 *   «name»                 what was remembered; else a "vars" entry of the thread, the project or the
 *                          world, which is then remembered; else a pick from "words", which is not
 *
 * A text may be one string or an array of lines. */
#ifndef TALARIA_DEMO_WORDS_H
#define TALARIA_DEMO_WORDS_H

#include "demo/world.h"

/* -- dice ------------------------------------------------------------------------------- */

typedef struct Dice {
    uint64_t state;
} Dice;

Dice dice_of(const char *what, uint64_t n);
uint64_t dice_roll(Dice *d);
size_t dice_below(Dice *d, size_t n); /* 0 where n is 0 */
int64_t dice_span(Dice *d, int64_t least, int64_t most);
bool dice_chance(Dice *d, unsigned percent);
Json dice_pick(Dice *d, Json array);
Json dice_weighted(Dice *d, Json array); /* of objects with "weight" */

/* -- scenes ----------------------------------------------------------------------------- */

enum { DECKS = 8 };

typedef struct SceneVar {
    Str name, value;
    bool passing; /* forgotten with the move */
} SceneVar;

/* A change that this session plans, or has made, to the project's files. */
typedef struct SceneEdit {
    Json edit;
    Str old, new; /* as they were filled in when it was planned */
    bool made;
} SceneEdit;

/* Where a session takes place: what its texts may speak of. One a session; lives in `arena`. */
typedef struct Scene {
    Arena *arena;
    const World *world;
    Dice dice;
    Json project, thread, voice; /* voice: how people talk in the language of the thread */
    Str lang, cwd, branch;
    double at; /* the day that «date» means */
    SceneVar *vars;
    size_t n_vars, cap_vars;
    bool in_move;        /* words stay the same within one call and its result */
    size_t decks[DECKS]; /* random picks go round instead of repeating themselves */
    SceneEdit *edits;
    size_t n_edits, cap_edits;
} Scene;

Scene scene_of(Arena *a, const World *w, Json thread, double at, uint64_t seed);

/* From now on «name» is this. */
void scene_set(Scene *s, const char *name, Str value);

/* Between these two a word that was picked stays the one: a result answers to its call. */
void scene_move_begin(Scene *s);
void scene_move_end(Scene *s);

Str words_fill(Scene *s, Json text);
Str words_pick(Scene *s, Json texts);      /* one of an array of texts, filled */
Str words_say(Scene *s, const char *what); /* the same from the voice: "good", "ack", ... */

/* A JSON value with every string in it filled; "«#3-9»" becomes a number, and arrays of lines
 * under "output", "content" and "snapshot" become one text. */
void words_json(Scene *s, Json v, JsonWriter *w);

/* YYYY-MM-DD of a time, in UTC. */
Str words_date(Arena *a, double at, int days);

#endif

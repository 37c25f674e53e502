/* rules.h - the tables made by tools/gen_rules.py, and the walk through what was found in a text.
 *
 * A literal has up to three actions: what to do where it occurs. Most count it for a metric; the
 * others look around first. Counting is that of Python's re over alternatives: leftmost first, no
 * overlaps. Hits come in order of their ends, and the generator makes sure that this is the order
 * of their beginnings too; a hit that begins before the end of the last match is passed over. */
#ifndef TALARIA_ACHIEVEMENTS_RULES_H
#define TALARIA_ACHIEVEMENTS_RULES_H

#include "achievements/match.h"
#include "achievements/metrics.h"
#include "achievements/paths.h"

#define ACTIONS(X)                                                                                 \
    X(COUNT)         /* for a metric */                                                            \
    X(COUNT_BOUNDED) /* where it is a word by itself */                                            \
    X(ERROR_WORD)    /* as a word by itself: the message counts, once */                           \
    X(FLAG)          /* raise a flag of the session */                                             \
    X(FLAG_BOUNDED)                                                                                \
    X(PORT_HEAD)                                                                                   \
    X(INSTALL_HEAD)                                                                                \
    X(EXIT_CODE)                                                                                   \
    X(START)                                                                                       \
    X(LOGS)                                                                                        \
    X(MISSING)                                                                                     \
    X(DOCKER)                                                                                      \
    X(CONFLICT)                                                                                    \
    X(GIT)                                                                                         \
    X(CONFIG)                                                                                      \
    X(DOT_ENV)                                                                                     \
    X(BACKGROUND)                                                                                  \
    X(SKILL) /* these two look at the text as it was, the others at the folded one */              \
    X(PATH)

typedef enum ActionKind {
#define X(name) ACT_##name,
    ACTIONS(X)
#undef X
} ActionKind;

typedef enum Flag {
    FLAG_PORT,
    FLAG_INSTALL,
    FLAG_SUCCESS,
    FLAG_RESTART,
    FLAG_TINY,
    FLAG_COUNT
} Flag;

typedef struct Action {
    uint8_t kind, argument; /* a metric or a flag */
} Action;

typedef struct Literal {
    Str text; /* lower case */
    bool exact;
    uint8_t n;
    Action actions[3];
} Literal;

extern const Literal rule_literals[];
extern const size_t rule_literals_n;

/* A tool call whose name, in lower case, holds the needle counts for the metric. */
typedef struct Needle {
    Str text;
    Metric metric;
} Needle;

extern const Needle rule_needles[];
extern const size_t rule_needles_n;

/* -- the tally of one session -- */

/* What is known of the rest of a line: the last place of something before its end. */
typedef struct LineEnd {
    const char *end, *last, *inner;
} LineEnd;

typedef struct Span {
    uint32_t begin, end;
} Span;

typedef struct Tally {
    int64_t count[METRIC_COUNT];
    bool flag[FLAG_COUNT];
    Paths *paths;

    /* of the text at hand */
    const char *begin, *end;
    uint32_t done[METRIC_COUNT]; /* where the last match of a metric ended */
    const uint32_t *row_ends;
    uint32_t error_row_end;
    const Span *folded;
    LineEnd port, install, missing, docker;
    PathRun run;
    uint32_t new_path; /* behind the beginning of the last file name that was new; 0: none was */
} Tally;

/* Rows joined by line feeds, with a line feed before and behind that may be read. U+0130 and U+0131
 * are written as i, U+017F as s, U+212A as k, which the rules take them for. */
typedef struct TallyText {
    Str text;
    const uint32_t *row_ends; /* offsets behind the rows, ascending */
    const Span
        *folded; /* rows that were written so, ascending; the last one begins at UINT32_MAX */
} TallyText;

void tally_text(Tally *t, const TallyText *text, const Hit *hits, size_t n);

/* The two rules that see a row as it was: for the rows in `folded`. Line feeds around it as
 * above. */
void tally_original(Tally *t, Str row);

#endif

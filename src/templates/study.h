/* study.h - does code-first hold for this user? The finding, measured on their own history.
 *
 * A turn is a user message and what follows it until the next. A session is code-heavy when more
 * than half of the tool calls in its first 30 turns are of the code set, file-heavy likewise. Every
 * call with a result is judged (text/outcome.h) and counted in the decile of the session in which
 * it is, by messages.
 *
 * Each decile has the Wilson interval of its share. The slope is that of a line through all calls
 * (1 failed, 0 did not, over the decile 1-10); its error is clustered by session (the sandwich with
 * the correction for few clusters, and Student's t with one degree of freedom less than sessions),
 * so that one long session counts as one witness. */
#ifndef TALARIA_TEMPLATES_STUDY_H
#define TALARIA_TEMPLATES_STUDY_H

#include "templates/past.h"

enum { STUDY_DECILES = 10, STUDY_FIRST_TURNS = 30, STUDY_MIN_SESSIONS = 20 };

/* X(name, as it is written) */
#define STUDY_KINDS(X)                                                                             \
    X(STUDY_CODE, "code-heavy")                                                                    \
    X(STUDY_FILE, "file-heavy")                                                                    \
    X(STUDY_REST, "the rest")

typedef enum StudyKind {
#define X(name, text) name,
    STUDY_KINDS(X)
#undef X
        STUDY_KIND_COUNT
} StudyKind;

const char *study_kind_name(StudyKind kind);

/* -- statistics -- */

typedef struct StudyShare {
    uint64_t calls, failed;
    double share, low, high; /* 95 %; 0, 0 and 1 where there are no calls */
} StudyShare;

StudyShare study_share(uint64_t failed, uint64_t calls);

/* What one session adds to the sums of the line. */
typedef struct StudySums {
    double n, x, y, xx, xy;
} StudySums;

typedef struct StudyFit {
    bool known;              /* false: fewer than two sessions, or all calls in one decile */
    double slope, intercept; /* slope: change of the failing share a decile */
    double error, low, high; /* of the slope; 95 % */
    bool differs;            /* from zero, at 95 % */
} StudyFit;

StudyFit study_fit(const StudySums *sessions, size_t n);

/* -- the study -- */

typedef struct StudyLine {
    size_t sessions;
    uint64_t calls, failed;
    StudyShare deciles[STUDY_DECILES];
    bool enough; /* STUDY_MIN_SESSIONS or more */
    StudyFit fit;
} StudyLine;

typedef struct Study {
    size_t sessions; /* looked at, also those without a call */
    StudyLine lines[STUDY_KIND_COUNT];
} Study;

/* What the line means, in a few words. */
const char *study_verdict(const StudyLine *line);

/* Sums being gathered, a session at a time. */
typedef struct StudyTally {
    Arena *arena; /* for the sums; lives as long as the tally */
    size_t seen;
    struct {
        StudySums *sums;
        size_t n, cap;
        uint64_t calls[STUDY_DECILES], failed[STUDY_DECILES];
    } kinds[STUDY_KIND_COUNT];
} StudyTally;

/* All that the study keeps of one session: small enough to be put aside for the next time. */
typedef struct StudyFacts {
    StudyKind kind;
    uint64_t calls[STUDY_DECILES], failed[STUDY_DECILES];
} StudyFacts;

StudyFacts study_facts(Arena *scratch, const Message *messages, size_t n);
Str study_facts_text(Arena *a, const StudyFacts *facts);
MUST_CHECK bool study_facts_parse(Str text, StudyFacts *ret);

/* A session without a judged call adds nothing. */
void study_add(StudyTally *tally, const StudyFacts *facts);
void study_finish(const StudyTally *tally, Study *ret);

/* The whole history; the parts of a session that compression split are one session, as in lists.
 * Only sessions that changed since the last time are read; without an index, all are. */
MUST_CHECK bool study_run(const Past *past, Study *ret, Err *err);

#endif

/* report.h - what a night has to say: report.json for programs, report.md for people, diagnostics.json
 * for whoever asks why.
 *
 * report.json is the SleepReport with further keys at its end. All text in report.md that comes from
 * transcripts or models stands on one line and is escaped, so that it is shown and never acts. */
#ifndef TALARIA_SLEEP_ADOPTION_REPORT_H
#define TALARIA_SLEEP_ADOPTION_REPORT_H

#include "sleep/task/types.h"

/* A task with its two answers: under the documents as they were, and as proposed. */
typedef struct TaskPair {
    Str id, intent, split, reference_kind;
    bool has_before, has_after;
    ReplayResult before, after;
    double score_before, score_after; /* by which the night decided, 0..1 */
} TaskPair;
typedef LIST_OF(TaskPair) TaskPairs;

/* What one accepted edit is worth, in the order of report.edits. */
typedef struct EditShare {
    Str skill;           /* "" for the managed one */
    double share;        /* of the gain, 0 to 1, by the score lost when it alone is left out */
    StrList moved_tasks; /* ids */
    StrList sessions;    /* where the need for it was seen */
} EditShare;
typedef LIST_OF(EditShare) EditShares;

typedef struct NightReport {
    SleepReport report;
    Str backend, model;
    double cost_usd;
    int64_t n_calls;
    bool has_interval; /* of the gain, candidate - baseline */
    double low, high;
    TaskPairs tasks;
    EditShares shares;
    Str call_error;   /* the last one of the backend; "" for none */
    Str reflect_head; /* of the last reply to a reflection */
} NightReport;

void report_init(NightReport *r);
void report_json(Buf *out, const NightReport *r);
void report_md(Buf *out, const NightReport *r);
void report_diagnostics(Buf *out, const NightReport *r);

MUST_CHECK bool report_parse(Arena *a, Str json, NightReport *ret, Err *err);

/* What came of it, in words: "Accepted: best score so far", "No proposal: every task already passes". */
Str report_verdict(const SleepReport *s);
/* Whether no model answered: the scores show how sleep works, not how good the rules are. */
bool report_simulated(const NightReport *r);

/* s on one line, at most `most` characters, nothing in it meaning anything to Markdown. */
void md_text(Buf *out, Str s, size_t max);

#endif

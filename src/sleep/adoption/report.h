/* report.h - the report of a night: report.json for programs, report.md for people,
 * diagnostics.json for troubleshooting.
 *
 * report.json is the SleepReport with further keys at its end. In report.md, text that comes from
 * transcripts or models is escaped and on one line, so a reader shows it and never interprets
 * it. */
#ifndef TALARIA_SLEEP_ADOPTION_REPORT_H
#define TALARIA_SLEEP_ADOPTION_REPORT_H

#include "sleep/task/types.h"

/* A task with its two answers: under the documents as they were, and as proposed. */
typedef struct TaskPair {
    Str id, intent, split, reference_kind;
    ReplayResult *before, *after;     /* NULL: not replayed */
    double score_before, score_after; /* by which the night decided, 0..1; -1: not replayed */
} TaskPair;
typedef LIST_OF(TaskPair) TaskPairs;

/* How much one accepted edit contributed, in the order of report.edits. */
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
    DoubleList interval; /* of the gain, candidate - baseline: low and high; or empty */
    TaskPairs tasks;
    EditShares shares;
    Str call_error;   /* the backend's last error; "" for none */
    Str reflect_head; /* of the last reply to a reflection */
} NightReport;

extern const RecordTable task_pair_record, edit_share_record;

void report_init(NightReport *r);
void report_json(Buf *out, const NightReport *r);
void report_md(Buf *out, const NightReport *r);
void report_diagnostics(Buf *out, const NightReport *r);

MUST_CHECK bool report_parse(Arena *a, Str json, NightReport *ret, Err *err);

/* The result in words: "Accepted: best score so far", "No proposal: every task already passes". */
Str report_verdict(const SleepReport *s);
/* Whether no model answered: the scores show how sleep works, not how good the rules are. */
bool report_simulated(const NightReport *r);

/* s on one line, at most `max` characters, with everything escaped that Markdown would
 * interpret. */
void md_text(Buf *out, Str s, size_t max);

#endif

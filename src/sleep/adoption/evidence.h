/* evidence.h - the event log of a night, one JSON object per line.
 *
 * {ts, stage, event, ..., seq}. Text is redacted and then cut, with a note of how much was left
 * out; NaN and infinity become null. The file is 0600. A resumed night removes an incomplete last
 * line and continues the numbers.
 *
 *   evidence_begin(e, "gate", "decision");
 *   evidence_str(e, "action", action);
 *   evidence_end(e);
 *
 * Evidence never fails a night: events that cannot be written, or would make the file too large,
 * are dropped, and evidence_close returns false. Not thread-safe. */
#ifndef TALARIA_SLEEP_ADOPTION_EVIDENCE_H
#define TALARIA_SLEEP_ADOPTION_EVIDENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "text/json.h"

#define EVIDENCE_FILE "evidence.jsonl"

/* stage/event: cycle/start, harvest/session, mine/miner_exchange, mine/task_mined, mine/task_ready,
 * replay/model_call, replay/result, reflect/exchange, reflect/edits_returned,
 * reflect/edits_unmatched, gate/baseline, gate/trial, gate/decision, test/held_out_score,
 * stage/staged, cycle/end. */

typedef struct Evidence Evidence;

typedef struct EvidenceOptions {
    size_t max_chars; /* of one text; 0: LIMIT_SLEEP_EVIDENCE; never below 200 */
} EvidenceOptions;

MUST_CHECK Evidence *evidence_open(const char *path, EvidenceOptions options, Err *err);

/* A NULL log ignores everything, for nights without evidence. */
void evidence_begin(Evidence *e, const char *stage, const char *event);
void evidence_str(Evidence *e, const char *key, Str s);
void evidence_int(Evidence *e, const char *key, int64_t n);
void evidence_real(Evidence *e, const char *key, double n);
void evidence_bool(Evidence *e, const char *key, bool b);
void evidence_json(Evidence *e, const char *key,
                   Str json); /* any JSON value; its texts are redacted and cut too */
void evidence_end(Evidence *e);

/* False if a line could not be written. Frees the log in any case. */
bool evidence_close(Evidence *e);

#endif

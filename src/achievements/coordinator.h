/* coordinator.h - at most one scan at a time, and an answer for everyone meanwhile.
 *
 * A scan costs a second on a large history; a page asks many times. The coordinator lets the first
 * caller scan and the others wait or take what is there. It guards one home across threads and, by
 * a lock file that dies with its holder, across processes.
 *
 * State:  idle --run--> running --> idle | failed;  failed --run--> running. A snapshot that was
 * once complete is never replaced by a partial one or by a failure. A reset during a scan wins:
 * what that scan found is thrown away.
 *
 * Thread-safe. Answers are written as the JSON that the routes of the achievements plugin give. */
#ifndef TALARIA_ACHIEVEMENTS_COORDINATOR_H
#define TALARIA_ACHIEVEMENTS_COORDINATOR_H

#include "base/buf.h"
#include "base/err.h"
#include "store/homes.h"
#include "text/settings.h"

typedef struct Coordinator Coordinator;

typedef enum ScanState { SCAN_IDLE, SCAN_RUNNING, SCAN_FAILED } ScanState;

typedef struct ScanStatus {
    ScanState state;
    int64_t started_at, finished_at; /* unix seconds; 0 = never */
    int64_t last_duration_ms;
    uint64_t run_count, joined; /* joined: callers that found a scan running and shared it */
    size_t sessions_done, sessions_total; /* of the running scan */
    char last_error[ERR_TEXT_BYTES];
} ScanStatus;

/* -- life -- */

/* all: the whole history, of every program; else what Hermes' plugin counts, with its files.
 * compat: as the original does it. */
typedef struct CoordinatorOptions {
    bool all, compat;
} CoordinatorOptions;

/* Finds the homes, with all profiles where the settings count those. Nothing is scanned or opened
 * yet. */
MUST_CHECK Coordinator *coordinator_open(const HomesQuery *where, const Settings *settings,
                                         const CoordinatorOptions *options, Err *err);
Coordinator *coordinator_free(Coordinator *c); /* waits for the running scan and for files */
AUTO_FREE(Coordinator, coordinator_free)

/* Called on any thread: "progress" {"done", "total"}, "unlock" {"id", "name", "tier", ...},
 * "snapshot" {"generated_at"}. The data is JSON on one line, borrowed for the call. */
typedef void ScanListener(void *ctx, const char *event, Str data);
void coordinator_listen(Coordinator *c, ScanListener *fn, void *ctx);

/* -- answers -- */

/* Changes whenever one of the answers below may have changed: what callers cache by. */
uint64_t coordinator_version(const Coordinator *c);

/* GET /achievements. Fresh: the cached one. Stale: the cached one, and a refresh begins behind it.
 * None: waits for a scan, at most wait_ms, then the pending payload; once one caller has waited
 * that long, others get it at once until that scan ends. Fails only if a scan failed and there is
 * nothing to show. ret_waited (may be NULL): there was no cached one. */
MUST_CHECK bool coordinator_achievements(Coordinator *c, int wait_ms, bool *ret_waited, Buf *out,
                                         Err *err);
/* So many further callers got the answer of the scan that one of them waited for. */
void coordinator_shared(Coordinator *c, uint64_t callers);

/* GET /scan-status. Never blocks, never begins a scan. */
void coordinator_status_json(Coordinator *c, Buf *out);
ScanStatus coordinator_status(Coordinator *c);

/* POST /rescan: joins the running scan or begins one, waits for its end. If it fails, the answer is
 * the earlier snapshot, stale and with the error; false only if there is none. asked_ms
 * (clock_mono_ms): who had to wait for a thread has joined the scan that ended meanwhile. */
MUST_CHECK bool coordinator_rescan(Coordinator *c, int64_t asked_ms, Buf *out, Err *err);

MUST_CHECK bool coordinator_recent(Coordinator *c, Buf *out, Err *err); /* GET /recent-unlocks */
/* GET /achievements or /recent of one origin alone (1 + Origin): computed again from what is
 * counted, with dates of the history; nothing of it is recorded. */
MUST_CHECK bool coordinator_of_origin(Coordinator *c, int origin, bool recent, Buf *out, Err *err);
MUST_CHECK bool coordinator_badges(Coordinator *c, Str session, Buf *out, Err *err);
MUST_CHECK bool coordinator_reset(Coordinator *c, Buf *out, Err *err); /* POST /reset-state */

#endif

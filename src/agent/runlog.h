/* runlog.h - the events of runs: stored first, then shown to subscribers.
 *
 * A live run keeps its frames in memory, in a feed; one writer thread commits what all runs have
 * said since its last round (so a hundred runs cost one commit) and shows it to the subscribers
 * afterwards. A run that is over is read from the database into the same shape.
 *
 * Any thread, but a subscriber belongs to one reader. A LiveRun is counted: runlog_find,
 * runlog_begin and live_hold give a reference, live_drop takes it back. */
#ifndef TALARIA_AGENT_RUNLOG_H
#define TALARIA_AGENT_RUNLOG_H

#include "agent/feed.h"
#include "agent/runs.h"

typedef struct RunLog RunLog;
typedef struct LiveRun LiveRun;

/* Opens the database with its own handle. */
MUST_CHECK RunLog *runlog_open(Str data_folder, Err *err);
/* Writes all pending events, then ends the thread. After the last subscriber. */
RunLog *runlog_close(RunLog *log);

/* -- Writing -- */

LiveRun *runlog_begin(RunLog *log, Str run_id);

/* Frames in the order of their seq, from 1. Never waits for the disk. */
void live_add(LiveRun *run, FrameEvent event, int64_t seq, Str data);

/* The frames from seq `from` on end the run. `end` must live until `ended` was called, on the
 * writer's thread. If `saved` is false, the write failed and none of these frames was shown;
 * `ended` may add others instead with live_add_instead. */
typedef void LiveEnded(void *ctx, bool saved, const Err *err);
void live_end(LiveRun *run, int64_t from, const RunEnd *end, LiveEnded *ended, void *ctx);
void live_add_instead(LiveRun *run, FrameEvent event, int64_t seq, Str data);

/* -- Finding -- */

/* A live run, or one that is over, read with r. NULL and ERR_NOT_FOUND: there is none;
 * ERR_CONFLICT: it runs in another process. A run whose events were pruned has none. */
MUST_CHECK LiveRun *runlog_find(RunLog *log, Runs *r, Str run_id, Err *err);
bool runlog_is_live(RunLog *log, Str run_id); /* begun here and not over */
LiveRun *live_hold(LiveRun *run);
LiveRun *live_drop(LiveRun *run);
const char *live_id(const LiveRun *run);

/* -- Reading -- */

/* A subscription to the run's feed (feed.h reads it). sub_join takes a reference of run over;
 * after: the last seq that is known already. */
void sub_join(Subscriber *s, LiveRun *run, int64_t after);
void sub_leave(Subscriber *s);

/* Whether there are, or may still come, frames after `after`. */
bool live_has_more(LiveRun *run, int64_t after);

/* Called about once a second: sends heartbeats, drops subscribers that do not read. */
void runlog_beat(RunLog *log);
/* Ends every subscription, now and from now on. */
void runlog_quiet(RunLog *log);

#endif

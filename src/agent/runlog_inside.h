/* runlog_inside.h - the log and a run as runlog.c and runlog_writer.c see them. */
#ifndef TALARIA_AGENT_RUNLOG_INSIDE_H
#define TALARIA_AGENT_RUNLOG_INSIDE_H

#include <pthread.h>
#include <uthash.h>

#include "agent/runlog.h"

struct LiveRun {
    char id[ID_CHARS + 16];
    RunLog *log;
    UT_hash_handle hh; /* under the log's lock, as the next three */
    LiveRun *next_dirty, *next_unsynced;
    int holders;
    bool listed;
    LiveRun *next_taken, *next_ending; /* the writer's, as the next two */
    bool ends;                         /* what the writer has in its hands ends the run */
    bool places;                       /* and is written to its place */

    Feed feed;           /* its lock guards all below */
    size_t saved, taken; /* frames on the disk; in the writer's hands */
    size_t placed;       /* on the disk in their place */
    const RunEnd *end;
    size_t end_from;
    LiveEnded *ended;
    void *ended_ctx;
    bool live; /* begun in this process */
};

typedef struct Batch {
    RunEvent *events, *said;
    RunEnd *ends;
    size_t n_events, cap_events, n_said, cap_said, n_ends, cap_ends;
} Batch;

struct RunLog {
    pthread_mutex_t lock;
    pthread_cond_t more, to_sync;
    pthread_t writer, syncer;
    bool writing, syncing; /* the threads are there */
    bool ending, written;
    size_t grown;     /* events since the last checkpoint */
    int64_t wrote_ms; /* when the last of them was written */
    bool quiet;       /* subscriptions are over */
    Runs *runs, *syncer_runs;
    LiveRun *unsynced; /* ended and committed; by next_unsynced */
    LiveRun *dirty, **last_dirty;
    LiveRun *ending_runs, **last_ending; /* the writer's: their ends wait, by next_ending */
    LiveRun *live;                       /* by id: every run that somebody holds */
};

#endif

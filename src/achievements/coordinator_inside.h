/* coordinator_inside.h - what the files of coordinator.h share; no other file includes it. */
#ifndef TALARIA_ACHIEVEMENTS_COORDINATOR_INSIDE_H
#define TALARIA_ACHIEVEMENTS_COORDINATOR_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "achievements/coordinator.h"
#include "achievements/run.h"
#include "base/clock.h"
#include "base/cond.h"

enum { MAX_LISTENERS = 4, BACKGROUND_NICE = 10 };

struct Coordinator {
    Arena *arena; /* of the homes */
    Homes homes;  /* lanes.h */
    bool compat;
    ScanOptions scan; /* as the settings ask for it, over the homes */
    int64_t ttl;

    pthread_mutex_t lock;
    pthread_cond_t ended;   /* a scan did */
    pthread_cond_t writing; /* the writer has something to do, or shall end */
    ScanStatus status;
    int64_t ended_ms;  /* the last scan did */
    Snapshot *current; /* the last complete one; NULL: none yet */
    Snapshot *partial; /* while there is no complete one */
    _Atomic uint64_t version;
    uint64_t epoch;     /* raised by a reset: scans begun before it are thrown away */
    uint64_t run_epoch; /* in which the running scan began */
    uint64_t mark;      /* of the homes when `current` was made */
    bool overdue; /* a caller has waited in vain for the running scan, without a snapshot to show */
    bool refresh_failed;
    char failure[ERR_TEXT_BYTES]; /* of the last refresh, until one succeeds */
    bool restored;                /* it was looked for an answer of an earlier process */
    bool unsure;                  /* `current` is such, and the history was written since */

    pthread_t writer;
    int scanners; /* threads that scan, or still tell what they found */
    bool closing;
    bool dirty; /* snapshot and checkpoint are not on the disk as they are */
    int64_t written_ms;

    struct {
        ScanListener *fn;
        void *ctx;
    } listeners[MAX_LISTENERS];
    size_t n_listeners;
};

static inline int64_t now_seconds(void)
{
    return (int64_t)clock_wall();
}

/* All but the last are called with the lock held. */

/* Begins a scan, or joins the one that runs. */
void coordinator_begin(Coordinator *c);
/* `s` is what is shown from now on, and has to be written. */
void coordinator_put_in_place(Coordinator *c, Snapshot *s);
/* One user less. */
void coordinator_release(Snapshot *s);

/* Writes the files of the plugin until the coordinator closes. */
void *coordinator_write_thread(void *ctx);

#endif

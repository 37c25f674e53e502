/* feed.h - frames in order, and subscribers that read them at their own pace.
 *
 * A subscriber is a position in the feed and owns no copy of a frame, so any number of subscribers
 * cost a few words each, and one that joins late reads what the others read. The feed of a run
 * keeps every frame; that of the server's events keeps the newest ones and drops a subscriber whose
 * position has left it.
 *
 * Any thread; a subscriber belongs to one reader. Frames are owned by the feed. */
#ifndef TALARIA_AGENT_FEED_H
#define TALARIA_AGENT_FEED_H

#include <pthread.h>
#include <sys/types.h>

#include "runtimes/frames.h"

typedef struct Frame {
    FrameEvent event; /* of a run */
    const char *name; /* of the event; static text */
    int64_t seq, created_ms;
    size_t n;
    char bytes[]; /* the payload, one line of JSON */
} Frame;

static inline Str frame_data(const Frame *f)
{
    return (Str){ f->bytes, f->n };
}

typedef struct Subscriber Subscriber;

typedef struct Feed {
    const char *id;               /* of the run; NULL: frames have no ids */
    size_t max_frames, max_bytes; /* 0: the feed keeps every frame */
    pthread_mutex_t lock;         /* all below */
    Frame **frames;
    size_t n, cap, bytes;
    size_t evicted; /* how many frames came before frames[0] */
    size_t shown;   /* frames that subscribers may read */
    bool over;      /* no frame will follow */
    bool closed;    /* every subscription is over, now and later */
    Subscriber *subs;
} Feed;

struct Subscriber {
    Feed *feed;
    struct LiveRun *run; /* a reference, released by sub_leave; NULL: not the feed of a run */
    Subscriber *prev, *next;
    size_t at, offset; /* the next frame, and how much of it was read */
    int64_t moved_ms;  /* the time of the last read */
    bool waits;        /* found nothing to read; `wake` will be called */
    bool beat;         /* a heartbeat is due */
    bool dropped;      /* it did not keep up */
    bool only_end;     /* `wake` is called for the end alone */
    /* Both under the feed's lock: must not wait, and must not call back. */
    void (*sleep)(void *ctx); /* nothing to read; may be NULL */
    void (*wake)(void *ctx);
    void *ctx;
};

/* Copies a frame's wire format from `offset` on and returns how many bytes fitted. f NULL: a
 * heartbeat. */
typedef size_t FrameCopy(const Feed *feed, const Frame *f, size_t offset, char *out, size_t max);

/* -- The feed -- */

void feed_init(Feed *feed, const char *id);
void feed_done(Feed *feed); /* after the last subscriber */
Frame *frame_new(FrameEvent event, const char *name, int64_t seq, Str data);
/* The next two under the lock. feed_add takes f over. */
void feed_add(Feed *feed, Frame *f);
void feed_wake(Feed *feed);
/* Called about once a second: makes heartbeats due and drops subscribers that do not read. */
void feed_beat(Feed *feed, int64_t now_ms);
void feed_close(Feed *feed);

/* -- Reading -- */

/* after: how many frames the subscriber knows already; SIZE_MAX: all of them. */
void feed_join(Feed *feed, Subscriber *s, size_t after);
void feed_leave(Subscriber *s);

/* The next frame, or NULL: *ret_over then says whether there will be none. For feeds that keep
 * every frame, where it lives as long as the subscription. */
const Frame *sub_next(Subscriber *s, bool *ret_over);
/* The same as bytes, up to max of them; 0: none now, -1: the end. */
ssize_t sub_read(Subscriber *s, FrameCopy *copy, char *out, size_t max);
/* True: the feed is over. False: `sleep` was called, `wake` will be. For subscribers with
 * only_end. */
bool sub_wait(Subscriber *s);

#endif

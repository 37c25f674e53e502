/* frames.h - what a runtime says, as the five events that everyone sees.
 *
 * metadata (progress | chunk)* error? done: exactly one metadata first, at most one error, exactly
 * one done last, also after an error; none after a cancel. `seq` counts from 1 without a gap. The
 * texts of all chunks put together are the message, byte for byte, and done.chars is their length.
 * Pure: no clock but the one of the frames' `ts`, no connection, no store. The agent service and
 * `talaria debug replay` both stand on it. Not thread-safe. */
#ifndef TALARIA_RUNTIMES_FRAMES_H
#define TALARIA_RUNTIMES_FRAMES_H

#include "runtimes/runtime.h"
#include "text/json.h"

#define FRAME_EVENTS(X)                                                                            \
    X(FRAME_METADATA, "metadata")                                                                  \
    X(FRAME_PROGRESS, "progress")                                                                  \
    X(FRAME_CHUNK, "chunk")                                                                        \
    X(FRAME_ERROR, "error")                                                                        \
    X(FRAME_DONE, "done")

typedef enum FrameEvent {
#define X(id, name) id,
    FRAME_EVENTS(X)
#undef X
} FrameEvent;

const char *frame_event_name(FrameEvent e);

/* data: one line of JSON; lives until the function returns. */
typedef void FrameFn(void *ctx, FrameEvent event, int64_t seq, Str data);

typedef struct Frames {
    FrameFn *fn;
    void *ctx;
    const char *runtime; /* its name */
    Str message_id;      /* of the answer; borrowed; may be empty */
    Buf line;
    int64_t seq, began_ms, first_ms; /* first_ms: of the first chunk; -1: none came */
    size_t chars;
    int segments;
    bool over;
} Frames;

void frames_init(Frames *f, const char *runtime, Str message_id, FrameFn *fn, void *ctx);
void frames_done(Frames *f);

/* The first frame. `fields` writes what it has to say beside v, seq, ts and runtime; may be
 * NULL. */
void frames_metadata(Frames *f, void (*fields)(void *ctx, JsonWriter *w), void *ctx);

/* A stage of our own: "context", "skills", ...; label and detail may be empty. */
void frames_progress(Frames *f, const char *stage, const char *status, Str label, Str detail);

/* An event of the runtime. TRACE is not for here and makes no frame; terminal events make the
 * last. */
void frames_event(Frames *f, const RuntimeEvent *e);

/* The end of a run that failed at a stage: error and done; of one that was cancelled done alone. */
void frames_fail(Frames *f, const RuntimeEvent *e, const char *stage);

#endif

/* runtime_stream.h - any bytes as the stream of a runtime: exactly one end, the events that
 * everyone sees in their grammar, and text that is valid UTF-8 and adds up. */
#ifndef TALARIA_TESTS_RUNTIME_STREAM_H
#define TALARIA_TESTS_RUNTIME_STREAM_H

#include "runtimes/frames.h"
#include "text/utf8.h"

typedef struct Watch {
    Frames frames;
    size_t chars;
    int64_t seq;
    int ends, errors, dones;
} Watch;

static inline void watch_frame(void *ctx, FrameEvent event, int64_t seq, Str data)
{
    Watch *w = ctx;

    ASSERT(seq == ++w->seq && w->dones == 0 && (event == FRAME_METADATA) == (seq == 1));
    ASSERT(event == FRAME_DONE || !w->errors);
    ASSERT(!memchr(data.p, '\n', data.n));
    w->errors += event == FRAME_ERROR;
    w->dones += event == FRAME_DONE;
}

static inline void watch_event(void *ctx, const RuntimeEvent *e)
{
    Watch *w = ctx;

    ASSERT(w->ends == 0);
    if (e->kind == RUNTIME_TEXT) {
        ASSERT(e->text.n && utf8_valid_prefix(e->text) == e->text.n);
        w->chars += e->text.n;
    }
    w->ends += e->kind == RUNTIME_FINISH || e->kind == RUNTIME_FAIL;
    frames_event(&w->frames, e);
}

static inline void watch_replay(const char *runtime, const char *dialect, Str bytes)
{
    Watch w = { .seq = 0 };
    Err err;

    frames_init(&w.frames, runtime, STR(""), watch_frame, &w);
    frames_metadata(&w.frames, NULL, NULL);
    ASSERT(runtime_find(str_of(runtime))->replay(str_of(dialect), bytes, watch_event, &w, &err));
    ASSERT(w.ends == 1 && w.dones == 1 && w.frames.chars == w.chars);
    frames_done(&w.frames);
}

#endif

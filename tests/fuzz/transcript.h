/* transcript.h - any bytes as a transcript: read or passed over, and what is told of them holds
 * together. */
#ifndef TALARIA_FUZZ_TRANSCRIPT_H
#define TALARIA_FUZZ_TRANSCRIPT_H

#include "text/utf8.h"
#include "transcripts/reader.h"

typedef struct Seen {
    Arena *a;
    int64_t where;
    int part;
} Seen;

static void check_text(Str s)
{
    ASSERT(utf8_valid_prefix(s) == s.n);
}

static bool on_event(void *ctx, const Event *e, Err *err)
{
    Seen *seen = ctx;
    Str text, clip;

    (void)err;
    ASSERT(e->kind < EVENT_KIND_COUNT && e->line_bytes > 0);
    ASSERT(e->where > seen->where || (e->where == seen->where && e->part > seen->part));
    seen->where = e->where;
    seen->part = e->part;
    arena_reset(seen->a);
    text = event_text(seen->a, e);
    clip = event_clip(seen->a, e, 16, 8);
    check_text(text);
    check_text(clip);
    ASSERT(clip.n <= 16 + 8 + 5);
    ASSERT(text.n <= 16 + 8 || clip.n < text.n + 5);
    ASSERT(e->name.n <= 80);
    ASSERT(!e->arguments.n || e->arguments.p[0] == '{');
    return true;
}

static int fuzz_transcript(SourceKind source, const uint8_t *data, size_t size)
{
    static Reader *reader;
    Seen seen = { .a = arena_new(), .where = -1 };
    Str bytes = { (const char *)data, size };
    ReadStats stats, again;
    ReadOptions users = { .kinds = 1u << EVENT_USER };
    Err err;

    if (!reader)
        reader = reader_new();
    ASSERT(transcript_parse(reader, source, bytes, NULL, on_event, &seen, &stats, &err));
    ASSERT(stats.broken + stats.foreign <= stats.lines && stats.bytes == (int64_t)size);
    seen.where = -1;
    ASSERT(transcript_parse(reader, source, bytes, &users, on_event, &seen, &again, &err));
    ASSERT(again.lines == stats.lines && again.events <= stats.events);
    arena_free(seen.a);
    return 0;
}

#endif

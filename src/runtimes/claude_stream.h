/* claude_stream.h - the lines of `claude --output-format stream-json`, as events. Knows nothing of
 * processes: a recorded stream goes through here as a live one does. */
#ifndef TALARIA_RUNTIMES_CLAUDE_STREAM_H
#define TALARIA_RUNTIMES_CLAUDE_STREAM_H

#include "runtimes/teller.h"
#include "text/json.h"

typedef struct ClaudeStream {
    Teller *t;
    Arena *arena, *line; /* of the turn, of the line at hand */
    bool resuming;       /* a session was asked for */
    bool partials;       /* text comes in pieces; the whole messages repeat it */
    bool restarting;     /* a try broke off: the next message is the same one again */
    bool any;            /* a line that made sense */
    bool over;           /* the result has come */
    bool failed;         /* ... and it says so */
    bool interrupted;    /* ... because it was asked to stop */
    bool refused;        /* the model did, and no other was there to ask */
    bool at_limit;       /* the message at hand was cut off at the limit of its length */
    int status;          /* of the provider; 0: none was told */
    Str session, text, stop_reason, error; /* error: the provider's kind of failure */
    RuntimeUsage usage;
    size_t junk;
} ClaudeStream;

void claude_stream_init(ClaudeStream *s, Teller *t, Arena *a, bool resuming);
void claude_stream_line(ClaudeStream *s, Str line, bool cut);

/* No more will come: the terminal event. `obituary` says how it ended, where it left no result. */
void claude_stream_end(ClaudeStream *s, Str obituary);

#endif

/* gather.h - JSON lines, one after the other, gathered into whole sessions; for import.c.
 *
 * A session is handed on when its end has come and its messages are as many as that says. What is
 * broken is told with the number of its line, and the session it stands in is dropped. */
#ifndef TALARIA_RECALL_GATHER_H
#define TALARIA_RECALL_GATHER_H

#include "recall/import.h"

typedef struct Gather {
    ImportSession *fn;
    ImportTell *tell;
    void *ctx;
    Arena *arena; /* of the session at hand */
    Session session;
    Message *messages;
    size_t n, cap, bytes;
    bool open, spoilt; /* a session has begun; something in it is broken */
    int64_t line;
} Gather;

/* A line without its line feed; empty ones are passed over. False: fn failed. */
MUST_CHECK bool gather_line(Gather *g, Str line, Err *err);
/* A line that is longer than any may be. */
void gather_too_long(Gather *g);
/* After the last line. */
void gather_end(Gather *g);

#endif

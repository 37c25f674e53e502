/* brain.h - the user's own notes: a folder of text, found by what a request is about.
 *
 * Files (.md, .markdown, .txt) below one folder, cut at their headings into chunks of at most 1,200
 * characters, in an FTS5 table in memory. A file is read again where its time or size has changed,
 * and indexed again where its bytes have. Links are not followed. The folder is only ever read. One
 * thread at a time; what a search hands out lives in its arena. */
#ifndef TALARIA_AGENT_BRAIN_H
#define TALARIA_AGENT_BRAIN_H

#include "base/arena.h"
#include "base/err.h"
#include "text/settings.h"

enum { BRAIN_CHUNK_CHARS = 1200, MAX_BRAIN = 4 };

typedef struct Brain Brain;

/* The folder of the setting memory.brain: absolute, below the user's home ("~/notes"), or else
 * below ours. */
Str brain_folder(Arena *a, const Settings *settings, Str data);

/* The folder need not exist. */
MUST_CHECK Brain *brain_open(Str folder, Err *err);
Brain *brain_close(Brain *b);
AUTO_FREE(Brain, brain_close)

/* Looks again; within age_ms of the last look it does nothing. */
MUST_CHECK bool brain_refresh(Brain *b, int64_t age_ms, Err *err);

typedef struct BrainSize {
    size_t files, chunks;
    size_t read;    /* files whose bytes were read by the last refresh */
    size_t skipped; /* too large or too many */
} BrainSize;
BrainSize brain_size(const Brain *b);

typedef struct BrainHit {
    Str doc;     /* path below the folder */
    size_t part; /* which chunk of it, from 1 */
    Str heading; /* "Deploy > Rollback"; empty before the first */
    Str text;
    double score;
    Str why; /* the words that it has */
} BrainHit;

/* Best first; none where nothing is about the request. */
MUST_CHECK bool brain_search(Brain *b, Arena *a, Str request, size_t max, BrainHit **ret,
                             size_t *ret_n, Err *err);

/* -- Brain_chunk.c: cutting -- */

typedef struct Chunk {
    Str heading, text;
} Chunk;

/* Nothing but white space is lost. */
void chunks_cut(Arena *a, Str text, size_t chars, Chunk **ret, size_t *ret_n);

#endif

/* catalogue_inside.h - the catalogue between its files; no other file includes it. */
#ifndef TALARIA_TRANSCRIPTS_CATALOGUE_INSIDE_H
#define TALARIA_TRANSCRIPTS_CATALOGUE_INSIDE_H

#include "transcripts/calls.h"
#include "transcripts/entry.h"

struct Catalogue {
    Db *db;
    CatalogueQuery query;
    Arena *a;  /* as long as the catalogue */
    Str scope; /* SQL: entries of the homes and roots that were asked for */
    bool damaged;
};

/* What an update knows of an entry before it decides to look at it. */
typedef struct Known {
    int64_t key;
    Str path, id;
    Cursor cursor;
    uint64_t mark;
    bool found;
} Known;

typedef struct Update {
    Catalogue *c;
    const CatalogueListener *listeners;
    size_t n;
    unsigned kinds;
    bool (*stop)(void *ctx);
    void *stop_ctx;
    UpdateStats stats;
    UpdateStats *show; /* the caller's, who looks at it meanwhile; may be NULL */
    Arena *a;          /* as long as the update */
    Arena *row_arena;  /* text of the row at hand */
    EntryRow row;
    Calls *calls;
    bool begun; /* listeners know of the row */
    bool anew;
    Stamp stamp;
    bool waits; /* something was left for another time: the stamp does not represent the whole */
    bool late;  /* of all listeners */
    bool in_batch, in_session, listener_failed; /* in_session: behind its own savepoint */
    size_t batch_rows;
    int64_t batch_bytes, next_key;
    Err *err;
} Update;

/* Entries of one home (empty: all files), in order of path and id; text is gone after fn
 * returns. */
typedef void KnownFn(void *ctx, const Known *k);
MUST_CHECK bool update_known(Update *u, Str home, KnownFn *fn, void *ctx);

/* A session: begin, its events, and end; or drop, where it could not be read. */
MUST_CHECK bool update_begin(Update *u, const Known *known, const Entry *fresh);
void update_anew(Update *u); /* what was known of the row at hand is void */
bool update_event(void *ctx, const Event *e, Err *err);
MUST_CHECK bool update_end(Update *u, int64_t bytes);
MUST_CHECK bool update_drop(Update *u);
MUST_CHECK bool update_gone(Update *u, int64_t key);
MUST_CHECK bool update_commit(Update *u);

MUST_CHECK bool update_files(Update *u);
MUST_CHECK bool update_homes(Update *u);

/* Which of the roots are asked for. */
TranscriptRoots catalogue_roots(const CatalogueQuery *query);

/* The part of the homes in the stamp; false where one was written to just now. */
bool homes_stamp(Arena *a, const CatalogueQuery *query, double now, Stamp *stamp);

#endif

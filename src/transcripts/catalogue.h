/* catalogue.h - what is known of every session without reading it: files, cursors, facts.
 *
 * Lives in index.db, so all of it can be rebuilt. catalogue_update walks all sources, reads what
 * is new and no more, hands each event on to those who listen (the search index, the harvest), and
 * keeps per session what lists and filters show. An update commits every so often: killed, it goes
 * on where it was. At most one update at a time per data folder, also across processes; a second
 * one continues with what is there. One thread a handle; two read. */
#ifndef TALARIA_TRANSCRIPTS_CATALOGUE_H
#define TALARIA_TRANSCRIPTS_CATALOGUE_H

#include "store/db.h"
#include "store/homes.h"
#include "transcripts/reader.h"

typedef struct Catalogue Catalogue;

typedef struct CatalogueQuery {
    const Homes *homes;
    TranscriptRoots roots;
    bool hermes, claude, codex; /* which sources; all false = all */
} CatalogueQuery;

/* Opens index.db; begun afresh where it is damaged. Borrows the query's text. */
MUST_CHECK Catalogue *catalogue_open(const CatalogueQuery *query, Err *err);
Catalogue *catalogue_close(Catalogue *c);
AUTO_FREE(Catalogue, catalogue_close)

/* It cannot be written, so this handle has one in memory; why is in err. */
bool catalogue_is_private(Catalogue *c, Err *err);
Db *catalogue_db(Catalogue *c); /* for recall/: its tables are in the same file */

/* -- bringing it up to date -- */

enum { ACTIVITY_BUCKETS = 16 };

/* One row a session, whatever its source. */
typedef struct Entry {
    int64_t key; /* of this row; changes when a file is read again from the start */
    SourceKind source;
    Str home; /* path of the Hermes-shaped home; empty for files */
    Str id, path, parent;
    Str continued_in; /* the agent's own session that continues this one; empty: none */
    Str continues;    /* the one that it continues; known where the catalogue is asked */
    Str title;        /* of the program, else the first words of the first request */
    Str cwd, branch, model, entrypoint, version;
    double started_at, last_at;
    int64_t users, assistants, calls, failed, messages;
    int64_t input_tokens, output_tokens, cache_read_tokens, cache_write_tokens;
    double cost_usd; /* as the program itself says; 0: it does not */
    bool side_chain, archived;
    bool human; /* by what can be seen: entrypoint, kind, no side chain, at least one request of a
                   person */
    Str tools;  /* names, one a line, in order of first use */
    uint8_t activity[ACTIVITY_BUCKETS]; /* messages over the session's time, the most = 255 */
    Cursor cursor;
} Entry;

/* Who listens. Called between the transactions of others' databases, inside the one of ours: what a
 * listener writes to index.db is committed together with the cursor. */
typedef struct CatalogueListener {
    void *ctx;
    bool (*begin)(void *ctx, const Entry *e, bool anew,
                  Err *err); /* before a session's new events */
    EventFn *event;
    bool (*end)(void *ctx, const Entry *e, Err *err);  /* facts are up to date here */
    bool (*gone)(void *ctx, const Entry *e, Err *err); /* its file or row is not there any more */
    unsigned kinds;                                    /* which events it wants; 0 = all */
    bool late; /* writes nothing to index.db before end: sessions need no savepoint each for it */
    /* Before a commit, where what was written of whole sessions may still wait somewhere. */
    bool (*commit)(void *ctx, Err *err);
} CatalogueListener;

typedef struct UpdateStats {
    int64_t files, sessions, read; /* seen, known, read in this run */
    int64_t due;                   /* to be read; known while stop is asked */
    int64_t bytes, messages, broken, gone;
    double cpu_seconds;
    bool busy;   /* another process is at it */
    Stamp stamp; /* of what was seen; not sound where some of it is left for another time */
} UpdateStats;

/* stop may be NULL; true from it ends the run early, with what was done committed (interrupted). */
MUST_CHECK bool catalogue_update(Catalogue *c, const CatalogueListener *listeners, size_t n,
                                 bool (*stop)(void *ctx), void *stop_ctx, UpdateStats *ret,
                                 Err *err);

/* Turns of our own sessions that a runtime keeps in a session which the catalogue knows are read
 * there: what the handle reads is the rest. Before every reading of our own home; of another it
 * does nothing. The arena outlives the handle. */
MUST_CHECK bool catalogue_read_once(Db *index, Arena *a, const Home *home, Rows *rows, Err *err);

/* What an update would see, at the price of a look at every file and no more: where it is the stamp
 * of an earlier update, there is nothing new. Not sound where a look from outside cannot tell. */
MUST_CHECK bool catalogue_stamp(const CatalogueQuery *query, Stamp *ret, Err *err);

MUST_CHECK bool catalogue_clear(Catalogue *c,
                                Err *err); /* everything is read again from the start next time */

/* -- asking -- */

typedef struct EntryQuery {
    int source;  /* SourceKind, -1 = all */
    Str project; /* cwd is this folder or lies below it; a bare name matches the folder's last
                  * part */
    Str model;   /* part of the model's name */
    Str tool;
    double since, until;
    bool side_chains, archived;
    double before_at; /* next page: entries older than this place */
    int64_t before_key;
    size_t max;
} EntryQuery;

/* Newest first (last_at, key). */
MUST_CHECK bool catalogue_list(Catalogue *c, Arena *a, const EntryQuery *query, Entry **ret,
                               size_t *ret_n, Err *err);
/* The little of an entry that tells whether it matters and whether it has changed. */
typedef struct EntryMark {
    int64_t key;
    double started_at, last_at;
    bool human;
    Str cwd;
    int64_t offset; /* of its cursor */
    uint64_t proof;
} EntryMark;
/* All but side chains, archived ones too, newest first; a quarter of what the whole entries
 * cost. */
MUST_CHECK bool catalogue_marks(Catalogue *c, Arena *a, EntryMark **ret, size_t *ret_n, Err *err);

/* Entries whose id begins so, at most `max`, by id. */
MUST_CHECK bool catalogue_begins(Catalogue *c, Arena *a, Str prefix, size_t max, Entry **ret,
                                 size_t *ret_n, Err *err);

/* By id or an unambiguous beginning of it (4 characters at least). */
MUST_CHECK bool catalogue_find(Catalogue *c, Arena *a, Str id, Entry *ret, Err *err);
MUST_CHECK bool catalogue_get(Catalogue *c, Arena *a, int64_t key, Entry *ret, Err *err);

/* What filters offer: every project, model and tool with how many sessions, most first. */
typedef struct Facet {
    Str name;
    int64_t sessions;
} Facet;
MUST_CHECK bool catalogue_facets(Catalogue *c, Arena *a, const char *which, size_t max, Facet **ret,
                                 size_t *ret_n, Err *err);

void entry_file(const Entry *e, TranscriptFile *ret); /* of a file's entry, for transcript_load */

#endif

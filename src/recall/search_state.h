/* search_state.h - a Recall as the files of search see it. */
#ifndef TALARIA_RECALL_SEARCH_STATE_H
#define TALARIA_RECALL_SEARCH_STATE_H

#include "recall/search.h"
#include "recall/search_pool.h"

enum { TABLE_SAID, TABLE_TOOLS, TABLES };

typedef struct SessionPlace {
    int64_t ord;
    double last_at;
    bool allowed; /* by the filters of the search at hand */
} SessionPlace;

/* Sessions side by side, taken together when it comes to what is newest. */
enum { BLOCK_SESSIONS = 8 };
typedef struct SessionBlock {
    int64_t number; /* of a session in it, divided by BLOCK_SESSIONS */
    double newest;
} SessionBlock;

typedef struct TableFacts {
    double rows, length; /* documents, and their average number of terms */
} TableFacts;

/* What one run through an FTS table puts where; recall_gather finds it by the Recall. */
typedef struct Gather {
    Pool *pool;
    const int *atom_of; /* phrase of the expression -> atom, or -1 */
    int n_phrases;
    bool spread;    /* neighbours get a share */
    bool filtered;  /* rows of sessions that are not allowed are passed over */
    bool counting;  /* rows are counted and nothing else */
    int64_t except; /* place of a session whose rows do not count; 0: none */
    int64_t seen;
    double covered; /* the share of the sessions that was looked at */
    TableFacts facts;
} Gather;

struct Recall {
    Db *db;
    Gather gather;
    Pool pools[TABLES];
    Arena *sessions_arena;
    SessionPlace *sessions; /* newest first */
    size_t n_sessions;
    SessionBlock *blocks; /* those with a session that is allowed, newest first */
    size_t n_blocks;
    uint8_t *allowed; /* by ord */
    double *last_at;
    int64_t most_ord;
    bool sessions_known;
    int64_t version; /* of the data when the sessions were read */
};

/* fts_gather.c */
MUST_CHECK bool recall_gather_register(Recall *r, Err *err);
/* Rows of a table that match, newest number first, into its pool; at most `max` of them. The range
 * of numbers is first..last. */
MUST_CHECK bool recall_gather_run(Recall *r, int table, Str match, int64_t first, int64_t last,
                                  int64_t max, Err *err);

typedef enum GatherHow {
    GATHER_ALONE,     /* one word: few rows are found at once */
    GATHER_STRETCHES, /* the newest first */
    GATHER_WHOLE      /* in one question, the highest numbers first */
} GatherHow;

/* search_newest.c: at most `max` rows, those of the newest sessions; *ret_cut: there may be
 * more. */
MUST_CHECK bool recall_gather_newest(Recall *r, int table, Str match, GatherHow how,
                                     const SearchFilter *filter, int64_t max, bool *ret_cut,
                                     Err *err);

/* fts_prefix.c: on how many pages of the table's index the words lie that begin so. */
MUST_CHECK bool recall_prefix_pages(Recall *r, int table, Str begins, int64_t *ret, Err *err);

/* search_sessions.c: the sessions newest first, and which of them the filter lets through. */
MUST_CHECK bool recall_sessions_load(Recall *r, const SearchFilter *filter, Err *err);
bool recall_is_plain(const SearchFilter *f);   /* lets every session through */
bool recall_source_known(void *ctx, Str name); /* a SourceKnown over a Recall */
bool recall_session_allowed(const Recall *r, int64_t ord);
double recall_session_newest(const Recall *r, int64_t ord); /* when it was last written */

/* search_rank.c: the key of the session at that place; -1: there is none. */
MUST_CHECK bool recall_session_key(Recall *r, int64_t ord, int64_t *ret, Err *err);

#endif

/* history.h - every session of every source as one list: homes, Claude Code, Codex.
 *
 * A session is a Lineage here, whatever wrote it: a transcript is one of a single part. Homes are
 * read through store.h, transcripts through the catalogue, which is brought up to date on the way
 * within a budget of time: what is not read by then is left out, and history_partial says so.
 * Without transcripts and filters nothing but the homes is opened. One thread a handle. */
#ifndef TALARIA_RECALL_HISTORY_H
#define TALARIA_RECALL_HISTORY_H

#include "recall/origin.h"
#include "store/store.h"
#include "transcripts/catalogue.h"
#include "transcripts/load.h"

typedef struct History History;

/* What handles of one process share: whether the latest update came to its end, [1] with the homes'
 * sessions, [0] of transcripts alone. Zeros: none has yet. */
typedef struct HistoryUpdates {
    _Atomic bool whole[2];
} HistoryUpdates;

/* Borrows homes, store and updates. `files`: transcripts too; not where --home means one home
 * alone. */
typedef struct HistoryWhere {
    const Homes *homes;
    Store *store;
    bool files;
    int64_t budget_ms;       /* for bringing the catalogue up to date; 0: it is taken as it is */
    HistoryUpdates *updates; /* NULL: nobody else brings it up to date */
} HistoryWhere;

History *history_open(const HistoryWhere *where);
History *history_close(History *h);
AUTO_FREE(History, history_close)

/* Whether the catalogue could not be brought up to date in time, so that something may be
 * missing. */
bool history_partial(const History *h);

/* -- the list -- */

/* A place in the list: after it the list continues, also when what stood there is gone. */
typedef struct HistoryMark {
    size_t lane; /* which home, or behind the homes which kind of transcript */
    double at;
    int64_t number;
} HistoryMark;

typedef struct HistoryItem {
    Origin origin;
    Lineage lineage;
    Str home; /* name of the home; of a transcript, its origin's name */
    bool own; /* kept in talaria.db: it can be renamed, archived and deleted */
    bool is_file;
    TranscriptFile file; /* where is_file */
    bool side_chain;
    Str continues, continues_origin; /* the session that it continues */
    Str continued_in; /* the session or conversation that continues it; empty: none */
    bool guest;       /* a guest of the gateway asked for a turn of it */
    bool has_facts;   /* the two that follow are known */
    uint8_t activity[ACTIVITY_BUCKETS];
    Str tools; /* names, one a line */
    HistoryMark mark;
} HistoryItem;

typedef struct HistoryQuery {
    Str source;               /* an origin's name, or Hermes' own: cli, telegram, ... */
    Str project, model, tool; /* as EntryQuery; with one of them the catalogue answers for all */
    double since, until;      /* 0: open */
    bool archived, side_chains;
    bool facts;               /* activity and tools of home sessions too, where they are known */
    const HistoryMark *after; /* NULL: from the newest */
} HistoryQuery;

enum { HISTORY_FILE_LANES = SOURCE_COUNT }; /* lanes behind those of the homes */

/* The one with the latest activity first. A session that continues in a conversation, or in which a
 * runtime keeps the turns of one, is left out where there is no filter and the conversation has all
 * of its messages: together they are one. */
typedef struct HistoryList HistoryList;
MUST_CHECK HistoryList *history_list(History *h, const HistoryQuery *query, Err *err);
HistoryList *history_list_close(HistoryList *list);
AUTO_FREE(HistoryList, history_list_close)

MUST_CHECK bool history_next(HistoryList *list, Arena *a, HistoryItem *ret, bool *ret_more,
                             Err *err);

/* Every transcript of one source, in no particular order, at once; also those that a conversation
 * represents. */
MUST_CHECK bool history_transcripts(History *h, Arena *a, SourceKind source, HistoryItem **ret,
                                    size_t *ret_n, Err *err);

/* The conversation that represents the session, because it has all of its messages; empty: none.
 * This is what makes the two one session in lists, counts and badges. *ret_begun_there: it was
 * begun by the agent that wrote the session and counts as that agent's; otherwise, where a runtime
 * keeps the turns of a conversation of ours, as ours. */
Str history_covered_by(History *h, Arena *a, const HistoryItem *item, bool *ret_begun_there);

/* Sessions of homes that a conversation represents, in order of their ids. */
typedef struct Covered {
    Str home, id; /* path of the home; of its newest part */
    Str conversation;
    bool begun_there;
} Covered;
MUST_CHECK bool history_covered_homes(History *h, Arena *a, Covered **ret, size_t *ret_n, Err *err);

/* By id of any part, or an unambiguous beginning (4 characters at least), over all sources. */
MUST_CHECK bool history_find(History *h, Arena *a, Str id, HistoryItem *ret, Err *err);

/* The shortest beginning of an id, of at least 8 characters, that history_find takes for it; the
 * whole id if that saves little. */
Str history_short_id(History *h, Arena *a, Str id);

/* The session that a transcript was forked from, or whose sub-agent it is; p NULL: none. */
Str history_parent(const HistoryItem *item);

/* A short text that differs whenever the session's messages may. */
MUST_CHECK bool history_fingerprint(History *h, Arena *a, const HistoryItem *item, Str *ret,
                                    Err *err);

/* -- messages -- */

/* A message of a sub-agent that stands among those of its session. */
bool message_is_side_chain(const Message *m);

/* As messages_each, of one part. Of a transcript `after` is not looked at. */
MUST_CHECK bool history_messages(History *h, const HistoryItem *item, size_t part,
                                 const MessageQuery *query, MessageFn *fn, void *ctx, Err *err);

/* As store_cells, of a part's session; nothing of a transcript. */
MUST_CHECK bool history_cells(History *h, Arena *a, const HistoryItem *item, const Session *part,
                              const Message *m, StoredCell **ret, size_t *ret_n, Err *err);

/* The active messages of all parts, at most `max` (0 = all), at once. */
MUST_CHECK bool history_load(History *h, Arena *a, const HistoryItem *item, size_t max,
                             Message **ret, size_t *ret_n, Err *err);

/* The same of one part alone; a transcript has one. */
MUST_CHECK bool history_load_part(History *h, Arena *a, const HistoryItem *item, size_t part,
                                  size_t max, Message **ret, size_t *ret_n, Err *err);

/* A transcript whole, as history_messages gives it: times never go back, so that a store which
 * orders by them keeps the order of the file. Only item->file is looked at. */
MUST_CHECK bool history_load_file(Arena *a, const HistoryItem *item, Loaded *ret, Err *err);

/* -- what there is -- */

/* What a number of sessions is made of. A session is one conversation: parts that compression cut
 * are one, runs of sub-agents and archived sessions are counted apart. These are the sessions that
 * the list shows without filters, and every surface shows this number. One that was continued in a
 * conversation of ours is counted once, as the agent's that wrote it. */
typedef struct SessionCounts {
    int64_t sessions;
    int64_t parts;      /* further parts of compressed ones */
    int64_t sub_agents; /* runs of theirs */
    int64_t archived;
    int64_t continued; /* of `sessions`: those that go on in a conversation of ours */
    int64_t
        continuing; /* conversations of ours that are not among `sessions`: they continue others' */
    double newest;  /* last activity; 0: not known */
} SessionCounts;

typedef struct SourceFacts {
    Origin origin;
    Str folder;           /* where it is looked for, there or not; empty: not looked for now */
    const char *variable; /* of the environment, that names another folder */
    bool present;
    SessionCounts counts;
} SourceFacts;

typedef struct HistoryFacts {
    SourceFacts sources[ORIGIN_COUNT]; /* one an origin */
    SessionCounts *homes;              /* one a home, in their order */
    bool partial; /* not all transcripts are read yet: files that wait are counted by their names */
} HistoryFacts;

/* `facts` are those of store_facts; the store of `where` is not needed. A home that cannot be read
 * counts as empty. */
MUST_CHECK bool history_facts(const HistoryWhere *where, Arena *a, const HomeFacts *facts,
                              size_t n_facts, HistoryFacts *ret, Err *err);

SessionCounts history_total(const HistoryFacts *facts);

/* "156 sessions (3 more parts of compressed ones, 12 sub-agent runs, 2 archived)" */
Str history_count_text(Arena *a, const SessionCounts *counts);

/* What filters offer, from the catalogue brought up to date: which is "project", "model" or
 * "tool". */
MUST_CHECK bool history_facets(History *h, Arena *a, const char *which, size_t max, Facet **ret,
                               size_t *ret_n, Err *err);

#endif

/* history_files.h - the inside of a history: its transcripts, and the catalogue that knows them.
 *
 * Opened when first asked for: a machine with homes alone never pays for it. */
#ifndef TALARIA_RECALL_HISTORY_FILES_H
#define TALARIA_RECALL_HISTORY_FILES_H

#include "recall/history.h"
#include "store/continued.h"

typedef struct Files {
    HistoryWhere where;
    Arena *arena; /* of roots and query; made when needed */
    TranscriptRoots roots;
    bool roots_known;
    Catalogue *catalogue;
    bool updated, partial;
} Files;

struct History {
    HistoryWhere where;
    Files files;
    Arena *arena;                       /* of what follows; made when needed */
    Continuation *continued;            /* by session */
    const Continuation **conversations; /* the same that took a session along, by conversation */
    size_t n_continued, n_conversations;
    Str *guests; /* conversations in which guests spoke, in order */
    size_t n_guests;
};

void history_home_item(const History *h, const Lineage *l, HistoryItem *ret);
/* Activity and tools of a home's session, where the catalogue happens to know them. */
void history_add_facts(History *h, Arena *a, HistoryItem *item);

/* history_continued.c: fills continues and continued_in. */
void history_link(History *h, Arena *a, HistoryItem *item);
/* Whether a conversation represents it, because that has all of its messages. */
bool history_is_covered(History *h, Arena *a, const HistoryItem *item);
/* Counts sessions of homes and the conversations that represent them once. */
MUST_CHECK bool history_count_continued(History *h, Arena *a, HistoryFacts *facts, Err *err);
/* The session counts, the conversation that continues it does not. */
void history_count_begun(const History *h, HistoryFacts *facts, const HistoryItem *item);

void files_done(Files *f);

/* Whether there are transcripts to read at all. */
MUST_CHECK bool files_present(Files *f, bool *ret, Err *err);

/* The catalogue as it is; and brought up to date, homes included where asked for. */
MUST_CHECK bool files_catalogue(Files *f, Catalogue **ret, Err *err);
MUST_CHECK bool files_update(Files *f, bool homes, Err *err);

/* A transcript by id or beginning: by the catalogue, else by the names of the files. */
/* Transcripts that the catalogue knows whose id begins so, at most `max`. */
MUST_CHECK bool files_begins(Files *f, Arena *a, Str prefix, size_t max, Session **ret,
                             size_t *ret_n, Err *err);
MUST_CHECK bool files_find(Files *f, Arena *a, Str id, HistoryItem *ret, Err *err);

/* What a list shows of an entry; `lanes` is the number of homes. */
void files_item(Arena *a, const Entry *e, size_t homes, HistoryItem *ret);
void files_facts(Arena *a, const Entry *e, HistoryItem *ret);

#endif

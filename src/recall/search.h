/* search.h - finding what was said and done, in every session of every source.
 *
 * Two layers. recall_rank asks the index alone: which documents, in which order; it needs nothing
 * but the tables. recall_search is the whole of it: it parses the query, ranks, and reads the text
 * of the best ones again for their snippets.
 *
 * A Recall is for one thread, as is the database handle that it borrows; two threads open one each.
 * What is handed out lives in the arena that was passed in. No search takes longer than a fraction
 * of a second: where more would have to be looked at, the newest sessions are, and the answer says
 * so. */
#ifndef TALARIA_RECALL_SEARCH_H
#define TALARIA_RECALL_SEARCH_H

#include "recall/query.h"

typedef struct Recall Recall;

/* Borrows the handle. */
MUST_CHECK Recall *recall_open(Db *db, Err *err);
Recall *recall_close(Recall *r);
AUTO_FREE(Recall, recall_close)

/* -- ranking -- */

typedef struct Ranked {
    int64_t id, ord, key; /* document; its session's place and key */
    DocRole role;
    bool guest; /* of a turn that a guest asked for */
    Str tool;
    double at, score;
    int64_t place, line;
    int part;
} Ranked;

typedef struct Ranking {
    Ranked *hits; /* best first */
    size_t n;
    bool more;    /* than were asked for */
    bool partial; /* only the newest sessions were looked at */
    bool
        narrowed; /* too many words begin so: in one table or both, the word itself was asked for */
    bool some;    /* no document has all words: these have some */
} Ranking;

MUST_CHECK bool recall_rank(Recall *r, Arena *a, const SearchQuery *query, size_t max, Ranking *ret,
                            Err *err);

/* -- the whole of it -- */

typedef struct SnippetPiece {
    Str text;
    bool hit; /* what was looked for */
} SnippetPiece;

typedef struct SearchHit {
    Ranked at;
    Entry entry; /* its session */
    SnippetPiece *snippet;
    size_t n_snippet;
    Str text;      /* all of the document, where asked for */
    uint64_t mark; /* of that text: copies of a message have the same */
    bool rewound;  /* its message was taken back: Hermes does not show it any more */
} SearchHit;

typedef struct SearchOptions {
    Str text;            /* a query or a question, as it was typed */
    SearchFilter filter; /* SEARCH_FILTER_NONE, and what is asked for beside the text */
    size_t max;
    bool substring; /* the text as it is, anywhere, also inside of words */
    bool whole;     /* text of the hits, not only a snippet */
} SearchOptions;

typedef struct SearchAnswer {
    SearchHit *hits;
    size_t n;
    bool more, partial;
    size_t similar; /* left out by search_fold.h */
    Str note;       /* what a person should know of this answer; empty: nothing */
    double took_ms;
} SearchAnswer;

/* Every name that `source` of a filter takes, for messages: "hermes, claude, codex, talaria,
 * cli". */
Str recall_source_names(Recall *r, Arena *a);

MUST_CHECK bool recall_search(Recall *r, Catalogue *c, const Homes *homes, Arena *a,
                              const SearchOptions *options, SearchAnswer *ret, Err *err);

#endif

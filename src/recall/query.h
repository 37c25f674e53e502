/* query.h - what a person or an agent typed, as what the index is asked.
 *
 *   words          all of them, in any form ("tests" finds "testing")
 *   a question     (a question mark, or a question word first) any of the words that say something
 *   "exact words"  one after the other
 *   -word          without it; also -"two words", NOT word
 *   one OR other   either of them
 *   word*          words that begin so
 *   role:user  tool:Bash  source:claude  project:NAME  model:NAME  since:7d  until:2026-01-01
 *
 * Anything else is text. Parsing never fails: what makes no sense as a filter is taken as text,
 * and `note` says so. */
#ifndef TALARIA_RECALL_QUERY_H
#define TALARIA_RECALL_QUERY_H

#include "recall/index.h"

/* One thing to look for: terms that follow each other. */
typedef struct Atom {
    Str match;   /* as FTS5 takes it: quoted, with * behind a beginning */
    Str text;    /* as it was typed */
    int phrases; /* of FTS5 in match */
    Str begins;  /* of a beginning of words: the beginning, as the index has it; else empty */
    Str instead; /* ... and the word itself, with as many phrases, where too many begin so */
} Atom;

typedef struct SearchFilter {
    Str source; /* an origin's name, or Hermes' own: cli, telegram, ... */
    int role;   /* DocRole, -1: any; DOC_ROLE_COUNT: a call or a result */
    Str tool;
    Str project;         /* a folder, what lies below it, or the name of a folder */
    Str model;           /* part of a model's name */
    double since, until; /* 0: open */
    bool skip_archived;
    bool no_guests; /* not what was said in turns that guests asked for */
    int64_t except; /* key of a session that is as if it were not there; 0: none */
    Str own_home;   /* Talaria's data folder, which "talaria" as a source means; recall_search sets
                     * it */
} SearchFilter;

#define SEARCH_FILTER_NONE ((SearchFilter){ .role = -1 })

/* Whether the index has sessions of a source that is not one of the origins. */
typedef bool SourceKnown(void *ctx, Str name);

typedef struct SearchQuery {
    Atom *atoms; /* at most LIMIT_SEARCH_TERMS; those that say something */
    size_t n;
    Atom *without;
    size_t n_without;
    bool question; /* any of the atoms, neighbours count */
    SearchFilter filter;
    double from, until;     /* a month, a day or a year that a question names; 0: none */
    Str literal;            /* the text without filters, for substrings */
    Str note;               /* what was not taken as it is; empty: nothing */
    SourceKnown *is_source; /* set by the caller; NULL: only origins are sources */
    void *source_ctx;
} SearchQuery;

/* Filters that were given elsewhere (options, parameters) come in by ret->filter and stay. */
void search_query_parse(Arena *a, Str text, SearchQuery *ret);

bool doc_role_parse(Str name, int *ret); /* user, assistant, call, result, tool */

/* Whether a session's folder is of the project that was asked for. */
bool search_project_matches(Str project, Str folder);

#endif

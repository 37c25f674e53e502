/* snippet.h - the text of a document again, and the part of it that shows why it was found. */
#ifndef TALARIA_RECALL_SNIPPET_H
#define TALARIA_RECALL_SNIPPET_H

#include "recall/search.h"

/* -- reading again (snippet_read.c) -- */

/* Keeps what it opens for the next document. One thread. */
typedef struct DocReader DocReader;
DocReader *doc_reader_new(const Homes *homes);
DocReader *doc_reader_free(DocReader *r);
AUTO_FREE(DocReader, doc_reader_free)

/* The document as it was indexed, clipped; NOT_FOUND where it is not there any more. */
MUST_CHECK bool doc_read(DocReader *r, Arena *a, const Entry *e, int64_t place, int64_t line,
                         int part, Str *ret, Err *err);

/* Whether the message of the document that was read last had been taken back: its own program does
 * not show it. */
bool doc_was_rewound(const DocReader *r);

/* Every document of a session, with its text uncut; false from fn ends it, and is no failure. */
typedef bool DocFn(void *ctx, const Doc *d);
MUST_CHECK bool doc_each(DocReader *r, const Entry *e, DocFn *fn, void *ctx, Err *err);

/* -- snippets -- */

/* What is to be marked: the query's words, or one text as it is. */
typedef struct Marks {
    const SearchQuery *query; /* or NULL */
    Str literal;
} Marks;

void snippet_make(Arena *a, Str text, const Marks *marks, SnippetPiece **ret, size_t *ret_n);

#endif

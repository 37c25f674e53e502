/* search_json.h - an answer as JSON: of `sessions search --json` and of GET /api/search. */
#ifndef TALARIA_RECALL_SEARCH_JSON_H
#define TALARIA_RECALL_SEARCH_JSON_H

#include "recall/search.h"
#include "text/json.h"

/* "hermes", "claude", "codex"; "talaria" for what lies in our own home. */
Str search_origin(const Homes *homes, const Entry *e);

/* Fields of an object that is open: query, hits, more, similar (left out as they say nearly the
 * same), took_ms, partial, note. */
void search_put(JsonWriter *w, const Homes *homes, Str query, const SearchAnswer *answer, Str note);

#endif

/* search_copies.h - a session that was forked or resumed elsewhere begins with copies of what was
 * said before: among the hits a message stands once, in the session where it was said. */
#ifndef TALARIA_RECALL_SEARCH_COPIES_H
#define TALARIA_RECALL_SEARCH_COPIES_H

#include "recall/search.h"

/* Whether the message is among the hits already. Where it is there as a copy and this is the older
 * session, that hit becomes this one. */
bool search_is_copy(SearchHit *hits, size_t n, SearchHit *hit, Str text);

#endif

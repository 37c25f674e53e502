/* forget.h - takes a deleted session out of index.db at once, so that no search finds it any more.
 *
 * The next update of the catalogue would do the same; a failure here is therefore not fatal. */
#ifndef TALARIA_RECALL_FORGET_H
#define TALARIA_RECALL_FORGET_H

#include "store/homes.h"

MUST_CHECK bool recall_forget(const Homes *homes, const Str *ids, size_t n, Err *err);

#endif

/* A copy has the text and the time of the message, to the millisecond, in a session with another
 * id. Nothing is stored for it: hits are few, and their text is at hand when they are shown. */
#include "recall/search_copies.h"

#include "base/hash.h"

static bool is_same(const SearchHit *a, const SearchHit *b)
{
    return a->mark == b->mark && a->at.at == b->at.at && a->at.role == b->at.role &&
           a->entry.key != b->entry.key && a->entry.source == b->entry.source &&
           str_eq(a->at.tool, b->at.tool);
}

static bool is_older(const Entry *a, const Entry *b)
{
    return a->started_at != b->started_at ? a->started_at < b->started_at : a->key < b->key;
}

bool search_is_copy(SearchHit *hits, size_t n, SearchHit *hit, Str text)
{
    hit->mark = hash_text(HASH_START, text);
    if (hit->at.at <= 0 || !text.n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_same(&hits[i], hit))
            continue;
        if (is_older(&hit->entry, &hits[i].entry)) {
            double score = hits[i].at.score; /* the order stays */

            hits[i].entry = hit->entry;
            hits[i].at = hit->at;
            hits[i].at.score = score;
        }
        return true;
    }
    return false;
}

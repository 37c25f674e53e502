/* FTS5 puts together all rows of all words that begin so before it hands out the first one, and
 * cannot be asked to stop. How much that is can be seen beforehand: its table of first words says
 * on which page of each segment a word is, and a prefix is the pages from one word to another. */
#include "recall/search_state.h"

/* Words lie in the index with this in front; other prefixes would be indexes of beginnings. */
static Str bounds_of(Arena *a, Str begins, bool behind)
{
    Str s = str_printf(a, "0%.*s", STR_FMT(begins));

    /* Words are UTF-8: no byte of theirs is the last one. */
    return behind ? str_printf(a, "%.*s%c", STR_FMT(s), 0xff) : s;
}

/* How FTS5 lays out its index is its own affair: pages are counted in the layouts we know, and in
 * another one not at all. */
#define IS_KNOWN_LAYOUT(table) "SELECT 1 FROM " table "_config WHERE k = 'version' AND v IN (4, 5)"

/* Of each segment: from the page of the last word that is not behind ?1 to that of the first behind
 * ?2. A page's number is kept doubled. */
#define COUNT_PAGES(idx)                                                                           \
    "WITH RECURSIVE segments(id) AS (SELECT min(segid) FROM " idx " UNION ALL "                    \
    "SELECT (SELECT min(segid) FROM " idx " WHERE segid > id) FROM segments WHERE id NOT NULL) "   \
    "SELECT sum(coalesce((SELECT pgno FROM " idx " WHERE segid = id AND term > ?2 ORDER BY term "  \
    "LIMIT 1), (SELECT pgno + 2 FROM " idx " WHERE segid = id ORDER BY term DESC LIMIT 1)) - "     \
    "coalesce((SELECT pgno FROM " idx " WHERE segid = id AND term <= ?1 ORDER BY term DESC LIMIT " \
    "1), 2)) / 2 FROM segments WHERE id NOT NULL"

bool recall_prefix_pages(Recall *r, int table, Str begins, int64_t *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str first = bounds_of(a, begins, false), behind = bounds_of(a, begins, true);
    bool said = table == TABLE_SAID;
    int64_t known = 0;

    *ret = 0;
    if (!(said ? db_get_int(r->db, 0, &known, err, IS_KNOWN_LAYOUT("recall_said"))
               : db_get_int(r->db, 0, &known, err, IS_KNOWN_LAYOUT("recall_tools"))))
        return false;
    if (!known)
        return true; /* looked up whatever it costs */
    return said ? db_get_int(r->db, 0, ret, err, COUNT_PAGES("recall_said_idx"), BLOB(first),
                             BLOB(behind))
                : db_get_int(r->db, 0, ret, err, COUNT_PAGES("recall_tools_idx"), BLOB(first),
                             BLOB(behind));
}

/* FTS5 puts together all rows of all words that begin so before it hands out the first one, and cannot
 * be asked to stop. How much that is can be seen beforehand: its table of first words says on which page
 * of each segment a word is, and a prefix is the pages from one word to another. */
#include "recall/search_state.h"

/* Words lie in the index with this in front; other prefixes would be indexes of beginnings. */
static Str bounds_of(Arena *a, Str begins, bool behind)
{
    Str s = str_printf(a, "0%.*s", STR_FMT(begins));

    /* Words are UTF-8: no byte of theirs is the last one. */
    return behind ? str_printf(a, "%.*s%c", STR_FMT(s), 0xff) : s;
}

bool recall_prefix_pages(Recall *r, int table, Str begins, int64_t *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str first = bounds_of(a, begins, false), behind = bounds_of(a, begins, true);
    Stmt *stmt = r->pages[table];
    bool row = false, ok;

    *ret = 0;
    if (!stmt)
        return true; /* an index of another layout: looked up whatever it costs */
    sqlite3_bind_blob(stmt, 1, first.p, (int)first.n, SQLITE_STATIC);
    sqlite3_bind_blob(stmt, 2, behind.p, (int)behind.n, SQLITE_STATIC);
    ok = db_step(r->db, stmt, &row, err);
    *ret = ok && row ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return ok;
}

#include "base/buf.h"
#include "base/limits.h"
#include "recall/search_state.h"

Recall *recall_open(Db *db, Err *err)
{
    AUTO(Recall) *r = mem_alloc(sizeof *r);

    r->db = db;
    r->sessions_arena = arena_new();
    return recall_gather_register(r, err) ? TAKE(r) : NULL;
}

Recall *recall_close(Recall *r)
{
    if (r) {
        for (int t = 0; t < TABLES; t++)
            pool_done(&r->pools[t]);
        arena_free(r->sessions_arena);
        mem_free(r);
    }
    return NULL;
}

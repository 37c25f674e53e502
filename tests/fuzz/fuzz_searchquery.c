/* Whatever is typed, the index can be asked: no byte makes an expression that FTS5 refuses. */
#include <stdlib.h>

#include "base/limits.h"
#include "embedded.h"
#include "recall/search.h"
#include "recall/snippet.h"

static Db *db;
static Recall *recall;

static void set_up(void)
{
    Err err;

    db = db_open_own(":memory:", false, &err);
    /* The catalogue's tables too: filters by model, project and archive ask them. */
    if (!db || !db_script(db, (const char *)data_schema_index_002_sql, &err) ||
        !db_script(db, (const char *)data_schema_index_003_sql, &err))
        abort();
    recall = recall_open(db, &err);
    if (!recall)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    SearchQuery q = { .filter = SEARCH_FILTER_NONE };
    Str text = { (const char *)data, size };
    Marks marks = { .query = &q };
    SnippetPiece *pieces;
    Ranking ranking;
    size_t n;
    Err err;

    if (!recall)
        set_up();
    search_query_parse(a, text, &q);
    if (q.n > LIMIT_SEARCH_TERMS || !recall_rank(recall, a, &q, 5, &ranking, &err))
        abort();
    snippet_make(a, text, &marks, &pieces, &n);
    return 0;
}

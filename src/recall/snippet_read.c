/* A transcript's line is read at its byte; a home's message by its id. */
#include "recall/snippet.h"

#include "base/limits.h"

struct DocReader {
    const Homes *homes;
    Reader *reader;
    Rows *rows[LIMIT_HOMES];
    RecallListen *listen;
    bool rewound; /* of the document that was read last */
};

DocReader *doc_reader_new(const Homes *homes)
{
    DocReader *r = mem_alloc(sizeof *r);

    r->homes = homes;
    r->reader = reader_new();
    r->listen = recall_listen_new();
    return r;
}

DocReader *doc_reader_free(DocReader *r)
{
    if (r) {
        for (size_t i = 0; i < LIMIT_HOMES; i++)
            rows_close(r->rows[i]);
        reader_free(r->reader);
        recall_listen_free(r->listen);
    }
    return mem_free(r);
}

static bool rows_of(DocReader *r, Str home, Rows **ret, Err *err)
{
    RowsQuery query = { .archived = true, .compacted = true };

    for (size_t i = 0; i < r->homes->n && i < LIMIT_HOMES; i++) {
        if (!str_eq(r->homes->all[i].path, home))
            continue;
        if (!r->rows[i])
            r->rows[i] = rows_open(&r->homes->all[i], &query, err);
        *ret = r->rows[i];
        return *ret != NULL;
    }
    return err_set(err, ERR_NOT_FOUND, "no home '%.*s'", STR_FMT(home));
}

/* -- one -- */

typedef struct Find {
    DocReader *r;
    Arena *arena;
    int64_t place;
    int part;
    Str text;
    bool found, over;
} Find;

/* What a home says of the session comes first, at 0; behind the message there is nothing to look
 * for. */
static bool find_event(void *ctx, const Event *e, Err *err)
{
    Find *f = ctx;
    Doc d;

    if (e->where == f->place && doc_from_event(f->r->listen, e, &d) && d.part == f->part) {
        f->text = str_dup(f->arena, d.text);
        f->r->rewound = e->flags & EVENT_IS_REWOUND;
        f->found = true;
    }
    f->over = f->found || e->where > f->place;
    return !f->over || err_set(err, ERR_INTERRUPTED, "found");
}

bool doc_read(DocReader *r, Arena *a, const Entry *e, int64_t place, int64_t line, int part,
              Str *ret, Err *err)
{
    Find f = { .r = r, .arena = a, .place = place, .part = part };
    int64_t last;
    Rows *rows;
    bool ok;

    recall_listen_reset(r->listen);
    if (e->home.n)
        ok = rows_of(r, e->home, &rows, err) &&
             hermes_read(rows, e->id, place - 1, find_event, &f, &last, err);
    else
        ok = transcript_line(r->reader, e->source, e->path, place, line, find_event, &f, err);
    if (f.found) {
        *ret = f.text;
        return true;
    }
    return (!ok && !f.over) ? false : err_set(err, ERR_NOT_FOUND, "its text is not there any more");
}

bool doc_was_rewound(const DocReader *r)
{
    return r->rewound;
}

/* -- all -- */

typedef struct Each {
    DocReader *r;
    Arena *arena;
    DocFn *fn;
    void *ctx;
    bool over;
} Each;

static bool each_event(void *ctx, const Event *e, Err *err)
{
    Each *each = ctx;
    Doc d;

    arena_reset(each->arena);
    if (!doc_from_event(each->r->listen, e, &d))
        return true;
    if (d.role != DOC_CALL)
        d.text = event_text(each->arena, e);
    each->over = !each->fn(each->ctx, &d);
    return !each->over || err_set(err, ERR_INTERRUPTED, "enough");
}

bool doc_each(DocReader *r, const Entry *e, DocFn *fn, void *ctx, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Each each = { .r = r, .arena = a, .fn = fn, .ctx = ctx };
    ReadOptions options = { .kinds = 1u << EVENT_USER | 1u << EVENT_ASSISTANT |
                                     1u << EVENT_TOOL_CALL | 1u << EVENT_TOOL_RESULT };
    Cursor cursor = { 0 };
    TranscriptFile file;
    ReadStats stats;
    int64_t last;
    Rows *rows;
    bool ok;

    recall_listen_reset(r->listen);
    if (e->home.n) {
        ok = rows_of(r, e->home, &rows, err) &&
             hermes_read(rows, e->id, 0, each_event, &each, &last, err);
    } else {
        entry_file(e, &file);
        ok = transcript_read(r->reader, &file, &options, &cursor, each_event, NULL, &each, &stats,
                             err);
    }
    return ok || each.over;
}

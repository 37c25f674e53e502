/* Which events are worth finding again, and as what: what people and agents said, calls with the
 * strings of their arguments, results by their head and tail. Thinking, notes of the program and
 * summaries (what they sum up is there itself) are left out.
 *
 * A result often carries only the id of its call; the last calls of the session are remembered, so
 * that a result is found under its tool. */
#include "base/limits.h"
#include "recall/index.h"

enum { RESULT_HEAD = 1600, RESULT_TAIL = 800, PIECES = 256, CALLS = 64, ID_BYTES = 64 };

typedef struct Call {
    char id[ID_BYTES];
    size_t n;
    Str tool;
} Call;

struct RecallListen {
    Arena *arena;      /* of one event */
    Arena *session;    /* names of tools */
    Call calls[CALLS]; /* the last ones, overwritten in turn */
    size_t n_calls;
    int64_t place; /* of the last document, and how many before it stood in the same line */
    int part;
};

/* -- calls -- */

static void remember_call(RecallListen *l, Str id, Str tool)
{
    Call *c = &l->calls[l->n_calls % CALLS];

    if (!id.n || id.n > ID_BYTES)
        return;
    memcpy(c->id, id.p, id.n);
    c->n = id.n;
    if (!str_eq(c->tool, tool))
        c->tool = str_dup(l->session, tool);
    l->n_calls++;
}

static Str tool_of(const RecallListen *l, Str id)
{
    size_t n = l->n_calls < CALLS ? l->n_calls : CALLS;

    for (size_t i = 0; i < n; i++) {
        const Call *c = &l->calls[(l->n_calls - 1 - i) % CALLS];

        if (str_eq((Str){ c->id, c->n }, id))
            return c->tool;
    }
    return STR("");
}

/* Behind the closing quote of the string that begins at s.p[at]; its inside is *ret. */
static size_t skip_string(Str s, size_t at, Str *ret)
{
    size_t from = ++at;

    while (at < s.n && s.p[at] != '"')
        at += s.p[at] == '\\' ? 2 : 1;
    if (at > s.n)
        at = s.n;
    *ret = (Str){ s.p + from, at - from };
    return at < s.n ? at + 1 : at;
}

/* The strings of the arguments as pieces of text; keys say nothing. */
static size_t argument_pieces(Str json, Str pieces[PIECES])
{
    size_t n = 0, at = 0;

    while (at < json.n && n < PIECES) {
        if (json.p[at] != '"') {
            at++;
            continue;
        }
        at = skip_string(json, at, &pieces[n]);
        while (at < json.n && (json.p[at] == ' ' || json.p[at] == '\n'))
            at++;
        if (pieces[n].n && (at == json.n || json.p[at] != ':'))
            n++;
    }
    return n;
}

static Str call_text(Arena *a, const Event *e)
{
    Str *pieces = ARENA_ARRAY(a, Str, PIECES);
    Event as = { .kind = EVENT_TOOL_CALL };
    Str arguments;

    as.text = (EventText){ pieces, argument_pieces(e->arguments, pieces), true };
    arguments = event_clip(a, &as, RESULT_HEAD, RESULT_TAIL);
    return str_printf(a, "%.*s\n%.*s", STR_FMT(e->name), STR_FMT(arguments));
}

/* -- events -- */

static bool doc_of(RecallListen *l, const Event *e, Doc *ret)
{
    *ret = (Doc){ .at = e->at,
                  .place = e->where,
                  .line = e->line_bytes,
                  .call = e->id,
                  .failed = e->flags & EVENT_HAS_FAILED,
                  .guest = e->flags & EVENT_IS_GUEST };
    switch (e->kind) {
    case EVENT_USER:
    case EVENT_ASSISTANT:
        ret->role = e->kind == EVENT_USER ? DOC_USER : DOC_ASSISTANT;
        ret->text = event_clip(l->arena, e, LIMIT_RECALL_SAID, KIB(4));
        return true;
    case EVENT_TOOL_CALL:
        ret->role = DOC_CALL;
        ret->tool = e->name;
        ret->text = call_text(l->arena, e);
        remember_call(l, e->id, e->name);
        return true;
    case EVENT_TOOL_RESULT:
        ret->role = DOC_RESULT;
        ret->tool = e->name.n ? e->name : tool_of(l, e->id);
        ret->text = event_clip(l->arena, e, RESULT_HEAD, RESULT_TAIL);
        return true;
    default:
        return false;
    }
}

/* Parts are counted here: what else a line says (facts of the session) depends on the lines
 * before. */
bool doc_from_event(RecallListen *l, const Event *e, Doc *ret)
{
    if (e->flags & (EVENT_IS_META | EVENT_IS_SUMMARY) || !doc_of(l, e, ret))
        return false;
    l->part = e->where == l->place ? l->part + 1 : 0;
    l->place = e->where;
    ret->part = l->part;
    return true;
}

void recall_listen_reset(RecallListen *l)
{
    arena_reset(l->session);
    memset(l->calls, 0, sizeof l->calls);
    l->n_calls = 0;
    l->place = -1;
}

RecallListen *recall_listen_new(void)
{
    RecallListen *l = mem_alloc(sizeof *l);

    l->arena = arena_new();
    l->session = arena_new();
    l->place = -1;
    return l;
}

RecallListen *recall_listen_free(RecallListen *l)
{
    if (l) {
        arena_free(l->arena);
        arena_free(l->session);
    }
    return mem_free(l);
}

static DocSession session_of(const Entry *e)
{
    return (DocSession){ .key = e->key,
                         .source = e->source,
                         .folder = e->cwd,
                         .last_at = e->last_at,
                         .offset = e->cursor.offset,
                         .proof = e->cursor.proof };
}

static bool on_begin(void *ctx, const Entry *e, bool anew, Err *err)
{
    RecallIndex *x = ctx;
    RecallListen *l = recall_index_listen(x);
    DocSession s = session_of(e);

    recall_listen_reset(l);
    return recall_index_begin(x, &s, anew, err);
}

static bool on_event(void *ctx, const Event *e, Err *err)
{
    RecallIndex *x = ctx;
    RecallListen *l = recall_index_listen(x);
    Doc d;

    arena_reset(l->arena);
    return !doc_from_event(l, e, &d) || recall_index_add(x, &d, err);
}

static bool on_end(void *ctx, const Entry *e, Err *err)
{
    DocSession s = session_of(e);

    return recall_index_end(ctx, &s, err);
}

static bool on_gone(void *ctx, const Entry *e, Err *err)
{
    return recall_index_drop(ctx, e->key, err);
}

static bool on_commit(void *ctx, Err *err)
{
    return recall_index_flush(ctx, err);
}

CatalogueListener recall_index_listener(RecallIndex *x)
{
    return (CatalogueListener){ .ctx = x,
                                .begin = on_begin,
                                .event = on_event,
                                .end = on_end,
                                .gone = on_gone,
                                .commit = on_commit,
                                .kinds = 1u << EVENT_USER | 1u << EVENT_ASSISTANT |
                                         1u << EVENT_TOOL_CALL | 1u << EVENT_TOOL_RESULT };
}

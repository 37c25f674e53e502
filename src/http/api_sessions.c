/* Sessions and their transcripts, a page at a time.
 *
 * A page of a transcript is read with the messages that follow it, so that a call at its end finds
 * its result; those are not written. */
#include "base/limits.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "store/session_json.h"
#include "text/markdown.h"
#include "text/outcome.h"
#include "text/utf8.h"

enum { DEFAULT_PAGE = 50, DEFAULT_MESSAGES = 100, LOOK_AHEAD = 64 };

/* -- the list ----------------------------------------------------------------------------------------- */

typedef struct ListWish {
    SessionQuery query;
    Session after;
    int64_t limit;
} ListWish;

static bool read_wish(Request *rq, size_t homes, ListWish *ret, Err *err)
{
    Arena *a = rq->arena;
    Str q = rq->query, cursor;

    if (!query_number(a, q, "limit", 1, LIMIT_HTTP_PAGE, DEFAULT_PAGE, &ret->limit, err) ||
        !query_text(a, q, "source", &ret->query.source, err) ||
        !query_time(a, q, "since", &ret->query.since, err) ||
        !query_flag(a, q, "archived", &ret->query.archived, err) ||
        !query_text(a, q, "cursor", &cursor, err))
        return false;
    if (!cursor.n)
        return true;
    if (!cursor_parse_session(cursor, homes, &ret->after, err))
        return false;
    ret->query.after = &ret->after;
    return true;
}

/* One more than asked for is looked at, to know whether there is a next page. */
static bool put_sessions(Request *rq, Store *store, SessionList *list, int64_t limit, JsonWriter *w,
                         Str *ret_next, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Session last = { 0 };

    for (int64_t i = 0;; i++) {
        Lineage l;
        bool more = false;

        arena_reset(a);
        if (!sessions_next(list, a, &l, &more, err))
            return false;
        if (!more)
            return true;
        if (i == limit)
            break;
        last = l.tip;
        json_begin(w, '{');
        lineage_put(w, store, &l);
        lineage_put_parts(w, &l);
        json_end(w, '}');
    }
    *ret_next = cursor_of_session(rq->arena, &last);
    return true;
}

bool route_sessions(Request *rq, Err *err)
{
    AUTO(SessionList) *list = NULL;
    ListWish wish = { 0 };
    const Homes *homes;
    Str next = STR_NONE;
    Store *store;
    JsonWriter w;

    if (!request_homes(rq, &homes, err) || !read_wish(rq, homes->n, &wish, err) ||
        !request_store(rq, &store, err))
        return false;
    list = sessions_open(store, &wish.query, err);
    if (!list)
        return false;
    w = reply_json(rq);
    json_key(&w, "sessions");
    json_begin(&w, '[');
    if (!put_sessions(rq, store, list, wish.limit, &w, &next, err))
        return false;
    json_end(&w, ']');
    json_field_str(&w, "next_cursor", next);
    json_end(&w, '}');
    return true;
}

bool route_session(Request *rq, Err *err)
{
    Store *store;
    JsonWriter w;
    Lineage l;

    if (!request_store(rq, &store, err) || !store_find(store, rq->arena, rq->params[0], &l, err))
        return false;
    w = reply_json(rq);
    lineage_put(&w, store, &l);
    lineage_put_parts(&w, &l);
    json_end(&w, '}');
    return true;
}

/* -- the transcript ---------------------------------------------------------------------------------- */

typedef struct Transcript {
    Request *rq;
    Store *store;
    Lineage lineage;
    bool all;
    size_t limit;       /* messages that still have room */
    size_t from, until; /* parts */
    MessageMark after;  /* where the page begins; has_after: of part `from` */
    bool has_after;
    Str next;
} Transcript;

static bool part_of(const Transcript *t, Str id, size_t *ret, Err *err)
{
    for (size_t i = 0; i < t->lineage.n_parts; i++)
        if (str_eq(t->lineage.parts[i].id, id)) {
            *ret = i;
            return true;
        }
    return err_set(err, ERR_NOT_FOUND, "session '%.*s' has no part '%.*s'",
                   STR_FMT(t->lineage.tip.id), STR_FMT(id));
}

static bool read_place(Request *rq, Transcript *t, Err *err)
{
    Str part, after;
    int64_t limit;

    if (!query_number(rq->arena, rq->query, "limit", 1, LIMIT_HTTP_PAGE, DEFAULT_MESSAGES, &limit,
                      err) ||
        !query_flag(rq->arena, rq->query, "all", &t->all, err) ||
        !query_text(rq->arena, rq->query, "part", &part, err) ||
        !query_text(rq->arena, rq->query, "after", &after, err))
        return false;
    t->limit = (size_t)limit;
    t->until = t->lineage.n_parts;
    if (part.n) {
        if (!part_of(t, part, &t->from, err))
            return false;
        t->until = t->from + 1;
    }
    if (!after.n)
        return true;
    if (!cursor_parse_message(after, t->until, &t->after, err))
        return false;
    if (t->after.part < t->from)
        return err_set(err, ERR_USAGE, "this cursor is of another part");
    t->from = t->after.part;
    t->has_after = true;
    return true;
}

/* The text of a message as the page gets it; what is too long says how long it was. */
static Str put_text(JsonWriter *w, Arena *a, const Message *m)
{
    Str whole = m->content.p ? message_text(a, m->content) : STR_NONE;
    Str text = whole.n > LIMIT_HTTP_TEXT ? utf8_head(whole, LIMIT_HTTP_TEXT) : whole;

    message_put(w, m, text);
    json_field_int(w, "bytes", (int64_t)whole.n);
    return text;
}

static void put_outcome(JsonWriter *w, bool known, Str result)
{
    Outcome outcome = known ? outcome_of_result(result) : OUTCOME_OK;

    if (!known) {
        json_field_null(w, "ok");
        json_field_null(w, "outcome");
        return;
    }
    json_field_bool(w, "ok", outcome == OUTCOME_OK);
    json_field_str(w, "outcome", str_of(outcome_text(outcome)));
}

static void put_call(JsonWriter *w, const Exchange *x, const Message *messages)
{
    json_begin(w, '{');
    toolcall_put(w, &x->call);
    put_outcome(w, x->has_result, x->content);
    if (x->has_result) {
        json_field_int(w, "result_id", messages[x->result].id);
        json_field_double(w, "seconds",
                          messages[x->result].timestamp - messages[x->message].timestamp);
    }
    json_end(w, '}');
}

static void put_message(JsonWriter *w, Arena *a, const Transcript *t, size_t part,
                        const Message *messages, size_t i, const Exchange *calls, size_t n_calls)
{
    const Message *m = &messages[i];
    bool speaks = str_eqz(m->role, "user") || str_eqz(m->role, "assistant");
    Str text;

    json_begin(w, '{');
    json_field_str(w, "part", t->lineage.parts[part].id);
    text = put_text(w, a, m);
    json_key(w, "html");
    if (speaks && text.n)
        json_put_str(w, markdown_html(a, text));
    else
        json_put_null(w);
    if (str_eqz(m->role, "tool"))
        put_outcome(w, true, m->content);
    json_key(w, "tool_calls");
    json_begin(w, '[');
    for (size_t k = 0; k < n_calls; k++)
        if (calls[k].message == i)
            put_call(w, &calls[k], messages);
    json_end(w, ']');
    json_end(w, '}');
}

/* What of one part belongs on the page. */
static bool put_part(Transcript *t, JsonWriter *w, size_t part, Err *err)
{
    AUTO(Arena) *a = arena_new();
    MessageQuery query = { .inactive = t->all,
                           .most = t->limit + LOOK_AHEAD,
                           .after = t->has_after && part == t->from ? &t->after.last : NULL };
    size_t n = 0, n_calls = 0;
    Message *messages;
    Exchange *calls;

    if (!messages_load(t->store, a, &t->lineage.parts[part], &query, &messages, &n, err))
        return false;
    exchanges_pair(a, messages, n, &calls, &n_calls);
    for (size_t i = 0; i < n && t->limit; i++, t->limit--) {
        put_message(w, a, t, part, messages, i, calls, n_calls);
        /* Few long messages make a page as well as many short ones. */
        if (w->out->n > LIMIT_HTTP_PAGE_BYTES)
            t->limit = 1;
        if (t->limit == 1 && (i + 1 < n || part + 1 < t->until))
            t->next = cursor_of_message(t->rq->arena, part, &messages[i]);
    }
    return true;
}

/* {format, session, messages: [{part, id, role, timestamp, content, bytes, html, tool_name,
 *  tool_call_id, active, compacted, tool_calls: [{id, name, arguments, ok, outcome, result_id,
 *  seconds}]}], next_after}; a tool's message has ok and outcome too. */
bool route_messages(Request *rq, Err *err)
{
    Transcript t = { .rq = rq, .next = STR_NONE };
    JsonWriter w;

    if (!request_store(rq, &t.store, err) ||
        !store_find(t.store, rq->arena, rq->params[0], &t.lineage, err) || !read_place(rq, &t, err))
        return false;
    w = reply_json(rq);
    json_field_str(&w, "session", t.lineage.tip.id);
    json_key(&w, "messages");
    json_begin(&w, '[');
    for (size_t i = t.from; i < t.until && t.limit; i++)
        if (!put_part(&t, &w, i, err))
            return false;
    json_end(&w, ']');
    json_field_str(&w, "next_after", t.next);
    json_end(&w, '}');
    return true;
}

/* Sessions and their transcripts, a page at a time.
 *
 * A page of a transcript is read with the messages that follow it, so that a call at its end finds
 * its result; those are not written. */
#include "agent/manage.h"
#include "base/limits.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "recall/export.h"
#include "recall/history_json.h"
#include "store/session_json.h"
#include "text/markdown.h"
#include "text/outcome.h"
#include "text/utf8.h"

enum { DEFAULT_PAGE = 50, DEFAULT_MESSAGES = 100, LOOK_AHEAD = 64, MAX_FACETS = 50 };

/* -- the list -- */

typedef struct ListRequest {
    HistoryQuery query;
    HistoryMark after;
    int64_t limit;
} ListRequest;

static bool read_cursor(Request *rq, size_t lanes, ListRequest *ret, Err *err)
{
    Session mark;
    Str cursor;

    if (!query_text(rq->arena, rq->query, "cursor", &cursor, err))
        return false;
    if (!cursor.n)
        return true;
    if (!cursor_parse_session(cursor, lanes, &mark, err))
        return false;
    ret->after = (HistoryMark){ mark.home, mark.started_at, mark.rowid };
    ret->query.after = &ret->after;
    return true;
}

static bool read_list_request(Request *rq, size_t homes, ListRequest *ret, Err *err)
{
    HistoryQuery *query = &ret->query;
    Arena *a = rq->arena;
    Str q = rq->query;

    query->facts = true;
    return query_number(a, q, "limit", 1, LIMIT_HTTP_PAGE, DEFAULT_PAGE, &ret->limit, err) &&
           query_text(a, q, "source", &query->source, err) &&
           query_text(a, q, "project", &query->project, err) &&
           query_text(a, q, "model", &query->model, err) &&
           query_text(a, q, "tool", &query->tool, err) &&
           query_time(a, q, "since", &query->since, err) &&
           query_time(a, q, "until", &query->until, err) &&
           query_flag(a, q, "archived", &query->archived, err) &&
           query_flag(a, q, "side_chains", &query->side_chains, err) &&
           read_cursor(rq, homes + HISTORY_FILE_LANES, ret, err);
}

static void put_item(JsonWriter *w, Arena *a, const HistoryItem *item)
{
    history_put(w, a, item);
    lineage_put_parts(w, &item->lineage);
}

/* One more than asked for is looked at, to know whether there is a next page. */
static bool put_sessions(Request *rq, HistoryList *list, int64_t limit, JsonWriter *w,
                         Str *ret_next, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Session last = { 0 };

    for (int64_t i = 0;; i++) {
        HistoryItem item;
        bool more = false;

        arena_reset(a);
        if (!history_next(list, a, &item, &more, err))
            return false;
        if (!more)
            return true;
        if (i == limit)
            break;
        last = (Session){ .home = item.mark.lane,
                          .started_at = item.mark.at,
                          .rowid = item.mark.number };
        json_begin(w, '{');
        put_item(w, a, &item);
        json_end(w, '}');
    }
    *ret_next = cursor_of_session(rq->arena, &last);
    return true;
}

bool route_sessions(Request *rq, Err *err)
{
    AUTO(History) *h = NULL;
    AUTO(HistoryList) *list = NULL;
    ListRequest request = { 0 };
    const Homes *homes;
    Str next = STR_NONE;
    JsonWriter w;

    if (!request_homes(rq, &homes, err) || !read_list_request(rq, homes->n, &request, err))
        return false;
    /* With one of these filters the catalogue answers for homes too. */
    if (request.query.project.n || request.query.model.n || request.query.tool.n)
        h = request_whole_history(rq, err);
    else
        h = request_history(rq, err);
    list = h ? history_list(h, &request.query, err) : NULL;
    if (!list)
        return false;
    w = reply_json(rq);
    json_field_begin(&w, "sessions", '[');
    if (!put_sessions(rq, list, request.limit, &w, &next, err))
        return false;
    json_end(&w, ']');
    json_field_str(&w, "next_cursor", next);
    json_field_bool(&w, "partial", history_partial(h));
    return reply_end(&w);
}

bool route_session(Request *rq, Err *err)
{
    AUTO(History) *h = request_history(rq, err);
    HistoryItem item;
    JsonWriter w;

    if (!h || !history_find(h, rq->arena, rq->params[0], &item, err))
        return false;
    w = reply_json(rq);
    put_item(&w, rq->arena, &item);
    return reply_end(&w);
}

/* -- filters -- */

static bool put_origins(Request *rq, JsonWriter *w, Err *err)
{
    HistoryWhere where = { .files = !rq->server->options.where.home };
    HistoryFacts history;
    HomeFacts *facts;
    size_t n;

    if (!request_homes(rq, &where.homes, err))
        return false;
    store_facts(rq->arena, where.homes, &facts, &n);
    if (!history_facts(&where, rq->arena, facts, n, &history, err))
        return false;
    json_field_begin(w, "origins", '[');
    for (size_t i = 0; i < ORIGIN_COUNT; i++) {
        const SourceFacts *s = &history.sources[i];

        if (!s->counts.sessions && !s->counts.continuing)
            continue;
        json_begin(w, '{');
        json_field_str(w, "name", str_of(origin_name(s->origin)));
        json_field_str(w, "title", str_of(origin_title(s->origin)));
        json_field_int(w, "sessions", s->counts.sessions);
        json_field_int(w, "continued", s->counts.continued);
        json_field_int(w, "continuing", s->counts.continuing);
        json_end(w, '}');
    }
    json_end(w, ']');
    return true;
}

/* {format, origins: [{name, title, sessions, continued, continuing}], projects: [{name, sessions}],
 * models, tools} */
bool route_facets(Request *rq, Err *err)
{
    static const char *const kinds[][2] = { { "project", "projects" },
                                            { "model", "models" },
                                            { "tool", "tools" } };
    AUTO(History) *h = request_whole_history(rq, err);
    JsonWriter w = reply_json(rq);

    if (!h || !put_origins(rq, &w, err))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        Facet *all;
        size_t n;

        if (!history_facets(h, rq->arena, kinds[i][0], MAX_FACETS, &all, &n, err))
            return false;
        json_field_begin(&w, kinds[i][1], '[');
        for (size_t k = 0; k < n; k++) {
            json_begin(&w, '{');
            json_field_str(&w, "name", all[k].name);
            json_field_int(&w, "sessions", all[k].sessions);
            json_end(&w, '}');
        }
        json_end(&w, ']');
    }
    json_field_bool(&w, "partial", history_partial(h));
    return reply_end(&w);
}

/* -- to save -- */

/* An id as the name of a file: whatever else it holds, no quotes and no slashes. */
static Str file_name(Arena *a, Str id, Str ending)
{
    char *name = str_z(a, str_head(id, 100));

    for (char *c = name; *c; c++)
        if (!((*c >= '0' && *c <= '9') || ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') || *c == '-'))
            *c = '_';
    return str_printf(a, "%s.%.*s", name, STR_FMT(ending));
}

bool route_export(Request *rq, Err *err)
{
    AUTO(History) *h = request_history(rq, err);
    ExportOptions options = { 0 };
    HistoryItem item;
    Str as;

    if (!h || !query_text(rq->arena, rq->query, "as", &as, err))
        return false;
    if (!as.n)
        as = STR("jsonl");
    if (!export_format_parse(as, &options.format))
        return err_set(err, ERR_USAGE, "parameter 'as' must be jsonl or md");
    if (!history_find(h, rq->arena, rq->params[0], &item, err))
        return false;
    rq->reply.type = export_format_type(options.format);
    rq->reply.filename = file_name(rq->arena, item.lineage.tip.id, as);
    return export_session(h, &item, &options, &rq->reply.body, err);
}

/* -- the transcript -- */

typedef struct Transcript {
    Request *rq;
    HistoryItem item;
    bool all;
    size_t limit;       /* messages that still have room */
    size_t from, until; /* parts */
    MessageMark after;  /* where the page begins; has_after: of part `from` */
    bool has_after;
    Str next;
} Transcript;

static bool part_of(const Transcript *t, Str id, size_t *ret, Err *err)
{
    for (size_t i = 0; i < t->item.lineage.n_parts; i++)
        if (str_eq(t->item.lineage.parts[i].id, id)) {
            *ret = i;
            return true;
        }
    return err_set(err, ERR_NOT_FOUND, "session '%.*s' has no part '%.*s'",
                   STR_FMT(t->item.lineage.tip.id), STR_FMT(id));
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
    t->until = t->item.lineage.n_parts;
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
        return err_set(err, ERR_USAGE, "this cursor belongs to another part");
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
    json_field_str(w, "part", t->item.lineage.parts[part].id);
    text = put_text(w, a, m);
    json_field_bool(w, "side_chain", message_is_side_chain(m));
    json_key(w, "html");
    if (speaks && text.n)
        json_put_str(w, markdown_html(a, text));
    else
        json_put_null(w);
    if (str_eqz(m->role, "tool"))
        put_outcome(w, true, m->content);
    json_field_begin(w, "tool_calls", '[');
    for (size_t k = 0; k < n_calls; k++)
        if (calls[k].message == i)
            put_call(w, &calls[k], messages);
    json_end(w, ']');
    json_end(w, '}');
}

/* The messages from where the page begins, and some behind it. Those of a transcript are counted:
 * one of its lines can hold several, so that the number of the line does not tell them apart. */
static bool load_page(const Transcript *t, Arena *a, size_t part, Message **ret, size_t *ret_n,
                      size_t *ret_first, Err *err)
{
    bool goes_on = t->has_after && part == t->from;
    MessageQuery query = { .inactive = t->all,
                           .max = t->limit + LOOK_AHEAD,
                           .after = goes_on ? &t->after.last : NULL };
    size_t first = goes_on && t->after.last.id >= 0 ? (size_t)t->after.last.id + 1 : 0;
    Loaded loaded;
    Store *store;

    *ret_first = 0;
    if (!t->item.is_file)
        return request_store(t->rq, &store, err) &&
               messages_load(store, a, &t->item.lineage.parts[part], &query, ret, ret_n, err);
    if (!history_load_file(a, &t->item, &loaded, err))
        return false;
    if (first > loaded.n)
        first = loaded.n;
    *ret = loaded.messages + first;
    *ret_n = loaded.n - first < query.max ? loaded.n - first : query.max;
    *ret_first = first;
    return true;
}

/* What of one part belongs on the page. */
static bool put_part(Transcript *t, JsonWriter *w, size_t part, Err *err)
{
    AUTO(Arena) *a = arena_new();
    size_t n = 0, n_calls = 0, first = 0;
    Message *messages;
    Exchange *calls;

    if (!load_page(t, a, part, &messages, &n, &first, err))
        return false;
    exchanges_pair(a, messages, n, &calls, &n_calls);
    for (size_t i = 0; i < n && t->limit; i++, t->limit--) {
        Message mark = messages[i];

        put_message(w, a, t, part, messages, i, calls, n_calls);
        /* Few long messages make a page as well as many short ones. */
        if (w->out->n > LIMIT_HTTP_PAGE_BYTES)
            t->limit = 1;
        if (t->item.is_file)
            mark.id = (int64_t)(first + i);
        if (t->limit == 1 && (i + 1 < n || part + 1 < t->until))
            t->next = cursor_of_message(t->rq->arena, part, &mark);
    }
    return true;
}

/* {format, session, messages: [{part, id, role, timestamp, content, bytes, html, tool_name,
 *  tool_call_id, active, compacted, side_chain, tool_calls: [{id, name, arguments, ok, outcome,
 * result_id, seconds}]}], next_after}; a tool's message has ok and outcome too. */
bool route_messages(Request *rq, Err *err)
{
    AUTO(History) *h = request_history(rq, err);
    Transcript t = { .rq = rq, .next = STR_NONE };
    JsonWriter w;

    if (!h || !history_find(h, rq->arena, rq->params[0], &t.item, err) || !read_place(rq, &t, err))
        return false;
    w = reply_json(rq);
    json_field_str(&w, "session", t.item.lineage.tip.id);
    json_field_begin(&w, "messages", '[');
    for (size_t i = t.from; i < t.until && t.limit; i++)
        if (!put_part(&t, &w, i, err))
            return false;
    json_end(&w, ']');
    json_field_str(&w, "next_after", t.next);
    return reply_end(&w);
}

/* -- changing a session that Talaria keeps itself -- */

typedef struct Change {
    Str title; /* p NULL: unchanged */
    bool archive, archived;
} Change;

static bool read_change(Request *rq, Json body, Change *ret, Err *err)
{
    Str title = STR_NONE;

    *ret = (Change){ .title = STR_NONE,
                     .archive = json_type(json_get(body, STR("archived"))) == JSON_BOOL };
    if (!field_str(body, "title", &title, err) ||
        !field_bool(body, "archived", &ret->archived, err))
        return false;
    if (title.p)
        ret->title = str_dup(rq->arena, title);
    return title.p || ret->archive || err_set(err, ERR_INVALID, "give 'title' or 'archived'");
}

static bool find_own(Request *rq, const Homes **ret_homes, HistoryItem *ret, Err *err)
{
    AUTO(History) *h = request_history(rq, err);

    return h && request_homes(rq, ret_homes, err) &&
           history_find(h, rq->arena, rq->params[0], ret, err) &&
           manage_check_own(*ret_homes, ret, err);
}

/* Nothing that the watch compares changes when a session is changed or deleted. */
static void notify_pages(Request *rq)
{
    sse_publish(rq->server->sse, "chat", STR("{}"));
}

bool route_session_change(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    Runs *r = doc ? request_runs(rq, err) : NULL;
    const Homes *homes;
    HistoryItem item;
    Change wanted;

    if (!r || !read_change(rq, json_root(doc), &wanted, err) || !find_own(rq, &homes, &item, err) ||
        (wanted.title.p && !manage_rename(r, homes, &item, wanted.title, err)) ||
        (wanted.archive && !manage_archive(r, homes, &item, wanted.archived, err)))
        return false;
    notify_pages(rq);
    rq->params[0] = item.lineage.tip.id;
    return route_session(rq, err);
}

bool route_session_delete(Request *rq, Err *err)
{
    Runs *r = request_runs(rq, err);
    const Homes *homes;
    HistoryItem item;
    JsonWriter w;

    if (!r || !find_own(rq, &homes, &item, err) || !manage_delete(r, homes, &item, err))
        return false;
    notify_pages(rq);
    w = reply_json(rq);
    json_field_str(&w, "id", item.lineage.tip.id);
    return reply_end(&w);
}

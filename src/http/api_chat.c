/* Conversations: made, listed, changed, branched, removed; their messages. Any session is shown as the
 * conversation that it would be, and becomes one with the first write. */
#include "http/api_chat.h"

#include "agent/conversation.h"
#include "agent/files.h"
#include "base/limits.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "text/sha256.h"

/* -- the service's database ------------------------------------------------------------------------- */

bool request_service(Request *rq, Service **ret, Err *err)
{
    *ret = server_service(rq->server, err);
    if (*ret)
        return true;
    err->kind = ERR_BUSY;
    return err_wrap(err, "there is no chat");
}

bool with_runs(Request *rq, RunsFn *fn, Err *err)
{
    Service *s;
    Runs *r;
    bool ok;

    if (!request_service(rq, &s, err))
        return false;
    r = service_take(s, err);
    ok = r && fn(rq, s, r, err);
    service_give(s, r);
    return ok;
}

bool request_continue(Request *rq, Err *err)
{
    Service *s;

    return request_service(rq, &s, err) &&
           service_continue(s, rq->arena, rq->params[0], &rq->params[0], err);
}

static bool with_continued(Request *rq, RunsFn *fn, Err *err)
{
    return request_continue(rq, err) && with_runs(rq, fn, err);
}

bool request_look_up(Request *rq, bool *ret_there, Preview *ret, Err *err)
{
    Service *s;
    Str id;

    if (!request_service(rq, &s, err) ||
        !service_look_up(s, rq->arena, rq->params[0], &id, ret, err))
        return false;
    *ret_there = id.n > 0;
    if (*ret_there)
        rq->params[0] = id;
    return true;
}

static bool put_conversation(Request *rq, Runs *r, Str id, Err *err)
{
    Conversation c;
    JsonWriter w;

    if (!conversation_get(r, rq->arena, id, &c, err))
        return false;
    w = reply_json(rq);
    conversation_put(&w, &c);
    json_key(&w, "agent_state");
    if (!agent_state_put(&w, r, rq->arena, &c, err))
        return false;
    return reply_end(&w);
}

/* -- making and changing ------------------------------------------------------------------------------ */

static bool check_runtime(Service *s, Str name, Err *err)
{
    return !name.n || service_runtime(s, name, err) != NULL;
}

/* Text as it was kept before. One of ours says of whole conversations where they are: a copy of it would let
 * two conversations go on from one place. */
static bool read_old_state(Json body, Str *ret, Err *err)
{
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;

    if (!field_str(body, "agent_state", ret, err))
        return false;
    if (ret->n > LIMIT_RUN_HANDLE)
        return err_set(err, ERR_TOO_LARGE, "'agent_state' has %zu bytes, and at most %d are kept",
                       ret->n, LIMIT_RUN_HANDLE);
    doc = ret->n ? json_parse(*ret, &ignored) : NULL;
    if (doc && json_type(json_get(json_root(doc), STR("runtimes"))) == JSON_OBJECT)
        return err_set(err, ERR_INVALID,
                       "this 'agent_state' is of a conversation of ours: open that "
                       "one, or branch it with POST /api/conversations/ID/branch");
    return true;
}

/* *ret_id is empty where it is the first with its key, or has none. */
static bool made_before(Request *rq, Runs *r, const Conversation *c, Str *ret_id, Err *err)
{
    *ret_id = STR("");
    if (c->idem_key.n > 255)
        return err_set(err, ERR_USAGE, "an Idempotency-Key has at most 255 bytes");
    return !c->idem_key.n ||
           conversation_by_key(r, rq->arena, c->idem_key, c->idem_sha256, ret_id, err);
}

/* Two at once with the same key: the second is told of the first. */
static bool make_once(Request *rq, Service *s, Runs *r, const Conversation *c, Str *ret_id,
                      Err *err)
{
    Err why;

    if (!made_before(rq, r, c, ret_id, err))
        return false;
    if (ret_id->n)
        return true;
    *ret_id = c->id;
    return service_begin(s, c, err) || (made_before(rq, r, c, ret_id, &why) && ret_id->n);
}

static bool create(Request *rq, Service *s, Runs *r, Err *err)
{
    AUTO(JsonDoc) *doc = rq->body.n ? request_json(rq, err) : NULL;
    Conversation c = { .id = id_new(rq->arena, 'c'),
                       .idem_key = request_header(rq, "Idempotency-Key"),
                       .idem_sha256 = sha256_hex(rq->arena, buf_str(&rq->body)) };
    Str id;

    if (rq->body.n) {
        Json body = doc ? json_root(doc) : (Json){ 0 };

        if (!doc || !field_str(body, "title", &c.title, err) ||
            !field_str(body, "runtime", &c.default_runtime, err) ||
            !field_str(body, "model", &c.model, err) ||
            !field_str(body, "template", &c.template, err) ||
            !read_old_state(body, &c.old_state, err))
            return false;
    }
    if (!make_once(rq, s, r, &c, &id, err))
        return false;
    rq->reply.status = 201;
    return put_conversation(rq, r, id, err);
}

bool route_conversation_create(Request *rq, Err *err)
{
    return with_runs(rq, create, err);
}

static bool show(Request *rq, Service *s, Runs *r, Err *err)
{
    (void)s;
    return put_conversation(rq, r, rq->params[0], err);
}

static void put_preview(Request *rq, const Preview *p)
{
    JsonWriter w = reply_json(rq);

    conversation_put(&w, &p->row);
    json_key(&w, "agent_state");
    json_put_null(&w);
    json_end(&w, '}');
}

bool route_conversation(Request *rq, Err *err)
{
    Preview p;
    bool there;

    if (!request_look_up(rq, &there, &p, err))
        return false;
    if (there)
        return with_runs(rq, show, err);
    put_preview(rq, &p);
    return true;
}

static bool change(Request *rq, Service *s, Runs *r, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    ConversationChange request = { 0 };

    return doc && field_str(json_root(doc), "title", &request.title, err) &&
           field_str(json_root(doc), "runtime", &request.default_runtime, err) &&
           field_str(json_root(doc), "model", &request.model, err) &&
           field_int(json_root(doc), "version", 1, INT64_MAX, &request.version, err) &&
           check_runtime(s, request.default_runtime, err) &&
           conversation_change(r, rq->params[0], &request, err) &&
           put_conversation(rq, r, rq->params[0], err);
}

bool route_conversation_change(Request *rq, Err *err)
{
    return with_continued(rq, change, err);
}

static bool delete (Request *rq, Service *s, Runs *r, Err *err)
{
    JsonWriter w;

    if (!conversation_delete(r, rq->params[0], err))
        return false;
    (void)s;
    files_delete(rq->server->homes->data, rq->params[0]);
    /* No number that the watch looks at has grown. */
    sse_publish(rq->server->sse, "chat", STR("{}"));
    w = reply_json(rq);
    json_field_str(&w, "id", rq->params[0]);
    return reply_end(&w);
}

bool route_conversation_delete(Request *rq, Err *err)
{
    return with_runs(rq, delete, err);
}

static bool branch(Request *rq, Service *s, Runs *r, Err *err)
{
    AUTO(JsonDoc) *doc = rq->body.n ? request_json(rq, err) : NULL;
    Str id = id_new(rq->arena, 'c');
    int64_t through = 0;

    (void)s;
    if (rq->body.n && (!doc || !field_int(json_root(doc), "through", 1, INT64_MAX, &through, err)))
        return false;
    if (!conversation_branch(r, rq->params[0], through, id, err))
        return false;
    rq->reply.status = 201;
    return put_conversation(rq, r, id, err);
}

bool route_conversation_branch(Request *rq, Err *err)
{
    return with_continued(rq, branch, err);
}

/* -- lists -------------------------------------------------------------------------------------------- */

/* A cursor is "<updated_ms>.<id>" of the last one shown. */
static bool read_cursor(Str cursor, int64_t *ret_ms, Str *ret_id, Err *err)
{
    size_t dot = str_find(cursor, STR("."));

    if (!cursor.n)
        return true;
    if (dot == cursor.n || !str_to_int(str_head(cursor, dot), 1, INT64_MAX, ret_ms))
        return err_set(err, ERR_USAGE, "unknown cursor; start again without it");
    *ret_id = str_skip(cursor, dot + 1);
    return true;
}

static void put_list(Request *rq, const Conversation *all, size_t n, bool more)
{
    JsonWriter w = reply_json(rq);

    json_field_begin(&w, "conversations", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        conversation_put(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_field_str(&w, "next_cursor",
                   more ? str_printf(rq->arena, "%lld.%.*s", (long long)all[n - 1].updated_ms,
                                     STR_FMT(all[n - 1].id))
                        : STR_NONE);
    json_end(&w, '}');
}

static bool list(Request *rq, Service *s, Runs *r, Err *err)
{
    int64_t limit = 50, before = 0;
    Str cursor, id = STR_NONE;
    Conversation *all;
    size_t n;

    (void)s;
    if (!query_number(rq->arena, rq->query, "limit", 1, LIMIT_HTTP_PAGE, 50, &limit, err) ||
        !query_text(rq->arena, rq->query, "cursor", &cursor, err) ||
        !read_cursor(cursor, &before, &id, err) ||
        !conversation_list(r, rq->arena, before, id, (size_t)limit + 1, &all, &n, err))
        return false;
    put_list(rq, all, n > (size_t)limit ? (size_t)limit : n, n > (size_t)limit);
    return true;
}

bool route_conversations(Request *rq, Err *err)
{
    return with_runs(rq, list, err);
}

typedef struct TurnsWish {
    int64_t after, limit;
} TurnsWish;

static bool read_turns_wish(Request *rq, TurnsWish *ret, Err *err)
{
    return query_number(rq->arena, rq->query, "after", 0, INT64_MAX, 0, &ret->after, err) &&
           query_number(rq->arena, rq->query, "limit", 1, LIMIT_HTTP_PAGE, LIMIT_HTTP_PAGE,
                        &ret->limit, err);
}

static void put_turns(Request *rq, const ChatTurn *turns, size_t n, int64_t limit)
{
    JsonWriter w = reply_json(rq);

    json_field_begin(&w, "messages", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        chat_turn_put(&w, &turns[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_key(&w, "next_after");
    if (n == (size_t)limit)
        json_put_int(&w, turns[n - 1].seq);
    else
        json_put_null(&w);
    json_end(&w, '}');
}

static bool messages(Request *rq, Service *s, Runs *r, Err *err)
{
    Conversation c;
    TurnsWish request;
    ChatTurn *turns;
    size_t n;

    (void)s;
    if (!read_turns_wish(rq, &request, err) ||
        !conversation_get(r, rq->arena, rq->params[0], &c, err) ||
        !turns_list(r, rq->arena, c.id, request.after, (size_t)request.limit, &turns, &n, err))
        return false;
    put_turns(rq, turns, n, request.limit);
    return true;
}

bool route_conversation_messages(Request *rq, Err *err)
{
    TurnsWish request;
    bool there;
    size_t n;
    Preview p;

    if (!read_turns_wish(rq, &request, err) || !request_look_up(rq, &there, &p, err))
        return false;
    if (there)
        return with_runs(rq, messages, err);
    if (request.after > (int64_t)p.n_turns)
        request.after = (int64_t)p.n_turns;
    n = p.n_turns - (size_t)request.after;
    put_turns(rq, p.turns + request.after, n < (size_t)request.limit ? n : (size_t)request.limit,
              request.limit);
    return true;
}

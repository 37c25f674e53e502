/* Conversations: made, listed, changed, branched, removed; their messages and files. Any session is
 * shown as the conversation that it would be, and becomes one with the first write. */
#include "agent/conversation.h"
#include "agent/files.h"
#include "base/limits.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "text/sha256.h"

/* -- the service's database -- */

bool request_service(Request *rq, Service **ret, Err *err)
{
    *ret = server_service(rq->server, err);
    if (*ret)
        return true;
    err->kind = ERR_BUSY;
    return err_wrap(err, "there is no chat");
}

Runs *request_runs(Request *rq, Err *err)
{
    Service *s;

    ASSERT(rq->worker);
    if (!rq->runs && request_service(rq, &s, err))
        rq->runs = service_borrow_runs(s, err);
    return rq->runs;
}

bool request_continue(Request *rq, Err *err)
{
    Service *s;

    return request_service(rq, &s, err) &&
           service_continue(s, rq->arena, rq->params[0], &rq->params[0], err);
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

static bool reply_conversation(Request *rq, Str id, Err *err)
{
    Runs *r = request_runs(rq, err);
    Conversation c;
    JsonWriter w;

    if (!r || !conversation_get(r, rq->arena, id, &c, err))
        return false;
    w = reply_json(rq);
    conversation_put(&w, &c);
    json_key(&w, "agent_state");
    if (!agent_state_put(&w, r, rq->arena, &c, err))
        return false;
    return reply_end(&w);
}

/* -- making and changing -- */

/* Text as it was kept before. One of ours says of whole conversations where they are: a copy of it
 * would let two conversations go on from one place. */
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
static bool make_once(Request *rq, const Conversation *c, Str *ret_id, Err *err)
{
    Runs *r = request_runs(rq, err);
    Service *s;
    Err why;

    if (!r || !request_service(rq, &s, err) || !made_before(rq, r, c, ret_id, err))
        return false;
    if (ret_id->n)
        return true;
    *ret_id = c->id;
    return service_begin(s, c, err) || (made_before(rq, r, c, ret_id, &why) && ret_id->n);
}

bool route_conversation_create(Request *rq, Err *err)
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
    if (!make_once(rq, &c, &id, err))
        return false;
    rq->reply.status = 201;
    return reply_conversation(rq, id, err);
}

bool route_conversation(Request *rq, Err *err)
{
    JsonWriter w;
    Preview p;
    bool there;

    if (!request_look_up(rq, &there, &p, err))
        return false;
    if (there)
        return reply_conversation(rq, rq->params[0], err);
    w = reply_json(rq);
    conversation_put(&w, &p.row);
    json_field_null(&w, "agent_state");
    return reply_end(&w);
}

bool route_conversation_change(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    ConversationChange request = { 0 };
    Service *s;

    return doc && request_continue(rq, err) && request_service(rq, &s, err) &&
           field_str(json_root(doc), "title", &request.title, err) &&
           field_str(json_root(doc), "runtime", &request.default_runtime, err) &&
           field_str(json_root(doc), "model", &request.model, err) &&
           field_int(json_root(doc), "version", 1, INT64_MAX, &request.version, err) &&
           (!request.default_runtime.n || service_runtime(s, request.default_runtime, err)) &&
           request_runs(rq, err) && conversation_change(rq->runs, rq->params[0], &request, err) &&
           reply_conversation(rq, rq->params[0], err);
}

bool route_conversation_delete(Request *rq, Err *err)
{
    Runs *r = request_runs(rq, err);
    JsonWriter w;

    if (!r || !conversation_delete(r, rq->params[0], err))
        return false;
    files_delete(rq->server->homes->data, rq->params[0]);
    /* No number that the watch looks at has grown. */
    sse_publish(rq->server->sse, "chat", STR("{}"));
    w = reply_json(rq);
    json_field_str(&w, "id", rq->params[0]);
    return reply_end(&w);
}

bool route_conversation_branch(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = rq->body.n ? request_json(rq, err) : NULL;
    Str id = id_new(rq->arena, 'c');
    int64_t through = 0;

    if (rq->body.n && (!doc || !field_int(json_root(doc), "through", 1, INT64_MAX, &through, err)))
        return false;
    if (!request_continue(rq, err) || !request_runs(rq, err) ||
        !conversation_branch(rq->runs, rq->params[0], through, id, err))
        return false;
    rq->reply.status = 201;
    return reply_conversation(rq, id, err);
}

/* -- lists -- */

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

bool route_conversations(Request *rq, Err *err)
{
    Runs *r = request_runs(rq, err);
    int64_t limit = 50, before = 0;
    Str cursor, next = STR_NONE, id = STR_NONE;
    Conversation *all;
    JsonWriter w;
    size_t n;

    if (!r || !query_number(rq->arena, rq->query, "limit", 1, LIMIT_HTTP_PAGE, 50, &limit, err) ||
        !query_text(rq->arena, rq->query, "cursor", &cursor, err) ||
        !read_cursor(cursor, &before, &id, err) ||
        !conversation_list(r, rq->arena, before, id, (size_t)limit + 1, &all, &n, err))
        return false;
    if (n > (size_t)limit) {
        n = (size_t)limit;
        next = str_printf(rq->arena, "%lld.%.*s", (long long)all[n - 1].updated_ms,
                          STR_FMT(all[n - 1].id));
    }
    w = reply_json(rq);
    json_field_begin(&w, "conversations", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        conversation_put(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_field_str(&w, "next_cursor", next);
    return reply_end(&w);
}

bool route_conversation_messages(Request *rq, Err *err)
{
    int64_t after, limit;
    ChatTurn *turns;
    JsonWriter w;
    Preview p;
    Conversation c;
    bool there;
    size_t n;

    if (!query_number(rq->arena, rq->query, "after", 0, INT64_MAX, 0, &after, err) ||
        !query_number(rq->arena, rq->query, "limit", 1, LIMIT_HTTP_PAGE, LIMIT_HTTP_PAGE, &limit,
                      err) ||
        !request_look_up(rq, &there, &p, err))
        return false;
    if (there) {
        if (!request_runs(rq, err) ||
            !conversation_get(rq->runs, rq->arena, rq->params[0], &c, err) ||
            !turns_list(rq->runs, rq->arena, c.id, after, (size_t)limit, &turns, &n, err))
            return false;
    } else {
        size_t first = after < (int64_t)p.n_turns ? (size_t)after : p.n_turns;

        turns = p.turns + first;
        n = p.n_turns - first < (size_t)limit ? p.n_turns - first : (size_t)limit;
    }
    w = reply_json(rq);
    json_field_begin(&w, "messages", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        chat_turn_put(&w, &turns[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    if (n == (size_t)limit)
        json_field_int(&w, "next_after", turns[n - 1].seq);
    else
        json_field_null(&w, "next_after");
    return reply_end(&w);
}

/* -- files: what users attach, and what runs leave behind -- */

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* RFC 4648, padded; nothing else between. */
static bool decode_base64(Arena *a, Str text, Str *ret, Err *err)
{
    char *out = arena_alloc(a, text.n / 4 * 3 + 3);
    size_t n = 0, pad = 0;

    if (text.n % 4)
        return err_set(err, ERR_INVALID, "'data' is not base64");
    while (pad < 2 && pad < text.n && text.p[text.n - 1 - pad] == '=')
        pad++;
    for (size_t i = 0; i < text.n; i += 4) {
        uint32_t bits = 0;

        for (size_t k = 0; k < 4; k++) {
            bool padding = i + k >= text.n - pad;
            int digit = padding ? 0 : digit_of(text.p[i + k]);

            if (digit < 0)
                return err_set(err, ERR_INVALID, "'data' is not base64");
            bits = bits << 6 | (uint32_t)digit;
        }
        out[n++] = (char)(bits >> 16);
        out[n++] = (char)(bits >> 8);
        out[n++] = (char)bits;
    }
    *ret = (Str){ out, n - pad };
    return true;
}

bool route_file_add(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    Str name = STR_NONE, mime = STR_NONE, data = STR_NONE;
    Attachment x;
    Service *s;
    JsonWriter w;

    if (!doc || !request_continue(rq, err) || !field_str(json_root(doc), "name", &name, err) ||
        !field_str(json_root(doc), "mime", &mime, err) ||
        !field_str(json_root(doc), "data", &data, err) || !request_service(rq, &s, err) ||
        !decode_base64(rq->arena, data, &data, err) ||
        !files_add(s, rq->arena, rq->params[0], name, mime, data, &x, err))
        return false;
    rq->reply.status = 201;
    w = reply_json(rq);
    attachment_put(&w, &x);
    return reply_end(&w);
}

bool route_attachments(Request *rq, Err *err)
{
    Attachment *all = NULL;
    Conversation c;
    JsonWriter w;
    Preview p;
    bool there;
    size_t n = 0;
    Str run;

    if (!query_text(rq->arena, rq->query, "run", &run, err) ||
        !request_look_up(rq, &there, &p, err) ||
        (there && (!request_runs(rq, err) ||
                   !conversation_get(rq->runs, rq->arena, rq->params[0], &c, err) ||
                   !attachment_list(rq->runs, rq->arena, c.id, run, &all, &n, err))))
        return false;
    w = reply_json(rq);
    json_field_begin(&w, "attachments", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        attachment_put(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    return reply_end(&w);
}

/* A file that a user uploaded is never served as a page: its type is ours or plain bytes. */
bool route_attachment(Request *rq, Err *err)
{
    Runs *r = request_runs(rq, err);
    Attachment x;
    Service *s;
    Str bytes;

    if (!r || !request_service(rq, &s, err) ||
        !attachment_get(r, rq->arena, rq->params[0], &x, err) ||
        !files_read(s, rq->arena, &x, &bytes, err))
        return false;
    buf_add(&rq->reply.body, bytes);
    rq->reply.type = str_eqz(x.kind, "file")               ? "application/octet-stream"
                     : str_eqz(x.mime, "application/json") ? "application/json"
                                                           : "text/plain; charset=utf-8";
    return true;
}

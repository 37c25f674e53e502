/* Conversations: made, listed, changed, branched, removed; their messages and files. */
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
    json_end(&w, '}');
    return true;
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

bool route_conversation(Request *rq, Err *err)
{
    return with_runs(rq, show, err);
}

static bool change(Request *rq, Service *s, Runs *r, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    ConversationChange wish = { 0 };

    return doc && field_str(json_root(doc), "title", &wish.title, err) &&
           field_str(json_root(doc), "runtime", &wish.default_runtime, err) &&
           field_str(json_root(doc), "model", &wish.model, err) &&
           field_int(json_root(doc), "version", 1, INT64_MAX, &wish.version, err) &&
           check_runtime(s, wish.default_runtime, err) &&
           conversation_change(r, rq->params[0], &wish, err) &&
           put_conversation(rq, r, rq->params[0], err);
}

bool route_conversation_change(Request *rq, Err *err)
{
    return with_runs(rq, change, err);
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
    json_end(&w, '}');
    return true;
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
    return with_runs(rq, branch, err);
}

/* -- lists -------------------------------------------------------------------------------------------- */

/* A cursor is "<updated_ms>.<id>" of the last one shown. */
static bool read_cursor(Str cursor, int64_t *ret_ms, Str *ret_id, Err *err)
{
    size_t dot = str_find(cursor, STR("."));

    if (!cursor.n)
        return true;
    if (dot == cursor.n || !str_to_int(str_head(cursor, dot), 1, INT64_MAX, ret_ms))
        return err_set(err, ERR_USAGE, "parameter 'cursor' is not one of ours");
    *ret_id = str_skip(cursor, dot + 1);
    return true;
}

static void put_list(Request *rq, const Conversation *all, size_t n, bool more)
{
    JsonWriter w = reply_json(rq);

    json_key(&w, "conversations");
    json_begin(&w, '[');
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

static bool messages(Request *rq, Service *s, Runs *r, Err *err)
{
    int64_t after = 0, limit = LIMIT_HTTP_PAGE;
    Conversation c;
    JsonWriter w;
    ChatTurn *turns;
    size_t n;

    (void)s;
    if (!query_number(rq->arena, rq->query, "after", 0, INT64_MAX, 0, &after, err) ||
        !query_number(rq->arena, rq->query, "limit", 1, LIMIT_HTTP_PAGE, LIMIT_HTTP_PAGE, &limit,
                      err) ||
        !conversation_get(r, rq->arena, rq->params[0], &c, err) ||
        !turns_list(r, rq->arena, c.id, after, (size_t)limit, &turns, &n, err))
        return false;
    w = reply_json(rq);
    json_key(&w, "messages");
    json_begin(&w, '[');
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
    return true;
}

bool route_conversation_messages(Request *rq, Err *err)
{
    return with_runs(rq, messages, err);
}

/* -- files and attachments ------------------------------------------------------------------------------ */

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

    if (!doc || !field_str(json_root(doc), "name", &name, err) ||
        !field_str(json_root(doc), "mime", &mime, err) ||
        !field_str(json_root(doc), "data", &data, err) || !request_service(rq, &s, err) ||
        !decode_base64(rq->arena, data, &data, err) ||
        !files_add(s, rq->arena, rq->params[0], name, mime, data, &x, err))
        return false;
    rq->reply.status = 201;
    w = reply_json(rq);
    attachment_put(&w, &x);
    json_end(&w, '}');
    return true;
}

static bool attachments(Request *rq, Service *s, Runs *r, Err *err)
{
    Conversation c;
    Attachment *all;
    JsonWriter w;
    size_t n;
    Str run;

    (void)s;
    if (!query_text(rq->arena, rq->query, "run", &run, err) ||
        !conversation_get(r, rq->arena, rq->params[0], &c, err) ||
        !attachment_list(r, rq->arena, c.id, run, &all, &n, err))
        return false;
    w = reply_json(rq);
    json_key(&w, "attachments");
    json_begin(&w, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        attachment_put(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
    return true;
}

bool route_attachments(Request *rq, Err *err)
{
    return with_runs(rq, attachments, err);
}

/* What a user uploaded is never served as a page: its type is ours or plain bytes. */
static bool attachment(Request *rq, Service *s, Runs *r, Err *err)
{
    Attachment x;
    Str bytes;

    if (!attachment_get(r, rq->arena, rq->params[0], &x, err) ||
        !files_read(s, rq->arena, &x, &bytes, err))
        return false;
    buf_add(&rq->reply.body, bytes);
    rq->reply.type = str_eqz(x.kind, "file")               ? "application/octet-stream"
                     : str_eqz(x.mime, "application/json") ? "application/json"
                                                           : "text/plain; charset=utf-8";
    return true;
}

bool route_attachment(Request *rq, Err *err)
{
    return with_runs(rq, attachment, err);
}

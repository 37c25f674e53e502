/* The local chat on the page: its rooms, what was said in them, and what the user says.
 *
 * Whoever looks on asks with `since`, the changed_ms of the answer before: what was written or has
 * grown since then, with some overlap, because a message has its time before others can see it. */
#include "base/limits.h"
#include "chat/local.h"
#include "handoff/wake.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"

enum { USUAL_MESSAGES = 200, OVERLAP_MS = 2000, MAX_KEY = 128 };

/* -- rooms -- */

static bool reply_rooms(Request *rq, const char *key, const LocalRoom *all, size_t n)
{
    JsonWriter w = reply_json(rq);

    json_field_begin(&w, key, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "id", all[i].id);
        json_field_str(&w, "title", all[i].title);
        json_field_str(&w, "channel", all[i].channel);
        json_field_int(&w, "messages", all[i].messages);
        json_field_int(&w, "last_ms", all[i].last_ms);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    return reply_end(&w);
}

/* {format, channels: [...]} */
bool route_local_channels(Request *rq, Err *err)
{
    AUTO(OwnStore) *j = request_own_store(rq, err);
    LocalRoom *all;
    size_t n;

    return j && local_channels(j, rq->arena, &all, &n, err) && reply_rooms(rq, "channels", all, n);
}

/* {format, threads: [...]} */
bool route_local_threads(Request *rq, Err *err)
{
    AUTO(OwnStore) *j = request_own_store(rq, err);
    int64_t max;
    LocalRoom *all;
    Str channel;
    size_t n;

    return j && query_text(rq->arena, rq->query, "channel", &channel, err) &&
           query_number(rq->arena, rq->query, "limit", 1, LIMIT_HTTP_PAGE, USUAL_MESSAGES, &max,
                        err) &&
           local_threads(j, rq->arena, channel, (size_t)max, &all, &n, err) &&
           reply_rooms(rq, "threads", all, n);
}

/* -- messages -- */

static bool read_query(Request *rq, LocalQuery *q, Err *err)
{
    Arena *a = rq->arena;
    int64_t max;

    *q = (LocalQuery){ 0 };
    if (!query_text(a, rq->query, "channel", &q->channel, err) ||
        !query_text(a, rq->query, "thread", &q->thread, err) ||
        !query_number(a, rq->query, "after", 0, INT64_MAX, 0, &q->after, err) ||
        !query_number(a, rq->query, "before", 1, INT64_MAX, 0, &q->before, err) ||
        !query_number(a, rq->query, "since", 0, INT64_MAX, 0, &q->since_ms, err) ||
        !query_number(a, rq->query, "limit", 1, LIMIT_HTTP_PAGE, USUAL_MESSAGES, &max, err))
        return false;
    q->max = (size_t)max;
    q->since_ms = q->since_ms > OVERLAP_MS ? q->since_ms - OVERLAP_MS : 0;
    return q->channel.n || err_set(err, ERR_USAGE, "parameter 'channel' must be given");
}

static void put_message(JsonWriter *w, const LocalMessage *m)
{
    json_begin(w, '{');
    json_field_int(w, "id", m->id);
    json_field_str(w, "author", m->author);
    json_field_str(w, "text", m->text);
    json_field_int(w, "created_ms", m->created_ms);
    json_field_int(w, "edited_ms", m->edited_ms);
    json_end(w, '}');
}

/* {format, messages: [...], earlier, changed_ms, typing_until_ms} */
bool route_local_messages(Request *rq, Err *err)
{
    AUTO(OwnStore) *j = request_own_store(rq, err);
    int64_t typing, changed;
    LocalMessage *all;
    LocalQuery q;
    JsonWriter w;
    bool more;
    size_t n;
    Str name;

    if (!j || !read_query(rq, &q, err) ||
        !local_channel_name(j, rq->arena, q.channel, &name, err) ||
        !local_page(j, rq->arena, &q, &all, &n, &more, err) ||
        !local_typing(j, q.channel, q.thread, &typing, err))
        return false;
    changed = q.since_ms;
    w = reply_json(rq);
    json_field_begin(&w, "messages", '[');
    for (size_t i = 0; i < n; i++) {
        int64_t at = all[i].edited_ms > all[i].created_ms ? all[i].edited_ms : all[i].created_ms;

        put_message(&w, &all[i]);
        changed = at > changed ? at : changed;
    }
    json_end(&w, ']');
    json_field_bool(&w, "earlier", more);
    json_field_int(&w, "changed_ms", changed);
    json_field_int(&w, "typing_until_ms", typing);
    return reply_end(&w);
}

/* -- what the user says -- */

/* The name of the message for ever: the client's key, else a new one. */
static bool key_of(Request *rq, Str *ret, Err *err)
{
    Str given = request_header(rq, "Idempotency-Key");
    char id[ULID_CHARS];

    if (given.n > MAX_KEY)
        return err_set(err, ERR_INVALID, "'Idempotency-Key' is too long");
    ulid_make(0, id);
    *ret = str_printf(rq->arena, "you %.*s", STR_FMT(given.n ? given : str_of(id)));
    return true;
}

static bool read_message(Request *rq, Json body, LocalMessage *m, Err *err)
{
    *m = (LocalMessage){ .author = STR("you") };
    if (!field_str(body, "channel", &m->channel, err) ||
        !field_str(body, "thread", &m->thread, err) || !field_str(body, "text", &m->text, err) ||
        !key_of(rq, &m->key, err))
        return false;
    if (!m->channel.n || !str_trim(m->text).n)
        return err_set(err, ERR_INVALID, "'channel' and 'text' must be given");
    return m->text.n <= LIMIT_LOCAL_TEXT ||
           err_set(err, ERR_TOO_LARGE, "a message has at most %d bytes", LIMIT_LOCAL_TEXT);
}

bool route_local_say(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    AUTO(OwnStore) *j = doc ? request_own_store(rq, err) : NULL;
    LocalMessage m;
    JsonWriter w;
    int64_t id;

    if (!j || !read_message(rq, json_root(doc), &m, err) ||
        !local_user_says(j, rq->arena, &m, &id, err))
        return false;
    wake_call(own_store_data(j));
    rq->reply.status = 201;
    w = reply_json(rq);
    json_field_int(&w, "id", id);
    return reply_end(&w);
}

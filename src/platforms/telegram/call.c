/* One call of the Bot API: POST with JSON, and an envelope of {ok, result} or {ok, error_code,
 * description}.
 *
 * The token is part of the address, so no address is ever put into words. What a failure means is
 * decided here, once: what may work later is ERR_BUSY (with the patience that is asked for) or
 * ERR_IO, all else never will. */
#include "platforms/telegram/inside.h"

#include "base/limits.h"

enum { MAX_PATIENCE_S = 24 * 3600, CONNECT_MS = 10000, IDLE_MS = 10000 };

void put_number(JsonWriter *w, const char *key, Str id)
{
    int64_t number;

    if (str_to_int(id, INT64_MIN, INT64_MAX, &number))
        json_field_int(w, key, number);
    else
        json_field_str(w, key, id);
}

bool reply_says(const Reply *reply, const char *words)
{
    return str_find_nocase(reply->description, str_of(words)) < reply->description.n;
}

/* -- what it means -- */

static bool refuse(const Ask *ask, ErrKind kind, const Reply *reply, Err *err)
{
    return err_set(err, kind, "telegram refuses %s: %.*s (%d)", ask->method,
                   STR_FMT(str_head(reply->description, 300)), reply->code);
}

/* 503 says that nothing was done; the other errors of servers and of what stands before them do
 * not. */
static bool judge(const Ask *ask, Reply *reply, Err *err)
{
    reply->unsure = reply->code >= 500 && reply->code != 503;
    if (reply->code >= 500)
        return err_set(err, ERR_IO, "telegram cannot process %s now: %.*s (%d)", ask->method,
                       STR_FMT(str_head(reply->description, 300)), reply->code);
    if (reply->code == 429)
        return err_set(err, ERR_BUSY, "telegram rate limit: wait %lld s before %s",
                       (long long)(reply->wait_ms / 1000), ask->method);
    if (reply->code == 409)
        return refuse(ask, ERR_CONFLICT, reply, err);
    if (reply->code == 401 || reply->code == 403 || reply->code == 404)
        return refuse(ask, ERR_REFUSED, reply, err);
    if (reply_says(reply, "not found"))
        return refuse(ask, ERR_NOT_FOUND, reply, err);
    if (reply_says(reply, "not enough rights") || reply_says(reply, "need administrator rights") ||
        reply_says(reply, "have no rights"))
        return refuse(ask, ERR_REFUSED, reply, err);
    return refuse(ask, ERR_INVALID, reply, err);
}

/* -- the envelope -- */

/* Something that is no envelope: a proxy's page, an answer that was cut. */
static bool foreign(const Ask *ask, const CallAnswer *answer, Reply *reply, Err *err)
{
    reply->unsure = answer->status < 300 || (answer->status >= 500 && answer->status != 503);
    return err_set(err, ERR_IO, "invalid answer to %s: not from telegram (status %d)", ask->method,
                   answer->status);
}

static bool read_envelope(Arena *a, const Ask *ask, const CallAnswer *answer, Reply *ret, Err *err)
{
    const PyValue *parameters;
    int64_t number;
    PyValue v;

    if (!pyjson_read(a, answer->body, &v) || v.type != PY_DICT)
        return foreign(ask, answer, ret, err);
    if (update_true(&v, "ok")) {
        ret->code = 200;
        ret->result = *update_get(&v, "result");
        return true;
    }
    if (!str_to_int(update_text(&v, "error_code"), 300, 999, &number))
        return foreign(ask, answer, ret, err);
    parameters = update_get(&v, "parameters");
    ret->code = (int)number;
    ret->description = update_text(&v, "description");
    ret->moved_to = update_text(parameters, "migrate_to_chat_id");
    if (str_to_int(update_text(parameters, "retry_after"), 0, MAX_PATIENCE_S, &number))
        ret->wait_ms = number * 1000;
    if (ret->code == 429 && !ret->wait_ms)
        ret->wait_ms = 1000;
    return judge(ask, ret, err);
}

static bool no_answer(const Ask *ask, const CallAnswer *answer, Reply *reply, Err *err)
{
    reply->unsure = answer->unsure;
    return err_set(err, answer->end == FETCH_TOO_LARGE ? ERR_TOO_LARGE : ERR_IO,
                   "telegram did not answer %s: %s", ask->method, fetch_end_text(answer->end));
}

bool telegram_call(Connection *c, Arena *a, const Ask *ask, Reply *ret, Err *err)
{
    static const char *const headers[] = { "Content-Type: application/json", NULL };
    int64_t ms = ask->ms ? ask->ms : LIMIT_PLATFORM_CALL_MS;
    char *url = str_z(a, str_printf(a, "%s%s", c->base, ask->method));
    FetchRequest request = {
        .method = "POST",
        .url = url,
        .headers = headers,
        .body = ask->body,
        .times = { .connect = CONNECT_MS, .first = ms, .idle = IDLE_MS, .total = ms },
        .secret = true
    };
    CallAnswer answer;
    bool ok;

    *ret = (Reply){ 0 };
    if (!call_wait_stop(c->host.net, a, &request, ask->stop, &answer, err))
        return false;
    ok = answer.end == FETCH_OK ? read_envelope(a, ask, &answer, ret, err)
                                : no_answer(ask, &answer, ret, err);
    if (ret->code)
        connection_heard(&c->wire);
    return ok;
}

/* One call of Slack's Web API: a form goes out, {"ok": true, ...} or {"ok": false, "error": "word"}
 * comes back.
 *
 * A form and not JSON, because the methods that read take nothing else. What a failure means is
 * decided here, once, by a table of Slack's words: what may work later is ERR_BUSY (with the
 * patience that is asked for) or ERR_IO, all else never will. */
#include "base/limits.h"
#include "platforms/slack/inside.h"

enum { MAX_PATIENCE_S = 24 * 3600, CONNECT_MS = 10000, MAX_FORM = MIB(1) };

/* X(word, kind, the token is of no use, it may have been done) */
#define SLACK_ERRORS(X)                                                                            \
    X("invalid_auth", ERR_REFUSED, true, false)                                                    \
    X("not_authed", ERR_REFUSED, true, false)                                                      \
    X("account_inactive", ERR_REFUSED, true, false)                                                \
    X("token_revoked", ERR_REFUSED, true, false)                                                   \
    X("token_expired", ERR_REFUSED, true, false)                                                   \
    X("org_login_required", ERR_REFUSED, true, false)                                              \
    X("not_allowed_token_type", ERR_REFUSED, false, false)                                         \
    X("missing_scope", ERR_REFUSED, false, false)                                                  \
    X("not_in_channel", ERR_REFUSED, false, false)                                                 \
    X("is_archived", ERR_REFUSED, false, false)                                                    \
    X("restricted_action", ERR_REFUSED, false, false)                                              \
    X("cant_update_message", ERR_REFUSED, false, false)                                            \
    X("edit_window_closed", ERR_REFUSED, false, false)                                             \
    X("access_denied", ERR_REFUSED, false, false)                                                  \
    X("channel_not_found", ERR_NOT_FOUND, false, false)                                            \
    X("message_not_found", ERR_NOT_FOUND, false, false)                                            \
    X("thread_not_found", ERR_NOT_FOUND, false, false)                                             \
    X("user_not_found", ERR_NOT_FOUND, false, false)                                               \
    X("users_not_found", ERR_NOT_FOUND, false, false)                                              \
    X("ratelimited", ERR_BUSY, false, false)                                                       \
    X("rate_limited", ERR_BUSY, false, false)                                                      \
    X("service_unavailable", ERR_IO, false, false)                                                 \
    X("request_timeout", ERR_IO, false, false)                                                     \
    X("internal_error", ERR_IO, false, true)                                                       \
    X("fatal_error", ERR_IO, false, true)

static const struct {
    const char *word;
    ErrKind kind;
    bool token, unsure;
} errors[] = {
#define X(word, kind, token, unsure) { word, kind, token, unsure },
    SLACK_ERRORS(X)
#undef X
};

/* -- the form -- */

static void put_encoded(Buf *out, Str s)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];

        if ((ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
            (ch && strchr("-._~", ch))) {
            buf_addc(out, (char)ch);
        } else {
            buf_addc(out, '%');
            buf_addc(out, digits[ch >> 4]);
            buf_addc(out, digits[ch & 15]);
        }
    }
}

static void put_form(Buf *out, const Field *fields)
{
    for (const Field *f = fields; f && f->name; f++) {
        if (!f->value.n)
            continue;
        buf_addf(out, "%s%s=", out->n ? "&" : "", f->name);
        put_encoded(out, f->value);
    }
}

/* -- what it means -- */

static bool no_answer(const Ask *ask, const CallAnswer *answer, Reply *reply, Err *err)
{
    reply->unsure = answer->unsure;
    return err_set(err, answer->end == FETCH_TOO_LARGE ? ERR_TOO_LARGE : ERR_IO,
                   "slack did not answer %s: %s", ask->method, fetch_end_text(answer->end));
}

static bool be_patient(const Ask *ask, const CallAnswer *answer, Reply *reply, Err *err)
{
    int64_t seconds;

    if (!str_to_int(call_header(answer, "retry-after"), 0, MAX_PATIENCE_S, &seconds) || !seconds)
        seconds = 1;
    reply->wait_ms = seconds * 1000;
    return err_set(err, ERR_BUSY, "slack rate limit: wait %lld s before %s", (long long)seconds,
                   ask->method);
}

/* 503 says that nothing was done; other errors of servers and of what stands before them do not. */
static bool foreign(const Ask *ask, const CallAnswer *answer, Reply *reply, Err *err)
{
    reply->unsure = answer->status < 300 || (answer->status >= 500 && answer->status != 503);
    return err_set(err, ERR_IO, "invalid answer to %s: not from slack (status %d)", ask->method,
                   answer->status);
}

static bool refused(const Ask *ask, Reply *reply, Err *err)
{
    ErrKind kind = ERR_INVALID;

    for (size_t i = 0; i < ARRAY_LEN(errors); i++)
        if (str_eqz(reply->error, errors[i].word)) {
            kind = errors[i].kind;
            reply->token_refused = errors[i].token;
            reply->unsure = errors[i].unsure;
        }
    return err_set(err, kind, "slack refuses %s: %.*s", ask->method,
                   STR_FMT(str_head(reply->error, 100)));
}

static bool read_answer(Arena *a, const Ask *ask, const CallAnswer *answer, Reply *ret, Err *err)
{
    if (answer->status == 429)
        return be_patient(ask, answer, ret, err);
    if (!pyjson_read(a, answer->body, &ret->v) || ret->v.type != PY_DICT)
        return foreign(ask, answer, ret, err);
    if (update_true(&ret->v, "ok"))
        return true;
    ret->error = update_text(&ret->v, "error");
    if (!ret->error.n)
        return foreign(ask, answer, ret, err);
    if (str_is_one_of(ret->error, "ratelimited|rate_limited"))
        return be_patient(ask, answer, ret, err);
    return refused(ask, ret, err);
}

bool slack_call(Connection *c, Arena *a, const Ask *ask, Reply *ret, Err *err)
{
    AUTO_BUF form = BUF(MAX_FORM);
    const char *const headers[] = { "Content-Type: application/x-www-form-urlencoded",
                                    ask->by_app ? c->app_token : c->token, NULL };
    FetchRequest request = { .method = "POST",
                             .url = str_z(a, str_printf(a, "%s%s", c->base, ask->method)),
                             .headers = headers,
                             .times = { .connect = CONNECT_MS, .total = LIMIT_PLATFORM_CALL_MS },
                             .secret = true };
    CallAnswer answer;
    bool ok;

    *ret = (Reply){ 0 };
    put_form(&form, ask->fields);
    if (buf_full(&form))
        return err_set(err, ERR_TOO_LARGE, "too large for one slack request");
    request.body = buf_str(&form);
    if (!call_wait_stop(c->host.net, a, &request, ask->stop, &answer, err))
        return false;
    ok = answer.end == FETCH_OK ? read_answer(a, ask, &answer, ret, err)
                                : no_answer(ask, &answer, ret, err);
    if (ok || ret->error.n || ret->wait_ms)
        connection_heard(&c->wire);
    if (ret->token_refused)
        connection_set_state(&c->wire, CONNECTION_REFUSED, err->text);
    return ok;
}

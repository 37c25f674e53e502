/* Servers of one dialect agree on the shape of an error and hardly on its words, so the words that
 * matter are a table, looked for in type and code first and in the message last. */
#include "model/fail.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "text/redact.h"
#include "text/utf8.h"

enum { MAX_MESSAGE = 300 };

static const struct {
    const char *word;
    ModelFailKind kind;
    bool final, in_message;
} words[] = {
    { "insufficient_quota", MODEL_FAIL_RATE_LIMITED, true, false },
    { "context_length_exceeded", MODEL_FAIL_CONTEXT, false, false },
    { "request_too_large", MODEL_FAIL_CONTEXT, false, false },
    { "exceed_context_size", MODEL_FAIL_CONTEXT, false, false },
    { "content_filter", MODEL_FAIL_FILTER, false, false },
    { "content_policy", MODEL_FAIL_FILTER, false, false },
    { "authentication", MODEL_FAIL_AUTH, false, false },
    { "permission", MODEL_FAIL_AUTH, false, false },
    { "invalid_api_key", MODEL_FAIL_AUTH, false, false },
    { "rate_limit", MODEL_FAIL_RATE_LIMITED, false, false },
    { "overloaded", MODEL_FAIL_OVERLOADED, false, false },
    { "timeout", MODEL_FAIL_TIMEOUT, false, false },
    { "maximum context length", MODEL_FAIL_CONTEXT, false, true },
    { "prompt is too long", MODEL_FAIL_CONTEXT, false, true },
    { "context window", MODEL_FAIL_CONTEXT, false, true },
    { "server_error", MODEL_FAIL_OVERLOADED, false, false },
    { "api_error", MODEL_FAIL_OVERLOADED, false, false },
    { "invalid_request", MODEL_FAIL_BAD_REQUEST, false, false },
    { "not_found", MODEL_FAIL_BAD_REQUEST, false, false },
};

static ModelFailKind kind_of_status(int status)
{
    switch (status) {
    case 401:
    case 403:
        return MODEL_FAIL_AUTH;
    case 408:
        return MODEL_FAIL_TIMEOUT;
    case 413:
        return MODEL_FAIL_CONTEXT;
    case 429:
        return MODEL_FAIL_RATE_LIMITED;
    default:
        return status >= 500 ? MODEL_FAIL_OVERLOADED : MODEL_FAIL_BAD_REQUEST;
    }
}

/* A client error may be put more exactly by words; what the status says clearly, it decides. */
static bool words_decide(int status, ModelFailKind by_word)
{
    ModelFailKind by_status = kind_of_status(status);

    return status == 0 || by_status == MODEL_FAIL_BAD_REQUEST || by_status == by_word;
}

ModelFail fail_of_json(Json error, int status)
{
    Str type = json_str(json_get(error, STR("type"))),
        code = json_str(json_get(error, STR("code")));
    Str message = json_str(json_get(error, STR("message")));
    ModelFail fail = { .kind = status ? kind_of_status(status) : MODEL_FAIL_OVERLOADED,
                       .status = status,
                       .retry_after_ms = -1,
                       .message = message };

    if (json_type(error) == JSON_STRING)
        fail.message = message = json_str(error);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        Str word = str_of(words[i].word);
        bool found = str_find_nocase(type, word) < type.n || str_find_nocase(code, word) < code.n ||
                     (words[i].in_message && str_find_nocase(message, word) < message.n);

        if (found && words_decide(status, words[i].kind)) {
            fail.kind = words[i].kind;
            fail.final = words[i].final;
            break;
        }
    }
    return fail;
}

ModelFail fail_of_body(Arena *a, const FetchHead *head, Str body)
{
    Err ignored;
    AUTO(JsonDoc) *doc = body.n ? json_parse(body, &ignored) : NULL;
    Json root = doc ? json_root(doc) : (Json){ 0 };
    Json error = json_get(root, STR("error"));
    ModelFail fail = fail_of_json(json_type(error) == JSON_NONE ? root : error, head->status);

    fail.message = str_dup(a, fail.message);
    if (head->status >= 300 && head->status < 400)
        fail.message = STR("the server answered with a redirect; give the address it leads to");
    fail.retry_after_ms = retry_after_ms(head);
    return fail;
}

ModelFail fail_of_fetch(const FetchDone *done)
{
    ModelFail fail = { .status = done->status,
                       .retry_after_ms = -1,
                       .message = str_of(done->detail) };

    switch (done->end) {
    case FETCH_CONNECT:
    case FETCH_TIMEOUT_CONNECT:
        fail.kind = MODEL_FAIL_NETWORK;
        break;
    case FETCH_TLS:
        fail.kind = MODEL_FAIL_NETWORK;
        fail.final = true;
        break;
    case FETCH_TIMEOUT_FIRST:
    case FETCH_TIMEOUT_IDLE:
    case FETCH_TIMEOUT_TOTAL:
        fail.kind = MODEL_FAIL_TIMEOUT;
        break;
    case FETCH_TOO_LARGE:
        fail.kind = MODEL_FAIL_MALFORMED;
        break;
    case FETCH_CANCELLED:
        fail.kind = MODEL_FAIL_CANCELLED;
        break;
    case FETCH_OK:
    case FETCH_STOPPED:
    case FETCH_CUT:
        fail.kind = MODEL_FAIL_CUT;
        break;
    }
    return fail;
}

/* -- Retry-After -- */

static bool month_of(Str name, int *ret)
{
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";

    for (int i = 0; i < 12; i++) {
        if (str_eq_nocase(name, (Str){ months + i * 3, 3 })) {
            *ret = i;
            return true;
        }
    }
    return false;
}

/* "Sun, 15 Nov 2026 08:00:00 GMT", the one form that servers may send. */
static bool parse_date(Str text, double *ret)
{
    Str part[5], clock[3];
    struct tm tm = { 0 };
    int64_t day, year, hms[3];

    for (size_t i = 0; i < 5; i++)
        if (!str_split(&text, ' ', &part[i]))
            return false;
    for (size_t i = 0; i < 3; i++)
        if (!str_split(&part[4], ':', &clock[i]) || !str_to_int(clock[i], 0, 60, &hms[i]))
            return false;
    if (!str_to_int(part[1], 1, 31, &day) || !month_of(part[2], &tm.tm_mon) ||
        !str_to_int(part[3], 1970, 9999, &year))
        return false;
    tm.tm_mday = (int)day;
    tm.tm_year = (int)year - 1900;
    tm.tm_hour = (int)hms[0];
    tm.tm_min = (int)hms[1];
    tm.tm_sec = (int)hms[2];
    *ret = (double)timegm(&tm);
    return true;
}

int64_t retry_after_ms(const FetchHead *head)
{
    Str ms = fetch_header(head, "retry-after-ms"), s = fetch_header(head, "retry-after");
    double value;

    if (ms.n && str_to_double(ms, &value) && value >= 0 && value < 1e9)
        return (int64_t)ceil(value);
    if (s.n && str_to_double(s, &value) && value >= 0 && value < 1e6)
        return (int64_t)ceil(value * 1000);
    if (!s.n || !parse_date(s, &value))
        return -1;
    value -= clock_wall();
    return value <= 0 ? 0 : (int64_t)ceil(fmin(value, 1e6) * 1000);
}

/* -- for people -- */

Str text_without_key(Arena *a, Str text, Str key)
{
    AUTO_BUF out = BUF(LIMIT_MODEL_ANSWER);
    size_t at;

    while (key.n && (at = str_find(text, key)) < text.n) {
        buf_add(&out, str_head(text, at));
        buf_addz(&out, "[key]");
        text = str_skip(text, at + key.n);
    }
    buf_add(&out, text);
    return str_dup(a, buf_str(&out));
}

Str fail_message(Arena *a, Str text, Str key)
{
    AUTO_BUF line = BUF(4096);

    text = redact_text(a, text_without_key(a, utf8_head(text, 3000), key));
    utf8_show(&line, utf8_head(text, MAX_MESSAGE), false);
    return str_dup(a, buf_str(&line));
}

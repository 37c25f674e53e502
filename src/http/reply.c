/* The answer to a GET carries an ETag of its bytes: pages ask again often and mostly nothing has
 * changed. The hash is
 * FNV-1a over words, which costs less than sending them. */
#include "http/reply.h"

#include "base/hash.h"
#include "base/limits.h"
#include "http/metrics.h"
#include "text/redact.h"

static void add(struct MHD_Response *r, const char *name, const char *value)
{
    ASSERT(MHD_add_response_header(r, name, value) == MHD_YES);
}

void reply_headers(struct MHD_Response *response, const char *type, const char *etag, bool zipped)
{
    static const char csp[] = "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; "
                              "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    add(response, "Content-Security-Policy", csp);
    add(response, "X-Content-Type-Options", "nosniff");
    add(response, "Referrer-Policy", "no-referrer");
    add(response, "Cross-Origin-Opener-Policy", "same-origin");
    add(response, "Cross-Origin-Resource-Policy", "same-origin");
    add(response, "Cross-Origin-Embedder-Policy", "require-corp");
    add(response, "Content-Type", type);
    add(response, "Cache-Control", etag ? "private, no-cache" : "no-store");
    if (etag)
        add(response, "ETag", etag);
    if (zipped)
        add(response, "Content-Encoding", "gzip");
    if (etag)
        add(response, "Vary", "Accept-Encoding");
}

/* "q=0", "q=0.0": how a client says what it does not want. */
static bool is_refused(Str parameters)
{
    Str one;
    double q;

    while (str_split(&parameters, ';', &one)) {
        Str p = str_trim(one);

        if (p.n > 2 && str_eq_nocase(str_head(p, 2), STR("q=")))
            return str_to_double(str_skip(p, 2), &q) && q <= 0;
    }
    return false;
}

bool reply_takes_gzip(const Request *rq)
{
    Str rest = request_header(rq, "Accept-Encoding"), one;

    while (str_split(&rest, ',', &one)) {
        size_t at = str_find(one, STR(";"));

        if (str_eq_nocase(str_trim(str_head(one, at)), STR("gzip")))
            return !is_refused(str_skip(one, at + 1));
    }
    return false;
}

/* -- problems -- */

static const char *title_of(int status)
{
    static const struct {
        int status;
        const char *title;
    } rows[] = {
        { 400, "Bad request" },        { 401, "Token needed" }, { 403, "Refused" },
        { 404, "Not found" },          { 409, "Conflict" },     { 413, "Too large" },
        { 405, "Method not allowed" }, { 503, "Busy" },         { 507, "No space" },
        { 422, "Cannot be done" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].status == status)
            return rows[i].title;
    return "Failed";
}

/* The same once more in the shape that clients of OpenAI's interface look for, on the routes that
 * speak it. */
static void put_openai_error(JsonWriter *w, int status, Str message, const char *param, Str code)
{
    json_field_begin(w, "error", '{');
    json_field_str(w, "message", message);
    json_field_str(w, "type", status >= 500 ? STR("server_error") : STR("invalid_request_error"));
    json_field_str(w, "param", str_of(param));
    json_field_str(w, "code", code);
    json_end(w, '}');
}

void reply_problem_status(Request *rq, int status, const char *title, const Err *err)
{
    Reply *reply = &rq->reply;
    JsonWriter w = JSON_WRITER(&reply->body, 0);
    AUTO_BUF detail = BUF(KIB(8));

    buf_clear(&reply->body);
    redact_to(&detail, str_of(err->text));
    json_begin(&w, '{');
    json_field_str(&w, "type", STR("about:blank"));
    json_field_str(&w, "title", str_of(title ? title : title_of(status)));
    json_field_int(&w, "status", status);
    json_field_str(&w, "detail", buf_str(&detail));
    json_field_str(&w, "kind", str_of(err_name(err)));
    if (str_starts(rq->path, STR("/v1/")))
        put_openai_error(&w, status, buf_str(&detail), reply->param, str_of(err_name(err)));
    json_end(&w, '}');
    reply->status = status;
    reply->type = "application/problem+json";
}

void reply_problem(Request *rq, const Err *err)
{
    reply_problem_status(rq, err_http_status(err), NULL, err);
}

JsonWriter reply_json(Request *rq)
{
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    json_begin(&w, '{');
    json_field_int(&w, "format", 1);
    return w;
}

bool reply_end(JsonWriter *w)
{
    json_end(w, '}');
    return true;
}

/* -- ETag -- */

void reply_etag(char ret[ETAG_ROOM], Str bytes)
{
    snprintf(ret, ETAG_ROOM, "\"%016llx%zx\"", (unsigned long long)hash_text(HASH_START, bytes),
             bytes.n);
}

/* "*", or a list of tags; weak ones count too, as RFC 9110 has it for If-None-Match. */
bool reply_not_modified(const Request *rq, const char *etag)
{
    Str rest = request_header(rq, "If-None-Match"), one;

    while (str_split(&rest, ',', &one)) {
        one = str_trim(one);
        if (str_starts(one, STR("W/")))
            one = str_skip(one, 2);
        if (str_eqz(one, etag) || str_eqz(one, "*"))
            return true;
    }
    return false;
}

/* -- sending -- */

struct MHD_Response *reply_response(Buf *body, const char *type, const char *etag)
{
    Str bytes = buf_str(body);
    struct MHD_Response *r;

    if (body->p)
        r = MHD_create_response_from_buffer_with_free_callback(bytes.n, body->p, free);
    else
        r = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    ASSERT(r);
    *body = BUF(body->max);
    reply_headers(r, type, etag, false);
    return r;
}

static struct MHD_Response *make(Request *rq)
{
    Reply *reply = &rq->reply;
    bool reads = rq->method == HTTP_GET || rq->method == HTTP_HEAD;
    char etag[ETAG_ROOM];
    struct MHD_Response *r;

    if (reads && reply->status == 200) {
        reply_etag(etag, buf_str(&reply->body));
        if (reply_not_modified(rq, etag)) {
            buf_done(&reply->body);
            reply->status = 304;
        }
        r = reply_response(&reply->body, reply->type, etag);
    } else {
        r = reply_response(&reply->body, reply->type, NULL);
    }
    if (reply->cookie.p)
        add(r, "Set-Cookie", str_z(rq->arena, reply->cookie));
    if (reply->filename.p)
        add(r, "Content-Disposition",
            str_z(rq->arena, str_printf(rq->arena, "attachment; filename=\"%.*s\"",
                                        STR_FMT(reply->filename))));
    if (reply->allow.p)
        add(r, "Allow", str_z(rq->arena, reply->allow));
    if (reply->status == 401)
        add(r, "WWW-Authenticate", "Bearer realm=\"talaria\"");
    return r;
}

void reply_queue(Request *rq, int status, struct MHD_Response *response)
{
    rq->reply.sent = MHD_queue_response(rq->connection, (unsigned)status, response) == MHD_YES;
    metrics_count_reply(status);
}

enum MHD_Result reply_send(Request *rq)
{
    rq->phase = PHASE_SENT;
    if (rq->reply.taken)
        return MHD_NO;
    if (!rq->reply.sent) {
        struct MHD_Response *r = make(rq);

        /* A refusal ends the connection: what else it may have sent is not looked at. */
        if (rq->reply.close)
            add(r, "Connection", "close");
        reply_queue(rq, rq->reply.status, r);
        MHD_destroy_response(r);
    }
    return rq->reply.sent ? MHD_YES : MHD_NO;
}

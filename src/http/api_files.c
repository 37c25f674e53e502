/* Files of conversations: what users attach, and what runs leave behind. */
#include "agent/conversation.h"
#include "agent/files.h"
#include "http/api.h"
#include "http/api_chat.h"
#include "http/query.h"
#include "http/routes.h"

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

static void put_attachments(Request *rq, const Attachment *all, size_t n)
{
    JsonWriter w = reply_json(rq);

    json_field_begin(&w, "attachments", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        attachment_put(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
}

static bool attachments(Request *rq, Service *s, Runs *r, Err *err)
{
    Conversation c;
    Attachment *all;
    size_t n;
    Str run;

    (void)s;
    if (!query_text(rq->arena, rq->query, "run", &run, err) ||
        !conversation_get(r, rq->arena, rq->params[0], &c, err) ||
        !attachment_list(r, rq->arena, c.id, run, &all, &n, err))
        return false;
    put_attachments(rq, all, n);
    return true;
}

bool route_attachments(Request *rq, Err *err)
{
    Preview p;
    bool there;

    if (!request_look_up(rq, &there, &p, err))
        return false;
    if (there)
        return with_runs(rq, attachments, err);
    put_attachments(rq, NULL, 0);
    return true;
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

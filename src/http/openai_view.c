/* A pure view: what is sent is made of the frames of the run's log, one by one; there is no second
 * state. */
#include "http/openai_view.h"

#include "base/clock.h"
#include "base/limits.h"
#include "http/sse.h"

typedef struct View {
    char run[ID_CHARS];
    char model[64];
    int64_t created;
    bool usage, progress; /* as the client asks */
} View;

/* -- what a frame is there -- */

static JsonWriter begin_chunk(const View *v, Buf *out)
{
    JsonWriter w = JSON_WRITER(out, 0);

    sse_begin(out, NULL);
    json_begin(&w, '{');
    json_field_str(&w, "id", str_of(v->run));
    json_field_str(&w, "object", STR("chat.completion.chunk"));
    json_field_int(&w, "created", v->created);
    json_field_str(&w, "model", str_of(v->model));
    return w;
}

static void end_chunk(JsonWriter *w)
{
    json_end(w, '}');
    sse_finish(w->out);
}

static void put_delta(const View *v, Buf *out, const char *key, Str text, const char *finish)
{
    JsonWriter w = begin_chunk(v, out);

    json_field_begin(&w, "choices", '[');
    json_begin(&w, '{');
    json_field_int(&w, "index", 0);
    json_field_begin(&w, "delta", '{');
    if (key)
        json_field_str(&w, key, text);
    json_end(&w, '}');
    json_field_str(&w, "finish_reason", str_of(finish));
    json_end(&w, '}');
    json_end(&w, ']');
    if (v->usage)
        json_field_null(&w, "usage"); /* comes at the end */
    end_chunk(&w);
}

static void put_usage(JsonWriter *w, Json usage)
{
    int64_t in = 0, out = 0;

    (void)json_int(json_get(usage, STR("input")), &in);
    (void)json_int(json_get(usage, STR("output")), &out);
    json_field_begin(w, "usage", '{');
    json_field_int(w, "prompt_tokens", in);
    json_field_int(w, "completion_tokens", out);
    json_field_int(w, "total_tokens", in + out);
    json_end(w, '}');
}

static void put_failure(JsonWriter *w, Json error)
{
    json_field_begin(w, "error", '{');
    json_field_str(w, "message", json_str(json_get(error, STR("message"))));
    json_field_str(w, "type", STR("server_error"));
    json_field_null(w, "param");
    json_field_str(w, "code", json_str(json_get(error, STR("code"))));
    json_end(w, '}');
}

static const char *finish_of(Json done)
{
    return str_eqz(json_str(json_get(done, STR("status"))), "truncated") ? "length" : "stop";
}

static void view_done(const View *v, Json done, Buf *out)
{
    if (!str_eqz(json_str(json_get(done, STR("status"))), "failed")) {
        put_delta(v, out, NULL, STR_NONE, finish_of(done));
        if (v->usage) {
            JsonWriter w = begin_chunk(v, out);

            json_key(&w, "choices");
            json_put_raw(&w, STR("[]"));
            put_usage(&w, json_get(done, STR("usage")));
            end_chunk(&w);
        }
    }
    sse_begin(out, NULL);
    buf_addz(out, "[DONE]");
    sse_finish(out);
}

/* Thinking has a field that clients know. The rest is an extension without choices, and many
 * clients take the first choice of every chunk: it is sent to those who ask for it. */
static void view_progress(const View *v, Json progress, Buf *out)
{
    JsonWriter w;

    if (str_eqz(json_str(json_get(progress, STR("stage"))), "thinking")) {
        put_delta(v, out, "reasoning_content", json_str(json_get(progress, STR("text"))), NULL);
        return;
    }
    if (!v->progress)
        return;
    w = begin_chunk(v, out);
    json_key(&w, "choices");
    json_put_raw(&w, STR("[]"));
    json_key(&w, "talaria_progress");
    json_put(&w, progress);
    end_chunk(&w);
}

static void view_frame(void *ctx, const Frame *f, Buf *out)
{
    const View *v = ctx;
    AUTO(JsonDoc) *doc = NULL;
    JsonWriter w;
    Err err;

    doc = json_parse(frame_data(f), &err);
    if (!doc)
        return;
    switch (f->event) {
    case FRAME_METADATA:
        put_delta(v, out, "role", STR("assistant"), NULL);
        break;
    case FRAME_CHUNK:
        put_delta(v, out, "content", json_str(json_get(json_root(doc), STR("text"))), NULL);
        break;
    case FRAME_PROGRESS:
        view_progress(v, json_root(doc), out);
        break;
    case FRAME_ERROR:
        w = JSON_WRITER(out, 0);
        sse_begin(out, NULL);
        json_begin(&w, '{');
        put_failure(&w, json_root(doc));
        end_chunk(&w);
        break;
    case FRAME_DONE:
        view_done(v, json_root(doc), out);
        break;
    }
}

static View *view_of(Request *rq, const OpenaiRequest *q)
{
    View *v = mem_alloc(sizeof *v);

    snprintf(v->run, sizeof v->run, "%s", live_id(rq->live));
    snprintf(v->model, sizeof v->model, "%.*s", STR_FMT(q->model));
    v->created = (int64_t)clock_wall();
    v->usage = q->usage;
    v->progress = q->progress;
    return v;
}

bool openai_stream(Request *rq, const OpenaiRequest *q, Err *err)
{
    View *v = view_of(rq, q);

    return sse_send_run(rq, TAKE(rq->live), 0, view_frame, v, err);
}

/* -- the answer -- */

typedef struct Whole {
    Buf text;
    Arena *arena;
    Str error, done; /* payloads */
} Whole;

static void gather(Request *rq, Whole *whole)
{
    const Frame *f;
    bool over;

    while ((f = sub_next(rq->wait, &over)) != NULL) {
        AUTO(JsonDoc) *doc = NULL;
        Err err;

        if (f->event == FRAME_ERROR)
            whole->error = frame_data(f);
        if (f->event == FRAME_DONE)
            whole->done = frame_data(f);
        if (f->event != FRAME_CHUNK)
            continue;
        doc = json_parse(frame_data(f), &err);
        if (doc)
            buf_add(&whole->text, json_str(json_get(json_root(doc), STR("text"))));
    }
}

static bool put_whole(Request *rq, const View *v, const Whole *whole, Err *err)
{
    AUTO(JsonDoc) *done = json_parse(whole->done, err);
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    if (!done)
        return false;
    json_begin(&w, '{');
    json_field_str(&w, "id", str_of(v->run));
    json_field_str(&w, "object", STR("chat.completion"));
    json_field_int(&w, "created", v->created);
    json_field_str(&w, "model", str_of(v->model));
    json_field_begin(&w, "choices", '[');
    json_begin(&w, '{');
    json_field_int(&w, "index", 0);
    json_field_begin(&w, "message", '{');
    json_field_str(&w, "role", STR("assistant"));
    json_field_str(&w, "content", buf_str(&whole->text));
    json_field_null(&w, "refusal");
    json_end(&w, '}');
    json_field_str(&w, "finish_reason", str_of(finish_of(json_root(done))));
    json_end(&w, '}');
    json_end(&w, ']');
    put_usage(&w, json_get(json_root(done), STR("usage")));
    return reply_end(&w);
}

/* Clients of OpenAI's try again by themselves where it is 429 or 5xx: not what would fail once
 * more. */
static int status_of(Str code)
{
    if (str_eqz(code, "rate_limited"))
        return 429;
    return str_is_one_of(code, "bad_request|runtime_rejected|context_too_large") ? 400 : 502;
}

static bool put_error(Request *rq, const Whole *whole, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(whole->error, err);
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    if (!doc)
        return false;
    json_begin(&w, '{');
    put_failure(&w, json_root(doc));
    json_end(&w, '}');
    rq->reply.status = status_of(json_str(json_get(json_root(doc), STR("code"))));
    return true;
}

bool openai_whole(Request *rq, const OpenaiRequest *q, Err *err)
{
    Whole whole = { .text = BUF(LIMIT_RUN_TEXT) };
    View v = { .created = (int64_t)clock_wall() };
    bool ok;

    snprintf(v.run, sizeof v.run, "%s", live_id(rq->wait->run));
    snprintf(v.model, sizeof v.model, "%.*s", STR_FMT(q->model));
    gather(rq, &whole);
    if (whole.error.n)
        ok = put_error(rq, &whole, err);
    else if (!whole.done.n)
        ok = err_set(err, ERR_BUSY, "the server is shutting down");
    else
        ok = put_whole(rq, &v, &whole, err);
    buf_done(&whole.text);
    return ok;
}

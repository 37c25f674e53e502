#include "net/call.h"

#include "base/buf.h"
#include "base/limits.h"

typedef struct Call {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
    Arena *arena; /* of the waiting thread, which does nothing until it is over */
    Buf body;
    CallAnswer answer;
} Call;

static bool on_head(void *ctx, const FetchHead *head)
{
    Call *call = ctx;

    call->answer.head = str_dup(call->arena, head->lines);
    return true;
}

static bool on_body(void *ctx, Str bytes)
{
    Call *call = ctx;

    buf_add(&call->body, bytes);
    return true;
}

static void on_done(void *ctx, const FetchDone *done)
{
    Call *call = ctx;

    pthread_mutex_lock(&call->lock);
    call->answer.end = done->end;
    call->answer.status = done->status;
    call->answer.detail = str_z(call->arena, str_of(done->detail));
    call->answer.unsure = done->end != FETCH_OK && done->end != FETCH_CONNECT &&
                          done->end != FETCH_TLS && done->end != FETCH_TIMEOUT_CONNECT;
    call->over = true;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->lock);
}

/* *ret_begun false, and true: it was stopped before it began. */
static bool begin(Net *net, const FetchRequest *request, Call *call, CallStop *stop,
                  bool *ret_begun, Err *err)
{
    static const FetchHandlers handlers = { on_head, on_body, on_done };
    NetId id;
    bool ok = true;

    if (!stop) {
        *ret_begun = true;
        return fetch_start(net, request, &handlers, call, &id, err);
    }
    pthread_mutex_lock(&stop->lock);
    *ret_begun = !stop->stopped;
    if (*ret_begun)
        ok = fetch_start(net, request, &handlers, call, &stop->id, err);
    pthread_mutex_unlock(&stop->lock);
    return ok;
}

bool call_wait_stop(Net *net, Arena *a, const FetchRequest *request, CallStop *stop,
                    CallAnswer *ret, Err *err)
{
    Call call = { .lock = PTHREAD_MUTEX_INITIALIZER,
                  .changed = PTHREAD_COND_INITIALIZER,
                  .arena = a };
    FetchRequest bounded = *request;
    bool begun;

    if (!bounded.max)
        bounded.max = LIMIT_CALL_BODY;
    call.body = BUF(bounded.max);
    if (!begin(net, &bounded, &call, stop, &begun, err))
        return false;
    if (!begun) {
        *ret = (CallAnswer){ .end = FETCH_CANCELLED, .detail = fetch_end_text(FETCH_CANCELLED) };
        return true;
    }
    pthread_mutex_lock(&call.lock);
    while (!call.over)
        pthread_cond_wait(&call.changed, &call.lock);
    pthread_mutex_unlock(&call.lock);
    *ret = call.answer;
    ret->body = str_dup(a, buf_str(&call.body));
    buf_done(&call.body);
    return true;
}

bool call_wait(Net *net, Arena *a, const FetchRequest *request, CallAnswer *ret, Err *err)
{
    return call_wait_stop(net, a, request, NULL, ret, err);
}

void call_stop(Net *net, CallStop *stop)
{
    NetId id;

    pthread_mutex_lock(&stop->lock);
    stop->stopped = true;
    id = stop->id;
    pthread_mutex_unlock(&stop->lock);
    if (id)
        fetch_cancel(net, id);
}

Str call_header(const CallAnswer *answer, const char *name)
{
    return fetch_header(&(FetchHead){ .status = answer->status, .lines = answer->head }, name);
}

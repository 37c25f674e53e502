#include "http/body.h"

#include "base/clock.h"
#include "base/limits.h"
#include "http/metrics.h"
#include "http/reply.h"
#include "http/routes.h"
#include "http/state.h"
#include "platforms/slack/slack.h"

static bool refuse(Request *rq, const Err *err, int status)
{
    reply_problem_status(rq, status, NULL, err);
    return false;
}

/* Bodies are JSON and say so: what a form of another site can send without asking is not. */
static bool body_is_fine(Request *rq, Err *err)
{
    Str type = request_header(rq, "Content-Type");
    const char *wanted = route_body_type(rq->route);

    type = str_trim(str_head(type, str_find(type, STR(";"))));
    return str_eq_nocase(type, str_of(wanted)) ||
           err_set(err, ERR_USAGE, "the body must be %s", wanted);
}

/* Slack signs the body too, which is not there yet: what its head lacks, no body can mend. */
static bool may_be_signed(const Request *rq, Err *err)
{
    SlackSigned s = { .timestamp = request_header(rq, "X-Slack-Request-Timestamp"),
                      .signature = request_header(rq, "X-Slack-Signature") };

    return !(rq->route->flags & ROUTE_SIGNED) || slack_may_be(&s, (int64_t)clock_wall(), err);
}

static size_t room_of(const Request *rq)
{
    return rq->route->flags & ROUTE_OPEN ? LIMIT_HTTP_OPEN_BODIES : LIMIT_HTTP_BODIES;
}

/* Whether there is room for so many bytes more; then they are counted. What is smaller than the
 * connection that brings it is not: nobody can be kept from signing in. */
static bool take_room(Request *rq, size_t n)
{
    if (rq->route->body <= LIMIT_HTTP_AUTH)
        return true;
    if (atomic_fetch_add(rq->room, n) + n > room_of(rq)) {
        atomic_fetch_sub(rq->room, n);
        return false;
    }
    rq->counted += n;
    return true;
}

static bool refuse_no_room(Request *rq)
{
    Err err;

    (void)err_set(&err, ERR_BUSY, "the bodies of too many requests are being read; try again");
    return refuse(rq, &err, 503);
}

static bool refuse_too_large(Request *rq)
{
    Err err;

    (void)err_set(&err, ERR_TOO_LARGE, "the body is larger than %zu bytes", rq->route->body);
    return refuse(rq, &err, 413);
}

bool body_admit(Request *rq, int64_t length)
{
    Server *s = rq->server;
    Err err;

    if (!may_be_signed(rq, &err)) {
        metrics_count_refusal();
        return refuse(rq, &err, 401);
    }
    if (!body_is_fine(rq, &err))
        return refuse(rq, &err, 415);
    if (length > (int64_t)rq->route->body)
        return refuse_too_large(rq);
    rq->room = &s->bodies[rq->route->flags & ROUTE_OPEN ? 1 : 0];
    rq->body = BUF(rq->route->body);
    /* Counted is what has come, not what was announced. */
    return length <= 0 || atomic_load(rq->room) + (size_t)length <= room_of(rq) ||
           refuse_no_room(rq);
}

/* libmicrohttpd takes no answer while a body comes in: the rest of one that is refused is read and
 * dropped. */
void body_collect(Request *rq, const char *bytes, size_t n)
{
    if (rq->too_large || rq->no_room)
        return;
    rq->no_room = !take_room(rq, n);
    if (!rq->no_room)
        buf_add(&rq->body, (Str){ bytes, n });
    rq->too_large = buf_full(&rq->body);
    if (rq->too_large || rq->no_room)
        body_forget(rq);
}

bool body_is_whole(Request *rq)
{
    if (rq->too_large)
        return refuse_too_large(rq);
    return !rq->no_room || refuse_no_room(rq);
}

void body_forget(Request *rq)
{
    if (rq->counted)
        atomic_fetch_sub(rq->room, rq->counted);
    rq->counted = 0;
    buf_done(&rq->body);
}

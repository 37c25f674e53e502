/* Badges over the whole history, whoever wrote it: the answers of the plugin's routes, with `sources`, which
 * says what was counted. ?source= asks for one of them: worked out anew, from what is counted already. */
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "recall/origin.h"

enum { FIRST_WAIT_MS = 10000 };

static bool origin_asked(Request *rq, int *ret, Err *err)
{
    Origin origin;
    Str name;

    *ret = 0;
    if (!query_text(rq->arena, rq->query, "source", &name, err))
        return false;
    if (!name.n)
        return true;
    if (!origin_parse(name, &origin))
        return err_set(err, ERR_INVALID, "'source' must be hermes, claude, codex or talaria");
    *ret = 1 + (int)origin;
    return true;
}

bool route_all_badges(Request *rq, Err *err)
{
    int origin;

    if (!origin_asked(rq, &origin, err))
        return false;
    if (origin)
        return coordinator_of_origin(rq->server->coordinator, origin, false, &rq->reply.body, err);
    return coordinator_achievements(rq->server->coordinator, FIRST_WAIT_MS, NULL, &rq->reply.body,
                                    err);
}

bool route_all_recent(Request *rq, Err *err)
{
    int origin;

    if (!origin_asked(rq, &origin, err))
        return false;
    if (origin)
        return coordinator_of_origin(rq->server->coordinator, origin, true, &rq->reply.body, err);
    return coordinator_recent(rq->server->coordinator, &rq->reply.body, err);
}

bool route_all_status(Request *rq, Err *err)
{
    (void)err;
    coordinator_status_json(rq->server->coordinator, &rq->reply.body);
    return true;
}

bool route_all_session(Request *rq, Err *err)
{
    return coordinator_badges(rq->server->coordinator, rq->params[0], &rq->reply.body, err);
}

bool route_all_rescan(Request *rq, Err *err)
{
    return coordinator_rescan(rq->server->coordinator, rq->queued_ms, &rq->reply.body, err);
}

bool route_all_reset(Request *rq, Err *err)
{
    return coordinator_reset(rq->server->coordinator, &rq->reply.body, err);
}

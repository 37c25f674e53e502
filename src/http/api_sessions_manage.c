/* Changing a session that Talaria keeps itself: title, archive, delete. */
#include "agent/manage.h"
#include "http/api.h"
#include "http/api_chat.h"
#include "http/routes.h"
#include "recall/history_json.h"
#include "store/session_json.h"

typedef struct Change {
    Str title; /* p NULL: unchanged */
    bool archive, archived;
} Change;

static bool read_change(Request *rq, Json body, Change *ret, Err *err)
{
    Str title = STR_NONE;

    *ret = (Change){ .title = STR_NONE,
                     .archive = json_type(json_get(body, STR("archived"))) == JSON_BOOL };
    if (!field_str(body, "title", &title, err) ||
        !field_bool(body, "archived", &ret->archived, err))
        return false;
    if (title.p)
        ret->title = str_dup(rq->arena, title);
    return title.p || ret->archive || err_set(err, ERR_INVALID, "give 'title' or 'archived'");
}

static bool find_own(Request *rq, const Homes **ret_homes, HistoryItem *ret, Err *err)
{
    AUTO(History) *h = request_history(rq, err);

    return h && request_homes(rq, ret_homes, err) &&
           history_find(h, rq->arena, rq->params[0], ret, err) &&
           manage_check_own(*ret_homes, ret, err);
}

/* No number that the watch looks at grows when a session changes or goes. */
static void tell_pages(Request *rq)
{
    sse_publish(rq->server->sse, "chat", STR("{}"));
}

static bool change(Request *rq, Service *s, Runs *r, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    const Homes *homes;
    HistoryItem item;
    Change wanted;

    (void)s;
    if (!doc || !read_change(rq, json_root(doc), &wanted, err) ||
        !find_own(rq, &homes, &item, err) ||
        (wanted.title.p && !manage_rename(r, homes, &item, wanted.title, err)) ||
        (wanted.archive && !manage_archive(r, homes, &item, wanted.archived, err)))
        return false;
    tell_pages(rq);
    rq->params[0] = item.lineage.tip.id;
    return route_session(rq, err);
}

bool route_session_change(Request *rq, Err *err)
{
    return with_runs(rq, change, err);
}

static bool delete (Request *rq, Service *s, Runs *r, Err *err)
{
    const Homes *homes;
    HistoryItem item;
    JsonWriter w;

    (void)s;
    if (!find_own(rq, &homes, &item, err) || !manage_delete(r, homes, &item, err))
        return false;
    tell_pages(rq);
    w = reply_json(rq);
    json_field_str(&w, "id", item.lineage.tip.id);
    return reply_end(&w);
}

bool route_session_delete(Request *rq, Err *err)
{
    return with_runs(rq, delete, err);
}

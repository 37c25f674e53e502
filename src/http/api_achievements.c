/* The routes of Hermes' achievements plugin, as its own front end knows them, with what it counts:
 * the rows of state.db alone; and badges over the whole history, from every source.
 *
 * GET /achievements is what pages ask most, and its answer changes once a second at most (it tells
 * the snapshot's age). So it is kept as a finished response, plain and gzipped, and handed out by
 * the epoll threads while it is young and the coordinator's version is the same. Older than that,
 * one refresh runs, however many ask: they go on with the kept one, or wait for the first. */
#include "http/api.h"

#include <zlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/query.h"
#include "http/reply.h"
#include "http/routes.h"
#include "recall/origin.h"

/* FIRST_WAIT_MS: without a cached answer requests wait for the scan so long, then hear that it is
 * pending. */
enum { BRIEF_MS = 100, FRESH_MS = 1000, USABLE_MS = 5000, FIRST_WAIT_MS = 10000, MIN_ZIP = 1024 };

/* -- the kept answer -- */

static struct MHD_Response *zipped_response(Str body, char etag[ETAG_ROOM])
{
    z_stream z = { 0 };
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    struct MHD_Response *r;
    char *room;
    bool ok;

    if (body.n < MIN_ZIP || deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, 0) != Z_OK)
        return NULL;
    room = buf_room(&out, deflateBound(&z, body.n));
    z.next_in = (Bytef *)(uintptr_t)body.p;
    z.avail_in = (uInt)body.n;
    z.next_out = (Bytef *)room;
    z.avail_out = (uInt)deflateBound(&z, body.n);
    ok = room && deflate(&z, Z_FINISH) == Z_STREAM_END;
    out.n = z.total_out;
    deflateEnd(&z);
    if (!ok)
        return NULL;
    reply_etag(etag, buf_str(&out));
    r = MHD_create_response_from_buffer_with_free_callback(out.n, out.p, free);
    ASSERT(r);
    out = BUF(0);
    reply_headers(r, "application/json", etag, true);
    return r;
}

void api_forget_badges(BadgeCache *cache)
{
    if (cache->plain)
        MHD_destroy_response(cache->plain);
    if (cache->zipped)
        MHD_destroy_response(cache->zipped);
    cache->plain = cache->zipped = NULL;
}

typedef struct Answer {
    struct MHD_Response *plain, *zipped;
    char etag[ETAG_ROOM], etag_zipped[ETAG_ROOM];
} Answer;

/* Before anybody is kept waiting by the lock: compressing takes its time. */
static Answer make_answer(Buf *body)
{
    Answer a = { 0 };

    reply_etag(a.etag, buf_str(body));
    a.zipped = zipped_response(buf_str(body), a.etag_zipped);
    a.plain = reply_response(body, "application/json", a.etag);
    return a;
}

/* On the worker of its lane. */
static void refresh(void *ctx, Worker *worker)
{
    Server *s = ctx;
    BadgeCache *cache = &s->badges;
    AUTO_BUF body = BUF(LIMIT_OUTPUT_BYTES);
    uint64_t version = coordinator_version(s->plugin);
    uint64_t sharing = 0;
    Answer answer = { 0 };
    Request *waiting;
    bool ok, waited;
    Err err;

    (void)worker;
    ok = coordinator_achievements(s->plugin, FIRST_WAIT_MS, &waited, &body, &err);
    if (ok)
        answer = make_answer(&body);
    pthread_mutex_lock(&cache->lock);
    cache->failed = !ok;
    if (ok) {
        api_forget_badges(cache);
        cache->plain = answer.plain;
        cache->zipped = answer.zipped;
        memcpy(cache->etag, answer.etag, sizeof cache->etag);
        memcpy(cache->etag_zipped, answer.etag_zipped, sizeof cache->etag_zipped);
    } else {
        cache->failure = err;
    }
    cache->version = version;
    cache->made_ms = clock_mono_ms();
    cache->refreshing = false;
    waiting = TAKE(cache->waiting);
    pthread_mutex_unlock(&cache->lock);
    for (const Request *rq = waiting; waited && rq; rq = rq->next)
        sharing += rq->next != NULL;
    coordinator_shared(s->plugin, sharing);
    while (waiting) {
        Request *next = waiting->next;

        server_resume(waiting);
        waiting = next;
    }
}

static void begin_refresh(Server *s)
{
    BadgeCache *cache = &s->badges;

    if (cache->refreshing)
        return;
    cache->refresh = (Job){ .run = refresh, .ctx = s };
    cache->refreshing = jobs_add(s->jobs, LANE_BADGES, &cache->refresh);
}

static void send_kept(Request *rq, BadgeCache *cache)
{
    bool zip = cache->zipped && reply_takes_gzip(rq);
    const char *etag = zip ? cache->etag_zipped : cache->etag;

    if (!reply_not_modified(rq, etag)) {
        reply_queue(rq, 200, zip ? cache->zipped : cache->plain);
        return;
    }
    {
        struct MHD_Response *r = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);

        ASSERT(r);
        reply_headers(r, "application/json", etag, false);
        reply_queue(rq, 304, r);
        MHD_destroy_response(r);
    }
}

static bool achievements_locked(Request *rq, BadgeCache *cache, Err *err)
{
    int64_t age = clock_mono_ms() - cache->made_ms;
    /* While a scan runs the version changes all the time; ten looks a second are enough. */
    bool same = age < BRIEF_MS || cache->version == coordinator_version(rq->server->plugin);
    bool known = cache->plain || cache->failed;

    if (!known || !same || age > FRESH_MS)
        begin_refresh(rq->server);
    if (!rq->again && cache->refreshing && (!known || !same || age > USABLE_MS)) {
        /* Under the lock, so that the refresh cannot end between the look and the wait. */
        rq->phase = PHASE_WORK;
        rq->again = true;
        rq->next = cache->waiting;
        cache->waiting = rq;
        MHD_suspend_connection(rq->connection);
        return true;
    }
    if (cache->failed) {
        *err = cache->failure;
        return false;
    }
    if (!cache->plain)
        return err_set(err, ERR_BUSY, "too many requests at once; try again");
    send_kept(rq, cache);
    return true;
}

bool route_achievements(Request *rq, Err *err)
{
    BadgeCache *cache = &rq->server->badges;
    bool ok;

    pthread_mutex_lock(&cache->lock);
    ok = achievements_locked(rq, cache, err);
    pthread_mutex_unlock(&cache->lock);
    return ok;
}

/* -- the others: Hermes' plugin under its own path, and badges over the whole history. Those have
 * `sources`, which says what was counted, and ?source= for one of them, computed from the counts
 * that are kept -- */

static Coordinator *coordinator_for(Request *rq)
{
    return str_starts(rq->path, STR(ACHIEVEMENTS)) ? rq->server->plugin : rq->server->coordinator;
}

bool route_scan_status(Request *rq, Err *err)
{
    (void)err;
    coordinator_status_json(coordinator_for(rq), &rq->reply.body);
    return true;
}

/* *ret: 0, or 1 + the origin that ?source= names. */
static bool read_origin(Request *rq, int *ret, Err *err)
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
    Coordinator *c = rq->server->coordinator;
    int origin;

    if (!read_origin(rq, &origin, err))
        return false;
    return origin ? coordinator_of_origin(c, origin, false, &rq->reply.body, err)
                  : coordinator_achievements(c, FIRST_WAIT_MS, NULL, &rq->reply.body, err);
}

bool route_all_recent(Request *rq, Err *err)
{
    Coordinator *c = rq->server->coordinator;
    int origin;

    if (!read_origin(rq, &origin, err))
        return false;
    return origin ? coordinator_of_origin(c, origin, true, &rq->reply.body, err)
                  : coordinator_recent(c, &rq->reply.body, err);
}

bool route_recent(Request *rq, Err *err)
{
    return coordinator_recent(rq->server->plugin, &rq->reply.body, err);
}

bool route_badges(Request *rq, Err *err)
{
    return coordinator_badges(coordinator_for(rq), rq->params[0], &rq->reply.body, err);
}

/* A client that asked for a change sees it in the next answer. */
static bool forget_answer(Request *rq, bool ok)
{
    BadgeCache *cache = &rq->server->badges;

    pthread_mutex_lock(&cache->lock);
    cache->made_ms = 0;
    cache->version = 0;
    pthread_mutex_unlock(&cache->lock);
    return ok;
}

bool route_rescan(Request *rq, Err *err)
{
    return forget_answer(
        rq, coordinator_rescan(coordinator_for(rq), rq->queued_ms, &rq->reply.body, err));
}

bool route_reset(Request *rq, Err *err)
{
    return forget_answer(rq, coordinator_reset(coordinator_for(rq), &rq->reply.body, err));
}

bool route_manifest(Request *rq, Err *err)
{
    (void)err;
    buf_addz(
        &rq->reply.body,
        "{\"name\":\"hermes-achievements\",\"label\":\"Achievements\",\"description\":\"Badges "
        "earned from the whole history of sessions\",\"icon\":\"Trophy\",\"version\":\"");
    buf_addz(&rq->reply.body, rq->server->options.version);
    buf_addz(&rq->reply.body,
             "\",\"tab\":{\"path\":\"/achievements\",\"position\":\"after:analytics\"},"
             "\"entry\":\"/app.js\",\"css\":\"/app.css\"}");
    return true;
}

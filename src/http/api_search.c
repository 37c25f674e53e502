/* Search, and the index that it asks.
 *
 * A search opens catalogue and index for itself: that is a millisecond, and a handle is one
 * thread's. One job in the slow lane brings the index up to date, at the start and whenever a
 * search finds it a few seconds old. Searches wait for the first update, up to a second from the
 * first of them on, and for no later one. */
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "recall/freshen.h"
#include "recall/search_fold.h"
#include "recall/search_json.h"

enum { DEFAULT_HITS = 20, STALE_MS = 3000, TELL_MS = 100, POLL_MS = 10 };

typedef struct Searching {
    const Homes *homes;
    Catalogue *catalogue;
    RecallIndex *index;
    Recall *recall;
} Searching;

static void searching_close(Searching *s)
{
    recall_close(s->recall);
    recall_index_close(s->index);
    catalogue_close(s->catalogue);
}
#define AUTO_SEARCHING __attribute__((cleanup(searching_close))) Searching

/* With --home that home alone. */
static bool searching_open(Server *server, Arena *a, Searching *ret, Err *err)
{
    CatalogueQuery query = { .homes = ret->homes, .hermes = server->options.where.home != NULL };

    if (!transcript_roots(a, NULL, NULL, &query.roots, err))
        return false;
    ret->catalogue = catalogue_open(&query, err);
    return ret->catalogue != NULL;
}

/* -- in the background -- */

static void tell(Server *s)
{
    IndexState *state = &s->index;
    char data[96];

    snprintf(data, sizeof data, "{\"done\":%lld,\"total\":%lld,\"updating\":%s}",
             (long long)state->done, (long long)state->total, state->updating ? "true" : "false");
    sse_publish(s->sse, "index", str_of(data));
}

/* Called before each session that is read. */
static bool step(void *ctx)
{
    Server *s = ctx;
    IndexState *state = &s->index;
    int64_t now = clock_mono_ms();

    pthread_mutex_lock(&state->lock);
    state->updating = true;
    state->done++;
    if (state->done > state->total)
        state->total = state->done;
    if (now - state->told_ms >= TELL_MS) {
        state->told_ms = now;
        tell(s);
    }
    pthread_mutex_unlock(&state->lock);
    return atomic_load(&s->ending);
}

static void set_counts(Server *s, int64_t done, int64_t total)
{
    pthread_mutex_lock(&s->index.lock);
    s->index.done = done;
    s->index.total = total > done ? total : done;
    pthread_mutex_unlock(&s->index.lock);
}

/* How many files there are says how much there is to do. */
static bool count_all(Server *s, Arena *a, Db *db, Err *err)
{
    TranscriptRoots roots;
    TranscriptFile *files;
    RecallSize size;
    size_t n = 0;

    if (!recall_index_size(db, &size, err))
        return false;
    if (!s->options.where.home && (!transcript_roots(a, NULL, NULL, &roots, err) ||
                                   !transcripts_find(a, &roots, &files, &n, err)))
        return false;
    set_counts(s, size.sessions, (int64_t)n);
    return true;
}

static bool update(Server *s, Worker *worker, bool *ret_complete, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO_SEARCHING search = { 0 };
    UpdateStats stats;
    RecallSize size;

    if (!worker_homes(worker, &search.homes, err) || !searching_open(s, a, &search, err))
        return false;
    search.index = recall_index_open(catalogue_db(search.catalogue), err);
    if (!search.index || !count_all(s, a, catalogue_db(search.catalogue), err) ||
        !recall_update(search.index, search.catalogue, search.homes, step, s, &stats, err) ||
        !recall_index_size(catalogue_db(search.catalogue), &size, err))
        return false;
    *ret_complete = !stats.busy;
    if (!stats.busy)
        set_counts(s, size.sessions, size.sessions);
    return true;
}

static void run_update(void *ctx, Worker *worker)
{
    Server *s = ctx;
    bool said, complete = false;
    Err err;

    if (!update(s, worker, &complete, &err) && err.kind != ERR_INTERRUPTED)
        log_warning("the search index is not up to date: %s", err.text);
    pthread_mutex_lock(&s->index.lock);
    said = s->index.updating;
    s->index.updating = s->index.queued = false;
    s->index.complete |= complete;
    s->index.looked_ms = clock_mono_ms();
    if (said)
        tell(s);
    pthread_mutex_unlock(&s->index.lock);
}

void api_index_refresh(Server *s)
{
    bool wanted;

    pthread_mutex_lock(&s->index.lock);
    wanted = !s->index.queued &&
             (s->index.looked_ms == 0 || clock_mono_ms() - s->index.looked_ms > STALE_MS);
    if (wanted) {
        s->index.job = (Job){ .run = run_update, .ctx = s };
        s->index.queued = jobs_add(s->jobs, LANE_SLOW, &s->index.job);
    }
    pthread_mutex_unlock(&s->index.lock);
}

/* Whether a search should wait a little longer for the first update. */
static bool first_update_runs(Server *s)
{
    IndexState *state = &s->index;
    int64_t now = clock_mono_ms();
    bool wait;

    pthread_mutex_lock(&state->lock);
    if (!state->wait_until)
        state->wait_until = now + FRESHEN_MS;
    wait = state->queued && !state->complete && now < state->wait_until;
    pthread_mutex_unlock(&state->lock);
    return wait && !atomic_load(&s->ending);
}

static void wait_for_first_update(Server *s)
{
    struct timespec moment = { .tv_nsec = POLL_MS * 1000000L };

    while (first_update_runs(s))
        (void)nanosleep(&moment, NULL);
}

/* -- routes -- */

/* `fold`: as a person is shown it, nearly equal passages once. Archived sessions only where they
 * are asked for. */
static bool read_options(Request *rq, SearchOptions *ret, bool *ret_fold, Err *err)
{
    Arena *a = rq->arena;
    Str source, role, q = rq->query;
    int64_t limit;
    bool archived;

    *ret = (SearchOptions){ .filter = SEARCH_FILTER_NONE };
    if (!query_text(a, q, "q", &ret->text, err) || !query_text(a, q, "source", &source, err) ||
        !query_text(a, q, "role", &role, err) ||
        !query_text(a, q, "tool", &ret->filter.tool, err) ||
        !query_text(a, q, "project", &ret->filter.project, err) ||
        !query_text(a, q, "model", &ret->filter.model, err) ||
        !query_time(a, q, "since", &ret->filter.since, err) ||
        !query_time(a, q, "until", &ret->filter.until, err) ||
        !query_number(a, q, "limit", 1, LIMIT_SEARCH_HITS, DEFAULT_HITS, &limit, err) ||
        !query_flag(a, q, "substring", &ret->substring, err) ||
        !query_flag(a, q, "archived", &archived, err) || !query_flag(a, q, "fold", ret_fold, err))
        return false;
    ret->filter.skip_archived = !archived;
    ret->max = (size_t)limit;
    if (!str_trim(ret->text).n)
        return err_set(err, ERR_USAGE, "parameter 'q' is missing");
    if (role.n && !doc_role_parse(role, &ret->filter.role))
        return err_set(err, ERR_USAGE, "parameter 'role' names no role");
    ret->filter.source = source;
    return true;
}

static Str state_note(Request *rq, Str note, bool *ret_partial)
{
    IndexState *state = &rq->server->index;
    int64_t done, total;
    bool behind;
    Str progress;

    pthread_mutex_lock(&state->lock);
    behind = !state->complete || (state->updating && state->done < state->total);
    done = state->done;
    total = state->total;
    pthread_mutex_unlock(&state->lock);
    if (!behind)
        return note;
    *ret_partial = true;
    progress = index_note(rq->arena, index_percent(done, total));
    return str_printf(rq->arena, "%.*s%s%.*s", STR_FMT(progress), note.n ? "; " : "",
                      STR_FMT(note));
}

bool route_search(Request *rq, Err *err)
{
    AUTO_SEARCHING search = { 0 };
    SearchAnswer answer;
    SearchOptions wanted;
    JsonWriter w;
    bool fold;
    size_t max;
    Str note;

    if (!read_options(rq, &wanted, &fold, err) || !request_homes(rq, &search.homes, err) ||
        !searching_open(rq->server, rq->arena, &search, err))
        return false;
    api_index_refresh(rq->server);
    wait_for_first_update(rq->server);
    max = wanted.max;
    if (fold)
        wanted.max = search_fold_max(max);
    search.recall = recall_open(catalogue_db(search.catalogue), err);
    if (!search.recall || !recall_search(search.recall, search.catalogue, search.homes, rq->arena,
                                         &wanted, &answer, err))
        return false;
    if (fold) {
        SearchFold shown = search_fold(rq->arena, &answer, max, 0);

        search_fold_apply(&answer, &shown);
    }
    note = state_note(rq, answer.note, &answer.partial);
    w = reply_json(rq);
    search_put(&w, search.homes, wanted.text, &answer, note);
    return reply_end(&w);
}

bool route_index(Request *rq, Err *err)
{
    IndexState *state = &rq->server->index;
    AUTO_SEARCHING search = { 0 };
    RecallSize size;
    JsonWriter w;

    if (!request_homes(rq, &search.homes, err) ||
        !searching_open(rq->server, rq->arena, &search, err) ||
        !recall_index_size(catalogue_db(search.catalogue), &size, err))
        return false;
    api_index_refresh(rq->server);
    w = reply_json(rq);
    json_field_int(&w, "sessions", size.sessions);
    json_field_int(&w, "messages", size.documents);
    json_field_int(&w, "bytes", size.index_bytes);
    json_field_int(&w, "text_bytes", size.text_bytes);
    pthread_mutex_lock(&state->lock);
    json_field_bool(&w, "updating", state->updating);
    json_field_int(&w, "done", state->done);
    json_field_int(&w, "total", state->total);
    pthread_mutex_unlock(&state->lock);
    return reply_end(&w);
}

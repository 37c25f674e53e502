/* Requests on libcurl's multi interface, driven by the loop (socket_action): libcurl says which
 * sockets and which time it waits for, the loop tells it what happened. A thousand streams cost
 * what their bytes cost. The time to connect is libcurl's to keep; first byte, silence and total
 * are ours, on one timer a request. */
#include "net/fetch.h"

#include <stdatomic.h>
#include <sys/epoll.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "net/curl.h"
#include "net/loop.h"

typedef struct Fetch {
    Fetches *all;
    NetId id;
    Arena *arena;
    FetchRequest request; /* in the arena */
    FetchHandlers handlers;
    void *ctx;
    CURL *easy;
    struct curl_slist *headers;
    Buf head;
    int status;
    size_t sent, got; /* bytes of the bodies */
    bool headed, added;
    FetchEnd why; /* set where we end it ourselves */
    int64_t began, heard, drain_until;
    NetTimer timer;
    struct Fetch *next, *prev;
    char detail[CURL_ERROR_SIZE];
} Fetch;

struct Fetches {
    Net *net;
    CURLM *multi; /* made with the first request */
    NetTimer timer;
    Fetch ring;
    _Atomic size_t count; /* begun and not yet ended, also those still in the queue */
};

/* -- the end of a request -- */

static void dispose(Fetch *f)
{
    if (f->added)
        curl()->multi_remove_handle(f->all->multi, f->easy);
    net_timer_stop(f->all->net, &f->timer);
    f->prev->next = f->next;
    f->next->prev = f->prev;
    if (f->easy)
        curl()->easy_cleanup(f->easy);
    curl()->slist_free_all(f->headers);
    buf_done(&f->head);
    atomic_fetch_sub(&f->all->count, 1);
    arena_free(f->arena);
}

/* The last callback, after which nothing of the request is left. */
static void end_fetch(Fetch *f, FetchEnd end, const char *detail)
{
    FetchHandlers handlers = f->handlers;
    void *ctx = f->ctx;
    char text[CURL_ERROR_SIZE];
    FetchDone done = { .end = end, .status = f->status, .detail = text };

    snprintf(text, sizeof text, "%s", detail && *detail ? detail : fetch_end_text(end));
    dispose(f);
    handlers.done(ctx, &done);
}

static FetchEnd end_of(const Fetch *f, CURLcode code)
{
    if (f->why != FETCH_OK)
        return f->why;
    switch (code) {
    case CURLE_OK:
        return FETCH_OK;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return FETCH_CONNECT;
    case CURLE_OPERATION_TIMEDOUT: /* only the time to connect is set there */
        return FETCH_TIMEOUT_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return FETCH_TLS;
    default:
        return FETCH_CUT;
    }
}

static void collect_ended(Fetches *all)
{
    CURLMsg *m;
    int left;

    while ((m = curl()->multi_info_read(all->multi, &left))) {
        Fetch *f = NULL;
        CURLcode code = m->data.result;
        FetchEnd end;

        curl()->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&f);
        end = end_of(f, code);
        if (end == FETCH_OK || f->why != FETCH_OK || code == CURLE_SEND_FAIL_REWIND)
            end_fetch(f, end, NULL);
        else
            end_fetch(f, end, *f->detail ? f->detail : curl()->easy_strerror(code));
    }
}

/* -- deadlines -- */

static int64_t sooner(int64_t a, int64_t from, int64_t span)
{
    return span && from + span < a ? from + span : a;
}

static int64_t deadline_of(const Fetch *f)
{
    int64_t at = sooner(INT64_MAX, f->began, f->request.times.total);

    at = sooner(at, f->heard, f->got ? f->request.times.idle : f->request.times.first);
    return f->drain_until && f->drain_until < at ? f->drain_until : at;
}

static FetchEnd expired(const Fetch *f, int64_t now)
{
    if (f->drain_until && now >= f->drain_until)
        return FETCH_STOPPED;
    if (f->request.times.total && now >= f->began + f->request.times.total)
        return FETCH_TIMEOUT_TOTAL;
    return f->got ? FETCH_TIMEOUT_IDLE : FETCH_TIMEOUT_FIRST;
}

static void set_deadline(Fetch *f)
{
    int64_t at = deadline_of(f);

    if (at != INT64_MAX)
        net_timer_set(f->all->net, &f->timer, at);
}

/* The timer is not moved with every byte: it asks, when it fires, whether it is really time. */
static void on_deadline(void *ctx)
{
    Fetch *f = ctx;
    int64_t now = clock_mono_ms();

    if (deadline_of(f) <= now)
        end_fetch(f, expired(f, now), NULL);
    else
        set_deadline(f);
}

/* -- what libcurl calls -- */

static bool take_status(Fetch *f, Str line)
{
    size_t blank = str_find(line, STR(" "));
    int64_t status;

    buf_clear(&f->head);
    if (!str_to_int(str_head(str_skip(line, blank + 1), 3), 100, 999, &status))
        return false;
    f->status = (int)status;
    return true;
}

static size_t on_head(char *p, size_t size, size_t n, void *ctx)
{
    Fetch *f = ctx;
    Str line = { p, size * n };
    FetchHead head;

    if (str_starts(line, STR("HTTP/")))
        return take_status(f, line) ? line.n : 0;
    buf_add(&f->head, line);
    if (buf_full(&f->head)) {
        f->why = FETCH_TOO_LARGE;
        return 0;
    }
    if (str_trim(line).n || f->status < 200 || f->headed)
        return line.n; /* also trailers, which come after the body */
    f->headed = true;
    head = (FetchHead){ .status = f->status, .lines = buf_str(&f->head) };
    if (!f->handlers.head || f->handlers.head(f->ctx, &head))
        return line.n;
    f->why = FETCH_STOPPED;
    return 0;
}

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
    Fetch *f = ctx;
    Str bytes = { p, size * n };

    f->heard = clock_mono_ms();
    f->got += bytes.n;
    if (f->request.max && f->got > f->request.max)
        f->why = FETCH_TOO_LARGE;
    else if (!f->handlers.body(f->ctx, bytes))
        f->why = FETCH_STOPPED;
    /* Silence may be allowed for a shorter time than the first byte was. */
    else if (f->timer.armed && deadline_of(f) < f->timer.at)
        set_deadline(f);
    return f->why == FETCH_OK ? bytes.n : 0;
}

static void on_ready(void *ctx, int fd, uint32_t events)
{
    Fetches *all = ctx;
    int mask = ((events & EPOLLIN) ? CURL_CSELECT_IN : 0) |
               ((events & EPOLLOUT) ? CURL_CSELECT_OUT : 0) |
               ((events & (EPOLLERR | EPOLLHUP)) ? CURL_CSELECT_ERR : 0);
    int running;

    curl()->multi_socket_action(all->multi, fd, mask, &running);
    collect_ended(all);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    Fetches *all = ctx;
    NetWatch *watch = socket_ctx;
    uint32_t events =
        ((what & CURL_POLL_IN) ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) ? EPOLLOUT : 0u);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        loop_unwatch(all->net, watch);
    } else if (watch) {
        loop_watch_for(all->net, watch, events);
    } else {
        watch = loop_watch(all->net, fd, events, on_ready, all);
        if (!watch)
            return -1;
        curl()->multi_assign(all->multi, fd, watch);
    }
    return 0;
}

static int on_timer_request(CURLM *multi, long ms, void *ctx)
{
    Fetches *all = ctx;

    (void)multi;
    if (ms < 0)
        net_timer_stop(all->net, &all->timer);
    else
        net_timer_set(all->net, &all->timer, clock_mono_ms() + ms);
    return 0;
}

static void on_timer(void *ctx)
{
    Fetches *all = ctx;
    int running;

    curl()->multi_socket_action(all->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect_ended(all);
}

/* -- the beginning -- */

static bool make_multi(Fetches *all)
{
    if (all->multi)
        return true;
    all->multi = curl()->multi_init();
    if (!all->multi)
        return false;
    curl()->multi_setopt(all->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl()->multi_setopt(all->multi, CURLMOPT_SOCKETDATA, all);
    curl()->multi_setopt(all->multi, CURLMOPT_TIMERFUNCTION, on_timer_request);
    curl()->multi_setopt(all->multi, CURLMOPT_TIMERDATA, all);
    curl()->multi_setopt(all->multi, CURLMOPT_MAXCONNECTS, (long)LIMIT_NET_IDLE_CONNECTIONS);
    return true;
}

static bool add_header(Fetch *f, const char *line)
{
    struct curl_slist *longer = curl()->slist_append(f->headers, line);

    if (longer)
        f->headers = longer;
    return longer != NULL;
}

static bool add_headers(Fetch *f)
{
    const char *const *line = f->request.headers;

    /* libcurl would wait for a "100 Continue" before a larger body. */
    if (!add_header(f, "Expect:"))
        return false;
    while (line && *line)
        if (!add_header(f, *line++))
            return false;
    return true;
}

static void set_where(Fetch *f)
{
    const Curl *c = curl();
    CURL *e = f->easy;

    c->easy_setopt(e, CURLOPT_URL, f->request.url);
    c->easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    c->easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    c->easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    c->easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    /* An empty text, unlike none, also keeps libcurl from looking into the environment. */
    c->easy_setopt(e, CURLOPT_PROXY, f->request.proxy ? f->request.proxy : "");
    c->easy_setopt(e, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
    c->easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)f->request.times.connect);
}

/* A reader that cannot begin again. Given the text itself, libcurl would repeat a request on its
 * own where a kept connection ends without an answer, and nobody would know that it may have been
 * done twice. */
static size_t on_read(char *to, size_t size, size_t n, void *ctx)
{
    Fetch *f = ctx;
    Str part = str_head(str_skip(f->request.body, f->sent), size * n);

    memcpy(to, part.p, part.n);
    f->sent += part.n;
    return part.n;
}

static void set_what(Fetch *f)
{
    const Curl *c = curl();
    CURL *e = f->easy;

    c->easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    c->easy_setopt(e, CURLOPT_PRIVATE, f);
    c->easy_setopt(e, CURLOPT_ERRORBUFFER, f->detail);
    c->easy_setopt(e, CURLOPT_HTTPHEADER, f->headers);
    c->easy_setopt(e, CURLOPT_USERAGENT, "talaria/" TALARIA_VERSION);
    c->easy_setopt(e, CURLOPT_HEADERFUNCTION, on_head);
    c->easy_setopt(e, CURLOPT_HEADERDATA, f);
    c->easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    c->easy_setopt(e, CURLOPT_WRITEDATA, f);
    if (strcmp(f->request.method, "POST") == 0 || f->request.body.n) {
        c->easy_setopt(e, CURLOPT_POST, 1L);
        c->easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)f->request.body.n);
        c->easy_setopt(e, CURLOPT_READFUNCTION, on_read);
        c->easy_setopt(e, CURLOPT_READDATA, f);
    }
    if (strcmp(f->request.method, "POST") != 0)
        c->easy_setopt(e, CURLOPT_CUSTOMREQUEST, f->request.method);
}

static bool prepare(Fetch *f)
{
    if (!make_multi(f->all) || !(f->easy = curl()->easy_init()) || !add_headers(f))
        return false;
    set_where(f);
    set_what(f);
    f->added = curl()->multi_add_handle(f->all->multi, f->easy) == CURLM_OK;
    return f->added;
}

/* First thing on the loop's thread. */
static void begin(void *ctx)
{
    Fetch *f = ctx;
    Fetches *all = f->all;

    f->next = all->ring.next;
    f->prev = &all->ring;
    f->next->prev = f;
    all->ring.next = f;
    f->began = f->heard = clock_mono_ms();
    if (loop_stopping(all->net))
        end_fetch(f, FETCH_CANCELLED, NULL);
    else if (!prepare(f))
        end_fetch(f, FETCH_CONNECT, "libcurl took no more requests");
    else
        set_deadline(f);
}

static void copy_request(Fetch *f, const FetchRequest *from)
{
    Arena *a = f->arena;
    const char **headers;
    size_t n = 0;

    f->request = *from;
    f->request.method = str_z(a, str_of(from->method));
    f->request.url = str_z(a, str_of(from->url));
    f->request.body = (Str){ str_z(a, from->body), from->body.n };
    f->request.proxy = from->proxy && *from->proxy ? str_z(a, str_of(from->proxy)) : NULL;
    while (from->headers && from->headers[n])
        n++;
    headers = ARENA_ARRAY(a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        headers[i] = str_z(a, str_of(from->headers[i]));
    f->request.headers = headers;
}

bool fetch_start(Net *net, const FetchRequest *request, const FetchHandlers *handlers, void *ctx,
                 NetId *ret_id, Err *err)
{
    Fetches *all = loop_fetches(net);
    Arena *a;
    Fetch *f;

    if (!fetch_check(request, err))
        return false;
    if (atomic_fetch_add(&all->count, 1) >= LIMIT_NET_REQUESTS) {
        atomic_fetch_sub(&all->count, 1);
        return err_set(err, ERR_BUSY, "%d requests are out already", LIMIT_NET_REQUESTS);
    }
    a = arena_new();
    f = ARENA_NEW(a, Fetch);
    *f = (Fetch){ .all = all, .arena = a, .id = loop_id(net), .handlers = *handlers, .ctx = ctx };
    f->head = BUF(LIMIT_NET_HEAD);
    f->timer = (NetTimer){ .fn = on_deadline, .ctx = f };
    copy_request(f, request);
    *ret_id = f->id; /* before any callback can run */
    net_post(net, begin, f);
    return true;
}

/* -- from other threads -- */

typedef struct Order {
    Fetches *all;
    NetId id;
    int64_t drain; /* -1: cancel */
} Order;

static Fetch *find(Fetches *all, NetId id)
{
    for (Fetch *f = all->ring.next; f != &all->ring; f = f->next)
        if (f->id == id)
            return f;
    return NULL;
}

static void obey(void *ctx)
{
    Order *order = ctx;
    Fetch *f = find(order->all, order->id);

    if (f && order->drain < 0) {
        end_fetch(f, FETCH_CANCELLED, NULL);
    } else if (f && !f->drain_until) {
        f->drain_until = clock_mono_ms() + order->drain;
        set_deadline(f);
    }
    mem_free(order);
}

static void give_order(Net *net, NetId id, int64_t drain)
{
    Order *order = mem_alloc(sizeof *order);

    *order = (Order){ .all = loop_fetches(net), .id = id, .drain = drain };
    net_post(net, obey, order);
}

void fetch_cancel(Net *net, NetId id)
{
    give_order(net, id, -1);
}

void fetch_drain(Net *net, NetId id, int64_t ms)
{
    give_order(net, id, ms);
}

/* -- with the loop -- */

Fetches *fetches_new(Net *net)
{
    Fetches *all = mem_alloc(sizeof *all);

    all->net = net;
    all->ring.next = all->ring.prev = &all->ring;
    all->timer = (NetTimer){ .fn = on_timer, .ctx = all };
    return all;
}

void fetches_end(Fetches *all)
{
    while (all->ring.next != &all->ring)
        end_fetch(all->ring.next, FETCH_CANCELLED, NULL);
}

bool fetches_idle(const Fetches *all)
{
    return all->ring.next == &all->ring;
}

Fetches *fetches_free(Fetches *all)
{
    if (all && all->multi)
        curl()->multi_cleanup(all->multi);
    return mem_free(all);
}

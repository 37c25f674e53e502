/* The library's loop runs in the connection's own thread, and everything of the library is touched
 * there; other threads only put words into the queue under the lock and ring. The price is a thread
 * for each connection, of which a gateway has one or two.
 *
 * Good-bye is said by hand, as a frame like others, and not by the library's own means: once those
 * are used, libwebsockets 4.1 writes what still comes in past the end of its buffer. So it never
 * reads on in a state of closing: what comes after our good-bye is thrown away here, and after
 * theirs reading stops. */
#include "net/websocket.h"

#include <pthread.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "net/lws.h"
#include "net/url.h"
#include "text/utf8.h"

/* Not in the library's header, which wants its own good-bye to be used. */
static const enum lws_write_protocol WRITE_CLOSE = (enum lws_write_protocol)4;

typedef struct Outgoing {
    struct Outgoing *next;
    size_t n;
    unsigned char bytes[]; /* LWS_PRE of room for the frame's head, then the text */
} Outgoing;

struct WebSocket {
    pthread_t thread;
    WsHandlers handlers;
    void *ctx;
    Arena *arena; /* of the address */
    Url url;
    const char *host, *path; /* as the request says them */
    WsOptions options;

    /* of the thread alone */
    struct lws_context *live;
    struct lws *wsi; /* NULL: not connected yet, or not any more */
    Buf message;
    int code;
    char why[124]; /* what a closing frame holds, with the code */
    bool over, ping, said_goodbye;
    lws_sorted_usec_list_t timer;
    int64_t heard_ms, give_up_ms; /* by the monotonic clock; give_up_ms 0: never */

    pthread_mutex_t lock;        /* of what follows */
    struct lws_context *context; /* NULL: nobody to ring for */
    Outgoing *first, **last;
    size_t waiting; /* bytes */
    int close_code; /* not 0: to be closed */
    bool drop;      /* without a word */
    bool ended;
};

/* The library counts its users in a plain number when it begins and when it ends. */
static pthread_mutex_t birth = PTHREAD_MUTEX_INITIALIZER;

/* -- the thread's side -- */

static void end(WebSocket *ws, int code, Str why)
{
    if (ws->code)
        return;
    ws->code = code;
    snprintf(ws->why, sizeof ws->why, "%.*s", STR_FMT(utf8_head(why, sizeof ws->why - 1)));
}

/* What is to happen next if nothing comes: a question, or the end. */
static void set_timer(WebSocket *ws);

static void on_time(lws_sorted_usec_list_t *timer)
{
    WebSocket *ws = lws_container_of(timer, WebSocket, timer);
    int64_t now = clock_mono_ms(), silent = now - ws->heard_ms, max = ws->options.silent_s * 1000;

    if (ws->give_up_ms && now >= ws->give_up_ms) {
        end(ws, WS_BROKE, STR("no connection in time"));
        ws->over = true;
    } else if (ws->wsi && silent >= 2 * max) {
        end(ws, WS_BROKE, STR("no sign of life for too long"));
        ws->over = true;
    } else if (ws->wsi && silent >= max) {
        ws->ping = true;
        lws()->callback_on_writable(ws->wsi);
    }
    set_timer(ws);
}

static void set_timer(WebSocket *ws)
{
    int64_t now = clock_mono_ms(), max = ws->options.silent_s * 1000, at;

    at = ws->heard_ms + (now - ws->heard_ms >= max ? 2 : 1) * max;
    if (ws->give_up_ms && (!ws->wsi || ws->give_up_ms < at))
        at = ws->give_up_ms;
    lws()->sul_schedule(ws->live, 0, &ws->timer, on_time, (at > now ? at - now : 1) * 1000);
}

static void give_up_in(WebSocket *ws, int seconds)
{
    ws->give_up_ms = seconds ? clock_mono_ms() + seconds * 1000 : 0;
    set_timer(ws);
}

/* The connection is of no use any more. */
static int refuse(WebSocket *ws, int code, const char *why)
{
    end(ws, code, str_of(why));
    buf_done(&ws->message);
    ws_close(ws, code);
    return 0;
}

static int receive(WebSocket *ws, Str bytes)
{
    Str all;

    if (ws->code)
        return 0;
    if (lws()->frame_is_binary(ws->wsi))
        return refuse(ws, WS_NOT_TEXT, "only text is read here");
    buf_add(&ws->message, bytes);
    if (buf_full(&ws->message))
        return refuse(ws, WS_TOO_LARGE, "the message is too large");
    if (lws()->remaining_packet_payload(ws->wsi) || !lws()->is_final_fragment(ws->wsi))
        return 0;
    all = buf_str(&ws->message);
    if (utf8_valid_prefix(all) < all.n)
        return refuse(ws, WS_BAD_TEXT, "the message is not UTF-8");
    ws->handlers.text(ws->ctx, all);
    buf_clear(&ws->message);
    return 0;
}

static Outgoing *take_outgoing(WebSocket *ws, int *ret_close)
{
    Outgoing *out;

    pthread_mutex_lock(&ws->lock);
    out = ws->first;
    if (out) {
        ws->first = out->next;
        ws->waiting -= out->n;
        if (!ws->first)
            ws->last = &ws->first;
    }
    *ret_close = ws->close_code;
    pthread_mutex_unlock(&ws->lock);
    return out;
}

/* -1 is the library's word for: close this. */
static int write_frame(WebSocket *ws, unsigned char *bytes, size_t n, enum lws_write_protocol kind)
{
    if (lws()->write(ws->wsi, bytes, n, kind) < 0)
        return -1;
    lws()->callback_on_writable(ws->wsi);
    return 0;
}

static int say_goodbye(WebSocket *ws, int code)
{
    unsigned char frame[LWS_PRE + 2 + sizeof ws->why];
    size_t n;

    end(ws, code, STR(""));
    n = strlen(ws->why);
    frame[LWS_PRE] = (unsigned char)(code >> 8);
    frame[LWS_PRE + 1] = (unsigned char)code;
    memcpy(frame + LWS_PRE + 2, ws->why, n);
    ws->said_goodbye = true;
    give_up_in(ws, LIMIT_WS_CLOSE_S);
    return write_frame(ws, frame + LWS_PRE, 2 + n, WRITE_CLOSE);
}

static int write_next(WebSocket *ws)
{
    unsigned char none[LWS_PRE + 1] = { 0 };
    Outgoing *out;
    int code, left;

    if (ws->said_goodbye)
        return 0;
    if (ws->ping) {
        ws->ping = false;
        return write_frame(ws, none + LWS_PRE, 0, LWS_WRITE_PING);
    }
    out = take_outgoing(ws, &code);
    if (!out)
        return code ? say_goodbye(ws, code) : 0;
    left = write_frame(ws, out->bytes + LWS_PRE, out->n, LWS_WRITE_TEXT);
    mem_free(out);
    return left;
}

/* Somebody rang: there is something to send, or it is to end. */
static void on_ring(WebSocket *ws)
{
    bool ends;

    pthread_mutex_lock(&ws->lock);
    ends = ws->drop || (ws->close_code && !ws->wsi);
    pthread_mutex_unlock(&ws->lock);
    if (ends) {
        end(ws, WS_BROKE, STR("given up"));
        ws->over = true;
    } else if (ws->wsi) {
        lws()->callback_on_writable(ws->wsi);
    }
}

/* Two bytes of a number, then words. Where we were first, this is the answer. */
static int on_peer_close(WebSocket *ws, Str payload)
{
    if (ws->said_goodbye)
        return -1;
    if (payload.n < 2)
        end(ws, 1005, STR("closed by the other end")); /* 1005: no number was given */
    else
        end(ws, (unsigned char)payload.p[0] << 8 | (unsigned char)payload.p[1],
            str_skip(payload, 2));
    lws()->rx_flow_control(ws->wsi, 0);
    give_up_in(ws, LIMIT_WS_CLOSE_S);
    return 0;
}

static int on_open(WebSocket *ws, struct lws *wsi)
{
    ws->wsi = wsi;
    ws->heard_ms = clock_mono_ms();
    give_up_in(ws, 0);
    lws()->callback_on_writable(wsi);
    return 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t n)
{
    WebSocket *ws = wsi ? lws()->context_user(lws()->get_context(wsi)) : NULL;
    Str bytes = { in, in ? n : 0 };

    (void)user;
    if (!ws)
        return 0;
    switch ((int)reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        return on_open(ws, wsi);
    case LWS_CALLBACK_CLIENT_RECEIVE:
        ws->heard_ms = clock_mono_ms();
        return receive(ws, bytes);
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        ws->heard_ms = clock_mono_ms();
        return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return write_next(ws);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        on_ring(ws);
        return 0;
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        return on_peer_close(ws, bytes);
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        end(ws, WS_BROKE, bytes.n ? bytes : STR("cannot connect"));
        ws->over = true;
        return 0;
    case LWS_CALLBACK_CLIENT_CLOSED:
        end(ws, WS_BROKE, STR("the connection broke"));
        ws->wsi = NULL;
        ws->over = true;
        return 0;
    default:
        return 0;
    }
}

/* -- its life -- */

static const struct lws_protocols protocols[] = { { "talaria", on_event, 0, KIB(64), 0, NULL, 0 },
                                                  { NULL, NULL, 0, 0, 0, NULL, 0 } };

static struct lws_vhost *make_vhost(WebSocket *ws, struct lws_context *context)
{
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = protocols,
        .alpn = "http/1.1",
        .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
        .timeout_secs = (unsigned)ws->options.connect_s,
        .connect_timeout_secs = (unsigned)ws->options.connect_s,
        .user = ws,
    };
    struct lws_vhost *vhost = lws()->create_vhost(context, &info);

    /* It has taken http_proxy from the environment: no address and port 0 take it back. */
    if (vhost)
        (void)lws()->set_proxy(vhost, ":0");
    return vhost;
}

static struct lws_context *make_context(WebSocket *ws)
{
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .fd_limit_per_thread = 8, /* one connection, and what rings */
        .user = ws,
    };

    return lws()->create_context(&info);
}

static bool connect_it(WebSocket *ws, struct lws_context *context)
{
    struct lws_client_connect_info info = {
        .context = context,
        .vhost = make_vhost(ws, context),
        .address = ws->url.host.p,
        .port = ws->url.port,
        .path = ws->path,
        .host = ws->host,
        .ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (ws->url.tls ? LCCSCF_USE_SSL : 0),
        .local_protocol_name = protocols[0].name,
        .ietf_version_or_minus_one = -1,
    };

    return info.vhost && lws()->client_connect_via_info(&info);
}

/* Shows the context to those who ring, or takes it away from them. */
static void set_context(WebSocket *ws, struct lws_context *context)
{
    pthread_mutex_lock(&ws->lock);
    ws->context = context;
    ws->ended = !context;
    ws->over = ws->over || ws->drop || ws->close_code;
    pthread_mutex_unlock(&ws->lock);
}

static void *serve(void *arg)
{
    WebSocket *ws = arg;
    struct lws_context *context;
    bool begun;

    pthread_mutex_lock(&birth);
    ws->live = context = make_context(ws);
    begun = context && connect_it(ws, context);
    pthread_mutex_unlock(&birth);
    if (begun) {
        set_context(ws, context);
        give_up_in(ws, ws->options.connect_s);
        while (!ws->over && lws()->service(context, 0) >= 0)
            ;
    }
    end(ws, WS_BROKE, begun ? STR("given up") : STR("cannot connect"));
    set_context(ws, NULL);
    if (context) {
        lws()->sul_cancel(&ws->timer);
        pthread_mutex_lock(&birth);
        lws()->context_destroy(context);
        pthread_mutex_unlock(&birth);
    }
    ws->handlers.closed(ws->ctx, ws->code, str_of(ws->why));
    return NULL;
}

/* -- the caller's side -- */

/* Under the lock. */
static void ring(WebSocket *ws)
{
    if (ws->context)
        lws()->cancel_service(ws->context);
}

/* url.h knows http and https; the rest of the address is the same. */
static bool take_address(WebSocket *ws, Str url, Err *err)
{
    Str rest;

    if (str_starts(url, STR("wss://")))
        rest = str_printf(ws->arena, "https://%.*s", STR_FMT(str_skip(url, 6)));
    else if (str_starts(url, STR("ws://")))
        rest = str_printf(ws->arena, "http://%.*s", STR_FMT(str_skip(url, 5)));
    else
        return err_set(err, ERR_INVALID,
                       "not an address of a WebSocket: ws:// or wss:// was expected");
    if (!url_parse(ws->arena, str_z(ws->arena, rest), &ws->url, err))
        return false;
    if (!ws->url.tls && !ws->url.loopback && !ws->options.allow_plain)
        return err_set(err, ERR_REFUSED, "no WebSocket to '%.*s' without TLS: it carries secrets",
                       STR_FMT(ws->url.host));
    ws->host =
        str_z(ws->arena, str_printf(ws->arena, "%.*s:%d", STR_FMT(ws->url.host), ws->url.port));
    ws->path = str_z(ws->arena, str_printf(ws->arena, "%.*s%s%.*s", STR_FMT(ws->url.path),
                                           ws->url.query.n ? "?" : "", STR_FMT(ws->url.query)));
    return true;
}

static WebSocket *release(WebSocket *ws)
{
    for (Outgoing *next; ws->first; ws->first = next) {
        next = ws->first->next;
        mem_free(ws->first);
    }
    buf_done(&ws->message);
    arena_free(ws->arena);
    pthread_mutex_destroy(&ws->lock);
    return mem_free(ws);
}

WebSocket *ws_open(const char *url, const WsOptions *options, const WsHandlers *handlers, void *ctx,
                   Err *err)
{
    WebSocket *ws;

    if (!lws_load(err))
        return NULL;
    ws = mem_alloc(sizeof *ws);
    ws->handlers = *handlers;
    ws->ctx = ctx;
    ws->arena = arena_new();
    ws->message = BUF(LIMIT_CALL_BODY);
    ws->last = &ws->first;
    pthread_mutex_init(&ws->lock, NULL);
    ws->options = options ? *options : (WsOptions){ 0 };
    if (!ws->options.connect_s)
        ws->options.connect_s = LIMIT_WS_CONNECT_S;
    if (!ws->options.silent_s)
        ws->options.silent_s = LIMIT_WS_SILENT_S;
    if (!take_address(ws, str_of(url), err))
        return release(ws);
    if (pthread_create(&ws->thread, NULL, serve, ws) != 0) {
        err_set_to(err, ERR_BUSY, "no thread for a WebSocket");
        return release(ws);
    }
    return ws;
}

bool ws_send(WebSocket *ws, Str text, Err *err)
{
    Outgoing *out;
    bool closed, full;

    out = mem_alloc(sizeof *out + LWS_PRE + text.n);
    out->n = text.n;
    memcpy(out->bytes + LWS_PRE, text.p, text.n);
    pthread_mutex_lock(&ws->lock);
    closed = ws->close_code || ws->drop || ws->ended;
    full = ws->waiting + text.n > LIMIT_CALL_BODY;
    if (!closed && !full) {
        *ws->last = out;
        ws->last = &out->next;
        ws->waiting += out->n;
        ring(ws);
    }
    pthread_mutex_unlock(&ws->lock);
    if (!closed && !full)
        return true;
    mem_free(out);
    return closed ? err_set(err, ERR_IO, "the WebSocket is closed")
                  : err_set(err, ERR_BUSY, "too much waits to be sent over the WebSocket");
}

void ws_close(WebSocket *ws, int code)
{
    pthread_mutex_lock(&ws->lock);
    if (!ws->close_code)
        ws->close_code = code;
    ring(ws);
    pthread_mutex_unlock(&ws->lock);
}

WebSocket *ws_free(WebSocket *ws)
{
    if (!ws)
        return NULL;
    pthread_mutex_lock(&ws->lock);
    ws->drop = true;
    ring(ws);
    pthread_mutex_unlock(&ws->lock);
    pthread_join(ws->thread, NULL);
    return release(ws);
}

/* request.h - one request, from its head to its answer; what handlers see.
 *
 * A handler reads rq (parameters, query, body), fills rq->reply and returns true, or says why not
 * in err, which becomes problem+json (RFC 9457) with the status of its kind. Handlers of routes
 * marked WORKER run on a worker and may ask for its store; the others run on an epoll thread and
 * must not wait. Everything in rq->arena dies with the request. */
#ifndef TALARIA_HTTP_REQUEST_H
#define TALARIA_HTTP_REQUEST_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "agent/runlog.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "http/jobs.h"
#include "http/server.h"
#include "recall/history.h"
#include "store/store.h"
#include "text/json.h"

typedef struct Request Request;
typedef struct Route Route;

typedef enum HttpMethod {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_DELETE,
    HTTP_PATCH,
    HTTP_OTHER
} HttpMethod;

typedef struct Reply {
    int status; /* 200 unless said otherwise */
    const char *type;
    Buf body;
    Str cookie; /* Set-Cookie, or p NULL */
    Str allow;
    const char *param; /* of OpenAI's dialect: the parameter at fault, or NULL */
    Str filename;      /* to be saved under this name, or p NULL */
    bool close;        /* the connection ends with this answer */
    bool sent;         /* the handler has queued a response itself (reply_queue) */
    bool taken;        /* a stream has taken the connection over from libmicrohttpd */
} Reply;

enum { ETAG_ROOM = 40 };

typedef enum RequestPhase {
    PHASE_HEAD,
    PHASE_READY, /* no body follows: to be judged and answered */
    PHASE_BODY,  /* judged; its body is read */
    PHASE_WORK,  /* suspended */
    PHASE_DONE,  /* the answer is there */
    PHASE_SENT
} RequestPhase;

struct Request {
    Server *server;
    struct MHD_Connection *connection;
    RequestPhase phase;
    HttpMethod method;
    const Route *route;
    Str path, query; /* raw */
    Str params[2];   /* decoded, in the order of the pattern */
    Buf body;
    size_t counted;      /* bytes of the body that stand in *room */
    atomic_size_t *room; /* of all bodies of its kind */
    bool too_large, no_room;
    bool chunks; /* the other side speaks HTTP/1.1 */
    bool again;  /* the handler has waited for something and runs once more, on its epoll thread */
    bool waits;  /* ... and waits for something again, and runs once more after that */
    Arena *arena;
    Job job;
    int64_t queued_ms; /* when that was handed to a worker */
    Worker *worker;    /* who runs it; NULL on an epoll thread */
    Runs *runs;        /* see request_runs */
    LiveRun *live;     /* what its second round is about; a reference */
    Subscriber *wait;  /* it waits for the end of a run */
    Request *next;     /* in a list of those that wait for the same thing */
    Reply reply;
    const char *target; /* as it lay in the connection's buffer; for framing only */
    char uri[];         /* as it came */
};

/* -- what handlers use -- */

/* The worker's store over all history folders; reopened when databases came or went. */
MUST_CHECK bool request_store(Request *rq, Store **ret, Err *err);
/* The homes as the worker sees them now. */
MUST_CHECK bool request_homes(Request *rq, const Homes **ret, Err *err);

/* The history over these: transcripts too, unless the server was given one home alone. The
 * catalogue is brought up to date every so often, and not by every request. */
MUST_CHECK History *request_history(Request *rq, Err *err);

/* The same, for what asks the catalogue for the sessions of homes as well. */
MUST_CHECK History *request_whole_history(Request *rq, Err *err);

/* A handle of the agent service's database until the handler returns, on a worker. ERR_BUSY: there
 * is no service. */
MUST_CHECK Runs *request_runs(Request *rq, Err *err);

/* The body as a JSON object; the document lives until the end of the request's handler. */
MUST_CHECK JsonDoc *request_json(Request *rq, Err *err);

/* Whether the request would pass where a token is needed: for routes that are open to all. */
bool request_signed_in(const Request *rq);

/* A header's value; p NULL where there is none. */
Str request_header(const Request *rq, const char *name);

/* Begins the answer's object with "format": 1; reply_end ends it and returns true. */
JsonWriter reply_json(Request *rq);
bool reply_end(JsonWriter *w);

#endif

/* hermes_request.h - a running turn of a Hermes, and the requests that it is made of. */
#ifndef TALARIA_RUNTIMES_HERMES_REQUEST_H
#define TALARIA_RUNTIMES_HERMES_REQUEST_H

#include "net/fetch.h"
#include "runtimes/hermes_link.h"
#include "runtimes/run.h"

/* What can you do; which one are you; make a session; submit a run; read the stream; how does the
 * run stand. */
typedef enum Step { PROBE, HEALTH, CREATE, SUBMIT, STREAM, POLL } Step;

typedef struct HermesRun {
    RuntimeRun run;
    HermesLink link;
    HermesHandle handle;
    ContinuityMode mode;
    HermesDialect dialect;
    HermesStream stream;
    bool has_stream;
    Step step;
    NetId fetch; /* 0: none is out */
    int status;
    Buf answer; /* of a request that is no stream, or of one that was refused */
    int tries;
    NetTimer timer; /* of the next try, the next poll, or the end of patience */
    bool timer_held;
    bool answering;                 /* the answer to an approval is on its way */
    Str preamble, user, user_alone; /* alone: without what was said elsewhere */
} HermesRun;

/* All in the arena of the run. */
const char *hermes_url(HermesRun *h, const char *format); /* %.*s: the id of the session or run */
const char *const *hermes_headers(HermesRun *h);

/* The request of a step; its body is written into the Buf. */
FetchRequest hermes_request(HermesRun *h, Step step, Buf *body);

#endif

/* body.h - the body of a request: whether it is taken, how much of it, and the room that all of
 * them have.
 *
 * The head decides where it can: type, declared length, Slack's timestamp and signature. A route's
 * row says how much it accepts; in addition all bodies that are being read share a limit, and those
 * of requests without a token have another one, so that strangers cannot use up the memory of
 * signed-in clients. */
#ifndef TALARIA_HTTP_BODY_H
#define TALARIA_HTTP_BODY_H

#include "http/request.h"

/* Whether a body of this length (FRAMING_CHUNKS: not known) is taken; false: the refusal is in
 * rq->reply. */
MUST_CHECK bool body_admit(Request *rq, int64_t length);
void body_collect(Request *rq, const char *bytes, size_t n);
/* It has come to its end. False: not all of it was taken, and the refusal is in rq->reply. */
MUST_CHECK bool body_is_whole(Request *rq);
void body_forget(Request *rq);

#endif

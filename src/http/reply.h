/* reply.h - answers as bytes on the wire: headers that every answer has, ETag, problem+json. */
#ifndef TALARIA_HTTP_REPLY_H
#define TALARIA_HTTP_REPLY_H

#include "http/request.h"

/* Headers of every answer (CSP, nosniff, no referrer, cross-origin isolation, no CORS), and those
 * of this one; etag NULL: not to be kept. */
void reply_headers(struct MHD_Response *response, const char *type, const char *etag, bool zipped);

/* Whether Accept-Encoding has gzip. */
bool reply_takes_gzip(const Request *rq);

/* err as problem+json into rq->reply, whatever was there before. */
void reply_problem(Request *rq, const Err *err);
void reply_problem_status(Request *rq, int status, const char *title, const Err *err);

/* A strong ETag of these bytes, with quotes. */
void reply_etag(char ret[ETAG_ROOM], Str bytes);

/* Whether If-None-Match names it. */
bool reply_not_modified(const Request *rq, const char *etag);

/* A response over bytes of its own (taken over from `body`), with type and ETag. */
struct MHD_Response *reply_response(Buf *body, const char *type, const char *etag);

/* Hands rq->reply to libmicrohttpd; everything in it is used up. */
enum MHD_Result reply_send(Request *rq);

/* A response that the handler holds, on its epoll thread; it keeps its own reference. */
void reply_queue(Request *rq, int status, struct MHD_Response *response);

#endif

/* api_chat.h - what the handlers of conversations, runs and OpenAI's dialect share. */
#ifndef TALARIA_HTTP_API_CHAT_H
#define TALARIA_HTTP_API_CHAT_H

#include "http/state.h"

/* ERR_BUSY with the reason where there is no service. */
MUST_CHECK bool request_service(Request *rq, Service **ret, Err *err);

/* fn with a handle of the database that is given back afterwards. */
typedef bool RunsFn(Request *rq, Service *s, Runs *r, Err *err);
MUST_CHECK bool with_runs(Request *rq, RunsFn *fn, Err *err);

#endif

/* api_chat.h - what the handlers of conversations, runs and OpenAI's dialect share. */
#ifndef TALARIA_HTTP_API_CHAT_H
#define TALARIA_HTTP_API_CHAT_H

#include "agent/continue.h"
#include "http/state.h"

/* ERR_BUSY with the reason where there is no service. */
MUST_CHECK bool request_service(Request *rq, Service **ret, Err *err);

/* fn with a handle of the database that is given back afterwards. */
typedef bool RunsFn(Request *rq, Service *s, Runs *r, Err *err);
MUST_CHECK bool with_runs(Request *rq, RunsFn *fn, Err *err);

/* The id in the path may be that of any session. For writing: it is that of the conversation that continues it
 * from here on, which is made where there is none yet. */
MUST_CHECK bool request_continue(Request *rq, Err *err);
/* For reading, which writes nothing. *ret_there: it is the id of a conversation from here on; else *ret is what
 * the session would be as one. */
MUST_CHECK bool request_look_up(Request *rq, bool *ret_there, Preview *ret, Err *err);

#endif

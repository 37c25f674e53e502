/* api_handoffs.h - what the handlers of handoffs and of the local chat share. */
#ifndef TALARIA_HTTP_API_HANDOFFS_H
#define TALARIA_HTTP_API_HANDOFFS_H

#include "http/request.h"
#include "handoff/handoff.h"

/* Our own database, for this request. Makes it where it is missing. */
MUST_CHECK Journal *request_journal(Request *rq, Err *err);

#endif

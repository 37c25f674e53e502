/* api_handoffs.h - what the handlers of handoffs and of the local chat share. */
#ifndef TALARIA_HTTP_API_HANDOFFS_H
#define TALARIA_HTTP_API_HANDOFFS_H

#include "handoff/handoff.h"
#include "http/request.h"

/* Our own database, for this request. Makes it where it is missing. */
MUST_CHECK OwnStore *request_journal(Request *rq, Err *err);

#endif

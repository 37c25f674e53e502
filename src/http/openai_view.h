/* openai_view.h - a run as OpenAI's API shows it: chunk by chunk, or whole. */
#ifndef TALARIA_HTTP_OPENAI_VIEW_H
#define TALARIA_HTTP_OPENAI_VIEW_H

#include "http/openai_request.h"
#include "http/request.h"

/* The run of rq->live as a stream of chunks; takes the reference over. */
MUST_CHECK bool openai_stream(Request *rq, const OpenaiRequest *q, Err *err);
/* The run that rq->wait has waited for, as one answer. */
MUST_CHECK bool openai_whole(Request *rq, const OpenaiRequest *q, Err *err);

#endif

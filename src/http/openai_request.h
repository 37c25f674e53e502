/* openai_request.h - what a client of OpenAI's chat completions asks for, and whether it can be
 * had.
 *
 * A parameter that would change the answer's shape or content and that no runtime of ours can
 * honour is refused by name, not passed over: the client would take the answer for what it asked.
 * Hints about style and sampling (temperature, top_p, penalties, seed, user, metadata, …) are left
 * to the runtime. Pure. */
#ifndef TALARIA_HTTP_OPENAI_REQUEST_H
#define TALARIA_HTTP_OPENAI_REQUEST_H

#include "base/arena.h"
#include "text/json.h"
#include "text/sha256.h"

typedef struct OpenaiMessage {
    Str role, text;
} OpenaiMessage;

typedef struct OpenaiRequest {
    OpenaiMessage *messages; /* in the arena; the last is the user's */
    size_t n;
    Str model;
    Str instructions;   /* what system and developer say: how the client wants to be answered */
    int64_t max_tokens; /* 0: not given */
    bool stream;
    bool usage;    /* stream_options.include_usage: the usage as a last chunk */
    bool progress; /* stream_options.include_progress: tools, notices and approvals as chunks
                      without choices */
} OpenaiRequest;

/* False and ERR_USAGE; *ret_param: the parameter at fault, or NULL. */
MUST_CHECK bool openai_read(Arena *a, Json body, OpenaiRequest *ret, const char **ret_param,
                            Err *err);

/* A hash of the first n messages: that of n follows from that of n - 1. White space at the ends of
 * a text does not count: clients trim. */
void openai_chain(const OpenaiMessage *messages, size_t n, uint8_t ret[SHA256_BYTES]);

/* Whether two texts have the same letters, whatever the white space between them. */
bool openai_same_words(Str a, Str b);

#endif

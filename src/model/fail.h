/* fail.h - what a server's refusal means. */
#ifndef TALARIA_MODEL_FAIL_H
#define TALARIA_MODEL_FAIL_H

#include "base/arena.h"
#include "model/model.h"
#include "net/fetch.h"
#include "text/json.h"

/* Of an error object: {type, code, message}, as all dialects have it; the status, where there is
 * one, decides what the words leave open. The message is borrowed from the object. */
ModelFail fail_of_json(Json error, int status);

/* Of an answer that is no success: its body may be such an object, or anything. */
ModelFail fail_of_body(Arena *a, const FetchHead *head, Str body);

/* Of a request that broke. */
ModelFail fail_of_fetch(const FetchDone *done);

/* The wait that a server asks for (retry-after-ms, retry-after in seconds or as a date); -1:
 * none. */
int64_t retry_after_ms(const FetchHead *head);

/* Text of a server without the key, wherever it is. */
Str text_without_key(Arena *a, Str text, Str key);

/* For people to see: short, one line, without anything that looks like a secret, and without
 * `key`. */
Str fail_message(Arena *a, Str text, Str key);

#endif

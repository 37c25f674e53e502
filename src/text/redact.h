/* redact.h - the one place where secrets are taken out of text.
 *
 * Templates, learning, exports, logs and gateways all go through here. The rules are tables: token
 * shapes by prefix, alphabet and length (data/secrets.def), names that say "secret" followed by a
 * value, headers, URLs, arguments of commands, private keys (redact_rules.c). What was taken out is
 * named by a label in brackets; text that already is such a label is left alone, so that redacting
 * twice changes nothing.
 *
 * Streaming: the answer is the same however the text is cut into pieces. Up to LIMIT_REDACT_WINDOW
 * bytes are held back while a secret may still continue. Invalid UTF-8 passes through as it is. Not
 * thread-safe per Redactor; redact_text is. */
#ifndef TALARIA_TEXT_REDACT_H
#define TALARIA_TEXT_REDACT_H

#include "base/arena.h"
#include "base/buf.h"

/* The whole text at once. Returns text itself where nothing had to go. */
Str redact_text(Arena *a, Str text);

/* Appends text to out, redacted. */
void redact_to(Buf *out, Str text);

/* Whether a value under this key of an object is a secret whatever it looks like:
 * "client_secret", "pwd", "Authorization" are, "max_tokens" and "PWD" are not. */
bool redact_key_is_secret(Str key);

/* -- a piece at a time -- */

typedef struct Redactor Redactor;

Redactor *redactor_new(Buf *out); /* borrows out */
void redactor_feed(Redactor *r, Str piece);
void redactor_finish(Redactor *r); /* what was held back goes out; the redactor may be used again */
Redactor *redactor_free(Redactor *r);
AUTO_FREE(Redactor, redactor_free)

#endif

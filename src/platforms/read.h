/* read.h - updates of platforms as values: what is missing or of another kind is empty. */
#ifndef TALARIA_PLATFORMS_READ_H
#define TALARIA_PLATFORMS_READ_H

#include "chat/address.h"

/* The whole update; ERR_INVALID where it is no JSON object. */
MUST_CHECK bool update_read(Arena *a, Str update, const char *platform, PyValue *ret, Err *err);

const PyValue *update_get(const PyValue *v, const char *key); /* never NULL */
Str update_text(const PyValue *v, const char *key); /* text or whole number; p NULL: neither */
bool update_true(const PyValue *v, const char *key);

/* What represents a user whom nobody knows yet. */
#define UNKNOWN_USER STR("system:handoff")

/* A session that comes to a place in which everyone has one of their own, when nobody knows whose
 * it is, waits there under the key of that user, until somebody who is named in the settings writes
 * there (turns_claim). */
Str waiting_key(Arena *a, const ChatAddress *p, const KeyFlags *flags);
bool is_waiting_place(Arena *a, const ChatAddress *p, const KeyFlags *flags);

size_t measure_code_points(Str text);

#endif

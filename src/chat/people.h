/* people.h - strangers who wrote to us, and those who were let in.
 *
 * A stranger is given a code, once an hour; whoever owns this machine types it, and from then on
 * the stranger is let in. On a OwnStore, so one thread; text lives in the arena. */
#ifndef TALARIA_CHAT_PEOPLE_H
#define TALARIA_CHAT_PEOPLE_H

#include "store/own.h"

/* Eight characters of 32 that cannot be mistaken for each other: 40 bits. For pairing, and for
 * sessions that wait for a terminal. */
enum { CODE_CHARS = 8 };
void code_make(char ret[CODE_CHARS + 1]);
/* As it is kept: upper case, without what people put between the halves. Empty: it cannot be
 * one. */
Str code_tidy(Arena *a, Str typed);

enum { PEOPLE_ASKING = 32 }; /* codes that are open at a time */

typedef struct Person {
    Str platform, user_id, name;
    Str code; /* empty: none is open */
    bool allowed;
    int64_t asked_ms, expires_ms;
} Person;

MUST_CHECK bool person_is_allowed(OwnStore *own, Str platform, Str user_id, bool *ret, Err *err);

/* A code for somebody who is not let in. *ret_code empty: an answer was given less than an hour
 * ago, or too many ask at once: nothing is to be said. */
MUST_CHECK bool person_ask(OwnStore *own, Arena *a, Str platform, Str user_id, Str name,
                           Str *ret_code, Err *err);

/* ERR_NOT_FOUND: no such code is open. */
MUST_CHECK bool person_approve(OwnStore *own, Arena *a, Str code, Person *ret, Err *err);

/* Those who may come in and those who ask, the newest first. */
MUST_CHECK bool people_list(OwnStore *own, Arena *a, Person **ret, size_t *ret_n, Err *err);

#endif

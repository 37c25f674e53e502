/* people.h - strangers who wrote to us, and those who were let in.
 *
 * A stranger is given a code, once an hour; whoever owns this machine types it, and from then on the stranger is
 * let in. On a Journal, so one thread; text lives in the arena. */
#ifndef TALARIA_STORE_PEOPLE_H
#define TALARIA_STORE_PEOPLE_H

#include "handoff/handoff.h"

enum { PEOPLE_ASKING = 32 }; /* codes that are open at a time */

typedef struct Person {
    Str platform, user_id, name;
    Str code; /* empty: none is open */
    bool allowed;
    int64_t asked_ms, expires_ms;
} Person;

MUST_CHECK bool person_is_allowed(Journal *j, Str platform, Str user_id, bool *ret, Err *err);

/* A code for somebody who is not let in. *ret_code empty: an answer was given less than an hour ago, or too many
 * ask at once: nothing is to be said. */
MUST_CHECK bool person_ask(Journal *j, Arena *a, Str platform, Str user_id, Str name, Str *ret_code,
                           Err *err);

/* ERR_NOT_FOUND: no such code is open. */
MUST_CHECK bool person_approve(Journal *j, Arena *a, Str code, Person *ret, Err *err);

/* Those who may come in and those who ask, the newest first. */
MUST_CHECK bool people_list(Journal *j, Arena *a, Person **ret, size_t *ret_n, Err *err);

#endif

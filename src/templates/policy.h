/* policy.h - which of several templates a new session gets.
 *
 * least-used: the one injected least often, ties to the newest.
 * best: most similar to the task by the first request of its source session, then the larger share
 * of successful examples, then the newer, then the less used. Similarity and share count in tenths
 * and age in days, so that a later rule decides where an earlier one sees no real difference.
 *
 * A template without an example for the session's tools is taken only where there is no other. */
#ifndef TALARIA_TEMPLATES_POLICY_H
#define TALARIA_TEMPLATES_POLICY_H

#include "store/store.h"
#include "templates/template.h"

typedef enum Policy { POLICY_LEAST_USED, POLICY_BEST } Policy;

/* What a session was asked first; empty where that is not known. */
typedef Str RequestFn(void *ctx, Arena *a, Str session_id);

typedef struct PolicyQuery {
    Policy policy;
    bool one_type; /* only templates of `type` */
    TaskType type;
    Str tools; /* "a,b,c"; p NULL: all */
    Str task;  /* for POLICY_BEST */
    RequestFn *request_of;
    void *ctx;
} PolicyQuery;

/* One of `all`. ERR_NOT_FOUND where none has the type, or there is none at all. */
MUST_CHECK bool policy_choose(Arena *a, const Template *all, size_t n, const PolicyQuery *query,
                              const Template **ret, Err *err);

/* A RequestFn over a Store (as ctx). */
Str policy_first_request(void *store, Arena *a, Str session_id);

#endif

/* pick.h - which session is handed over.
 *
 * Any session of any agent can go. One of Talaria's database or of a Hermes home goes itself. A transcript of
 * another agent is left as it is: the conversation that continues it (agent/continue.h) goes in its place. */
#ifndef TALARIA_GATEWAY_PICK_H
#define TALARIA_GATEWAY_PICK_H

#include "agent/continue.h"
#include "store/store.h"

typedef struct Pick {
    ContinueWhere where;
    Store *store; /* over the homes of `where` */
    bool files;   /* transcripts too */
    bool look;    /* only those that went before: nothing is made */
} Pick;

/* By an id or the beginning of one; empty: the newest of all. *ret_home: the folder of its database. */
MUST_CHECK bool handoff_pick(const Pick *pick, Arena *a, Str id, Lineage *ret, Str *ret_home,
                             Err *err);

#endif

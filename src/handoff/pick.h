/* pick.h - which session is handed over.
 *
 * Any session of any agent can go. One of Talaria's database or of a Hermes home goes itself. A
 * transcript of another agent is left as it is: the conversation that continues it
 * (agent/continue.h) goes in its place. */
#ifndef TALARIA_HANDOFF_PICK_H
#define TALARIA_HANDOFF_PICK_H

#include "agent/continue.h"
#include "store/store.h"

typedef struct Pick {
    ContinueWhere where;
    Store *store; /* over the homes of `where` */
    bool files;   /* transcripts too */
    bool look;    /* only those that went before */
} Pick;

typedef struct Picked {
    Lineage session; /* of a transcript that has no conversation yet: empty */
    Str home;        /* the folder of its database */
    Str transcript;  /* the id of another agent's session; empty: it goes itself */
} Picked;

/* By an id or the beginning of one; empty: the newest of all. Writes nothing, so that a handoff can
 * be refused before a conversation is made for it. */
MUST_CHECK bool handoff_pick(const Pick *pick, Arena *a, Str id, Picked *ret, Err *err);

/* The conversation of a transcript is made, or takes its new messages along. */
MUST_CHECK bool handoff_pick_begin(const Pick *pick, Arena *a, Picked *p, Err *err);

#endif

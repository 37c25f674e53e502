/* knowledge.h - what an agent is told beside a request, and what it may look up by itself.
 *
 * The part of the service that reads: history, skills, notes, memory. Handles of those are for one thread
 * at a time, so there is a set of them for each worker that is at it; a set is made when it is first
 * needed and kept. The search index is brought up to date in the background, at the beginning and while
 * turns are made. The first turn of a process waits for it up to a second, later ones do not; the offline
 * runtime waits longer, because the index is all it has.
 *
 * Any thread. Text that is handed out lives in the arena that was passed in. */
#ifndef TALARIA_AGENT_KNOWLEDGE_H
#define TALARIA_AGENT_KNOWLEDGE_H

#include "agent/conversations.h"
#include "runtimes/runtime.h"
#include "store/homes.h"

#define SERVICE_STAGES(X)                                                                          \
    X(STAGE_CONTEXT, "context")                                                                    \
    X(STAGE_SKILLS, "skills")                                                                      \
    X(STAGE_GRAPH, "graph")

typedef enum ServiceStage {
#define X(id, name) id,
    SERVICE_STAGES(X)
#undef X
        STAGE_COUNT
} ServiceStage;

typedef struct PrepareAsk {
    Str conversation_id, text;
    bool knows;             /* false: of nothing but this conversation */
    int branches;           /* how many steps the runtime does at once */
    const double *costs;    /* seconds by kind of step, as they were here; NULL: not known */
    const ChatTurn *recent; /* oldest first, without the request */
    size_t n_recent;
    Str summary; /* of what is older; may be empty */
    int64_t summary_through_seq;
    Str memory; /* as it was at the conversation's first turn; empty: as it is */
    const Str
        *handles; /* of other programs: sessions that are named in them are this conversation */
    size_t n_handles;
} PrepareAsk;

typedef struct Prepared {
    Str text; /* for the runtime, fenced; may be empty */
    struct {
        Str json;   /* of the metadata: context, skills and graph; empty: as if there were none */
        Str detail; /* for people, where it is degraded */
        bool degraded;
    } stages[STAGE_COUNT];
    Str receipt; /* what was given and why: JSON that depends on no runtime; may be empty */
    Str graph;   /* the whole task graph as JSON, of no runtime either; may be empty */
    Str summary; /* to be kept from now on; empty: none is new */
    int64_t summary_through_seq;
    size_t recent_from; /* the turns from here on are given to a runtime that keeps none */
} Prepared;

/* On a worker of the service, several at a time. False: the turn goes on without, and says so. */
typedef bool PrepareFn(void *ctx, Arena *a, const PrepareAsk *ask, Prepared *ret, Err *err);

typedef struct Knowledge Knowledge;

/* Borrows both; opens nothing yet. */
Knowledge *knowledge_new(const Homes *homes, const Settings *settings);
/* Nobody may be at it any more. */
Knowledge *knowledge_free(Knowledge *k);
AUTO_FREE(Knowledge, knowledge_free)
/* What is under way of the index's update ends soon. */
void knowledge_stop(Knowledge *k);

/* Brings the search index up to date where nobody has looked for a while. */
void knowledge_refresh(Knowledge *k);

/* A PrepareFn; ctx is the Knowledge. */
MUST_CHECK bool knowledge_prepare(void *knowledge, Arena *a, const PrepareAsk *ask, Prepared *ret,
                                  Err *err);

/* Passages of the history that answer a question, as Markdown: quoted, dated, linked to their session.
 * Empty: nothing does. ctx is the Knowledge. */
MUST_CHECK bool knowledge_recall(void *knowledge, Arena *a, Str question, Str conversation_id,
                                 Str *ret, Err *err);

/* The same from this conversation alone, for who may not know of others. */
MUST_CHECK bool knowledge_recall_own(void *knowledge, Arena *a, Str question, Str conversation_id,
                                     Str *ret, Err *err);

/* What is remembered of the user, to be kept with a conversation from its first turn on; empty where it
 * cannot be read. */
Str knowledge_memory(Knowledge *k, Arena *a);

/* -- Knowledge_tools.c: what the native runtime's model may call -- */

enum { KNOWLEDGE_TOOLS = 4 };

void knowledge_tools(Knowledge *k, RuntimeTool ret[KNOWLEDGE_TOOLS]);

#endif

/* knowledge.h - the context of a request, and the tools with which a model can look things up.
 *
 * This is the part of the service that reads history, skills, notes and memory. Their handles are
 * for one thread at a time, so each busy worker has a set; a set is opened when it is first needed
 * and kept. The search index is updated in the background, at the start and during turns. The first
 * turn of a process waits for it up to a second, later ones do not; the offline runtime waits
 * longer, because it has nothing else.
 *
 * Any thread. Returned text lives in the arena that was passed in. */
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
    bool knows;             /* false: this conversation only */
    int branches;           /* steps the runtime can do at once */
    const double *costs;    /* seconds by kind of step, measured here; NULL: not known */
    const ChatTurn *recent; /* oldest first, without the request */
    size_t n_recent;
    Str summary; /* of what is older; may be empty */
    int64_t summary_through_seq;
    Str memory;         /* snapshot of the conversation's first turn; empty: read now */
    const Str *handles; /* of other programs; the sessions they name count as this conversation */
    size_t n_handles;
} PrepareAsk;

typedef struct Prepared {
    Str text; /* for the runtime, fenced; may be empty */
    struct {
        Str json;   /* for the metadata; empty: nothing */
        Str detail; /* for people, if degraded */
        bool degraded;
    } stages[STAGE_COUNT];
    Str receipt; /* what was included and why, as JSON; the same for every runtime; may be empty */
    Str graph;   /* the task graph as JSON, likewise; may be empty */
    Str summary; /* new summary to store; empty: none */
    int64_t summary_through_seq;
    size_t recent_from; /* first turn for a runtime that keeps no history */
} Prepared;

/* On a worker of the service, several at a time. If it fails, the turn continues without
 * context. */
typedef bool PrepareFn(void *ctx, Arena *a, const PrepareAsk *ask, Prepared *ret, Err *err);

typedef struct Knowledge Knowledge;

/* Borrows both; opens nothing yet. */
Knowledge *knowledge_new(const Homes *homes, const Settings *settings);
/* After the last user. */
Knowledge *knowledge_free(Knowledge *k);
AUTO_FREE(Knowledge, knowledge_free)
/* Ends a running update of the index soon. */
void knowledge_stop(Knowledge *k);

/* Updates the search index if the last update was a while ago. */
void knowledge_refresh(Knowledge *k);

/* A PrepareFn; ctx is the Knowledge. */
MUST_CHECK bool knowledge_prepare(void *knowledge, Arena *a, const PrepareAsk *ask, Prepared *ret,
                                  Err *err);

/* Passages of the history that answer a question, as Markdown: quoted, dated, linked to their
 * session. Empty: none found. ctx is the Knowledge. */
MUST_CHECK bool knowledge_recall(void *knowledge, Arena *a, Str question, Str conversation_id,
                                 Str *ret, Err *err);

/* The same from this conversation only, for guests. */
MUST_CHECK bool knowledge_recall_own(void *knowledge, Arena *a, Str question, Str conversation_id,
                                     Str *ret, Err *err);

/* A snapshot of the user memory, stored with a conversation at its first turn; empty if it is
 * unreadable. */
Str knowledge_memory(Knowledge *k, Arena *a);

/* -- knowledge_tools.c: tools for the native runtime's model -- */

enum { KNOWLEDGE_TOOLS = 4 };

void knowledge_tools(Knowledge *k, RuntimeTool ret[KNOWLEDGE_TOOLS]);

#endif

/* context.h - what a runtime is told beside the request: memory, skills, steps.
 *
 * One query, one answer, the same on every runtime: the text and the receipts depend on the request,
 * the conversation and what lies on disk, never on who will answer (of the graph only the decision
 * does, and that is not in the text). Blocks stand in a fixed order, the one that changes least first,
 * so that a provider's cache of prefixes is of use: user memory, summary, recalled, brain, skills,
 * steps. What comes from elsewhere is quoted and fenced as data.
 *
 * Nothing here fails as a whole. A part that cannot be had is an empty block, and `parts[x].reason`
 * says why. Handles are borrowed and are for one thread at a time; everything handed out lives in the
 * arena. */
#ifndef TALARIA_AGENT_CONTEXT_H
#define TALARIA_AGENT_CONTEXT_H

#include "agent/brain.h"
#include "agent/graph.h"
#include "agent/memory.h"
#include "agent/summary_extract.h"
#include "recall/search.h"
#include "recall/skills.h"

/* X(id, "name", tokens of its block out of 6,000) */
#define CONTEXT_PARTS(X)                                                                           \
    X(CONTEXT_USER, "user", 600)                                                                   \
    X(CONTEXT_SUMMARY, "summary", 1200)                                                            \
    X(CONTEXT_RECALLED, "recalled", 1800)                                                          \
    X(CONTEXT_BRAIN, "brain", 1200)                                                                \
    X(CONTEXT_SKILLS, "skills", 0)                                                                 \
    X(CONTEXT_GRAPH, "graph", 0)                                                                   \
    X(CONTEXT_RECENT, "recent", 0) /* what is left */

typedef enum ContextPart {
#define X(id, name, tokens) id,
    CONTEXT_PARTS(X)
#undef X
        CONTEXT_PART_COUNT
} ContextPart;

const char *context_part_name(ContextPart part);

enum { CONTEXT_TOKENS = 6000, MAX_RECALLED = 8 };

typedef struct ContextQuery {
    const Homes *homes;
    Catalogue *catalogue; /* both or neither; NULL: nothing is recalled */
    Recall *recall;
    Skills *skills; /* NULL: no shortlist */
    Brain *brain;   /* NULL: no notes */

    Str text;            /* the request */
    Str conversation_id; /* is not recalled from, nor are its lineage and ... */
    const Str *own_ids;  /* ... sessions whose ids are in these texts */
    size_t n_own_ids;

    const TalkTurn *turns; /* of the conversation, oldest first, without the request */
    size_t n_turns;
    Str summary;         /* as it was kept; may be empty */
    size_t summary_upto; /* how many of the turns it covers */
    size_t window;       /* tokens of the default model; 0: not known */
    Str memory_snapshot; /* memory_snapshot_json of when the conversation began; empty: read now */

    size_t budget;   /* tokens; 0: CONTEXT_TOKENS */
    int64_t most_ms; /* for user, summary, recalled and brain together; 0: as long as it takes */
    unsigned parts;  /* bits of CONTEXT_*: these alone; 0: all of them */
    GraphOptions graph;
} ContextQuery;

/* One item that was given to the runtime. */
typedef struct ContextReceipt {
    ContextPart part;
    Str id; /* "user:1", session and message, note and chunk, skill */
    double score;
    Str reason;
    size_t chars;
} ContextReceipt;

typedef struct ContextBuilt {
    Str text; /* fenced; empty where there is nothing to say */
    size_t tokens;
    ContextReceipt *receipts;
    size_t n_receipts;
    struct {
        size_t items, tokens;
        bool degraded, truncated; /* it failed; it had to be cut */
        Str reason;               /* why there is nothing, or less; empty: all is well */
        double took_ms;
    } parts[CONTEXT_PART_COUNT];
    Shortlist skills;
    TaskGraph *graph;
    const TalkTurn *recent; /* the last turns that fit what is left, for runtimes that keep none */
    size_t n_recent;
    Str summary; /* in use; where summary_is_new: to be kept, it covers summary_upto turns */
    size_t summary_upto;
    bool summary_is_new;
    bool truncated;
} ContextBuilt;

void context_build(Arena *a, const ContextQuery *query, ContextBuilt *ret);

/* The receipts as the attachment of kind context_receipt: one line of JSON without times, so that it
 * is byte for byte the same on every runtime. */
Str context_receipts_json(Arena *a, const ContextBuilt *built);
/* {"tokens":…,"user":…,"summary":…,"recalled":…,"brain":…,"truncated"?}: `context` of the metadata. */
void context_put_counts(JsonWriter *w, const ContextBuilt *built);

/* [{"name":…,"score":…,"confidence":…}]: `skills` of the metadata. */
void context_put_skills(JsonWriter *w, const Shortlist *list);

/* -- Parts by themselves -- */

typedef struct Recalled {
    Str id;      /* "SESSION/PLACE" */
    Str session; /* its id */
    Str title;
    double at;
    DocRole role;
    Str text, before, after; /* the turns around it; may be empty */
    bool narration;          /* said before a tool call, not what came of it */
    double score;
    Str why;
} Recalled;

/* Best first; none where nothing is about the request. */
MUST_CHECK bool context_recall(Arena *a, const ContextQuery *query, size_t max, Recalled **ret,
                               size_t *ret_n, Err *err);

#endif

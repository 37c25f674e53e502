/* context.h - builds the context of a request: memory, summary, recalled passages, notes, skills,
 * steps.
 *
 * The result is the same for every runtime: text and receipts depend on the request, the
 * conversation and the files on disk only. (The graph's decision depends on the runtime; it is not
 * in the text.) The blocks have a fixed order, the most stable first, so that a provider's prefix
 * cache works: user memory, summary, recalled, brain, skills, steps. Foreign text is quoted and
 * fenced as data.
 *
 * It never fails as a whole: a part that fails is an empty block with a `parts[x].reason`. Handles
 * are borrowed and for one thread at a time; everything returned lives in the arena. */
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
    Catalogue *catalogue; /* both or neither; NULL: no recall */
    Recall *recall;
    Skills *skills; /* NULL: no shortlist */
    Brain *brain;   /* NULL: no notes */

    Str text;            /* the request */
    Str conversation_id; /* excluded from recall, with its lineage and ... */
    const Str *own_ids;  /* ... the sessions whose ids are in these texts */
    size_t n_own_ids;

    const TalkTurn *turns; /* of the conversation, oldest first, without the request */
    size_t n_turns;
    Str summary;         /* as stored; may be empty */
    size_t summary_upto; /* number of turns it covers */
    size_t window;       /* tokens of the default model; 0: not known */
    Str memory_snapshot; /* memory_snapshot_json of the first turn; empty: read now */

    size_t budget;  /* tokens; 0: CONTEXT_TOKENS */
    int64_t max_ms; /* for user, summary, recalled and brain together; 0: no limit */
    unsigned parts; /* bits of CONTEXT_*: only these; 0: all */
    GraphOptions graph;
} ContextQuery;

/* One item of the context. */
typedef struct ContextReceipt {
    ContextPart part;
    Str id; /* "user:1", session and message, note and chunk, skill */
    double score;
    Str reason;
    size_t chars;
} ContextReceipt;

typedef struct ContextBuilt {
    Str text; /* fenced; may be empty */
    size_t tokens;
    ContextReceipt *receipts;
    size_t n_receipts;
    struct {
        size_t items, tokens;
        bool degraded, truncated; /* it failed; it had to be cut */
        Str reason;               /* why it is empty or cut; else empty */
        double took_ms;
    } parts[CONTEXT_PART_COUNT];
    Shortlist skills;
    TaskGraph *graph;
    const TalkTurn *recent; /* the last turns that fit the rest, for runtimes without history */
    size_t n_recent;
    Str summary; /* in use; if summary_is_new: to be stored, it covers summary_upto turns */
    size_t summary_upto;
    bool summary_is_new;
    bool truncated;
} ContextBuilt;

void context_build(Arena *a, const ContextQuery *query, ContextBuilt *ret);

/* The receipts as the attachment of kind context_receipt: one line of JSON without times, so that
 * it is byte for byte the same on every runtime. */
Str context_receipts_json(Arena *a, const ContextBuilt *built);
/* {"tokens":…,"user":…,"summary":…,"recalled":…,"brain":…,"truncated"?}: `context` of the
 * metadata. */
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
    bool narration;          /* text before a tool call, not a result */
    double score;
    Str why;
} Recalled;

/* Best first; none if nothing matches the request. */
MUST_CHECK bool context_recall(Arena *a, const ContextQuery *query, size_t max, Recalled **ret,
                               size_t *ret_n, Err *err);

#endif

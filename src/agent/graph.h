/* graph.h - a request as a small graph of steps, and whether parallel work pays.
 *
 * Deterministic and bounded: at most 12 steps, 24 edges, 4 steps one after the other, 4 at once.
 * What did not fit is counted: steps beyond the twelfth are dropped, the end of a chain that is too
 * long is folded into one step, the least certain edges are dropped first.
 *
 * Steps are list items, or else the parts between words of order ("then", 然后) and of simultaneity
 * ("meanwhile", 同时). Edges: stated order; "it", "the result" (结果); two steps that use the same
 * file, address, package or table, if one writes it; code before its test before its deployment.
 * Items of an unnumbered list have no order: permuting them does not change the decision. Never
 * fails. Pure, thread-safe; everything lives in the arena. */
#ifndef TALARIA_AGENT_GRAPH_H
#define TALARIA_AGENT_GRAPH_H

#include "base/arena.h"
#include "text/json.h"

enum {
    GRAPH_NODES = 12,
    GRAPH_EDGES = 24,
    GRAPH_DEPTH = 4,
    GRAPH_WIDTH = 4,
    GRAPH_RESOURCES = 8, /* of one step */
    GRAPH_REASONS = 6,
    GRAPH_PAIRS = GRAPH_NODES * (GRAPH_NODES - 1)
};

/* X(id, "name", seconds that such a step takes where nothing better is known) */
#define TASK_KINDS(X)                                                                              \
    X(STEP_RESEARCH, "research", 60)                                                               \
    X(STEP_READ, "read", 15)                                                                       \
    X(STEP_CODE, "code", 120)                                                                      \
    X(STEP_TEST, "test", 45)                                                                       \
    X(STEP_WRITE, "write", 60)                                                                     \
    X(STEP_DEPLOY, "deploy", 60)                                                                   \
    X(STEP_ASK, "ask", 10)                                                                         \
    X(STEP_OTHER, "other", 30)

typedef enum TaskKind {
#define X(id, name, seconds) id,
    TASK_KINDS(X)
#undef X
        TASK_KIND_COUNT
} TaskKind;

const char *task_kind_name(TaskKind kind);

/* X(id, "name", how certain: the least certain are dropped first) */
#define EDGE_WHYS(X)                                                                               \
    X(EDGE_ORDER, "order", 5)                                                                      \
    X(EDGE_CONFLICT, "conflict", 4) /* both write one thing */                                     \
    X(EDGE_DATA, "data", 4)         /* one reads what the other writes */                          \
    X(EDGE_REFERENCE, "reference", 3)                                                              \
    X(EDGE_KIND, "kind", 2) /* code, test, deploy */

typedef enum EdgeWhy {
#define X(id, name, certainty) id,
    EDGE_WHYS(X)
#undef X
} EdgeWhy;

const char *edge_why_name(EdgeWhy why);

typedef struct TaskNode {
    Str text;
    TaskKind kind;
    Str resources[GRAPH_RESOURCES];
    size_t n_resources;
    bool writes;     /* its resources: read and written; else read only */
    bool refers;     /* "it", "the result" */
    double cost;     /* seconds */
    size_t wave;     /* from 0 */
    size_t position; /* in the request, from 1 */
} TaskNode;

typedef struct TaskEdge {
    size_t from, to; /* nodes */
    EdgeWhy why;
} TaskEdge;

typedef struct GraphOptions {
    bool parallel;       /* the runtime can do things at once */
    size_t max_parallel; /* how many; 0: not known */
    double overhead;     /* seconds for each further branch; 0: 8 */
    const double
        *seconds; /* by kind, medians of the user's own history; 0 in it: not known; or NULL */
} GraphOptions;

typedef struct TaskGraph {
    TaskNode *nodes;
    size_t n;
    TaskEdge edges[GRAPH_EDGES];
    size_t n_edges;
    TaskEdge dropped_edges[GRAPH_PAIRS];
    size_t n_dropped_edges;
    size_t dropped_nodes, folded_nodes; /* beyond the bounds */
    bool truncated; /* any of the above, or a request too long to be read whole */
    size_t waves, width, depth;
    double work, critical, speedup, independence, score; /* W, CP, S, I */
    bool is_parallel;
    Str reasons[GRAPH_REASONS];
    size_t n_reasons;
} TaskGraph;

/* Steps, edges and waves do not depend on the runtime; the decision does. */
TaskGraph *graph_build(Arena *a, Str request, const GraphOptions *options);

/* {nodes,edges,waves,W,CP,S,I,decision,score,reasons,truncated,dropped_edges,...} */
void graph_put(JsonWriter *w, const TaskGraph *g);

#endif

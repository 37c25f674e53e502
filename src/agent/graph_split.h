/* graph_split.h - a request as steps with their order; inside of graph only. */
#ifndef TALARIA_AGENT_GRAPH_SPLIT_H
#define TALARIA_AGENT_GRAPH_SPLIT_H

#include "agent/graph.h"

typedef struct Split {
    TaskNode nodes[GRAPH_NODES];
    size_t groups[GRAPH_NODES]; /* a step comes after all steps of the group before */
    size_t n, dropped;
    bool unordered; /* items of a list without an order */
    bool cut;       /* the request was too long to be read whole */
} Split;

/* A list as it was typed: its items, and what stands before and after them. */
typedef struct List {
    Str items[GRAPH_NODES];
    size_t n, dropped, numbers;
    Str before, after;
} List;

void list_read(Arena *a, Str text, List *ret);
bool list_is_ordered(const List *l);

void graph_split(Arena *a, Str request, Split *ret);

#endif

/* The graph as JSON: of the attachment, of the page's picture. Numbers of steps count from 1. */
#include "agent/graph.h"

static void put_node(JsonWriter *w, const TaskNode *n, size_t number)
{
    json_begin(w, '{');
    json_field_int(w, "id", (int64_t)number);
    json_field_str(w, "text", n->text);
    json_field_str(w, "kind", str_of(task_kind_name(n->kind)));
    json_field_double(w, "cost", n->cost);
    json_field_int(w, "wave", (int64_t)n->wave + 1);
    json_key(w, n->writes ? "writes" : "reads");
    json_begin(w, '[');
    for (size_t i = 0; i < n->n_resources; i++)
        json_put_str(w, n->resources[i]);
    json_end(w, ']');
    json_end(w, '}');
}

static void put_edges(JsonWriter *w, const char *key, const TaskEdge *edges, size_t n)
{
    json_key(w, key);
    json_begin(w, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(w, '{');
        json_field_int(w, "from", (int64_t)edges[i].from + 1);
        json_field_int(w, "to", (int64_t)edges[i].to + 1);
        json_field_str(w, "why", str_of(edge_why_name(edges[i].why)));
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void put_waves(JsonWriter *w, const TaskGraph *g)
{
    json_key(w, "waves");
    json_begin(w, '[');
    for (size_t wave = 0; wave < g->waves; wave++) {
        json_begin(w, '[');
        for (size_t i = 0; i < g->n; i++)
            if (g->nodes[i].wave == wave)
                json_put_int(w, (int64_t)i + 1);
        json_end(w, ']');
    }
    json_end(w, ']');
}

static void put_figures(JsonWriter *w, const TaskGraph *g)
{
    json_field_double(w, "W", g->work);
    json_field_double(w, "CP", g->critical);
    json_field_double(w, "S", g->speedup);
    json_field_double(w, "I", g->independence);
    json_field_str(w, "decision", g->is_parallel ? STR("parallel") : STR("serial"));
    json_field_double(w, "score", g->score);
    json_key(w, "reasons");
    json_begin(w, '[');
    for (size_t i = 0; i < g->n_reasons; i++)
        json_put_str(w, g->reasons[i]);
    json_end(w, ']');
    json_field_bool(w, "truncated", g->truncated);
    json_field_int(w, "dropped_nodes", (int64_t)g->dropped_nodes);
    json_field_int(w, "folded_nodes", (int64_t)g->folded_nodes);
}

void graph_put(JsonWriter *w, const TaskGraph *g)
{
    json_begin(w, '{');
    json_key(w, "nodes");
    json_begin(w, '[');
    for (size_t i = 0; i < g->n; i++)
        put_node(w, &g->nodes[i], i + 1);
    json_end(w, ']');
    put_edges(w, "edges", g->edges, g->n_edges);
    put_waves(w, g);
    put_figures(w, g);
    put_edges(w, "dropped_edges", g->dropped_edges, g->n_dropped_edges);
    json_end(w, '}');
}

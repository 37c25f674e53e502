/* From steps to a decision. Everything that has to break a tie goes through `order`: the place in
 * the request where that means something, else kind and text, so that a list without an order gives
 * one and the same graph however it was typed. With twelve steps at most, sets of them are bits of
 * one number. */
#include "agent/graph.h"

#include <stdlib.h>

#include "agent/graph_split.h"
#include "text/letters.h"

enum { MERGED_CHARS = 400, OVERHEAD = 8, MIN_WORK = 60 };

static const double MIN_SPEEDUP = 1.5;

static const struct {
    const char *name;
    double seconds;
} kinds[] = {
#define X(id, name_, seconds_) [id] = { name_, seconds_ },
    TASK_KINDS(X)
#undef X
};

static const struct {
    const char *name;
    int certainty;
} whys[] = {
#define X(id, name_, certainty_) [id] = { name_, certainty_ },
    EDGE_WHYS(X)
#undef X
};

const char *task_kind_name(TaskKind kind)
{
    return kinds[kind].name;
}

const char *edge_why_name(EdgeWhy why)
{
    return whys[why].name;
}

typedef struct Work {
    Arena *arena;
    TaskGraph *g;
    const Split *split;
    size_t order[GRAPH_NODES];     /* rank -> node */
    size_t rank[GRAPH_NODES];      /* node -> rank */
    uint16_t follows[GRAPH_NODES]; /* node -> those right behind it */
    size_t level[GRAPH_NODES];     /* steps on the longest way to it */
} Work;

/* -- Order -- */

static void set_order(Work *w)
{
    size_t n = w->g->n;

    for (size_t i = 0; i < n; i++) {
        size_t at = i;

        for (; at > 0 && w->split->unordered; at--) {
            const TaskNode *x = &w->g->nodes[i], *y = &w->g->nodes[w->order[at - 1]];

            if (y->kind < x->kind || (y->kind == x->kind && str_cmp(y->text, x->text) <= 0))
                break;
            w->order[at] = w->order[at - 1];
        }
        w->order[at] = i;
    }
    for (size_t i = 0; i < n; i++)
        w->rank[w->order[i]] = i;
}

/* -- Edges -- */

static uint16_t reachable(const Work *w, size_t from)
{
    uint16_t seen = 0, todo = w->follows[from];

    while (todo) {
        size_t i = (size_t)__builtin_ctz(todo);

        seen |= (uint16_t)(1u << i);
        todo = (uint16_t)((todo | w->follows[i]) & ~seen);
    }
    return seen;
}

/* An edge that others already make up for is none. */
static void add_edge(Work *w, TaskEdge e)
{
    TaskGraph *g = w->g;

    if (reachable(w, e.from) >> e.to & 1)
        return;
    if ((reachable(w, e.to) >> e.from & 1) || g->n_edges == GRAPH_EDGES) {
        if (g->n_dropped_edges < GRAPH_PAIRS)
            g->dropped_edges[g->n_dropped_edges++] = e;
        return;
    }
    w->follows[e.from] |= (uint16_t)(1u << e.to);
    g->edges[g->n_edges++] = e;
}

static bool share_resource(const TaskNode *x, const TaskNode *y)
{
    for (size_t i = 0; i < x->n_resources; i++)
        for (size_t j = 0; j < y->n_resources; j++)
            if (str_eq(x->resources[i], y->resources[j]))
                return true;
    return false;
}

static int chain_place(TaskKind kind)
{
    return kind == STEP_CODE ? 1 : kind == STEP_TEST ? 2 : kind == STEP_DEPLOY ? 3 : 0;
}

/* Whether y goes before x, where the request says nothing: code, test, deploy; writing before
 * reading. */
static bool is_reversed(const TaskNode *x, const TaskNode *y)
{
    int a = chain_place(x->kind), b = chain_place(y->kind);

    if (a && b && a != b)
        return b < a;
    return !x->writes && y->writes;
}

static bool is_right_before(const Split *s, size_t i, size_t j)
{
    if (s->unordered || s->groups[i] >= s->groups[j])
        return false;
    for (size_t k = 0; k < s->n; k++)
        if (s->groups[k] > s->groups[i] && s->groups[k] < s->groups[j])
            return false;
    return true;
}

static bool has_test(const TaskGraph *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i].kind == STEP_TEST)
            return true;
    return false;
}

/* The edge of that kind between two steps, the first of which has the lower rank; false: none. */
static bool edge_between(const Work *w, EdgeWhy why, size_t i, size_t j, TaskEdge *ret)
{
    const TaskNode *x = &w->g->nodes[i], *y = &w->g->nodes[j];
    bool shared, back = w->split->unordered && is_reversed(x, y);

    *ret = (TaskEdge){ back ? j : i, back ? i : j, why };
    switch (why) {
    case EDGE_ORDER:
        return is_right_before(w->split, i, j);
    case EDGE_CONFLICT:
    case EDGE_DATA:
        shared = (x->writes || y->writes) && share_resource(x, y);
        return shared && (why == EDGE_CONFLICT) == (x->writes && y->writes);
    case EDGE_REFERENCE:
        return !w->split->unordered && y->refers && j == i + 1;
    case EDGE_KIND:
        break;
    }
    if (!chain_place(x->kind) || !chain_place(y->kind) || x->kind == y->kind)
        return false;
    if (x->kind != STEP_TEST && y->kind != STEP_TEST && has_test(w->g))
        return false; /* the way from code to its deployment goes through the test */
    if (chain_place(x->kind) > chain_place(y->kind))
        *ret = (TaskEdge){ j, i, why };
    return true;
}

/* The most certain first, so that those that close a circle are the least certain ones. */
static void find_edges(Work *w)
{
    for (int certainty = 5; certainty > 0; certainty--)
        for (size_t why = 0; why < ARRAY_LEN(whys); why++) {
            if (whys[why].certainty != certainty)
                continue;
            for (size_t i = 0; i < w->g->n; i++)
                for (size_t j = i + 1; j < w->g->n; j++) {
                    TaskEdge e;

                    if (edge_between(w, (EdgeWhy)why, w->order[i], w->order[j], &e))
                        add_edge(w, e);
                }
        }
}

/* -- Depth -- */

static void find_levels(Work *w)
{
    TaskGraph *g = w->g;

    memset(w->level, 0, sizeof w->level);
    for (size_t round = 0; round < g->n; round++)
        for (size_t i = 0; i < g->n_edges; i++) {
            TaskEdge e = g->edges[i];

            if (w->level[e.to] < w->level[e.from] + 1)
                w->level[e.to] = w->level[e.from] + 1;
        }
    g->depth = 0;
    for (size_t i = 0; i < g->n; i++)
        g->depth = w->level[i] + 1 > g->depth ? w->level[i] + 1 : g->depth;
}

static void merge_text(Work *w, TaskNode *to, const TaskNode *from)
{
    Str text = str_printf(w->arena, "%.*s; then %.*s", STR_FMT(to->text), STR_FMT(from->text));

    to->text = text_clip(w->arena, text, MERGED_CHARS);
    to->cost += from->cost;
    to->writes |= from->writes;
    for (size_t i = 0; i < from->n_resources && to->n_resources < GRAPH_RESOURCES; i++)
        to->resources[to->n_resources++] = from->resources[i];
}

/* Edges of step `gone` become those of `to`; numbers behind it move down by one. */
static size_t renumber(TaskEdge *edges, size_t n, size_t gone, size_t to)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        TaskEdge e = edges[i];
        bool again = false;

        e.from = e.from == gone ? to : e.from;
        e.to = e.to == gone ? to : e.to;
        e.from -= e.from > gone;
        e.to -= e.to > gone;
        for (size_t j = 0; j < kept; j++)
            again |= edges[j].from == e.from && edges[j].to == e.to;
        if (e.from != e.to && !again)
            edges[kept++] = e;
    }
    return kept;
}

static void fold_step(Work *w, size_t gone, size_t to)
{
    TaskGraph *g = w->g;
    size_t rank = w->rank[gone];

    merge_text(w, &g->nodes[to], &g->nodes[gone]);
    memmove(&g->nodes[gone], &g->nodes[gone + 1], (g->n - gone - 1) * sizeof *g->nodes);
    memmove(&w->order[rank], &w->order[rank + 1], (g->n - rank - 1) * sizeof *w->order);
    g->n--;
    g->n_edges = renumber(g->edges, g->n_edges, gone, to);
    g->n_dropped_edges = renumber(g->dropped_edges, g->n_dropped_edges, gone, to);
    for (size_t i = 0; i < g->n; i++) {
        w->order[i] -= w->order[i] > gone;
        w->rank[w->order[i]] = i;
    }
    g->folded_nodes++;
}

/* A step right beyond the most that may follow each other goes into one before it. There is no
 * third between the two, since it would be on the same level as the first or the last: so no
 * circle. */
static bool fold_one(Work *w)
{
    TaskGraph *g = w->g;

    for (size_t r = 0; r < g->n; r++) {
        size_t gone = w->order[r], to = g->n;

        if (w->level[gone] != GRAPH_DEPTH)
            continue;
        for (size_t i = 0; i < g->n_edges; i++)
            if (g->edges[i].to == gone && w->level[g->edges[i].from] == GRAPH_DEPTH - 1 &&
                (to == g->n || w->rank[g->edges[i].from] < w->rank[to]))
                to = g->edges[i].from;
        if (to == g->n)
            continue;
        fold_step(w, gone, to);
        return true;
    }
    return false;
}

/* -- Waves -- */

static bool is_ready(const TaskGraph *g, size_t node, const bool *done)
{
    for (size_t i = 0; i < g->n_edges; i++)
        if (g->edges[i].to == node && !done[g->edges[i].from])
            return false;
    return true;
}

static void find_waves(Work *w)
{
    bool done[GRAPH_NODES] = { false }, placed[GRAPH_NODES] = { false };
    TaskGraph *g = w->g;
    size_t left = g->n;

    while (left) {
        size_t width = 0;

        for (size_t r = 0; r < g->n && width < GRAPH_WIDTH; r++) {
            size_t node = w->order[r];

            if (placed[node] || !is_ready(g, node, done))
                continue;
            g->nodes[node].wave = g->waves;
            placed[node] = true;
            width++;
        }
        ASSERT(width > 0);
        memcpy(done, placed, sizeof done);
        left -= width;
        g->waves++;
        g->width = width > g->width ? width : g->width;
    }
}

/* -- The decision -- */

static void find_costs(TaskGraph *g, const GraphOptions *o)
{
    for (size_t i = 0; i < g->n; i++) {
        TaskKind kind = g->nodes[i].kind;

        g->nodes[i].cost =
            o->seconds && o->seconds[kind] > 0 ? o->seconds[kind] : kinds[kind].seconds;
    }
}

static double longest_path(const TaskGraph *g)
{
    double until[GRAPH_NODES], longest = 0;

    for (size_t i = 0; i < g->n; i++)
        until[i] = g->nodes[i].cost;
    for (size_t round = 0; round < g->n; round++)
        for (size_t i = 0; i < g->n_edges; i++) {
            TaskEdge e = g->edges[i];

            if (until[e.to] < until[e.from] + g->nodes[e.to].cost)
                until[e.to] = until[e.from] + g->nodes[e.to].cost;
        }
    for (size_t i = 0; i < g->n; i++)
        longest = until[i] > longest ? until[i] : longest;
    return longest;
}

static bool was_dropped(const TaskGraph *g, size_t x, size_t y)
{
    for (size_t i = 0; i < g->n_dropped_edges; i++) {
        TaskEdge e = g->dropped_edges[i];

        if ((e.from == x && e.to == y) || (e.from == y && e.to == x))
            return true;
    }
    return false;
}

/* Of the widest wave, or the worst of the widest: pairs that do not get into each other's way. */
static double independence(const TaskGraph *g)
{
    double worst = 1;

    for (size_t wave = 0; wave < g->waves; wave++) {
        size_t pairs = 0, bad = 0, width = 0;

        for (size_t i = 0; i < g->n; i++) {
            if (g->nodes[i].wave != wave)
                continue;
            width++;
            for (size_t j = i + 1; j < g->n; j++) {
                if (g->nodes[j].wave != wave)
                    continue;
                pairs++;
                bad += was_dropped(g, i, j) || ((g->nodes[i].writes || g->nodes[j].writes) &&
                                                share_resource(&g->nodes[i], &g->nodes[j]));
            }
        }
        if (width == g->width && pairs && 1 - (double)bad / (double)pairs < worst)
            worst = 1 - (double)bad / (double)pairs;
    }
    return worst;
}

static void add_reason(TaskGraph *g, Str reason)
{
    if (g->n_reasons < GRAPH_REASONS)
        g->reasons[g->n_reasons++] = reason;
}

static void say_why(Arena *a, TaskGraph *g, const GraphOptions *o, size_t branches)
{
    if (g->n == 1) {
        add_reason(g, STR("one step"));
        return;
    }
    if (g->width < 2)
        add_reason(g, STR("each step waits for the one before it"));
    if (!o->parallel)
        add_reason(g, STR("the runtime does one thing at a time"));
    if (g->work < MIN_WORK)
        add_reason(g, str_printf(a, "%.0f s of work are too little to share", g->work));
    if (g->independence < 1)
        add_reason(g, STR("steps that could go at once get into each other's way"));
    if (g->speedup < MIN_SPEEDUP)
        add_reason(g, str_printf(a, "%.1f times as fast is not enough", g->speedup));
    if (g->is_parallel)
        add_reason(g, str_printf(a, "%zu at once: %.0f s instead of %.0f s", branches,
                                 g->work / g->speedup, g->work));
}

static void decide(Arena *a, TaskGraph *g, const GraphOptions *o)
{
    size_t p = o->max_parallel && o->max_parallel < g->width ? o->max_parallel : g->width;
    double overhead = o->overhead > 0 ? o->overhead : OVERHEAD, shared, alone;

    for (size_t i = 0; i < g->n; i++)
        g->work += g->nodes[i].cost;
    g->critical = longest_path(g);
    alone = g->critical + overhead * (double)(p - 1);
    shared = g->work / (double)p;
    g->speedup = g->work / (alone > shared ? alone : shared);
    g->independence = independence(g);
    if (p > 1) {
        g->score = (g->speedup - 1) / (double)(p - 1);
        g->score = (g->score < 0 ? 0 : g->score > 1 ? 1 : g->score) * g->independence;
    }
    g->is_parallel = o->parallel && p >= 2 && g->speedup >= MIN_SPEEDUP && g->work >= MIN_WORK &&
                     g->independence >= 1;
    say_why(a, g, o, p);
}

TaskGraph *graph_build(Arena *a, Str request, const GraphOptions *options)
{
    TaskGraph *g = ARENA_NEW(a, TaskGraph);
    Split *split = ARENA_NEW(a, Split);
    Work w = { .arena = a, .g = g, .split = split };

    graph_split(a, request, split);
    g->nodes = split->nodes;
    g->n = split->n;
    g->dropped_nodes = split->dropped;
    set_order(&w);
    find_costs(g, options);
    find_edges(&w);
    find_levels(&w);
    while (w.g->depth > GRAPH_DEPTH && fold_one(&w))
        find_levels(&w);
    find_waves(&w);
    g->truncated = split->cut || g->dropped_nodes || g->folded_nodes || g->n_dropped_edges;
    decide(a, g, options);
    return g;
}

/* -- As JSON -- */

/* The graph as JSON: of the attachment, of the page's picture. Numbers of steps count from 1. */

static void put_node(JsonWriter *w, const TaskNode *n, size_t number)
{
    json_begin(w, '{');
    json_field_int(w, "id", (int64_t)number);
    json_field_str(w, "text", n->text);
    json_field_str(w, "kind", str_of(task_kind_name(n->kind)));
    json_field_double(w, "cost", n->cost);
    json_field_int(w, "wave", (int64_t)n->wave + 1);
    json_field_begin(w, n->writes ? "writes" : "reads", '[');
    for (size_t i = 0; i < n->n_resources; i++)
        json_put_str(w, n->resources[i]);
    json_end(w, ']');
    json_end(w, '}');
}

static void put_edges(JsonWriter *w, const char *key, const TaskEdge *edges, size_t n)
{
    json_field_begin(w, key, '[');
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
    json_field_begin(w, "waves", '[');
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
    json_field_begin(w, "reasons", '[');
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
    json_field_begin(w, "nodes", '[');
    for (size_t i = 0; i < g->n; i++)
        put_node(w, &g->nodes[i], i + 1);
    json_end(w, ']');
    put_edges(w, "edges", g->edges, g->n_edges);
    put_waves(w, g);
    put_figures(w, g);
    put_edges(w, "dropped_edges", g->dropped_edges, g->n_dropped_edges);
    json_end(w, '}');
}

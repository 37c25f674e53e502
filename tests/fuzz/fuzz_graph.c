/* Whatever is asked for, the graph has no circle and keeps its bounds; notes are cut without loss
 * of a character's bytes, and no quotation writes a line of its own. */
#include <stdlib.h>

#include "agent/brain.h"
#include "agent/graph.h"
#include "agent/render.h"
#include "agent/summary_extract.h"
#include "base/limits.h"
#include "text/tokens.h"
#include "text/utf8.h"

static void check_graph(Arena *a, Str text)
{
    GraphOptions options = { .parallel = true };
    TaskGraph *g = graph_build(a, text, &options);

    if (g->n < 1 || g->n > GRAPH_NODES || g->n_edges > GRAPH_EDGES || g->depth > GRAPH_DEPTH ||
        g->width > GRAPH_WIDTH || g->speedup > (double)g->width + 1e-9)
        abort();
    for (size_t i = 0; i < g->n_edges; i++)
        if (g->nodes[g->edges[i].from].wave >= g->nodes[g->edges[i].to].wave)
            abort();
}

static void check_quote(Str text)
{
    AUTO_BUF out = BUF(MIB(4));
    Str rest, line;

    render_quote(&out, text, 4000);
    rest = buf_str(&out);
    while (str_split(&rest, '\n', &line))
        if (line.n && !str_starts(line, STR("> ")))
            abort();
    if (str_find_nocase(buf_str(&out), STR("<talaria:")) < out.n ||
        str_find_nocase(buf_str(&out), STR("</talaria:")) < out.n)
        abort();
}

static void check_chunks(Arena *a, Str text)
{
    Chunk *chunks;
    size_t n;

    chunks_cut(a, text, 100, &chunks, &n);
    for (size_t i = 0; i < n; i++)
        if (!chunks[i].text.n || utf8_count(chunks[i].text) > 100)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };
    TalkTurn turn = { .text = text };

    check_graph(a, text);
    check_quote(text);
    check_chunks(a, text);
    if (tokens_estimate(talk_summary(a, STR(""), &turn, 1, 200)) > 200)
        abort();
    return 0;
}

/* agent/graph: which steps, which edges, and whether doing them at once pays. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "agent/graph.h"
#include "base/buf.h"
#include "base/limits.h"

static const GraphOptions able = { .parallel = true };

typedef struct Case {
    const char *request;
    size_t nodes, edges, waves;
    bool is_parallel;
} Case;

static void test_requests(void **state)
{
    static const Case cases[] = {
        { "Fix the bug in src/a.c", 1, 0, 1, false },
        { "", 1, 0, 1, false },
        { "- research the market\n- research the law\n- research the price\n", 3, 0, 1, true },
        { "1. read a.md\n2. write b.md\n3. test c.c\n", 3, 2, 3, false },
        { "Do these in parallel:\n1. research trains\n2. research planes\n3. research ships\n", 3,
          0, 1, true },
        { "Implement the parser in src/p.c, then test it, then deploy it", 3, 2, 3, false },
        { "research the trains; meanwhile research the planes", 2, 0, 1, true },
        { "- fix src/a.c\n- refactor src/a.c\n", 2, 1, 2, false },
        { "- fix src/a.c\n- implement src/b.c\n- test everything\n- deploy to staging\n", 4, 3, 3,
          false },
        { "调研火车的价格；同时调研飞机的价格", 2, 0, 1, true },
        { "先阅读 a.md，然后修复 src/b.c，最后部署", 3, 2, 3, false },
        { "If the build fails then stop and read the log", 1, 0, 1, false },
        { "The build is broken since monday. Fix src/a.c; also", 1, 0, 1, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(Arena) *a = arena_new();
        TaskGraph *g = graph_build(a, str_of(cases[i].request), &able);

        if (g->n != cases[i].nodes || g->n_edges != cases[i].edges || g->waves != cases[i].waves ||
            g->is_parallel != cases[i].is_parallel)
            fail_msg("\"%s\": %zu steps, %zu edges, %zu waves, %s (S %.2f, W %.0f)",
                     cases[i].request, g->n, g->n_edges, g->waves,
                     g->is_parallel ? "parallel" : "serial", g->speedup, g->work);
    }
}

/* Steps as they are told to a runtime, "|" between them; those that may go at once have "+"
 * instead. */
static Str steps_of(Arena *a, const TaskGraph *g)
{
    AUTO_BUF out = BUF(KIB(64));

    for (size_t i = 0; i < g->n; i++)
        buf_addf(&out, "%s%.*s",
                 !i                                         ? ""
                 : g->nodes[i].wave == g->nodes[i - 1].wave ? "+"
                                                            : "|",
                 STR_FMT(g->nodes[i].text));
    return str_dup(a, buf_str(&out));
}

/* Whatever its verb, and wherever it stands. */
static void test_no_step_is_lost(void **state)
{
    static const char *const cases[][2] = {
        { "audit the checkout page for accessibility, then write the backup report, and then "
          "compare both",
          "audit the checkout page for accessibility|write the backup report|compare both" },
        { "measure the boot time, then write it down", "measure the boot time|write it down" },
        { "clean up the attic, then sort the boxes", "clean up the attic|sort the boxes" },
        { "order new filters, then update the list", "order new filters|update the list" },
        { "paint the fence, then mow the lawn", "paint the fence|mow the lawn" },
        { "onboard the new colleague, then archive the old account",
          "onboard the new colleague|archive the old account" },
        { "profile the importer; meanwhile triage the inbox",
          "profile the importer+triage the inbox" },
        { "审计结账页面，然后写报告", "审计结账页面|写报告" },
        { "盘点仓库，然后更新表格", "盘点仓库|更新表格" },
        { "打扫房间；同时浇花", "打扫房间+浇花" },
        { "Fix the login test. Water the plants. Update the docs.",
          "Fix the login test+Water the plants+Update the docs" },
        { "Water the plants", "Water the plants" },
        { "In parallel: summarise a.md, summarise b.md, and summarise c.md; then merge",
          "summarise a.md+summarise b.md+summarise c.md|merge" },
        { "Do these in parallel: weigh the apples, weigh the pears; then juice them all",
          "weigh the apples+weigh the pears|juice them all" },
        { "同时：总结甲，总结乙；然后合并", "总结甲+总结乙|合并" },
        { "1. x 2. y", "x|y" },
        { "1. paint it 2. dry it 3. sell it", "paint it|dry it|sell it" },
        { "Please: 1) weigh 2) pack", "weigh|pack" },
        { "Version 1. It is old.", "Version 1. It is old" },
        /* what stands around a list */
        { "Audit the page first.\n\nThe following:\n- weigh the apples\n- weigh the pears\n\nThen "
          "juice them.",
          "Audit the page first|weigh the apples+weigh the pears|juice them" },
        { "- weigh the apples\n- weigh the pears\nFinally clean the scales",
          "weigh the apples+weigh the pears|clean the scales" },
        /* what is told and not asked for goes along */
        { "The build is broken since monday. Fix src/a.c",
          "The build is broken since monday. Fix src/a.c" },
        { "Fix src/a.c. It is urgent.", "Fix src/a.c. It is urgent" },
        { "Users are angry. Call them.", "Users are angry. Call them" },
        { "We need to audit the page. Then paint the fence.",
          "We need to audit the page|paint the fence" },
        { "You cannot reach the shed. Then paint the fence.",
          "You cannot reach the shed|paint the fence" },
        { "Why is the login slow? Paint the fence.", "Why is the login slow?+Paint the fence" },
        { "我们的网站很慢。优化首页。", "我们的网站很慢. 优化首页" },
        /* one sentence over two lines; an abbreviation; pasted material */
        { "Paint the fence, which has been\nwaiting since May. Mow the lawn.",
          "Paint the fence, which has been waiting since May+Mow the lawn" },
        { "Use strong paint, e.g. the red one. Mow the lawn.",
          "Use strong paint, e.g. the red one+Mow the lawn" },
        { "Explain this error:\nTraceback (most recent call last):\n  File \"x.py\"\nKeyError: "
          "y\n\nMow the lawn",
          "Explain this error+Mow the lawn" },
        { "Explain this.\n```\nfoo. bar. baz.\n```\nMow the lawn.", "Explain this+Mow the lawn" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(Arena) *a = arena_new();
        TaskGraph *g = graph_build(a, str_of(cases[i][0]), &able);
        Str steps = steps_of(a, g);

        assert_str(steps, str_of(cases[i][1]));
        assert_false(g->truncated);
    }
}

static void test_kinds_and_resources(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskGraph *g = graph_build(a,
                               STR("- read docs/plan.md and https://example.org/x\n"
                                   "- 修复 src/main.c\n- ask the owner\n"),
                               &able);

    (void)state;
    assert_int_equal(g->n, 3);
    assert_int_equal(g->nodes[0].kind, STEP_READ);
    assert_int_equal(g->nodes[0].n_resources, 2);
    assert_str(g->nodes[0].resources[0], STR("docs/plan.md"));
    assert_str(g->nodes[0].resources[1], STR("https://example.org/x"));
    assert_int_equal(g->nodes[1].kind, STEP_CODE);
    assert_true(g->nodes[1].writes);
    assert_int_equal(g->nodes[2].kind, STEP_ASK);
}

static void test_runtime_that_does_one_thing(void **state)
{
    static const char text[] = "- research a\n- research b\n- research c\n";
    AUTO(Arena) *a = arena_new();
    GraphOptions two = { .parallel = true, .max_parallel = 2 }, none = { 0 };

    (void)state;
    assert_false(graph_build(a, str_of(text), &none)->is_parallel);
    assert_true(graph_build(a, str_of(text), &two)->speedup <= 2);
    assert_true(graph_build(a, str_of(text), &able)->speedup > 2);
}

static void test_costs_of_the_users_history(void **state)
{
    double seconds[TASK_KIND_COUNT] = { [STEP_RESEARCH] = 5 };
    GraphOptions quick = { .parallel = true, .seconds = seconds };
    AUTO(Arena) *a = arena_new();
    TaskGraph *g = graph_build(a, STR("- research a\n- research b\n"), &quick);

    (void)state;
    assert_true(g->work > 9.9 && g->work < 10.1);
    assert_false(g->is_parallel);
}

static void test_what_is_cut_is_reported(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF many = BUF(KIB(64));
    TaskGraph *g;

    (void)state;
    for (int i = 0; i < 20; i++)
        buf_addf(&many, "- research topic %d\n", i);
    g = graph_build(a, buf_str(&many), &able);
    assert_int_equal(g->n, GRAPH_NODES);
    assert_int_equal(g->dropped_nodes, 8);
    assert_true(g->truncated);
    buf_clear(&many);
    for (int i = 1; i <= 8; i++)
        buf_addf(&many, "%d. read chapter%d.md\n", i, i);
    g = graph_build(a, buf_str(&many), &able);
    assert_int_equal(g->depth, GRAPH_DEPTH);
    assert_int_equal(g->n + g->folded_nodes, 8);
    assert_true(g->truncated && g->work > 119 && g->work < 121); /* nothing of the work is lost */
    g = graph_build(a, STR("deploy src/a.c then test src/a.c"), &able);
    assert_int_equal(g->n_dropped_edges, 1); /* test before deploy, against what was said */
    assert_int_equal(g->dropped_edges[0].why, EDGE_KIND);
}

/* -- any text -- */

static uint64_t seed = 88172645463325252u;

static size_t draw(size_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % below);
}

static const char *const pieces[] = { "research ",    "read ",
                                      "fix ",         "test ",
                                      "write ",       "deploy ",
                                      "ask ",         "src/a.c ",
                                      "src/b.c ",     "docs/x.md ",
                                      "`users` ",     "table orders ",
                                      "https://h/x ", "then ",
                                      "and also ",    "; ",
                                      ". ",           "\n- ",
                                      "\n1. ",        "\n",
                                      "it ",          "the result ",
                                      "然后",         "同时",
                                      "结果",         "再",
                                      "修复",         "测试",
                                      "部署 ",        "\n```\n",
                                      "\xff",         "finally ",
                                      "if ",          "package left-pad " };

static void check_bounds(const TaskGraph *g)
{
    size_t widths[GRAPH_NODES] = { 0 };

    assert_true(g->n >= 1 && g->n <= GRAPH_NODES && g->n_edges <= GRAPH_EDGES);
    assert_true(g->depth <= GRAPH_DEPTH && g->width <= GRAPH_WIDTH && g->waves <= GRAPH_NODES);
    for (size_t i = 0; i < g->n; i++)
        assert_true(++widths[g->nodes[i].wave] <= GRAPH_WIDTH);
    /* Waves grow along every edge: there is no circle. */
    for (size_t i = 0; i < g->n_edges; i++)
        assert_true(g->nodes[g->edges[i].from].wave < g->nodes[g->edges[i].to].wave);
    assert_true(g->speedup <= (double)g->width + 1e-9 && g->critical <= g->work + 1e-9);
    assert_true(g->score >= 0 && g->score <= 1 && g->independence >= 0 && g->independence <= 1);
    assert_true(g->n > 1 || !g->is_parallel);
    assert_true(!g->is_parallel || (g->speedup >= 1.5 && g->width >= 2));
    assert_true(g->truncated || !(g->n_dropped_edges + g->dropped_nodes + g->folded_nodes));
}

static void test_bounds_of_any_text(void **state)
{
    (void)state;
    for (int round = 0; round < 5000; round++) {
        AUTO(Arena) *a = arena_new();
        AUTO_BUF text = BUF(KIB(64));
        size_t n = draw(60);

        for (size_t i = 0; i < n; i++)
            buf_addz(&text, pieces[draw(ARRAY_LEN(pieces))]);
        check_bounds(graph_build(a, buf_str(&text), &able));
    }
}

/* Words that stand in no table, with any of the marks between them: every one is in some step. */
static void test_every_word_is_in_a_step(void **state)
{
    static const char *const marks[] = { " ",      ", ",          "; ",     ". ",       ", then ",
                                         " and ",  " meanwhile ", "\n",     "\n\n",     "? ",
                                         "\n- ",   ". Finally, ", ": ",     "! ",       " (",
                                         "，然后", "；同时",      ". The ", ". It is ", ". Then " };

    (void)state;
    for (int round = 0; round < 5000; round++) {
        AUTO(Arena) *a = arena_new();
        AUTO_BUF text = BUF(KIB(4));
        size_t n = 1 + draw(10);
        TaskGraph *g;
        Str steps;

        buf_addz(&text, draw(4) ? "" : "- ");
        for (size_t i = 0; i < n; i++)
            buf_addf(&text, "%szorb%zu", i ? marks[draw(ARRAY_LEN(marks))] : "", i);
        g = graph_build(a, buf_str(&text), &able);
        steps = steps_of(a, g);
        for (size_t i = 0; i < n && !g->dropped_nodes; i++) {
            Str word = str_printf(a, "zorb%zu", i);

            if (str_find(steps, word) == steps.n && str_find(buf_str(&text), STR(":")) == text.n)
                fail_msg("\"%.*s\" lost %.*s: %.*s", STR_FMT(buf_str(&text)), STR_FMT(word),
                         STR_FMT(steps));
        }
    }
}

/* Whatever the request is made of, it takes memory in proportion to it. */
static void test_memory_is_bounded(void **state)
{
    static const char *const of[] = { "a\n",     "- a\n",       "It is.\n",
                                      "It is. ", "1. a\n  b\n", "1. a 2. b ",
                                      "a; ",     "a, then ",    "in parallel: a, ",
                                      "a\n\n",   "\n",          "- a\n  b\n",
                                      "，然后",  "the a\n" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        AUTO(Arena) *a = arena_new();
        AUTO_BUF text = BUF(KIB(64));
        struct rusage before, after;

        getrusage(RUSAGE_SELF, &before);
        buf_addz(&text, "- x\n- y\n");
        while (text.n < LIMIT_REQUEST_READ)
            buf_addz(&text, of[i]);
        check_bounds(graph_build(a, buf_str(&text), &able));
        getrusage(RUSAGE_SELF, &after);
        assert_true(after.ru_maxrss - before.ru_maxrss <
                    16 * 1024); /* KiB; squared it were 64 MiB */
    }
}

static Str permuted(Arena *a, Str *items, size_t n)
{
    AUTO_BUF text = BUF(KIB(64));

    for (size_t i = n; i > 1; i--) {
        size_t j = draw(i);
        Str swap = items[i - 1];

        items[i - 1] = items[j];
        items[j] = swap;
    }
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "- %.*s\n", STR_FMT(items[i]));
    return str_dup(a, buf_str(&text));
}

static void test_order_of_a_list_does_not_matter(void **state)
{
    static const char *const verbs[] = {
        "research", "read", "fix", "test", "write", "deploy", "see"
    };
    static const char *const things[] = { "src/a.c", "src/b.c", "docs/x.md", "the price",
                                          "`users`" };

    (void)state;
    for (int round = 0; round < 3000; round++) {
        AUTO(Arena) *a = arena_new();
        Str items[GRAPH_NODES];
        size_t n = 2 + draw(GRAPH_NODES - 1);
        TaskGraph *x, *y;

        for (size_t i = 0; i < n; i++)
            items[i] = str_printf(a, "%s %s and %s", verbs[draw(ARRAY_LEN(verbs))],
                                  things[draw(ARRAY_LEN(things))], things[draw(ARRAY_LEN(things))]);
        x = graph_build(a, permuted(a, items, n), &able);
        y = graph_build(a, permuted(a, items, n), &able);
        if (x->is_parallel != y->is_parallel || x->critical != y->critical)
            fail_msg("a permutation decides otherwise: CP %f and %f", x->critical, y->critical);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_bounded), /* first: the maximum only grows */
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_no_step_is_lost),
        cmocka_unit_test(test_kinds_and_resources),
        cmocka_unit_test(test_runtime_that_does_one_thing),
        cmocka_unit_test(test_costs_of_the_users_history),
        cmocka_unit_test(test_what_is_cut_is_reported),
        cmocka_unit_test(test_bounds_of_any_text),
        cmocka_unit_test(test_every_word_is_in_a_step),
        cmocka_unit_test(test_order_of_a_list_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

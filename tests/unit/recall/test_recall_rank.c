/* recall/index and recall/search: documents in, the right ones out, in the right order. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../bench/recall_measure.h"
#include "recall/snippet.h"

typedef struct ChatAddress {
    char path[64];
    Db *db;
    RecallIndex *index;
    Recall *recall;
    int64_t line; /* of the next document */
} ChatAddress;

static int set_up(void **state)
{
    ChatAddress *p = mem_alloc(sizeof *p);
    Err err;
    int fd;

    snprintf(p->path, sizeof p->path, "/tmp/talaria-recall-XXXXXX");
    fd = mkstemp(p->path);
    assert_true(fd >= 0);
    close(fd);
    p->db = db_open_own(p->path, false, &err);
    assert_non_null(p->db);
    assert_true(measure_begin(p->db, &err));
    /* Filters ask the catalogue, too; here it knows nothing. */
    assert_true(db_script(p->db,
                          "CREATE TABLE IF NOT EXISTS entries(key INTEGER PRIMARY KEY, home TEXT, "
                          "entrypoint TEXT, model TEXT, archived INTEGER, started_at REAL)",
                          &err));
    p->index = recall_index_open(p->db, &err);
    p->recall = recall_open(p->db, &err);
    assert_true(p->index && p->recall);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    ChatAddress *p = *state;

    recall_close(p->recall);
    recall_index_close(p->index);
    db_close(p->db);
    unlink(p->path);
    mem_free(p);
    return 0;
}

static DocSession session(int64_t key)
{
    return (DocSession){ .key = key,
                         .source = key % 2 ? SOURCE_CLAUDE : SOURCE_CODEX,
                         .folder = key % 2 ? STR("/work/odd") : STR("/work/even"),
                         .last_at = 1.7e9 + (double)key };
}

static void add(ChatAddress *p, DocRole role, const char *tool, const char *text)
{
    Doc d = {
        .role = role, .tool = str_of(tool), .text = str_of(text), .at = 1.7e9, .place = p->line++
    };
    Err err;

    assert_true(recall_index_add(p->index, &d, &err));
}

/* A session of these texts by turns of user and assistant. */
static void add_session(ChatAddress *p, int64_t key, const char *const *texts, size_t n)
{
    DocSession s = session(key);
    Err err;

    assert_true(recall_index_begin(p->index, &s, false, &err));
    for (size_t i = 0; i < n; i++)
        add(p, i % 2 ? DOC_ASSISTANT : DOC_USER, NULL, texts[i]);
    assert_true(recall_index_end(p->index, &s, &err));
    assert_true(recall_index_flush(p->index, &err));
}

#define ADD(p, key, ...)                                                                           \
    add_session((p), (key), (const char *const[]){ __VA_ARGS__ },                                  \
                sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* Places of the hits, best first: "3 1". */
static Str found(ChatAddress *p, Arena *a, const char *query)
{
    SearchQuery q = { .filter = SEARCH_FILTER_NONE };
    AUTO_BUF b = BUF(4096);
    Ranking r;
    Err err;

    search_query_parse(a, str_of(query), &q);
    if (!recall_rank(p->recall, a, &q, 10, &r, &err))
        fail_msg("%s: %s", query, err.text);
    for (size_t i = 0; i < r.n; i++)
        buf_addf(&b, "%s%lld", i ? " " : "", (long long)r.hits[i].place);
    return str_dup(a, buf_str(&b));
}

static void test_words(void **state)
{
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();

    ADD(p, 1, "to parse empty input fails here", "fixed: parsing returns early", "thanks");
    ADD(p, 2, "deploy the server",
        "\xe6\x88\x91\xe4\xbb\xac\xe7\x94\xa8\xe6\x95\xb0\xe6\x8d\xae\xe5\xba\x93");
    assert_str(found(p, a, "parsing"), STR("1 0"));
    assert_str(found(p, a, "\"empty input\""), STR("0"));
    assert_str(found(p, a, "\"input empty\""), STR(""));
    assert_str(found(p, a, "parse -empty"), STR("1"));
    assert_str(found(p, a, "deplo*"), STR("3"));
    assert_str(found(p, a, "\xe6\x95\xb0\xe6\x8d\xae"), STR("4"));
    assert_str(found(p, a, "\xe5\xba\x93"), STR("4"));
    assert_str(found(p, a, "parse input"), STR("0"));
    assert_str(found(p, a, "parsed source:codex"), STR(""));
    assert_str(found(p, a, "parse source:claude role:assistant"), STR("1"));
    assert_str(found(p, a, "server project:even"), STR("3"));
    assert_str(found(p, a, "server project:odd"), STR(""));
    assert_str(found(p, a, "nowhere"), STR(""));
}

static void test_neighbours_answer_questions(void **state)
{
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();
    Str hits;

    ADD(p, 1, "hello", "hi");
    ADD(p, 2, "which cache do you want, redis or memcached?", "the second one");
    hits = found(p, a, "what did we choose for the cache, redis?");
    assert_str(hits, STR("2 3"));
    /* Words that are typed for themselves find only what has them. */
    assert_str(found(p, a, "redis cache"), STR("2"));
}

static void test_tools(void **state)
{
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();
    DocSession s = session(1);
    Err err;

    assert_true(recall_index_begin(p->index, &s, false, &err));
    add(p, DOC_USER, NULL, "run the linter");
    add(p, DOC_CALL, "Bash", "Bash\nmake lint");
    add(p, DOC_RESULT, "Bash", "linter: 3 warnings");
    add(p, DOC_CALL, "mcp__files__read", "lint.cfg");
    assert_true(recall_index_end(p->index, &s, &err) && recall_index_flush(p->index, &err));
    assert_str(found(p, a, "tool:Bash lint"), STR("1"));
    assert_str(found(p, a, "tool:bash linter"), STR("2"));
    assert_str(found(p, a, "tool:mcp__files__read lint"), STR("3"));
    assert_str(found(p, a, "role:user linter"), STR("0"));
    assert_str(found(p, a, "role:call lint"), STR("3 1"));
}

static void test_read_anew_and_gone(void **state)
{
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();
    DocSession s = session(1);
    Err err;

    ADD(p, 1, "alpha", "beta");
    ADD(p, 2, "alpha again");
    assert_true(recall_index_begin(p->index, &s, true, &err));
    add(p, DOC_USER, NULL, "gamma");
    assert_true(recall_index_end(p->index, &s, &err) && recall_index_flush(p->index, &err));
    assert_str(found(p, a, "alpha"), STR("2"));
    assert_str(found(p, a, "gamma"), STR("3"));
    assert_true(recall_index_drop(p->index, 2, &err));
    assert_str(found(p, a, "alpha"), STR(""));
}

static int64_t pages_used(ChatAddress *p)
{
    int64_t all = 0, unused = 0;
    Err err;

    assert_true(db_get_int(p->db, 0, &all, &err, "PRAGMA page_count") &&
                db_get_int(p->db, 0, &unused, &err, "PRAGMA freelist_count"));
    return all - unused;
}

static int64_t rows_of(ChatAddress *p, const char *table)
{
    char sql[128];
    int64_t n = -1;
    Err err;

    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    assert_true(db_get_int_once(p->db, 0, &n, &err, sql));
    return n;
}

/* A file that is rewritten again and again costs what it holds, not how often that was. */
static void test_rewriting_does_not_pile_up(void **state)
{
    enum { ROUNDS = 400, DOCS = 20 };
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();
    DocSession s = session(1);
    int64_t early = 0;
    char text[64];
    Err err;

    for (int round = 0; round < ROUNDS; round++) {
        assert_true(recall_index_begin(p->index, &s, true, &err));
        for (int i = 0; i < DOCS; i++) {
            snprintf(text, sizeof text, "word%d other%d and round%d", i, i * 7, round);
            add(p, i % 2 ? DOC_RESULT : DOC_USER, NULL, text);
        }
        assert_true(recall_index_end(p->index, &s, &err) && recall_index_flush(p->index, &err));
        if (round == 100)
            early = pages_used(p);
    }
    assert_in_range(pages_used(p), 1, early * 2);
    assert_int_equal(rows_of(p, "recall_sessions"), 1);
    assert_int_equal(rows_of(p, "recall_docs"), DOCS);
    assert_int_equal(rows_of(p, "recall_said_docsize"), DOCS / 2);
    assert_int_equal(rows_of(p, "recall_tools_docsize"), DOCS / 2);
    assert_str(found(p, a, "round7"), STR(""));
    assert_str(found(p, a, "word4"), str_printf(a, "%d", (ROUNDS - 1) * DOCS + 4));
}

/* A session that is given up half way leaves no words behind. */
static void test_given_up(void **state)
{
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();
    DocSession s = session(1);
    Err err;

    assert_true(db_script(p->db, "SAVEPOINT x", &err));
    assert_true(recall_index_begin(p->index, &s, false, &err));
    add(p, DOC_USER, NULL, "ghost");
    assert_true(db_script(p->db, "ROLLBACK TO x; RELEASE x", &err));
    ADD(p, 2, "alive");
    assert_str(found(p, a, "ghost"), STR(""));
    assert_str(found(p, a, "alive"), STR("1"));
}

static void test_common_words_are_bounded(void **state)
{
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();
    SearchQuery q = { .filter = SEARCH_FILTER_NONE };
    Ranking r;
    Err err;

    for (int64_t key = 1; key <= 40; key++) {
        DocSession s = session(key);

        assert_true(recall_index_begin(p->index, &s, false, &err));
        for (int i = 0; i < 200; i++)
            add(p, DOC_USER, NULL, "common words all over");
        assert_true(recall_index_end(p->index, &s, &err));
    }
    assert_true(recall_index_flush(p->index, &err));
    search_query_parse(a, STR("common"), &q);
    assert_true(recall_rank(p->recall, a, &q, 10, &r, &err));
    assert_true(r.partial && r.more);
    assert_int_equal(r.n, 10);
    assert_true(r.hits[0].key > 20); /* of the newer half */
}

/* A beginning that very many words have is taken for the word itself, in the table where they
 * are. */
static void test_beginnings_are_bounded(void **state)
{
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();
    AUTO_BUF b = BUF(65536);
    SearchQuery q = { .filter = SEARCH_FILTER_NONE };
    DocSession s = session(1);
    Ranking r;
    Err err;

    assert_true(recall_index_begin(p->index, &s, false, &err));
    add(p, DOC_USER, NULL, "the contract is signed");
    add(p, DOC_CALL, "Bash", "con");
    for (int i = 0; i < 500; i++) {
        buf_clear(&b);
        for (int j = 0; j < 400; j++)
            buf_addf(&b, "con%dx%d ", i * 7919 % 1000, j * 104729 % 100000);
        buf_addc(&b, '\0');
        add(p, DOC_RESULT, "Bash", b.p);
    }
    assert_true(recall_index_end(p->index, &s, &err) && recall_index_flush(p->index, &err));
    assert_str(found(p, a, "con*"), STR("0 1"));
    search_query_parse(a, STR("con*"), &q);
    assert_true(recall_rank(p->recall, a, &q, 10, &r, &err));
    assert_true(r.narrowed && r.partial);
    q = (SearchQuery){ .filter = SEARCH_FILTER_NONE };
    search_query_parse(a, STR("con919x*"), &q);
    assert_true(recall_rank(p->recall, a, &q, 10, &r, &err));
    assert_true(!r.narrowed && r.n == 1);
}

static void add_history(ChatAddress *p, int64_t first, int64_t n, double at)
{
    Err err;

    for (int64_t key = first; key < first + n; key++) {
        DocSession s = session(key);

        s.last_at = at + (double)(key - first) * 3600;
        assert_true(recall_index_begin(p->index, &s, false, &err));
        for (int i = 0; i < 200; i++) {
            Doc d = { .role = i % 2 ? DOC_USER : DOC_RESULT,
                      .text = STR("common words all over"),
                      .at = s.last_at - i,
                      .place = p->line++ };

            assert_true(recall_index_add(p->index, &d, &err));
        }
        assert_true(recall_index_end(p->index, &s, &err));
    }
    assert_true(recall_index_flush(p->index, &err));
}

/* What is newest is said by the messages' time: not by when their history was found. */
static void test_an_old_history_found_later(void **state)
{
    static const char *const queries[] = { "common",           "common words",
                                           "\"common words\"", "what are common words all over?",
                                           "common role:tool", "common source:claude" };
    ChatAddress *p = *state;

    add_history(p, 1, 60, 1.7e9);
    add_history(p, 100, 120, 1.5e9);
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        AUTO(Arena) *a = arena_new();
        SearchQuery q = { .filter = SEARCH_FILTER_NONE };
        Ranking r;
        Err err;

        search_query_parse(a, str_of(queries[i]), &q);
        assert_true(recall_rank(p->recall, a, &q, 100, &r, &err));
        assert_int_equal(r.n, 100);
        for (size_t j = 0; j < r.n; j++)
            if (r.hits[j].at < 1.7e9)
                fail_msg("%s: hit %zu is of the old history", queries[i], j);
    }
}

static void test_snippets(void **state)
{
    AUTO(Arena) *a = arena_new();
    SearchQuery q = { .filter = SEARCH_FILTER_NONE };
    Marks marks = { .query = &q };
    SnippetPiece *pieces;
    size_t n;

    (void)state;
    search_query_parse(a, STR("tests fail"), &q);
    snippet_make(a, STR("Every  test\nfailed today"), &marks, &pieces, &n);
    assert_int_equal(n, 5);
    assert_str(pieces[0].text, STR("Every "));
    assert_str(pieces[1].text, STR("test"));
    assert_true(pieces[1].hit && !pieces[2].hit && pieces[3].hit);
    assert_str(pieces[3].text, STR("failed"));
    marks = (Marks){ .literal = STR("AIL") };
    snippet_make(a, STR("failed"), &marks, &pieces, &n);
    assert_str(pieces[1].text, STR("ail"));
}

/* The promise of bench_recall, on less of the same. */
static void test_recall(void **state)
{
    ChatAddress *p = *state;
    AUTO(Arena) *a = arena_new();
    Recalls ours = { 0 }, plain = { 0 };
    Talk t = { 0 };
    Err err;

    talk_make(&t, a, 6, 10, 7);
    assert_true(measure_fill(p->db, t.turns, t.n_turns, &err));
    for (size_t i = 0; i < t.n_questions; i++)
        assert_true(measure_ask(p->db, p->recall, t.questions[i].text, &t.questions[i].answer, 1,
                                &ours, &plain, &err));
    assert_true(ours.asked > 40);
    assert_true(ours.at_10 >= plain.at_10 + 0.08 * (double)ours.asked);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_words),
        TEST(test_neighbours_answer_questions),
        TEST(test_tools),
        TEST(test_read_anew_and_gone),
        TEST(test_rewriting_does_not_pile_up),
        TEST(test_given_up),
        TEST(test_common_words_are_bounded),
        TEST(test_beginnings_are_bounded),
        TEST(test_an_old_history_found_later),
        cmocka_unit_test(test_snippets),
        TEST(test_recall),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

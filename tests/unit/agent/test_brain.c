/* agent/brain and agent/summary_extract: notes cut, kept up to date and found; talk in few
 * sentences. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/brain.h"
#include "agent/summary_extract.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/tokens.h"
#include "text/utf8.h"

typedef struct ChatAddress {
    char folder[64];
    Arena *arena;
    Brain *brain;
} ChatAddress;

static int set_up(void **state)
{
    ChatAddress *p = mem_alloc(sizeof *p);
    Err err;

    snprintf(p->folder, sizeof p->folder, "/tmp/talaria-brain-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    p->arena = arena_new();
    p->brain = brain_open(str_of(p->folder), &err);
    assert_non_null(p->brain);
    *state = p;
    return 0;
}

static char *path_of(ChatAddress *p, const char *name)
{
    return str_z(p->arena, str_join_path(p->arena, str_of(p->folder), str_of(name)));
}

static int tear_down(void **state)
{
    static const char *const names[] = { "a.md", "b.md", "c.bin", "link.md", "sub/d.txt", "sub" };
    ChatAddress *p = *state;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (unlink(path_of(p, names[i])) != 0)
            (void)rmdir(path_of(p, names[i]));
    (void)rmdir(p->folder);
    brain_close(p->brain);
    arena_free(p->arena);
    mem_free(p);
    return 0;
}

static void put(ChatAddress *p, const char *name, const char *text)
{
    Err err;

    assert_true(file_write_atomic(path_of(p, name), str_of(text), &err));
}

static size_t ask(ChatAddress *p, const char *request, BrainHit **ret)
{
    size_t n;
    Err err;

    assert_true(brain_refresh(p->brain, 0, &err));
    assert_true(brain_search(p->brain, p->arena, str_of(request), MAX_BRAIN, ret, &n, &err));
    return n;
}

static void test_finding(void **state)
{
    ChatAddress *p = *state;
    BrainHit *hits;

    assert_int_equal(mkdir(path_of(p, "sub"), 0700), 0);
    put(p, "a.md", "# Coffee\nThe machine wants descaling in march.\n## Beans\nEthiopian, 18 g.\n");
    put(p, "sub/d.txt", "The alarm code of the office is on the red card.");
    put(p, "c.bin", "descaling machine");
    assert_int_equal(symlink("/etc/passwd", path_of(p, "link.md")), 0);
    assert_int_equal(ask(p, "when does the machine need descaling?", &hits), 1);
    assert_str(hits[0].doc, STR("a.md"));
    assert_str(hits[0].heading, STR("Coffee"));
    assert_int_equal(hits[0].part, 1);
    assert_int_equal(ask(p, "how many grams of ethiopian beans", &hits), 1);
    assert_str(hits[0].heading, STR("Coffee > Beans"));
    assert_int_equal(ask(p, "alarm code", &hits), 1);
    assert_str(hits[0].doc, STR("sub/d.txt"));
    assert_int_equal(ask(p, "what is the weather tomorrow in the mountains", &hits), 0);
    assert_int_equal(brain_size(p->brain).files, 2);
}

static void test_keeping_up(void **state)
{
    ChatAddress *p = *state;
    struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
    BrainHit *hits;

    put(p, "a.md", "zebra stripes");
    put(p, "b.md", "yak wool");
    assert_int_equal(ask(p, "zebra", &hits), 1);
    assert_int_equal(brain_size(p->brain).read, 2);
    assert_int_equal(ask(p, "zebra", &hits), 1);
    assert_int_equal(brain_size(p->brain).read, 0);
    assert_int_equal(utimensat(-100, path_of(p, "a.md"), times, 0), 0);
    assert_int_equal(ask(p, "zebra", &hits), 1); /* read, the same, not indexed twice */
    assert_int_equal(brain_size(p->brain).read, 1);
    assert_int_equal(brain_size(p->brain).chunks, 2);
    put(p, "a.md", "walrus teeth");
    assert_int_equal(ask(p, "zebra", &hits), 0);
    assert_int_equal(ask(p, "walrus", &hits), 1);
    assert_int_equal(unlink(path_of(p, "a.md")), 0);
    assert_int_equal(unlink(path_of(p, "b.md")), 0);
    assert_int_equal(ask(p, "walrus", &hits), 0);
    assert_int_equal(brain_size(p->brain).chunks, 0);
}

static void test_cutting(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF text = BUF(KIB(256));
    Chunk *chunks;
    size_t n, bytes = 0;

    (void)state;
    for (int i = 0; i < 300; i++)
        buf_addf(&text, "%s句子 number %d of a long note.%s", i % 50 ? "" : "## Part\n", i,
                 i % 7 ? " " : "\n\n");
    for (int i = 0; i < 3000; i++)
        buf_addz(&text, "長");
    chunks_cut(a, buf_str(&text), BRAIN_CHUNK_CHARS, &chunks, &n);
    assert_true(n > 8);
    for (size_t i = 0; i < n; i++) {
        assert_true(utf8_count(chunks[i].text) <= BRAIN_CHUNK_CHARS && chunks[i].text.n > 0);
        assert_int_equal(utf8_valid_prefix(chunks[i].text), chunks[i].text.n);
        bytes += chunks[i].text.n;
    }
    assert_true(bytes > text.n - n * 8);
    chunks_cut(a, STR("```\n# no heading\n```\n"), 100, &chunks, &n);
    assert_int_equal(n, 1);
    assert_str(chunks[0].heading, STR(""));
}

static void test_summary(void **state)
{
    static const char *const always[] = { "[decided]", "src/cache/lru.c", "[error]", "`make test`",
                                          "[open] user: Should" };
    AUTO(Arena) *a = arena_new();
    AUTO_BUF filler = BUF(KIB(256));
    TalkTurn turns[4];
    Str summary, again;

    (void)state;
    for (int i = 0; i < 400; i++)
        buf_addf(&filler, "The weather report number %d speaks of rain over the hills again. ", i);
    turns[0] = (TalkTurn){ .from_user = true, .text = STR("The cache is slow.") };
    turns[1] = (TalkTurn){ .text = buf_str(&filler) };
    turns[2] =
        (TalkTurn){ .text = STR("We decided to keep the eviction queue. The code is in "
                                "src/cache/lru.c now.\nerror: queue.c:4 undefined reference\n"
                                "Run `make test` again.") };
    turns[3] = (TalkTurn){ .from_user = true, .text = STR("Fine. Should the limit be larger?") };
    summary = talk_summary(a, STR("- [decided] an older thing stays\n"), turns, 4, 300);
    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (str_find(summary, str_of(always[i])) == summary.n)
            fail_msg("\"%s\" is not in: %.*s", always[i], STR_FMT(summary));
    assert_true(str_find(summary, STR("an older thing stays")) < summary.n);
    assert_true(tokens_estimate(summary) <= 300);
    again = talk_summary(a, STR("- [decided] an older thing stays\n"), turns, 4, 300);
    assert_str(again, summary);
    assert_true(talk_summary_is_due(turns, 4, 8000));
    assert_false(talk_summary_is_due(turns, 1, 0));
    assert_str(talk_summary(a, STR(""), NULL, 0, 100), STR(""));
}

int main(void)
{
#define IN_PLACE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_finding),
        IN_PLACE(test_keeping_up),
        cmocka_unit_test(test_cutting),
        cmocka_unit_test(test_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Order and places of the list over several homes; lines of an export as they are read. */
#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "recall/history.h"
#include "recall/lines.h"
#include "store/own.h"

enum { SESSIONS = 150 };

static char root[64];
static Home homes_all[2];
static Homes homes;

/* Two homes of ours; every third session began at the same instant as one of the other. */
static int make_homes(void **state)
{
    Arena *a = arena_new();
    Err err;

    snprintf(root, sizeof root, "/tmp/talaria-history-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    for (size_t h = 0; h < 2; h++) {
        Str folder = str_printf(a, "%s/%zu", root, h);
        AUTO(OwnStore) *own = own_store_open(folder, &err);

        if (!own || !own_store_begin(own, &err))
            return -1;
        for (int i = 0; i < SESSIONS; i++) {
            Session s = { .id = str_printf(a, "h%zu_%04d", h, i),
                          .source = i % 2 ? STR("cli") : STR("claude"),
                          .started_at = 1000 + (i % 3 ? i * 2 + (double)h : i * 2) };

            if (!own_add_session(own, &s, &err))
                return -1;
        }
        if (!own_store_end(own, true, &err))
            return -1;
        homes_all[h] = (Home){ .kind = h ? HOME_OURS : HOME_HERMES,
                               .name = h ? STR("talaria") : STR("hermes"),
                               .path = folder,
                               .database = str_join_path(a, folder, STR("talaria.db")),
                               .present = true };
    }
    homes = (Homes){ .all = homes_all, .n = 2, .primary = homes_all, .data = homes_all[1].path };
    *state = a;
    return 0;
}

static int remove_homes(void **state)
{
    static const char *const ends[] = { "", "-wal", "-shm" };
    char name[160];

    for (int h = 0; h < 2; h++) {
        for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
            snprintf(name, sizeof name, "%s/%d/talaria.db%s", root, h, ends[i]);
            (void)unlink(name);
        }
        snprintf(name, sizeof name, "%s/%d", root, h);
        (void)rmdir(name);
    }
    arena_free(*state);
    return rmdir(root);
}

/* All ids, taken in pages of that size. */
static size_t take(Arena *a, HistoryQuery query, size_t page, Str *ret, double *ret_at)
{
    Err err;
    AUTO(Store) *store = store_open(&homes, &err);
    HistoryWhere where = { .homes = &homes, .store = store };
    AUTO(History) *h = history_open(&where);
    HistoryMark mark;
    size_t n = 0;

    for (bool more = true; more;) {
        AUTO(HistoryList) *list = history_list(h, &query, &err);

        assert_non_null(list);
        for (size_t i = 0; i < page && more; i++) {
            HistoryItem item;

            assert_true(history_next(list, a, &item, &more, &err));
            if (!more)
                break;
            assert_true(n < 2 * SESSIONS);
            ret_at[n] = item.lineage.tip.started_at;
            ret[n++] = item.lineage.tip.id;
            mark = item.mark;
            query.after = &mark;
        }
    }
    return n;
}

static void pages_of_any_size_are_the_same_list(void **state)
{
    static const struct {
        const char *source;
        double until;
        size_t n;
    } cases[] = { { "", 0, 2 * SESSIONS },        { "hermes", 0, SESSIONS },
                  { "talaria", 0, SESSIONS / 2 }, { "claude", 0, SESSIONS / 2 },
                  { "cli", 0, SESSIONS },         { "", 1100, 100 },
                  { "hermes", 1100, 50 } };
    Str whole[2 * SESSIONS], cut[2 * SESSIONS];
    double at[2 * SESSIONS], ignored[2 * SESSIONS];
    Arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        HistoryQuery query = { .source = str_of(cases[i].source), .until = cases[i].until };
        size_t n = take(a, query, SIZE_MAX, whole, at);

        assert_int_equal(n, cases[i].n);
        for (size_t k = 1; k < n; k++)
            assert_true(at[k - 1] >= at[k]);
        for (size_t page = 1; page < 70; page += 17) {
            assert_int_equal(take(a, query, page, cut, ignored), n);
            for (size_t k = 0; k < n; k++)
                assert_str(cut[k], whole[k]);
        }
    }
}

static void origins_have_names(void **state)
{
    Origin o;

    (void)state;
    for (size_t i = 0; i < ORIGIN_COUNT; i++) {
        assert_true(origin_parse(str_of(origin_name((Origin)i)), &o));
        assert_int_equal(o, i);
        assert_true(*origin_title((Origin)i));
    }
    assert_false(origin_parse(STR("telegram"), &o));
}

static void lines_say_what_is_wrong_with_them(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        { "{\"kind\":\"session\",\"id\":\"a\",\"source\":\"b\"}", "'format' must be 1" },
        { "{\"format\":9,\"kind\":\"session\"}", "newer talaria" },
        { "{\"format\":1,\"kind\":\"session\",\"id\":\"a\"}", "'id' and 'source'" },
        { "{\"format\":1,\"kind\":\"session\",\"id\":7,\"source\":\"b\"}",
          "'id' must be a string" },
        { "{\"kind\":\"message\"}", "'role'" },
        { "{\"kind\":\"message\",\"role\":\"a\",\"timestamp\":\"x\"}",
          "'timestamp' must be a number" },
        { "{\"kind\":\"message\",\"role\":\"a\",\"active\":0.5}",
          "'active' must be a whole number" },
        { "{\"kind\":\"message\",\"role\":{\"base64\":\"=AAA\"}}", "'role' must be a string" },
        { "{\"kind\":\"message\",\"role\":{\"base64\":\"AAA\"}}", "'role' must be a string" },
        { "{\"kind\":\"end\"}", "'messages' must be a whole number" },
        { "[]", "'kind' must be" },
        { "{", "column" },
    };
    Arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Line line;
        Err err;

        assert_false(line_read(a, str_of(cases[i].line), &line, &err));
        assert_int_equal(err.kind, ERR_INVALID);
        if (!strstr(err.text, cases[i].why))
            fail_msg("%s: '%s' says nothing of '%s'", cases[i].line, err.text, cases[i].why);
    }
}

static void bytes_of_any_length_come_back(void **state)
{
    Arena *a = *state;
    char bytes[8];

    for (size_t n = 1; n <= sizeof bytes; n++) {
        AUTO_BUF out = BUF(4096);
        Message m = { .role = STR("user"), .active = 1 };
        Line line;
        Err err;

        memset(bytes, 0xfe, sizeof bytes);
        bytes[n - 1] = (char)(0x80 + n);
        m.content = (Str){ bytes, n };
        line_put_message(&out, &m, true);
        assert_true(line_read(a, str_trim(buf_str(&out)), &line, &err));
        assert_str(line.message.content, m.content);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_any_size_are_the_same_list),
        cmocka_unit_test(origins_have_names),
        cmocka_unit_test(lines_say_what_is_wrong_with_them),
        cmocka_unit_test(bytes_of_any_length_come_back),
    };
    return cmocka_run_group_tests(tests, make_homes, remove_homes);
}

/* Whole databases: made anew by the generator with the parameters that a golden file names, counted
 * session by session, and compared with what Hermes' own plugin counted in the same database. With
 * TALARIA_SLOW=1 also the 106 MB one. */
#include "unit.h"

#include <ftw.h>
#include <sys/wait.h>
#include <unistd.h>

#include "achievements/metrics.h"
#include "base/file.h"
#include "base/limits.h"
#include "store/rows.h"
#include "text/pyjson.h"

static Str fixtures(Arena *a, const char *name)
{
    const char *folder = getenv("TALARIA_FIXTURES");

    return str_printf(a, "%s/%s", folder ? folder : "tests/fixtures", name);
}

static bool run(char *const argv[])
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        (void)!freopen("/dev/null", "w", stdout);
        execvp(argv[0], argv);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* "--sessions 5 --seed 1", an output and what else there is, as arguments of the generator. */
static Str generate(Arena *a, Str folder, Str parameters, const char *poison)
{
    Str database = str_join_path(a, folder, STR("state.db")), part;
    char *argv[32] = { "python3", str_z(a, fixtures(a, "tools/gen_state_db.py")), "--out",
                       str_z(a, database), NULL };
    size_t n = 4;

    while (str_split(&parameters, ' ', &part))
        argv[n++] = str_z(a, part);
    if (poison) {
        argv[n++] = "--poison";
        argv[n++] = str_z(a, str_of(poison));
    }
    (void)unlink(database.p);
    assert_true(run(argv));
    return database;
}

static void count_row(void *ctx, const RowMessage *m)
{
    scanner_row(ctx, &(ScanRow){ m->role, m->content, m->tool_calls, m->tool_name,
                                 m->content_is_blob, m->id });
}

static int64_t number_of(const PyValue *v)
{
    int64_t n = 0;

    assert_true(v->type == PY_INT && str_to_int(v->text, 0, INT64_MAX, &n));
    return n;
}

static void compare(const SessionMetrics *m, const PyValue *columns, const PyValue *values)
{
    for (size_t k = 0; k < columns->n; k++) {
        Str column = columns->items[k].text;
        const PyValue *value = &values->items[k];

        for (size_t i = 0; i < METRIC_COUNT; i++)
            if (str_eqz(column, metric_name(i)) && m->value[i] != number_of(value))
                fail_msg("%.*s: %s is %lld, expected %lld", STR_FMT(values->items[0].text),
                         metric_name(i), (long long)m->value[i], (long long)number_of(value));
        if (!str_eqz(column, "tool_names"))
            continue;
        assert_int_equal(m->n_tool_names, value->n);
        for (size_t i = 0; i < value->n; i++)
            assert_str(m->tool_names[i], value->items[i].text);
    }
}

typedef struct Listed {
    Arena *arena;
    SessionRow *all;
    size_t n, cap;
} Listed;

static void list_row(void *ctx, const SessionRow *s)
{
    Listed *list = ctx;
    SessionRow row = { .id = str_dup(list->arena, s->id),
                       .rowid = s->rowid,
                       .started_at = s->started_at };

    ARENA_PUSH(list->arena, list->all, list->n, list->cap, row);
}

static int newest_first(const void *left, const void *right)
{
    const SessionRow *a = left, *b = right;

    if (a->started_at != b->started_at)
        return a->started_at > b->started_at ? -1 : 1;
    return a->rowid < b->rowid ? -1 : 1;
}

/* Counts every session; those of the golden file, in its order, must agree with it. */
static size_t count_all(Arena *a, Str database, const PyValue *golden)
{
    const PyValue *columns = pyjson_get(golden, STR("session_columns"));
    const PyValue *sessions = pyjson_get(golden, STR("sessions"));
    Home home = { .database = database, .present = true };
    AUTO(Scanner) *s = NULL;
    AUTO(Rows) *rows = NULL;
    Listed list = { .arena = a };
    size_t next = 0;
    Err err;

    s = scanner_new(&err);
    rows = rows_open(&home, &(RowsQuery){ 0 }, &err);
    assert_true(s && rows && rows_walk(rows, list_row, &list, &err));
    qsort(list.all, list.n, sizeof *list.all, newest_first);
    for (size_t i = 0; i < list.n; i++) {
        Str id = list.all[i].id;
        SessionMetrics m = { 0 };
        RowsSeen seen;

        scanner_begin(s);
        assert_true(rows_messages(rows, id, count_row, s, &seen, &err));
        scanner_end(s, a, &m);
        if (next < sessions->n && str_eq(sessions->items[next].items[0].text, id))
            compare(&m, columns, &sessions->items[next++]);
    }
    assert_int_equal(next, sessions->n);
    return list.n;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static void check_golden(const char *name, const char *poison, size_t more)
{
    AUTO(Arena) *a = arena_new();
    char folder[] = "/tmp/talaria-goldens-XXXXXX";
    Str path = fixtures(a, str_printf(a, "achievements/golden/%s.json", name).p), text, database;
    PyValue golden;
    Err err;

    assert_non_null(mkdtemp(folder));
    assert_true(file_read(a, path.p, MIB(16), &text, &err) && pyjson_read(a, text, &golden));
    database = generate(a, str_of(folder), pyjson_get(&golden, STR("generator"))->text, poison);
    assert_int_equal(count_all(a, database, &golden),
                     pyjson_get(&golden, STR("sessions"))->n + more);
    nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS);
}

static void databases_count_as_in_the_goldens(void **state)
{
    (void)state;
    check_golden("nano", NULL, 0);
    check_golden("tiny", NULL, 0);
    check_golden("small", NULL, 0);
    if (getenv("TALARIA_SLOW"))
        check_golden("medium", NULL, 0);
}

/* Rows on which the plugin gives up change nothing for the other sessions. */
static void poisoned_rows_stay_alone(void **state)
{
    (void)state;
    check_golden("tiny", "scalar-toolcalls,string-function,int-name,bad-utf8,deep-json", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(databases_count_as_in_the_goldens),
        cmocka_unit_test(poisoned_rows_stay_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

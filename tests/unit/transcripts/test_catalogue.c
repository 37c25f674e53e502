#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "store/db.h"
#include "store/own.h"
#include "text/json.h"
#include "transcripts/catalogue.h"

extern char **environ;

/* -- a place with transcripts -- */

typedef struct ChatAddress {
    Arena *a;
    Str dir;
    Homes homes;
    Catalogue *c;
    UpdateStats stats;
} ChatAddress;

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void open_place(ChatAddress *p)
{
    char dir[] = "/tmp/talaria-test-XXXXXX";

    *p = (ChatAddress){ .a = arena_new() };
    assert_non_null(mkdtemp(dir));
    p->dir = str_dup(p->a, str_of(dir));
}

static void open_catalogue(ChatAddress *p)
{
    CatalogueQuery query = { .homes = &p->homes };
    Err err;
    HomesQuery homes = { .data = str_z(p->a, str_join_path(p->a, p->dir, STR("data"))) };

    p->c = catalogue_close(p->c);
    homes.home = homes.data;
    assert_true(folder_make(homes.data, &err));
    assert_true(homes_find(p->a, &homes, &p->homes, &err));
    p->homes.all[0].kind = HOME_OURS;
    query.roots = (TranscriptRoots){ .claude = str_join_path(p->a, p->dir, STR(".claude")),
                                     .codex = str_join_path(p->a, p->dir, STR(".codex")),
                                     .claude_present = true,
                                     .codex_present = true };
    p->c = catalogue_open(&query, &err);
    assert_non_null(p->c);
}

static void close_place(ChatAddress *p)
{
    catalogue_close(p->c);
    nftw(str_z(p->a, p->dir), drop, 16, FTW_DEPTH | FTW_PHYS);
    arena_free(p->a);
}

static void update(ChatAddress *p, const CatalogueListener *listener)
{
    Err err;

    if (!catalogue_update(p->c, listener, listener ? 1 : 0, NULL, NULL, &p->stats, &err))
        fail_msg("%s", err.text);
}

static void put(ChatAddress *p, const char *name, const char *mode, Str bytes)
{
    Str path = str_join_path(p->a, p->dir, str_of(name));
    size_t slash = path.n;
    FILE *f;
    Err err;

    while (path.p[slash - 1] != '/')
        slash--;
    assert_true(folder_make(str_z(p->a, str_head(path, slash - 1)), &err));
    f = fopen(str_z(p->a, path), mode);
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    fclose(f);
}

static Entry find(ChatAddress *p, const char *id)
{
    Entry e = { 0 };
    Err err;

    if (!catalogue_find(p->c, p->a, str_of(id), &e, &err))
        fail_msg("%s", err.text);
    return e;
}

static bool is_known(ChatAddress *p, const char *id)
{
    Entry e;
    Err err;

    return catalogue_find(p->c, p->a, str_of(id), &e, &err);
}

/* -- beside the truth -- */

static void generate(ChatAddress *p, const char *seed)
{
    const char *fixtures = getenv("TALARIA_FIXTURES");
    char *script = str_z(p->a, str_join_path(p->a, str_of(fixtures ? fixtures : "tests/fixtures"),
                                             STR("tools/gen_transcripts.py")));
    char *argv[] = { "python3",    script,  "--sessions",        "160", "--mb", "4", "--seed",
                     (char *)seed, "--out", str_z(p->a, p->dir), NULL };
    posix_spawn_file_actions_t actions;
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    assert_int_equal(posix_spawnp(&pid, "python3", &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

typedef struct Score {
    int people, exact, missed, kept_programs;
} Score;

static void judge(ChatAddress *p, Json truth, Score *score)
{
    Entry e;
    Err err;
    int64_t turns = 0;
    bool person = str_eqz(json_str(json_get(truth, STR("kind"))), "human");

    (void)json_int(json_get(truth, STR("n_user")), &turns);
    score->people += person;
    if (!catalogue_find(p->c, p->a, json_str(json_get(truth, STR("session_id"))), &e, &err)) {
        score->missed += person;
        return;
    }
    if (!person) {
        score->kept_programs += e.human;
        return;
    }
    score->missed += !e.human;
    score->exact += e.users == turns;
    assert_str(e.cwd, json_str(json_get(truth, STR("project"))));
}

/* The seed is made on the spot: what holds for one tree only would not last. */
static void turns_are_counted_as_they_were_made(void **state)
{
    ChatAddress p;
    Score score = { 0 };
    char seed[32];
    Str truth, line;
    Err err;

    (void)state;
    snprintf(seed, sizeof seed, "%d", (int)getpid());
    open_place(&p);
    generate(&p, seed);
    open_catalogue(&p);
    update(&p, NULL);
    assert_true(file_read(p.a, str_z(p.a, str_join_path(p.a, p.dir, STR("truth.jsonl"))), MIB(64),
                          &truth, &err));
    while (str_split(&truth, '\n', &line)) {
        AUTO(JsonDoc) *doc = line.n ? json_parse(line, &err) : NULL;

        if (doc)
            judge(&p, json_root(doc), &score);
    }
    if (score.people < 100 || score.exact < score.people * 0.99 || score.missed ||
        score.kept_programs)
        fail_msg("seed %s: %d people, %d exact, %d missed, %d programs", seed, score.people,
                 score.exact, score.missed, score.kept_programs);
    update(&p, NULL);
    assert_int_equal(p.stats.read, 0);
    close_place(&p);
}

/* -- growing, moving, going -- */

#define USER(text, at)                                                                             \
    "{\"type\":\"user\",\"cwd\":\"/w/"                                                             \
    "p\",\"entrypoint\":\"cli\",\"timestamp\":\"2026-08-21T00:00:" at                              \
    "Z\",\"message\":{\"content\":\"" text "\"}}\n"
#define TOOL(name, at)                                                                             \
    "{\"type\":\"assistant\",\"timestamp\":\"2026-08-21T00:00:" at "Z\",\"requestId\":\"" at       \
    "\",\"message\":{\"id\":\"m" at                                                                \
    "\",\"model\":\"claude-x\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"" name  \
    "\",\"input\":{}}],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n"

#define ONE "11111111-0000-4000-8000-000000000000"
#define TWO "22222222-0000-4000-8000-000000000000"

typedef struct Heard {
    int begun, anew, events, ended, gone;
    int64_t key;
} Heard;

static bool on_begin(void *ctx, const Entry *e, bool anew, Err *err)
{
    Heard *h = ctx;

    (void)err;
    h->begun++;
    h->anew += anew;
    h->key = e->key;
    return true;
}

static bool on_event(void *ctx, const Event *e, Err *err)
{
    (void)err;
    assert_int_equal(e->kind, EVENT_USER);
    ((Heard *)ctx)->events++;
    return true;
}

static bool on_end(void *ctx, const Entry *e, Err *err)
{
    (void)err;
    assert_int_equal(e->key, ((Heard *)ctx)->key);
    ((Heard *)ctx)->ended++;
    return true;
}

static bool on_gone(void *ctx, const Entry *e, Err *err)
{
    (void)e;
    (void)err;
    ((Heard *)ctx)->gone++;
    return true;
}

static CatalogueListener listener(Heard *h)
{
    return (CatalogueListener){ h, on_begin, on_event, on_end, on_gone, 1u << EVENT_USER };
}

static void a_session_that_grows_is_read_on(void **state)
{
    ChatAddress p;
    Heard h = { 0 };
    CatalogueListener l = listener(&h);
    Entry e;
    int64_t key;

    (void)state;
    open_place(&p);
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w",
        STR(USER("fix the\\nthing", "00") TOOL("Bash", "01")));
    open_catalogue(&p);
    update(&p, &l);
    e = find(&p, "1111");
    assert_str(e.title, STR("fix the"));
    assert_str(e.tools, STR("Bash"));
    assert_int_equal(e.users, 1);
    assert_true(e.human);
    key = e.key;

    h = (Heard){ 0 };
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "a",
        STR(TOOL("Read", "15") TOOL("Bash", "30") USER("good", "31")));
    open_catalogue(&p); /* another process would see the same */
    update(&p, &l);
    e = find(&p, ONE);
    assert_int_equal(e.key, key);
    assert_str(e.tools, STR("Bash\nRead"));
    assert_int_equal(e.users, 2);
    assert_int_equal(e.calls, 3);
    assert_int_equal(e.input_tokens, 30);
    assert_int_equal(e.messages, 3); /* calls without a result between them are one */
    assert_true(e.activity[0] == 255 && e.activity[15] == 128 && e.activity[4] == 0);
    assert_int_equal(h.begun, 1);
    assert_int_equal(h.anew, 0);
    assert_int_equal(h.events, 1);
    assert_int_equal(h.ended, 1);
    close_place(&p);
}

static void a_rewritten_file_is_another_entry_and_a_removed_one_none(void **state)
{
    ChatAddress p;
    Heard h = { 0 };
    CatalogueListener l = listener(&h);
    int64_t key;

    (void)state;
    open_place(&p);
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w", STR(USER("one", "00")));
    put(&p, ".claude/projects/-w-p/" TWO ".jsonl", "w", STR(USER("two", "00")));
    open_catalogue(&p);
    update(&p, &l);
    key = find(&p, ONE).key;

    h = (Heard){ 0 };
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w", STR(USER("other words", "00")));
    unlink(str_z(p.a, str_join_path(p.a, p.dir, STR(".claude/projects/-w-p/" TWO ".jsonl"))));
    update(&p, &l);
    assert_int_not_equal(find(&p, ONE).key, key);
    assert_str(find(&p, ONE).title, STR("other words"));
    assert_int_equal(h.gone, 2);
    assert_int_equal(h.anew, 1);
    assert_int_equal(p.stats.gone, 1);
    assert_false(is_known(&p, TWO));
    close_place(&p);
}

#define ROLLOUT(text)                                                                              \
    "{\"timestamp\":\"2026-08-21T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"" ONE \
    "\",\"cwd\":\"/w\",\"originator\":\"codex_cli_rs\"}}\n"                                        \
    "{\"timestamp\":\"2026-08-21T00:00:01Z\",\"type\":\"event_msg\",\"payload\":{\"type\":"        \
    "\"user_message\",\"message\":\"" text "\"}}\n"
#define ROLLOUT_NAME "rollout-2026-08-21T00-00-00-" ONE ".jsonl"

/* Enough folders for more than one thread: each file once, in order, with what stat says of it. */
static void a_wide_tree_is_found_whole(void **state)
{
    enum { FOLDERS = 60, FILES = 5 };
    ChatAddress p;
    TranscriptRoots roots = { .claude_present = true };
    TranscriptFile *files;
    char name[128];
    size_t n;
    Err err;

    (void)state;
    open_place(&p);
    roots.claude = str_join_path(p.a, p.dir, STR(".claude"));
    for (int i = 0; i < FOLDERS * FILES; i++) {
        snprintf(name, sizeof name, ".claude/projects/p%d/s%d/subagents/agent-%d.jsonl",
                 i / FILES % 7, i / FILES, i);
        put(&p, name, "w", str_head(STR("{}\n{}\n{}\n"), (size_t)(i % 3 + 1) * 3));
    }
    put(&p, ".claude/projects/p1/notes.txt", "w", STR("no transcript"));
    assert_int_equal(
        symlink("p1", str_z(p.a, str_join_path(p.a, roots.claude, STR("projects/linked")))), 0);
    for (int round = 0; round < 20; round++) {
        assert_true(transcripts_find(p.a, &roots, &files, &n, &err));
        assert_int_equal(n, FOLDERS * FILES);
        for (size_t i = 0; i < n; i++) {
            int64_t number;

            assert_true(i == 0 || str_cmp(files[i - 1].path, files[i].path) < 0);
            assert_true(str_to_int(str_skip(files[i].stem, 6), 0, FOLDERS * FILES, &number));
            assert_int_equal(files[i].size, (number % 3 + 1) * 3);
            assert_str(files[i].parent, str_printf(p.a, "s%d", (int)number / FILES));
        }
    }
    close_place(&p);
}

static void a_rollout_in_both_places_counts_once_and_may_move(void **state)
{
    ChatAddress p;
    Heard h = { 0 };
    CatalogueListener l = listener(&h);
    Entry *all;
    EntryQuery query = { .source = -1, .archived = true };
    size_t n;
    int64_t key;
    Err err;

    (void)state;
    open_place(&p);
    put(&p, ".codex/sessions/2026/08/21/" ROLLOUT_NAME, "w", STR(ROLLOUT("hi")));
    put(&p, ".codex/archived_sessions/" ROLLOUT_NAME, "w", STR(ROLLOUT("hi")));
    open_catalogue(&p);
    update(&p, &l);
    assert_true(catalogue_list(p.c, p.a, &query, &all, &n, &err));
    assert_int_equal(n, 1);
    assert_false(all[0].archived);
    key = all[0].key;

    h = (Heard){ 0 };
    unlink(str_z(p.a, str_join_path(p.a, p.dir, STR(".codex/sessions/2026/08/21/" ROLLOUT_NAME))));
    update(&p, &l);
    assert_true(find(&p, ONE).archived);
    assert_int_equal(find(&p, ONE).key, key);
    assert_int_equal(h.events, 0);
    assert_int_equal(h.gone, 0);
    close_place(&p);
}

/* -- our own sessions -- */

static void add_own(ChatAddress *p, const char *id, const char *handle)
{
    Str data = str_join_path(p->a, p->dir, STR("data"));
    Session s = { .id = str_of(id), .source = STR("cli"), .started_at = 1 };
    Message m = { .session_id = s.id,
                  .role = STR("user"),
                  .content = STR("hello"),
                  .timestamp = 2,
                  .active = 1 };
    AUTO(Db) *db = NULL;
    OwnStore *own;
    Err err;

    own = own_store_open(data, &err);
    assert_non_null(own);
    assert_true(own_store_begin(own, &err) && own_add_session(own, &s, &err) &&
                own_add_message(own, &m, &err) && own_store_end(own, true, &err));
    own_store_close(own);
    db = db_open_own(str_z(p->a, str_join_path(p->a, data, STR("talaria.db"))), true, &err);
    assert_non_null(db);
    assert_true(
        !handle ||
        db_script(
            db,
            str_z(p->a, str_printf(p->a,
                                   "INSERT INTO runtime_continuity VALUES('%s', 'claude', 1, "
                                   "'%s', '', 0);"
                                   "INSERT INTO run(id, conversation_id, user_message_id, "
                                   "assistant_message_id, runtime, state, owner, started_ms) "
                                   "VALUES('r%s', '%s', 0, 0, 'claude', 'completed', '', 0);"
                                   "INSERT INTO conversation_message(message_id, "
                                   "conversation_id, seq, runtime, run_id, status, created_ms) "
                                   "SELECT id, session_id, id, 'claude', 'r%s', 'complete', 0 "
                                   "FROM messages WHERE session_id = '%s'",
                                   id, handle, id, id, id, id)),
            &err));
}

static void say_more(ChatAddress *p, const char *id)
{
    Err err;
    AUTO(OwnStore) *own = own_store_open(str_join_path(p->a, p->dir, STR("data")), &err);
    Message m = { .session_id = str_of(id),
                  .role = STR("user"),
                  .content = STR("and more"),
                  .timestamp = 3,
                  .active = 1 };

    assert_non_null(own);
    assert_true(own_store_begin(own, &err) && own_add_message(own, &m, &err) &&
                own_store_end(own, true, &err));
}

static void a_conversation_that_is_also_a_transcript_counts_once(void **state)
{
    ChatAddress p;

    (void)state;
    open_place(&p);
    add_own(&p, "ours-alone", NULL);
    add_own(&p, "ours-elsewhere", "{\"session_id\":\"" ONE "\"}");
    add_own(&p, "ours-lost", TWO);
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w", STR(USER("hello", "00")));
    open_catalogue(&p);
    update(&p, NULL);
    assert_true(is_known(&p, "ours-alone"));
    assert_true(is_known(&p, "ours-lost"));
    assert_false(is_known(&p, "ours-elsewhere"));
    assert_true(is_known(&p, ONE));

    /* the other transcript appears later */
    put(&p, ".claude/projects/-w-p/" TWO ".jsonl", "w", STR(USER("hello", "00")));
    update(&p, NULL);
    assert_false(is_known(&p, "ours-lost"));

    /* a turn that another runtime answered is in no transcript */
    say_more(&p, "ours-elsewhere");
    update(&p, NULL);
    assert_true(is_known(&p, "ours-elsewhere"));
    close_place(&p);
}

static void a_rewind_is_noticed(void **state)
{
    ChatAddress p;
    Entry e;
    Err err;
    AUTO(Db) *db = NULL;

    (void)state;
    open_place(&p);
    add_own(&p, "ours-alone", NULL);
    open_catalogue(&p);
    update(&p, NULL);
    e = find(&p, "ours-alone");
    assert_int_equal(e.users, 1);
    assert_true(e.human);
    db = db_open_own(str_z(p.a, p.homes.all[0].database), true, &err);
    assert_non_null(db);
    assert_true(db_script(db,
                          "UPDATE messages SET active = 0; UPDATE sessions SET rewind_count = 1; "
                          "INSERT INTO messages(session_id, role, content, timestamp) "
                          "VALUES('ours-alone', 'user', 'again', 9)",
                          &err));
    update(&p, NULL);
    assert_int_not_equal(find(&p, "ours-alone").key, e.key);
    assert_int_equal(find(&p, "ours-alone").users, 1);
    assert_str(find(&p, "ours-alone").title, STR("again"));
    close_place(&p);
}

/* -- ends -- */

static bool after_one(void *ctx)
{
    return ++*(int *)ctx > 1;
}

static void an_interrupted_update_keeps_what_it_has(void **state)
{
    ChatAddress p;
    int asked = 0;
    UpdateStats stats;
    Err err;

    (void)state;
    open_place(&p);
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w", STR(USER("one", "00")));
    put(&p, ".claude/projects/-w-p/" TWO ".jsonl", "w", STR(USER("two", "00")));
    open_catalogue(&p);
    assert_false(catalogue_update(p.c, NULL, 0, after_one, &asked, &stats, &err));
    assert_int_equal(err.kind, ERR_INTERRUPTED);
    assert_true(is_known(&p, ONE));
    assert_false(is_known(&p, TWO));
    update(&p, NULL);
    assert_int_equal(p.stats.read, 1);
    assert_true(is_known(&p, TWO));
    close_place(&p);
}

static bool update_inside(void *ctx, const Entry *e, Err *err)
{
    ChatAddress *p = ctx;
    UpdateStats stats = { 0 };

    (void)e;
    assert_true(catalogue_update(p->c, NULL, 0, NULL, NULL, &stats, err));
    assert_true(stats.busy);
    return true;
}

static bool refuse(void *ctx, const Event *e, Err *err)
{
    (void)ctx;
    (void)e;
    return err_set(err, ERR_NO_SPACE, "full");
}

static void one_update_at_a_time_and_a_listener_that_fails_leaves_nothing(void **state)
{
    ChatAddress p;
    CatalogueListener busy = { .ctx = &p, .end = update_inside };
    CatalogueListener full = { .event = refuse };
    Err err;

    (void)state;
    open_place(&p);
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w", STR(USER("one", "00")));
    open_catalogue(&p);
    assert_false(catalogue_update(p.c, &full, 1, NULL, NULL, NULL, &err));
    assert_int_equal(err.kind, ERR_NO_SPACE);
    assert_false(is_known(&p, ONE));
    update(&p, &busy);
    assert_true(is_known(&p, ONE));
    close_place(&p);
}

static void a_damaged_index_is_begun_afresh(void **state)
{
    ChatAddress p;

    (void)state;
    open_place(&p);
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w", STR(USER("one", "00")));
    open_catalogue(&p);
    update(&p, NULL);
    p.c = catalogue_close(p.c);
    put(&p, "data/index.db", "w",
        STR("this is no database at all, but it is long enough to look at"));
    open_catalogue(&p);
    assert_false(is_known(&p, ONE));
    update(&p, NULL);
    assert_true(is_known(&p, ONE));
    close_place(&p);
}

static void a_damaged_home_keeps_nobody_waiting(void **state)
{
    ChatAddress p;

    (void)state;
    open_place(&p);
    put(&p, "data/talaria.db", "w", STR("this is no database at all, but long enough to look at"));
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w", STR(USER("one", "00")));
    open_catalogue(&p);
    update(&p, NULL);
    assert_true(is_known(&p, ONE));
    open_catalogue(&p);
    assert_true(is_known(&p, ONE)); /* and our own file is not taken for the damaged one */
    close_place(&p);
}

static void lists_take_filters_and_pages(void **state)
{
    ChatAddress p;
    Entry *all;
    Facet *facets;
    EntryQuery query = { .source = -1, .max = 1 };
    size_t n;
    Err err;

    (void)state;
    open_place(&p);
    put(&p, ".claude/projects/-w-p/" ONE ".jsonl", "w",
        STR(USER("one", "00") TOOL("Bash", "01") TOOL("Read", "02")));
    put(&p, ".claude/projects/-w-p/" TWO ".jsonl", "w", STR(USER("two", "00") TOOL("Bash", "09")));
    put(&p, ".claude/projects/-w-p/" ONE "/subagents/agent-1.jsonl", "w", STR(USER("sub", "00")));
    open_catalogue(&p);
    update(&p, NULL);
    assert_true(catalogue_list(p.c, p.a, &query, &all, &n, &err));
    assert_int_equal(n, 1);
    assert_str(all[0].id, STR(TWO));
    query.before_at = all[0].last_at;
    query.before_key = all[0].key;
    assert_true(catalogue_list(p.c, p.a, &query, &all, &n, &err));
    assert_str(all[0].id, STR(ONE));
    query = (EntryQuery){ .source = SOURCE_CLAUDE, .tool = STR("Read"), .project = STR("/w") };
    assert_true(catalogue_list(p.c, p.a, &query, &all, &n, &err));
    assert_int_equal(n, 1);
    query = (EntryQuery){ .source = -1, .project = STR("p"), .side_chains = true };
    assert_true(catalogue_list(p.c, p.a, &query, &all, &n, &err));
    assert_int_equal(n, 3);
    query.project = STR("/w/pp");
    assert_true(catalogue_list(p.c, p.a, &query, &all, &n, &err));
    assert_int_equal(n, 0);
    assert_str(find(&p, "agent-1").parent, STR(ONE));
    assert_false(find(&p, "agent-1").human);
    assert_true(catalogue_facets(p.c, p.a, "tool", 10, &facets, &n, &err));
    assert_int_equal(n, 2);
    assert_str(facets[0].name, STR("Bash"));
    assert_int_equal(facets[0].sessions, 2);
    close_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_counted_as_they_were_made),
        cmocka_unit_test(a_session_that_grows_is_read_on),
        cmocka_unit_test(a_rewritten_file_is_another_entry_and_a_removed_one_none),
        cmocka_unit_test(a_wide_tree_is_found_whole),
        cmocka_unit_test(a_rollout_in_both_places_counts_once_and_may_move),
        cmocka_unit_test(a_conversation_that_is_also_a_transcript_counts_once),
        cmocka_unit_test(a_rewind_is_noticed),
        cmocka_unit_test(an_interrupted_update_keeps_what_it_has),
        cmocka_unit_test(one_update_at_a_time_and_a_listener_that_fails_leaves_nothing),
        cmocka_unit_test(a_damaged_index_is_begun_afresh),
        cmocka_unit_test(a_damaged_home_keeps_nobody_waiting),
        cmocka_unit_test(lists_take_filters_and_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* handoff_world.h - a data folder of ours and a Hermes home beside it, for the tests of
 * handoffs. */
#ifndef TALARIA_TESTS_HANDOFF_WORLD_H
#define TALARIA_TESTS_HANDOFF_WORLD_H

#include "unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "handoff/handoff.h"
#include "handoff/routing.h"
#include "handoff/session_db.h"
#include "store/db_sqlite.h"

typedef struct World {
    Arena *arena;
    char folder[64];
    Str data, hermes;
    OwnStore *journal;
    Db *foreign; /* of the Hermes home; opened when first asked for */
    double now;
} World;

#define OK(x)                                                                                      \
    do {                                                                                           \
        Err err = { 0 };                                                                           \
        if (!(x))                                                                                  \
            fail_msg("%s: %s", #x, err.text);                                                      \
    } while (0)
#define FAILS(x, expected)                                                                         \
    do {                                                                                           \
        Err err = { 0 };                                                                           \
        assert_false(x);                                                                           \
        if (err.kind != (expected))                                                                \
            fail_msg("%s: %s", #x, err.text);                                                      \
    } while (0)

static double world_now(void *ctx)
{
    return ((World *)ctx)->now;
}

static Db *world_db(World *w, Str home)
{
    Str path = str_join_path(w->arena, home, STR("state.db"));

    if (str_eq(home, w->data))
        return own_store_db(w->journal);
    if (!w->foreign)
        OK((w->foreign = db_open_own(str_z(w->arena, path), false, &err)) != NULL);
    return w->foreign;
}

static void world_sql(World *w, Str home, const char *sql)
{
    OK(db_script(world_db(w, home), sql, &err));
}

/* The first column of the first row, or "-" where there is none or it is NULL. */
static inline Str world_ask(World *w, Str home, const char *sql)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    OK(db_query_once(world_db(w, home), &rows, &err, sql));
    OK(db_row(rows, &row, &err));
    if (!row || row_is_null(rows, 0))
        return STR("-");
    return str_dup(w->arena, row_text(rows, 0));
}

#define HERMES_SESSIONS                                                                            \
    "CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key "  \
    "TEXT, chat_id TEXT, chat_type TEXT, thread_id TEXT, display_name TEXT, origin_json TEXT, "    \
    "parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, title "     \
    "TEXT);"                                                                                       \
    "CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT);"
#define HERMES_ROUTING                                                                             \
    "CREATE TABLE gateway_routing(scope TEXT NOT NULL DEFAULT '', session_key TEXT, entry_json "   \
    "TEXT, updated_at REAL, PRIMARY KEY(scope, session_key));"

/* Sessions s1 to s3 in either home; Hermes' has no handoff columns yet. */
static void world_open(World *w)
{
    static const char add[] =
        "INSERT INTO sessions(id, source, started_at) VALUES('s1', 'cli', 1), ('s2', 'cli', 2), "
        "('s3', 'cli', 3)";

    /* In memory where that is possible: thousands of commits are not to wait for a disk. */
    *w = (World){ .arena = arena_new(), .now = 1800000000 };
    snprintf(w->folder, sizeof w->folder, "%s/talaria-handoff-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(w->folder));
    w->data = str_printf(w->arena, "%s/data", w->folder);
    w->hermes = str_printf(w->arena, "%s/hermes", w->folder);
    mkdir(str_z(w->arena, w->hermes), 0700);
    clock_set_wall(world_now, w);
    OK((w->journal = own_store_open(w->data, &err)) != NULL);
    world_sql(w, w->data, "PRAGMA synchronous=OFF");
    world_sql(w, w->data, add);
    world_sql(w, w->hermes, HERMES_SESSIONS HERMES_ROUTING);
    world_sql(w, w->hermes, add);
}

static inline int world_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void world_close(World *w)
{
    w->journal = own_store_close(w->journal);
    w->foreign = db_close(w->foreign);
    clock_set_wall(NULL, NULL);
    assert_int_equal(nftw(w->folder, world_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
    w->arena = arena_free(w->arena);
}

static inline Handoff world_request(World *w, Str home, const char *session, const char *platform)
{
    HandoffRequest request = { .home = home,
                               .session_id = str_of(session),
                               .platform = str_of(platform) };
    Handoff h = { 0 };

    OK(handoff_request(w->journal, w->arena, &request, &h, &err));
    return h;
}

static inline Handoff world_claim(World *w, Str id, const char *owner)
{
    Handoff h = { 0 };
    bool won = false;

    OK(handoff_claim(w->journal, w->arena, id, str_of(owner), 10000, &h, &won, &err));
    assert_true(won);
    return h;
}

/* From claimed to bound, at the place of that JSON. */
static inline void world_prepare(World *w, Handoff *h, const char *place_json_text)
{
    KeyFlags flags = KEY_FLAGS;
    ChatAddress place;

    OK(address_parse(w->arena, str_of(place_json_text), &place, &err));
    h->dest_key = address_key(w->arena, &place, &flags);
    h->dest_source_json = address_json(w->arena, &place);
    OK(routing_remember(w->journal, w->arena, h, &err));
    OK(handoff_advance(w->journal, h, HANDOFF_PREPARED, &err));
}

static inline void world_bind(World *w, Handoff *h, const char *place_json_text)
{
    world_prepare(w, h, place_json_text);
    OK(routing_bind(w->journal, w->arena, h, &err));
}

#endif

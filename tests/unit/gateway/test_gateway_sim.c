/* The whole way of words under schedules that nobody would think of: a session goes from the
 * terminal to one platform, from there to the other and back, while people write in all its places.
 * A gateway with both platforms, a second worker and a terminal die between any two statements,
 * stand still past their lease, or end as they should; updates come twice, late, in any order;
 * calls fail, last long, lose their answer; threads are deleted while words are on their way to
 * them; the next message interrupts or waits. A virtual clock, one thread: one number makes one
 * schedule. A failure prints it, and sim_seeds.h says how to run that one alone. Odd ones run with
 * a write-ahead log, even ones with a rollback journal, as on a disk without shared memory. */
#include "sim_actors.h"
#include "sim_no_wal.h"
#include "sim_seeds.h"

#include "base/log.h"

enum { SEEDS = 200, TROUBLED_TICKS = 70, MAX_TICKS = 900 };

/* -- what always holds -- */

/* Another session came to the chat in which it lived: out of a thread that is gone, or by a handoff
 * without one. */
static bool is_aside(void)
{
    return str_eqz(about("SELECT end_reason FROM sessions WHERE id = '", "'"), "session_switch");
}

/* The key, the row and the owner say the same, and one turn at most is under way. */
static void one_owner(void)
{
    Str said =
        ask(str_printf(sim.world.arena,
                       "WITH me(id) AS (VALUES('%.*s')) SELECT count(entry_json) || ' ' || "
                       "coalesce((SELECT owner_surface FROM "
                       "session_owner WHERE session_id = me.id), 'cli') || ' ' || (SELECT "
                       "iif(source IN ('telegram', 'discord'), source, 'cli') FROM sessions "
                       "WHERE id = me.id) || ' ' || (SELECT count(*) < 2 "
                       "FROM run WHERE ended_ms IS NULL AND conversation_id = me.id) FROM "
                       "me LEFT JOIN gateway_routing ON entry_json LIKE '%%\"' || me.id || '\"%%'",
                       STR_FMT(session))
                .p);

    CHECK(str_is_one_of(said, "0 cli cli 1|1 telegram telegram 1|1 discord discord 1") ||
          (str_eqz(said, "0 telegram telegram 1") && is_aside()));
}

static void tick(void)
{
    uint32_t d = dice(sim.calm ? 8 : 10);

    if (d < 6)
        gate_acts();
    else if (d < 8)
        other_acts();
    else if (d == 8)
        somebody_writes();
    else
        terminal_acts();
    sim.world.now += sim.calm ? 1 : dice(8) / 4.0;
}

static void meanwhile(void)
{
    Process *before = sim.running;

    sim.depth++;
    sim.running = NULL;
    for (uint32_t i = dice(14); i > 0; i--)
        tick();
    sim.running = before;
    sim.depth--;
}

/* `kept`: promises of first words, too. */
static bool all_quiet(bool kept)
{
    Str promises = ask("SELECT count(*) FROM outbox WHERE state = 'open' AND id LIKE 'first:%'");

    for (int i = 0; i < CHATS; i++)
        for (size_t k = 0; k < chats[i].n_updates; k++)
            if (!chats[i].updates[k].acknowledged)
                return false;
    if (kept && !str_eqz(promises, "0"))
        return false;
    return str_eqz(
        ask("SELECT (SELECT count(*) FROM handoff WHERE state NOT IN ('done', 'failed', "
            "'cancelled')) + (SELECT count(*) FROM inbox WHERE state IN ('new', 'taken')) + "
            "(SELECT count(*) FROM outbox WHERE state = 'waiting' OR (state = 'open' AND id NOT "
            "LIKE 'first:%'))"),
        "0");
}

static void until_quiet(bool kept)
{
    for (int i = 0; i < MAX_TICKS; i++) {
        tick();
        if (i % 8 == 7 && all_quiet(kept))
            return;
    }
    CHECK(all_quiet(kept)); /* everything comes to an end */
}

/* -- what holds in the end -- */

/* Messages under that key: those that are not marked as a repeat and went with no thread, and
 * whether one reads so in the end. */
static size_t heard(const Chat *c, const char *key, const char *text, bool *ret_so)
{
    size_t n = 0;

    *ret_so = false;
    for (size_t i = 0; i < c->n_said; i++)
        if (strncmp(c->said[i].key, key, strlen(key)) == 0) {
            const Said *s = &c->said[i];

            n += !s->repeat && !is_gone_for_good(c, str_of(s->thread));
            stats.repeats += s->repeat;
            *ret_so |= strstr(s->text, text) != NULL;
        }
    return n;
}

static void check_handoff(const Handoff *h)
{
    char key[64];
    size_t threads = 0, cards;
    bool so;

    snprintf(key, sizeof key, "%.*s:", STR_FMT(h->id));
    for (int i = 0; i < CHATS; i++) {
        for (size_t k = 0; k < chats[i].n_threads; k++)
            threads += str_eqz(h->id, chats[i].threads[k].key);
        if (!str_eqz(h->platform, chats[i].platform.shape->name))
            continue;
        cards = heard(&chats[i], key, "card of", &so);
        CHECK(cards <= 1);
        CHECK(h->state != HANDOFF_DONE || so || h->error_code.n);
    }
    CHECK(threads <= 1);
}

static void check_handoffs(void)
{
    Handoff *all;
    size_t n;

    OK(handoff_list(sim.world.journal, sim.world.arena, STR(""), session, 1000, &all, &n, &err));
    for (size_t i = 0; i < n; i++)
        check_handoff(&all[i]);
}

static Str row_of(const Chat *c, const ChatUpdate *u)
{
    return ask(str_printf(sim.world.arena,
                          "SELECT state FROM inbox WHERE platform = '%s' AND id = '%s'",
                          c->platform.shape->name, u->id)
                   .p);
}

/* Answered once, or parked and told; the words are kept once (a second time only where the session
 * went away after a turn that died, and the answer came from another). */
static void check_message(const Chat *c, const ChatUpdate *u)
{
    bool parked = str_eqz(row_of(c, u), "parked"), so, told;
    char key[64], text[96];
    size_t n;
    Str kept;

    snprintf(key, sizeof key, "reply:%s:%s:", c->platform.shape->name, u->id);
    snprintf(text, sizeof text, "re:%s", u->text);
    n = heard(c, key, text, &so);
    (void)heard(c, key, "each of three attempts", &told);
    kept =
        ask(str_printf(sim.world.arena,
                       "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM messages WHERE "
                       "role = 'user' AND content = '%s' GROUP BY session_id)",
                       u->text)
                .p);
    CHECK(n <= 1);
    CHECK(so || (parked ? told : u->cut));
    CHECK(!(so && told));
    CHECK(str_eqz(kept, "1") || (parked && str_eqz(kept, "0")));
    stats.answers += so;
    stats.parked += parked;
    stats.cuts += u->cut;
}

static void check_update(const Chat *c, const ChatUpdate *u)
{
    char key[64];
    size_t n;
    bool so;

    CHECK(str_is_one_of(row_of(c, u), "done|parked"));
    if (u->text[0] != '/') {
        check_message(c, u);
        return;
    }
    snprintf(key, sizeof key, "answer:%s:%s:", c->platform.shape->name, u->id);
    n = heard(c, key, "", &so);
    CHECK(n <= 1);
    CHECK(so || str_eqz(row_of(c, u), "parked"));
}

/* Where the key says that the next words are read, they are words of that session. */
static void next_reply_goes_on(void)
{
    Str origin = about("SELECT origin_json FROM sessions WHERE id = '", "'");
    Chat *c = &chats[str_eqz(about("SELECT source FROM sessions WHERE id = '", "'"), "discord")];
    ChatAddress place;

    OK(address_parse(sim.world.arena, origin, &place, &err));
    chat_write(c, place.thread_id.n ? str_z(sim.world.arena, place.thread_id) : "", "last");
    until_quiet(true);
    check_update(c, &c->updates[c->n_updates - 1]);
    CHECK(str_eq(ask("SELECT session_id FROM messages WHERE content = 'last'"), session));
}

/* -- one schedule -- */

static void set_up(unsigned seed)
{
    Conversation c;

    sim.seed = seed;
    sim.random = seed * 0x9e3779b97f4a7c15ull + 1;
    sim.calm = false;
    interrupts = dice(2);
    chats_begin();
    arena_reset(sim.world.arena);
    sim.world.data = str_printf(sim.world.arena, "%s/data", sim.world.folder);
    our_home =
        (Home){ .kind = HOME_OURS,
                .name = STR("talaria"),
                .path = sim.world.data,
                .database = str_join_path(sim.world.arena, sim.world.data, STR("talaria.db")),
                .present = true };
    homes = (Homes){ .all = &our_home, .n = 1, .primary = &our_home, .data = sim.world.data };
    session = str_printf(sim.world.arena, "sim-%u", seed);
    c = (Conversation){ .id = session };
    OK(conversation_create(terminal_runs, &c, &err));
    carrier_begins(&other, NULL);
    terminal_hands_over(sim.world.arena);
}

/* X(table) */
#define TABLES(X)                                                                                  \
    X(inbox)                                                                                       \
    X(outbox)                                                                                      \
    X(handoff)                                                                                     \
    X(gateway_routing)                                                                             \
    X(session_owner)                                                                               \
    X(take_code)                                                                                   \
    X(gone_thread)                                                                                 \
    X(thread_anchor)                                                                               \
    X(run_event)                                                                                   \
    X(run)                                                                                         \
    X(conversation_message)                                                                        \
    X(conversation)                                                                                \
    X(messages)                                                                                    \
    X(sessions)

/* The next schedule is as fast as this one. */
static void clear_away(void)
{
#define X(table) "DELETE FROM " #table ";"
    world_sql(&sim.world, sim.world.data, "BEGIN;" TABLES(X) "COMMIT");
#undef X
}

static void schedule(unsigned seed)
{
    AUTO(Arena) *a = arena_new();

    set_up(seed);
    for (int i = 0; i < TROUBLED_TICKS; i++) {
        tick();
        if (i % 2)
            one_owner();
    }
    sim.calm = true;
    gate.process.statements = other.process.statements = -1;
    until_quiet(false);
    /* First words that were promised by one who lost the handoff after that are said after the next
     * start. */
    gate_ends();
    until_quiet(true);
    one_owner();
    check_handoffs();
    for (int i = 0; i < CHATS; i++)
        for (size_t k = 0; k < chats[i].n_updates; k++)
            check_update(&chats[i], &chats[i].updates[k]);
    if (is_aside())
        OK(routing_release(sim.world.journal, sim.world.data, session, &err));
    if (is_here())
        CHECK(terminal_goes_on(a));
    else
        next_reply_goes_on();
    gate_ends();
    stats.left += !str_eqz(ask("SELECT count(*) FROM gone_thread"), "0");
    clear_away();
}

static void run_those(bool odd, const char *journal)
{
    int64_t first, last;

    assert_str(ask("PRAGMA journal_mode"), str_of(journal));
    seeds_to_run(SEEDS, &first, &last);
    for (int64_t seed = first; seed <= last; seed++)
        if ((seed % 2 != 0) == odd)
            schedule((unsigned)seed);
}

static void with_a_log(void **state)
{
    (void)state;
    run_those(true, "wal");
}

static void with_a_rollback_journal(void **state)
{
    (void)state;
    run_those(false, "delete");
}

static void enough_happened(void **state)
{
    int64_t first, last;

    (void)state;
    seeds_to_run(SEEDS, &first, &last);
    print_message(
        "%lld schedules: %d deaths, %d moves, %d taken by code, %d answers, %d cut short, "
        "%d parked, %d marked repeats, %d with threads that were left\n",
        (long long)(last - first + 1), stats.deaths, stats.moves, stats.takes, stats.answers,
        stats.cuts, stats.parked, stats.repeats, stats.left);
    /* A simulation in which nothing happens would pass as well. */
    if (last - first + 1 >= SEEDS)
        assert_true(stats.deaths > SEEDS && stats.parked > 0 && stats.repeats > 0 &&
                    stats.cuts > 0 && stats.takes > 0 && stats.left > 0);
}

static int begin(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    gate.process.n_handles = other.process.n_handles = terminal.n_handles = 0;
    sqlite3_auto_extension((void (*)(void))on_open);
    world_open(&sim.world);
    sim.meanwhile = meanwhile;
    settings_defaults(&settings);
    configs[0] = (PlatformConfig){ true, .home_channel = STR("55"), .allowed = STR("55") };
    configs[1] = (PlatformConfig){ true, .home_channel = STR("600"), .allowed = STR("55") };
    chats_begin();
    carrier_born(&gate);
    carrier_born(&other);
    sim.opening = &gate.process;
    OK((gate_work = own_store_open(sim.world.data, &err)) != NULL);
    OK((agent_runs = runs_open(sim.world.data, &err)) != NULL);
    sim.opening = &terminal;
    OK((terminal_journal = own_store_open(sim.world.data, &err)) != NULL);
    OK((terminal_runs = runs_open(sim.world.data, &err)) != NULL);
    sim.opening = NULL;
    assert_int_equal(gate.process.n_handles, GATE_HANDLES);
    next_life(&terminal);
    return 0;
}

static int end(void **state)
{
    (void)state;
    other.worker = worker_free(other.worker);
    own_store_close(gate.journal);
    own_store_close(other.journal);
    own_store_close(gate_work);
    own_store_close(terminal_journal);
    runs_close(agent_runs);
    runs_close(terminal_runs);
    arena_free(gate.arena);
    arena_free(other.arena);
    gate.worker = worker_free(gate.worker);
    sqlite3_reset_auto_extension();
    world_close(&sim.world);
    return 0;
}

static int begin_without_log(void **state)
{
    no_wal(true);
    return begin(state);
}

static int end_without_log(void **state)
{
    int failed = end(state);

    no_wal(false);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(with_a_log, begin, end),
        cmocka_unit_test_setup_teardown(with_a_rollback_journal, begin_without_log,
                                        end_without_log),
        cmocka_unit_test(enough_happened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

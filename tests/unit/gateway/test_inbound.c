/* From the inbox to agents and commands: who is heard, what is answered, and that nothing is lost
 * or done twice. */
#include "handoff_world.h"

#include "base/limits.h"
#include "chat/connections.h"
#include "chat/home_channels.h"
#include "chat/people.h"
#include "gateway/authorise.h"
#include "gateway/commands.h"
#include "handoff/take_codes.h"
#include "platforms/read.h"

enum { MAX_SAID = 64 };

/* A double of turns.h that remembers what it was told. */
struct Turns {
    World world;
    GatewayConnection served[2];
    PlatformConfig config[2];
    InboundOptions options;
    size_t messages, said, busy_after; /* busy_after 0: never */
    int64_t last_seq;
    Trust trust; /* of the last message */
    bool in_order, running, broken, locked;
    Str text, words[MAX_SAID], ids[MAX_SAID], session, resumed;
    ChatAddress to;
    Str choice, choice_key;
    int64_t answered_ms;
    bool stopped, forgotten, nameless, busy_claim;
    size_t claims;
    Str claimed_by;
    TurnsDoing doing;
};

/* -- a platform with groups, on no connection at all -- */

static struct Turns *now_open;

static bool fake_identity(Connection *c, Arena *a, Identity *ret)
{
    (void)c;
    (void)a;
    if (now_open->nameless)
        return false;
    *ret = (Identity){ .id = STR("99"), .name = STR("ourbot") };
    return true;
}

static void fake_health(Connection *c, Arena *a, Health *ret)
{
    (void)c;
    (void)a;
    *ret = (Health){ .state = CONNECTION_UP, .since_ms = 1 };
}

static bool fake_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret, Err *err)
{
    (void)c;
    (void)a;
    if (now_open->broken)
        return err_set(err, ERR_REFUSED, "we may not write there");
    *ret = (HomeChannel){ .chat_id = chat_id,
                          .name = STR("Team"),
                          .chat_type = STR("group"),
                          .owner_id = owner,
                          .topics = true };
    return true;
}

/* {"u": user, "c": chat, "t": its type, "at": addressed, "text"}; without a text it is no
 * message. */
static bool fake_parse(Arena *a, Str update, const Identity *me, Inbound *ret, bool *ret_is,
                       Err *err)
{
    PyValue v;

    if (!update_read(a, update, "telegram", &v, err))
        return false;
    *ret_is = update_text(&v, "text").p != NULL;
    *ret = (Inbound){ .place = { .platform = STR("telegram"),
                                 .chat_id = update_text(&v, "c"),
                                 .chat_type = update_text(&v, "t"),
                                 .user_id = update_text(&v, "u"),
                                 .user_name = STR("Ada") },
                      .text = update_text(&v, "text"),
                      .roles = update_text(&v, "r"),
                      .by_bot = str_eqz(update_text(&v, "u"), "66"),
                      .by_us = str_eq(update_text(&v, "u"), me->id),
                      .addressed = update_true(&v, "at") };
    return true;
}

static const Shape fake_shape = { .name = "telegram", .parse = fake_parse };
static const Platform fake_telegram = {
    .shape = &fake_shape, .identity = fake_identity, .health = fake_health, .look = fake_look
};
static const Platform fake_local = {
    .shape = &shape_local, .identity = fake_identity, .health = fake_health, .look = fake_look
};

/* -- turns -- */

static bool on_message(Turns *t, const InboxRow *row, const Inbound *in, Trust trust, Err *err)
{
    if (t->busy_after && t->messages >= t->busy_after)
        return err_set(err, ERR_BUSY, "full");
    assert_int_equal(row->state, INBOX_TAKEN);
    t->in_order &= row->seq > t->last_seq;
    t->last_seq = row->seq;
    t->messages++;
    t->trust = trust;
    t->text = str_dup(t->world.arena, in->text);
    return inbox_end(t->world.journal, row->seq, INBOX_DONE, STR(""), err);
}

static bool on_say(Turns *t, const ChatAddress *to, Str id, Str text, Err *err)
{
    (void)err;
    assert_true(t->said < MAX_SAID);
    t->ids[t->said] = str_dup(t->world.arena, id);
    t->words[t->said++] = str_dup(t->world.arena, text);
    t->to = *to;
    return true;
}

static bool on_stop(Turns *t, Str key, bool *ret, Err *err)
{
    (void)key;
    (void)err;
    t->stopped = true;
    *ret = t->running;
    return true;
}

static bool on_approve(Turns *t, Str key, Str choice, int64_t received_ms, Err *err)
{
    if (!t->running)
        return err_set(err, ERR_NOT_FOUND, "nothing waits");
    t->choice = str_dup(t->world.arena, choice);
    t->choice_key = str_dup(t->world.arena, key);
    t->answered_ms = received_ms;
    return true;
}

static bool on_session(Turns *t, Arena *a, Str key, Str *ret, Err *err)
{
    (void)a;
    (void)key;
    if (t->locked)
        return err_set(err, ERR_BUSY, "the database is locked");
    *ret = t->session;
    return true;
}

static bool on_forget(Turns *t, Str key, Err *err)
{
    (void)key;
    (void)err;
    t->forgotten = true;
    return true;
}

static bool on_resume(Turns *t, const ChatAddress *at, Str session_id, Err *err)
{
    (void)at;
    (void)err;
    t->resumed = str_dup(t->world.arena, session_id);
    return true;
}

static bool on_claim(Turns *t, const ChatAddress *at, Err *err)
{
    t->claims++;
    t->claimed_by = str_dup(t->world.arena, at->user_id);
    return !t->busy_claim || err_set(err, ERR_BUSY, "the agent speaks there");
}

static TurnsDoing on_doing(Turns *t, Str key)
{
    (void)key;
    return t->doing;
}

static void setup(struct Turns *t)
{
    static Home homes_all[2];
    static Homes homes;

    *t = (struct Turns){ .in_order = true };
    now_open = t;
    world_open(&t->world);
    homes_all[0] =
        (Home){ .kind = HOME_OURS,
                .name = STR("talaria"),
                .path = t->world.data,
                .database = str_join_path(t->world.arena, t->world.data, STR("talaria.db")),
                .present = true };
    homes = (Homes){ .all = homes_all, .n = 1, .primary = homes_all, .data = t->world.data };
    t->config[1] = (PlatformConfig){ .enabled = true, .allowed = STR("7, 8") };
    t->served[0] = (GatewayConnection){ &fake_local, NULL, &t->config[0] };
    t->served[1] = (GatewayConnection){ &fake_telegram, NULL, &t->config[1] };
    t->options = (InboundOptions){
        .journal = t->world.journal,
        .homes = &homes,
        .served = t->served,
        .n_served = 2,
        .flags = KEY_FLAGS,
        .sinks = { t, on_message, on_say, on_stop, on_approve, on_session, on_forget, on_resume,
                   on_claim, on_doing },
    };
}

static void teardown(struct Turns *t)
{
    world_close(&t->world);
}

/* -- helpers -- */

static bool round_of(struct Turns *t)
{
    bool later = false;

    OK(inbound_round(&t->options, &later, &err));
    return later;
}

static void put(struct Turns *t, const char *platform, const char *id, Str json)
{
    InboxUpdate u = { str_of(id), json };
    size_t new;

    OK(inbox_put(t->world.journal, str_of(platform), &u, 1, STR(""), &new, &err));
}

static void local(struct Turns *t, const char *id, const char *text)
{
    put(t, "local", id,
        str_printf(t->world.arena,
                   "{\"channel\":\"home\",\"user\":\"you\",\"text\":\"%s\",\"id\":\"%s\"}", text,
                   id));
}

static void telegram(struct Turns *t, const char *id, int user, bool group, const char *text)
{
    put(t, "telegram", id,
        str_printf(t->world.arena,
                   "{\"u\":\"%d\",\"c\":\"%d\",\"t\":\"%s\",\"at\":%s,\"text\":\"%s\"}", user,
                   group ? -5 : user, group ? "group" : "dm",
                   strstr(text, "@ourbot") ? "true" : "false", text));
}

static Str state_of(struct Turns *t, const char *id)
{
    return world_ask(&t->world, t->world.data,
                     str_printf(t->world.arena,
                                "SELECT state || coalesce(': ' || reason, '') FROM inbox WHERE id "
                                "= '%s'",
                                id)
                         .p);
}

static bool has(Str s, const char *part)
{
    return str_find(s, str_of(part)) < s.n;
}

/* -- who is heard -- */

static void heard(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    local(&t, "1", "hello");
    round_of(&t);
    assert_int_equal(t.messages, 1);
    assert_str(t.text, STR("hello"));
    telegram(&t, "10", 7, false, "on the list");
    telegram(&t, "11", 66, false, "a bot");
    telegram(&t, "12", 7, true, "not addressed");
    telegram(&t, "13", 9, true, "@ourbot a stranger in a group");
    telegram(&t, "14", 99, false, "ourselves");
    put(&t, "telegram", "15", STR("{\"poll\":{}}"));
    put(&t, "telegram", "16", STR("{\"update_id\":"));
    put(&t, "matrix", "17", STR("{}"));
    telegram(&t, "18", 7, false, " ");
    telegram(&t, "19", 7, false, "half \\ud800 a pair");
    round_of(&t);
    assert_int_equal(t.messages, 2);
    assert_str(t.text, STR("on the list"));
    assert_int_equal(t.said, 0);
    assert_str(state_of(&t, "11"), STR("ignored: of a bot"));
    assert_str(state_of(&t, "12"), STR("ignored: not addressed to us"));
    assert_str(state_of(&t, "13"), STR("ignored: of a stranger in a group"));
    assert_str(state_of(&t, "14"), STR("ignored: our own words"));
    assert_str(state_of(&t, "15"), STR("ignored: no message"));
    assert_true(str_starts(state_of(&t, "16"), STR("ignored: ")));
    assert_str(state_of(&t, "17"), STR("parked: nobody serves the platform"));
    assert_str(state_of(&t, "18"), STR("ignored: without words"));
    assert_str(state_of(&t, "19"), STR("ignored: not UTF-8"));
    assert_false(round_of(&t));
    assert_int_equal(t.messages, 2);
    teardown(&t);
}

static void our_threads(void **unused)
{
    struct Turns t;
    ChatAddress ours = { .platform = STR("telegram"),
                         .chat_id = STR("-5"),
                         .chat_type = STR("group") };

    (void)unused;
    setup(&t);
    OK(topic_keep(t.world.journal, &ours, &err));
    telegram(&t, "1", 7, true, "without a mention");
    round_of(&t);
    assert_int_equal(t.messages, 1);
    teardown(&t);
}

static void strangers(void **unused)
{
    struct Turns t;
    Person *all, p;
    size_t n;

    (void)unused;
    setup(&t);
    telegram(&t, "1", 9, false, "let me in");
    telegram(&t, "2", 9, false, "please");
    telegram(&t, "3", 9, false, "/handoff cli");
    round_of(&t);
    assert_int_equal(t.messages, 0);
    assert_int_equal(t.said, 1); /* one answer */
    assert_str(state_of(&t, "3"), STR("ignored: of a stranger"));
    OK(people_list(t.world.journal, t.world.arena, &all, &n, &err));
    assert_int_equal(n, 1);
    assert_true(
        has(t.words[0], str_printf(t.world.arena, "pair approve %.*s", STR_FMT(all[0].code)).p));
    OK(person_approve(t.world.journal, t.world.arena, all[0].code, &p, &err));
    telegram(&t, "4", 9, false, "thank you");
    round_of(&t);
    assert_int_equal(t.messages, 1);
    teardown(&t);
}

/* A group in which everyone may speak; private chats with strangers are another matter. */
static void groups_and_silence(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    t.config[1].allowed_chats = STR("-4, -5");
    t.config[1].ignores_strangers = true;
    telegram(&t, "1", 9, true, "@ourbot hello");
    telegram(&t, "2", 9, true, "to somebody else");
    telegram(&t, "3", 9, false, "let me in");
    round_of(&t);
    assert_int_equal(t.messages, 1);
    assert_int_equal(t.said, 0);
    assert_str(state_of(&t, "1"), STR("done"));
    assert_str(state_of(&t, "2"), STR("ignored: not addressed to us"));
    assert_str(state_of(&t, "3"), STR("ignored: of a stranger"));
    t.config[1].allowed_chats = STR("*");
    telegram(&t, "4", 9, true, "@ourbot hello");
    round_of(&t);
    assert_str(state_of(&t, "4"), STR("ignored: of a stranger in a group"));
    teardown(&t);
}

static void lists(void **unused)
{
    static const struct {
        const char *list, *user;
        bool is;
    } cases[] = {
        { "7", "7", true },         { "7,8", "8", true }, { " 7 , 8 ", "8", true },
        { "*", "9", true },         { "", "9", false },   { "77", "7", false },
        { "7", "77", false },       { ",", "", false },   { "ada", "ada@example.org", true },
        { "ada@x", "ada@y", false }
    };

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(is_listed(str_of(cases[i].list), str_of(cases[i].user)), cases[i].is);
}

static void roles(void **unused)
{
    static const struct {
        const char *list, *roles;
        bool may;
    } cases[] = {
        { "801", "801", true }, { "800, 801", "1,801", true },
        { "80", "801", false }, { "801", "80", false },
        { "", "", false },      { "", "801", false },
        { "801", "", false },   { "*", "801", false },
        { ",", ",", false },    { "802,803", "803,4", true },
    };
    struct Turns t;

    (void)unused;
    setup(&t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        PlatformConfig config = { .allowed = STR("7"), .allowed_roles = str_of(cases[i].list) };
        Inbound in = { .place = { .platform = STR("discord"),
                                  .chat_id = STR("600"),
                                  .chat_type = STR("group"),
                                  .user_id = STR("55") },
                       .roles = str_of(cases[i].roles),
                       .addressed = true };
        Verdict v;

        OK(authorise(t.world.journal, t.world.arena, &config, &in, &v, &err));
        assert_int_equal(v.may, cases[i].may);
        in.by_bot = true;
        OK(authorise(t.world.journal, t.world.arena, &config, &in, &v, &err));
        assert_false(v.may);
    }
    teardown(&t);
}

/* -- waiting -- */

static void burst(void **unused)
{
    enum { MANY = 10000 };
    struct Turns t;
    InboxUpdate *all;
    size_t new = 0;
    int rounds = 0;

    (void)unused;
    setup(&t);
    all = ARENA_ARRAY(t.world.arena, InboxUpdate, MANY);
    for (int i = 0; i < MANY; i++)
        all[i] = (InboxUpdate){
            str_printf(t.world.arena, "%d", i),
            str_printf(t.world.arena, "{\"channel\":\"home\",\"user\":\"you\",\"text\":\"m %d\"}",
                       i),
        };
    OK(inbox_put(t.world.journal, STR("local"), all, MANY, STR("c"), &new, &err));
    OK(inbox_put(t.world.journal, STR("local"), all, MANY, STR("c"), &new, &err));
    assert_int_equal(new, 0);
    t.busy_after = 1;
    while (round_of(&t)) {
        t.busy_after += 700; /* agents become free */
        assert_true(++rounds < 100);
    }
    assert_int_equal(t.messages, MANY);
    assert_true(t.in_order);
    assert_str(t.text, STR("m 9999"));
    assert_str(world_ask(&t.world, t.world.data, "SELECT count(*) FROM inbox WHERE state = 'done'"),
               STR("10000"));
    assert_str(world_ask(&t.world, t.world.data, "SELECT max(attempt) FROM inbox"), STR("1"));
    teardown(&t);
}

/* A busy database holds up what comes behind, too: in a chat nothing overtakes. */
static void nothing_overtakes(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    OK(chat_moved(t.world.journal, STR("telegram"), STR("6"), STR("7"), &err));
    t.locked = true;
    telegram(&t, "1", 7, false, "first");
    local(&t, "2", "second");
    assert_true(round_of(&t));
    assert_str(state_of(&t, "1"), STR("new"));
    assert_str(state_of(&t, "2"), STR("new"));
    t.locked = false;
    assert_false(round_of(&t));
    assert_int_equal(t.messages, 2);
    assert_true(t.in_order);
    teardown(&t);
}

static void commands_pass(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    t.messages = t.busy_after = 1;
    local(&t, "1", "waits");
    local(&t, "2", "/stop");
    local(&t, "3", "waits too");
    assert_true(round_of(&t));
    assert_true(t.stopped);
    assert_str(state_of(&t, "1"), STR("new"));
    assert_str(state_of(&t, "2"), STR("done"));
    assert_str(state_of(&t, "3"), STR("new"));
    t.busy_after = 0;
    assert_false(round_of(&t));
    assert_true(t.in_order);
    assert_int_equal(t.messages, 3);
    teardown(&t);
}

/* What an agent asks is answered by whoever may speak there, also while all agents are busy. */
static void answers_to_agents(void **unused)
{
    static const struct {
        const char *typed, *choice, *said;
    } rows[] = {
        { "/approve", "once", "Approved once." },
        { "/approve SESSION", "session", "Approved for the rest of the session." },
        { "/approve always", "always", "Approved permanently." },
        { "/deny", "deny", "Denied." },
        { "/deny please", "deny", "Denied." },
        { "/approve maybe", NULL,
          "This did not work: unknown choice 'maybe'; use /approve, /approve session, /approve "
          "always "
          "or /deny" },
    };
    struct Turns t;

    (void)unused;
    setup(&t);
    t.messages = t.busy_after = 1;
    t.running = true;
    local(&t, "waits", "waits");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char id[8];

        snprintf(id, sizeof id, "%zu", i);
        t.choice = STR("");
        local(&t, id, rows[i].typed);
        round_of(&t);
        assert_int_equal(t.said, i + 1);
        assert_str(t.words[i], str_of(rows[i].said));
        assert_str(t.choice, str_of(rows[i].choice ? rows[i].choice : ""));
    }
    assert_str(t.choice_key, STR("agent:main:local:dm:home"));
    assert_true(t.answered_ms > 0);
    t.running = false;
    local(&t, "late", "/approve");
    round_of(&t);
    assert_str(t.words[ARRAY_LEN(rows)], STR("This did not work: nothing waits"));
    /* Somebody whom nobody knows, in the same group. */
    t.running = true;
    t.choice = STR("");
    telegram(&t, "eve", 9, false, "/approve");
    round_of(&t);
    assert_str(state_of(&t, "eve"), STR("ignored: of a stranger"));
    assert_str(t.choice, STR(""));
    teardown(&t);
}

static void unknown_selves(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    t.nameless = true;
    telegram(&t, "1", 7, false, "who are you");
    assert_true(round_of(&t));
    assert_str(state_of(&t, "1"), STR("new"));
    t.nameless = false;
    assert_false(round_of(&t));
    assert_int_equal(t.messages, 1);
    teardown(&t);
}

/* A command whose process died before it was noted as done is answered again, under the same
 * name. */
static void answered_once(void **unused)
{
    struct Turns t;
    size_t again, parked;

    (void)unused;
    setup(&t);
    local(&t, "1", "/help");
    round_of(&t);
    world_sql(&t.world, t.world.data, "UPDATE inbox SET state = 'taken'");
    OK(inbox_recover(t.world.journal, &again, &parked, &err));
    round_of(&t);
    assert_int_equal(t.said, 2);
    assert_str(t.ids[0], t.ids[1]);
    assert_str(t.ids[0], STR("answer:local:1"));
    teardown(&t);
}

/* -- commands -- */

static void reads_words(void **unused)
{
    static const struct {
        const char *platform, *text, *name, *rest; /* name NULL: no command */
        int command;
    } cases[] = {
        { "local", "/help", "help", "", CHAT_HELP },
        { "local", "  /Resume  2 ", "Resume", "2", CHAT_RESUME },
        { "telegram", "/status@ourbot now", "status", "now", CHAT_STATUS },
        { "telegram", "/status@OURBOT", "status", "", CHAT_STATUS },
        { "telegram", "/status@other", NULL, NULL, 0 },
        { "slack", "!stop", "stop", "", CHAT_STOP },
        { "slack", "!important", NULL, NULL, 0 },
        { "local", "!stop", NULL, NULL, 0 },
        { "local", "/etc/hosts is gone", NULL, NULL, 0 },
        { "local", "/", NULL, NULL, 0 },
        { "local", "/nonsense", "nonsense", "", -1 },
        { "local", "no / command", NULL, NULL, 0 },
        { "local", "/handoff\ncli", "handoff", "cli", CHAT_HANDOFF },
    };
    Identity me = { .name = STR("ourbot") };

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Inbound in = { .place = { .platform = str_of(cases[i].platform) },
                       .text = str_of(cases[i].text) };
        ChatWords w;
        bool is = chat_words(&in, &me, &w);

        assert_int_equal(is, cases[i].name != NULL);
        if (is) {
            assert_str(w.name, str_of(cases[i].name));
            assert_str(w.rest, str_of(cases[i].rest));
            assert_int_equal(w.command, cases[i].command);
        }
    }
}

static Str told(struct Turns *t, const char *id, const char *text)
{
    size_t before = t->said;

    local(t, id, text);
    round_of(t);
    assert_int_equal(t->said, before + 1);
    assert_str(state_of(t, id), STR("done"));
    return t->words[t->said - 1];
}

static void simple_ones(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    assert_true(has(told(&t, "1", "/help"), "/sethome"));
    assert_true(has(told(&t, "2", "/what"), "/help"));
    assert_true(has(told(&t, "3", "/stop"), "Nothing"));
    t.running = true;
    assert_true(has(told(&t, "4", "/stop"), "Stopped"));
    assert_true(has(told(&t, "5", "/new"), "new session"));
    assert_true(t.forgotten);
    assert_true(has(told(&t, "6", "/status"), "No session here yet"));
    t.session = STR("s1");
    world_sql(&t.world, t.world.data,
              "UPDATE sessions SET model = 'm-1', cwd = '/src' WHERE id = 's1'");
    assert_true(has(told(&t, "7", "/status"), "Id: s1\nFolder: /src\nModel: m-1\n"));
    assert_true(has(t.words[t.said - 1], "State: idle"));
    t.doing = TURNS_RUNNING;
    assert_true(has(told(&t, "8", "/status"), "State: the agent is answering; /stop"));
    t.doing = TURNS_ASKING;
    assert_true(has(told(&t, "9", "/status"), "/approve or /deny"));
    assert_int_equal(t.messages, 0);
    teardown(&t);
}

static void resumes(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    assert_true(has(told(&t, "1", "/sessions"), "no sessions"));
    world_sql(&t.world, t.world.data,
              "UPDATE sessions SET source = 'local', chat_id = 'home', chat_type = 'dm', title = "
              "'Tests' WHERE id = 's1';"
              "UPDATE sessions SET source = 'local', chat_id = 'home', chat_type = 'dm', title = "
              "'Docs' WHERE id = 's2';"
              "UPDATE sessions SET source = 'local', chat_id = 'other', chat_type = 'dm' WHERE id "
              "= 's3'");
    assert_true(has(told(&t, "2", "/resume"), "1. Docs (s2"));
    told(&t, "3", "/resume 2");
    assert_str(t.resumed, STR("s1"));
    told(&t, "4", "/resume docs");
    assert_str(t.resumed, STR("s2"));
    /* An id of another chat opens nothing. */
    assert_true(has(told(&t, "5", "/resume s3"), "no session 's3' in this chat"));
    assert_str(t.resumed, STR("s2"));
    teardown(&t);
}

/* Whoever runs the agent goes on with what was begun at a terminal; others do not even hear of
 * it. */
static void sessions_of_elsewhere(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    world_sql(&t.world, t.world.data, "UPDATE sessions SET title = 'At home' WHERE id = 's2'");
    assert_true(has(told(&t, "1", "/sessions all"), "2. At home (s2"));
    assert_true(has(t.words[t.said - 1], "/resume --all NUMBER"));
    assert_true(has(told(&t, "2", "/resume --all 2"), "At home"));
    assert_str(t.resumed, STR("s2"));
    (void)told(&t, "3", "/resume s3 --all");
    assert_str(t.resumed, STR("s3"));
    (void)told(&t, "4", "/resume --all at home");
    assert_str(t.resumed, STR("s2"));
    assert_true(has(told(&t, "5", "/resume --all nowhere"), "no session 'nowhere'"));
    /* By their own number on the list, and where nobody else reads. */
    telegram(&t, "20", 7, false, "/resume --all s1");
    round_of(&t);
    assert_str(t.resumed, STR("s1"));
    telegram(&t, "21", 7, true, "/resume@ourbot --all s2");
    round_of(&t);
    assert_true(has(t.words[t.said - 1], "private chat"));
    t.config[1].allowed = STR("*");
    telegram(&t, "22", 7, false, "/sessions all");
    round_of(&t);
    assert_true(has(t.words[t.said - 1], "platforms.telegram.allowed"));
    assert_str(t.resumed, STR("s1"));
    teardown(&t);
}

static void back_to_the_terminal(void **unused)
{
    struct Turns t;

    (void)unused;
    setup(&t);
    assert_true(has(told(&t, "1", "/handoff back"), "no session here yet"));
    t.session = STR("s1");
    t.doing = TURNS_RUNNING;
    assert_true(has(told(&t, "2", "/handoff back"), "/stop first"));
    assert_false(t.forgotten);
    t.doing = TURNS_IDLE;
    assert_true(has(told(&t, "3", "/handoff Back"), "talaria chat --resume s1"));
    assert_true(t.forgotten);
    teardown(&t);
}

static void homes_and_handoffs(void **unused)
{
    struct Turns t;
    Str code, home, session;
    HomeChannel found;

    (void)unused;
    setup(&t);
    assert_true(has(told(&t, "1", "/handoff"), "/handoff telegram"));
    assert_true(has(told(&t, "2", "/handoff cli"), "no session here yet"));
    t.session = STR("s1");
    assert_true(has(told(&t, "3", "/handoff irc"), "not connected"));
    assert_true(has(told(&t, "4", "/handoff local"), "already"));
    assert_true(has(told(&t, "5", "/handoff telegram"), "no home channel"));
    code = told(&t, "6", "/handoff cli");
    code = str_skip(code, code.n - CODE_CHARS);
    OK(take_code_use(t.world.journal, t.world.arena, code, &home, &session, &err));
    assert_str(home, t.world.data);
    assert_str(session, STR("s1"));

    telegram(&t, "20", 7, true, "/sethome@ourbot");
    t.broken = true;
    round_of(&t);
    assert_true(has(t.words[t.said - 1], "may not write there"));
    FAILS(home_get(t.world.journal, t.world.arena, STR("telegram"), STR(""), &found, &err),
          ERR_NOT_FOUND);
    t.broken = false;
    telegram(&t, "21", 7, true, "/sethome@ourbot");
    round_of(&t);
    assert_true(has(t.words[t.said - 1], "it does not support threads. Everyone in"));
    OK(home_get(t.world.journal, t.world.arena, STR("telegram"), STR(""), &found, &err));
    assert_str(found.chat_id, STR("-5"));
    assert_str(found.owner_id, STR("7"));
    assert_str(found.chat_type, STR("group"));
    assert_true(found.topics);

    assert_true(has(told(&t, "30", "/handoff Telegram"), "Moving the session to telegram"));
    assert_str(world_ask(&t.world, t.world.data,
                         "SELECT platform || ' ' || session_id || ' ' || state FROM handoff"),
               STR("telegram s1 queued"));
    teardown(&t);
}

/* -- who may do what -- */

/* Everyone who may speak, by the way they were let in. */
static const struct {
    const char *what, *allowed, *roles, *chats;
    int user;
    bool group, coded;
    Trust trust;
} people[] = {
    { "named, in private", "7", "", "", 7, false, false, TRUST_OWNER },
    { "named and everyone, in private", "7,*", "", "", 7, false, false, TRUST_OWNER },
    { "named, in a group", "7", "", "", 7, true, false, TRUST_NAMED },
    { "everyone, in private", "*", "", "", 7, false, false, TRUST_GUEST },
    { "everyone, in a group", "*", "", "", 7, true, false, TRUST_GUEST },
    { "by a code, in private", "8", "", "", 9, false, true, TRUST_GUEST },
    { "by a code, in a group", "8", "", "", 9, true, true, TRUST_GUEST },
    { "by a role", "8", "801", "", 9, true, false, TRUST_GUEST },
    { "in an open group", "8", "", "-5", 9, true, false, TRUST_GUEST },
    { "named, in an open group", "7", "", "-5", 7, true, false, TRUST_NAMED },
};

/* What each command is worth: once more beside the table, so that a change of the table is
 * meant. */
static const struct {
    const char *text;
    Trust min;
} priced[] = {
    { "new", TRUST_GUEST },
    { "resume", TRUST_GUEST },
    { "resume 1", TRUST_GUEST },
    { "sessions", TRUST_GUEST },
    { "status", TRUST_GUEST },
    { "stop", TRUST_GUEST },
    { "deny", TRUST_GUEST },
    { "help", TRUST_GUEST },
    { "approve", TRUST_NAMED },
    { "handoff", TRUST_NAMED },
    { "sethome", TRUST_NAMED },
    { "resume --all", TRUST_OWNER },
    { "approve always", TRUST_NAMED },
    { "handoff cli", TRUST_NAMED },
    { "handoff back", TRUST_NAMED },
    { "handoff local", TRUST_NAMED },
    { "resume --all s1", TRUST_OWNER },
    { "resume s1 --all", TRUST_OWNER },
    { "sessions all", TRUST_OWNER },
};

static void let_in(struct Turns *t, size_t i)
{
    setup(t);
    t->session = STR("s1");
    t->running = true;
    t->config[1].allowed = str_of(people[i].allowed);
    t->config[1].allowed_roles = str_of(people[i].roles);
    t->config[1].allowed_chats = str_of(people[i].chats);
    if (people[i].coded) {
        Str code;
        Person p;

        OK(person_ask(t->world.journal, t->world.arena, STR("telegram"),
                      str_printf(t->world.arena, "%d", people[i].user), STR("Eve"), &code, &err));
        OK(person_approve(t->world.journal, t->world.arena, code, &p, &err));
    }
}

static void types(struct Turns *t, size_t i, size_t number, Str text)
{
    Arena *a = t->world.arena;

    put(t, "telegram", str_z(a, str_printf(a, "%zu", number)),
        str_printf(
            a,
            "{\"u\":\"%d\",\"c\":\"%d\",\"t\":\"%s\",\"at\":true,\"r\":\"%s\",\"text\":\"%.*s\"}",
            people[i].user, people[i].group ? -5 : people[i].user, people[i].group ? "group" : "dm",
            people[i].roles, STR_FMT(text)));
    round_of(t);
}

static void privileges(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(people); i++) {
        for (size_t k = 0; k < ARRAY_LEN(priced); k++) {
            struct Turns t;
            bool refused;

            let_in(&t, i);
            types(&t, i, k + 1, str_printf(t.world.arena, "/%s", priced[k].text));
            assert_true(t.said >= 1);
            refused =
                has(t.words[t.said - 1], "people whose user id is in platforms.telegram.allowed") ||
                has(t.words[t.said - 1], "only be opened in a private chat");
            if (refused != (people[i].trust < priced[k].min))
                fail_msg("%s: /%s: %.*s", people[i].what, priced[k].text,
                         STR_FMT(t.words[t.said - 1]));
            if (refused)
                assert_false(t.resumed.n || t.choice.n || t.forgotten);
            teardown(&t);
        }
    }
#define X(id, word, who, all, about)                                                               \
    {                                                                                              \
        bool there = false;                                                                        \
        for (size_t k = 0; k < ARRAY_LEN(priced); k++)                                             \
            there |= !strcmp(priced[k].text, word) && priced[k].min == (who);                      \
        if (!there)                                                                                \
            fail_msg("/%s has another price here", word);                                          \
    }
    CHAT_COMMANDS(X)
#undef X
}

/* Who asks goes on with the message. */
static void trust_travels(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(people); i++) {
        struct Turns t;

        let_in(&t, i);
        types(&t, i, 1, STR("hello"));
        assert_int_equal(t.messages, 1);
        if (t.trust != people[i].trust)
            fail_msg("%s: %d", people[i].what, t.trust);
        /* A list that changed while it waited counts. */
        t.busy_after = 1;
        types(&t, i, 2, STR("again"));
        t.config[1].allowed = STR("*");
        t.busy_after = 0;
        round_of(&t);
        assert_int_equal(t.messages, 2);
        assert_int_equal(t.trust, TRUST_GUEST);
        teardown(&t);
    }
}

static void home_channels(void **unused)
{
    struct Turns t;
    HomeChannel found;

    (void)unused;
    setup(&t);
    /* Not above the configuration. */
    t.config[1].home_channel = STR("-9");
    telegram(&t, "1", 7, true, "/sethome@ourbot");
    round_of(&t);
    assert_true(has(t.words[t.said - 1], "the configuration names '-9' as the home channel"));
    FAILS(home_get(t.world.journal, t.world.arena, STR("telegram"), STR(""), &found, &err),
          ERR_NOT_FOUND);
    /* The one before hears of it, once. */
    t.config[1].home_channel = STR("");
    telegram(&t, "2", 7, true, "/sethome@ourbot");
    round_of(&t);
    assert_int_equal(t.said, 2);
    telegram(&t, "3", 7, true, "/sethome@ourbot");
    round_of(&t);
    assert_int_equal(t.said, 3);
    telegram(&t, "4", 8, false, "/sethome");
    round_of(&t);
    assert_int_equal(t.said, 5);
    assert_true(has(t.words[3], "no longer arrive here: Ada made 'Team' the home channel"));
    assert_true(has(t.ids[3], "home:answer:telegram:4"));
    assert_true(has(t.words[4], "is now the home channel"));
    OK(home_get(t.world.journal, t.world.arena, STR("telegram"), STR(""), &found, &err));
    assert_str(found.chat_id, STR("8"));
    /* What the configuration names counts before what was said. */
    FAILS(home_get(t.world.journal, t.world.arena, STR("telegram"), STR("-9"), &found, &err),
          ERR_NOT_FOUND);
    OK(home_get(t.world.journal, t.world.arena, STR("telegram"), STR("8"), &found, &err));
    OK(chat_moved(t.world.journal, STR("telegram"), STR("8"), STR("-108"), &err));
    OK(home_get(t.world.journal, t.world.arena, STR("telegram"), STR("8"), &found, &err));
    assert_str(found.chat_id, STR("-108"));
    teardown(&t);
}

/* A session that waits for somebody is for those who are named, also by a command; and no message
 * overtakes it. */
static void who_claims(void **state)
{
    struct Turns t;

    (void)state;
    setup(&t);
    t.config[1].allowed = STR("7, *");
    telegram(&t, "1", 9, true, "@ourbot who am I");
    (void)round_of(&t);
    assert_int_equal(t.messages, 1);
    assert_int_equal(t.trust, TRUST_GUEST);
    assert_int_equal(t.claims, 0);

    t.busy_claim = true;
    telegram(&t, "2", 7, true, "@ourbot go on");
    assert_true(round_of(&t));
    assert_int_equal(t.messages, 1);
    assert_str(state_of(&t, "2"), STR("new"));
    t.busy_claim = false;
    assert_false(round_of(&t));
    assert_int_equal(t.messages, 2);
    assert_str(t.claimed_by, STR("7"));

    t.claims = 0;
    telegram(&t, "3", 7, true, "@ourbot /status");
    (void)round_of(&t);
    assert_int_equal(t.claims, 1);
    teardown(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heard),
        cmocka_unit_test(our_threads),
        cmocka_unit_test(strangers),
        cmocka_unit_test(groups_and_silence),
        cmocka_unit_test(lists),
        cmocka_unit_test(roles),
        cmocka_unit_test(burst),
        cmocka_unit_test(nothing_overtakes),
        cmocka_unit_test(commands_pass),
        cmocka_unit_test(answers_to_agents),
        cmocka_unit_test(unknown_selves),
        cmocka_unit_test(answered_once),
        cmocka_unit_test(reads_words),
        cmocka_unit_test(simple_ones),
        cmocka_unit_test(resumes),
        cmocka_unit_test(sessions_of_elsewhere),
        cmocka_unit_test(back_to_the_terminal),
        cmocka_unit_test(homes_and_handoffs),
        cmocka_unit_test(privileges),
        cmocka_unit_test(trust_travels),
        cmocka_unit_test(home_channels),
        cmocka_unit_test(who_claims),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

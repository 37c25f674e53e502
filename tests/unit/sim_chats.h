/* sim_chats.h - two chat platforms in memory, and processes that die between any two statements.
 *
 * The platforms read and name places by their real shapes. One refuses repeats, the other does not
 * know them. Calls fail, last long or lose their answer; updates are dropped, doubled, delayed and
 * come in any order until they were acknowledged. Everything hangs on the dice of one seed. One
 * thread. */
#ifndef TALARIA_TESTS_SIM_CHATS_H
#define TALARIA_TESTS_SIM_CHATS_H

#include "handoff_world.h"

#include "chat/inbox.h"
#include "platforms/platform.h"

enum { CHATS = 2, MAX_SAID = 400, MAX_THREADS = 40, MAX_UPDATES = 120, MAX_HANDLES = 8 };

/* -- dice, death -- */

typedef struct Process {
    char name[32];  /* of this life */
    int statements; /* until it dies; below 0: it does not */
    bool dying;
    sqlite3 *handles[MAX_HANDLES]; /* that stay from life to life */
    size_t n_handles;
} Process;

static struct {
    unsigned seed;
    uint64_t random;
    bool calm; /* no more trouble: everything has to come to an end */
    int depth; /* of things that happen while something else lasts */
    int lives;
    Process *running; /* whose statements these are; NULL: of nobody who could die */
    Process *opening; /* whose handles these are */
    World world;
    void (*meanwhile)(void); /* the world goes on while somebody waits */
} sim;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %u: %s (line %d); TALARIA_SIM_SEED=%u runs it alone", sim.seed,         \
                     #condition, __LINE__, sim.seed);                                              \
    } while (0)

static uint32_t dice(uint32_t sides)
{
    sim.random ^= sim.random << 13;
    sim.random ^= sim.random >> 7;
    sim.random ^= sim.random << 17;
    return (uint32_t)(sim.random >> 11) % sides;
}

/* Trouble of one in so many. */
static bool bad_luck(uint32_t of)
{
    return !sim.calm && dice(of) == 0;
}

/* Death is for good: from the chosen statement on none comes through any more. */
static int before_statement(unsigned type, void *ctx, void *stmt, void *sql)
{
    Process *p = sim.running;

    (void)type;
    (void)ctx;
    (void)sql;
    if (!p || p->statements < 0)
        return 0;
    if (p->statements-- == 0 || p->dying) {
        p->dying = true;
        p->statements = 0;
        sqlite3_interrupt(sqlite3_db_handle(stmt));
    }
    return 0;
}

/* Every handle that is opened is one of the simulation's. */
static int on_open(sqlite3 *db, const char **ret_error, const void *api)
{
    (void)ret_error;
    (void)api;
    sqlite3_trace_v2(db, SQLITE_TRACE_STMT, before_statement, NULL);
    if (sim.opening && sim.opening->n_handles < MAX_HANDLES)
        sim.opening->handles[sim.opening->n_handles++] = db;
    return SQLITE_OK;
}

/* The kernel gives back the locks of the dead. */
static void give_back_locks(const Process *p)
{
    Process *before = sim.running;

    sim.running = NULL;
    for (size_t i = 0; i < p->n_handles; i++)
        if (!sqlite3_get_autocommit(p->handles[i]))
            (void)sqlite3_exec(p->handles[i], "ROLLBACK", NULL, NULL, NULL);
    sim.running = before;
}

/* What it knew is gone, and its name was never used. */
static void next_life(Process *p)
{
    give_back_locks(p);
    p->statements = -1;
    p->dying = false;
    snprintf(p->name, sizeof p->name, "p%d", ++sim.lives);
}

/* -- servers -- */

typedef struct Said {
    int id;
    char thread[16], key[96], text[256];
    bool repeat; /* marked as one that may be */
} Said;

typedef struct ChatUpdate {
    char id[16], text[64], json[512];
    double not_before;
    bool acknowledged;
    bool cut; /* somebody ended its answer: the next message, or /stop */
} ChatUpdate;

typedef struct Chat {
    const char *chat; /* the home chat */
    Platform platform;
    Said said[MAX_SAID];
    struct {
        char id[16], key[32];
        bool gone;
    } threads[MAX_THREADS];
    ChatUpdate updates[MAX_UPDATES];
    size_t n_said, n_threads, n_updates;
} Chat;

static Chat chats[CHATS];
static int names; /* of threads, messages and updates, for ever */

struct Connection {
    Chat *chat;
    Process *process;
};

/* What becomes of a call: true, and it is done; *ret_lost: but the answer does not arrive. */
static bool call(Connection *c, Sent *ret, bool *ret_lost, Err *err)
{
    uint32_t d = sim.calm ? 99 : dice(12);

    *ret = (Sent){ 0 };
    *ret_lost = d == 1;
    if (!c->process->dying && bad_luck(8) && sim.depth == 0) {
        sim.world.now += dice(2) ? 31 + dice(30) : 0; /* perhaps longer than the lease */
        sim.meanwhile();
    }
    if (c->process->dying || d == 0)
        return err_set(err, ERR_IO, "the connection broke");
    return true;
}

static bool answered(bool lost, Sent *ret, Err *err)
{
    ret->unsure = lost;
    return !lost || err_set(err, ERR_IO, "the answer was lost");
}

static Said *said_under(Chat *c, Str key)
{
    for (size_t i = 0; i < c->n_said; i++)
        if (str_eqz(key, c->said[i].key))
            return &c->said[i];
    return NULL;
}

/* Only of the first one: in the other one they are taken away by nobody but us. */
static bool is_gone_for_good(const Chat *chat, Str thread)
{
    for (size_t i = 0; chat == &chats[0] && i < chat->n_threads; i++)
        if (str_eqz(thread, chat->threads[i].id))
            return chat->threads[i].gone;
    return false;
}

static bool chat_send(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err)
{
    Str repeat = STR("(may be a repeat) ");
    Chat *chat = c->chat;
    Said *s;
    bool lost;

    if (!call(c, ret, &lost, err))
        return false;
    if (is_gone_for_good(chat, m->to->thread_id)) {
        ret->no_thread = true;
        return err_set(err, ERR_NOT_FOUND, "message thread not found");
    }
    s = chat->platform.knows_repeats ? said_under(chat, m->key) : NULL;
    if (!s) {
        CHECK(chat->n_said < MAX_SAID);
        s = &chat->said[chat->n_said++];
        *s = (Said){ .id = ++names, .repeat = str_starts(m->text, repeat) };
        snprintf(s->thread, sizeof s->thread, "%.*s", STR_FMT(m->to->thread_id));
        snprintf(s->key, sizeof s->key, "%.*s", STR_FMT(m->key));
        snprintf(s->text, sizeof s->text, "%.*s", STR_FMT(m->text));
    }
    ret->id = str_printf(a, "%d", s->id);
    return answered(lost, ret, err);
}

static bool chat_edit(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err)
{
    int64_t number = 0;
    bool lost;

    if (!call(c, ret, &lost, err))
        return false;
    CHECK(str_to_int(id, 1, INT32_MAX, &number));
    for (size_t i = 0; i < c->chat->n_said; i++) {
        Said *s = &c->chat->said[i];

        if (s->id != number)
            continue;
        if (is_gone_for_good(c->chat, str_of(s->thread)))
            return err_set(err, ERR_NOT_FOUND, "message to edit not found");
        snprintf(s->text, sizeof s->text, "%.*s", STR_FMT(m->text));
    }
    ret->id = str_dup(a, id);
    return answered(lost, ret, err);
}

static bool chat_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title, Str key,
                             Sent *ret, Err *err)
{
    Chat *chat = c->chat;
    size_t i = chat->n_threads;
    bool lost;

    (void)home;
    (void)title;
    if (!call(c, ret, &lost, err))
        return false;
    for (size_t k = 0; chat->platform.knows_repeats && k < chat->n_threads; k++)
        if (str_eqz(key, chat->threads[k].key))
            i = k;
    if (i == chat->n_threads) {
        CHECK(chat->n_threads < MAX_THREADS);
        chat->n_threads++;
        snprintf(chat->threads[i].id, sizeof chat->threads[i].id, "%d", 1000 + ++names);
        snprintf(chat->threads[i].key, sizeof chat->threads[i].key, "%.*s", STR_FMT(key));
        chat->threads[i].gone = false;
    }
    ret->id = str_printf(a, "%s", chat->threads[i].id);
    return answered(lost, ret, err);
}

static void chat_drop_thread(Connection *c, const HomeChannel *home, Str id)
{
    (void)home;
    for (size_t i = 0; !c->process->dying && i < c->chat->n_threads; i++)
        if (str_eqz(id, c->chat->threads[i].id))
            c->chat->threads[i].gone = true;
}

static bool chat_identity(Connection *c, Arena *a, Identity *ret)
{
    (void)c;
    (void)a;
    *ret = (Identity){ .id = STR("1"), .name = STR("talaria") };
    return true;
}

static void chat_health(Connection *c, Arena *a, Health *ret)
{
    (void)c;
    (void)a;
    *ret = (Health){ .state = CONNECTION_UP };
}

static bool chat_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret, Err *err)
{
    bool telegram = c->chat == &chats[0];

    (void)owner;
    (void)err;
    *ret = (HomeChannel){ .chat_id = str_dup(a, chat_id),
                          .chat_type = telegram ? STR("dm") : STR("group"),
                          .scope_id = telegram ? STR("") : STR("g1"),
                          .owner_id = STR("55"),
                          .topics = telegram };
    return true;
}

/* Growing words are shown by the simulation's own agent: no platform here is asked to type. */
static void chats_begin(void)
{
    Platform p = { .identity = chat_identity,
                   .health = chat_health,
                   .look = chat_look,
                   .send = chat_send,
                   .edit = chat_edit,
                   .open_thread = chat_open_thread,
                   .drop_thread = chat_drop_thread,
                   .anchors = true };

    for (int i = 0; i < CHATS; i++) {
        chats[i].platform = p;
        chats[i].n_said = chats[i].n_threads = chats[i].n_updates = 0;
    }
    chats[0].chat = "55";
    chats[0].platform.shape = &shape_telegram;
    chats[1].chat = "600";
    chats[1].platform.shape = &shape_discord;
    chats[1].platform.knows_repeats = true;
}

/* -- what people write -- */

/* In a thread, or (empty) in the home chat itself. */
static ChatUpdate *chat_write(Chat *c, const char *thread, const char *text)
{
    ChatUpdate *u = &c->updates[c->n_updates++];
    bool in = *thread != 0;
    char at[16];

    CHECK(c->n_updates <= MAX_UPDATES);
    *u = (ChatUpdate){ .not_before = sim.world.now + (bad_luck(3) ? dice(20) : 0) };
    snprintf(u->id, sizeof u->id, "%d", ++names);
    snprintf(u->text, sizeof u->text, "%s", text);
    snprintf(at, sizeof at, "%s", thread);
    if (c == &chats[0])
        snprintf(u->json, sizeof u->json,
                 "{\"update_id\":%d,\"message\":{\"message_id\":%d,%s%s%s\"from\":{\"id\":55},"
                 "\"chat\":{\"id\":55,\"type\":\"private\"},\"text\":\"%s\"}}",
                 names, names, in ? "\"is_topic_message\":true,\"message_thread_id\":" : "", at,
                 in ? "," : "", text);
    else
        snprintf(
            u->json, sizeof u->json,
            "{\"t\":\"MESSAGE_CREATE\",\"d\":{\"id\":\"%d\",\"channel_id\":\"%s\",\"guild_id\":"
            "\"g1\",\"author\":{\"id\":\"55\"},\"content\":\"%s\"%s},\"channel\":{\"type\":%s,"
            "\"parent_id\":\"600\"}}",
            names, in ? at : "600", text, in ? "" : ",\"mentions\":[{\"id\":\"1\"}]",
            in ? "11" : "0");
    return u;
}

/* Some of what is not acknowledged, in some order, some of it twice; what was acknowledged may come
 * again. */
static void chat_bring(Chat *c, OwnStore *own)
{
    InboxUpdate all[8];
    ChatUpdate *of[8];
    size_t n = 0, fresh;
    Err err;

    for (size_t i = 0; i < c->n_updates && n < 7; i++) {
        ChatUpdate *u = &c->updates[bad_luck(2) ? dice((uint32_t)c->n_updates) : i];

        if (u->not_before > sim.world.now || (u->acknowledged && !bad_luck(30)) || bad_luck(4))
            continue;
        for (int copies = bad_luck(6) ? 2 : 1; copies > 0; copies--) {
            of[n] = u;
            all[n++] = (InboxUpdate){ str_of(u->id), str_of(u->json) };
        }
    }
    if (n && inbox_put(own, str_of(c->platform.shape->name), all, n, STR(""), &fresh, &err))
        for (size_t i = 0; i < n; i++)
            of[i]->acknowledged |= !bad_luck(8);
}

#endif

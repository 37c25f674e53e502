/* Each connection has its own database handle for incoming updates, so that no platform waits for
 * another's write. Health is read from memory four times a second and stored only when it changes:
 * an idle gateway does not write.
 *
 * TALARIA_LOCAL_FAULTS ("send=2,thread.lost=1") makes the next calls of the local platform fail, or
 * loses their answers, for tests. */
#include "gateway/connections.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "chat/connections.h"
#include "chat/home_channels.h"
#include "chat/inbox.h"
#include "platforms/platforms.h"

enum { HEARD_EVERY_MS = 2000, MAX_SLOTS = 8, FIRST_AGAIN_MS = 1000, MAX_AGAIN_MS = 60000 };

typedef struct ConnectionSlot {
    GatewayConnections *owner;
    const Platform *platform;
    const PlatformConfig *config;
    pthread_mutex_t lock; /* of journal */
    OwnStore *journal;
    Connection *connection; /* NULL: it could not be opened, `trouble` says why */
    atomic_bool moved;      /* a chat of it: the home may be another kind of chat now */
    char trouble[ERR_TEXT_BYTES];
    int64_t trouble_ms;
    GatewayConnection *served;  /* NULL: it never will be */
    Arena *arena;               /* of a config that was read later; or NULL */
    int64_t again_ms, again_at; /* how long it waits for the next try, and until when (monotonic) */
} ConnectionSlot;

struct GatewayConnections {
    GatewayConnectionsOptions o;
    Arena *arena; /* of what stays as it was at the start */
    Arena *noted[2];
    size_t newest; /* which of them holds the text of `last` */
    Net *net;
    ConnectionSlot all[MAX_SLOTS];
    size_t n;
    GatewayConnection served[MAX_SLOTS];
    size_t n_served;
    ConnectionStatus last[MAX_SLOTS]; /* as they were written down */
    int64_t last_ms;                  /* monotonic: when that was; 0: never */
};

static const char *const state_names[] = {
#define X(id, name) [id] = name,
    CONNECTION_STATES(X)
#undef X
};

/* -- Trouble on demand -- */

/* X(call) */
#define FAULTS(X)                                                                                  \
    X(thread)                                                                                      \
    X(send)                                                                                        \
    X(edit)

typedef struct Faults {
#define X(call) _Atomic int64_t call, call##_lost;
    FAULTS(X)
#undef X
} Faults;

static Faults faults;

/* NULL: there is no such one. */
static _Atomic int64_t *fault_named(Str name)
{
#define X(call)                                                                                    \
    if (str_eqz(name, #call))                                                                      \
        return &faults.call;                                                                       \
    if (str_eqz(name, #call ".lost"))                                                              \
        return &faults.call##_lost;
    FAULTS(X)
#undef X
    return NULL;
}

static void read_faults(void)
{
    Str rest = str_of(getenv("TALARIA_LOCAL_FAULTS")), one, name;

    while (str_split(&rest, ',', &one)) {
        _Atomic int64_t *at = str_split(&one, '=', &name) ? fault_named(str_trim(name)) : NULL;
        int64_t n = 0;

        if (at && str_to_int(one, 0, 1000000, &n))
            *at = n;
        else if (name.n)
            log_warning("TALARIA_LOCAL_FAULTS: no fault '%.*s'; it is thread=1, send=1, edit=1, or "
                        "with .lost: send.lost=1",
                        STR_FMT(name));
    }
}

static bool is_due(_Atomic int64_t *left)
{
    return *left > 0 && atomic_fetch_sub(left, 1) > 0;
}

static PlatformFault next_fault(void *ctx, const char *call)
{
    (void)ctx;
#define X(name)                                                                                    \
    if (strcmp(call, #name) == 0)                                                                  \
        return is_due(&faults.name)          ? FAULT_FAILS                                         \
               : is_due(&faults.name##_lost) ? FAULT_LOST                                          \
                                             : FAULT_NONE;
    FAULTS(X)
#undef X
    return FAULT_NONE;
}

/* -- Arriving -- */

static bool on_updates(void *ctx, const Update *all, size_t n, Str cursor, Err *err)
{
    AUTO(Arena) *a = arena_new();
    InboxUpdate *updates = ARENA_ARRAY(a, InboxUpdate, n);
    ConnectionSlot *slot = ctx;
    size_t new = 0;
    bool ok;

    for (size_t i = 0; i < n; i++)
        updates[i] = (InboxUpdate){ all[i].id, all[i].json };
    pthread_mutex_lock(&slot->lock);
    ok = inbox_put(slot->journal, str_of(slot->platform->shape->name), updates, n, cursor, &new,
                   err);
    pthread_mutex_unlock(&slot->lock);
    if (ok && new)
        slot->owner->o.arrived(slot->owner->o.ctx);
    return ok;
}

static void on_chat_moved(void *ctx, Str before, Str now)
{
    ConnectionSlot *slot = ctx;
    bool ok;
    Err err;

    pthread_mutex_lock(&slot->lock);
    ok = chat_moved(slot->journal, str_of(slot->platform->shape->name), before, now, &err);
    pthread_mutex_unlock(&slot->lock);
    slot->moved |= ok;
    if (!ok)
        log_warning("%s: a chat's new number is not kept: %s", slot->platform->shape->name,
                    err.text);
}

/* -- Opening -- */

static bool open_slot(GatewayConnections *l, ConnectionSlot *slot, Arena *a,
                      const GatewayConfig *config, Err *err)
{
    Str name = str_of(slot->platform->shape->name);
    bool local = slot->platform == &platform_local;
    PlatformHost host = { .data = l->o.data,
                          .net = l->net,
                          .receive = on_updates,
                          .moved = on_chat_moved,
                          .ctx = slot,
                          .fault = local ? next_fault : NULL };

    if (gateway_config_trouble(config, name).n)
        return err_set(err, ERR_IO, "%.*s", STR_FMT(gateway_config_trouble(config, name)));
    slot->config = host.config = gateway_config_of(config, name);
    if (!slot->config->enabled)
        return err_set(err, ERR_IO, "no longer set up");
    slot->journal = own_store_open(l->o.data, err);
    if (slot->journal && inbox_cursor(slot->journal, a, name, &host.cursor, err) &&
        slot->platform->open(&host, &slot->connection, err))
        return true;
    slot->connection = NULL;
    slot->journal = own_store_close(slot->journal);
    return false;
}

/* The kinds of trouble that time does not mend. */
static bool is_permanent(const Err *err)
{
    return err->kind == ERR_INVALID || err->kind == ERR_REFUSED || err->kind == ERR_USAGE;
}

static void note_open_failure(ConnectionSlot *slot, const Err *err)
{
    bool news = strcmp(slot->trouble, err->text) != 0;

    slot->again_ms = slot->again_ms ? slot->again_ms * 2 : FIRST_AGAIN_MS;
    if (slot->again_ms > MAX_AGAIN_MS)
        slot->again_ms = MAX_AGAIN_MS;
    slot->again_at = clock_mono_ms() + slot->again_ms;
    memcpy(slot->trouble, err->text, sizeof slot->trouble);
    slot->trouble_ms = clock_wall_ms();
    if (news)
        log_error("%s is not served: %s", slot->platform->shape->name, err->text);
}

static void add_slot(GatewayConnections *l, const Platform *platform)
{
    ConnectionSlot *slot = &l->all[l->n++];
    Err err;
    bool open;

    ASSERT(l->n <= MAX_SLOTS);
    _Static_assert(sizeof slot->trouble == sizeof err.text, "a whole trouble fits");
    *slot = (ConnectionSlot){ .owner = l, .platform = platform };
    pthread_mutex_init(&slot->lock, NULL);
    open = open_slot(l, slot, l->arena, l->o.config, &err);
    if (!open)
        note_open_failure(slot, &err);
    if (open || !is_permanent(&err)) {
        slot->served = &l->served[l->n_served++];
        *slot->served = (GatewayConnection){ platform, slot->connection, open ? slot->config : NULL,
                                             .shut = !open };
    }
}

/* Reads the configuration again first. */
static void retry_open(GatewayConnections *l, ConnectionSlot *slot)
{
    AUTO(Arena) *a = arena_new();
    GatewayConfig *config = ARENA_NEW(a, GatewayConfig);
    Err err;

    if (l->o.settings && !gateway_config(a, l->o.settings, l->o.homes, config, &err)) {
        note_open_failure(slot, &err);
        return;
    }
    if (!open_slot(l, slot, a, l->o.settings ? config : l->o.config, &err)) {
        note_open_failure(slot, &err);
        return;
    }
    slot->arena = TAKE(a);
    slot->served->connection = slot->connection;
    slot->served->config = slot->config;
    slot->served->shut = false; /* after the others: from now on it is used */
    log_note("%s is served now", slot->platform->shape->name);
    l->o.arrived(l->o.ctx);
}

GatewayConnections *gateway_connections_open(const GatewayConnectionsOptions *options, Err *err)
{
    AUTO(GatewayConnections) *l = mem_alloc(sizeof *l);

    l->o = *options;
    l->arena = arena_new();
    l->noted[0] = arena_new();
    l->noted[1] = arena_new();
    read_faults();
    l->net = net_new(err);
    if (!l->net)
        return NULL;
    for (size_t i = 0; platforms_each(i); i++) {
        const Platform *p = platforms_each(i);
        const PlatformConfig *c = gateway_config_of(options->config, str_of(p->shape->name));

        if (c && c->enabled)
            add_slot(l, p);
    }
    return TAKE(l);
}

GatewayConnections *gateway_connections_close(GatewayConnections *l)
{
    if (l) {
        for (size_t i = 0; i < l->n; i++) {
            if (l->all[i].connection)
                l->all[i].platform->close(l->all[i].connection);
            own_store_close(l->all[i].journal);
            pthread_mutex_destroy(&l->all[i].lock);
            arena_free(l->all[i].arena);
        }
        net_free(l->net);
        arena_free(l->noted[0]);
        arena_free(l->noted[1]);
        arena_free(l->arena);
        mem_free(l);
    }
    return NULL;
}

const GatewayConnection *gateway_connections_list(const GatewayConnections *l, size_t *ret_n)
{
    *ret_n = l->n_served;
    return l->served;
}

/* A group that gets a new number may get topics with it: the home is looked at again. */
static void refresh_home(ConnectionSlot *slot, OwnStore *own)
{
    AUTO(Arena) *a = arena_new();
    Str name = str_of(slot->platform->shape->name);
    HomeChannel home, now;
    Err err;

    if (!home_get(own, a, name, STR(""), &home, &err))
        return;
    if (!slot->platform->look(slot->connection, a, home.chat_id, home.owner_id, &now, &err) ||
        !home_set(own, name, &now, &err))
        log_warning("%s: the home channel could not be looked at: %s", slot->platform->shape->name,
                    err.text);
}

/* -- Health -- */

static ConnectionStatus read_status(Arena *a, const ConnectionSlot *slot)
{
    ConnectionStatus k = { .platform = str_of(slot->platform->shape->name) };
    Identity me = { 0 };
    Health h = { 0 };

    if (!slot->connection) {
        k.link = str_of(state_names[slot->served ? CONNECTION_DOWN : CONNECTION_REFUSED]);
        k.since_ms = k.error_ms = slot->trouble_ms;
        k.error = str_of(slot->trouble);
        return k;
    }
    slot->platform->health(slot->connection, a, &h);
    if (slot->platform->identity(slot->connection, a, &me))
        k.account = me.name.n ? me.name : me.id;
    k.link = str_of(state_names[h.state]);
    k.since_ms = h.since_ms;
    k.heard_ms = h.heard_ms;
    k.error = h.error;
    k.error_ms = h.error_ms;
    return k;
}

static bool differs(const ConnectionStatus *a, const ConnectionStatus *b)
{
    return !str_eq(a->link, b->link) || !str_eq(a->account, b->account) ||
           !str_eq(a->error, b->error) || a->since_ms != b->since_ms;
}

static bool is_news(const GatewayConnections *l, const ConnectionStatus *now)
{
    bool heard = false;

    for (size_t i = 0; i < l->n; i++) {
        if (differs(&now[i], &l->last[i]))
            return true;
        heard |= now[i].heard_ms != l->last[i].heard_ms || now[i].error_ms != l->last[i].error_ms;
    }
    return heard && clock_mono_ms() - l->last_ms >= HEARD_EVERY_MS;
}

bool gateway_connections_note(GatewayConnections *l, OwnStore *own, Err *err)
{
    size_t next = 1 - l->newest;
    ConnectionStatus now[MAX_SLOTS];

    for (size_t i = 0; i < l->n; i++)
        if (l->all[i].served && l->all[i].served->shut && clock_mono_ms() >= l->all[i].again_at)
            retry_open(l, &l->all[i]);
        else if (atomic_exchange(&l->all[i].moved, false))
            refresh_home(&l->all[i], own);
    arena_reset(l->noted[next]);
    for (size_t i = 0; i < l->n; i++)
        now[i] = read_status(l->noted[next], &l->all[i]);
    if (l->last_ms && !is_news(l, now))
        return true;
    if (!connections_put(own, now, l->n, err))
        return false;
    l->newest = next;
    memcpy(l->last, now, l->n * sizeof *now);
    l->last_ms = clock_mono_ms();
    return true;
}

void gateway_connections_note_end(GatewayConnections *l, OwnStore *own)
{
    ConnectionStatus none[MAX_SLOTS] = { 0 };
    Err err;

    for (size_t i = 0; i < l->n; i++) {
        none[i] = l->last[i];
        none[i].platform = str_of(l->all[i].platform->shape->name);
        none[i].link = STR("");
    }
    if (!connections_put(own, none, l->n, &err))
        log_debug("%s", err.text);
}

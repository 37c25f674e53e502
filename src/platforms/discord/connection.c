/* The gateway's side of Discord: one thread that connects, proves that it lives, and reads.
 *
 * Nothing counts as read before it is stored. The number up to which all is stored goes to the disk
 * with what was stored, together with the session that it belongs to; whatever breaks, the
 * connection or this process, is taken up again from there, and Discord sends what is missing. So
 * every trouble has one answer: hang up, and resume. Only where Discord has forgotten the session
 * is it begun anew, and what was missed is fetched. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "platforms/discord/inside.h"

enum { HELLO_MS = 20000, LIMIT_WAIT_MS = 60000, MAX_RESUMES = 3 };

static const int64_t DAY_MS = 86400000;

int64_t discord_random_below(int64_t n)
{
    uint32_t r = arc4random();

    return n > 0 ? (int64_t)(r % (uint64_t)n) : 0;
}

/* -- one connection -- */

/* X(code): nothing that we could do would make it work. */
#define FATAL_CODES(X) X(4004) X(4010) X(4011) X(4012) X(4013) X(4014)

static bool fatal(int code)
{
    static const int codes[] = {
#define X(code) code,
        FATAL_CODES(X)
#undef X
    };

    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (code == codes[i])
            return true;
    return false;
}

static After on_end(Connection *c)
{
    char text[256];
    int code;

    pthread_mutex_lock(&c->wire.lock);
    code = c->close_code;
    snprintf(text, sizeof text, "discord's gateway closed the connection: %d %s", code,
             code == 4004   ? "the token is not accepted"
             : code == 4014 ? "the bot may not read messages; enable the message content intent"
                            : c->close_why);
    pthread_mutex_unlock(&c->wire.lock);
    connection_set_state(&c->wire, fatal(code) ? CONNECTION_REFUSED : CONNECTION_DOWN, text);
    if (fatal(code))
        return NEVER;
    /* A number that it never gave out, a session that is over: these two it forgets. A frame that
     * we cannot read would only come again; what else was missed is fetched. */
    if (code == 4007 || code == 4009 || code == WS_NOT_TEXT || code == WS_BAD_TEXT ||
        code == WS_TOO_LARGE)
        discord_forget_session(&c->link);
    return LATER;
}

static After converse(Connection *c)
{
    DiscordSocket *l = &c->link;
    int64_t hello_until = clock_mono_ms() + HELLO_MS;

    for (;;) {
        bool closed, stop, late;
        Frame *all =
            discord_frames_take(c, l->beat_every ? l->next_beat : hello_until, &closed, &stop);
        bool any = all != NULL;
        After after = discord_read(c, all);

        if (stop)
            return NEVER;
        if (after != GO_ON)
            return after;
        if (any)
            continue;
        if (closed)
            return on_end(c);
        late = clock_mono_ms() >= (l->beat_every ? l->next_beat : hello_until);
        if (late && (!l->beat_every || !l->acked)) {
            connection_set_state(&c->wire, CONNECTION_DOWN, "discord's gateway does not respond");
            return LATER;
        }
        if (late)
            discord_say_beat(c);
    }
}

/* -- connecting -- */

/* Who we are. A session that is resumed does not say it, and a bad token shows here first. */
static bool ask_who(Connection *c, Arena *a, Err *err)
{
    Rest rest;

    if (c->me.z[0])
        return true;
    if (!rest_call(c, a,
                   &(Ask){ .method = "GET", .path = STR("/users/@me"), .until = discord_soon() },
                   &rest, err))
        return false;
    pthread_mutex_lock(&c->wire.lock);
    (void)snow_set(&c->me, update_text(&rest.v, "id"));
    snprintf(c->my_name, sizeof c->my_name, "%.*s",
             STR_FMT(str_head(update_text(&rest.v, "username"), sizeof c->my_name - 1)));
    pthread_mutex_unlock(&c->wire.lock);
    return c->me.z[0] || err_set(err, ERR_IO, "discord did not return the bot's identity");
}

/* Waits where so many sessions were begun today that Discord would take the token away. */
static bool ask_where(Connection *c, Arena *a, Str *ret_url, Err *err)
{
    const PyValue *limit;
    int64_t left, reset, shards;
    Rest rest;

    if (!rest_call(c, a,
                   &(Ask){ .method = "GET", .path = STR("/gateway/bot"), .until = discord_soon() },
                   &rest, err))
        return false;
    if (str_to_int(update_text(&rest.v, "shards"), 0, INT64_MAX, &shards) && shards > 1) {
        err_set_to(err, ERR_REFUSED,
                   "discord asks for %lld parallel connections, but Talaria uses one: it is meant "
                   "for bots in fewer than about 1000 servers",
                   (long long)shards);
        connection_set_state(&c->wire, CONNECTION_REFUSED, err->text);
        return false;
    }
    *ret_url = update_text(&rest.v, "url");
    limit = update_get(&rest.v, "session_start_limit");
    if (!str_to_int(update_text(limit, "remaining"), 0, INT64_MAX, &left) || left > 0)
        return ret_url->n || err_set(err, ERR_IO, "discord did not return its gateway address");
    if (!str_to_int(update_text(limit, "reset_after"), 0, DAY_MS, &reset))
        reset = LIMIT_WAIT_MS;
    err_set_to(err, ERR_BUSY, "discord allows no new connection for %lld s",
               (long long)(reset / 1000));
    connection_trouble(&c->wire, err->text);
    (void)connection_rest(&c->wire, reset);
    return false;
}

static bool dial(Connection *c, Err *err)
{
    AUTO(Arena) *a = arena_new();
    DiscordSocket *l = &c->link;
    Str url = str_of(c->wire.tries < MAX_RESUMES ? l->resume_url : "");

    if (!ask_who(c, a, err))
        return false;
    if ((!l->session[0] || !url.n) && !ask_where(c, a, &url, err))
        return false;
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    l->beat_every = l->next_beat = 0;
    l->ready = false;
    return discord_dial(c, str_z(a, str_printf(a, "%.*s/?v=10&encoding=json", STR_FMT(url))), err);
}

/* A session that is begun anew has to be told what it missed. */
static void mark_gap(DiscordSocket *l)
{
    int64_t day_ago = snow_at(clock_wall_ms() - DAY_MS);

    if (!l->session[0])
        l->gap_after = l->last > day_ago ? l->last : day_ago;
}

static After link_once(Connection *c)
{
    After after;
    Err err;

    mark_gap(&c->link);
    if (!dial(c, &err)) {
        connection_set_state(&c->wire, CONNECTION_DOWN, err.text);
        return LATER;
    }
    after = converse(c);
    ws_close(c->link.ws, DISCORD_CLOSE_TO_RESUME);
    if (after != NEVER)
        connection_set_state(&c->wire, CONNECTION_DOWN, NULL);
    return after;
}

static int64_t pause_ms(Connection *c, After after)
{
    return after == AT_ONCE   ? 0
           : after == SHORTLY ? 1000 + discord_random_below(4000)
                              : connection_next_wait(&c->wire);
}

void *discord_link_run(void *connection)
{
    Connection *c = connection;
    After after;

    do {
        after = link_once(c);
        discord_hang_up(c);
    } while (after != NEVER && connection_rest(&c->wire, pause_ms(c, after)));
    discord_save_cursor(c);
    return NULL;
}

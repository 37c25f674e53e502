/* What is said to Discord's gateway, and what is made of what it says. Events are gathered and go
 * to the disk together, with the number up to which all is there; what fails goes back to the
 * number before. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "platforms/discord/inside.h"

enum {
    INTENTS =
        1 << 0 | 1 << 9 | 1 << 12 | 1 << 15, /* guilds, messages there, direct ones, their text */
    MAX_BATCH = 512
};

/* -- sending -- */

static void say(Connection *c, Str frame)
{
    Err err;

    /* A connection that takes nothing any more is about to say so by itself. */
    if (!ws_send(c->link.ws, frame, &err))
        log_debug("discord: %s", err.text);
}

void discord_say_beat(Connection *c)
{
    char text[64];
    DiscordSocket *l = &c->link;

    if (l->seq)
        snprintf(text, sizeof text, "{\"op\":1,\"d\":%lld}", (long long)l->seq);
    else
        snprintf(text, sizeof text, "{\"op\":1,\"d\":null}");
    say(c, str_of(text));
    l->next_beat = clock_mono_ms() + l->beat_every;
    l->acked = false;
}

void discord_link_beat(Connection *c)
{
    if (clock_mono_ms() >= c->link.next_beat)
        discord_say_beat(c);
}

static void say_hello(Connection *c)
{
    AUTO_BUF out = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);
    DiscordSocket *l = &c->link;
    bool resume = l->session[0] != '\0';

    json_begin(&w, '{');
    json_field_int(&w, "op", resume ? 6 : 2);
    json_field_begin(&w, "d", '{');
    json_field_str(&w, "token", str_of(c->token));
    if (resume) {
        json_field_str(&w, "session_id", str_of(l->session));
        json_field_int(&w, "seq", l->seq);
    } else {
        json_field_int(&w, "intents", INTENTS);
        json_key(&w, "properties");
        json_put_raw(&w, STR("{\"os\":\"linux\",\"browser\":\"talaria\",\"device\":\"talaria\"}"));
    }
    json_end(&w, '}');
    json_end(&w, '}');
    say(c, buf_str(&out));
}

/* -- how far it has read -- */

/* Frames come in order, but nobody promises it for what is sent again: what comes early is marked,
 * and the number to resume from stays below the gap. */
void discord_seq_seen(DiscordSocket *l, int64_t s)
{
    int64_t bit = s - l->seq - 1;

    if (bit < 0)
        return;
    if (bit >= 64) {
        l->seq = s;
        l->ahead = 0;
        return;
    }
    l->ahead |= (uint64_t)1 << bit;
    for (; l->ahead & 1; l->ahead >>= 1)
        l->seq++;
}

/* As long as something that was missed is still to be fetched, whoever reads this has to fetch it
 * too. */
static Str write_cursor(Connection *c, Arena *a)
{
    AUTO_BUF out = BUF(KIB(8));
    JsonWriter w = JSON_WRITER(&out, 0);
    const DiscordSocket *l = &c->link;

    json_begin(&w, '{');
    json_field_str(&w, "session", l->gap_after ? STR("") : str_of(l->session));
    json_field_str(&w, "resume", str_of(l->resume_url));
    json_field_int(&w, "seq", l->seq);
    json_field_int(&w, "last", l->gap_after ? l->gap_after : l->last);
    json_field_str(&w, "application", snow_str(&c->application));
    json_field_begin(&w, "dms", '[');
    for (size_t i = 0; i < l->dms_n; i++)
        json_put_str(&w, snow_str(&l->dms[i]));
    json_end(&w, ']');
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

void discord_read_cursor(Connection *c, Str cursor)
{
    AUTO(Arena) *a = arena_new();
    DiscordSocket *l = &c->link;
    const PyValue *dms;
    PyValue v;

    l->last = snow_at(clock_wall_ms());
    if (!cursor.n || !pyjson_read(a, cursor, &v))
        return;
    snprintf(l->session, sizeof l->session, "%.*s", STR_FMT(update_text(&v, "session")));
    snprintf(l->resume_url, sizeof l->resume_url, "%.*s", STR_FMT(update_text(&v, "resume")));
    (void)!str_to_int(update_text(&v, "seq"), 0, INT64_MAX, &l->seq);
    (void)!str_to_int(update_text(&v, "last"), 1, INT64_MAX, &l->last);
    (void)snow_set(&c->application, update_text(&v, "application"));
    dms = update_get(&v, "dms");
    for (uint32_t i = 0; dms->type == PY_LIST && i < dms->n && l->dms_n < DISCORD_DMS; i++)
        if (dms->items[i].type == PY_STR && snow_set(&l->dms[l->dms_n], dms->items[i].text))
            l->dms_n++;
}

void discord_save_cursor(Connection *c)
{
    AUTO(Arena) *a = arena_new();
    Err err;

    if (c->link.session[0] && !c->host.receive(c->host.ctx, NULL, 0, write_cursor(c, a), &err))
        log_debug("discord: %s", err.text);
}

/* -- reading -- */

void discord_forget_session(DiscordSocket *l)
{
    l->session[0] = l->resume_url[0] = '\0';
    l->seq = 0;
    l->ahead = 0;
}

static After on_hello(Connection *c, const PyValue *d)
{
    DiscordSocket *l = &c->link;
    int64_t every;

    if (!str_to_int(update_text(d, "heartbeat_interval"), 10, 3600000, &every))
        every = 41250;
    l->beat_every = every;
    l->acked = true;
    l->next_beat = clock_mono_ms() + discord_random_below(every);
    say_hello(c);
    return GO_ON;
}

static After on_control(Connection *c, int64_t op, const PyValue *frame)
{
    const PyValue *d = update_get(frame, "d");

    switch (op) {
    case 1:
        discord_say_beat(c);
        return GO_ON;
    case 7:
        return AT_ONCE;
    case 9:
        if (d->type != PY_TRUE)
            discord_forget_session(&c->link);
        return SHORTLY;
    case 10:
        return on_hello(c, d);
    case 11:
        c->link.acked = true;
        return GO_ON;
    default:
        return GO_ON;
    }
}

bool discord_frame_read(Arena *a, Str raw, Payload *ret)
{
    if (!pyjson_read(a, raw, &ret->v) || ret->v.type != PY_DICT ||
        !str_to_int(update_text(&ret->v, "op"), 0, 255, &ret->op))
        return false;
    if (!str_to_int(update_text(&ret->v, "s"), 1, INT64_MAX, &ret->s))
        ret->s = 0;
    return true;
}

static After on_frame(Connection *c, Batch *b, const Frame *f, Err *err)
{
    Str raw = { f->text, f->n };
    Payload p;

    if (!discord_frame_read(b->a, raw, &p)) {
        connection_trouble(&c->wire, "discord's gateway sent an invalid frame");
        return GO_ON;
    }
    if (p.op)
        return on_control(c, p.op, &p.v);
    if (!event_take(c, b, &p.v, raw, err))
        return LATER;
    if (p.s)
        discord_seq_seen(&c->link, p.s);
    return GO_ON;
}

/* Puts on the disk what was gathered, and answers it. */
static bool store(Connection *c, Batch *b, Err *err)
{
    DiscordSocket *l = &c->link;
    int64_t before = l->last, gap = l->gap_after;
    bool complete = gap && l->ready && !l->gap_guilds; /* all that was missed is here */

    if (b->last > l->last)
        l->last = b->last;
    if (complete)
        l->gap_after = 0;
    if ((b->n || complete) &&
        !c->host.receive(c->host.ctx, b->all, b->n, write_cursor(c, b->a), err)) {
        l->last = before;
        l->gap_after = gap;
        return false;
    }
    events_reply(c, b);
    if (l->ready) {
        connection_set_state(&c->wire, CONNECTION_UP, NULL);
        c->wire.tries = 0;
    }
    return true;
}

/* As many frames as go to the disk at once; takes them off *rest. */
static After read_batch(Connection *c, Frame **rest)
{
    AUTO(Arena) *a = arena_new();
    Batch b = { .a = a };
    DiscordSocket *l = &c->link;
    int64_t seq = l->seq;
    uint64_t ahead = l->ahead;
    After after = GO_ON;
    Err err;

    for (size_t n = 0; *rest && after == GO_ON && n < MAX_BATCH; n++) {
        Frame *f = *rest;

        after = on_frame(c, &b, f, &err);
        *rest = f->next;
        mem_free(f);
    }
    if (after == LATER || !store(c, &b, &err)) {
        connection_trouble(&c->wire, err.text);
        l->seq = seq;
        l->ahead = ahead;
        if (l->gap_after)
            discord_forget_session(
                l); /* what was missed is still to be fetched: only a new session asks for it */
        return LATER;
    }
    return after;
}

After discord_read(Connection *c, Frame *all)
{
    After after = GO_ON;

    while (all && after == GO_ON) {
        after = read_batch(c, &all);
        if (c->link.beat_every)
            discord_link_beat(c);
    }
    discord_frames_free(all);
    return after;
}

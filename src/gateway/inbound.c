/* An ignored update goes from new to ignored in one step. One that needs work is marked as taken
 * first, so that crashes are counted. A message that must wait goes back to new, and no later
 * message overtakes it. */
#include "gateway/inbound.h"

#include "base/limits.h"
#include "base/log.h"
#include "chat/home_channels.h"
#include "chat/topics.h"
#include "gateway/authorise.h"
#include "gateway/commands.h"
#include "text/utf8.h"

enum { BATCH = 64, LOOK_AHEAD = 256 };

typedef enum Outcome {
    GONE, /* nothing more to do about it here */
    LEFT, /* it waits; updates of other platforms continue */
    FULL  /* it waits for a free agent or a free database, and so do the messages behind it */
} Outcome;

/* It could not be opened yet. */
static bool is_opening(const InboundOptions *o, Str platform)
{
    for (size_t i = 0; i < o->n_served; i++)
        if (o->served[i].shut && str_eqz(platform, o->served[i].platform->shape->name))
            return true;
    return false;
}

static bool ignore_update(const InboundOptions *o, const InboxRow *row, bool quiet, Str reason,
                          Err *err)
{
    log_at(quiet ? LOG_DEBUG : LOG_NOTE, "%.*s: update '%.*s' is ignored: %.*s",
           STR_FMT(row->platform), STR_FMT(row->id), STR_FMT(reason));
    return inbox_end(o->journal, row->seq, INBOX_IGNORED, reason, err);
}

/* -- A message that was let in -- */

/* ERR_IO and ERR_BUSY: it goes back and is tried again; else a person has to look at it. */
static bool postpone_or_park(const InboundOptions *o, const InboxRow *row, const Err *why,
                             Outcome *ret, Err *err)
{
    if (why->kind == ERR_BUSY || why->kind == ERR_IO) {
        log_debug("%.*s: update '%.*s' waits: %s", STR_FMT(row->platform), STR_FMT(row->id),
                  why->text);
        *ret = FULL;
        return inbox_put_back(o->journal, row->seq, err);
    }
    log_warning("%.*s: update '%.*s' is parked: %s", STR_FMT(row->platform), STR_FMT(row->id),
                why->text);
    return inbox_end(o->journal, row->seq, INBOX_PARKED, str_of(why->text), err);
}

static bool run_command(const InboundOptions *o, Arena *a, const InboxRow *row, const Inbound *in,
                        Trust trust, const GatewayConnection *s, const ChatWords *words, Err *err)
{
    Chat chat = { .arena = a,
                  .journal = o->journal,
                  .homes = o->homes,
                  .served = o->served,
                  .n_served = o->n_served,
                  .sinks = &o->sinks,
                  .here = s,
                  .in = in,
                  .trust = trust,
                  .received_ms = row->received_ms,
                  .key = address_key(a, &in->place, &o->flags) };
    Str text;

    chat.id = str_printf(a, "answer:%.*s:%.*s", STR_FMT(row->platform), STR_FMT(row->id));
    return chat_command(&chat, words, &text, err) &&
           o->sinks.say(o->sinks.turns, &in->place, chat.id, text, err);
}

/* `full`: no agent is free, but /stop must work all the same. */
static bool dispatch_message(const InboundOptions *o, Arena *a, const InboxRow *row,
                             const Inbound *in, Trust trust, const GatewayConnection *s,
                             const Identity *me, bool full, Outcome *ret, Err *err)
{
    ChatWords words;
    bool steers = chat_words(in, me, &words);
    InboxRow taken = *row;
    Err why;

    *ret = full && !steers ? LEFT : GONE;
    if (*ret == LEFT)
        return true;
    if (!inbox_take(o->journal, row->seq, err))
        return false;
    taken.state = INBOX_TAKEN;
    taken.attempt++;
    if (steers) {
        if (!run_command(o, a, row, in, trust, s, &words, &why))
            return postpone_or_park(o, row, &why, ret, err);
        return inbox_end(o->journal, row->seq, INBOX_DONE, STR(""), err);
    }
    return o->sinks.message(o->sinks.turns, &taken, in, trust, &why) ||
           postpone_or_park(o, row, &why, ret, err);
}

/* -- Chats that moved -- */

/* As it was before: a group that became one with topics had none. */
static ChatAddress place_before(const ChatAddress *now, Str chat)
{
    ChatAddress p = *now;

    p.chat_id = chat;
    if (str_eqz(p.thread_id, "1"))
        p.thread_id = STR_NONE;
    return p;
}

/* Moves a session to another address, unless that has one. */
static bool move_session(const InboundOptions *o, Arena *a, const ChatAddress *before,
                         const ChatAddress *now, Err *err)
{
    Str id;

    if (!o->sinks.session(o->sinks.turns, a, address_key(a, now, &o->flags), &id, err))
        return false;
    if (id.n)
        return true;
    return o->sinks.session(o->sinks.turns, a, address_key(a, before, &o->flags), &id, err) &&
           (!id.n || o->sinks.resume(o->sinks.turns, now, id, err));
}

/* Moves the session of a chat whose id has changed. */
static bool follow_chat(const InboundOptions *o, Arena *a, const ChatAddress *now, Err *err)
{
    ChatAddress before;
    Str chat;

    if (!chat_before(o->journal, a, now->platform, now->chat_id, &chat, err))
        return false;
    if (!chat.n)
        return true;
    before = place_before(now, chat);
    return move_session(o, a, &before, now, err);
}

/* -- Threads that are gone -- */

/* What may be answered there is remembered. */
static bool keep_anchor(const InboundOptions *o, const GatewayConnection *s, const Inbound *in,
                        Err *err)
{
    return !s->platform->anchors || !in->place.thread_id.n || !in->message_id.n ||
           !str_eqz(in->place.chat_type, "dm") ||
           anchor_keep(o->journal, &in->place, in->message_id, err);
}

/* A deleted topic becomes the chat itself. Its session has moved already, unless every user of it
 * had a separate session. */
static bool follow_topic(const InboundOptions *o, Arena *a, const InboxRow *row, ChatAddress *p,
                         Err *err)
{
    ChatAddress before = *p;

    return topic_heard(o->journal, a, p, row->received_ms, err) &&
           (str_eq(before.thread_id, p->thread_id) || move_session(o, a, &before, p, err));
}

/* -- One update -- */

static bool refuse_stranger(const InboundOptions *o, Arena *a, const InboxRow *row,
                            const Inbound *in, const Verdict *v, Err *err)
{
    Str id = str_printf(a, "pair:%.*s:%.*s", STR_FMT(row->platform), STR_FMT(row->id));
    Err why;

    if (v->code.n &&
        !o->sinks.say(o->sinks.turns, &in->place, id, authorise_words(a, v->code), &why))
        log_warning("a stranger could not be answered: %s", why.text);
    return ignore_update(o, row, v->quiet, str_of(v->reason), err);
}

static bool is_readable(const Inbound *in, const char **ret_why)
{
    if (utf8_valid_prefix(in->text) < in->text.n)
        *ret_why = "not UTF-8";
    else if (in->text.n > LIMIT_RUN_ASK)
        *ret_why = "too long";
    else if (!str_trim(in->text).n && !in->n_files)
        *ret_why = "without words";
    else
        return true;
    return false;
}

static bool handle_update(const InboundOptions *o, Arena *a, const InboxRow *row, bool full,
                          Outcome *ret, Err *err)
{
    const GatewayConnection *s = gateway_connection_named(o->served, o->n_served, row->platform);
    const char *why = NULL;
    Identity me = { 0 };
    Inbound in = { 0 };
    bool is = false;
    Verdict v;
    Err trouble;

    *ret = GONE;
    if (!s && is_opening(o, row->platform)) {
        *ret = LEFT;
        return true;
    }
    if (!s)
        return inbox_end(o->journal, row->seq, INBOX_PARKED, STR("nobody serves the platform"),
                         err);
    if (!s->platform->identity(s->connection, a, &me)) {
        *ret = LEFT;
        return true;
    }
    if (!s->platform->shape->parse(a, row->json, &me, &in, &is, &trouble))
        return ignore_update(o, row, false, str_of(trouble.text), err);
    if (!is)
        return ignore_update(o, row, true, STR("no message"), err);
    if (!authorise(o->journal, a, s->config, &in, &v, err))
        return false;
    if (!v.may)
        return refuse_stranger(o, a, row, &in, &v, err);
    if (!is_readable(&in, &why))
        return ignore_update(o, row, false, str_of(why), err);
    if (!keep_anchor(o, s, &in, err))
        return false;
    if (!follow_topic(o, a, row, &in.place, &trouble) || !follow_chat(o, a, &in.place, &trouble) ||
        (v.trust >= TRUST_NAMED && !o->sinks.claim(o->sinks.turns, &in.place, &trouble))) {
        if (trouble.kind == ERR_BUSY) {
            *ret = FULL;
            return true;
        }
        log_warning("%.*s: the chat's session stays behind: %s", STR_FMT(row->platform),
                    trouble.text);
    }
    return dispatch_message(o, a, row, &in, v.trust, s, &me, full, ret, err);
}

static bool is_over(const InboundOptions *o)
{
    return o->ends && *o->ends;
}

/* *full: from some message on only commands were looked at; *ret_later: something waits. */
static bool handle_batch(const InboundOptions *o, const InboxRow *all, size_t n, bool *full,
                         bool *ret_later, Err *err)
{
    AUTO(Arena) *a = arena_new();

    for (size_t i = 0; i < n && !is_over(o); i++) {
        Outcome outcome;

        arena_reset(a);
        if (!handle_update(o, a, &all[i], *full, &outcome, err))
            return false;
        *full |= outcome == FULL;
        *ret_later |= outcome != GONE;
    }
    return true;
}

bool inbound_round(const InboundOptions *o, bool *ret_later, Err *err)
{
    AUTO(Arena) *a = arena_new();
    size_t n, ahead = 0;
    int64_t after = 0;
    InboxRow *all;
    bool full = false;

    *ret_later = false;
    do {
        arena_reset(a);
        if (!inbox_new_after(o->journal, a, after, BATCH, &all, &n, err) ||
            !handle_batch(o, all, n, &full, ret_later, err))
            return false;
        after = n ? all[n - 1].seq : after;
        ahead += full ? n : 0;
    } while (n == BATCH && ahead < LOOK_AHEAD && !is_over(o));
    return true;
}

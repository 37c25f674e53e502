#include "gateway/deliver.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "chat/topics.h"
#include "handoff/routing.h"
#include "platforms/read.h"

#define AGAIN ":again" /* suffix of the name of a message that was deleted and is posted again */

enum { LEASE_MS = LIMIT_PLATFORM_CALL_MS + 10000, RETRY_MS = 500, MAX_RETRY_MS = 60000 };

int64_t deliver_back_off(int64_t attempt)
{
    int64_t ms = RETRY_MS;

    for (int64_t i = 1; i < attempt && ms < MAX_RETRY_MS; i++)
        ms *= 2;
    return ms < MAX_RETRY_MS ? ms : MAX_RETRY_MS;
}

static bool is_temporary(const Err *err)
{
    return err->kind == ERR_IO || err->kind == ERR_BUSY;
}

static bool note_failure(Delivery *d, const Sent *sent, const Err *err)
{
    d->wait_ms = sent->wait_ms;
    d->never = !is_temporary(err);
    d->no_thread = sent->no_thread;
    return false;
}

static void reset_result(Delivery *d)
{
    d->wait_ms = 0;
    d->never = d->no_thread = false;
}

/* -- Threads that are gone -- */

/* The chat itself, as the next message of the same person there will read. *ret_known false: that
 * cannot be said. */
static bool chat_itself(Delivery *d, Arena *a, const ChatAddress *from, ChatAddress *ret,
                        bool *ret_known, Err *err)
{
    Str who = str_eq(from->user_id, UNKNOWN_USER) ? STR_NONE : from->user_id;
    HomeChannel chat;

    if (!d->platform->look(d->connection, a, from->chat_id, who, &chat, err))
        return false;
    if (!d->platform->shape->place(a, &chat, STR_NONE, ret, err))
        return false;
    *ret_known = !is_waiting_place(a, ret, d->flags);
    return true;
}

/* Moves everything of the topic to the chat itself, this message too. */
static bool leave_thread(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, ChatAddress *to,
                         Err *err)
{
    ChatAddress from = *to, chat;
    Outgoing row;
    bool known, found;

    if (!chat_itself(d, a, &from, &chat, &known, err) ||
        !routing_leave(own, a, &from, &chat, known, d->flags, err) ||
        !outbox_get(own, a, o->id, &row, &found, err))
        return false;
    log_warning("%.*s: thread %.*s of chat %.*s is gone; what lived there goes on in the chat",
                STR_FMT(from.platform), STR_FMT(from.thread_id), STR_FMT(from.chat_id));
    *to = chat;
    o->address_json = address_json(a, to);
    if (found)
        o->place = row.place;
    if (d->leaves)
        d->leaves(d->ctx, to);
    return true;
}

/* -- One piece -- */

/* Edits the message that was posted with an earlier text. *ret_gone: it was deleted. */
static bool edit_first(Delivery *d, Arena *a, const Outgoing *o, const Post *m, bool *ret_gone,
                       Err *err)
{
    Sent sent = { 0 };

    *ret_gone = false;
    if (!d->platform->edit || d->platform->edit(d->connection, a, o->first_ref, m, &sent, err))
        return true;
    *ret_gone = !is_temporary(err);
    return note_failure(d, &sent, err);
}

/* If the platform accepts messages in such a topic only as replies: the message to reply to. */
static bool find_anchor(Delivery *d, OwnStore *own, Arena *a, Post *m, Err *err)
{
    TopicAnchor anchor;

    m->anchor = STR_NONE;
    if (!d->platform->anchors || !m->to->thread_id.n || !str_eqz(m->to->chat_type, "dm"))
        return true;
    if (!anchor_get(own, a, m->to, &anchor, err))
        return false;
    m->anchor = anchor.message_id;
    m->anchored = anchor.needed;
    return true;
}

static void keep_anchored(OwnStore *own, const Post *m, const Sent *sent)
{
    Err err;

    if (sent->anchored && !m->anchored && !anchor_needed(own, m->to, &err))
        log_debug("%s", err.text);
}

static bool post_once(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, Post *m, Err *err)
{
    bool again = o->sending > o->sent, gone;
    Sent sent = { 0 };

    m->again = again;
    o->sending = o->sent + 1;
    if (!find_anchor(d, own, a, m, err) || !outbox_mark(own, o, err) ||
        (d->may_go_on && !d->may_go_on(d->ctx, err)))
        return false;
    if (again && !d->platform->knows_repeats)
        m->text = str_printf(a, "(may be a repeat) %.*s", STR_FMT(m->text));
    if (!d->platform->send(d->connection, a, m, &sent, err)) {
        Err ignored;

        if (!sent.unsure && !again) {
            o->sending = o->sent;
            (void)!outbox_mark(own, o, &ignored);
        }
        return note_failure(d, &sent, err);
    }
    keep_anchored(own, m, &sent);
    if (o->sent == 0)
        o->first_ref = sent.id;
    /* The first try may have posted a shorter text. */
    return !again || o->sent || !d->platform->knows_repeats || edit_first(d, a, o, m, &gone, err);
}

/* If the topic is gone, posts in the chat itself: nothing was posted in the topic, so nothing is
 * repeated. */
static bool post(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, ChatAddress *to, Str text,
                 Err *err)
{
    Post m = { .to = to,
               .text = text,
               .key = str_printf(a, "%.*s:%lld", STR_FMT(o->post_as.n ? o->post_as : o->id),
                                 (long long)o->sent) };

    if (post_once(d, own, a, o, &m, err))
        return true;
    if (!d->no_thread)
        return false;
    if (!leave_thread(d, own, a, o, to, err))
        return note_failure(d, &(Sent){ 0 }, err);
    m.text = text;
    return post_once(d, own, a, o, &m, err);
}

/* The message was deleted: the next one has a new name. */
static void start_new_message(Arena *a, Outgoing *o)
{
    o->post_as = str_printf(a, "%.*s" AGAIN, STR_FMT(o->post_as.n ? o->post_as : o->id));
    o->first_ref = STR("");
    o->sending = o->sent;
}

static bool send_piece(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, ChatAddress *to,
                       Str piece, Err *err)
{
    Post m = { .to = to, .text = piece };
    bool gone = false;

    if (o->sent == 0 && o->first_ref.n) {
        if (d->may_go_on && !d->may_go_on(d->ctx, err))
            return false;
        if (!edit_first(d, a, o, &m, &gone, err)) {
            if (!gone)
                return false;
            d->never = false;
            start_new_message(a, o);
        }
    }
    if (!(o->sent == 0 && o->first_ref.n) && !post(d, own, a, o, to, piece, err))
        return false;
    o->sent++;
    o->sending = o->sent;
    return outbox_mark(own, o, err);
}

static bool send_rest(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, Err *err)
{
    Str *pieces;
    size_t n;
    ChatAddress to;

    reset_result(d);
    if (!address_parse(a, o->address_json, &to, err))
        return false;
    shape_split(a, d->platform->shape, o->text, &pieces, &n);
    o->pieces = (int64_t)n;
    while (o->sent < o->pieces) {
        if (o->state == OUTBOX_WAITING)
            o->not_before_ms = clock_wall_ms() + LEASE_MS;
        if (!send_piece(d, own, a, o, &to, pieces[o->sent], err))
            return false;
    }
    o->state = OUTBOX_SENT;
    o->error = STR("");
    return outbox_mark(own, o, err);
}

/* -- Rows -- */

bool deliver(Delivery *d, OwnStore *own, Arena *a, const Outgoing *o, Str *ret_ref, Err *err)
{
    Outgoing row;

    if (!outbox_put(own, a, o, &row, err) ||
        (row.state != OUTBOX_SENT && !send_rest(d, own, a, &row, err)))
        return false;
    *ret_ref = row.first_ref;
    return true;
}

/* What became of a try that failed. */
static bool schedule_retry(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, const Err *why,
                           Err *err)
{
    int64_t wait = deliver_back_off(++o->attempt);

    if (d->never || o->attempt >= OUTBOX_TRIES) {
        o->state = OUTBOX_DEAD;
        log_warning("words '%.*s' did not arrive at %.*s: %s", STR_FMT(o->id), STR_FMT(o->platform),
                    why->text);
    }
    wait = d->wait_ms > wait ? d->wait_ms : wait;
    o->not_before_ms =
        clock_wall_ms() + (wait < LIMIT_LONGEST_WAIT_MS ? wait : LIMIT_LONGEST_WAIT_MS);
    o->error = str_dup(a, str_of(why->text));
    return outbox_mark(own, o, err);
}

bool deliver_waiting(Delivery *d, OwnStore *own, Arena *a, Str id, Err *err)
{
    bool mine, found;
    Outgoing o;
    Err why;

    if (!outbox_take(own, id, clock_wall_ms() + LEASE_MS, &mine, err))
        return false;
    if (!mine)
        return true;
    if (!outbox_get(own, a, id, &o, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "the words '%.*s' are gone", STR_FMT(id));
    return send_rest(d, own, a, &o, &why) || schedule_retry(d, own, a, &o, &why, err);
}

bool deliver_growing(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, Str text, Err *err)
{
    Post m = { .text = text };
    bool gone = false;
    ChatAddress to;

    reset_result(d);
    if (!d->platform->edit)
        return true;
    if (!address_parse(a, o->address_json, &to, err))
        return false;
    m.to = &to;
    if (o->first_ref.n) {
        if (edit_first(d, a, o, &m, &gone, err))
            return true;
        /* A deleted message is posted again if its topic may be gone with it; once. */
        if (!gone || !to.thread_id.n || str_ends(o->post_as, STR(AGAIN)))
            return false;
        d->never = false;
        start_new_message(a, o);
    }
    return post(d, own, a, o, &to, text, err) && outbox_mark(own, o, err);
}

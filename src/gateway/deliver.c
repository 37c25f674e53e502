#include "gateway/deliver.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

enum { LEASE_MS = LIMIT_PLATFORM_CALL_MS + 10000, RETRY_MS = 500, MOST_RETRY_MS = 60000 };

static int64_t now_in_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

int64_t deliver_back_off(int64_t attempt)
{
    int64_t ms = RETRY_MS;

    for (int64_t i = 1; i < attempt && ms < MOST_RETRY_MS; i++)
        ms *= 2;
    return ms < MOST_RETRY_MS ? ms : MOST_RETRY_MS;
}

static bool for_now(const Err *err)
{
    return err->kind == ERR_IO || err->kind == ERR_BUSY;
}

static bool failed(Delivery *d, const Sent *sent, const Err *err)
{
    d->wait_ms = sent->wait_ms;
    d->never = !for_now(err);
    return false;
}

/* -- one piece --------------------------------------------------------------------------------------- */

static Str piece_key(Arena *a, const Outgoing *o)
{
    return str_printf(a, "%.*s:%lld", STR_FMT(o->post_as.n ? o->post_as : o->id),
                      (long long)o->sent);
}

/* The message is there already, with words of before. *ret_gone: somebody took it away. */
static bool change(Delivery *d, Arena *a, const Outgoing *o, const Post *m, bool *ret_gone,
                   Err *err)
{
    Sent sent = { 0 };

    *ret_gone = false;
    if (!d->platform->edit || d->platform->edit(d->connection, a, o->first_ref, m, &sent, err))
        return true;
    *ret_gone = !for_now(err);
    return failed(d, &sent, err);
}

static bool post(Delivery *d, Journal *j, Arena *a, Outgoing *o, Post *m, Err *err)
{
    bool again = o->sending > o->sent, gone;
    Sent sent = { 0 };

    m->again = again;
    o->sending = o->sent + 1;
    if (!outbox_mark(j, o, err) || (d->may_go_on && !d->may_go_on(d->ctx, err)))
        return false;
    if (again && !d->platform->knows_repeats)
        m->text = str_printf(a, "(may be a repeat) %.*s", STR_FMT(m->text));
    if (!d->platform->send(d->connection, a, m, &sent, err)) {
        Err ignored;

        if (!sent.unsure && !again) {
            o->sending = o->sent;
            (void)!outbox_mark(j, o, &ignored);
        }
        return failed(d, &sent, err);
    }
    if (o->sent == 0)
        o->first_ref = sent.id;
    /* What the first try left there may be words that grew since. */
    return !again || o->sent || !d->platform->knows_repeats || change(d, a, o, m, &gone, err);
}

static bool send_piece(Delivery *d, Journal *j, Arena *a, Outgoing *o, const Place *to, Str piece,
                       Err *err)
{
    Post m = { .to = to, .text = piece, .key = piece_key(a, o) };
    bool gone = false;

    if (o->sent == 0 && o->first_ref.n) {
        if (d->may_go_on && !d->may_go_on(d->ctx, err))
            return false;
        if (!change(d, a, o, &m, &gone, err)) {
            if (!gone)
                return false;
            d->never = false;
            m.key = str_printf(a, "%.*s:again", STR_FMT(m.key));
            o->first_ref = STR("");
            o->sending = o->sent;
        }
    }
    if (!(o->sent == 0 && o->first_ref.n) && !post(d, j, a, o, &m, err))
        return false;
    o->sent++;
    o->sending = o->sent;
    return outbox_mark(j, o, err);
}

static bool send_rest(Delivery *d, Journal *j, Arena *a, Outgoing *o, Err *err)
{
    Str *pieces;
    size_t n;
    Place to;

    d->wait_ms = 0;
    d->never = false;
    if (!place_parse(a, o->place_json, &to, err))
        return false;
    shape_split(a, d->platform->shape, o->text, &pieces, &n);
    o->pieces = (int64_t)n;
    while (o->sent < o->pieces) {
        if (o->state == OUTBOX_WAITING)
            o->not_before_ms = now_in_ms() + LEASE_MS;
        if (!send_piece(d, j, a, o, &to, pieces[o->sent], err))
            return false;
    }
    o->state = OUTBOX_SENT;
    o->error = STR("");
    return outbox_mark(j, o, err);
}

/* -- rows -------------------------------------------------------------------------------------------------- */

bool deliver(Delivery *d, Journal *j, Arena *a, const Outgoing *o, Str *ret_ref, Err *err)
{
    Outgoing row;

    if (!outbox_put(j, a, o, &row, err) ||
        (row.state != OUTBOX_SENT && !send_rest(d, j, a, &row, err)))
        return false;
    *ret_ref = row.first_ref;
    return true;
}

/* What became of a try that failed. */
static bool put_off(Delivery *d, Journal *j, Arena *a, Outgoing *o, const Err *why, Err *err)
{
    int64_t wait = deliver_back_off(++o->attempt);

    if (d->never || o->attempt >= OUTBOX_TRIES) {
        o->state = OUTBOX_DEAD;
        log_warning("words '%.*s' did not arrive at %.*s: %s", STR_FMT(o->id), STR_FMT(o->platform),
                    why->text);
    }
    o->not_before_ms = now_in_ms() + (d->wait_ms > wait ? d->wait_ms : wait);
    o->error = str_dup(a, str_of(why->text));
    return outbox_mark(j, o, err);
}

bool deliver_waiting(Delivery *d, Journal *j, Arena *a, Str id, Err *err)
{
    bool mine, found;
    Outgoing o;
    Err why;

    if (!outbox_take(j, id, now_in_ms() + LEASE_MS, &mine, err))
        return false;
    if (!mine)
        return true;
    if (!outbox_get(j, a, id, &o, &found, err) || !found)
        return false;
    return send_rest(d, j, a, &o, &why) || put_off(d, j, a, &o, &why, err);
}

bool deliver_growing(Delivery *d, Journal *j, Arena *a, Outgoing *o, const Place *to, Str text,
                     Err *err)
{
    Post m = { .to = to, .text = text, .key = piece_key(a, o) };
    bool gone;

    d->wait_ms = 0;
    d->never = false;
    if (!d->platform->edit)
        return true;
    if (o->first_ref.n)
        return change(d, a, o, &m, &gone, err);
    return post(d, j, a, o, &m, err) && outbox_mark(j, o, err);
}

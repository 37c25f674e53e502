#include "gateway/deliver.h"

#include "base/limits.h"

static bool send_piece(const Delivery *d, Journal *j, Arena *a, Outgoing *o, const Place *to,
                       Str piece, Err *err)
{
    bool again = o->sending > o->sent;
    Str key = str_printf(a, "%.*s:%lld", STR_FMT(o->id), (long long)o->sent), ref;

    o->sending = o->sent + 1;
    if (!outbox_mark(j, o, err) || !d->may_go_on(d->ctx, err))
        return false;
    if (again && !d->platform->knows_repeats)
        piece = str_printf(a, "(may be a repeat) %.*s", STR_FMT(piece));
    if (!d->platform->send(d->connection, a, to, piece, key, &ref, err))
        return false;
    if (o->sent == 0)
        o->first_ref = ref;
    o->sent++;
    return outbox_mark(j, o, err);
}

bool deliver(const Delivery *d, Journal *j, Arena *a, const Outgoing *o, Str *ret_ref, Err *err)
{
    Outgoing row;
    Str *pieces;
    size_t n;
    Place to;

    if (!outbox_put(j, a, o, &row, err) || !place_parse(a, row.place_json, &to, err))
        return false;
    shape_split(a, d->platform->shape, row.text, &pieces, &n);
    row.pieces = (int64_t)n;
    while (row.sent < row.pieces)
        if (!send_piece(d, j, a, &row, &to, pieces[row.sent], err))
            return false;
    *ret_ref = row.first_ref;
    return true;
}

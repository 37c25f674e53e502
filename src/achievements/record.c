#include "achievements/record.h"

#include "base/limits.h"

/* -- packing -- */

void pack_number(Buf *out, uint64_t n)
{
    char *room = buf_room(out, 10);
    size_t used = 0;

    if (!room)
        return;
    while (n >= 0x80) {
        room[used++] = (char)(n | 0x80);
        n >>= 7;
    }
    room[used++] = (char)n;
    out->n += used;
}

void pack_text(Buf *out, Str s)
{
    pack_number(out, s.n);
    buf_add(out, s);
}

void pack_real(Buf *out, double d)
{
    buf_add(out, (Str){ (const char *)&d, sizeof d });
}

uint64_t unpack_number(Unpacker *u)
{
    uint64_t n = 0;

    /* Nearly every number fits one byte. */
    if (u->rest.n && (unsigned char)u->rest.p[0] < 0x80) {
        n = (unsigned char)u->rest.p[0];
        u->rest = (Str){ u->rest.p + 1, u->rest.n - 1 };
        return n;
    }
    for (unsigned shift = 0; shift < 64 && u->rest.n; shift += 7) {
        unsigned char byte = (unsigned char)u->rest.p[0];

        u->rest = (Str){ u->rest.p + 1, u->rest.n - 1 };
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return n;
    }
    u->bad = true;
    return 0;
}

Str unpack_text(Unpacker *u)
{
    uint64_t n = unpack_number(u);
    Str s = { u->rest.p, (size_t)n };

    if (n > u->rest.n) {
        u->bad = true;
        return STR("");
    }
    u->rest = (Str){ u->rest.p + n, u->rest.n - (size_t)n };
    return s;
}

double unpack_real(Unpacker *u)
{
    double d = 0;

    if (u->rest.n < sizeof d) {
        u->bad = true;
        return 0;
    }
    memcpy(&d, u->rest.p, sizeof d);
    u->rest = str_skip(u->rest, sizeof d);
    return d;
}

/* -- numbers -- */

static size_t place_of(Arena *a, ToolTable *table, Str name)
{
    for (size_t i = 0; i < table->n; i++)
        if (str_eq(table->all[i], name))
            return i;
    ARENA_PUSH(a, table->all, table->n, table->cap, str_dup(a, name));
    return table->n - 1;
}

void record_set(Arena *a, Record *r, ToolTable *table, const SessionMetrics *m)
{
    AUTO_BUF numbers = BUF(KIB(4)), tools = BUF(MIB(4)), peaks = BUF(KIB(1));
    const Catalogue *c = catalogue();

    for (size_t i = 0; i < METRIC_COUNT; i++)
        pack_number(&numbers, (uint64_t)m->value[i]);
    for (size_t i = 0; i < c->n_peaks; i++)
        pack_number(&peaks, (uint64_t)m->message[c->aggregates[c->peaks[i]].metric]);
    for (size_t i = 0; i < m->n_tool_names; i++)
        pack_number(&tools, place_of(a, table, m->tool_names[i]));
    r->metrics = str_dup(a, buf_str(&numbers));
    r->tools = str_dup(a, buf_str(&tools));
    r->peaks = str_dup(a, buf_str(&peaks));
    r->table = table;
}

void record_metrics(const Record *r, int64_t ret[METRIC_COUNT])
{
    Unpacker u = { .rest = r->metrics };

    for (size_t i = 0; i < METRIC_COUNT; i++)
        ret[i] = (int64_t)unpack_number(&u);
}

void record_peaks(const Record *r, int64_t ret[MAX_PEAKS])
{
    Unpacker u = { .rest = r->peaks };

    for (size_t i = 0; i < catalogue()->n_peaks; i++)
        ret[i] = (int64_t)unpack_number(&u);
}

Str *record_tools(Arena *a, const Record *r, size_t *ret_n)
{
    Unpacker u = { .rest = r->tools };
    Str *names = ARENA_ARRAY(a, Str, r->tools.n + 1);
    size_t n = 0;

    while (u.rest.n) {
        uint64_t place = unpack_number(&u);

        if (!u.bad && place < r->table->n)
            names[n++] = r->table->all[place];
    }
    *ret_n = n;
    return names;
}

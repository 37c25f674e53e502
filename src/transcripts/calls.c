#include "transcripts/calls.h"

#include "base/hash.h"
#include "transcripts/line.h"

enum { CALLS_WAITING = 4096 };

typedef struct Call {
    uint64_t id;
    bool copied;
    EventUsage usage;
} Call;

struct Calls {
    Db *db;
    Call waiting[CALLS_WAITING];
    size_t n;
};

/* The session in whose sums a call is, and with how much. */
typedef struct Owner {
    int64_t key; /* 0: none */
    EventUsage usage;
} Owner;

#define USAGE(u) INT((u)->input), INT((u)->output), INT((u)->cache_read), INT((u)->cache_write)

Calls *calls_new(Db *db)
{
    Calls *c = mem_alloc(sizeof *c);

    c->db = db;
    return c;
}

Calls *calls_free(Calls *c)
{
    return mem_free(c);
}

/* -- the database -- */

static bool owner_of(Calls *c, uint64_t call, Owner *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    if (!db_query(c->db, &rows, err,
                  "SELECT key, input, output, cache_read, cache_write FROM calls "
                  "WHERE call = ? ORDER BY copied, key LIMIT 1",
                  INT((int64_t)call)) ||
        !db_row(rows, &row, err))
        return false;
    *ret = (Owner){ 0 };
    if (row)
        *ret = (Owner){ .key = row_int(rows, 0),
                        .usage = { .input = row_int(rows, 1),
                                   .output = row_int(rows, 2),
                                   .cache_read = row_int(rows, 3),
                                   .cache_write = row_int(rows, 4) } };
    return true;
}

static bool put_call(Calls *c, const Call *call, int64_t key, Err *err)
{
    return db_exec(c->db, NULL, err,
                   "INSERT INTO calls VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                   "input = max(input, excluded.input), output = max(output, excluded.output), "
                   "cache_read = max(cache_read, excluded.cache_read), "
                   "cache_write = max(cache_write, excluded.cache_write)",
                   INT((int64_t)call->id), INT(call->copied), INT(key), USAGE(&call->usage));
}

/* -- sums -- */

static EventUsage times(const EventUsage *u, int64_t sign)
{
    return (EventUsage){ .input = sign * u->input,
                         .output = sign * u->output,
                         .cache_read = sign * u->cache_read,
                         .cache_write = sign * u->cache_write };
}

/* `session` is the entry that is not in the database yet; NULL: none. */
static bool adjust(Calls *c, Entry *session, const Owner *owner, int64_t sign, Err *err)
{
    EventUsage u = times(&owner->usage, sign);

    if (!owner->key)
        return true;
    if (session && session->key == owner->key) {
        session->input_tokens += u.input;
        session->output_tokens += u.output;
        session->cache_read_tokens += u.cache_read;
        session->cache_write_tokens += u.cache_write;
        return true;
    }
    return db_exec(c->db, NULL, err,
                   "UPDATE entries SET input_tokens = input_tokens + ?2, "
                   "output_tokens = output_tokens + ?3, "
                   "cache_read_tokens = cache_read_tokens + ?4, "
                   "cache_write_tokens = cache_write_tokens + ?5 WHERE key = ?1",
                   INT(owner->key), USAGE(&u));
}

static bool save(Calls *c, const Call *call, Entry *session, Err *err)
{
    Owner before, after;

    if (!owner_of(c, call->id, &before, err) || !put_call(c, call, session->key, err))
        return false;
    after = (Owner){ session->key, call->usage };
    if (before.key && !owner_of(c, call->id, &after, err))
        return false;
    return adjust(c, session, &before, -1, err) && adjust(c, session, &after, 1, err);
}

bool calls_add(Calls *c, Str root, const Event *e)
{
    uint64_t id = hash_text(e->call, root);

    /* Lines of one call follow each other. */
    if (c->n && c->waiting[c->n - 1].id == id)
        c->n--;
    c->waiting[c->n++] = (Call){ id, e->flags & EVENT_IS_COPY, e->of_call };
    return c->n == CALLS_WAITING;
}

bool calls_save(Calls *c, Entry *session, Err *err)
{
    size_t n = c->n;

    c->n = 0;
    for (size_t i = 0; i < n; i++)
        if (!save(c, &c->waiting[i], session, err))
            return false;
    return true;
}

void calls_drop(Calls *c)
{
    c->n = 0;
}

bool calls_gone(Calls *c, int64_t key, Err *err)
{
    for (;;) {
        AUTO(DbRows) *rows = NULL;
        Owner before, after;
        bool more = false;
        int64_t call;

        if (!db_query(c->db, &rows, err, "SELECT call FROM calls WHERE key = ? LIMIT 1",
                      INT(key)) ||
            !db_row(rows, &more, err))
            return false;
        if (!more)
            return true;
        call = row_int(rows, 0);
        rows = db_rows_done(rows); /* before the row is deleted */
        if (!owner_of(c, (uint64_t)call, &before, err) ||
            !db_exec(c->db, NULL, err, "DELETE FROM calls WHERE call = ? AND key = ?", INT(call),
                     INT(key)))
            return false;
        if (before.key == key &&
            (!owner_of(c, (uint64_t)call, &after, err) || !adjust(c, NULL, &after, 1, err)))
            return false;
    }
}

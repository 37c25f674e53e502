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
    Stmt *owner, *put, *of_entry, *forget, *adjust;
    Call waiting[CALLS_WAITING];
    size_t n;
};

/* The session in whose sums a call is, and with how much. */
typedef struct Owner {
    int64_t key; /* 0: none */
    EventUsage usage;
} Owner;

static bool prepare(Calls *c, Err *err)
{
    return db_prepare(c->db,
                      "SELECT key, input, output, cache_read, cache_write FROM calls "
                      "WHERE call = ? ORDER BY copied, key LIMIT 1",
                      &c->owner, err) &&
           db_prepare(c->db,
                      "INSERT INTO calls VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                      "input = max(input, excluded.input), output = max(output, excluded.output), "
                      "cache_read = max(cache_read, excluded.cache_read), "
                      "cache_write = max(cache_write, excluded.cache_write)",
                      &c->put, err) &&
           db_prepare(c->db, "SELECT call FROM calls WHERE key = ? LIMIT 1", &c->of_entry, err) &&
           db_prepare(c->db, "DELETE FROM calls WHERE call = ? AND key = ?", &c->forget, err) &&
           db_prepare(c->db,
                      "UPDATE entries SET input_tokens = input_tokens + ?2, "
                      "output_tokens = output_tokens + ?3, "
                      "cache_read_tokens = cache_read_tokens + ?4, "
                      "cache_write_tokens = cache_write_tokens + ?5 WHERE key = ?1",
                      &c->adjust, err);
}

Calls *calls_new(Db *db, Err *err)
{
    AUTO(Calls) *c = mem_alloc(sizeof *c);

    c->db = db;
    return prepare(c, err) ? TAKE(c) : NULL;
}

Calls *calls_free(Calls *c)
{
    if (c) {
        stmt_free(c->owner);
        stmt_free(c->put);
        stmt_free(c->of_entry);
        stmt_free(c->forget);
        stmt_free(c->adjust);
        mem_free(c);
    }
    return NULL;
}

/* -- the database --------------------------------------------------------------------------------- */

static bool run(Calls *c, Stmt *stmt, Err *err)
{
    bool ignored, ok = db_step(c->db, stmt, &ignored, err);

    sqlite3_reset(stmt);
    return ok;
}

static void bind_usage(Stmt *stmt, int at, const EventUsage *u)
{
    sqlite3_bind_int64(stmt, at, u->input);
    sqlite3_bind_int64(stmt, at + 1, u->output);
    sqlite3_bind_int64(stmt, at + 2, u->cache_read);
    sqlite3_bind_int64(stmt, at + 3, u->cache_write);
}

static bool owner_of(Calls *c, uint64_t call, Owner *ret, Err *err)
{
    Stmt *stmt = c->owner;
    bool row = false, ok;

    sqlite3_bind_int64(stmt, 1, (int64_t)call);
    ok = db_step(c->db, stmt, &row, err);
    *ret = (Owner){ 0 };
    if (ok && row)
        *ret = (Owner){ .key = sqlite3_column_int64(stmt, 0),
                        .usage = { .input = sqlite3_column_int64(stmt, 1),
                                   .output = sqlite3_column_int64(stmt, 2),
                                   .cache_read = sqlite3_column_int64(stmt, 3),
                                   .cache_write = sqlite3_column_int64(stmt, 4) } };
    sqlite3_reset(stmt);
    return ok;
}

static bool put(Calls *c, const Call *call, int64_t key, Err *err)
{
    sqlite3_bind_int64(c->put, 1, (int64_t)call->id);
    sqlite3_bind_int(c->put, 2, call->copied);
    sqlite3_bind_int64(c->put, 3, key);
    bind_usage(c->put, 4, &call->usage);
    return run(c, c->put, err);
}

/* -- sums ----------------------------------------------------------------------------------------- */

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
    sqlite3_bind_int64(c->adjust, 1, owner->key);
    bind_usage(c->adjust, 2, &u);
    return run(c, c->adjust, err);
}

static bool save(Calls *c, const Call *call, Entry *session, Err *err)
{
    Owner before, after;

    if (!owner_of(c, call->id, &before, err) || !put(c, call, session->key, err))
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

static bool next_of(Calls *c, int64_t key, uint64_t *ret, bool *ret_more, Err *err)
{
    bool ok;

    sqlite3_bind_int64(c->of_entry, 1, key);
    ok = db_step(c->db, c->of_entry, ret_more, err);
    if (ok && *ret_more)
        *ret = (uint64_t)sqlite3_column_int64(c->of_entry, 0);
    sqlite3_reset(c->of_entry);
    return ok;
}

bool calls_gone(Calls *c, int64_t key, Err *err)
{
    Owner before, after;
    bool more = true;
    uint64_t call = 0;

    while (more) {
        if (!next_of(c, key, &call, &more, err))
            return false;
        if (!more)
            break;
        if (!owner_of(c, call, &before, err))
            return false;
        sqlite3_bind_int64(c->forget, 1, (int64_t)call);
        sqlite3_bind_int64(c->forget, 2, key);
        if (!run(c, c->forget, err))
            return false;
        if (before.key == key &&
            (!owner_of(c, call, &after, err) || !adjust(c, NULL, &after, 1, err)))
            return false;
    }
    return true;
}

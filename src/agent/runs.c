/* The handle with its statements, and how a run begins; runs_write.c has the rest of its way.
 *
 * The row of the answer is made with the run, inactive and empty, so that its id is known from the
 * first event on; the end fills it. */
#include "agent/runs.h"

#include <pthread.h>
#include <sys/random.h>

#include "agent/runs_inside.h"
#include "base/clock.h"

struct Runs {
    OwnStore *own;
    Db *db; /* the same handle */
};

/* -- the handle -- */

Runs *runs_open(Str data_folder, Err *err)
{
    AUTO(Runs) *r = mem_alloc(sizeof *r);

    r->own = own_store_open(data_folder, err);
    if (!r->own)
        return NULL;
    r->db = own_store_db(r->own);
    if (!db_script(r->db, "PRAGMA synchronous=NORMAL", err))
        return NULL;
    db_stop_checkpoints(r->db);
    return TAKE(r);
}

Runs *runs_close(Runs *r)
{
    if (r) {
        own_store_close(r->own);
        mem_free(r);
    }
    return NULL;
}

Db *runs_db(Runs *r)
{
    return r->db;
}

Str runs_data(const Runs *r)
{
    return own_store_data(r->own);
}

int64_t now_ms(void)
{
    return clock_wall_ms();
}

void id_make(char kind, char ret[ID_CHARS])
{
    unsigned char random[12];

    ASSERT(getrandom(random, sizeof random, 0) == sizeof random);
    ret[0] = kind;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(ret + 1 + 2 * i, 3, "%02x", random[i]);
}

Str id_new(Arena *a, char kind)
{
    char id[ID_CHARS];

    id_make(kind, id);
    return str_dup(a, str_of(id));
}

/* One writer at a time in this process: the database's own lock is waited for by sleeping, which
 * would cost a stream more than the wait itself. */
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;

bool runs_begin_tx(Runs *r, Err *err)
{
    pthread_mutex_lock(&write_lock);
    if (db_begin(r->db, err))
        return true;
    pthread_mutex_unlock(&write_lock);
    return false;
}

bool runs_end_tx(Runs *r, bool ok, Err *err)
{
    ok = db_end(r->db, ok, err);
    pthread_mutex_unlock(&write_lock);
    return ok;
}

/* After the lock was given back, so that the streams of others go on while the disk works. */
bool runs_sync(Runs *r, Err *err)
{
    return db_sync(r->db, err);
}

void runs_checkpoint(Runs *r)
{
    db_checkpoint(r->db);
}

bool runs_end_synced(Runs *r, bool ok, Err *err)
{
    return runs_end_tx(r, ok, err) && runs_sync(r, err);
}

/* -- reading runs -- */

#define RUN_COLUMNS                                                                                \
    "SELECT id, conversation_id, runtime, state, error_code, owner, user_message_id, "             \
    "assistant_message_id, last_seq, started_ms, ended_ms, idem_sha256 FROM run "

static void read_run(Arena *a, DbRows *q, Run *ret)
{
    *ret = (Run){ .id = row_dup(a, q, 0),
                  .conversation_id = row_dup(a, q, 1),
                  .runtime = row_dup(a, q, 2),
                  .state = row_dup(a, q, 3),
                  .error_code = row_dup(a, q, 4),
                  .owner = row_dup(a, q, 5),
                  .user_message_id = row_int(q, 6),
                  .assistant_message_id = row_int(q, 7),
                  .last_seq = row_int(q, 8),
                  .started_ms = row_int(q, 9),
                  .ended_ms = row_int(q, 10) };
}

static bool one_run(Arena *a, DbRows *q, Run *ret, bool *ret_found, Err *err)
{
    *ret_found = false;
    if (!db_row(q, ret_found, err))
        return false;
    if (*ret_found)
        read_run(a, q, ret);
    return true;
}

bool runs_get(Runs *r, Arena *a, Str id, Run *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool found;

    if (!db_query(runs_db(r), &q, err, RUN_COLUMNS "WHERE id = ?", TEXT(id)) ||
        !one_run(a, q, ret, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no run '%.*s'", STR_FMT(id));
}

bool runs_by_key(Runs *r, Arena *a, Str idem_key, Run *ret, bool *ret_found, Err *err)
{
    AUTO(DbRows) *q = NULL;

    return db_query(runs_db(r), &q, err, RUN_COLUMNS "WHERE idem_key = ?", TEXT(idem_key)) &&
           one_run(a, q, ret, ret_found, err);
}

bool runs_events(Runs *r, Arena *a, Str id, int64_t after, RunEvent **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *q = NULL;
    RunEvent *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(
            runs_db(r), &q, err,
            "SELECT seq, type, payload, created_ms FROM run_event WHERE run_id = ? AND seq > ? "
            "ORDER BY seq",
            TEXT(id), INT(after)))
        return false;
    while (db_next(q, &ok, err)) {
        RunEvent e;

        e = (RunEvent){ .run_id = id,
                        .seq = row_int(q, 0),
                        .type = row_dup(a, q, 1),
                        .payload = row_dup(a, q, 2),
                        .created_ms = row_int(q, 3) };
        ARENA_PUSH(a, all, n, cap, e);
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}

/* -- the beginning -- */

/* *ret_known: the key was used for just this. */
static bool check_key(Runs *r, Arena *a, const RunRequest *request, Run *ret, bool *ret_known,
                      Err *err)
{
    AUTO(DbRows) *q = NULL;

    *ret_known = false;
    if (!request->idem_key.n)
        return true;
    if (!db_query(runs_db(r), &q, err, RUN_COLUMNS "WHERE idem_key = ?", TEXT(request->idem_key)) ||
        !one_run(a, q, ret, ret_known, err))
        return false;
    if (!*ret_known)
        return true;
    if (str_eq(row_text(q, 11), request->idem_sha256) &&
        str_eq(ret->conversation_id, request->conversation_id))
        return true;
    *ret_known = false;
    return err_set(err, ERR_CONFLICT, "this Idempotency-Key was used for another request");
}

static bool check_free(Runs *r, Arena *a, const RunRequest *request, Run *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool found;

    if (!db_query(runs_db(r), &q, err, RUN_COLUMNS "WHERE conversation_id = ? AND ended_ms IS NULL",
                  TEXT(request->conversation_id)) ||
        !one_run(a, q, ret, &found, err))
        return false;
    return !found || err_set(err, ERR_CONFLICT, "run '%.*s' of this conversation is still running",
                             STR_FMT(ret->id));
}

static bool elsewhere(Str session_id, Str owner, Str surface, Err *err)
{
    if (surface.n)
        return err_set(err, ERR_CONFLICT, "session '%.*s' has moved from %.*s to %.*s",
                       STR_FMT(session_id), STR_FMT(surface),
                       STR_FMT(str_eqz(owner, "cli") ? STR("the terminal") : owner));
    return err_set(err, ERR_CONFLICT,
                   "session '%.*s' continues in the %.*s chat; run 'talaria handoff back --session "
                   "%.*s' to bring it back",
                   STR_FMT(session_id), STR_FMT(owner), STR_FMT(session_id));
}

bool runs_may_write_at(Runs *r, Str home, Str session_id, Str surface, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT owner_surface FROM session_owner WHERE home = ? AND session_id = ?",
                  TEXT(home), TEXT(session_id)) ||
        !db_row(q, &row, err))
        return false;
    return !row || str_eq(row_text(q, 0), surface.n ? surface : STR("cli")) ||
           elsewhere(session_id, row_text(q, 0), surface, err);
}

bool runs_may_write(Runs *r, Str session_id, Str surface, Err *err)
{
    return runs_may_write_at(r, own_store_data(r->own), session_id, surface, err);
}

static bool add_message(Runs *r, const RunRequest *request, bool answer, int64_t now,
                        int64_t *ret_id, Err *err)
{
    Str role = answer ? STR("assistant") : STR("user");
    Str status = answer ? STR("running") : STR("complete");

    if (!db_exec(runs_db(r), NULL, err,
                 "INSERT INTO messages(session_id, role, content, timestamp, active, compacted, "
                 "observed) "
                 "VALUES(?, ?, ?, ?, ?, 0, 0)",
                 TEXT(request->conversation_id), TEXT(role), TEXT(answer ? STR("") : request->text),
                 REAL((double)now / 1000), INT(!answer)))
        return false;
    *ret_id = db_last_id(r->db);
    return db_exec(
        runs_db(r), NULL, err,
        "INSERT INTO conversation_message(message_id, conversation_id, seq, runtime, run_id, "
        "status, created_ms, finished_ms, guest) SELECT ?1, ?2, coalesce(max(seq), 0) + 1, "
        "?3, ?4, ?5, ?6, ?7, ?8 FROM conversation_message WHERE conversation_id = ?2",
        INT(*ret_id), TEXT(request->conversation_id), TEXT(request->runtime), TEXT(request->id),
        TEXT(status), INT(now), answer ? TEXT(STR_NONE) : INT(now), INT(request->guest));
}

static bool add_run(Runs *r, const RunRequest *request, const Run *run, int64_t now, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "INSERT INTO run(id, conversation_id, user_message_id, assistant_message_id, "
                   "runtime, "
                   "state, idem_key, idem_sha256, owner, started_ms) "
                   "VALUES(?, ?, ?, ?, ?, 'running', ?, ?, ?, ?)",
                   TEXT(request->id), TEXT(request->conversation_id), INT(run->user_message_id),
                   INT(run->assistant_message_id), TEXT(request->runtime), MAYBE(request->idem_key),
                   MAYBE(request->idem_sha256), TEXT(request->owner), INT(now)) &&
           db_exec(runs_db(r), NULL, err,
                   "UPDATE sessions SET message_count = message_count + ?, last_activity_at = ? "
                   "WHERE id = ?",
                   INT(!request->internal && !request->of_message), REAL((double)now / 1000),
                   TEXT(request->conversation_id)) &&
           db_exec(runs_db(r), NULL, err,
                   "UPDATE conversation SET updated_ms = ?, version = version + 1, "
                   "memory = coalesce(?, memory) WHERE id = ?",
                   INT(now), MAYBE(request->memory), TEXT(request->conversation_id));
}

static bool claim_files(Runs *r, const RunRequest *request, int64_t message_id, Err *err)
{
    for (size_t i = 0; i < request->n_files; i++) {
        if (!db_exec(runs_db(r), NULL, err,
                     "UPDATE attachment SET message_id = ? WHERE id = ? AND conversation_id = ? "
                     "AND kind = 'file'",
                     INT(message_id), TEXT(request->files[i]), TEXT(request->conversation_id)))
            return false;
        if (db_changes(runs_db(r)) == 0)
            return err_set(err, ERR_NOT_FOUND, "no file '%.*s' in this conversation",
                           STR_FMT(request->files[i]));
    }
    return true;
}

/* A one-shot question that is continued is a conversation like any other. */
static bool keep_in_lists(Runs *r, Str id, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "UPDATE sessions SET source = 'talaria' WHERE id = ?1 AND source = '" SOURCE_ASK
                   "' AND EXISTS (SELECT 1 FROM messages WHERE session_id = ?1)",
                   TEXT(id));
}

static bool begin_rows(Runs *r, const RunRequest *request, Run *ret, Err *err)
{
    int64_t now = now_ms();

    *ret = (Run){ .id = request->id,
                  .conversation_id = request->conversation_id,
                  .runtime = request->runtime,
                  .state = STR("running"),
                  .owner = request->owner,
                  .user_message_id = request->of_message,
                  .started_ms = now };
    return keep_in_lists(r, request->conversation_id, err) &&
           (request->internal || request->of_message ||
            add_message(r, request, false, now, &ret->user_message_id, err)) &&
           add_message(r, request, true, now, &ret->assistant_message_id, err) &&
           claim_files(r, request, ret->user_message_id, err) && add_run(r, request, ret, now, err);
}

static bool has_conversation(Runs *r, Str id, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row = false;

    if (!db_query(runs_db(r), &q, err, "SELECT 1 FROM conversation WHERE id = ?", TEXT(id)) ||
        !db_row(q, &row, err))
        return false;
    return row || err_set(err, ERR_NOT_FOUND, "no conversation '%.*s'", STR_FMT(id));
}

bool runs_begin(Runs *r, Arena *a, const RunRequest *request, Run *ret, bool *ret_again, Err *err)
{
    bool ok;

    if (!runs_begin_tx(r, err))
        return false;
    ok = has_conversation(r, request->conversation_id, err) &&
         check_key(r, a, request, ret, ret_again, err) &&
         (*ret_again || (runs_may_write(r, request->conversation_id, request->surface, err) &&
                         check_free(r, a, request, ret, err) && begin_rows(r, request, ret, err)));
    return runs_end_synced(r, ok, err);
}

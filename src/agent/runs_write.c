/* What a run says, and its end.
 *
 * Events have their place by run and number: that is how they are read. A thousand runs that speak
 * in turn would touch a page each for every word there, and write it to the log as a whole. So
 * while a run continues its events are only appended to run_tail, which all runs share: a commit
 * writes a page or two, however many have spoken. They come to their place in larger pieces, the
 * last with the run's end; the writer has them in memory anyway. Only after the death of a process
 * the tail is read. What it holds of runs that are over is swept out now and then. */
#include "agent/runs_inside.h"
#include "base/limits.h"
#include "text/sha256.h"

enum { SWEPT_AT_ONCE = 500 }; /* others wait for their words meanwhile */

/* -- Events -- */

static bool add_event(Runs *r, const RunEvent *e, Err *err)
{
    return db_exec(
        runs_db(r), NULL, err,
        "INSERT INTO run_event(run_id, seq, type, payload, created_ms) VALUES(?, ?, ?, ?, ?)",
        TEXT(e->run_id), INT(e->seq), TEXT(e->type), TEXT(e->payload), INT(e->created_ms));
}

static bool append_event(Runs *r, const RunEvent *e, Err *err)
{
    return db_exec(
        runs_db(r), NULL, err,
        "INSERT INTO run_tail(run_id, seq, type, payload, created_ms) VALUES(?, ?, ?, ?, ?)",
        TEXT(e->run_id), INT(e->seq), TEXT(e->type), TEXT(e->payload), INT(e->created_ms));
}

static bool is_among(Str id, const Str *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(id, ids[i]))
            return true;
    return false;
}

/* Some of it may have its place already, or somebody else does the same. */
static bool place_row(Runs *r, DbRows *q, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "INSERT OR IGNORE INTO run_event(run_id, seq, type, payload, created_ms) "
                   "VALUES(?, ?, ?, ?, ?)",
                   TEXT(row_text(q, 0)), INT(row_int(q, 1)), TEXT(row_text(q, 2)),
                   TEXT(row_text(q, 3)), INT(row_int(q, 4)));
}

static bool place_rows(Runs *r, const Str *ids, size_t n, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool ok;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT run_id, seq, type, payload, created_ms FROM run_tail"))
        return false;
    while (db_next(q, &ok, err)) {
        if (is_among(row_text(q, 0), ids, n) && !place_row(r, q, err))
            return false;
    }
    return ok;
}

bool runs_place_tail(Runs *r, const Str *ids, size_t n, Err *err)
{
    if (!n)
        return true;
    return runs_begin_tx(r, err) && runs_end_tx(r, place_rows(r, ids, n, err), err);
}

static bool sweep_some(Runs *r, bool *ret_more, Err *err)
{
    bool ok;

    if (!runs_begin_tx(r, err))
        return false;
    ok = db_exec(runs_db(r), NULL, err,
                 "DELETE FROM run_tail WHERE n IN (SELECT n FROM run_tail WHERE run_id NOT IN "
                 "(SELECT id FROM run WHERE ended_ms IS NULL) LIMIT ?)",
                 INT(SWEPT_AT_ONCE));
    *ret_more = db_changes(runs_db(r)) == SWEPT_AT_ONCE;
    return runs_end_tx(r, ok, err);
}

bool runs_sweep(Runs *r, Err *err)
{
    bool more = true;

    while (more)
        if (!sweep_some(r, &more, err))
            return false;
    return true;
}

/* -- Passages -- */

void passages_init(Passages *p)
{
    *p = (Passages){ .json = BUF(KIB(64)) };
}

void passages_done(Passages *p)
{
    buf_done(&p->json);
}

void passages_add(Passages *p, int64_t segment, size_t at)
{
    if (p->n && segment == p->segment)
        return;
    p->segment = segment;
    buf_addf(&p->json, "%s%zu", p->n++ ? "," : "[", at);
}

Str passages_json(const Passages *p, Arena *a)
{
    if (p->n < 2 || buf_full(&p->json))
        return STR("");
    return str_printf(a, "%.*s]", STR_FMT(buf_str(&p->json)));
}

/* -- The end -- */

static bool end_message(Runs *r, const RunEnd *end, const Run *run, int64_t now, Err *err)
{
    return db_exec(
               runs_db(r), NULL, err,
               "UPDATE messages SET content = ?, active = ?, finish_reason = ?, token_count = ?, "
               "timestamp = max(timestamp, ?) WHERE id = ?",
               TEXT(end->text.p ? end->text : STR("")), INT(end->text.n > 0),
               MAYBE(end->finish_reason), INT(end->output_tokens), REAL((double)now / 1000),
               INT(run->assistant_message_id)) &&
           db_exec(runs_db(r), NULL, err,
                   "UPDATE conversation_message SET status = ?, model = ?, usage_json = ?, "
                   "passages = ?, finished_ms = ? WHERE message_id = ?",
                   TEXT(end->message_status), MAYBE(end->model), MAYBE(end->usage_json),
                   MAYBE(end->passages), INT(now), INT(run->assistant_message_id)) &&
           db_exec(runs_db(r), NULL, err,
                   "UPDATE sessions SET message_count = message_count + ?, last_activity_at = ?, "
                   "input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, "
                   "reasoning_tokens = reasoning_tokens + ?, api_call_count = api_call_count + 1, "
                   "model = coalesce(?, model) WHERE id = ?",
                   INT(end->text.n > 0), REAL((double)now / 1000), INT(end->input_tokens),
                   INT(end->output_tokens), INT(end->reasoning_tokens), MAYBE(end->model),
                   TEXT(run->conversation_id));
}

static bool end_run(Runs *r, const RunEnd *end, const Run *run, int64_t now, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "UPDATE run SET state = ?1, error_code = ?2, ended_ms = ?3, last_seq = coalesce("
                   "(SELECT max(seq) FROM run_event WHERE run_id = ?4), 0) WHERE id = ?4",
                   TEXT(end->state), MAYBE(end->error_code), INT(now), TEXT(end->run_id)) &&
           db_exec(runs_db(r), NULL, err,
                   "UPDATE conversation SET updated_ms = ?, version = version + 1 WHERE id = ?",
                   INT(now), TEXT(run->conversation_id));
}

static bool keep_lost(Runs *r, const RunEnd *end, const Run *run, int64_t now, Err *err)
{
    return !end->lost ||
           db_exec(runs_db(r), NULL, err,
                   "INSERT OR IGNORE INTO continuity_lost(conversation_id, runtime, generation, "
                   "handle, "
                   "lost_ms) SELECT conversation_id, runtime, generation, handle, ? FROM "
                   "runtime_continuity WHERE conversation_id = ? AND runtime = ?",
                   INT(now), TEXT(run->conversation_id), TEXT(end->thread));
}

/* One name, that of the runtime that ran; no other row is read or written. */
static bool write_handle(Runs *r, const RunEnd *end, const Run *run, int64_t now, size_t *stale,
                         Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str sum = sha256_hex(a, end->handle);

    if (!end->handle.n)
        return true;
    if (!keep_lost(r, end, run, now, err))
        return false;
    if (end->generation == 0) {
        if (!db_exec(
                runs_db(r), NULL, err,
                "INSERT OR IGNORE INTO runtime_continuity(conversation_id, runtime, generation, "
                "handle, sha256, updated_ms) VALUES(?, ?, 1, ?, ?, ?)",
                TEXT(run->conversation_id), TEXT(end->thread), TEXT(end->handle), TEXT(sum),
                INT(now)))
            return false;
    } else if (!db_exec(runs_db(r), NULL, err,
                        "UPDATE runtime_continuity SET generation = generation + 1, handle = ?, "
                        "sha256 = ?, updated_ms = ? WHERE conversation_id = ? AND runtime = ? AND "
                        "generation = ?",
                        TEXT(end->handle), TEXT(sum), INT(now), TEXT(run->conversation_id),
                        TEXT(end->thread), INT(end->generation))) {
        return false;
    }
    *stale += db_changes(runs_db(r)) == 0;
    return true;
}

static bool write_end(Runs *r, Arena *a, const RunEnd *end, size_t *stale, Err *err)
{
    int64_t now = now_ms();
    Run run;

    if (!runs_get(r, a, end->run_id, &run, err))
        return false;
    if (run.ended_ms)
        return err_set(err, ERR_CONFLICT, "run '%.*s' is over already", STR_FMT(end->run_id));
    for (size_t i = 0; i < end->n_attachments; i++) {
        Attachment x = end->attachments[i];

        x.message_id = run.assistant_message_id;
        x.conversation_id = run.conversation_id;
        if (!attachment_add(r, &x, err))
            return false;
    }
    return end_message(r, end, &run, now, err) && end_run(r, end, &run, now, err) &&
           write_handle(r, end, &run, now, stale, err);
}

bool runs_write(Runs *r, const RunBatch *batch, size_t *ret_stale, Err *err)
{
    AUTO(Arena) *a = arena_new();
    size_t stale = 0;
    bool ok = true;

    if (!runs_begin_tx(r, err))
        return false;
    for (size_t i = 0; ok && i < batch->n_said; i++)
        ok = append_event(r, &batch->said[i], err);
    for (size_t i = 0; ok && i < batch->n_events; i++)
        ok = add_event(r, &batch->events[i], err);
    for (size_t i = 0; ok && i < batch->n_ends; i++)
        ok = write_end(r, a, &batch->ends[i], &stale, err);
    if (!runs_end_tx(r, ok, err))
        return false;
    *ret_stale = stale;
    return true;
}

/* Runs that their process did not live to end.
 *
 * Their events are all there, so the answer is what the chunks say, byte for byte, and the log is
 * ended as a reader expects it: one error, one done. A run without any event gets its metadata
 * too. */
#include "agent/runs_inside.h"
#include "base/limits.h"
#include "text/json.h"

typedef struct Rest {
    Buf text;
    Passages passages;
    int64_t last_seq, segments;
    bool has_error;
} Rest;

static void read_event(const RunEvent *e, Rest *rest)
{
    AUTO(JsonDoc) *doc = NULL;
    int64_t segment = 0;
    Err err;

    rest->last_seq = e->seq;
    rest->has_error = rest->has_error || str_eqz(e->type, "error");
    if (!str_eqz(e->type, "chunk"))
        return;
    doc = json_parse(e->payload, &err);
    if (!doc)
        return;
    if (json_int(json_get(json_root(doc), STR("segment")), &segment) && segment >= rest->segments)
        rest->segments = segment + 1;
    passages_add(&rest->passages, segment, rest->text.n);
    buf_add(&rest->text, json_str(json_get(json_root(doc), STR("text"))));
}

static JsonWriter begin_payload(Buf *out, Rest *rest)
{
    JsonWriter w = JSON_WRITER(out, 0);

    json_begin(&w, '{');
    json_field_int(&w, "seq", ++rest->last_seq);
    json_field_int(&w, "ts", now_ms());
    return w;
}

static Str id_text(Arena *a, int64_t id)
{
    return str_printf(a, "%lld", (long long)id);
}

static void put_metadata(Arena *a, const Run *run, Rest *rest, Buf *out)
{
    JsonWriter w = begin_payload(out, rest);

    json_field_int(&w, "v", 1);
    json_field_str(&w, "run_id", run->id);
    json_field_str(&w, "conversation_id", run->conversation_id);
    json_field_str(&w, "user_message_id",
                   run->user_message_id ? id_text(a, run->user_message_id) : STR_NONE);
    json_field_str(&w, "assistant_message_id", id_text(a, run->assistant_message_id));
    json_field_str(&w, "runtime", run->runtime);
    json_end(&w, '}');
}

static void put_error(const Run *run, Rest *rest, Buf *out)
{
    JsonWriter w = begin_payload(out, rest);

    json_field_str(&w, "code", STR("internal"));
    json_field_str(&w, "message", STR("engine restarted"));
    json_field_bool(&w, "retryable", rest->text.n == 0);
    json_field_str(&w, "stage", STR("persist"));
    json_field_str(&w, "runtime", run->runtime);
    json_field_bool(&w, "partial", rest->text.n > 0);
    json_field_int(&w, "chars", (int64_t)rest->text.n);
    json_end(&w, '}');
}

static void put_done(Arena *a, const Run *run, Rest *rest, Buf *out)
{
    int64_t elapsed = now_ms() - run->started_ms;
    JsonWriter w = begin_payload(out, rest);

    json_field_str(&w, "status", STR("failed"));
    json_field_str(&w, "finish_reason", STR("error"));
    json_field_str(&w, "message_id", id_text(a, run->assistant_message_id));
    json_field_int(&w, "chars", (int64_t)rest->text.n);
    json_field_int(&w, "segments", rest->segments);
    json_field_int(&w, "elapsed_ms", elapsed > 0 ? elapsed : 0);
    json_end(&w, '}');
}

typedef struct Closing {
    RunEvent events[3];
    size_t n;
} Closing;

static void push(Arena *a, Closing *c, const Run *run, const Rest *rest, const char *type,
                 Buf *payload)
{
    c->events[c->n++] = (RunEvent){ .run_id = run->id,
                                    .seq = rest->last_seq,
                                    .type = str_of(type),
                                    .payload = str_dup(a, buf_str(payload)),
                                    .created_ms = now_ms() };
    buf_clear(payload);
}

static bool close_run(Runs *r, Arena *a, const Run *run, Rest *rest, Err *err)
{
    AUTO_BUF payload = BUF(MIB(1));
    Closing c = { .n = 0 };
    RunEnd end = { .run_id = run->id,
                   .state = STR("failed"),
                   .error_code = STR("internal"),
                   .message_status = rest->text.n ? STR("partial") : STR("failed"),
                   .text = buf_str(&rest->text),
                   .passages = passages_json(&rest->passages, a),
                   .finish_reason = STR("error") };
    size_t stale;

    if (rest->last_seq == 0) {
        put_metadata(a, run, rest, &payload);
        push(a, &c, run, rest, "metadata", &payload);
    }
    if (!rest->has_error) {
        put_error(run, rest, &payload);
        push(a, &c, run, rest, "error", &payload);
    }
    put_done(a, run, rest, &payload);
    push(a, &c, run, rest, "done", &payload);
    return runs_write(r,
                      &(RunBatch){ .events = c.events, .n_events = c.n, .ends = &end, .n_ends = 1 },
                      &stale, err);
}

static bool recover_one(Runs *r, Str id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Rest rest = { .text = BUF(LIMIT_CELL_BYTES) };
    RunEvent *events;
    size_t n;
    Run run;
    bool ok = runs_get(r, a, id, &run, err) && runs_events(r, a, id, 0, &events, &n, err);

    passages_init(&rest.passages);
    for (size_t i = 0; ok && i < n; i++)
        read_event(&events[i], &rest);
    ok = ok && close_run(r, a, &run, &rest, err);
    buf_done(&rest.text);
    passages_done(&rest.passages);
    /* Another process may have been faster; that is as good. */
    return ok || err->kind == ERR_CONFLICT;
}

static bool unfinished(Runs *r, Arena *a, Str **ret_ids, Str **ret_owners, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *q = NULL;
    Str *ids = NULL, *owners = NULL;
    size_t n = 0, m = 0, cap = 0, cap_owners = 0;
    bool ok;

    if (!db_query(runs_db(r), &q, err, "SELECT id, owner FROM run WHERE ended_ms IS NULL"))
        return false;
    while (db_next(q, &ok, err)) {
        ARENA_PUSH(a, ids, n, cap, row_dup(a, q, 0));
        ARENA_PUSH(a, owners, m, cap_owners, row_dup(a, q, 1));
    }
    if (!ok)
        return false;
    *ret_ids = ids;
    *ret_owners = owners;
    *ret_n = n;
    return true;
}

bool runs_recover(Runs *r, RunOwnerGone *is_gone, void *ctx, size_t *ret_n, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str *ids, *owners;
    size_t n, n_gone = 0;

    if (!unfinished(r, a, &ids, &owners, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (is_gone(ctx, ids[i], owners[i]))
            ids[n_gone++] = ids[i];
    if (!runs_place_tail(r, ids, n_gone, err))
        return false;
    for (size_t i = 0; i < n_gone; i++)
        if (!recover_one(r, ids[i], err))
            return false;
    *ret_n = n_gone;
    return !n_gone || runs_sync(r, err);
}

bool runs_prune(Runs *r, int64_t before_ms, Err *err)
{
    if (!runs_begin_tx(r, err))
        return false;
    return runs_end_tx(r,
                       db_exec(runs_db(r), NULL, err,
                               "DELETE FROM run_event WHERE run_id IN (SELECT id FROM run WHERE "
                               "ended_ms IS NOT NULL AND ended_ms < ?)",
                               INT(before_ms)),
                       err);
}

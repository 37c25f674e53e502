/* What belongs to conversations beside their words: handles of runtimes, attachments, summaries. */
#include "agent/runs_inside.h"

/* -- Continuity -- */

static Continuity read_continuity(Arena *a, DbRows *q)
{
    return (Continuity){ .runtime = row_dup(a, q, 0),
                         .handle = row_dup(a, q, 1),
                         .sha256 = row_dup(a, q, 2),
                         .generation = row_int(q, 3),
                         .updated_ms = row_int(q, 4) };
}

bool continuity_get(Runs *r, Arena *a, Str conversation_id, Str runtime, Continuity *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT runtime, handle, sha256, generation, updated_ms FROM runtime_continuity "
                  "WHERE conversation_id = ? AND runtime = ?",
                  TEXT(conversation_id), TEXT(runtime)) ||
        !db_row(q, &row, err))
        return false;
    *ret = row ? read_continuity(a, q) : (Continuity){ .runtime = runtime };
    return true;
}

bool continuity_list(Runs *r, Arena *a, Str conversation_id, Continuity **ret, size_t *ret_n,
                     Err *err)
{
    AUTO(DbRows) *q = NULL;
    Continuity *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT runtime, handle, sha256, generation, updated_ms FROM runtime_continuity "
                  "WHERE conversation_id = ? ORDER BY runtime",
                  TEXT(conversation_id)))
        return false;
    while (db_next(q, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_continuity(a, q));
    *ret = all;
    *ret_n = n;
    return ok;
}

/* -- How long it took -- */

bool runs_graphs(Runs *r, Str but_runtime, int64_t max, RunGraphFn *fn, void *ctx, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool ok;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT a.body, r.ended_ms - r.started_ms FROM "
                  "(SELECT * FROM run WHERE ended_ms IS NOT NULL ORDER BY ended_ms DESC LIMIT ?) r "
                  "JOIN attachment a ON a.conversation_id = r.conversation_id AND a.run_id = r.id "
                  "WHERE r.state = 'completed' AND r.runtime <> ? AND a.kind = 'task_graph'",
                  INT(max), TEXT(but_runtime)))
        return false;
    while (db_next(q, &ok, err)) {
        fn(ctx, row_text(q, 0), row_int(q, 1));
    }
    return ok;
}

/* -- Attachments -- */

bool attachment_add(Runs *r, const Attachment *x, Err *err)
{
    return db_exec(
        runs_db(r), NULL, err,
        "INSERT INTO attachment(id, message_id, conversation_id, run_id, kind, runtime, name, "
        "mime, size, sha256, visible, body, path, created_ms) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        TEXT(x->id), x->message_id ? INT(x->message_id) : TEXT(STR_NONE), TEXT(x->conversation_id),
        MAYBE(x->run_id), TEXT(x->kind), MAYBE(x->runtime), MAYBE(x->name), MAYBE(x->mime),
        INT(x->size), TEXT(x->sha256), INT(x->visible), x->body.p ? BLOB(x->body) : TEXT(STR_NONE),
        MAYBE(x->path), INT(x->created_ms ? x->created_ms : now_ms()));
}

#define ATTACHMENT_COLUMNS                                                                         \
    "id, message_id, conversation_id, run_id, kind, runtime, name, mime, size, sha256, visible, "  \
    "path, created_ms"

static Attachment read_attachment(Arena *a, DbRows *q)
{
    return (Attachment){ .id = row_dup(a, q, 0),
                         .message_id = row_int(q, 1),
                         .conversation_id = row_dup(a, q, 2),
                         .run_id = row_dup(a, q, 3),
                         .kind = row_dup(a, q, 4),
                         .runtime = row_dup(a, q, 5),
                         .name = row_dup(a, q, 6),
                         .mime = row_dup(a, q, 7),
                         .size = row_int(q, 8),
                         .sha256 = row_dup(a, q, 9),
                         .visible = row_int(q, 10) != 0,
                         .path = row_dup(a, q, 11),
                         .created_ms = row_int(q, 12) };
}

bool attachment_get(Runs *r, Arena *a, Str id, Attachment *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT " ATTACHMENT_COLUMNS ", body FROM attachment WHERE id = ?", TEXT(id)) ||
        !db_row(q, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "no attachment '%.*s'", STR_FMT(id));
    *ret = read_attachment(a, q);
    ret->body = row_dup(a, q, 13);
    return true;
}

bool attachment_list(Runs *r, Arena *a, Str conversation_id, Str run_id, Attachment **ret,
                     size_t *ret_n, Err *err)
{
    AUTO(DbRows) *q = NULL;
    Attachment *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT " ATTACHMENT_COLUMNS " FROM attachment WHERE conversation_id = ?1 AND "
                  "(?2 IS NULL OR run_id = ?2) ORDER BY created_ms, rowid",
                  TEXT(conversation_id), MAYBE(run_id)))
        return false;
    while (db_next(q, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_attachment(a, q));
    *ret = all;
    *ret_n = n;
    return ok;
}

bool attachment_unanswered(Runs *r, Arena *a, Str conversation_id, Str **ret, size_t *ret_n,
                           Err *err)
{
    AUTO(DbRows) *q = NULL;
    Str *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(
            runs_db(r), &q, err,
            "SELECT a.id FROM (SELECT user_message_id, state FROM run WHERE conversation_id = ?1 "
            "ORDER BY started_ms DESC, assistant_message_id DESC LIMIT 1) r "
            "JOIN attachment a ON a.conversation_id = ?1 AND a.message_id = r.user_message_id "
            "WHERE r.state = 'cancelled' AND a.kind = 'file' ORDER BY a.created_ms, a.rowid",
            TEXT(conversation_id)))
        return false;
    while (db_next(q, &ok, err))
        ARENA_PUSH(a, all, n, cap, row_dup(a, q, 0));
    *ret = all;
    *ret_n = n;
    return ok;
}

/* -- Summaries -- */

bool summary_get(Runs *r, Arena *a, Str conversation_id, Summary *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT generation, covers_through_seq, text, source FROM summary WHERE "
                  "conversation_id = ? ORDER BY generation DESC LIMIT 1",
                  TEXT(conversation_id)) ||
        !db_row(q, &row, err))
        return false;
    *ret = row ? (Summary){ .generation = row_int(q, 0),
                            .covers_through_seq = row_int(q, 1),
                            .text = row_dup(a, q, 2),
                            .source = row_dup(a, q, 3) }
               : (Summary){ 0 };
    return true;
}

bool summary_add(Runs *r, Str conversation_id, const Summary *s, Err *err)
{
    return db_exec(
        runs_db(r), NULL, err,
        "INSERT OR IGNORE INTO summary(conversation_id, generation, covers_through_seq, text, "
        "source) VALUES(?, ?, ?, ?, ?)",
        TEXT(conversation_id), INT(s->generation), INT(s->covers_through_seq), TEXT(s->text),
        TEXT(s->source));
}

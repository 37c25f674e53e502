#include "agent/conversations.h"

#include "agent/runs_inside.h"
#include "base/limits.h"
#include "text/sha256.h"

/* -- One conversation -- */

/* Byte for byte: nobody but its runtime knows what it says. */
static bool keep_old_state(Runs *r, const Conversation *c, int64_t now, Err *err)
{
    AUTO(Arena) *a = arena_new();

    return !c->old_state.n ||
           db_exec(runs_db(r), NULL, err,
                   "INSERT INTO runtime_continuity(conversation_id, runtime, generation, handle, "
                   "sha256, "
                   "updated_ms) VALUES(?, 'jarvis', 1, ?, ?, ?)",
                   TEXT(c->id), TEXT(c->old_state), TEXT(sha256_hex(a, c->old_state)), INT(now));
}

static bool keep_key(Runs *r, const Conversation *c, Err *err)
{
    return !c->idem_key.n ||
           db_exec(runs_db(r), NULL, err,
                   "INSERT INTO conversation_key(key, sha256, conversation_id) VALUES(?, ?, ?)",
                   TEXT(c->idem_key), TEXT(c->idem_sha256), TEXT(c->id));
}

bool conversation_by_key(Runs *r, Arena *a, Str key, Str sha256, Str *ret_id, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    *ret_id = STR("");
    if (!db_query(runs_db(r), &q, err,
                  "SELECT conversation_id, sha256 FROM conversation_key WHERE key = ?",
                  TEXT(key)) ||
        !db_row(q, &row, err))
        return false;
    if (!row)
        return true;
    *ret_id = row_dup(a, q, 0);
    return str_eq(row_text(q, 1), sha256) ||
           err_set(err, ERR_CONFLICT, "this Idempotency-Key was used for another request");
}

bool conversation_row(Runs *r, const Conversation *c, Err *err)
{
    int64_t now = now_ms();

    return db_exec(runs_db(r), NULL, err,
                   "INSERT INTO conversation(id, default_runtime, template, model, instructions, "
                   "created_ms, "
                   "updated_ms) VALUES(?, ?, ?, ?, ?, ?, ?)",
                   TEXT(c->id), MAYBE(c->default_runtime), MAYBE(c->template), MAYBE(c->model),
                   MAYBE(c->instructions), INT(now), INT(now)) &&
           keep_key(r, c, err) && keep_old_state(r, c, now, err);
}

bool conversation_rows(Runs *r, const Conversation *c, Err *err)
{
    int64_t now = now_ms();
    bool ok = db_exec(runs_db(r), NULL, err,
                      "INSERT INTO sessions(id, source, title, parent_session_id, started_at, "
                      "cwd, last_activity_at) VALUES(?, ?, ?, ?, ?, ?, ?)",
                      TEXT(c->id), TEXT(c->one_shot ? STR(SOURCE_ASK) : STR("talaria")),
                      MAYBE(c->title), MAYBE(c->parent_id), REAL((double)now / 1000), MAYBE(c->cwd),
                      REAL((double)now / 1000)) &&
              conversation_row(r, c, err);

    if (!ok && db_is_duplicate(runs_db(r)))
        (void)err_set(err, ERR_CONFLICT, "another conversation has the title '%.*s'",
                      STR_FMT(c->title));
    return ok;
}

static bool check_names(Str title, Str model, Err *err)
{
    if (title.n > LIMIT_TITLE)
        return err_set(err, ERR_INVALID, "a title has at most %d bytes", LIMIT_TITLE);
    return model.n <= LIMIT_MODEL_NAME ||
           err_set(err, ERR_INVALID, "the name of a model has at most %d bytes", LIMIT_MODEL_NAME);
}

bool conversation_create(Runs *r, const Conversation *c, Err *err)
{
    return check_names(c->title, c->model, err) && runs_begin_tx(r, err) &&
           runs_end_synced(r, conversation_rows(r, c, err), err);
}

#define CONVERSATION_COLUMNS                                                                       \
    "SELECT c.id, s.title, c.default_runtime, c.template, s.parent_session_id, "                   \
    "(SELECT substr(content, 1, 80) FROM messages m WHERE m.session_id = c.id AND m.role = "       \
    "'user' "                                                                                      \
    "ORDER BY m.id LIMIT 1), "                                                                     \
    "coalesce((SELECT runtime FROM run WHERE conversation_id = c.id ORDER BY started_ms DESC "     \
    "LIMIT 1), c.default_runtime), "                                                               \
    "(SELECT id FROM run WHERE conversation_id = c.id AND ended_ms IS NULL), "                     \
    "c.created_ms, c.updated_ms, c.version, s.message_count, c.model, c.instructions, c.memory, "  \
    "s.cwd, "                                                                                      \
    "(SELECT home FROM conversation_of WHERE conversation_id = c.id LIMIT 1), "                    \
    "(SELECT session_id FROM conversation_of WHERE conversation_id = c.id LIMIT 1) "               \
    "FROM conversation c JOIN sessions s ON s.id = c.id "

static Conversation read_conversation(Arena *a, DbRows *q)
{
    return (Conversation){ .id = row_dup(a, q, 0),
                           .title = row_dup(a, q, 1),
                           .default_runtime = row_dup(a, q, 2),
                           .template = row_dup(a, q, 3),
                           .parent_id = row_dup(a, q, 4),
                           .first_words = row_dup(a, q, 5),
                           .active = row_dup(a, q, 6),
                           .running = row_dup(a, q, 7),
                           .created_ms = row_int(q, 8),
                           .updated_ms = row_int(q, 9),
                           .version = row_int(q, 10),
                           .messages = row_int(q, 11),
                           .model = row_dup(a, q, 12),
                           .instructions = row_dup(a, q, 13),
                           .memory = row_dup(a, q, 14),
                           .cwd = row_dup(a, q, 15),
                           .continues_home = row_dup(a, q, 16),
                           .continues_id = row_dup(a, q, 17) };
}

static bool not_found(Str id, Err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no conversation '%.*s'", STR_FMT(id));
}

bool conversation_get(Runs *r, Arena *a, Str id, Conversation *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err, CONVERSATION_COLUMNS "WHERE c.id = ?", TEXT(id)) ||
        !db_row(q, &row, err))
        return false;
    if (!row)
        return not_found(id, err);
    *ret = read_conversation(a, q);
    return true;
}

bool conversation_by_prefix(Runs *r, Arena *a, Str prefix, Str *ret_id, Err *err)
{
    AUTO(DbRows) *q = NULL;
    size_t n = 0;
    bool ok;

    *ret_id = STR("");
    if (!prefix.n)
        return true;
    if (!db_query(runs_db(r), &q, err,
                  "SELECT id FROM conversation WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2",
                  TEXT(prefix)))
        return false;
    for (; db_next(q, &ok, err); n++)
        *ret_id = row_dup(a, q, 0);
    if (!ok)
        return false;
    return n < 2 || err_set(err, ERR_CONFLICT,
                            "more than one conversation begins with '%.*s'; give more of it",
                            STR_FMT(prefix));
}

bool conversation_list(Runs *r, Arena *a, int64_t before_ms, Str before_id, size_t max,
                       Conversation **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *q = NULL;
    Conversation *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(runs_db(r), &q, err,
                  CONVERSATION_COLUMNS "WHERE s.source <> '" SOURCE_ASK
                                       "' AND (?1 = 0 OR c.updated_ms < ?1 OR "
                                       "(c.updated_ms = ?1 AND c.id > ?2)) "
                                       "ORDER BY c.updated_ms DESC, c.id LIMIT ?3",
                  INT(before_ms), TEXT(before_id.p ? before_id : STR("")), INT((int64_t)max)))
        return false;
    while (db_next(q, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_conversation(a, q));
    *ret = all;
    *ret_n = n;
    return ok;
}

/* -- Changing -- */

static bool change_rows(Runs *r, Str id, const ConversationChange *change, Err *err)
{
    if (!db_exec(
            runs_db(r), NULL, err,
            "UPDATE conversation SET version = version + 1, updated_ms = ?1, default_runtime = "
            "coalesce(?2, default_runtime), model = nullif(coalesce(?5, model), '') "
            "WHERE id = ?3 AND (?4 = 0 OR version = ?4)",
            INT(now_ms()), TEXT(change->default_runtime), TEXT(id), INT(change->version),
            TEXT(change->model)))
        return false;
    if (db_changes(runs_db(r)) == 0)
        return err_set(err, ERR_CONFLICT, "the conversation was changed by somebody else");
    if (!change->title.p)
        return true;
    if (db_exec(runs_db(r), NULL, err,
                "UPDATE sessions SET title = ?, title_source = 'user' WHERE id = ?",
                MAYBE(change->title), TEXT(id)))
        return true;
    if (db_is_duplicate(runs_db(r)))
        (void)err_set(err, ERR_CONFLICT, "another conversation has the title '%.*s'",
                      STR_FMT(change->title));
    return false;
}

bool conversation_change(Runs *r, Str id, const ConversationChange *change, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Conversation c;
    bool ok;

    if (!check_names(change->title, change->model, err) || !runs_begin_tx(r, err))
        return false;
    ok = conversation_get(r, a, id, &c, err) && runs_may_write(r, id, STR_NONE, err) &&
         change_rows(r, id, change, err);
    return runs_end_synced(r, ok, err);
}

/* -- Branching -- */

/* Message by message, since each new row needs the id that it got. */
static bool copy_turn(Runs *r, Str new_id, const ChatTurn *t, int64_t seq, Err *err)
{
    if (!db_exec(runs_db(r), NULL, err,
                 "INSERT INTO messages(session_id, role, content, finish_reason, timestamp, "
                 "token_count, "
                 "active, compacted, observed) SELECT ?, role, content, finish_reason, timestamp, "
                 "token_count, active, compacted, observed FROM messages WHERE id = ?",
                 TEXT(new_id), INT(t->message_id)))
        return false;
    return db_exec(
        runs_db(r), NULL, err,
        "INSERT INTO conversation_message(message_id, conversation_id, seq, runtime, status, "
        "model, usage_json, passages, created_ms, finished_ms) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        INT(db_last_id(runs_db(r))), TEXT(new_id), INT(seq), MAYBE(t->runtime), TEXT(t->status),
        MAYBE(t->model), MAYBE(t->usage_json), MAYBE(t->passages), INT(t->created_ms),
        INT(t->finished_ms));
}

static bool branch_rows(Runs *r, Arena *a, const Conversation *from, int64_t through, Str new_id,
                        Err *err)
{
    int64_t now = now_ms(), seq = 0;
    ChatTurn *turns;
    size_t n;

    if (!db_exec(
            runs_db(r), NULL, err,
            "INSERT INTO sessions(id, source, model, cwd, parent_session_id, started_at, "
            "last_activity_at) SELECT ?, CASE source WHEN '" SOURCE_ASK
            "' THEN 'talaria' ELSE source END, model, cwd, id, ?, ? FROM sessions WHERE id = ?",
            TEXT(new_id), REAL((double)now / 1000), REAL((double)now / 1000), TEXT(from->id)) ||
        !db_exec(runs_db(r), NULL, err,
                 "INSERT INTO conversation(id, default_runtime, template, model, instructions, "
                 "created_ms, "
                 "updated_ms) VALUES(?, ?, ?, ?, ?, ?, ?)",
                 TEXT(new_id), MAYBE(from->default_runtime), MAYBE(from->template),
                 MAYBE(from->model), MAYBE(from->instructions), INT(now), INT(now)) ||
        !turns_list(r, a, from->id, 0, SIZE_MAX >> 1, &turns, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (str_eqz(turns[i].status, "running") || (through && turns[i].seq > through))
            continue;
        if (!copy_turn(r, new_id, &turns[i], ++seq, err))
            return false;
    }
    return db_exec(
        runs_db(r), NULL, err,
        "UPDATE sessions SET message_count = (SELECT count(*) FROM messages WHERE session_id "
        "= ?1 AND active = 1) WHERE id = ?1",
        TEXT(new_id));
}

bool conversation_branch(Runs *r, Str id, int64_t through_seq, Str new_id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Conversation from;
    bool ok;

    if (!runs_begin_tx(r, err))
        return false;
    ok = conversation_get(r, a, id, &from, err) &&
         branch_rows(r, a, &from, through_seq, new_id, err);
    return runs_end_synced(r, ok, err);
}

/* -- Turns -- */

#define TURN_COLUMNS                                                                               \
    "SELECT m.id, x.seq, m.role, m.content, x.runtime, x.run_id, x.status, x.model, "              \
    "x.usage_json, "                                                                               \
    "x.created_ms, x.finished_ms, x.passages FROM conversation_message x JOIN messages m ON m.id " \
    "= "                                                                                           \
    "x.message_id "

static bool read_turns(Arena *a, DbRows *q, ChatTurn **ret, size_t *ret_n, Err *err)
{
    ChatTurn *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    while (db_next(q, &ok, err)) {
        ChatTurn t;

        t = (ChatTurn){ .message_id = row_int(q, 0),
                        .seq = row_int(q, 1),
                        .role = row_dup(a, q, 2),
                        .content = row_dup(a, q, 3),
                        .runtime = row_dup(a, q, 4),
                        .run_id = row_dup(a, q, 5),
                        .status = row_dup(a, q, 6),
                        .model = row_dup(a, q, 7),
                        .usage_json = row_dup(a, q, 8),
                        .created_ms = row_int(q, 9),
                        .finished_ms = row_int(q, 10),
                        .passages = row_dup(a, q, 11) };
        ARENA_PUSH(a, all, n, cap, t);
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}

bool turns_list(Runs *r, Arena *a, Str conversation_id, int64_t after_seq, size_t max,
                ChatTurn **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *q = NULL;

    return db_query(runs_db(r), &q, err,
                    TURN_COLUMNS "WHERE x.conversation_id = ? AND x.seq > ? ORDER BY x.seq LIMIT ?",
                    TEXT(conversation_id), INT(after_seq), INT((int64_t)max)) &&
           read_turns(a, q, ret, ret_n, err);
}

bool turns_recent(Runs *r, Arena *a, Str conversation_id, int64_t before_seq, size_t max,
                  ChatTurn **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *q = NULL;

    if (!db_query(runs_db(r), &q, err,
                  TURN_COLUMNS "WHERE x.conversation_id = ?1 AND (?2 = 0 OR x.seq < ?2) AND "
                               "length(m.content) > 0 ORDER BY x.seq DESC LIMIT ?3",
                  TEXT(conversation_id), INT(before_seq), INT((int64_t)max)) ||
        !read_turns(a, q, ret, ret_n, err))
        return false;
    for (size_t i = 0; i < *ret_n / 2; i++) {
        ChatTurn t = (*ret)[i];

        (*ret)[i] = (*ret)[*ret_n - 1 - i];
        (*ret)[*ret_n - 1 - i] = t;
    }
    return true;
}

bool turn_add(Runs *r, Str id, int64_t message_id, Str runtime, int64_t seq, int64_t at, Err *err)
{
    return db_exec(
        runs_db(r), NULL, err,
        "INSERT INTO conversation_message(message_id, conversation_id, seq, runtime, status, "
        "created_ms, finished_ms) VALUES(?, ?, ?, ?, 'complete', ?, ?)",
        INT(message_id), TEXT(id), INT(seq), MAYBE(runtime), INT(at), INT(at));
}

static bool import_one(Runs *r, Str id, const ChatTurn *t, int64_t seq, int64_t now, Err *err)
{
    if (t->created_ms)
        now = t->created_ms;
    if (!db_exec(runs_db(r), NULL, err,
                 "INSERT INTO messages(session_id, role, content, timestamp, active, compacted, "
                 "observed) "
                 "VALUES(?, ?, ?, ?, 1, 0, 0)",
                 TEXT(id), TEXT(t->role), TEXT(t->content), REAL((double)now / 1000)))
        return false;
    return turn_add(r, id, db_last_id(runs_db(r)), t->runtime, seq, now, err);
}

bool turns_add(Runs *r, Str conversation_id, const ChatTurn *turns, size_t n, Err *err)
{
    AUTO(DbRows) *q = NULL;
    int64_t now = now_ms(), last;
    bool row;

    if (!db_query(
            runs_db(r), &q, err,
            "SELECT coalesce(max(seq), 0) FROM conversation_message WHERE conversation_id = ?",
            TEXT(conversation_id)) ||
        !db_row(q, &row, err))
        return false;
    last = row_int(q, 0);
    for (size_t i = 0; i < n; i++)
        if (!import_one(r, conversation_id, &turns[i], ++last, now, err))
            return false;
    return db_exec(runs_db(r), NULL, err,
                   "UPDATE sessions SET message_count = message_count + ? WHERE id = ?",
                   INT((int64_t)n), TEXT(conversation_id));
}

bool conversation_import(Runs *r, Str conversation_id, const ChatTurn *turns, size_t n, Err *err)
{
    if (!n)
        return true;
    if (!runs_begin_tx(r, err))
        return false;
    return runs_end_synced(r, turns_add(r, conversation_id, turns, n, err), err);
}

bool turns_known_to(Runs *r, Str conversation_id, Str runtime, int64_t *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(
            runs_db(r), &q, err,
            "SELECT coalesce(max(x.seq), 0) FROM conversation_message x JOIN messages m ON m.id = "
            "x.message_id WHERE x.conversation_id = ? AND x.runtime = ? AND m.role = 'assistant' "
            "AND (x.status = 'complete' OR EXISTS (SELECT 1 FROM run WHERE id = x.run_id AND "
            "state = 'truncated'))",
            TEXT(conversation_id), TEXT(runtime)) ||
        !db_row(q, &row, err))
        return false;
    *ret = row_int(q, 0);
    return true;
}

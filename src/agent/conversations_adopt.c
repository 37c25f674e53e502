#include "agent/conversations_adopt.h"

#include "agent/runs_inside.h"
#include "text/sha256.h"

/* -- Looking up -- */

bool adoption_find(Runs *r, Arena *a, const Continues *from, Str *ret_id, Str *ret_fingerprint,
                   Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT conversation_id, fingerprint FROM conversation_of WHERE home = ? AND "
                  "session_id = ?",
                  TEXT(from->home), TEXT(from->session_id)) ||
        !db_row(q, &row, err))
        return false;
    *ret_id = row ? row_dup(a, q, 0) : STR("");
    *ret_fingerprint = row ? row_dup(a, q, 1) : STR("");
    return true;
}

bool adoption_of(Runs *r, Arena *a, Str session_id, Str *ret_id, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT conversation_id FROM conversation_of WHERE session_id = ? ORDER BY home "
                  "LIMIT 1",
                  TEXT(session_id)) ||
        !db_row(q, &row, err))
        return false;
    *ret_id = row ? row_dup(a, q, 0) : STR("");
    return true;
}

bool adoption_source(Runs *r, Arena *a, Str conversation_id, Continues *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT home, session_id FROM conversation_of WHERE conversation_id = ? LIMIT 1",
                  TEXT(conversation_id)) ||
        !db_row(q, &row, err))
        return false;
    *ret =
        row ? (Continues){ row_dup(a, q, 0), row_dup(a, q, 1) } : (Continues){ STR(""), STR("") };
    return true;
}

bool adoption_allowed(Runs *r, const Continues *from, Err *err)
{
    return runs_may_write_at(r, from->home, from->session_id, STR_NONE, err);
}

/* -- Making it -- */

static bool is_conversation(Runs *r, Str id, bool *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;

    return db_query(runs_db(r), &q, err, "SELECT 1 FROM conversation WHERE id = ?", TEXT(id)) &&
           db_row(q, ret, err);
}

/* Titles name sessions: one that is taken stays with the one that has it. */
static bool title_is_free(Runs *r, Str title, bool *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row = true;

    if (title.n &&
        (!db_query(runs_db(r), &q, err, "SELECT 1 FROM sessions WHERE title = ?", TEXT(title)) ||
         !db_row(q, &row, err)))
        return false;
    *ret = !row;
    return true;
}

static bool mark_copies(Runs *r, Str conversation_id, int64_t after, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "UPDATE messages SET display_kind = ? WHERE session_id = ? AND id > ?",
                   TEXT(STR(MESSAGE_CONTINUED)), TEXT(conversation_id), INT(after));
}

static bool newest_message(Runs *r, int64_t *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err, "SELECT coalesce(max(id), 0) FROM messages WHERE 1 = ?",
                  INT(1)) ||
        !db_row(q, &row, err))
        return false;
    *ret = row_int(q, 0);
    return true;
}

static bool add_copies(Runs *r, Str id, const ChatTurn *turns, size_t n, Err *err)
{
    int64_t before;

    return newest_message(r, &before, err) && turns_add(r, id, turns, n, err) &&
           mark_copies(r, id, before, err);
}

static bool remember(Runs *r, const Adoption *x, Str conversation_id, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "INSERT OR REPLACE INTO conversation_of(home, session_id, fingerprint, "
                   "conversation_id) VALUES(?, ?, ?, ?)",
                   TEXT(x->from.home), TEXT(x->from.session_id), TEXT(x->fingerprint),
                   TEXT(conversation_id));
}

static bool add_new(Runs *r, const Adoption *x, Err *err)
{
    Conversation row = x->row;
    bool fresh;

    if (!title_is_free(r, row.title, &fresh, err))
        return false;
    if (!fresh)
        row.title = STR_NONE;
    return conversation_rows(r, &row, err) && add_copies(r, row.id, x->turns, x->n_turns, err) &&
           remember(r, x, row.id, err);
}

static bool add_in_place(Runs *r, const Adoption *x, Err *err)
{
    if (!conversation_row(r, &x->row, err))
        return false;
    for (size_t i = 0; i < x->n_turns; i++)
        if (!turn_add(r, x->row.id, x->turns[i].message_id, x->turns[i].runtime, (int64_t)i + 1,
                      x->turns[i].created_ms, err))
            return false;
    return true;
}

static bool keep_handle(Runs *r, Arena *a, Str id, Str thread, Str handle, Err *err)
{
    return !handle.n ||
           db_exec(runs_db(r), NULL, err,
                   "INSERT INTO runtime_continuity(conversation_id, runtime, generation, handle, "
                   "sha256, updated_ms) VALUES(?1, ?2, 1, ?3, ?4, ?5) ON CONFLICT(conversation_id, "
                   "runtime) DO UPDATE SET generation = generation + 1, handle = ?3, sha256 = ?4, "
                   "updated_ms = ?5",
                   TEXT(id), TEXT(thread), TEXT(handle), TEXT(sha256_hex(a, handle)),
                   INT(now_ms()));
}

/* -- A session that has grown -- */

static bool same_turn(const ChatTurn *a, const ChatTurn *b)
{
    return str_eq(a->role, b->role) && str_eq(a->content, b->content);
}

/* How many of the session's turns the conversation has. What was said in the conversation itself
 * has a run. */
static size_t turns_known(const Adoption *x, const ChatTurn *have, size_t n, bool *ret_spoken)
{
    size_t known = 0;

    *ret_spoken = false;
    for (size_t i = 0; i < n; i++) {
        *ret_spoken |= have[i].run_id.n > 0;
        if (!have[i].run_id.n && known < x->n_turns && same_turn(&have[i], &x->turns[known]))
            known++;
    }
    return known;
}

/* Where the conversation has gone on by itself, the runtime that speaks there keeps its own memory,
 * and hears of the new turns as of any that another program answered. Otherwise its memory is
 * simply that of now. */
static bool grow(Runs *r, Arena *a, const Adoption *x, Str id, size_t known, bool spoken, Err *err)
{
    size_t n = x->n_turns - known;
    ChatTurn *fresh = ARENA_ARRAY(a, ChatTurn, n + 1);

    for (size_t i = 0; i < n; i++) {
        fresh[i] = x->turns[known + i];
        if (spoken && fresh[i].runtime.n)
            fresh[i].runtime = x->by;
    }
    return (!n || add_copies(r, id, fresh, n, err)) && remember(r, x, id, err) &&
           (spoken || keep_handle(r, a, id, x->thread, x->handle, err));
}

/* Rewritten from its first message on, it is another session: then another conversation continues
 * it. */
static bool go_on(Runs *r, Arena *a, const Adoption *x, Str found, Str *ret_id, Err *err)
{
    ChatTurn *have;
    size_t n, known;
    bool spoken;
    Err elsewhere;

    *ret_id = found;
    if (!runs_may_write(r, found, STR_NONE, &elsewhere)) /* it is in a chat: that one continues */
        return elsewhere.kind == ERR_CONFLICT || (*err = elsewhere, false);
    if (!turns_list(r, a, found, 0, SIZE_MAX >> 1, &have, &n, err))
        return false;
    known = turns_known(x, have, n, &spoken);
    if (known || !n)
        return grow(r, a, x, found, known, spoken, err);
    *ret_id = x->row.id;
    return add_new(r, x, err) && keep_handle(r, a, x->row.id, x->thread, x->handle, err);
}

static bool make_in_place(Runs *r, Arena *a, const Adoption *x, Err *err)
{
    bool there;

    if (!is_conversation(r, x->row.id, &there, err))
        return false;
    return there ||
           (add_in_place(r, x, err) && keep_handle(r, a, x->row.id, x->thread, x->handle, err));
}

static bool make(Runs *r, Arena *a, const Adoption *x, Str *ret_id, Err *err)
{
    Str found, fingerprint;

    *ret_id = x->row.id;
    if (str_eq(x->row.id, x->from.session_id))
        return make_in_place(r, a, x, err);
    if (!adoption_find(r, a, &x->from, &found, &fingerprint, err))
        return false;
    if (!found.n)
        return add_new(r, x, err) && keep_handle(r, a, x->row.id, x->thread, x->handle, err);
    if (!str_eq(fingerprint, x->fingerprint))
        return go_on(r, a, x, found, ret_id, err);
    *ret_id = found;
    return true;
}

bool adoption_make(Runs *r, Arena *a, const Adoption *x, Str *ret_id, Err *err)
{
    return runs_begin_tx(r, err) && runs_end_synced(r, make(r, a, x, ret_id, err), err);
}

/* -- Coming back -- */

static bool take_back(Runs *r, const Comeback *x, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "UPDATE session_owner SET owner_surface = 'cli', owner_fence = owner_fence + 1, "
                   "since_ms = ? WHERE home = ? AND session_id = ? AND owner_fence = ?",
                   INT(now_ms()), TEXT(runs_data(r)), TEXT(x->conversation_id), INT(x->fence)) &&
           (db_changes(runs_db(r)) == 1 ||
            err_set(err, ERR_CONFLICT, "session '%.*s' has moved meanwhile",
                    STR_FMT(x->conversation_id)));
}

static bool come_back(Runs *r, Arena *a, const Comeback *x, Err *err)
{
    return take_back(r, x, err) && turns_add(r, x->conversation_id, x->turns, x->n_turns, err) &&
           keep_handle(r, a, x->conversation_id, x->thread, x->handle, err) &&
           db_exec(runs_db(r), NULL, err,
                   "UPDATE sessions SET ended_at = NULL, end_reason = NULL, last_activity_at = ?, "
                   "archived = ? WHERE id = ?",
                   REAL((double)now_ms() / 1000), INT(x->archived), TEXT(x->conversation_id)) &&
           db_exec(runs_db(r), NULL, err,
                   "UPDATE conversation SET version = version + 1, updated_ms = ? WHERE id = ?",
                   INT(now_ms()), TEXT(x->conversation_id));
}

bool comeback_make(Runs *r, Arena *a, const Comeback *x, Err *err)
{
    return runs_begin_tx(r, err) && runs_end_synced(r, come_back(r, a, x, err), err);
}

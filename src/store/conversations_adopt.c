#include "store/conversations_adopt.h"

#include "store/runs_inside.h"
#include "text/sha256.h"

bool adoption_find(Runs *r, Arena *a, Str home, Str session_id, Str fingerprint, Str *ret_id,
                   Err *err)
{
    AUTO(Query) *q = NULL;
    bool row;

    if (!QUERY(r, &q, err,
               "SELECT conversation_id FROM conversation_of WHERE home = ? AND session_id = ? AND "
               "fingerprint = ?",
               TEXT(home), TEXT(session_id), TEXT(fingerprint)) ||
        !db_step(runs_db(r), q, &row, err))
        return false;
    *ret_id = row ? column(a, q, 0) : STR("");
    return true;
}

static bool is_conversation(Runs *r, Str id, bool *ret, Err *err)
{
    AUTO(Query) *q = NULL;

    return QUERY(r, &q, err, "SELECT 1 FROM conversation WHERE id = ?", TEXT(id)) &&
           db_step(runs_db(r), q, ret, err);
}

/* Titles name sessions: one that is taken stays with the one that has it. */
static bool title_is_free(Runs *r, Str title, bool *ret, Err *err)
{
    AUTO(Query) *q = NULL;
    bool row = true;

    if (title.n && (!QUERY(r, &q, err, "SELECT 1 FROM sessions WHERE title = ?", TEXT(title)) ||
                    !db_step(runs_db(r), q, &row, err)))
        return false;
    *ret = !row;
    return true;
}

static bool add_new(Runs *r, const Adoption *x, Err *err)
{
    Conversation row = x->row;
    bool fresh;

    if (!title_is_free(r, row.title, &fresh, err))
        return false;
    if (!fresh)
        row.title = STR_NONE;
    return conversation_rows(r, &row, err) && turns_add(r, row.id, x->turns, x->n_turns, err) &&
           DO(r, err,
              "INSERT OR REPLACE INTO conversation_of(home, session_id, fingerprint, "
              "conversation_id) VALUES(?, ?, ?, ?)",
              TEXT(x->home), TEXT(x->session_id), TEXT(x->fingerprint), TEXT(row.id));
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

static bool add_handle(Runs *r, Arena *a, const Adoption *x, Err *err)
{
    return !x->handle.n ||
           DO(r, err,
              "INSERT OR IGNORE INTO runtime_continuity(conversation_id, runtime, generation, "
              "handle, sha256, updated_ms) VALUES(?, ?, 1, ?, ?, ?)",
              TEXT(x->row.id), TEXT(x->thread), TEXT(x->handle), TEXT(sha256_hex(a, x->handle)),
              INT(now_ms()));
}

static bool make(Runs *r, Arena *a, const Adoption *x, Str *ret_id, Err *err)
{
    bool ours = str_eq(x->row.id, x->session_id), there = false;
    Str found = STR("");

    if (ours ? !is_conversation(r, x->row.id, &there, err)
             : !adoption_find(r, a, x->home, x->session_id, x->fingerprint, &found, err))
        return false;
    *ret_id = found.n ? found : x->row.id;
    if (there || found.n)
        return true;
    return (ours ? add_in_place(r, x, err) : add_new(r, x, err)) && add_handle(r, a, x, err);
}

bool adoption_make(Runs *r, Arena *a, const Adoption *x, Str *ret_id, Err *err)
{
    return runs_begin_tx(r, err) && runs_end_synced(r, make(r, a, x, ret_id, err), err);
}

/* -- coming back ----------------------------------------------------------------------------------- */

static bool take_back(Runs *r, const Comeback *x, Err *err)
{
    return DO(r, err,
              "UPDATE session_owner SET owner_surface = 'cli', owner_fence = owner_fence + 1, "
              "since_ms = ? WHERE home = ? AND session_id = ? AND owner_fence = ?",
              INT(now_ms()), TEXT(runs_data(r)), TEXT(x->conversation_id), INT(x->fence)) &&
           (runs_changes(r) == 1 || err_set(err, ERR_CONFLICT, "session '%.*s' has moved meanwhile",
                                            STR_FMT(x->conversation_id)));
}

static bool keep_words(Runs *r, Arena *a, const Comeback *x, Err *err)
{
    return !x->handle.n ||
           DO(r, err,
              "INSERT INTO runtime_continuity(conversation_id, runtime, generation, handle, "
              "sha256, updated_ms) VALUES(?1, ?2, 1, ?3, ?4, ?5) ON CONFLICT(conversation_id, "
              "runtime) DO UPDATE SET generation = generation + 1, handle = ?3, sha256 = ?4, "
              "updated_ms = ?5",
              TEXT(x->conversation_id), TEXT(x->thread), TEXT(x->handle),
              TEXT(sha256_hex(a, x->handle)), INT(now_ms()));
}

static bool come_back(Runs *r, Arena *a, const Comeback *x, Err *err)
{
    return take_back(r, x, err) && turns_add(r, x->conversation_id, x->turns, x->n_turns, err) &&
           keep_words(r, a, x, err) &&
           DO(r, err,
              "UPDATE sessions SET ended_at = NULL, end_reason = NULL, last_activity_at = ?, "
              "archived = ? WHERE id = ?",
              REAL((double)now_ms() / 1000), INT(x->archived), TEXT(x->conversation_id)) &&
           DO(r, err, "UPDATE conversation SET version = version + 1, updated_ms = ? WHERE id = ?",
              INT(now_ms()), TEXT(x->conversation_id));
}

bool comeback_make(Runs *r, Arena *a, const Comeback *x, Err *err)
{
    return runs_begin_tx(r, err) && runs_end_synced(r, come_back(r, a, x, err), err);
}

#include "agent/sessions_edit.h"

#include "agent/conversations.h"
#include "agent/runs_inside.h"
#include "base/limits.h"
#include "text/utf8.h"

/* -- Whether it may be changed -- */

static bool check_exists(Runs *r, Str id, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err, "SELECT 1 FROM sessions WHERE id = ?", TEXT(id)) ||
        !db_row(q, &row, err))
        return false;
    return row || err_set(err, ERR_NOT_FOUND,
                          "no session '%.*s'; 'talaria sessions list' shows them", STR_FMT(id));
}

static bool check_not_running(Runs *r, Str id, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err,
                  "SELECT id FROM run WHERE conversation_id = ? AND ended_ms IS NULL", TEXT(id)) ||
        !db_row(q, &row, err))
        return false;
    return !row || err_set(err, ERR_CONFLICT,
                           "session '%.*s' is being answered (run '%.*s'); wait for the answer or "
                           "cancel it",
                           STR_FMT(id), STR_FMT(row_text(q, 0)));
}

static bool check_not_moving(Runs *r, Str id, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(
            runs_db(r), &q, err,
            "SELECT platform, id FROM handoff WHERE home = ? AND session_id = ? AND state NOT IN "
            "('done', 'failed', 'cancelled')",
            TEXT(runs_data(r)), TEXT(id)) ||
        !db_row(q, &row, err))
        return false;
    return !row || err_set(err, ERR_CONFLICT,
                           "session '%.*s' is being handed over to %.*s; wait for that or run "
                           "'talaria handoff cancel %.*s'",
                           STR_FMT(id), STR_FMT(row_text(q, 0)), STR_FMT(row_text(q, 1)));
}

static bool check_free(Runs *r, SessionParts parts, Err *err)
{
    for (size_t i = 0; i < parts.n; i++)
        if (!check_exists(r, parts.ids[i], err) || !check_not_running(r, parts.ids[i], err) ||
            !check_not_moving(r, parts.ids[i], err) ||
            !runs_may_write(r, parts.ids[i], STR_NONE, err))
            return false;
    return true;
}

/* -- Title and archive -- */

static bool check_title(Str title, Err *err)
{
    if (title.n > LIMIT_TITLE)
        return err_set(err, ERR_INVALID, "the title has %zu bytes; the limit is %d", title.n,
                       LIMIT_TITLE);
    for (size_t i = 0; i < title.n; i++)
        if ((unsigned char)title.p[i] < 0x20 || title.p[i] == 0x7f)
            return err_set(err, ERR_INVALID, "a title is one line without control characters");
    return utf8_valid_prefix(title) == title.n ||
           err_set(err, ERR_INVALID, "a title must be UTF-8");
}

/* Clients that hold a version of the conversation have to see that it changed. */
static bool bump_version(Runs *r, Str id, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "UPDATE conversation SET version = version + 1, updated_ms = ? WHERE id = ?",
                   INT(now_ms()), TEXT(id));
}

static bool rename_row(Runs *r, Str id, Str title, Err *err)
{
    if (db_exec(runs_db(r), NULL, err,
                "UPDATE sessions SET title = ?, title_source = 'user' WHERE id = ?", MAYBE(title),
                TEXT(id)))
        return bump_version(r, id, err);
    if (db_is_duplicate(runs_db(r)))
        (void)err_set(err, ERR_CONFLICT, "another session has the title '%.*s'", STR_FMT(title));
    return false;
}

bool session_rename(Runs *r, SessionParts parts, Str title, Err *err)
{
    title = str_trim(title);
    if (!check_title(title, err) || !runs_begin_tx(r, err))
        return false;
    return runs_end_synced(
        r, check_free(r, parts, err) && rename_row(r, parts.ids[parts.n - 1], title, err), err);
}

static bool archive_rows(Runs *r, SessionParts parts, bool archived, Err *err)
{
    for (size_t i = 0; i < parts.n; i++)
        if (!db_exec(runs_db(r), NULL, err, "UPDATE sessions SET archived = ? WHERE id = ?",
                     INT(archived), TEXT(parts.ids[i])) ||
            !bump_version(r, parts.ids[i], err))
            return false;
    return true;
}

bool session_archive(Runs *r, SessionParts parts, bool archived, Err *err)
{
    return runs_begin_tx(r, err) &&
           runs_end_synced(r, check_free(r, parts, err) && archive_rows(r, parts, archived, err),
                           err);
}

/* -- Deleting -- */

static bool delete_rows(Runs *r, Str id, Err *err)
{
    static const char *const by_id[] = {
        "DELETE FROM run_tail WHERE run_id IN (SELECT id FROM run WHERE conversation_id = ?)",
        "DELETE FROM run_event WHERE run_id IN (SELECT id FROM run WHERE conversation_id = ?)",
        "DELETE FROM run WHERE conversation_id = ?",
        "DELETE FROM attachment WHERE conversation_id = ?",
        "DELETE FROM summary WHERE conversation_id = ?",
        "DELETE FROM runtime_continuity WHERE conversation_id = ?",
        "DELETE FROM continuity_lost WHERE conversation_id = ?",
        "DELETE FROM conversation_message WHERE conversation_id = ?",
        "DELETE FROM messages WHERE session_id = ?",
        "DELETE FROM conversation WHERE id = ?",
        "DELETE FROM conversation_key WHERE conversation_id = ?",
        "DELETE FROM conversation_of WHERE conversation_id = ?",
        "DELETE FROM sent_chat WHERE conversation_id = ?",
        "DELETE FROM made WHERE kind = 'session' AND name = ?",
        "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?",
        "DELETE FROM sessions WHERE id = ?",
    };
    static const char *const by_home_and_id[] = {
        ("DELETE FROM handoff_step WHERE handoff_id IN (SELECT id FROM handoff WHERE home = ? AND "
         "session_id = ?)"),
        "DELETE FROM handoff WHERE home = ? AND session_id = ?",
        "DELETE FROM session_owner WHERE home = ? AND session_id = ?",
        "DELETE FROM take_code WHERE home = ? AND session_id = ?",
    };

    for (size_t i = 0; i < ARRAY_LEN(by_home_and_id); i++)
        if (!db_exec_once(runs_db(r), NULL, err, by_home_and_id[i], TEXT(runs_data(r)), TEXT(id)))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(by_id); i++)
        if (!db_exec_once(runs_db(r), NULL, err, by_id[i], TEXT(id)))
            return false;
    return true;
}

bool session_delete(Runs *r, SessionParts parts, Err *err)
{
    bool ok;

    if (!runs_begin_tx(r, err))
        return false;
    ok = check_free(r, parts, err);
    for (size_t i = 0; ok && i < parts.n; i++)
        ok = delete_rows(r, parts.ids[i], err);
    return runs_end_synced(r, ok, err);
}

bool conversation_delete(Runs *r, Str id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Conversation c;

    return conversation_get(r, a, id, &c, err) && session_delete(r, (SessionParts){ &id, 1 }, err);
}

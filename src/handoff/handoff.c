/* The journal's rows: asking, claiming, moving. What a session's own row shows is session_db.h's;
 * both are written under our write lock, ours last: a process that dies in between leaves a session
 * that shows more than the journal says, and the next claim or deadline brings them together
 * again. */
#include "handoff/handoff.h"

#include "base/clock.h"
#include "base/limits.h"
#include "handoff/copy.h"
#include "handoff/session_db.h"
#include "text/record.h"

typedef struct StateRow {
    const char *name, *shown, *step;
} StateRow;

static const StateRow states[] = {
#define X(id, name, shown, step) [id] = { name, shown, step },
    HANDOFF_STATES(X)
#undef X
};

const char *handoff_state_name(HandoffState s)
{
    return states[s].name;
}

const char *handoff_state_shown(HandoffState s)
{
    return states[s].shown;
}

const char *handoff_state_step(HandoffState s)
{
    return states[s].step;
}

static const char *const state_names[] = {
#define X(id, name, shown, step) [id] = name,
    HANDOFF_STATES(X)
#undef X
};

static const RecordField shown_fields[] = {
    RECORD_FIELD(Handoff, id),
    RECORD_FIELD(Handoff, session_id),
    RECORD_FIELD(Handoff, platform),
    RECORD_FIELD(Handoff, target),
    RECORD_ENUM(Handoff, state, state_names),
    RECORD_FIELD(Handoff, step),
    RECORD_FIELD(Handoff, attempt),
    RECORD_FIELD(Handoff, dest_key, .key = "key", .when_empty = RECORD_NULL),
    RECORD_FIELD(Handoff, thread_ref, .key = "thread", .when_empty = RECORD_NULL),
    RECORD_FIELD(Handoff, copy_id, .key = "copy", .when_empty = RECORD_NULL),
    RECORD_FIELD(Handoff, error_text, .key = "error", .when_empty = RECORD_NULL),
    RECORD_FIELD(Handoff, requested_ms),
    RECORD_FIELD(Handoff, updated_ms),
};

void handoff_put(JsonWriter *w, const Handoff *h)
{
    static const RecordTable shown = RECORD(Handoff, "handoff", shown_fields);

    record_put_fields(w, &shown, h);
}

bool handoff_hermes_serves(Str platform)
{
    return str_is_one_of(platform, "telegram|discord|slack|matrix|mattermost|signal|whatsapp|"
                                   "whatsapp_cloud|email|irc|sms|homeassistant|dingtalk|feishu|"
                                   "wecom|weixin|qqbot|bluebubbles|teams|google_chat|line");
}

/* -- rows -- */

#define COLUMN(name) #name ", "
#define ALL_COLUMNS  HANDOFF_TEXTS(COLUMN) HANDOFF_NUMBERS(COLUMN) "state"

static Handoff read_row(Arena *a, DbRows *rows)
{
    Handoff h = { .state = HANDOFF_UNKNOWN };
    int at = 0;
    Str state;

#define X(name) h.name = str_dup(a, row_text(rows, at++));
    HANDOFF_TEXTS(X)
#undef X
#define X(name) h.name = row_int(rows, at++);
    HANDOFF_NUMBERS(X)
#undef X
    state = row_text(rows, at);
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (str_eqz(state, states[i].name))
            h.state = (HandoffState)i;
    return h;
}

static bool read_all(Arena *a, DbRows *rows, Handoff **ret, size_t *ret_n, Err *err)
{
    Handoff *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    while (db_next(rows, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, rows));
    *ret = all;
    *ret_n = n;
    return ok;
}

bool handoff_get(OwnStore *own, Arena *a, Str id, Handoff *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err, "SELECT " ALL_COLUMNS " FROM handoff WHERE id = ?",
                  TEXT(id)) ||
        !db_row(rows, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "no handoff '%.*s'", STR_FMT(id));
    *ret = read_row(a, rows);
    return true;
}

bool handoff_list(OwnStore *own, Arena *a, Str home, Str session_id, size_t max, Handoff **ret,
                  size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT " ALL_COLUMNS " FROM handoff WHERE (?1 = '' OR home = ?1) AND (?2 = '' "
                  "OR session_id = ?2) ORDER BY requested_ms DESC, id DESC LIMIT ?3",
                  TEXT(home.n ? home : STR("")), TEXT(session_id.n ? session_id : STR("")),
                  INT(max)))
        return false;
    return read_all(a, rows, ret, ret_n, err);
}

/* -- one transition -- */

static bool lost(Err *err, const Handoff *h)
{
    return err_set(err, ERR_CONFLICT, "handoff '%.*s' is no longer ours", STR_FMT(h->id));
}

/* A session that has moved is where the row says: its place may be another one than when h was
 * read. */
#define UNTIL_BOUND(name)                                                                          \
#name " = CASE WHEN state IN ('queued', 'claimed', 'prepared') THEN ? ELSE " #name " END, "

/* Texts are bound as they are in h; what h has not is NULL. */
bool handoff_move(OwnStore *own, const Handoff *h, HandoffState to, Err *err)
{
    int64_t n;

    return db_exec(own_store_db(own), &n, err,
                   "UPDATE handoff SET " UNTIL_BOUND(thread_ref) UNTIL_BOUND(dest_key)
                       UNTIL_BOUND(dest_source_json)
                           UNTIL_BOUND(prev_session_id) "before_json = ?, "
                                                        "notice_ref = ?, error_code = ?, "
                                                        "error_text = ?, state = ?, step = ?, "
                                                        "updated_ms = ?, thread_tries = ? WHERE id "
                                                        "= ? AND state = ? AND fence = ?",
                   MAYBE(h->thread_ref), MAYBE(h->dest_key), MAYBE(h->dest_source_json),
                   MAYBE(h->prev_session_id), MAYBE(h->before_json), MAYBE(h->notice_ref),
                   MAYBE(h->error_code), MAYBE(h->error_text), TEXT(str_of(states[to].name)),
                   TEXT(states[to].step[0] ? str_of(states[to].step) : h->step),
                   INT(clock_wall_ms()), INT(h->thread_tries), TEXT(h->id),
                   TEXT(str_of(states[h->state].name)), INT(h->fence)) &&
           (n == 1 || lost(err, h));
}

bool handoff_refresh(OwnStore *own, Arena *a, Handoff *h, Err *err)
{
    Handoff now;

    if (!handoff_get(own, a, h->id, &now, err))
        return false;
    h->thread_ref = now.thread_ref;
    h->dest_key = now.dest_key;
    h->dest_source_json = now.dest_source_json;
    h->prev_session_id = now.prev_session_id;
    h->error_code = now.error_code;
    h->error_text = now.error_text;
    return true;
}

#define THREAD_GONE_TEXT "its thread is gone: the session goes on in the chat itself"

#define MOVE_PLACE(more)                                                                           \
    "UPDATE handoff SET dest_key = ?1, dest_source_json = ?2, prev_session_id = coalesce(?3, "     \
    "prev_session_id)" more " WHERE id = (SELECT id FROM handoff WHERE dest_key = ?4 AND state "   \
    "IN ('bound', 'announced', 'done') ORDER BY requested_ms DESC, id DESC LIMIT 1)"

static bool move_place(OwnStore *own, const char *sql, Str from_key, Str to_key, Str to_json,
                       Str prev_session_id, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    return db_query_once(own_store_db(own), &rows, err, sql, TEXT(to_key), TEXT(to_json),
                         TEXT(prev_session_id), TEXT(from_key)) &&
           db_row(rows, &row, err);
}

bool handoff_follow(OwnStore *own, Str from_key, Str to_key, Str to_json, Str prev_session_id,
                    Err *err)
{
    return move_place(own,
                      MOVE_PLACE(", thread_ref = NULL, error_code = '" HANDOFF_THREAD_GONE
                                 "', error_text = '" THREAD_GONE_TEXT "'"),
                      from_key, to_key, to_json, prev_session_id, err);
}

bool handoff_claimed(OwnStore *own, Str from_key, Str to_key, Str to_json, Str prev_session_id,
                     Err *err)
{
    return move_place(own, MOVE_PLACE(""), from_key, to_key, to_json, prev_session_id, err);
}

bool handoff_waits_at(OwnStore *own, Str key, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(own_store_db(own), &rows, err,
                    "SELECT 1 FROM handoff WHERE dest_key = ? AND state IN ('bound', 'announced', "
                    "'done') LIMIT 1",
                    TEXT(key)) &&
           db_row(rows, ret, err);
}

static void moved(Handoff *h, HandoffState to)
{
    h->state = to;
    if (states[to].step[0])
        h->step = str_of(states[to].step);
}

bool handoff_advance(OwnStore *own, Handoff *h, HandoffState to, Err *err)
{
    ASSERT(!handoff_is_over(to) && to != HANDOFF_BOUND);
    if (!own_store_begin(own, err))
        return false;
    if (!own_store_end(own, handoff_move(own, h, to, err), err))
        return false;
    moved(h, to);
    return true;
}

/* -- asking -- */

bool handoff_moves_already(Str session_id, Err *err)
{
    return err_set(err, ERR_CONFLICT, "session '%.*s' is being handed over already",
                   STR_FMT(session_id));
}

bool handoff_insert(OwnStore *own, const HandoffRequest *request, bool mirrored, const char *id,
                    Str copy_id, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    int64_t now = clock_wall_ms();
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "INSERT INTO handoff(id, home, session_id, platform, target, mirrored, state, "
                  "step, requested_ms, deadline_ms, updated_ms, no_turn, copy_home, copy_id) "
                  "VALUES(?1, ?2, ?3, ?4, ?5, ?6, 'queued', 'claim', ?7, ?8, ?7, ?9, ?10, ?11)",
                  TEXT(str_of(id)), TEXT(request->home), TEXT(request->session_id),
                  TEXT(request->platform), TEXT(request->target.n ? request->target : STR("home")),
                  INT(mirrored), INT(now), INT(now + LIMIT_HANDOFF_MS), INT(request->no_turn),
                  TEXT(copy_id.n ? request->copy_home : STR_NONE),
                  TEXT(copy_id.n ? copy_id : STR_NONE)))
        return false;
    if (db_row(rows, &row, err))
        return true;
    if (db_is_duplicate(own_store_db(own)))
        (void)handoff_moves_already(request->session_id, err);
    return false;
}

static bool show_request(SessionDb *s, Arena *a, const HandoffRequest *request, Err *err)
{
    ShownState shown;
    bool won;

    if (!sessiondb_add_columns(s, err) ||
        !shown_request(s, request->session_id, request->platform, &won, err))
        return false;
    if (won)
        return true;
    if (!shown_get(s, a, request->session_id, &shown, err))
        return false;
    return err_set(err, ERR_CONFLICT, "session '%.*s' is being handed over already (%.*s, to %.*s)",
                   STR_FMT(request->session_id), STR_FMT(shown.state), STR_FMT(shown.platform));
}

static bool request_rows(OwnStore *own, Arena *a, const HandoffRequest *request, const char *id,
                         Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    ShownState shown;
    bool mirrored;

    if (!sessiondb_begin(own_store_db(own), own_store_data(own), request->home, &s, err) ||
        !shown_get(&s, a, request->session_id, &shown, err))
        return false;
    if (!shown.exists)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'", STR_FMT(request->session_id));
    mirrored = s.ours || handoff_hermes_serves(request->platform);
    if (!handoff_make_way(own, a, request->home, request->session_id, &shown, err) ||
        !handoff_insert(own, request, mirrored, id, STR_NONE, err))
        return false;
    return !mirrored || (show_request(&s, a, request, err) && sessiondb_commit(&s, err));
}

bool handoff_request(OwnStore *own, Arena *a, const HandoffRequest *request, Handoff *ret, Err *err)
{
    char id[ULID_CHARS];

    ulid_make(clock_wall_ms(), id);
    if (!own_store_begin(own, err) ||
        !own_store_end(own,
                       request->copy_home.n ? copy_request(own, a, request, id, err)
                                            : request_rows(own, a, request, id, err),
                       err))
        return false;
    return handoff_get(own, a, str_of(id), ret, err);
}

/* -- ends -- */

static bool complete_rows(OwnStore *own, Handoff *h, bool *ret_shown, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO_SESSIONDB s = { 0 };
    ShownState shown = { 0 };

    *ret_shown = true;
    if (!h->mirrored)
        return handoff_move(own, h, HANDOFF_DONE, err);
    if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) ||
        !shown_complete(&s, h->session_id, h->platform, ret_shown, err) ||
        (!*ret_shown && !shown_get(&s, a, h->session_id, &shown, err)))
        return false;
    /* A worker that died after the home's commit has said so already. */
    *ret_shown = *ret_shown || shown_is(&shown, "completed", h->platform);
    if (!*ret_shown)
        return true;
    return handoff_move(own, h, HANDOFF_DONE, err) && sessiondb_commit(&s, err);
}

bool handoff_complete(OwnStore *own, Handoff *h, bool *ret_shown, Err *err)
{
    bool shown = true;

    /* That stays, whatever trouble there was after it. */
    h->error_text = str_eqz(h->error_code, HANDOFF_THREAD_GONE) ? STR(THREAD_GONE_TEXT) : STR_NONE;
    h->error_code = h->error_text.n ? h->error_code : STR_NONE;
    if (!own_store_begin(own, err) || !own_store_end(own, complete_rows(own, h, &shown, err), err))
        return false;
    *ret_shown = shown;
    if (shown)
        moved(h, HANDOFF_DONE);
    return true;
}

static bool fail_rows(OwnStore *own, const Handoff *h, HandoffState to, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    bool won;

    if (!handoff_move(own, h, to, err))
        return false;
    if (h->copy_id.n)
        return copy_withdraw(own, h, err) && copy_stays(own, h, err);
    if (!h->mirrored)
        return true;
    /* Where it is no longer running, somebody else has said the end already. */
    return sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) &&
           shown_fail(&s, h->session_id, h->platform, h->error_text, false, &won, err) &&
           sessiondb_commit(&s, err);
}

bool handoff_fail(OwnStore *own, Handoff *h, HandoffState to, const char *code, Str why, Err *err)
{
    ASSERT(to == HANDOFF_FAILED || to == HANDOFF_CANCELLED);
    h->error_code = str_of(code);
    h->error_text = why;
    if (!own_store_begin(own, err) || !own_store_end(own, fail_rows(own, h, to, err), err))
        return false;
    moved(h, to);
    return true;
}

/* -- leases -- */

/* why.p NULL: what is said of it stays as it is. */
static bool set_lease(OwnStore *own, const Handoff *h, int64_t lease, int64_t not_before, Str why,
                      Err *err)
{
    int64_t n_changed;

    if (!db_exec(own_store_db(own), &n_changed, err,
                 "UPDATE handoff SET lease_ms = ?, not_before_ms = ?, error_text = coalesce(?, "
                 "error_text), updated_ms = ? WHERE id = ? AND state = ? AND fence = ?",
                 INT(lease), INT(not_before), TEXT(why), INT(clock_wall_ms()), TEXT(h->id),
                 TEXT(str_of(states[h->state].name)), INT(h->fence)))
        return false;
    return n_changed == 1 || lost(err, h);
}

bool handoff_renew(OwnStore *own, Handoff *h, int64_t lease_ms, Err *err)
{
    int64_t until = clock_wall_ms() + lease_ms;

    if (!set_lease(own, h, until, h->not_before_ms, STR_NONE, err))
        return false;
    h->lease_ms = until;
    return true;
}

bool handoff_postpone(OwnStore *own, Handoff *h, int64_t wait_ms, Str why, Err *err)
{
    if (wait_ms > LIMIT_LONGEST_WAIT_MS)
        wait_ms = LIMIT_LONGEST_WAIT_MS;
    return set_lease(own, h, 0, clock_wall_ms() + wait_ms, why, err);
}

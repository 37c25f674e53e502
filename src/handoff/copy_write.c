/* A copy is one transaction of Hermes' database inside of one of the journal's, which it changes
 * only where it fails. Its triggers index every message as if Hermes had written it; where an index
 * needs a tokenizer that only Hermes has, SQLite refuses the first row, and all of it is rolled
 * back. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "handoff/copy.h"
#include "handoff/session_db.h"
#include "text/utf8.h"

enum { TITLE_CHARACTERS = 100, MAX_TITLES = 1000 };

#define NAME(kind, name) #name,
static const char *const session_columns[] = { SESSION_FIELDS(NAME) "handoff_state",
                                               "handoff_platform" };
static const char *const message_columns[] = { MESSAGE_FIELDS(NAME) };

/* -- does it fit? -- */

static bool is_among(Str name, const char *const *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(name, all[i]))
            return true;
    return false;
}

static bool unknown(Db *db, Err *err, const char *table, Str column, const char *what)
{
    return err_set(err, ERR_REFUSED,
                   "'%s' is of a Hermes that we do not know (%s.%.*s %s): nothing was written",
                   db_path(db), table, STR_FMT(column), what);
}

/* What a row must have, and we cannot say. */
static bool can_fill(Db *db, const char *table, const char *const *columns, size_t n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool ok;

    if (!db_query(db, &rows, err,
                  "SELECT name FROM pragma_table_info(?) WHERE \"notnull\" AND dflt_value IS "
                  "NULL AND pk = 0",
                  TEXT(str_of(table))))
        return false;
    while (db_next(rows, &ok, err)) {
        if (!is_among(row_text(rows, 0), columns, n))
            return unknown(db, err, table, row_text(rows, 0), "must be filled");
    }
    return ok;
}

static bool has_all(Db *db, const char *table, const char *const *needed, size_t n, Err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!db_has_column(db, table, needed[i]))
            return unknown(db, err, table, str_of(needed[i]), "is missing");
    return true;
}

static bool fits(Db *db, Err *err)
{
    static const char *const sessions[] = { "id", "source", "started_at", "title" };
    static const char *const messages[] = { "session_id",   "role",       "content",
                                            "tool_call_id", "tool_calls", "timestamp" };

    return has_all(db, "sessions", sessions, ARRAY_LEN(sessions), err) &&
           has_all(db, "messages", messages, ARRAY_LEN(messages), err) &&
           can_fill(db, "sessions", session_columns, ARRAY_LEN(session_columns), err) &&
           can_fill(db, "messages", message_columns, ARRAY_LEN(message_columns), err);
}

/* -- rows -- */

/* Parameters have the numbers of our columns, also where the database lacks some: those have no
 * use. */
static bool insert_row(Db *db, const char *table, const char *const *columns, size_t n,
                       const DbValue *values, Err *err)
{
    AUTO_BUF sql = BUF(KIB(4)), marks = BUF(KIB(4));

    buf_addf(&sql, "INSERT INTO %s(", table);
    for (size_t i = 0; i < n; i++) {
        if (!db_has_column(db, table, columns[i]))
            continue;
        buf_addf(&sql, "%s%s", marks.n ? ", " : "", columns[i]);
        buf_addf(&marks, "%s?%zu", marks.n ? ", " : "", i + 1);
    }
    buf_addf(&sql, ") VALUES(%.*s)", STR_FMT(buf_str(&marks)));
    return db_exec_values(db, NULL, sql.p, false, values, n, err);
}

#define VALUE_TEXT(value)         MAYBE(value)
#define VALUE_REAL(value)         REAL(value)
#define VALUE_REAL_OR_NULL(value) ((value) > 0 ? REAL(value) : TEXT(STR_NONE))
#define VALUE_INT(value)          INT(value)

static bool add_session(Db *db, const Session *s, Str platform, Err *err)
{
#define X(kind, name) VALUE_##kind(s->name),
    const DbValue values[] = { SESSION_FIELDS(X) TEXT(STR("pending")), TEXT(platform) };
#undef X

    return insert_row(db, "sessions", session_columns, ARRAY_LEN(session_columns), values, err);
}

static bool add_messages(Db *db, Str id, const Message *all, size_t n, Err *err)
{
    for (size_t i = 0; i < n; i++) {
        Message m = all[i];

        m.session_id = id;
#define X(kind, name) VALUE_##kind(m.name),
        DbValue values[] = { MESSAGE_FIELDS(X) };
#undef X

        values[2] = SOME(m.content);
        if (!insert_row(db, "messages", message_columns, ARRAY_LEN(message_columns), values, err))
            return false;
    }
    return true;
}

/* -- its title -- */

/* Titles name sessions there as well, and so that Hermes can say the next one it counts them as we
 * do here. */
static bool free_title(Db *db, Arena *a, Str wanted, Str *ret, Err *err)
{
    bool taken = wanted.n > 0;

    *ret = utf8_first(wanted, TITLE_CHARACTERS);
    for (int i = 2; taken; i++) {
        AUTO(DbRows) *rows = NULL;

        if (!db_query(db, &rows, err, "SELECT 1 FROM sessions WHERE title = ?", TEXT(*ret)) ||
            !db_row(rows, &taken, err))
            return false;
        if (taken && i > MAX_TITLES)
            *ret = STR("");
        taken = taken && ret->n;
        if (taken)
            *ret = str_printf(a, "%.*s #%d", STR_FMT(utf8_first(wanted, TITLE_CHARACTERS - 6)), i);
    }
    return true;
}

/* -- all of it -- */

static int64_t calls_in(Arena *a, const Message *all, size_t n)
{
    int64_t count = 0;

    for (size_t i = 0; i < n; i++) {
        ToolCall *calls;
        size_t k;

        if (all[i].tool_calls.n && toolcalls_read(a, all[i].tool_calls, &calls, &k))
            count += (int64_t)k;
    }
    return count;
}

/* What was spent was spent here: Hermes is not to count it. */
static Session as_copy(Arena *a, const Handoff *h, const Session *from, const Message *all,
                       size_t n)
{
    return (Session){ .id = h->copy_id,
                      .source = STR("cli"),
                      .model = from->model,
                      .title = from->title,
                      .cwd = from->cwd,
                      .git_branch = from->git_branch,
                      .started_at = from->started_at,
                      .last_activity_at = clock_wall(),
                      .message_count = (int64_t)n,
                      .tool_call_count = calls_in(a, all, n) };
}

/* SQLite's word for "a trigger said no", or "there is no such tokenizer", as what it means here. */
static bool refused(Db *db, Err *err)
{
    const char *why = db_refusal(db);

    if (!why)
        return false;
    return err_set(err, ERR_REFUSED,
                   "'%s' does not take the session (%s): only Hermes itself can write there; "
                   "nothing was written. A gateway of ours with a token of its own takes it as it "
                   "is",
                   db_path(db), why);
}

static bool insert_rows(SessionDb *s, Arena *a, const Handoff *h, const Session *from,
                        const Message *all, size_t n, Err *err)
{
    Session row = as_copy(a, h, from, all, n);

    return free_title(s->db, a, from->title, &row.title, err) &&
           ((add_session(s->db, &row, h->platform, err) &&
             add_messages(s->db, h->copy_id, all, n, err)) ||
            refused(s->db, err));
}

static bool write_rows(OwnStore *own, Arena *a, const Handoff *h, const Session *from,
                       const Message *all, size_t n, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    ShownState shown;

    if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->copy_home, &s, err) ||
        !fits(s.db, err) || !shown_get(&s, a, h->copy_id, &shown, err))
        return false;
    if (shown.exists)
        return true;
    return sessiondb_add_columns(&s, err) && insert_rows(&s, a, h, from, all, n, err) &&
           sessiondb_commit(&s, err);
}

/* A commit that failed may be there all the same: then it is taken out, as far as that can be
 * done. */
static bool leave(OwnStore *own, Handoff *h, const Err *why)
{
    Err err;

    h->error_code = STR("copy");
    h->error_text = str_of(why->text);
    if (!copy_withdraw(own, h, &err))
        log_debug("%s", err.text);
    if (handoff_move(own, h, HANDOFF_FAILED, &err) && copy_stays(own, h, &err))
        return true;
    log_warning("%s", err.text);
    return false;
}

bool copy_write(OwnStore *own, Arena *a, const Handoff *h, const Session *row,
                const Message *messages, size_t n, Err *err)
{
    bool written, kept = true;
    Handoff now;
    Err why;

    if (!own_store_begin(own, err))
        return false;
    if (!handoff_get(own, a, h->id, &now, err))
        return own_store_end(own, false, err);
    /* Somebody has ended it meanwhile, or taken it: nothing is to be written any more. */
    if (now.state != HANDOFF_QUEUED)
        return own_store_end(own, true, err);
    if (n > LIMIT_COPY_MESSAGES)
        written =
            err_set(err, ERR_TOO_LARGE, "a session of %zu messages is too long for Hermes", n);
    else
        written = write_rows(own, a, &now, row, messages, n, err);
    if (!written)
        kept = leave(own, &now, err);
    return own_store_end(own, kept, written ? err : &why) && written;
}

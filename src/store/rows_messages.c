/* One session's messages. What is wanted of every row, counted or not, comes along with the walk: a
 * statement of its own costs as much as some ten rows. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "store/rows_inside.h"
#include "text/utf8.h"

/* -- the walk -- */

/* Compaction inserts the tail again: what was counted as compacted is passed over when it comes
 * back, as often as it was. */
typedef struct Seen {
    uint64_t *all;
    size_t n, cap;
} Seen;

static uint64_t row_hash(const RowMessage *m, Str call_id)
{
    uint64_t hash = hash_text(1, call_id);

    if (call_id.n)
        return hash;
    hash = hash_text(hash, m->role);
    hash = hash_text(hash, m->content);
    return hash_text(hash, m->tool_calls);
}

static bool comes_back(Arena *a, Seen *seen, bool active, const RowMessage *m, Str call_id)
{
    uint64_t hash = row_hash(m, call_id);

    if (!active) {
        ARENA_PUSH(a, seen->all, seen->n, seen->cap, hash);
        return false;
    }
    for (size_t i = 0; i < seen->n; i++)
        if (seen->all[i] == hash) {
            seen->all[i] = seen->all[--seen->n];
            return true;
        }
    return false;
}

typedef struct MessageWalk {
    Rows *rows;
    RowMessageFn *fn;
    void *ctx;
    Arena *arena; /* where rows may come back; else NULL */
    Seen seen;
    RowsSeen found;
    int64_t last;
    size_t n;
    bool timed; /* one of them has a time; */
    bool odd;   /* a time that is no number: SQLite has its own order for those */
} MessageWalk;

/* What the function that sees a row is given; of a row that does not count only the first two, and
 * the last two only where rows may come back. */
enum { SEE_ID, SEE_TIME, SEE_ROLE, SEE_CONTENT, SEE_CALLS, SEE_TOOL, SEE_ACTIVE, SEE_CALL_ID };

static void see_time(MessageWalk *w, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    double at = sqlite3_value_double(value);

    w->odd = w->odd || type == SQLITE_TEXT || type == SQLITE_BLOB;
    if (type != SQLITE_NULL && (!w->timed || at > w->found.newest))
        w->found.newest = at;
    w->timed = w->timed || type != SQLITE_NULL;
}

static void hand_over(MessageWalk *w, sqlite3_value **row)
{
    RowMessage m = { .id = w->last,
                     .role = rows_text(row[SEE_ROLE]),
                     .content_is_blob = sqlite3_value_type(row[SEE_CONTENT]) == SQLITE_BLOB,
                     .content = rows_text(row[SEE_CONTENT]),
                     .tool_calls = rows_text(row[SEE_CALLS]),
                     .tool_name = rows_text(row[SEE_TOOL]) };

    w->found.n++;
    if (!w->arena || !comes_back(w->arena, &w->seen, sqlite3_value_int(row[SEE_ACTIVE]) == 1, &m,
                                 rows_text(row[SEE_CALL_ID])))
        w->fn(w->ctx, &m);
}

/* As it is with sessions: rows are looked at where SQLite has them. True ends the stretch. */
static void see_message(sqlite3_context *context, int n, sqlite3_value **row)
{
    const Rows *r = sqlite3_user_data(context);
    MessageWalk *w = r->messages_walk;

    w->last = sqlite3_value_int64(row[SEE_ID]);
    see_time(w, row[SEE_TIME]);
    if (n > SEE_ROLE)
        hand_over(w, row);
    sqlite3_result_int(context, ++w->n % ROWS_LOOK_EVERY == 0 && clock_mono_ms() >= r->until);
}

/* One stretch, as long as a transaction may last. */
static bool messages_on(MessageWalk *w, bool *ret_more, Err *err)
{
    Rows *r = w->rows;
    bool ok;

    if (!rows_go_on(r, err))
        return false;
    sqlite3_bind_int64(r->messages, 2, w->last);
    ok = stmt_step(r->db, r->messages, ret_more, err);
    sqlite3_reset(r->messages);
    return ok;
}

static bool newest(Rows *r, Str id, double *ret, Err *err)
{
    bool row, ok;

    if (!rows_go_on(r, err))
        return false;
    stmt_bind_text(r->newest, 1, id);
    ok = stmt_step(r->db, r->newest, &row, err);
    if (ok)
        *ret = sqlite3_column_double(r->newest, 0);
    sqlite3_reset(r->newest);
    return ok;
}

bool rows_messages(Rows *r, Str id, RowMessageFn *fn, void *ctx, RowsSeen *ret, Err *err)
{
    AUTO(Arena) *a = r->query.compacted ? arena_new() : NULL;
    MessageWalk walk = { .rows = r, .fn = fn, .ctx = ctx, .arena = a, .last = INT64_MIN };
    bool more = true;

    r->messages_walk = &walk;
    stmt_bind_text(r->messages, 1, id);
    while (more)
        if (!messages_on(&walk, &more, err))
            return false;
    if (walk.odd && !newest(r, id, &walk.found.newest, err))
        return false;
    *ret = walk.found;
    return true;
}

/* -- the preview -- */

/* White space as Python's strip() sees it. */
static bool is_space(uint32_t c)
{
    return (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* The first 63 characters, stripped; of more than 60, 60 and three dots. A NUL ends it. */
static Str preview_of(Arena *a, Str text)
{
    const char *nul = text.n ? memchr(text.p, 0, text.n) : NULL;
    size_t count = 0, end = 0, sixty = 0;
    Str rest;

    if (nul)
        text.n = (size_t)(nul - text.p);
    for (rest = text; rest.n; text = rest)
        if (!is_space(utf8_next(&rest)))
            break;
    for (rest = text; rest.n;) {
        bool space = is_space(utf8_next(&rest));

        count++;
        if (!space)
            end = text.n - rest.n;
        if (count == 60)
            sixty = text.n - rest.n;
    }
    count = utf8_count(str_head(text, end));
    if (count <= 60)
        return str_dup(a, str_head(text, end));
    return str_printf(a, "%.*s...", STR_FMT(str_head(text, sixty)));
}

bool rows_preview(Rows *r, Arena *a, Str id, Str *ret, Err *err)
{
    bool row = false, ok;

    if (!rows_go_on(r, err))
        return false;
    stmt_bind_text(r->first, 1, id);
    ok = stmt_step(r->db, r->first, &row, err);
    if (ok)
        *ret = row ? preview_of(a, stmt_text(r->first, 0)) : STR("");
    sqlite3_reset(r->first);
    return ok;
}

/* -- statements -- */

static void messages_sql(Rows *r, Buf *sql)
{
    buf_addf(
        sql,
        "SELECT 1 FROM messages WHERE session_id = ?1 AND id > ?2 AND CASE WHEN (%s)%s%s THEN ",
        !r->has_active       ? "1"
        : r->query.compacted ? "active = 1 OR compacted = 1"
                             : "active = 1",
        r->is_ours ? " AND " ROWS_ONCE : "", r->query.no_guests ? " AND NOT " ROWS_OF_GUEST : "");
    buf_addf(sql, "see_message(id, timestamp, role, content, %s, ",
             rows_column(r, "messages", "tool_calls"));
    buf_addz(sql, rows_column(r, "messages", "tool_name"));
    if (r->query.compacted)
        buf_addf(sql, ", %s, %s", r->has_active ? "active" : "1",
                 rows_column(r, "messages", "tool_call_id"));
    buf_addz(sql, ") ELSE see_message(id, timestamp) END ORDER BY id");
}

bool rows_prepare_messages(Rows *r, Err *err)
{
    AUTO_BUF sql = BUF(KIB(2));

    if (sqlite3_create_function_v2(r->db->handle, "see_message", -1,
                                   SQLITE_UTF8 | SQLITE_DIRECTONLY, r, see_message, NULL, NULL,
                                   NULL) != SQLITE_OK)
        return db_error(r->db, err);
    messages_sql(r, &sql);
    return stmt_prepare(r->db, sql.p, &r->messages, err) &&
           stmt_prepare(r->db, "SELECT max(timestamp) FROM messages WHERE session_id = ?",
                        &r->newest, err) &&
           stmt_prepare(
               r->db,
               "SELECT substr(replace(replace(content, char(10), ' '), char(13), ' '), 1, "
               "63) FROM messages WHERE session_id = ? AND role = 'user' AND content IS NOT "
               "NULL ORDER BY timestamp, id LIMIT 1",
               &r->first, err);
}

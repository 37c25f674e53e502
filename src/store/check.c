/* PRAGMA quick_check takes the name of a table, so a check can be cut where one read has to end. It
 * also asks the search indexes for their inner order (FTS5's own check), which needs the tokenizer
 * that the index was made with: where only Hermes has that, nothing can be said. */
#include "store/check.h"

#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "store/db_sqlite.h"
#include "store/session.h"

enum {
    SLICE_WAL_MS = 60,
    SLICE_ROLLBACK_MS = 12,
    TICK_OPS = 1000,
    MAX_TABLES = 1000,
    MAX_COMPLAINTS = 3,
    PROBE_ROOM = 32
};

typedef struct Check {
    Arena *arena;
    Db *db;
    bool wal, whole;
    int64_t deadline; /* monotonic ms; 0 = none */
    DbReport *report;
} Check;

const char *verdict_text(Verdict v)
{
    static const char *const texts[] = {
#define X(id, text) text,
        VERDICTS(X)
#undef X
    };
    return texts[v];
}

static int past_deadline(void *ctx)
{
    const Check *c = ctx;

    return c->deadline && clock_mono_ms() > c->deadline;
}

static void begin_slice(Check *c)
{
    c->deadline = c->whole ? 0 : clock_mono_ms() + (c->wal ? SLICE_WAL_MS : SLICE_ROLLBACK_MS);
}

/* -- what a failure means -- */

static bool says(Str text, const char *words)
{
    return str_find(text, str_of(words)) < text.n;
}

/* The build has one set of tokenizers and modules, Hermes may have more: no word about the
 * index. */
static bool is_of_others(Str text)
{
    return says(text, "tokenizer") || says(text, "no such module");
}

static TableCheck verdict_of_failure(Check *c, Str name)
{
    int code = sqlite3_errcode(c->db->handle);
    Str why = str_dup(c->arena, str_of(sqlite3_errmsg(c->db->handle)));
    Verdict v = VERDICT_BROKEN;

    switch (code & 0xff) {
    case SQLITE_INTERRUPT:
        v = VERDICT_SKIPPED;
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        v = VERDICT_LOCKED;
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        break;
    default:
        if (is_of_others(why))
            v = VERDICT_UNKNOWN;
    }
    return (TableCheck){ name, v, why };
}

/* -- pages -- */

/* The rows of a check: "ok", or complaints, of which the first few are told. */
static TableCheck read_complaints(Check *c, Stmt *stmt, Str name)
{
    AUTO_BUF why = BUF(KIB(8));
    size_t complaints = 0;
    int code;

    while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
        Str line = stmt_text(stmt, 0);

        if (str_eqz(line, "ok") || complaints++ >= MAX_COMPLAINTS)
            continue;
        buf_addz(&why, why.n ? "; " : "");
        buf_add(&why, line);
    }
    if (code != SQLITE_DONE)
        return verdict_of_failure(c, name);
    if (complaints > MAX_COMPLAINTS)
        buf_addf(&why, "; and %zu more", complaints - MAX_COMPLAINTS);
    return (TableCheck){ name,
                         !complaints                   ? VERDICT_OK
                         : is_of_others(buf_str(&why)) ? VERDICT_UNKNOWN
                                                       : VERDICT_BROKEN,
                         str_dup(c->arena, buf_str(&why)) };
}

static TableCheck check_pages(Check *c, const char *pragma, Str table)
{
    AUTO(Stmt) *stmt = NULL;
    AUTO_BUF sql = BUF(KIB(4));
    TableCheck result;

    buf_addf(&sql, "PRAGMA %s", pragma);
    if (table.n) {
        char *quoted = sqlite3_mprintf("(%Q)", str_z(c->arena, table));

        buf_addz(&sql, quoted ? quoted : "");
        sqlite3_free(quoted);
    }
    begin_slice(c);
    if (sqlite3_prepare_v2(c->db->handle, sql.p, -1, &stmt, NULL) != SQLITE_OK)
        result = verdict_of_failure(c, table);
    else
        result = read_complaints(c, stmt, table);
    c->deadline = 0;
    return result;
}

/* -- search indexes -- */

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Part of a word to some tokenizer: digits, and everything beyond ASCII. */
static bool joins_words(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* The longest plain word that stands whole in the text; false where there is none. */
static bool longest_word(Str text, char ret[PROBE_ROOM])
{
    size_t best = 2; /* shorter ones are passed over by some indexes */

    for (size_t at = 0; at < text.n;) {
        size_t n = 0;
        bool plain = true;

        while (at + n < text.n && joins_words(text.p[at + n]))
            plain &= is_letter(text.p[at + n++]);
        if (plain && n > best && n < PROBE_ROOM && at + n < text.n) {
            best = n;
            snprintf(ret, PROBE_ROOM, "%.*s", (int)n, text.p + at);
        }
        at += n + 1;
    }
    return best > 2;
}

/* A word of the newest or the oldest request: what a person would search for. */
static bool word_to_ask(Check *c, bool newest, char ret[PROBE_ROOM])
{
    AUTO(Stmt) *stmt = NULL;
    bool found;

    begin_slice(c);
    found = sqlite3_prepare_v2(
                c->db->handle,
                newest ? "SELECT substr(content, 1, 400) FROM messages WHERE role = 'user' AND "
                         "typeof(content) = 'text' ORDER BY id DESC LIMIT 1"
                       : "SELECT substr(content, 1, 400) FROM messages WHERE role = 'user' AND "
                         "typeof(content) = 'text' ORDER BY id LIMIT 1",
                -1, &stmt, NULL) == SQLITE_OK &&
            sqlite3_step(stmt) == SQLITE_ROW && longest_word(stmt_text(stmt, 0), ret);
    c->deadline = 0;
    return found;
}

static TableCheck ask_index(Check *c, Str name, const char *word, int64_t *ret_hits)
{
    AUTO(Stmt) *stmt = NULL;
    char *sql = sqlite3_mprintf("SELECT count(*) FROM (SELECT 1 FROM \"%w\" WHERE \"%w\" MATCH "
                                "'\"%q\"' LIMIT 100)",
                                str_z(c->arena, name), str_z(c->arena, name), word);
    TableCheck result = { name, VERDICT_OK, STR("") };

    ASSERT(sql);
    begin_slice(c);
    if (sqlite3_prepare_v2(c->db->handle, sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW)
        result = verdict_of_failure(c, name);
    else
        *ret_hits += sqlite3_column_int64(stmt, 0);
    c->deadline = 0;
    sqlite3_free(sql);
    return result;
}

/* Questions first; where they are answered, the index's own check. An index over the messages that
 * knows a word neither of the newest request nor of the oldest one has lost what it held. */
static TableCheck check_search(Check *c, Str name)
{
    TableCheck result = { name, VERDICT_OK, STR("") };
    char word[PROBE_ROOM] = "the";
    int64_t hits = 0;
    size_t asked = 0;

    for (int i = 0; i < 2 && result.verdict == VERDICT_OK; i++) {
        asked += word_to_ask(c, i == 0, word);
        result = ask_index(c, name, word, &hits);
    }
    if (result.verdict != VERDICT_OK)
        return result;
    if (asked == 2 && !hits && str_starts(name, STR("messages")))
        return (TableCheck){ name, VERDICT_BROKEN,
                             str_printf(c->arena, "it does not find '%s', which a message holds",
                                        word) };
    return check_pages(c, "quick_check", name);
}

/* -- tables -- */

typedef struct TableName {
    Str name;
    bool is_virtual, is_search;
} TableName;

static bool list_tables(Check *c, TableName **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    TableName *all = NULL;
    size_t n = 0, cap = 0;
    bool row = false;

    if (!stmt_prepare(
            c->db,
            "SELECT name, sql LIKE 'create virtual%', sql LIKE '%using%fts%' FROM "
            "sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
            "ORDER BY name",
            &stmt, err))
        return false;
    do {
        if (!stmt_step(c->db, stmt, &row, err))
            return false;
        if (row) {
            bool is_virtual = sqlite3_column_int(stmt, 1) != 0;
            TableName t = { str_dup(c->arena, stmt_text(stmt, 0)), is_virtual,
                            is_virtual && sqlite3_column_int(stmt, 2) };

            ARENA_PUSH(c->arena, all, n, cap, t);
        }
    } while (row && n < MAX_TABLES);
    *ret = all;
    *ret_n = n;
    return true;
}

static void check_tables(Check *c, const TableName *tables, size_t n)
{
    DbReport *r = c->report;
    TableCheck one;

    r->tables = ARENA_ARRAY(c->arena, TableCheck, n + 1);
    r->searches = ARENA_ARRAY(c->arena, TableCheck, n + 1);
    if (c->whole) {
        one = check_pages(c, "integrity_check", STR(""));
        one.name = STR("the whole file");
        r->tables[r->n_tables++] = one;
    }
    for (size_t i = 0; i < n; i++) {
        if (tables[i].is_search)
            r->searches[r->n_searches++] = check_search(c, tables[i].name);
        else if (!c->whole && !tables[i].is_virtual)
            r->tables[r->n_tables++] = check_pages(c, "quick_check", tables[i].name);
    }
}

/* -- columns -- */

static bool is_known(Str column, const char *const *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(column, fields[i]))
            return true;
    return false;
}

static void name_column(Buf *list, const char *table, Str column)
{
    buf_addf(list, "%s%s.%.*s", list->n ? ", " : "", table, STR_FMT(column));
}

static bool compare_columns(Check *c, const char *table, const char *const *fields, size_t n,
                            Buf *missing, Buf *unknown, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool *seen = ARENA_ARRAY(c->arena, bool, n);
    bool row = false;

    if (!stmt_prepare(c->db, "SELECT name FROM pragma_table_info(?)", &stmt, err))
        return false;
    stmt_bind_text(stmt, 1, str_of(table));
    do {
        if (!stmt_step(c->db, stmt, &row, err))
            return false;
        if (!row)
            break;
        for (size_t i = 0; i < n; i++)
            seen[i] |= str_eqz(stmt_text(stmt, 0), fields[i]);
        if (!is_known(stmt_text(stmt, 0), fields, n))
            name_column(unknown, table, stmt_text(stmt, 0));
    } while (row);
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            name_column(missing, table, str_of(fields[i]));
    return true;
}

static bool read_columns(Check *c, Err *err)
{
    static const char *const sessions[] = {
#define X(kind, name) #name,
        SESSION_FIELDS(X)
#undef X
    };
    static const char *const messages[] = {
#define X(kind, name) #name,
        MESSAGE_FIELDS(X)
#undef X
    };
    AUTO_BUF missing = BUF(KIB(16)), unknown = BUF(KIB(64));

    if (!compare_columns(c, "sessions", sessions, ARRAY_LEN(sessions), &missing, &unknown, err) ||
        !compare_columns(c, "messages", messages, ARRAY_LEN(messages), &missing, &unknown, err))
        return false;
    c->report->missing = str_dup(c->arena, buf_str(&missing));
    c->report->unknown = str_dup(c->arena, buf_str(&unknown));
    return true;
}

/* -- the whole -- */

static int64_t size_with_log(Arena *a, const char *path)
{
    struct stat st;
    int64_t bytes = 0;

    if (stat(path, &st) == 0)
        bytes = st.st_size;
    if (stat(str_printf(a, "%s-wal", path).p, &st) == 0)
        bytes += st.st_size;
    return bytes;
}

static bool read_facts(Check *c, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    DbReport *r = c->report;
    bool row = false;

    if (!stmt_prepare(c->db, "PRAGMA journal_mode", &stmt, err) ||
        !stmt_step(c->db, stmt, &row, err))
        return false;
    snprintf(r->journal, sizeof r->journal, "%.*s", STR_FMT(row ? stmt_text(stmt, 0) : STR("")));
    c->wal = strcmp(r->journal, "wal") == 0;
    if (db_has_column(c->db, "schema_version", "version"))
        return db_get_int(c->db, 0, &r->version, err, "SELECT max(version) FROM schema_version");
    return db_get_int(c->db, 0, &r->version, err, "PRAGMA user_version");
}

void check_database(Arena *a, const char *path, const CheckOptions *options, DbReport *ret)
{
    Check c = { .arena = a, .whole = options->whole, .report = ret };
    AUTO(Db) *db = NULL;
    TableName *tables;
    size_t n;

    *ret = (DbReport){ .missing = STR(""), .unknown = STR(""), .bytes = size_with_log(a, path) };
    db = c.db = db_open_read(path, &ret->trouble);
    if (!db)
        return;
    sqlite3_progress_handler(db->handle, TICK_OPS, past_deadline, &c);
    if (!db_script(db, "SELECT 1 FROM sqlite_schema LIMIT 1", &ret->trouble) ||
        !read_facts(&c, &ret->trouble) || !list_tables(&c, &tables, &n, &ret->trouble) ||
        (options->sessions && !read_columns(&c, &ret->trouble)))
        return;
    ret->readable = true;
    check_tables(&c, tables, n);
}

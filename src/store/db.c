#include "store/db_sqlite.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"

enum { BUSY_MS = 1000, BUSY_NAP_US = 1000, OWN_BUSY_MS = 10000, PROGRESS_OPS = 2000 };

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A pipe or a device: SQLite would wait for it. Looked at, never opened: closing it again would let
 * go of the locks that this process has on the file. */
static bool is_special(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* SQLite's own words for the frequent cases do not say what to do; these do. */
static bool explain(const char *path, int code, const char *sqlite_says, int sys, Err *err)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, ERR_BUSY, "'%s' is locked by another process; try again", path);
    case SQLITE_NOTADB:
        return err_set(err, ERR_CORRUPT, "'%s' is not a database", path);
    case SQLITE_CORRUPT:
        return err_set(err, ERR_CORRUPT, "'%s' is damaged (%s); nothing was written to it", path,
                       sqlite_says);
    case SQLITE_FULL:
        return err_set(err, ERR_NO_SPACE, "no space left for '%s'", path);
    case SQLITE_CANTOPEN:
        if (is_folder(path))
            return err_set(err, ERR_INVALID, "'%s' is a folder, not a database", path);
        if (is_special(path))
            return err_set(err, ERR_INVALID, "'%s' is not a regular file, so it is no database",
                           path);
        if (access(path, R_OK) == 0 && file_is_read_only(path, err))
            return false;
        if (sys)
            return err_set(err,
                           sys == ENOENT                    ? ERR_NOT_FOUND
                           : sys == EMFILE || sys == ENFILE ? ERR_BUSY
                                                            : ERR_IO,
                           "cannot open '%s': %s", path, strerror(sys));
        return err_set(err, ERR_IO, "cannot open '%s'", path);
    case SQLITE_READONLY:
        if (code == SQLITE_READONLY_ROLLBACK)
            return err_set(err, ERR_CONFLICT,
                           "'%s' was left in the middle of a write; its owner has to open it once",
                           path);
        return !file_is_read_only(path, err) &&
               err_set(err, ERR_READ_ONLY, "cannot write to '%s': it is read-only", path);
    case SQLITE_INTERRUPT:
        return err_set(err, ERR_INTERRUPTED, "interrupted while reading '%s'", path);
    default:
        if (sys == ENOSPC)
            return err_set(err, ERR_NO_SPACE, "no space left for '%s'", path);
        return err_set(err, ERR_IO, "'%s': %s%s%s", path, sqlite_says, sys ? ": " : "",
                       sys ? strerror(sys) : "");
    }
}

static _Atomic bool reads_end;

void db_end_reads(void)
{
    reads_end = true;
}

static int past_end(void *ctx)
{
    const Db *db = ctx;
    int64_t now = clock_mono_ms();

    return (db->until && now > db->until) ||
           (db->step_until && (now > db->step_until || reads_end));
}

void db_end_by(Db *db, int64_t mono_ms)
{
    db->until = mono_ms;
    sqlite3_progress_handler(db->handle, mono_ms || db->step_until ? PROGRESS_OPS : 0, past_end,
                             db);
}

void db_set_error(Db *db, Err *err)
{
    (void)explain(db->path, sqlite3_extended_errcode(db->handle), sqlite3_errmsg(db->handle),
                  sqlite3_system_errno(db->handle), err);
}

static Db *open_handle(const char *path, int flags, Err *err)
{
    Db *db = mem_alloc(sizeof *db);
    int code;

    db->path = mem_strdup(str_of(path));
    if (is_folder(path) || is_special(path)) {
        (void)explain(path, SQLITE_CANTOPEN, "", 0, err);
        return db_close(db);
    }
    code = sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                           NULL);
    if (code != SQLITE_OK) {
        (void)explain(path, code, sqlite3_errstr(code),
                      db->handle ? sqlite3_system_errno(db->handle) : 0, err);
        return db_close(db);
    }
    return db;
}

static void leave_files_alone(Db *db)
{
    int keep = 1;

    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_file_control(db->handle, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep);
    sqlite3_wal_autocheckpoint(db->handle, 0);
}

/* SQLite's own naps grow to a tenth of a second. Without a write-ahead log there is one lock, and a
 * writer that hardly pauses leaves it free for a moment only: who looks seldom never finds it so. A
 * commit waits here for readers, too; from then on no new ones come in. */
static int wait_for_lock(void *ctx, int times)
{
    Db *db = ctx;

    if (times == 0)
        db->busy_since = clock_mono_ms();
    if (clock_mono_ms() - db->busy_since >= db->busy_ms)
        return 0;
    usleep(BUSY_NAP_US);
    return 1;
}

static void be_patient(Db *db, int64_t ms)
{
    db->busy_ms = ms;
    sqlite3_busy_handler(db->handle, wait_for_lock, db);
}

/* What others put under these names runs in our process when it is read: a view may recurse for
 * ever, a virtual table may be one that SQLite cannot describe before it is connected, a generated
 * column computes what it likes. And lists go on behind a row by its number: that number has to be
 * the row's own. */
#define PLAIN_TABLES                                                                               \
    "('sessions', 'messages', 'gateway_routing', 'session_model_usage', 'schema_version', "        \
    "'system_prompts')"
#define SCHEMA_TROUBLE                                                                             \
    "SELECT name, iif(type = 'view', 'is a view, not a table', 'is a virtual table') "             \
    "FROM sqlite_schema WHERE lower(name) IN " PLAIN_TABLES                                        \
    " AND (type = 'view' OR (type = 'table' AND rootpage = 0)) "                                   \
    "UNION ALL SELECT t.name, iif(c.hidden, 'has generated columns', 'has no row numbers') "       \
    "FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE lower(t.name) IN " PLAIN_TABLES      \
    " AND t.type = 'table' AND t.rootpage > 0 AND (c.hidden OR lower(c.name) = 'rowid' OR "        \
    "(lower(t.name) = 'messages' AND lower(c.name) = 'id' AND NOT (lower(c.type) = 'integer' "     \
    "AND c.pk = 1))) LIMIT 1"

static bool check_schema(Db *db, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row = false;

    if (!stmt_prepare(db, SCHEMA_TROUBLE, &stmt, err) || !stmt_step(db, stmt, &row, err))
        return false;
    return !row || err_set(err, ERR_INVALID, "cannot read '%s': '%.*s' %.*s", db->path,
                           STR_FMT(stmt_text(stmt, 0)), STR_FMT(stmt_text(stmt, 1)));
}

static Db *open_read(const char *path, int flags, Err *err)
{
    Db *db = open_handle(path, SQLITE_OPEN_READONLY | flags, err);

    if (!db)
        return NULL;
    be_patient(db, BUSY_MS);
    leave_files_alone(db);
    db->step_until = clock_mono_ms() + LIMIT_READ_STEP_MS;
    db_end_by(db, 0);
    if (!db_script(db, "PRAGMA mmap_size=0; PRAGMA query_only=1", err) || !check_schema(db, err))
        return db_close(db);
    return db;
}

/* SQLite cannot read a database in WAL mode where it can neither find nor make the log. Our own
 * one, without a log and in a folder that cannot be written, has no writer, so it can be read as it
 * is. A foreign one may have an owner who begins to write at any moment: that one is never
 * immutable. */
static Db *open_frozen(const char *path, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF uri = BUF(4 * LIMIT_PATH_BYTES);
    Db *db;

    buf_addz(&uri, "file:");
    for (const char *p = path; *p; p++)
        if (strchr("%?#", *p))
            buf_addf(&uri, "%%%02x", (unsigned char)*p);
        else
            buf_addc(&uri, *p);
    buf_addz(&uri, "?immutable=1");
    if (access(str_printf(a, "%s-wal", path).p, F_OK) == 0)
        return NULL;
    db = open_read(str_z(a, buf_str(&uri)), SQLITE_OPEN_URI, err);
    if (db) {
        mem_free(db->path);
        db->path = mem_strdup(str_of(path));
    }
    return db;
}

Db *db_open_read(const char *path, Err *err)
{
    Db *db = open_read(path, 0, err);
    Err ignored;

    if (db || err->kind != ERR_READ_ONLY)
        return db;
    db = open_frozen(path, &ignored);
    if (!db)
        err_set_to(err, ERR_READ_ONLY,
                   "cannot read '%s': changes wait in '%s-wal', and nobody can read them where "
                   "the folder cannot be written; copy both files to another folder",
                   path, path);
    return db;
}

Db *db_open_foreign(const char *path, Err *err)
{
    Db *db = open_handle(path, SQLITE_OPEN_READWRITE, err);

    if (!db)
        return NULL;
    be_patient(db, LIMIT_HANDOFF_LOCK_MS);
    leave_files_alone(db);
    if (!db_script(db, "PRAGMA mmap_size=0; PRAGMA foreign_keys=0", err) || !check_schema(db, err))
        return db_close(db);
    return db;
}

/* SQLite would make the file as the umask has it, and that is the whole process's: no thread may
 * change it. So an empty one is there before, for us alone; its log gets the same mode. It is made
 * without being opened: closing it would let go of the locks of a thread that has it open already.
 * Where this fails, SQLite says why. */
static void make_private(const char *path)
{
    if (strcmp(path, ":memory:") != 0)
        (void)mknod(path, S_IFREG | 0600, 0);
}

Db *db_open_own(const char *path, bool durable, Err *err)
{
    Db *db;

    make_private(path);
    db = open_handle(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (!db && access(path, F_OK) != 0)
        (void)file_is_read_only(path, err);
    if (db) {
        sqlite3_busy_timeout(db->handle, OWN_BUSY_MS);
        /* SQLite opens what it cannot write for reading, and would fail at the first write only. */
        if ((sqlite3_db_readonly(db->handle, "main") == 1 &&
             !explain(path, SQLITE_READONLY, "", 0, err)) ||
            !db_script(db, "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=0", err) ||
            !db_script(db, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", err))
            db = db_close(db);
    }
    return db;
}

/* A file without a name: SQLite keeps it in memory, and what does not fit in a temporary file. */
Db *db_open_private(const char *path, Err *err)
{
    Db *db = open_handle("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);

    if (!db)
        return NULL;
    mem_free(db->path);
    db->path = mem_strdup(str_of(path));
    db->is_private = true;
    return db_script(db, "PRAGMA synchronous=OFF", err) ? db : db_close(db);
}

bool db_copy(Db *to, Db *from, Err *err)
{
    sqlite3_backup *b = sqlite3_backup_init(to->handle, "main", from->handle, "main");

    if (b)
        (void)sqlite3_backup_step(b, -1);
    return (b && sqlite3_backup_finish(b) == SQLITE_OK) || db_error(to, err);
}

Db *db_close(Db *db)
{
    if (db) {
        db_forget_statements(db);
        sqlite3_close_v2(db->handle);
        mem_free(db->path);
        mem_free(db);
    }
    return NULL;
}

bool db_has_column(Db *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db->handle, NULL, table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

const char *db_path(const Db *db)
{
    return db->path;
}

bool db_is_private(const Db *db)
{
    return db->is_private;
}

static bool migrate_step(Db *db, const char *sql, size_t to, Err *err)
{
    char version[64];

    snprintf(version, sizeof version, "PRAGMA user_version=%zu; COMMIT", to);
    if (db_script(db, sql, err) && db_script(db, version, err))
        return true;
    (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return err_wrap(err, "cannot bring '%s' to version %zu", db->path, to);
}

bool db_migrate(Db *db, const char *const *steps, size_t n, Err *err)
{
    int64_t version = 0;

    for (;;) {
        if (!db_get_int(db, 0, &version, err, "PRAGMA user_version"))
            return false;
        if (version > (int64_t)n)
            return err_set(err, ERR_CONFLICT,
                           "'%s' was written by a newer Talaria (schema %lld, this one knows "
                           "%zu); upgrade Talaria, or choose another data folder with --data",
                           db->path, (long long)version, n);
        if (version == (int64_t)n)
            return true;
        /* Another process may have been faster: look again with the write lock in hand. */
        if (!db_script(db, "BEGIN IMMEDIATE", err) ||
            !db_get_int(db, 0, &version, err, "PRAGMA user_version"))
            return false;
        if (version >= (int64_t)n) {
            if (!db_script(db, "COMMIT", err))
                return false;
            continue;
        }
        if (!migrate_step(db, steps[version], (size_t)version + 1, err))
            return false;
    }
}

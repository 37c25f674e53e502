/* Notes in memory. A file is known by its path with its time, size and digest; its chunks are rows of
 * one table and of one FTS5 table under the same numbers, so that a file that changes takes its rows
 * with it. All of it is made anew in each process: a thousand notes cost some tens of milliseconds
 * once, and nothing on disk can grow stale. */
#include "agent/brain.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "recall/skills_words.h"
#include "store/db.h"
#include "text/sha256.h"
#include "text/utf8.h"

enum { DEPTH = 8, REQUEST_WORDS = 32 };

static const double LEAST = 0.3; /* of the best score */

struct Brain {
    char *folder;
    Db *db;
    Stmt *known, *note, *stamp, *forget_text, *forget, *chunk, *text, *match, *sweep, *forget_note;
    BrainSize size;
    int64_t round, looked_ms;
    bool looked;
};

Str brain_folder(Arena *a, const Settings *settings, Str data)
{
    Str given = setting_text(settings, SETTING_MEMORY_BRAIN), user = str_of(getenv("HOME"));

    if (str_starts(given, STR("/")))
        return given;
    if (str_starts(given, STR("~/")) && user.n)
        return str_join_path(a, user, str_skip(given, 2));
    return str_join_path(a, data, given.n ? given : STR("notes"));
}

static const char schema[] =
    "CREATE TABLE notes(id INTEGER PRIMARY KEY, path TEXT UNIQUE, mtime INTEGER, size INTEGER,"
    " digest BLOB, round INTEGER);"
    "CREATE TABLE chunks(id INTEGER PRIMARY KEY, note INTEGER, part INTEGER, heading TEXT, text "
    "TEXT);"
    "CREATE INDEX chunks_note ON chunks(note);"
    "CREATE VIRTUAL TABLE words USING fts5(heading, text, tokenize = 'ascii', content = '',"
    " contentless_delete = 1);";

static bool prepare_all(Brain *b, Err *err)
{
    struct {
        Stmt **to;
        const char *sql;
    } const all[] = {
        { &b->known, "SELECT id, mtime, size, digest FROM notes WHERE path = ?" },
        { &b->note,
          "INSERT INTO notes(path, mtime, size, digest, round) VALUES(?1, ?2, ?3, ?4, ?5)"
          " ON CONFLICT(path) DO UPDATE SET mtime = ?2, size = ?3, digest = ?4, round = ?5"
          " RETURNING id" },
        { &b->stamp, "UPDATE notes SET round = ?2 WHERE id = ?1" },
        { &b->forget_text,
          "DELETE FROM words WHERE rowid IN (SELECT id FROM chunks WHERE note = ?)" },
        { &b->forget, "DELETE FROM chunks WHERE note = ?" },
        { &b->chunk, "INSERT INTO chunks(note, part, heading, text) VALUES(?, ?, ?, ?)" },
        { &b->text, "INSERT INTO words(rowid, heading, text) VALUES(?, ?, ?)" },
        { &b->match, "SELECT path, part, heading, text, score FROM (SELECT rowid AS r,"
                     " -bm25(words, 2, 1) AS score FROM words WHERE words MATCH ?"
                     " ORDER BY score DESC LIMIT 24) JOIN chunks ON chunks.id = r"
                     " JOIN notes ON notes.id = note ORDER BY score DESC, path, part" },
        { &b->sweep, "SELECT id FROM notes WHERE round <> ?" },
        { &b->forget_note, "DELETE FROM notes WHERE id = ?" },
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (!db_prepare(b->db, all[i].sql, all[i].to, err))
            return false;
    return true;
}

Brain *brain_open(Str folder, Err *err)
{
    AUTO(Brain) *b = mem_alloc(sizeof *b);

    b->folder = mem_strdup(folder);
    b->db = db_open_own(":memory:", false, err);
    if (!b->db || !db_exec(b->db, schema, err) || !prepare_all(b, err))
        return NULL;
    return TAKE(b);
}

Brain *brain_close(Brain *b)
{
    if (b) {
        Stmt *all[] = { b->known, b->note, b->stamp, b->forget_text, b->forget,
                        b->chunk, b->text, b->match, b->sweep,       b->forget_note };

        for (size_t i = 0; i < ARRAY_LEN(all); i++)
            stmt_free(all[i]);
        db_close(b->db);
        mem_free(b->folder);
    }
    return mem_free(b);
}

BrainSize brain_size(const Brain *b)
{
    return b->size;
}

/* -- one file ------------------------------------------------------------------------------------------ */

static bool run(Brain *b, Stmt *stmt, Err *err)
{
    bool row, ok = db_step(b->db, stmt, &row, err);

    sqlite3_reset(stmt);
    return ok;
}

static bool run_id(Brain *b, Stmt *stmt, int64_t id, Err *err)
{
    sqlite3_bind_int64(stmt, 1, id);
    return run(b, stmt, err);
}

static bool add_chunk(Brain *b, int64_t note, size_t part, Str path, const Chunk *c, Err *err)
{
    AUTO_BUF heading = BUF(KIB(64)), text = BUF(KIB(64));

    sqlite3_bind_int64(b->chunk, 1, note);
    sqlite3_bind_int64(b->chunk, 2, (int64_t)part);
    db_bind_str(b->chunk, 3, c->heading);
    db_bind_str(b->chunk, 4, c->text);
    if (!run(b, b->chunk, err))
        return false;
    (void)terms_write(&heading, path);
    (void)terms_write(&heading, c->heading);
    (void)terms_write(&text, c->text);
    sqlite3_bind_int64(b->text, 1, sqlite3_last_insert_rowid(b->db->handle));
    db_bind_str(b->text, 2, buf_str(&heading));
    db_bind_str(b->text, 3, buf_str(&text));
    return run(b, b->text, err);
}

static bool put_note(Brain *b, Str path, const struct stat *st, const uint8_t *digest, int64_t *ret,
                     Err *err)
{
    bool row = false, ok;

    db_bind_str(b->note, 1, path);
    sqlite3_bind_int64(b->note, 2, (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec);
    sqlite3_bind_int64(b->note, 3, st->st_size);
    sqlite3_bind_blob(b->note, 4, digest, SHA256_BYTES, SQLITE_STATIC);
    sqlite3_bind_int64(b->note, 5, b->round);
    ok = db_step(b->db, b->note, &row, err);
    if (ok && row)
        *ret = sqlite3_column_int64(b->note, 0);
    sqlite3_reset(b->note);
    return ok;
}

static bool index_note(Brain *b, Arena *a, Str path, int64_t note, Str text, Err *err)
{
    Chunk *chunks;
    size_t n;

    if (!run_id(b, b->forget_text, note, err) || !run_id(b, b->forget, note, err))
        return false;
    chunks_cut(a, text, BRAIN_CHUNK_CHARS, &chunks, &n);
    for (size_t i = 0; i < n; i++)
        if (!add_chunk(b, note, i + 1, path, &chunks[i], err))
            return false;
    return true;
}

typedef struct Known {
    int64_t id, mtime, size;
    uint8_t digest[SHA256_BYTES];
    bool found;
} Known;

static bool find_known(Brain *b, Str path, Known *ret, Err *err)
{
    bool ok;

    *ret = (Known){ 0 };
    db_bind_str(b->known, 1, path);
    ok = db_step(b->db, b->known, &ret->found, err);
    if (ok && ret->found) {
        Str digest = db_str(b->known, 3);

        ret->id = sqlite3_column_int64(b->known, 0);
        ret->mtime = sqlite3_column_int64(b->known, 1);
        ret->size = sqlite3_column_int64(b->known, 2);
        if (digest.n == SHA256_BYTES)
            memcpy(ret->digest, digest.p, SHA256_BYTES);
    }
    sqlite3_reset(b->known);
    return ok;
}

static bool take_file(Brain *b, int dir, const char *name, Str path, const struct stat *st,
                      Err *err)
{
    int64_t mtime = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec, note = 0;
    AUTO(Arena) *a = NULL;
    uint8_t digest[SHA256_BYTES];
    Known k;
    Str text;
    Err why;
    int fd;
    bool read;

    if (!find_known(b, path, &k, err))
        return false;
    b->size.files++;
    if (k.found && k.mtime == mtime && k.size == st->st_size) {
        sqlite3_bind_int64(b->stamp, 2, b->round);
        return run_id(b, b->stamp, k.id, err);
    }
    a = arena_new();
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    read = fd >= 0 && file_read_fd(a, fd, name, LIMIT_NOTE_BYTES, &text, &why);
    if (fd >= 0)
        close(fd);
    if (!read) {
        b->size.skipped++;
        return true;
    }
    b->size.read++;
    sha256(text, digest);
    if (!put_note(b, path, st, digest, &note, err))
        return false;
    return (k.found && memcmp(k.digest, digest, sizeof digest) == 0) ||
           index_note(b, a, path, note, text, err);
}

/* -- the folder ---------------------------------------------------------------------------------------- */

static bool is_note(Str name)
{
    return str_ends(name, STR(".md")) || str_ends(name, STR(".markdown")) ||
           str_ends(name, STR(".txt"));
}

static bool walk(Brain *b, Arena *a, int fd, Str below, size_t depth, Err *err);

static bool take_name(Brain *b, Arena *a, int dir, Str below, const char *name, size_t depth,
                      Err *err)
{
    Str path = below.n ? str_join_path(a, below, str_of(name)) : str_dup(a, str_of(name));
    struct stat st;
    int fd;

    if (name[0] == '.' || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (S_ISDIR(st.st_mode)) {
        fd =
            depth < DEPTH ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        return fd < 0 || walk(b, a, fd, path, depth + 1, err);
    }
    if (!S_ISREG(st.st_mode) || !is_note(path))
        return true;
    if (b->size.files >= LIMIT_NOTES || st.st_size > LIMIT_NOTE_BYTES) {
        b->size.skipped++;
        return true;
    }
    return take_file(b, dir, name, path, &st, err);
}

/* Closes fd. */
static bool walk(Brain *b, Arena *a, int fd, Str below, size_t depth, Err *err)
{
    DIR *dir = fdopendir(fd);
    struct dirent *e;
    bool ok = true;

    if (!dir) {
        close(fd);
        return true;
    }
    while (ok && (e = readdir(dir)))
        ok = take_name(b, a, dirfd(dir), below, e->d_name, depth, err);
    closedir(dir);
    return ok;
}

/* Files that were not seen in this round are gone. */
static bool sweep(Brain *b, Arena *a, Err *err)
{
    int64_t *gone = NULL;
    size_t n = 0, cap = 0;
    bool row = false, ok;

    sqlite3_bind_int64(b->sweep, 1, b->round);
    while ((ok = db_step(b->db, b->sweep, &row, err)) && row) {
        int64_t id = sqlite3_column_int64(b->sweep, 0);

        ARENA_PUSH(a, gone, n, cap, id);
    }
    sqlite3_reset(b->sweep);
    for (size_t i = 0; ok && i < n; i++)
        ok = run_id(b, b->forget_text, gone[i], err) && run_id(b, b->forget, gone[i], err) &&
             run_id(b, b->forget_note, gone[i], err);
    return ok;
}

static bool look(Brain *b, Arena *a, Err *err)
{
    int fd = open(b->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t chunks;

    b->size = (BrainSize){ 0 };
    b->round++;
    if ((fd >= 0 && !walk(b, a, fd, STR(""), 0, err)) || !sweep(b, a, err))
        return false;
    if (!db_int(b->db, "SELECT count(*) FROM chunks", 0, &chunks, err))
        return false;
    b->size.chunks = (size_t)chunks;
    return true;
}

bool brain_refresh(Brain *b, int64_t age_ms, Err *err)
{
    AUTO(Arena) *a = NULL;
    Err second;

    if (b->looked && clock_mono_ms() - b->looked_ms < age_ms)
        return true;
    a = arena_new();
    if (!db_exec(b->db, "BEGIN", err))
        return false;
    if (!look(b, a, err)) {
        (void)!db_exec(b->db, "ROLLBACK", &second);
        return err_wrap(err, "the notes in '%s'", b->folder);
    }
    b->looked = true;
    b->looked_ms = clock_mono_ms();
    return db_exec(b->db, "COMMIT", err);
}

/* -- searching ----------------------------------------------------------------------------------------- */

static bool take_hit(Brain *b, Arena *a, const Words *words, BrainHit *ret)
{
    Str all;
    size_t n;

    *ret = (BrainHit){ .doc = str_dup(a, db_str(b->match, 0)),
                       .part = (size_t)sqlite3_column_int64(b->match, 1),
                       .heading = str_dup(a, db_str(b->match, 2)),
                       .text = str_dup(a, db_str(b->match, 3)),
                       .score = sqlite3_column_double(b->match, 4) };
    all = str_printf(a, "%.*s\n%.*s\n%.*s", STR_FMT(ret->doc), STR_FMT(ret->heading),
                     STR_FMT(ret->text));
    n = words_in(a, words, all, &ret->why);
    return words_enough(n, words->n);
}

bool brain_search(Brain *b, Arena *a, Str request, size_t max, BrainHit **ret, size_t *ret_n,
                  Err *err)
{
    Words words = words_of(a, str_head(request, LIMIT_REQUEST_READ), REQUEST_WORDS);
    BrainHit *hits = ARENA_ARRAY(a, BrainHit, max + 1);
    bool row = false, ok = true;
    size_t n = 0;

    if (words.n) {
        db_bind_str(b->match, 1, words_any(a, &words));
        while (n < max && (ok = db_step(b->db, b->match, &row, err)) && row)
            if (take_hit(b, a, &words, &hits[n]) && hits[n].score >= LEAST * hits[0].score)
                n++;
        sqlite3_reset(b->match);
        sqlite3_clear_bindings(b->match);
    }
    *ret = hits;
    *ret_n = n;
    return ok;
}

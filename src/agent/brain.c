/* Notes in memory. A file is known by its path with its time, size and digest; its chunks are rows
 * of one table and of one FTS5 table under the same numbers, so that a file that changes takes its
 * rows with it. All of it is rebuilt in each process: a thousand notes cost some tens of
 * milliseconds once, and nothing on disk can grow stale. */
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

static const double MIN_SCORE = 0.3; /* of the best score */

struct Brain {
    char *folder;
    Db *db;
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

Brain *brain_open(Str folder, Err *err)
{
    AUTO(Brain) *b = mem_alloc(sizeof *b);

    b->folder = mem_strdup(folder);
    b->db = db_open_own(":memory:", false, err);
    if (!b->db || !db_script(b->db, schema, err))
        return NULL;
    return TAKE(b);
}

Brain *brain_close(Brain *b)
{
    if (b) {
        db_close(b->db);
        mem_free(b->folder);
    }
    return mem_free(b);
}

BrainSize brain_size(const Brain *b)
{
    return b->size;
}

/* -- One file -- */

static bool forget_chunks(Brain *b, int64_t note, Err *err)
{
    return db_exec(b->db, NULL, err,
                   "DELETE FROM words WHERE rowid IN (SELECT id FROM chunks WHERE note = ?)",
                   INT(note)) &&
           db_exec(b->db, NULL, err, "DELETE FROM chunks WHERE note = ?", INT(note));
}

static bool add_chunk(Brain *b, int64_t note, size_t part, Str path, const Chunk *c, Err *err)
{
    AUTO_BUF heading = BUF(KIB(64)), text = BUF(KIB(64));

    (void)terms_write(&heading, path);
    (void)terms_write(&heading, c->heading);
    (void)terms_write(&text, c->text);
    return db_exec(b->db, NULL, err,
                   "INSERT INTO chunks(note, part, heading, text) VALUES(?, ?, ?, ?)", INT(note),
                   INT((int64_t)part), TEXT(c->heading), TEXT(c->text)) &&
           db_exec(b->db, NULL, err, "INSERT INTO words(rowid, heading, text) VALUES(?, ?, ?)",
                   INT(db_last_id(b->db)), TEXT(buf_str(&heading)), TEXT(buf_str(&text)));
}

static bool put_note(Brain *b, Str path, int64_t mtime, int64_t size, const uint8_t *digest,
                     int64_t *ret, Err *err)
{
    return db_get_int(b->db, 0, ret, err,
                      "INSERT INTO notes(path, mtime, size, digest, round) VALUES(?1, ?2, ?3, ?4, "
                      "?5) ON CONFLICT(path) DO UPDATE SET mtime = ?2, size = ?3, digest = ?4, "
                      "round = ?5 RETURNING id",
                      TEXT(path), INT(mtime), INT(size),
                      BLOB(((Str){ (const char *)digest, SHA256_BYTES })), INT(b->round));
}

static bool index_note(Brain *b, Arena *a, Str path, int64_t note, Str text, Err *err)
{
    Chunk *chunks;
    size_t n;

    if (!forget_chunks(b, note, err))
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
    AUTO(DbRows) *rows = NULL;
    Str digest;

    *ret = (Known){ 0 };
    if (!db_query(b->db, &rows, err, "SELECT id, mtime, size, digest FROM notes WHERE path = ?",
                  TEXT(path)) ||
        !db_row(rows, &ret->found, err))
        return false;
    if (!ret->found)
        return true;
    ret->id = row_int(rows, 0);
    ret->mtime = row_int(rows, 1);
    ret->size = row_int(rows, 2);
    digest = row_text(rows, 3);
    if (digest.n == SHA256_BYTES)
        memcpy(ret->digest, digest.p, SHA256_BYTES);
    return true;
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
    if (k.found && k.mtime == mtime && k.size == st->st_size)
        return db_exec(b->db, NULL, err, "UPDATE notes SET round = ? WHERE id = ?", INT(b->round),
                       INT(k.id));
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
    if (!put_note(b, path, mtime, st->st_size, digest, &note, err))
        return false;
    return (k.found && memcmp(k.digest, digest, sizeof digest) == 0) ||
           index_note(b, a, path, note, text, err);
}

/* -- The folder -- */

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
    AUTO(DbRows) *rows = NULL;
    bool ok = db_query(b->db, &rows, err, "SELECT id FROM notes WHERE round <> ?", INT(b->round));

    while (ok && db_next(rows, &ok, err)) {
        int64_t id = row_int(rows, 0);

        ARENA_PUSH(a, gone, n, cap, id);
    }
    for (size_t i = 0; ok && i < n; i++)
        ok = forget_chunks(b, gone[i], err) &&
             db_exec(b->db, NULL, err, "DELETE FROM notes WHERE id = ?", INT(gone[i]));
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
    if (!db_get_int(b->db, 0, &chunks, err, "SELECT count(*) FROM chunks"))
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
    if (!db_script(b->db, "BEGIN", err))
        return false;
    if (!look(b, a, err)) {
        (void)!db_script(b->db, "ROLLBACK", &second);
        return err_wrap(err, "the notes in '%s'", b->folder);
    }
    b->looked = true;
    b->looked_ms = clock_mono_ms();
    return db_script(b->db, "COMMIT", err);
}

/* -- Searching -- */

static bool read_hit(DbRows *rows, Arena *a, const Words *words, BrainHit *ret)
{
    Str all;
    size_t n;

    *ret = (BrainHit){ .doc = str_dup(a, row_text(rows, 0)),
                       .part = (size_t)row_int(rows, 1),
                       .heading = str_dup(a, row_text(rows, 2)),
                       .text = str_dup(a, row_text(rows, 3)),
                       .score = row_real(rows, 4) };
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
    AUTO(DbRows) *rows = NULL;
    bool ok = true;
    size_t n = 0;

    if (words.n)
        ok = db_query(b->db, &rows, err,
                      "SELECT path, part, heading, text, score FROM (SELECT rowid AS r,"
                      " -bm25(words, 2, 1) AS score FROM words WHERE words MATCH ?"
                      " ORDER BY score DESC LIMIT 24) JOIN chunks ON chunks.id = r"
                      " JOIN notes ON notes.id = note ORDER BY score DESC, path, part",
                      TEXT(words_any(a, &words)));
    while (rows && ok && n < max && db_next(rows, &ok, err))
        if (read_hit(rows, a, &words, &hits[n]) && hits[n].score >= MIN_SCORE * hits[0].score)
            n++;
    *ret = hits;
    *ret_n = n;
    return ok;
}

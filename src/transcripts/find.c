/* Which transcripts are there: a walk that opens folders and no files.
 *
 * Below projects/ every .jsonl is a session or a side chain of one; below sessions/ and
 * archived_sessions/ every rollout is one, and where the same is in both places (Codex moves it)
 * the longer one counts. Symbolic links below a root are not followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "transcripts/reader.h"

enum { DEPTH_MOST = 16, UUID_CHARS = 36 };

/* -- roots ------------------------------------------------------------------------------------------ */

static bool is_folder(Arena *a, Str path)
{
    struct stat st;

    return path.n && stat(str_z(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

static bool absolute(Arena *a, Str path, Str *ret, Err *err)
{
    char here[LIMIT_PATH_BYTES];

    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    if (path.n && path.p[0] == '/') {
        *ret = str_dup(a, path);
        return true;
    }
    if (!getcwd(here, sizeof here))
        return err_errno(err, "cannot tell the current folder");
    *ret = str_join_path(a, str_of(here), path);
    return true;
}

/* Given, or by the environment, or the usual place below the user's home. */
static bool root_of(Arena *a, const char *given, const char *variable, Str usual, Str *ret,
                    bool *ret_present, Err *err)
{
    const char *set = getenv(variable), *home = getenv("HOME");
    Str path = given           ? str_of(given)
               : set && *set   ? str_of(set)
               : home && *home ? str_join_path(a, str_of(home), usual)
                               : STR_NONE;

    *ret = STR_NONE;
    *ret_present = false;
    if (!path.n)
        return true;
    if (!absolute(a, path, ret, err))
        return false;
    *ret_present = is_folder(a, *ret);
    if (given && !*ret_present)
        return err_set(err, ERR_NOT_FOUND, "no folder '%s'", given);
    return true;
}

bool transcript_roots(Arena *a, const char *claude_home, const char *codex_home,
                      TranscriptRoots *ret, Err *err)
{
    TranscriptRoots found;

    if (!root_of(a, claude_home, "CLAUDE_CONFIG_DIR", STR(".claude"), &found.claude,
                 &found.claude_present, err) ||
        !root_of(a, codex_home, "CODEX_HOME", STR(".codex"), &found.codex, &found.codex_present,
                 err))
        return false;
    *ret = found;
    return true;
}

/* -- the walk --------------------------------------------------------------------------------------- */

typedef struct Walk {
    Arena *a;
    SourceKind source;
    bool archived;
    TranscriptFile *all;
    size_t n, cap;
    Err *err;
} Walk;

static bool is_uuid(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool hex = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');

        if (dash ? c != '-' : !hex)
            return false;
    }
    return s.n == UUID_CHARS;
}

static Str stem_of(SourceKind source, Str name)
{
    Str stem = str_head(name, name.n - 6);

    if (source == SOURCE_CODEX && stem.n > UUID_CHARS &&
        is_uuid(str_skip(stem, stem.n - UUID_CHARS)))
        return str_skip(stem, stem.n - UUID_CHARS);
    return stem;
}

/* .../<session>/subagents/agent-x.jsonl: the folder above says whose it is. */
static Str parent_of(Str folder)
{
    size_t at = str_find(folder, STR("/subagents"));
    Str above = str_head(folder, at);

    if (at == folder.n)
        return STR_NONE;
    for (size_t i = above.n; i > 0; i--)
        if (above.p[i - 1] == '/')
            return str_skip(above, i);
    return above;
}

static bool is_wanted(SourceKind source, Str name)
{
    return name.n > 6 && str_ends(name, STR(".jsonl")) &&
           (source == SOURCE_CLAUDE || str_starts(name, STR("rollout-")));
}

/* As str_join_path, but for every file of a tree on every run. */
static Str join(Arena *a, Str folder, Str name)
{
    char *path = arena_alloc(a, folder.n + 1 + name.n);

    memcpy(path, folder.p, folder.n);
    path[folder.n] = '/';
    memcpy(path + folder.n + 1, name.p, name.n);
    return (Str){ path, folder.n + 1 + name.n };
}

static bool add_file(Walk *w, int folder_fd, Str folder, Str name)
{
    TranscriptFile f = { .source = w->source, .archived = w->archived };
    struct stat st;

    if (fstatat(folder_fd, name.p, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return true;
    if (w->n >= LIMIT_TRANSCRIPT_FILES)
        return err_set(w->err, ERR_TOO_LARGE, "more than %d transcripts below '%.*s'",
                       LIMIT_TRANSCRIPT_FILES, STR_FMT(folder));
    f.path = join(w->a, folder, name);
    f.stem = stem_of(w->source, str_skip(f.path, f.path.n - name.n));
    f.size = st.st_size;
    f.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    f.inode = st.st_ino;
    if (w->source == SOURCE_CLAUDE) {
        f.parent = parent_of(str_head(f.path, f.path.n - name.n - 1));
        f.side_chain = f.parent.n > 0 || str_starts(name, STR("agent-"));
    }
    ARENA_PUSH(w->a, w->all, w->n, w->cap, f);
    return true;
}

static bool walk(Walk *w, int parent_fd, const char *name, Str path, int depth);

static bool walk_entry(Walk *w, int fd, Str path, const struct dirent *entry, int depth)
{
    Str name = str_of(entry->d_name);
    struct stat st;
    bool folder = entry->d_type == DT_DIR;

    if (entry->d_type == DT_LNK || str_eqz(name, ".") || str_eqz(name, ".."))
        return true;
    if (entry->d_type == DT_UNKNOWN)
        folder = fstatat(fd, name.p, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    if (folder)
        return depth == 0 || walk(w, fd, name.p, join(w->a, path, name), depth - 1);
    return !is_wanted(w->source, name) || add_file(w, fd, path, name);
}

static bool walk(Walk *w, int parent_fd, const char *name, Str path, int depth)
{
    int fd = openat(parent_fd, name,
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | (parent_fd == AT_FDCWD ? 0 : O_NOFOLLOW));
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    bool ok = true;

    if (!dir) {
        if (errno != ENOENT)
            log_warning("'%.*s' is left out: %s", STR_FMT(path), strerror(errno));
        if (fd >= 0)
            close(fd);
        return true;
    }
    while (ok && (entry = readdir(dir)))
        ok = walk_entry(w, fd, path, entry, depth);
    closedir(dir);
    return ok;
}

static bool walk_root(Walk *w, Str root, const char *folder)
{
    Str path = str_join_path(w->a, root, str_of(folder));

    return walk(w, AT_FDCWD, str_z(w->a, path), path, DEPTH_MOST);
}

/* -- order, and what is there twice ---------------------------------------------------------------- */

static int by_stem(const void *left, const void *right)
{
    const TranscriptFile *a = left, *b = right;
    int order = str_cmp(a->stem, b->stem);

    if (order)
        return order;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->archived != b->archived ? a->archived - b->archived : str_cmp(a->path, b->path);
}

static int by_path(const void *left, const void *right)
{
    return str_cmp(((const TranscriptFile *)left)->path, ((const TranscriptFile *)right)->path);
}

static size_t without_twins(TranscriptFile *all, size_t n)
{
    size_t kept = 0;

    qsort(all, n, sizeof *all, by_stem);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !str_eq(all[kept - 1].stem, all[i].stem))
            all[kept++] = all[i];
    return kept;
}

bool transcripts_find(Arena *a, const TranscriptRoots *roots, TranscriptFile **ret, size_t *ret_n,
                      Err *err)
{
    Walk w = { .a = a, .err = err, .source = SOURCE_CODEX };

    if (roots->codex_present) {
        if (!walk_root(&w, roots->codex, "sessions"))
            return false;
        w.archived = true;
        if (!walk_root(&w, roots->codex, "archived_sessions"))
            return false;
        w.n = w.n ? without_twins(w.all, w.n) : 0;
    }
    w.source = SOURCE_CLAUDE;
    w.archived = false;
    if (roots->claude_present && !walk_root(&w, roots->claude, "projects"))
        return false;
    if (w.n)
        qsort(w.all, w.n, sizeof *w.all, by_path);
    *ret = w.all;
    *ret_n = w.n;
    return true;
}

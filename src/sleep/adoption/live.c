/* Folders are opened from "/" down by openat2 with no link allowed anywhere; everything after
 * happens relative to that descriptor. A path that was canonical when the night was staged and is a
 * link now is therefore refused by the kernel, not by a check that a race can outrun.
 *
 * What remains: an editor that writes between the last look and the rename. Both happen back to
 * back. */
#include "sleep/adoption/live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "text/sha256.h"
#include "text/utf8.h"

/* -- Paths -- */

static bool check_path(Str path, Err *err)
{
    Str rest = path, part;

    if (!path.n || path.p[0] != '/')
        return err_set(err, ERR_REFUSED, "'%.*s' is not an absolute path", STR_FMT(path));
    if (path.n >= LIMIT_PATH_BYTES - 64 || memchr(path.p, '\0', path.n))
        return err_set(err, ERR_REFUSED, "path too long: '%.64s...'", path.p);
    while (str_split(&rest, '/', &part))
        if (str_eqz(part, "..") || str_eqz(part, "."))
            return err_set(err, ERR_REFUSED, "'%.*s' holds '.' or '..'", STR_FMT(path));
    return str_ends(path, STR(".md")) ||
           err_set(err, ERR_REFUSED, "'%.*s' does not end in .md", STR_FMT(path));
}

bool live_path(Arena *a, Str path, Str *ret, Err *err)
{
    Str folder = path, rest;
    char real[PATH_MAX];

    if (!check_path(path, err))
        return false;
    /* The deepest folder that exists is resolved; the names below it are still to come. */
    do {
        rest = str_skip(path, str_folder(folder).n + (str_folder(folder).n > 1));
        folder = str_folder(folder);
        if (realpath(str_z(a, folder), real)) {
            *ret = str_join_path(a, str_dup(a, str_of(real)), rest);
            return true;
        }
    } while (folder.n > 1 && errno == ENOENT);
    return err_errno(err, "cannot find the folder of '%.*s'", STR_FMT(path));
}

bool live_missing_folders(Arena *a, Str path, StrList *ret, Err *err)
{
    StrList inner = { 0 }, folders = { 0 };
    struct stat st;

    for (Str f = str_folder(path); f.n > 1 && lstat(str_z(a, f), &st) != 0; f = str_folder(f)) {
        if (errno != ENOENT)
            return err_errno(err, "cannot look at '%.*s'", STR_FMT(f));
        LIST_PUSH(a, &inner, f);
    }
    for (size_t i = inner.n; i-- > 0;)
        LIST_PUSH(a, &folders, inner.items[i]);
    *ret = folders;
    return true;
}

/* The folder of path, reached without a link. -1 with ERR_NOT_FOUND where it is missing. */
static int open_folder(Str path, Err *err)
{
    Str folder = str_folder(path);
    char name[LIMIT_PATH_BYTES];
    int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

    if (root < 0) {
        (void)err_errno(err, "cannot open '/'");
        return -1;
    }
    snprintf(name, sizeof name, "%.*s", STR_FMT(str_skip(folder, 1)));
    if (!name[0])
        return root;
    fd = file_open_beneath(root, name, O_RDONLY | O_DIRECTORY, err);
    close(root);
    if (fd < 0 && err->kind == ERR_REFUSED)
        (void)err_set(err, ERR_REFUSED, "'%.*s' is reached through a symbolic link",
                      STR_FMT(folder));
    return fd;
}

/* -- Reading -- */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The open file into ret; what changes while it is read is refused. */
static bool read_open(Arena *a, int fd, LiveDoc *ret, Err *err)
{
    char name[LIMIT_PATH_BYTES];
    struct stat before, after;

    snprintf(name, sizeof name, "%.*s", STR_FMT(ret->path));
    if (fstat(fd, &before) != 0)
        return err_errno(err, "cannot read '%s'", name);
    if (!S_ISREG(before.st_mode))
        return err_set(err, ERR_REFUSED, "'%s' is not a regular file", name);
    if (before.st_nlink != 1)
        return err_set(err, ERR_REFUSED, "'%s' has %lu names (hard links)", name,
                       (unsigned long)before.st_nlink);
    if (!file_read_fd(a, fd, name, LIMIT_SLEEP_DOCUMENT, &ret->bytes, err))
        return false;
    if (fstat(fd, &after) != 0 || !same_file(&before, &after))
        return err_set(err, ERR_CONFLICT, "'%s' changes while it is read", name);
    if (utf8_valid_prefix(ret->bytes) != ret->bytes.n)
        return err_set(err, ERR_REFUSED, "'%s' is not UTF-8", name);
    ret->exists = true;
    ret->mode = before.st_mode & 07777;
    ret->device = before.st_dev;
    ret->inode = before.st_ino;
    ret->sha256 = sha256_hex(a, ret->bytes);
    return true;
}

bool live_read(Arena *a, Str path, LiveDoc *ret, Err *err)
{
    LiveDoc doc = { .bytes = STR(""), .sha256 = STR(""), .mode = 0600 };
    int folder, fd;
    bool ok;

    if (!live_path(a, path, &doc.path, err))
        return false;
    folder = open_folder(doc.path, err);
    if (folder < 0 && err->kind == ERR_NOT_FOUND) {
        *ret = doc;
        return true;
    }
    if (folder < 0)
        return false;
    fd = openat(folder, str_z(a, str_file_name(doc.path)),
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP)
        ok = err_set(err, ERR_REFUSED, "'%.*s' is a symbolic link", STR_FMT(doc.path));
    else if (fd < 0)
        ok = errno == ENOENT || err_errno(err, "cannot read '%.*s'", STR_FMT(doc.path));
    else
        ok = read_open(a, fd, &doc, err);
    if (fd >= 0)
        close(fd);
    close(folder);
    if (ok)
        *ret = doc;
    return ok;
}

bool live_unchanged(const LiveDoc *then, Err *err)
{
    AUTO(Arena) *a = arena_new();
    LiveDoc now;

    if (!live_read(a, then->path, &now, err))
        return false;
    if (!str_eq(now.path, then->path))
        return err_set(err, ERR_CONFLICT, "'%.*s' is now at another place: '%.*s'",
                       STR_FMT(then->path), STR_FMT(now.path));
    if (now.exists != then->exists || !str_eq(now.sha256, then->sha256) ||
        (now.exists &&
         (now.mode != then->mode || now.inode != then->inode || now.device != then->device)))
        return err_set(err, ERR_CONFLICT, "'%.*s' has changed since it was read",
                       STR_FMT(then->path));
    return true;
}

/* -- Changing -- */

static bool write_new(int folder, const char *name, Str bytes, uint32_t mode)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0;

    while (ok && bytes.n) {
        ssize_t put = write(fd, bytes.p, bytes.n);

        ok = put >= 0 || errno == EINTR;
        bytes = str_skip(bytes, put < 0 ? 0 : (size_t)put);
    }
    ok = ok && fchmod(fd, mode) == 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

bool live_replace(Str path, const char *temporary, Str bytes, uint32_t mode, Err *err)
{
    AUTO(Arena) *a = arena_new();
    int folder = open_folder(path, err);
    bool ok;

    if (folder < 0)
        return err_wrap(err, "cannot write '%.*s'", STR_FMT(path));
    (void)unlinkat(folder, temporary, 0);
    ok = write_new(folder, temporary, bytes, mode) &&
         renameat(folder, temporary, folder, str_z(a, str_file_name(path))) == 0 &&
         fsync(folder) == 0;
    if (!ok) {
        (void)err_errno(err, "cannot write '%.*s'", STR_FMT(path));
        (void)unlinkat(folder, temporary, 0);
    }
    close(folder);
    return ok;
}

bool live_remove(Str path, Err *err)
{
    AUTO(Arena) *a = arena_new();
    int folder = open_folder(path, err);
    bool ok;

    if (folder < 0)
        return err->kind == ERR_NOT_FOUND || err_wrap(err, "cannot remove '%.*s'", STR_FMT(path));
    ok = unlinkat(folder, str_z(a, str_file_name(path)), 0) == 0 || errno == ENOENT;
    ok = ok && fsync(folder) == 0;
    if (!ok)
        (void)err_errno(err, "cannot remove '%.*s'", STR_FMT(path));
    close(folder);
    return ok;
}

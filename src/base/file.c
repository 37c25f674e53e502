#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

/* -- reading -- */

bool file_read_fd(Arena *a, int fd, const char *name, size_t max, Str *ret, Err *err)
{
    struct stat st;
    size_t cap, n = 0;
    char *bytes;

    if (fstat(fd, &st) != 0)
        return err_errno(err, "cannot read '%s'", name);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "cannot read '%s': it is a folder", name);
    if (st.st_size > 0 && (size_t)st.st_size > max)
        return err_set(err, ERR_TOO_LARGE, "'%s' is larger than %zu bytes", name, max);
    /* A pipe has no size, and a file may grow while it is read: one byte more tells. */
    cap = st.st_size > 0 ? (size_t)st.st_size + 1 : KIB(64);
    bytes = mem_alloc(cap);
    for (;;) {
        ssize_t got = read(fd, bytes + n, cap - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            mem_free(bytes);
            return err_errno(err, "cannot read '%s'", name);
        }
        n += (size_t)got;
        if (got == 0 || n > max)
            break;
        if (n == cap) {
            cap *= 2;
            bytes = mem_resize(bytes, cap, 1);
        }
    }
    if (n <= max)
        *ret = str_dup(a, (Str){ bytes, n });
    mem_free(bytes);
    if (n > max)
        return err_set(err, ERR_TOO_LARGE, "'%s' is larger than %zu bytes", name, max);
    return true;
}

static bool read_path(Arena *a, const char *path, int flags, size_t max, Str *ret, Err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    struct stat st;
    bool ok;

    if (fd < 0)
        return err_errno(err, "cannot read '%s'", path);
    ok = !(flags & O_NONBLOCK) || fstat(fd, &st) != 0 || S_ISREG(st.st_mode) ||
         S_ISDIR(st.st_mode) ||
         err_set(err, ERR_INVALID, "cannot read '%s': it is not a regular file", path);
    ok = ok && file_read_fd(a, fd, path, max, ret, err);
    close(fd);
    return ok;
}

/* Opening a pipe waits for its writer, unless it is said not to. */
bool file_read(Arena *a, const char *path, size_t max, Str *ret, Err *err)
{
    return read_path(a, path, O_NONBLOCK | O_NOCTTY, max, ret, err);
}

bool file_read_any(Arena *a, const char *path, size_t max, Str *ret, Err *err)
{
    return read_path(a, path, 0, max, ret, err);
}

/* Kernels before 5.6, and some sandboxes, have no openat2: walk by hand, links refused. */
static int open_by_steps(int folder_fd, const char *name, int flags)
{
    int at = dup(folder_fd);

    while (at >= 0) {
        const char *slash = strchr(name, '/');
        size_t n = slash ? (size_t)(slash - name) : strlen(name);
        char part[NAME_MAX + 1];
        int next, saved;

        if (n == 0 || n > NAME_MAX || (n == 2 && memcmp(name, "..", 2) == 0)) {
            close(at);
            errno = EXDEV;
            return -1;
        }
        memcpy(part, name, n);
        part[n] = '\0';
        next =
            openat(at, part, (slash ? O_PATH | O_DIRECTORY : flags) | O_NOFOLLOW | O_CLOEXEC, 0600);
        saved = errno;
        close(at);
        errno = saved;
        if (!slash)
            return next;
        at = next;
        name = slash + 1;
    }
    return -1;
}

int file_open_beneath(int folder_fd, const char *name, int flags, Err *err)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? 0600 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, folder_fd, name, &how, sizeof how);

    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = open_by_steps(folder_fd, name, flags);
    if (fd >= 0)
        return fd;
    if (errno == EXDEV || errno == ELOOP)
        (void)err_set(err, ERR_REFUSED, "'%s' leads out of its folder", name);
    else
        (void)err_errno(err, "cannot open '%s'", name);
    return -1;
}

/* -- writing -- */

static bool write_all(int fd, Str bytes)
{
    while (bytes.n) {
        ssize_t put = write(fd, bytes.p, bytes.n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes = str_skip(bytes, (size_t)put);
    }
    return true;
}

static void folder_of(const char *path, char ret[LIMIT_PATH_BYTES])
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        snprintf(ret, LIMIT_PATH_BYTES, ".");
    else
        snprintf(ret, LIMIT_PATH_BYTES, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

bool folder_sync(const char *path, Err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        (void)err_errno(err, "cannot sync '%s'", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* A file without a name, so that a process that dies while it writes leaves nothing behind; where
 * the file system has no such thing, one with its own name. temporary[0] is 0 without a
 * name. */
static int open_temporary(const char *folder, char *temporary)
{
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

    if (fd >= 0)
        temporary[0] = '\0';
    return fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
               ? fd
               : mkostemp(temporary, O_CLOEXEC);
}

/* Gives the nameless file a name; the next step takes it away again by renaming. */
static bool name_it(int fd, const char *path, char temporary[LIMIT_PATH_BYTES])
{
    char self[64];

    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    for (int i = 0; i < 100; i++) {
        uint32_t random;

        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return false;
        snprintf(temporary, LIMIT_PATH_BYTES, "%s.%06x", path, random & 0xffffff);
        if (linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

bool file_is_read_only(const char *path, Err *err)
{
    char folder[LIMIT_PATH_BYTES];
    const char *at = path;

    if (access(path, F_OK) != 0 || access(path, W_OK) == 0) {
        if (strlen(path) >= sizeof folder)
            return false;
        folder_of(path, folder);
        at = folder;
    }
    if (access(at, F_OK) != 0 || access(at, W_OK) == 0 || (errno != EACCES && errno != EROFS))
        return false;
    err_set_to(err, ERR_READ_ONLY, "cannot write to '%s': %s", at, strerror(errno));
    return true;
}

/* Names the failed system call in errno, unless the place as a whole cannot be written to. */
static bool cannot(const char *what, const char *path, Err *err)
{
    int reason = errno;

    if ((reason == EACCES || reason == EROFS) && file_is_read_only(path, err))
        return false;
    errno = reason;
    return err_errno(err, "cannot %s '%s'", what, path);
}

bool file_write_atomic(const char *path, Str bytes, Err *err)
{
    char temporary[LIMIT_PATH_BYTES], folder[LIMIT_PATH_BYTES];
    int fd, n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);

    if (n < 0 || (size_t)n >= sizeof temporary)
        return err_set(err, ERR_TOO_LARGE, "path too long: '%.64s...'", path);
    folder_of(path, folder);
    fd = open_temporary(folder, temporary);
    if (fd < 0)
        return cannot("write", path, err);
    if (!write_all(fd, bytes) || fsync(fd) != 0 ||
        (!temporary[0] && !name_it(fd, path, temporary)) || rename(temporary, path) != 0) {
        (void)cannot("write", path, err);
        close(fd);
        if (temporary[0])
            unlink(temporary);
        return false;
    }
    close(fd);
    return folder_sync(folder, err);
}

bool file_remove(const char *path, Err *err)
{
    char folder[LIMIT_PATH_BYTES];

    if (unlink(path) != 0)
        return err_errno(err, "cannot remove '%s'", path);
    folder_of(path, folder);
    return folder_sync(folder, err);
}

bool folder_make(const char *path, Err *err)
{
    char part[LIMIT_PATH_BYTES];
    struct stat st;
    size_t n = strlen(path);

    if (n >= sizeof part)
        return err_set(err, ERR_TOO_LARGE, "path too long: '%.64s...'", path);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            /* A folder that is there is fine, also where we could not have made it. */
            int reason = errno;

            if (stat(part, &st) == 0 && S_ISDIR(st.st_mode))
                continue;
            errno = reason;
            return cannot("make folder", part, err);
        }
    }
    if (stat(path, &st) != 0)
        return err_errno(err, "cannot make folder '%s'", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_CONFLICT, "'%s' is a file, not a folder; move it out of the way",
                       path);
    return true;
}

/* -- listing -- */

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const FileEntry *)a)->name, ((const FileEntry *)b)->name);
}

bool folder_list(Arena *a, const char *path, size_t max, FileEntry **ret, size_t *ret_n, Err *err)
{
    DIR *dir = opendir(path);
    FileEntry *entries = NULL;
    size_t n = 0, cap = 0;
    struct dirent *e;

    if (!dir)
        return err_errno(err, "cannot list '%s'", path);
    while ((e = readdir(dir))) {
        FileEntry entry = { .name = str_of(e->d_name) };
        struct stat st;

        if (str_eqz(entry.name, ".") || str_eqz(entry.name, ".."))
            continue;
        if (fstatat(dirfd(dir), e->d_name, &st, 0) != 0)
            continue; /* gone in the meantime, or a link to nowhere */
        entry.name = str_dup(a, entry.name);
        entry.mtime = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
        entry.is_folder = S_ISDIR(st.st_mode);
        if (n == max) {
            closedir(dir);
            return err_set(err, ERR_TOO_LARGE, "more than %zu entries in '%s'", max, path);
        }
        ARENA_PUSH(a, entries, n, cap, entry);
    }
    closedir(dir);
    if (n)
        qsort(entries, n, sizeof *entries, by_name);
    *ret = entries;
    *ret_n = n;
    return true;
}

/* -- locks -- */

struct FileLock {
    int fd;
};

FileLock *lock_take(const char *path, int wait_ms, Err *err)
{
    int64_t until = clock_mono_ms() + wait_ms;
    struct timespec nap = { .tv_nsec = 200 * 1000 };
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    FileLock *lock;

    if (fd < 0) {
        (void)cannot("lock", path, err);
        return NULL;
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || clock_mono_ms() >= until) {
            if (errno == EWOULDBLOCK)
                (void)err_set(err, ERR_BUSY, "'%s' is locked by another process", path);
            else
                (void)err_errno(err, "cannot lock '%s'", path);
            close(fd);
            return NULL;
        }
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < 1000 * 1000)
            nap.tv_nsec *= 2;
    }
    lock = mem_alloc(sizeof *lock);
    lock->fd = fd;
    return lock;
}

FileLock *lock_release(FileLock *lock)
{
    if (lock) {
        close(lock->fd);
        mem_free(lock);
    }
    return NULL;
}

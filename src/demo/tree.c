#include "demo/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { MAX_DEPTH = 64 };

/* -- writing -- */

static bool write_bytes(int fd, Str bytes)
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

static bool set_time(int fd, double time)
{
    struct timespec at = { .tv_sec = (time_t)time,
                           .tv_nsec = (long)((time - (double)(time_t)time) * 1e9) };

    return time <= 0 || futimens(fd, (struct timespec[]){ at, at }) == 0;
}

bool tree_write(Arena *a, Str root, Str path, Str bytes, double time, Err *err)
{
    char *whole = str_z(a, str_join_path(a, root, path)), *slash = strrchr(whole, '/');
    bool ok;
    int fd;

    *slash = '\0';
    if (!folder_make(whole, err))
        return false;
    *slash = '/';
    fd = open(whole, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, "cannot write '%s'", whole);
    ok = write_bytes(fd, bytes) && set_time(fd, time);
    if (!ok)
        (void)err_errno(err, "cannot write '%s'", whole);
    close(fd);
    return ok;
}

/* -- removing -- */

static bool clear_folder(int fd, const char *name, const char *keep, int depth, Err *err);

static bool remove_entry(int fd, const char *name, int depth, Err *err)
{
    int child;

    if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return err_errno(err, "cannot remove '%s'", name);
    child = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (child < 0)
        return err_errno(err, "cannot remove '%s'", name);
    if (!clear_folder(child, name, NULL, depth + 1, err))
        return false;
    if (unlinkat(fd, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
        return err_errno(err, "cannot remove '%s'", name);
    return true;
}

/* Closes fd. */
static bool clear_folder(int fd, const char *name, const char *keep, int depth, Err *err)
{
    DIR *dir = fdopendir(fd);
    struct dirent *e;
    bool ok = true;

    if (!dir) {
        (void)err_errno(err, "cannot read '%s'", name);
        close(fd);
        return false;
    }
    if (depth > MAX_DEPTH)
        ok =
            err_set(err, ERR_TOO_LARGE, "'%s' has more than %d levels of folders", name, MAX_DEPTH);
    while (ok && (e = readdir(dir)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            (!keep || strcmp(e->d_name, keep) != 0))
            ok = remove_entry(dirfd(dir), e->d_name, depth, err);
    closedir(dir);
    return ok;
}

bool tree_clear(const char *root, const char *keep, Err *err)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return true;
    if (fd < 0)
        return err_errno(err, "cannot open '%s'", root);
    return clear_folder(fd, root, keep, 0, err);
}

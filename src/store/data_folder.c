#include "store/data_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"

static bool is_home(const struct stat *folder)
{
    const char *home = getenv("HOME");
    struct stat st;

    return home && stat(home, &st) == 0 && st.st_dev == folder->st_dev &&
           st.st_ino == folder->st_ino;
}

/* Everything of ours is closed itself; only sockets were open once. */
static bool others_may_read(int folder, const char *name)
{
    struct stat st;

    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(st.st_mode) ||
           (!S_ISSOCK(st.st_mode) && (st.st_mode & 044));
}

/* Whether nothing lies there that others may read. */
static bool holds_ours_alone(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    bool alone = dir != NULL;
    struct dirent *e;

    while (alone && (e = readdir(dir)))
        alone = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
                !others_may_read(folder, e->d_name);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return alone;
}

static void close_to_others(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && (st.st_mode & 077) && !(st.st_mode & S_ISVTX) &&
        st.st_uid == geteuid() && !is_home(&st) && holds_ours_alone(fd) && fchmod(fd, 0700) == 0)
        log_note("closed the data folder '%s' to other users (it had mode %04o)", path,
                 st.st_mode & 07777);
    close(fd);
}

bool data_folder_make(Str path, Err *err)
{
    AUTO(Arena) *a = arena_new();
    const char *z = str_z(a, path);

    if (!folder_make(z, err))
        return false;
    close_to_others(z);
    return true;
}

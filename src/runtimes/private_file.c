#include "runtimes/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static bool write_all(int fd, Str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

/* NULL, and errno: not in this folder. */
static char *make_in(Arena *a, Str folder, Str bytes)
{
    char *path = str_z(a, str_join_path(a, folder, STR("talaria-context-XXXXXX")));
    int fd = mkostemp(path, O_CLOEXEC); /* 0600 */
    bool ok = fd >= 0 && write_all(fd, bytes);
    int why = errno;

    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !ok)
        (void)unlink(path);
    errno = why;
    return ok ? path : NULL;
}

bool private_file_make(Arena *a, Str folder, Str bytes, char **ret_path, Err *err)
{
    Str folders[] = { str_of(getenv("XDG_RUNTIME_DIR")), folder, str_of(getenv("TMPDIR")),
                      STR("/tmp") };

    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        char *path = folders[i].n && folders[i].p[0] == '/' ? make_in(a, folders[i], bytes) : NULL;

        if (!path)
            continue;
        *ret_path = path;
        return true;
    }
    return err_errno(err, "cannot write a private file in '%.*s' or '/tmp'", STR_FMT(folder));
}

void private_file_remove(char *path)
{
    if (path)
        (void)unlink(path);
}

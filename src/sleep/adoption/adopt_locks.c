/* Locks are flock on files that stay: the kernel lets go when the holder ends, however it ends, so
 * nothing is left behind that would refuse the next one. Documents are locked in the order of their
 * lock files' names, so that two who want the same pair cannot wait for each other. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sleep/adoption/adopt.h"
#include "sleep/task/names.h"
#include "text/sha256.h"

enum { WAIT_MS = 10000 };

FileLock *adopt_begin(Arena *a, const SleepHome *home, Recovery *ret, Err *err)
{
    FileLock *lock;

    if (!sleep_home_make(home, err))
        return NULL;
    lock = lock_take(str_z(a, str_join_path(a, home->folder, STR("adopt.lock"))), WAIT_MS, err);
    if (lock && !journal_recover_all(a, home, ret, err))
        lock = lock_release(lock);
    return lock;
}

bool adopt_recover(Arena *a, const SleepHome *home, Recovery *ret, Err *err)
{
    FileLock *lock;
    bool ok;

    if (access(str_z(a, home->staging), F_OK) != 0)
        return true;
    lock = lock_take(str_z(a, str_join_path(a, home->folder, STR("adopt.lock"))), 0, err);
    if (!lock)
        /* It is being worked on, or cannot be written to: then there is nothing to repair. */
        return err->kind == ERR_BUSY || err->kind == ERR_READ_ONLY;
    ok = journal_recover_all(a, home, ret, err);
    (void)lock_release(lock);
    return ok;
}

/* -- one a live document, whatever home adopts ---------------------------------------------------- */

struct TargetLocks {
    FileLock **all;
    size_t n;
};

TargetLocks *target_locks_release(TargetLocks *locks)
{
    if (locks) {
        while (locks->n)
            (void)lock_release(locks->all[--locks->n]);
        mem_free(locks->all);
        mem_free(locks);
    }
    return NULL;
}

/* A folder of this user alone: in a place where everybody may write, another could have made it. */
static bool lock_folder(Arena *a, Str *ret, Err *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    Str folder = runtime && runtime[0] == '/'
                     ? str_printf(a, "%s/talaria-adopt", runtime)
                     : str_printf(a, "/tmp/talaria-adopt-%u", (unsigned)getuid());
    char *path = str_z(a, folder);
    struct stat st;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_errno(err, "cannot make folder '%s'", path);
    if (lstat(path, &st) != 0)
        return err_errno(err, "cannot look at '%s'", path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077))
        return err_set(err, ERR_REFUSED, "'%s' is not a folder of yours alone", path);
    *ret = folder;
    return true;
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const Str *)x, *(const Str *)y);
}

TargetLocks *target_locks_take(Arena *a, const Change *changes, size_t n, Err *err)
{
    Str folder, *names = ARENA_ARRAY(a, Str, n + 1);
    AUTO(TargetLocks) *locks = mem_alloc(sizeof *locks);

    if (!lock_folder(a, &folder, err))
        return NULL;
    for (size_t i = 0; i < n; i++)
        names[i] = str_printf(a, "%.*s/%.*s.lock", STR_FMT(folder),
                              STR_FMT(sha256_hex(a, name_key(a, changes[i].live.path))));
    qsort(names, n, sizeof *names, by_text);
    locks->all = mem_alloc((n + 1) * sizeof(FileLock *));
    for (size_t i = 0; i < n; i++) {
        FileLock *lock = lock_take(str_z(a, names[i]), WAIT_MS, err);

        if (!lock)
            return NULL;
        locks->all[locks->n++] = lock;
    }
    return TAKE(locks);
}

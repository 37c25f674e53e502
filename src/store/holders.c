/* /proc/PID/fd says who has a file, also one that was deleted since; /proc/locks says who writes.
 * The places of SQLite's locks are part of its file format: a writer's in rollback mode lies at 1
 * GiB in the database, in WAL mode at byte 120 of the shared memory. */
#include "store/holders.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

enum { WAL_WRITE_BYTE = 120, MAX_HOLDERS = 256 };
#define ROLLBACK_FIRST_BYTE 0x40000000LL /* pending, reserved, 510 shared */

static const Str deleted_mark = STR_INIT(" (deleted)");

/* -- descriptors -- */

static void note_link(Holder *h, Str target, Str database)
{
    bool deleted = str_ends(target, deleted_mark);
    Str name = deleted ? str_head(target, target.n - deleted_mark.n) : target, suffix;

    if (!str_starts(name, database))
        return;
    suffix = str_skip(name, database.n);
    if (!suffix.n && deleted)
        h->deleted = true;
    else if (!suffix.n)
        h->open = true;
    else if ((str_eqz(suffix, "-wal") || str_eqz(suffix, "-shm")) && deleted)
        h->deleted_side = true;
    else if (str_eqz(suffix, "-journal") && !deleted)
        h->journal = true;
}

/* False: this process cannot be looked into. One that ended meanwhile has nothing open. */
static bool read_links(Holder *h, Str database)
{
    char path[64], link[LIMIT_PATH_BYTES];
    struct dirent *e;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%lld/fd", (long long)h->pid);
    folder = opendir(path);
    if (!folder)
        return access(path, F_OK) != 0;
    while ((e = readdir(folder))) {
        ssize_t n = readlinkat(dirfd(folder), e->d_name, link, sizeof link);

        if (n > 0)
            note_link(h, (Str){ link, (size_t)n }, database);
    }
    closedir(folder);
    return true;
}

static Str name_of(Arena *a, int64_t pid)
{
    char path[64], name[64] = "";
    FILE *f;

    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)pid);
    f = fopen(path, "re");
    if (f) {
        if (!fgets(name, sizeof name, f))
            name[0] = 0;
        fclose(f);
    }
    return str_dup(a, str_trim(str_of(name)));
}

/* -- locks -- */

typedef struct LockLine {
    bool writes;
    int64_t pid;
    uint64_t inode;
    int64_t start;
} LockLine;

static Str next_word(Str *rest)
{
    Str word = STR("");

    while (!word.n && str_split(rest, ' ', &word))
        ;
    return word;
}

/* "3: POSIX  ADVISORY  WRITE 1234 fd:01:5678 1073741825 1073741825"; what waits has "->". */
static bool read_lock(Str line, LockLine *ret)
{
    Str number = next_word(&line), kind = next_word(&line), how, pid, file, start, part;
    int64_t inode;

    (void)number;
    (void)next_word(&line); /* advisory or not */
    how = next_word(&line);
    pid = next_word(&line);
    file = next_word(&line);
    start = next_word(&line);
    while (str_split(&file, ':', &part))
        ; /* the last part is the inode */
    if (!str_eqz(kind, "POSIX") || !str_to_int(pid, 1, INT32_MAX, &ret->pid) ||
        !str_to_int(part, 0, INT64_MAX, &inode) || !str_to_int(start, 0, INT64_MAX, &ret->start))
        return false;
    ret->writes = str_eqz(how, "WRITE");
    ret->inode = (uint64_t)inode;
    return true;
}

static uint64_t inode_of(Arena *a, Str database, const char *suffix)
{
    struct stat st;

    return stat(str_printf(a, "%.*s%s", STR_FMT(database), suffix).p, &st) == 0 ? st.st_ino : 0;
}

/* A lock counts for a process that is known to have the file: numbers of inodes alone can
 * repeat. */
static void read_locks(Arena *a, Str database, Holders *all)
{
    uint64_t file = inode_of(a, database, ""), shared = inode_of(a, database, "-shm");
    FILE *f = fopen("/proc/locks", "re");
    char line[256];
    LockLine lock;

    while (f && fgets(line, sizeof line, f)) {
        if (!read_lock(str_trim(str_of(line)), &lock) || !lock.writes ||
            !((lock.inode == file && lock.start >= ROLLBACK_FIRST_BYTE) ||
              (lock.inode == shared && lock.start == WAL_WRITE_BYTE)))
            continue;
        for (size_t i = 0; i < all->n; i++)
            if (all->all[i].pid == lock.pid && all->all[i].open)
                all->all[i].writes = true;
    }
    if (f)
        fclose(f);
}

/* -- everybody -- */

/* As /proc names it: without symbolic links. */
static Str real_path(Arena *a, Str path)
{
    char resolved[PATH_MAX];

    return realpath(str_z(a, path), resolved) ? str_dup(a, str_of(resolved)) : path;
}

void holders_find(Arena *a, Str database, Holders *ret)
{
    DIR *folder = opendir("/proc");
    Holders all = { 0 };
    struct dirent *e;
    size_t cap = 0;

    database = real_path(a, database);
    while (folder && (e = readdir(folder)) && all.n < MAX_HOLDERS) {
        Holder h = { 0 };

        if (!str_to_int(str_of(e->d_name), 1, INT32_MAX, &h.pid) || h.pid == getpid())
            continue;
        if (!read_links(&h, database)) {
            all.hidden++;
        } else if (h.open || h.deleted || h.deleted_side) {
            h.name = name_of(a, h.pid);
            ARENA_PUSH(a, all.all, all.n, cap, h);
        }
    }
    if (folder)
        closedir(folder);
    read_locks(a, database, &all);
    *ret = all;
}

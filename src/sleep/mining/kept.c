/* A line of fixed length with the key's hash and the length of each part, then the parts. The line
 * is written last: a file without it is none. Nothing is verified beyond that and the file's size,
 * since it is synced before it gets its name. */
#include "sleep/mining/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "sleep/mining/mined.h"
#include "sleep/task/places.h"
#include "text/sha256.h"

enum {
    LENGTH_DIGITS = 12,
    HEAD_BYTES = SHA256_HEX + KEPT_PARTS * (1 + LENGTH_DIGITS) + 1, /* with a line end */
    COPY_BYTES = 64 << 10
};

/* Another program may print something else. */
static Str program_mark(Arena *a)
{
    struct stat st;

    if (stat("/proc/self/exe", &st) != 0)
        return STR("unknown");
    return str_printf(a, "%lld.%lld.%lld.%lld", (long long)st.st_size, (long long)st.st_ino,
                      (long long)st.st_mtim.tv_sec, (long long)st.st_mtim.tv_nsec);
}

Str kept_key(Arena *a, const HarvestQuery *q, const MineOptions *mine, Stamp stamp, Str options)
{
    const CatalogueQuery *from = &q->sources;
    Str what = str_printf(
        a, "%.*s %d%d%d %.17g %.17g %zu %.*s", STR_FMT(program_mark(a)), from->hermes, from->claude,
        from->codex, q->since, q->until, q->max,
        STR_FMT(mined_key(a, (Str){ (const char *)&stamp, sizeof stamp }, q->max, mine)));

    return sha256_hex(a, str_printf(a, "%.*s\n%.*s\n%.*s\n%.*s\n%.*s", STR_FMT(what),
                                    STR_FMT(from->roots.claude), STR_FMT(from->roots.codex),
                                    STR_FMT(q->project), STR_FMT(options)));
}

static char *path_of(Arena *a, Str data, const char *name)
{
    return str_z(a, str_join_path(a, sleep_home(a, data).folder, str_of(name)));
}

/* -- Using it -- */

bool kept_is_there(Arena *a, Str data)
{
    return access(path_of(a, data, "harvest.kept"), R_OK) == 0;
}

static bool read_head(int fd, Str key, Kept *ret)
{
    char head[HEAD_BYTES];
    struct stat st;
    Str lengths, one;
    int64_t at = HEAD_BYTES;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        pread(fd, head, sizeof head, 0) != sizeof head || head[HEAD_BYTES - 1] != '\n' ||
        !str_eq((Str){ head, SHA256_HEX }, key))
        return false;
    lengths = (Str){ head + SHA256_HEX + 1, HEAD_BYTES - SHA256_HEX - 2 };
    for (int i = 0; i < KEPT_PARTS; i++) {
        if (!str_split(&lengths, ' ', &one) || !str_to_int(one, 0, LIMIT_SLEEP_KEPT, &ret->n[i]))
            return false;
        ret->at[i] = at;
        at += ret->n[i];
    }
    return at == st.st_size;
}

bool kept_open(Arena *a, Str data, Str key, Kept *ret)
{
    int fd = open(path_of(a, data, "harvest.kept"), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    *ret = (Kept){ .fd = fd };
    if (fd >= 0 && read_head(fd, key, ret))
        return true;
    kept_close(ret);
    return false;
}

void kept_close(Kept *k)
{
    if (k->fd >= 0)
        close(k->fd);
    k->fd = -1;
}

static bool put_all(int to, Str bytes)
{
    while (bytes.n) {
        ssize_t put = write(to, bytes.p, bytes.n);

        if (put < 0 && errno != EINTR)
            return false;
        bytes = str_skip(bytes, put < 0 ? 0 : (size_t)put);
    }
    return true;
}

/* For files that the kernel does not copy to, such as those that are open for appending. */
static ssize_t copy_some(const Kept *k, int to, int64_t at, size_t max)
{
    char some[COPY_BYTES];
    ssize_t n = pread(k->fd, some, max < sizeof some ? max : sizeof some, at);

    return n <= 0 || put_all(to, (Str){ some, (size_t)n }) ? n : -1;
}

bool kept_copy(const Kept *k, KeptPart part, int to, Err *err)
{
    off_t at = k->at[part];
    int64_t end = at + k->n[part];
    bool by_kernel = true;

    while (at < end) {
        off_t from = at;
        ssize_t n = by_kernel ? sendfile(to, k->fd, &from, (size_t)(end - at))
                              : copy_some(k, to, at, (size_t)(end - at));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && by_kernel && (errno == EINVAL || errno == ENOSYS)) {
            by_kernel = false;
            continue;
        }
        if (n < 0 && errno == EPIPE)
            return true; /* the reader has left */
        if (n < 0)
            return err_errno(err, "cannot write the output");
        if (n == 0)
            return err_set(err, ERR_IO, "the cached harvest is cut off");
        at += n;
    }
    return true;
}

bool kept_read(const Kept *k, Arena *a, KeptPart part, Str *ret, Err *err)
{
    size_t n = (size_t)k->n[part], have = 0;
    char *bytes = arena_alloc(a, n + 1);

    while (have < n) {
        ssize_t got = pread(k->fd, bytes + have, n - have, k->at[part] + (int64_t)have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return err_errno(err, "cannot read the cached harvest");
        have += (size_t)got;
    }
    *ret = (Str){ bytes, n };
    return true;
}

/* -- Making it -- */

struct KeptWriter {
    FileLock *lock;
    int fd;
    char *path, *beside;
    Str key;
    int64_t n[KEPT_PARTS], total;
    bool failed;
};

KeptWriter *kept_begin(Arena *a, Str data, Str key)
{
    KeptWriter *w = ARENA_NEW(a, KeptWriter);
    SleepHome home = sleep_home(a, data);
    Err why;

    *w = (KeptWriter){ .path = path_of(a, data, "harvest.kept"),
                       .beside = path_of(a, data, "harvest.new"),
                       .key = key };
    if (!sleep_home_make(&home, &why) ||
        !(w->lock = lock_take(path_of(a, data, "harvest.lock"), 0, &why))) {
        log_debug("cannot cache the harvest: %s", why.text);
        return NULL;
    }
    w->fd = open(w->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    w->failed = w->fd < 0 || lseek(w->fd, HEAD_BYTES, SEEK_SET) < 0;
    return w;
}

void kept_add(KeptWriter *w, KeptPart part, Str bytes)
{
    w->n[part] += (int64_t)bytes.n;
    w->total += (int64_t)bytes.n;
    if (!w->failed)
        w->failed = w->total > LIMIT_SLEEP_KEPT || !put_all(w->fd, bytes);
}

void kept_end(KeptWriter *w, bool whole)
{
    char head[HEAD_BYTES + 1];
    bool good = whole && !w->failed;

    snprintf(head, sizeof head, "%.*s %0*lld %0*lld\n", STR_FMT(w->key), LENGTH_DIGITS,
             (long long)w->n[KEPT_PRINTED], LENGTH_DIGITS, (long long)w->n[KEPT_TASKS]);
    good = good && pwrite(w->fd, head, HEAD_BYTES, 0) == HEAD_BYTES && fdatasync(w->fd) == 0;
    if (w->fd >= 0)
        close(w->fd);
    if (!good || rename(w->beside, w->path) != 0)
        (void)unlink(w->beside);
    lock_release(w->lock);
}

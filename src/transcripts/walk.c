/* A walk costs one stat per file, on every run, and little else: so folders are listed with large
 * buffers and nothing is asked twice. All of it is time in the kernel that two cores halve: folders
 * lie on a stack, and whoever is idle takes the next one. */
#include "transcripts/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "transcripts/line.h"

enum {
    DEPTH_MOST = 16,
    WALKERS_MOST = 4,
    WORTH_HELP = 8,      /* folders that wait before another thread is begun */
    FIRST_ROOM = 1024,   /* files */
    LISTING = 128 << 10, /* bytes of names at once */
};

typedef struct Folder {
    const char *path;
    size_t n;
    uint64_t hash;   /* of its path */
    int root, depth; /* depth: how many levels below it are still walked */
} Folder;

typedef struct Walk Walk;

typedef struct Walker {
    Walk *walk;
    pthread_t thread;
    Arena *arena;
    char *listing;
    WalkedFile *files; /* NULL: only their stamp is wanted */
    size_t n, cap;
    Stamp stamp;
    size_t next; /* when the walkers' files become one list */
} Walker;

struct Walk {
    const WalkRoot *roots;
    bool listed;          /* the files themselves are wanted */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    Folder *waiting;
    size_t n_waiting, cap;
    size_t busy; /* walkers that may still find folders */
    size_t n_files;
    bool too_many;
    Walker walkers[WALKERS_MOST];
    size_t n_walkers, max;
};

static void *work(void *ctx);

/* -- folders that wait -- */

static void begin_walker(Walk *w)
{
    Walker *x = &w->walkers[w->n_walkers];

    *x = (Walker){ .walk = w };
    w->busy++;
    if (pthread_create(&x->thread, NULL, work, x) == 0) {
        w->n_walkers++;
    } else {
        w->busy--;
        w->max = w->n_walkers; /* then without more of them */
    }
}

static void put_folder(Walk *w, Folder f)
{
    pthread_mutex_lock(&w->lock);
    if (w->n_waiting == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 256;
        w->waiting = mem_resize(w->waiting, w->cap, sizeof *w->waiting);
    }
    w->waiting[w->n_waiting++] = f;
    if (w->n_waiting > WORTH_HELP && w->n_walkers < w->max && !w->too_many)
        begin_walker(w);
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* False: all has been listed, or there is too much of it. */
static bool take_folder(Walk *w, Folder *ret)
{
    bool found;

    pthread_mutex_lock(&w->lock);
    w->busy--;
    while (!w->n_waiting && w->busy && !w->too_many)
        pthread_cond_wait(&w->changed, &w->lock);
    found = w->n_waiting && !w->too_many;
    if (found) {
        *ret = w->waiting[--w->n_waiting];
        w->busy++;
    } else {
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}

static bool count_files(Walk *w, size_t n)
{
    bool ok;

    pthread_mutex_lock(&w->lock);
    w->n_files += n;
    w->too_many |= w->n_files > LIMIT_TRANSCRIPT_FILES;
    ok = !w->too_many;
    pthread_mutex_unlock(&w->lock);
    return ok;
}

/* -- one folder -- */

/* With a NUL behind it, which does not count. */
static char *join(Arena *a, const Folder *f, Str name)
{
    char *path = arena_alloc(a, f->n + name.n + 2);

    memcpy(path, f->path, f->n);
    path[f->n] = '/';
    memcpy(path + f->n + 1, name.p, name.n);
    return path;
}

static uint64_t hash_of(const Folder *f, Str name, const WalkedFile *file)
{
    uint64_t hash = hash_number(hash_text(f->hash, name), (uint64_t)file->size);

    return hash_number(hash_number(hash, (uint64_t)file->mtime_ns), file->inode);
}

static void add_file(Walker *x, int fd, const Folder *f, Str name)
{
    WalkedFile file = { .name = f->n + 1, .root = f->root };
    struct stat st;

    if (fstatat(fd, name.p, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return;
    file.size = st.st_size;
    file.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    file.inode = st.st_ino;
    stamp_add(&x->stamp, hash_of(f, name, &file));
    if (!x->walk->listed) {
        x->n++;
        return;
    }
    file.path = (Str){ join(x->arena, f, name), f->n + 1 + name.n };
    ARENA_PUSH(x->arena, x->files, x->n, x->cap, file);
}

static bool is_wanted(const WalkRoot *root, Str name)
{
    Str suffix = root->packed.n && str_ends(name, root->packed) ? root->packed : root->suffix;

    return name.n > root->prefix.n + suffix.n && str_starts(name, root->prefix) &&
           str_ends(name, suffix);
}

static void walk_entry(Walker *x, int fd, const Folder *f, const struct dirent64 *entry)
{
    Str name = str_of(entry->d_name);
    struct stat st;
    bool folder = entry->d_type == DT_DIR;

    if (entry->d_type == DT_LNK || str_eqz(name, ".") || str_eqz(name, ".."))
        return;
    if (entry->d_type == DT_UNKNOWN)
        folder = fstatat(fd, name.p, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    if (folder && f->depth > 0)
        put_folder(x->walk, (Folder){ .path = join(x->arena, f, name),
                                      .n = f->n + 1 + name.n,
                                      .hash = hash_text(f->hash, name),
                                      .root = f->root,
                                      .depth = f->depth - 1 });
    else if (!folder && is_wanted(&x->walk->roots[f->root], name))
        add_file(x, fd, f, name);
}

static ssize_t list_some(Walker *x, int fd, const Folder *f)
{
    ssize_t n = fd < 0 ? -1 : getdents64(fd, x->listing, LISTING);

    if (n < 0 && errno != ENOENT)
        log_warning("'%s' is left out: %s", f->path, strerror(errno));
    return n;
}

static void walk_folder(Walker *x, const Folder *f)
{
    int follow = f->depth == DEPTH_MOST ? 0 : O_NOFOLLOW;
    int fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
    bool ok = true;
    ssize_t n;

    while (ok && (n = list_some(x, fd, f)) > 0) {
        size_t before = x->n;

        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(x->listing + at);

            walk_entry(x, fd, f, entry);
            at += entry->d_reclen;
        }
        ok = count_files(x->walk, x->n - before);
    }
    if (fd >= 0)
        close(fd);
}

/* -- all of them -- */

static int by_path(const void *left, const void *right)
{
    return str_cmp(((const WalkedFile *)left)->path, ((const WalkedFile *)right)->path);
}

static void *work(void *ctx)
{
    Walker *x = ctx;
    Folder f;

    x->arena = arena_new();
    x->listing = mem_alloc(LISTING);
    if (x->walk->listed) {
        x->cap = FIRST_ROOM;
        x->files = ARENA_ARRAY(x->arena, WalkedFile, x->cap);
    }
    while (take_folder(x->walk, &f))
        walk_folder(x, &f);
    mem_free(x->listing);
    if (x->files)
        qsort(x->files, x->n, sizeof *x->files, by_path);
    return NULL;
}

static Walker *walker_with_first(Walk *w)
{
    Walker *first = NULL;

    for (size_t i = 0; i < w->n_walkers; i++) {
        Walker *x = &w->walkers[i];

        if (x->next < x->n &&
            (!first || str_cmp(x->files[x->next].path, first->files[first->next].path) < 0))
            first = x;
    }
    return first;
}

static void merge(Walk *w, Arena *a, WalkedFile **ret, size_t *ret_n)
{
    WalkedFile *all = ARENA_ARRAY(a, WalkedFile, w->n_files + 1);
    size_t n = 0;
    Walker *x;

    for (; (x = walker_with_first(w)); n++) {
        all[n] = x->files[x->next++];
        all[n].path = str_dup(a, all[n].path);
    }
    *ret = all;
    *ret_n = n;
}

static size_t cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > WALKERS_MOST ? WALKERS_MOST : (size_t)n;
}

bool walk_files(Arena *a, const WalkRoot *roots, size_t n_roots, WalkedFile **ret, size_t *ret_n,
                Stamp *ret_stamp, Err *err)
{
    Walk w = { .roots = roots,
               .listed = ret != NULL,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .changed = PTHREAD_COND_INITIALIZER,
               .busy = 1,
               .n_walkers = 1,
               .max = cores() };

    w.walkers[0].walk = &w;
    for (size_t i = 0; i < n_roots; i++)
        put_folder(&w, (Folder){ .path = str_z(a, roots[i].path),
                                 .n = roots[i].path.n,
                                 .hash = hash_text(0, roots[i].path),
                                 .root = (int)i,
                                 .depth = DEPTH_MOST });
    (void)work(&w.walkers[0]);
    /* Nobody is begun any more: there is nothing that waits, and nobody who finds something. */
    for (size_t i = 1; i < w.n_walkers; i++)
        pthread_join(w.walkers[i].thread, NULL);
    if (!w.too_many && ret)
        merge(&w, a, ret, ret_n);
    *ret_stamp = (Stamp){ 1, 1 };
    for (size_t i = 0; i < w.n_walkers; i++) {
        stamp_join(ret_stamp, w.walkers[i].stamp);
        arena_free(w.walkers[i].arena);
    }
    mem_free(w.waiting);
    return !w.too_many ||
           err_set(err, ERR_TOO_LARGE, "more than %d transcripts", LIMIT_TRANSCRIPT_FILES);
}

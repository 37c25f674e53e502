#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "demo/demo.h"
#include "demo/shift.h"
#include "store/recorded.h"
#include "text/json.h"

/* First written and last removed; last written and first removed (demo.h). */
#define OURS     ".talaria-demo"
#define COMPLETE "demo.json"
/* What OURS says if the data folder did not exist before: removal takes that away too. */
#define NEW_DATA_FOLDER "the data folder was created with the demo\n"

static const char *below(Arena *a, Str folder, const char *name)
{
    return str_z(a, str_join_path(a, folder, str_of(name)));
}

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

/* A new file with its folders below `root`; its time of change becomes `time` unless that is 0. Not
 * synced: the demo can be made again. Never through a symbolic link. */
static bool tree_write(Arena *a, Str root, Str path, Str bytes, double time, Err *err)
{
    char *whole = str_z(a, str_join_path(a, root, path)), *slash = strrchr(whole, '/');
    struct timespec at = { .tv_sec = (time_t)time,
                           .tv_nsec = (long)((time - (double)(time_t)time) * 1e9) };
    bool ok;
    int fd;

    *slash = '\0';
    if (!folder_make(whole, err))
        return false;
    *slash = '/';
    fd = open(whole, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, "cannot write '%s'", whole);
    ok = write_bytes(fd, bytes) && (time <= 0 || futimens(fd, (struct timespec[]){ at, at }) == 0);
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

/* Removes everything below the folder but `keep` (a name directly in it), which may be NULL. A link
 * is removed, not followed. */
static bool tree_clear(const char *root, const char *keep, Err *err)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return true;
    if (fd < 0)
        return err_errno(err, "cannot open '%s'", root);
    return clear_folder(fd, root, keep, 0, err);
}

/* -- the folder -- */

typedef enum FolderState {
    FOLDER_NONE,
    FOLDER_FOREIGN,
    FOLDER_PARTIAL,
    FOLDER_COMPLETE
} FolderState;

static bool is_empty(Arena *a, const char *path)
{
    FileEntry *entries;
    size_t n;
    Err err;

    return folder_list(a, path, 1, &entries, &n, &err) && n == 0;
}

static FolderState look_at(Arena *a, Str root)
{
    const char *path = str_z(a, root);
    struct stat st;

    if (lstat(path, &st) != 0)
        return FOLDER_NONE;
    if (!S_ISDIR(st.st_mode))
        return FOLDER_FOREIGN;
    if (lstat(below(a, root, OURS), &st) != 0)
        return is_empty(a, path) ? FOLDER_PARTIAL : FOLDER_FOREIGN;
    return lstat(below(a, root, COMPLETE), &st) == 0 ? FOLDER_COMPLETE : FOLDER_PARTIAL;
}

static bool refuse_foreign(Str root, Err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "'%.*s' was not created by 'talaria demo'; move it away, or give another --data",
                   STR_FMT(root));
}

/* Making and removing take several steps, so one process at a time. The kernel releases the lock
 * when the process dies; it is on the folder itself, so that no lock file stays behind. */
static int lock_folder(Arena *a, Str folder, Err *err)
{
    int fd = open(str_z(a, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        return fd;
    (void)err_errno(err, "cannot lock '%.*s'", STR_FMT(folder));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* -- what is recorded -- */

static bool read_report(Recording *r, DemoReport *report, Err *err)
{
    double latest;
    Str text = demo_shifted(r, demo_recorded(r->files, r->n, COMPLETE), &latest, err);
    AUTO(JsonDoc) *doc = text.n ? json_parse(text, err) : NULL;

    if (!doc)
        return false;
#define X(name) (void)json_int(json_get(json_root(doc), STR(#name)), &report->name);
    DEMO_COUNTS(X)
#undef X
    (void)json_double(json_get(json_root(doc), STR("oldest")), &report->oldest);
    (void)json_double(json_get(json_root(doc), STR("newest")), &report->newest);
    return true;
}

static bool fill_database(Recording *r, Str root, Str path, Str rows, Err *err)
{
    Str name = str_head(path, path.n - strlen(".rows.jsonl"));
    Str schema = demo_recorded(r->files, r->n,
                               str_z(r->arena, str_printf(r->arena, "%.*s.sql", STR_FMT(name))));
    const char *file = below(r->arena, root, str_z(r->arena, name));

    if (!schema.p)
        return recorded_fill_own(str_join_path(r->arena, root, STR("data")), rows, err);
    return folder_make(below(r->arena, root, "hermes"), err) &&
           recorded_fill_new(file, str_z(r->arena, schema), rows, err);
}

static bool make_file(Recording *r, Str root, const RecordedFile *f, Err *err)
{
    double latest = 0;
    Str text, path = f->path;

    if (str_ends(path, STR(".db.sql")) || str_eqz(path, COMPLETE))
        return true;
    text = demo_shifted(r, f->text, &latest, err);
    if (!text.p || !demo_take_path(r, &text, &path, err))
        return false;
    if (str_ends(path, STR(".rows.jsonl")))
        return fill_database(r, root, path, text, err);
    return tree_write(r->arena, root, path, text, latest, err);
}

/* -- making -- */

static bool make_all(Recording *r, const DemoFolders *f, bool new_folder, Err *err)
{
    double latest;
    Str complete;

    if (!tree_write(r->arena, f->root, STR(OURS), new_folder ? STR(NEW_DATA_FOLDER) : STR(""), 0,
                    err))
        return false;
    for (size_t i = 0; i < r->n; i++)
        if (!make_file(r, f->root, &r->files[i], err))
            return false;
    if (!folder_make(str_z(r->arena, f->config), err))
        return false;
    complete = demo_shifted(r, demo_recorded(r->files, r->n, COMPLETE), &latest, err);
    return complete.p && file_write_atomic(below(r->arena, f->root, COMPLETE), complete, err);
}

/* The folder `root` with all that is in it; OURS last, so that what is left is always known as
 * ours. */
static bool remove_folder(Arena *a, Str root, bool *ret_new_folder, Err *err)
{
    const char *path = str_z(a, root);
    Str note = STR("");
    Err unread;

    if (!file_read(a, below(a, root, OURS), 100, &note, &unread))
        note = STR("");
    *ret_new_folder = str_eqz(note, NEW_DATA_FOLDER);
    if (unlink(below(a, root, COMPLETE)) != 0 && errno != ENOENT)
        return err_errno(err, "cannot remove '%.*s'", STR_FMT(root));
    if (!tree_clear(path, OURS, err) || !tree_clear(path, NULL, err))
        return false;
    if (rmdir(path) != 0 && errno != ENOENT)
        return err_errno(err, "cannot remove '%s'", path);
    return true;
}

static bool make_locked(Recording *r, Str data_folder, const DemoOptions *options, bool new_folder,
                        DemoReport *report, Err *err)
{
    DemoFolders f = demo_folders(r->arena, data_folder);
    FolderState state = look_at(r->arena, f.root);
    bool was_new = false;

    if (state == FOLDER_FOREIGN)
        return refuse_foreign(f.root, err);
    if (state == FOLDER_COMPLETE && !options->force) {
        report->already = true;
        return true;
    }
    if (options->dry_run)
        return true;
    if (state != FOLDER_NONE && !remove_folder(r->arena, f.root, &was_new, err))
        return false;
    return make_all(r, &f, new_folder || was_new, err);
}

bool demo_make(Arena *a, Str data_folder, const DemoOptions *options, DemoReport *ret, Err *err)
{
    Recording r = { .arena = a, .now = floor(options->now) };
    struct stat st;
    bool is_new = stat(str_z(a, data_folder), &st) != 0, ok;
    int lock = -1;

    *ret = (DemoReport){ 0 };
    r.root = demo_folders(a, data_folder).root;
    if (!demo_unpack(a, &r.files, &r.n, err) || !read_report(&r, ret, err))
        return false;
    if (is_new && options->dry_run)
        return true;
    if (!options->dry_run) {
        if (!folder_make(str_z(a, data_folder), err))
            return false;
        lock = lock_folder(a, data_folder, err);
        if (lock < 0)
            return false;
    }
    ok = make_locked(&r, data_folder, options, is_new, ret, err);
    if (lock >= 0)
        close(lock);
    return ok;
}

/* -- removing -- */

static bool remove_locked(Arena *a, Str data_folder, bool dry_run, DemoReport *report, Err *err)
{
    DemoFolders f = demo_folders(a, data_folder);
    FolderState state = look_at(a, f.root);
    bool new_folder = false;

    if (state == FOLDER_FOREIGN)
        return refuse_foreign(f.root, err);
    report->removed = state != FOLDER_NONE;
    if (state != FOLDER_NONE && !dry_run && !remove_folder(a, f.root, &new_folder, err))
        return false;
    if (new_folder)
        (void)rmdir(str_z(a, data_folder)); /* stays if something else is in it by now */
    return demo_remove_old(a, data_folder, dry_run, report, err);
}

bool demo_remove(Arena *a, Str data_folder, bool dry_run, DemoReport *ret, Err *err)
{
    struct stat st;
    bool ok;
    int lock;

    *ret = (DemoReport){ 0 };
    if (stat(str_z(a, data_folder), &st) != 0)
        return true;
    lock = lock_folder(a, data_folder, err);
    if (lock < 0)
        return false;
    ok = remove_locked(a, data_folder, dry_run, ret, err);
    close(lock);
    return ok;
}

/* The folder: what is in it, and how that is changed. Files are opened beneath their folder: a link
 * or an odd name in there leads nowhere else. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "templates/template.h"

enum { LOCK_WAIT_MS = 10000, TOLD_BYTES = 128 };

static const Str folder_name = STR_INIT("session-templates");
static const Str suffix = STR_INIT(".json");

/* -- names of files -- */

/* What the name of a file may look like for us to open it. Wider than what we write, since files
 * of other tools must load; the folder itself is never left either way. */
static bool is_file_name(Str name)
{
    return name.n > 0 && name.n + suffix.n <= 255 && name.p[0] != '.' &&
           !memchr(name.p, '/', name.n) && !memchr(name.p, '\0', name.n);
}

static Str folder_of_home(Arena *a, const Home *home)
{
    return str_join_path(a, home->path, folder_name);
}

static Str folder_of_file(Str path)
{
    while (path.n && path.p[path.n - 1] != '/')
        path.n--;
    return str_head(path, path.n ? path.n - 1 : 0);
}

static Str stem_of_file(Str path)
{
    Str name = str_skip(path, folder_of_file(path).n + 1);

    return str_head(name, name.n - suffix.n);
}

/* -- reading -- */

/* The open folder, or -1. A home without one has no templates: *ret_none. */
static int open_folder(Arena *a, Str folder, bool *ret_none, Err *err)
{
    int fd = open(str_z(a, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *ret_none = fd < 0 && errno == ENOENT;
    if (fd >= 0 || *ret_none)
        return fd;
    if (errno == ENOTDIR)
        (void)err_set(err, ERR_CONFLICT, "'%.*s' is a file, not a folder; move it out of the way",
                      STR_FMT(folder));
    else
        (void)err_errno(err, "cannot open '%.*s'", STR_FMT(folder));
    return -1;
}

/* O_NONBLOCK, since somebody's pipe in the folder must not hold us up. */
static bool read_file(Arena *a, int folder_fd, Str folder, Str file, Template *ret, Err *err)
{
    char *name = str_z(a, file);
    int fd = file_open_beneath(folder_fd, name, O_RDONLY | O_NONBLOCK, err);
    struct stat st;
    Template t;
    Str bytes;
    bool ok;

    if (fd < 0)
        return false;
    ok = fstat(fd, &st) == 0 ? S_ISREG(st.st_mode) || err_set(err, ERR_INVALID, "not a file")
                             : err_errno(err, "cannot read it");
    ok = ok && file_read_fd(a, fd, name, LIMIT_TEMPLATE_BYTES, &bytes, err) &&
         template_parse(a, bytes, str_head(file, file.n - suffix.n),
                        (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9, &t, err);
    close(fd);
    if (!ok)
        return false;
    t.path = str_join_path(a, folder, file);
    *ret = t;
    return true;
}

static void warn_of_name(const Template *t)
{
    if (!str_eq(t->name, t->name_in_file))
        log_warning("template file '%.*s' says that its name is '%.*s': the file's name counts",
                    STR_FMT(t->path), STR_FMT(str_head(t->name_in_file, TOLD_BYTES)));
}

typedef struct Shelf {
    Template *all;
    size_t n, cap;
} Shelf;

static bool shelf_has(const Shelf *shelf, size_t n, Str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(shelf->all[i].name, name))
            return true;
    return false;
}

static bool load_folder(Arena *a, Str folder, Shelf *shelf, Err *err)
{
    size_t n, of_homes_before = shelf->n;
    FileEntry *entries;
    bool none;
    int fd = open_folder(a, folder, &none, err);

    if (fd < 0)
        return none;
    if (!folder_list(a, str_z(a, folder), LIMIT_TEMPLATES, &entries, &n, err)) {
        close(fd);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        Str file = entries[i].name, stem = str_head(file, file.n - suffix.n);
        Template t;
        Err why;

        if (entries[i].is_folder || !str_ends(file, suffix) || !is_file_name(stem) ||
            shelf_has(shelf, of_homes_before, stem))
            continue;
        if (!read_file(a, fd, folder, file, &t, &why)) {
            log_warning("template file '%.*s/%.*s' is skipped: %s", STR_FMT(folder), STR_FMT(file),
                        why.text);
            continue;
        }
        warn_of_name(&t);
        ARENA_PUSH(a, shelf->all, shelf->n, shelf->cap, t);
    }
    close(fd);
    return true;
}

static int newest_first(const void *left, const void *right)
{
    const Template *a = left, *b = right;

    if (a->created_at != b->created_at)
        return a->created_at > b->created_at ? -1 : 1;
    return str_cmp(a->name, b->name);
}

bool templates_load(Arena *a, const Homes *homes, Template **ret, size_t *ret_n, Err *err)
{
    Shelf shelf = { 0 };

    for (size_t i = 0; i < homes->n; i++)
        if (!load_folder(a, folder_of_home(a, &homes->all[i]), &shelf, err))
            return false;
    if (shelf.n)
        qsort(shelf.all, shelf.n, sizeof *shelf.all, newest_first);
    *ret = shelf.all;
    *ret_n = shelf.n;
    return true;
}

static bool not_found(Str name, Err *err)
{
    return err_set(err, ERR_NOT_FOUND, "Template not found: %.*s", STR_FMT(str_head(name, 400)));
}

/* The first home whose folder has the file; its path. */
static bool locate(Arena *a, const Homes *homes, Str name, Str *ret, Err *err)
{
    if (!is_file_name(name))
        return template_name_check(name, err) ? not_found(name, err) : false;
    for (size_t i = 0; i < homes->n; i++) {
        Str folder = folder_of_home(a, &homes->all[i]);
        Str path = str_printf(a, "%.*s/%.*s.json", STR_FMT(folder), STR_FMT(name));
        struct stat st;
        bool none;
        int fd = open_folder(a, folder, &none, err);

        if (fd < 0 && !none)
            return false;
        if (fd >= 0)
            close(fd);
        if (fd >= 0 && lstat(str_z(a, path), &st) == 0 && !S_ISDIR(st.st_mode)) {
            *ret = path;
            return true;
        }
    }
    return not_found(name, err);
}

static bool read_path(Arena *a, Str path, Template *ret, Err *err)
{
    Str folder = folder_of_file(path), file = str_skip(path, folder.n + 1);
    bool none, ok;
    int fd = open_folder(a, folder, &none, err);

    if (fd < 0)
        return none ? not_found(stem_of_file(path), err) : false;
    ok = read_file(a, fd, folder, file, ret, err);
    close(fd);
    if (!ok && err->kind == ERR_NOT_FOUND)
        return not_found(stem_of_file(path), err);
    return ok || err_wrap(err, "template file '%.*s'", STR_FMT(path));
}

bool template_find(Arena *a, const Homes *homes, Str name, Template *ret, Err *err)
{
    Str path;

    if (!locate(a, homes, name, &path, err) || !read_path(a, path, ret, err))
        return false;
    warn_of_name(ret);
    return true;
}

bool template_exists(Arena *a, const Homes *homes, Str name)
{
    Str path;
    Err none;

    return locate(a, homes, name, &path, &none);
}

/* -- changing -- */

static FileLock *lock_folder(Arena *a, Str folder, Err *err)
{
    Str path = str_join_path(a, folder, STR(".lock"));
    FileLock *lock = lock_take(str_z(a, path), LOCK_WAIT_MS, err);

    if (!lock)
        (void)err_wrap(err, "cannot change templates");
    return lock;
}

static bool write_path(Arena *a, const Template *t, Str path, Err *err)
{
    AUTO_BUF bytes = BUF(LIMIT_TEMPLATE_BYTES);

    template_write(t, &bytes);
    if (buf_full(&bytes))
        return err_set(err, ERR_TOO_LARGE, "template '%.*s' would be larger than %zu bytes",
                       STR_FMT(t->name), (size_t)LIMIT_TEMPLATE_BYTES);
    return file_write_atomic(str_z(a, path), buf_str(&bytes), err);
}

/* Nothing is ever written into another program's folder. */
static const Home *home_for(const Homes *homes, const Template *t)
{
    for (size_t i = 0; t->transcript && i < homes->n; i++)
        if (homes->all[i].kind == HOME_OURS)
            return &homes->all[i];
    return homes->primary;
}

bool template_save(Arena *a, const Homes *homes, Template *t, bool force, Err *err)
{
    Str folder = folder_of_home(a, home_for(homes, t));
    AUTO(FileLock) *lock = NULL;

    if (!template_name_check(t->name, err) || !folder_make(str_z(a, folder), err))
        return false;
    lock = lock_folder(a, folder, err);
    if (!lock)
        return false;
    if (!force && template_exists(a, homes, t->name))
        return err_set(err, ERR_CONFLICT, "template '%.*s' exists already; --force replaces it",
                       STR_FMT(t->name));
    t->path = str_printf(a, "%.*s/%.*s.json", STR_FMT(folder), STR_FMT(t->name));
    return write_path(a, t, t->path, err);
}

bool template_save_unnamed(Arena *a, const Homes *homes, Template *t, Err *err)
{
    enum { TRIES = 1000 };
    Str request = t->name;

    for (int i = 2; i < TRIES; i++) {
        if (template_save(a, homes, t, false, err))
            return true;
        /* A folder in the way is a conflict too, and another name would not help there. */
        if (err->kind != ERR_CONFLICT || !template_exists(a, homes, t->name))
            return false;
        t->name = str_printf(a, "%.*s-%d", STR_FMT(request), i);
    }
    return false;
}

bool template_delete(Arena *a, const Homes *homes, Str name, bool dry, Err *err)
{
    AUTO(FileLock) *lock = NULL;
    Str path;

    if (!locate(a, homes, name, &path, err))
        return false;
    if (dry)
        return true;
    lock = lock_folder(a, folder_of_file(path), err);
    if (!lock)
        return false;
    if (file_remove(str_z(a, path), err))
        return true;
    return err->kind == ERR_NOT_FOUND ? not_found(name, err) : false;
}

bool template_count_use(Arena *a, const Template *t, Err *err)
{
    AUTO(FileLock) *lock = lock_folder(a, folder_of_file(t->path), err);
    Template now;

    if (!lock || !read_path(a, t->path, &now, err))
        return false;
    if (now.usage_count < INT64_MAX)
        now.usage_count++;
    return write_path(a, &now, t->path, err);
}

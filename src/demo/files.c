#include "demo/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"

typedef struct DemoFile {
    Str path, text; /* path relative to the home */
} DemoFile;

Str demo_digest(Arena *a, Str bytes)
{
    uint64_t h = 0xCBF29CE484222325u;

    for (size_t i = 0; i < bytes.n; i++)
        h = (h ^ (unsigned char)bytes.p[i]) * 0x100000001B3u;
    return str_printf(a, "%016llx", (unsigned long long)h);
}

/* -- what is there ------------------------------------------------------------------------ */

static const char *path_of(Arena *a, Str folder, Str name)
{
    return str_z(a, str_join_path(a, folder, name));
}

static bool is_there(Arena *a, Str folder, Str name)
{
    struct stat st;

    return lstat(path_of(a, folder, name), &st) == 0;
}

/* Empty where the file cannot be read: then it is certainly not as it was made. */
static Str digest_on_disk(Arena *a, Str folder, Str name)
{
    Str bytes;
    Err err;

    if (!file_read(a, path_of(a, folder, name), MIB(4), &bytes, &err))
        return STR("");
    return demo_digest(a, bytes);
}

static const Made *find_made(const Made *made, size_t n, const char *kind, Str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(made[i].kind, kind) && str_eq(made[i].name, name))
            return &made[i];
    return NULL;
}

static DemoFile file_at(Arena *a, const World *w, size_t i)
{
    Json file = json_at(w->files, i), line;
    JsonIter it = json_each(world_get(file, "text"));
    AUTO_BUF text = BUF(KIB(64));
    Str unused;

    while (json_next(&it, &unused, &line)) {
        buf_add(&text, json_str(line));
        buf_addc(&text, '\n');
    }
    return (DemoFile){ world_str(file, "path"), str_dup(a, buf_str(&text)) };
}

static void count(DemoReport *report, Str path)
{
    if (str_starts(path, STR("skills/")))
        report->skills++;
    else if (str_starts(path, STR("notes/")))
        report->notes++;
    else
        report->memories++;
}

static void leave(Arena *a, DemoReport *report, Str path)
{
    ARENA_PUSH(a, report->left, report->n_left, report->cap_left, str_dup(a, path));
}

/* -- making ----------------------------------------------------------------------------- */

void files_count(Arena *a, const World *w, Str folder, DemoReport *report)
{
    for (size_t i = 0; i < json_count(w->files); i++) {
        Str path = world_str(json_at(w->files, i), "path");

        if (is_there(a, folder, path))
            leave(a, report, path);
        else
            count(report, path);
    }
}

/* Folders on the way that do not exist yet are the demo's too. */
static bool note_folders(Own *own, Arena *a, Str folder, Str path, Err *err)
{
    for (size_t i = 0; i < path.n; i++) {
        Made made = { .kind = STR("folder"), .name = str_head(path, i) };

        if (path.p[i] == '/' && !is_there(a, folder, made.name) &&
            !own_note_made(own, DEMO_MAKER, &made, err))
            return false;
    }
    return true;
}

static bool note_file(Own *own, Arena *a, Str folder, const DemoFile *file, Err *err)
{
    Made made = { STR("file"), file->path, demo_digest(a, file->text) };

    return note_folders(own, a, folder, file->path, err) &&
           own_note_made(own, DEMO_MAKER, &made, err);
}

/* The name under which a file is written before it gets its own. Always the same one, so that what a
 * death left behind is found: by the next writing, or by the removal. */
static const char *part_of(Arena *a, Str folder, Str name)
{
    return str_z(a, str_printf(a, "%s.talaria-demo", path_of(a, folder, name)));
}

static bool write_part(const char *part, Str text, Err *err)
{
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0;

    while (ok && text.n) {
        ssize_t put = write(fd, text.p, text.n);

        ok = put >= 0 || errno == EINTR;
        text = str_skip(text, put > 0 ? (size_t)put : 0);
    }
    ok = ok && fsync(fd) == 0;
    if (!ok)
        (void)err_errno(err, "cannot write '%s'", part);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool write_file(Arena *a, Str folder, const DemoFile *file, Err *err)
{
    const char *path = path_of(a, folder, file->path), *part = part_of(a, folder, file->path);
    char *parent = str_z(a, str_of(path));

    *strrchr(parent, '/') = '\0';
    if (!folder_make(parent, err) || !write_part(part, file->text, err))
        return false;
    if (rename(part, path) != 0)
        return err_errno(err, "cannot write '%s'", path);
    return folder_sync(parent, err);
}

/* The user's own file is not ours to replace; one that an earlier run left unfinished is. */
static bool is_ours(Arena *a, Str folder, Str path, const Made *made, size_t n)
{
    const Made *noted = find_made(made, n, "file", path);

    return !is_there(a, folder, path) ||
           (noted && str_eq(noted->digest, digest_on_disk(a, folder, path)));
}

bool files_make(Own *own, Arena *a, const World *w, Str folder, DemoReport *report, Err *err)
{
    size_t n = json_count(w->files), n_made;
    DemoFile *files = ARENA_ARRAY(a, DemoFile, n + 1);
    bool *ours = ARENA_ARRAY(a, bool, n + 1);
    Made *made;

    if (!own_begin(own, err) || !own_list_made(own, a, DEMO_MAKER, &made, &n_made, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        files[i] = file_at(a, w, i);
        ours[i] = is_ours(a, folder, files[i].path, made, n_made);
        if (ours[i] && !note_file(own, a, folder, &files[i], err))
            return false;
    }
    if (!own_commit(own, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!ours[i])
            leave(a, report, files[i].path);
        else if (!write_file(a, folder, &files[i], err))
            return false;
        else
            count(report, files[i].path);
    }
    return true;
}

/* -- removing --------------------------------------------------------------------------- */

static bool remove_file(Arena *a, Str folder, const Made *made, bool dry_run, DemoReport *report,
                        Err *err)
{
    if (!dry_run)
        (void)unlink(part_of(a, folder, made->name));
    if (!is_there(a, folder, made->name))
        return true;
    if (!str_eq(made->digest, digest_on_disk(a, folder, made->name))) {
        leave(a, report, made->name);
        return true;
    }
    count(report, made->name);
    return dry_run || file_remove(path_of(a, folder, made->name), err);
}

/* A folder that somebody put something into is theirs now. */
static bool remove_folder(Arena *a, Str folder, const Made *made, bool dry_run, Err *err)
{
    const char *path = path_of(a, folder, made->name);

    if (dry_run || rmdir(path) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST ||
        errno == ENOTDIR)
        return true;
    return err_errno(err, "cannot remove '%s'", path);
}

static bool forget(Own *own, const Made *made, size_t n, Err *err)
{
    if (!own_begin(own, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!str_eqz(made[i].kind, "session") && !own_forget_made(own, DEMO_MAKER, &made[i], err))
            return false;
    return own_commit(own, err);
}

/* Notes are given up last: what dies in between is found and finished by the next removal. */
bool files_remove(Own *own, Arena *a, Str folder, const Made *made, size_t n, bool dry_run,
                  DemoReport *report, Err *err)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(made[i].kind, "file") &&
            !remove_file(a, folder, &made[i], dry_run, report, err))
            return false;
    /* By name, so a folder stands before what is in it: from the back they come empty. */
    for (size_t i = n; i > 0; i--)
        if (str_eqz(made[i - 1].kind, "folder") &&
            !remove_folder(a, folder, &made[i - 1], dry_run, err))
            return false;
    return dry_run || forget(own, made, n, err);
}

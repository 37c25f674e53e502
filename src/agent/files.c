#include "agent/files.h"

#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

#include "agent/service_inside.h"
#include "base/clock.h"
#include "base/limits.h"
#include "text/sha256.h"
#include "text/utf8.h"

static bool check_name(Str name, Err *err)
{
    if (!name.n || name.n > LIMIT_FILE_NAME)
        return err_set(err, ERR_INVALID, "the name of a file has 1 to %d bytes", LIMIT_FILE_NAME);
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] < 0x20 || name.p[i] == '/' || name.p[i] == '\\' ||
            name.p[i] == 0x7f)
            return err_set(err, ERR_INVALID, "the name of a file has no slashes and no controls");
    return utf8_valid_prefix(name) == name.n ||
           err_set(err, ERR_INVALID, "the name of a file must be UTF-8");
}

/* ".py" of "x.py", where it is plain; agents look at it. */
static Str ending_of(Str name)
{
    for (size_t i = name.n; i > 1 && name.n - i < 9; i--) {
        if (name.p[i - 1] == '.')
            return str_skip(name, i - 1);
        if (!isalnum((unsigned char)name.p[i - 1]))
            break;
    }
    return STR("");
}

static bool check_room(Runs *r, Arena *a, Str conversation_id, Err *err)
{
    Conversation c;
    Attachment *all;
    size_t n, files = 0;

    if (!conversation_get(r, a, conversation_id, &c, err) ||
        !attachment_list(r, a, conversation_id, STR_NONE, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        files += str_eqz(all[i].kind, "file");
    return files < LIMIT_FILES ||
           err_set(err, ERR_TOO_LARGE, "a conversation has at most %d files", LIMIT_FILES);
}

static bool store_file(Service *s, Arena *a, Runs *r, Attachment *x, Str bytes, Err *err)
{
    Str data = s->options.homes->data;
    Str folder = str_printf(a, "%.*s/files/%.*s", STR_FMT(data), STR_FMT(x->conversation_id));
    char *path = str_z(a, str_join_path(a, data, x->path));

    if (!check_room(r, a, x->conversation_id, err) || !folder_make(str_z(a, folder), err) ||
        !file_write_atomic(path, bytes, err))
        return false;
    if (attachment_add(r, x, err))
        return true;
    (void)unlink(path);
    return false;
}

bool files_add(Service *s, Arena *a, Str conversation_id, Str name, Str mime, Str bytes,
               Attachment *ret, Err *err)
{
    return files_add_as(s, a, id_new(a, 'f'), conversation_id, name, mime, bytes, ret, err);
}

bool files_add_as(Service *s, Arena *a, Str id, Str conversation_id, Str name, Str mime, Str bytes,
                  Attachment *ret, Err *err)
{
    Runs *r;
    bool ok;

    if (!check_name(name, err))
        return false;
    if (bytes.n > LIMIT_FILE_BYTES)
        return err_set(err, ERR_TOO_LARGE, "a file has at most %d bytes", LIMIT_FILE_BYTES);
    *ret = (Attachment){ .id = id,
                         .conversation_id = conversation_id,
                         .kind = STR("file"),
                         .name = name,
                         .mime = mime.n ? mime : STR("application/octet-stream"),
                         .size = (int64_t)bytes.n,
                         .created_ms = clock_wall_ms(),
                         .sha256 = sha256_hex(a, bytes),
                         .visible = true,
                         .path = str_printf(a, "files/%.*s/%.*s%.*s", STR_FMT(conversation_id),
                                            STR_FMT(id), STR_FMT(ending_of(name))) };
    r = service_borrow_runs(s, err);
    ok = r && store_file(s, a, r, ret, bytes, err);
    service_return_runs(s, r);
    return ok;
}

bool files_read(Service *s, Arena *a, const Attachment *x, Str *ret, Err *err)
{
    int folder, fd;
    bool ok;

    if (!x->path.n) {
        *ret = x->body;
        return true;
    }
    folder = open(str_z(a, s->options.homes->data), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return err_errno(err, "cannot open the home");
    fd = file_open_beneath(folder, str_z(a, x->path), O_RDONLY | O_CLOEXEC, err);
    close(folder);
    if (fd < 0)
        return false;
    ok = file_read_fd(a, fd, str_z(a, x->name), LIMIT_FILE_BYTES, ret, err);
    close(fd);
    return ok;
}

void files_delete(Str data, Str conversation_id)
{
    AUTO(Arena) *a = arena_new();
    char *folder =
        str_z(a, str_printf(a, "%.*s/files/%.*s", STR_FMT(data), STR_FMT(conversation_id)));
    FileEntry *entries;
    size_t n = 0;
    Err err;

    if (!folder_list(a, folder, LIMIT_FILES + 16, &entries, &n, &err))
        return;
    for (size_t i = 0; i < n; i++)
        (void)unlink(str_z(a, str_join_path(a, str_of(folder), entries[i].name)));
    (void)rmdir(folder);
}

void files_sweep(Runs *r, Str data)
{
    AUTO(Arena) *a = arena_new();
    FileEntry *all;
    size_t n = 0;
    Err err;

    if (!folder_list(a, str_z(a, str_join_path(a, data, STR("files"))), LIMIT_FILE_FOLDERS, &all,
                     &n, &err))
        return;
    for (size_t i = 0; i < n; i++) {
        Conversation c;

        /* A folder is made only for a conversation that exists already. */
        if (!conversation_get(r, a, all[i].name, &c, &err) && err.kind == ERR_NOT_FOUND)
            files_delete(data, all[i].name);
    }
}

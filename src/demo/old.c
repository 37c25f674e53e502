/* Earlier versions put the demo into the user's own database and noted what they made there (table
 * `made`, maker "demo"). This removes it by those notes: a file that was edited since stays, a
 * folder goes if it is empty. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "demo/demo.h"
#include "store/own.h"

#define MAKER "demo"

typedef struct Old {
    Arena *arena;
    OwnStore *own;
    Str folder;
    Made *made;
    size_t n;
    DemoReport *report;
} Old;

static const char *path_of(const Old *o, Str name)
{
    return str_z(o->arena, str_join_path(o->arena, o->folder, name));
}

/* FNV-1a of 64 bits in 16 hexadecimal digits, as the notes hold it; empty if the file is
 * unreadable. */
static Str digest_on_disk(const Old *o, Str name)
{
    Str bytes;
    Err err;

    if (!file_read(o->arena, path_of(o, name), MIB(4), &bytes, &err))
        return STR("");
    return str_printf(o->arena, "%016llx", (unsigned long long)hash_fnv(HASH_START, bytes));
}

static bool remove_file(Old *o, const Made *made, bool dry_run, Err *err)
{
    DemoReport *r = o->report;
    struct stat st;

    if (lstat(path_of(o, made->name), &st) != 0)
        return true;
    if (!str_eq(made->digest, digest_on_disk(o, made->name))) {
        ARENA_PUSH(o->arena, r->left, r->n_left, r->cap_left, str_dup(o->arena, made->name));
        return true;
    }
    r->old_files++;
    return dry_run || file_remove(path_of(o, made->name), err);
}

static bool remove_folder(const Old *o, const Made *made, Err *err)
{
    const char *path = path_of(o, made->name);

    if (rmdir(path) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST ||
        errno == ENOTDIR)
        return true;
    return err_errno(err, "cannot remove '%s'", path);
}

/* Files first, then folders from the back, so that they are empty when their turn comes. */
static bool remove_files(Old *o, bool dry_run, Err *err)
{
    for (size_t i = 0; i < o->n; i++)
        if (str_eqz(o->made[i].kind, "file") && !remove_file(o, &o->made[i], dry_run, err))
            return false;
    for (size_t i = o->n; i > 0 && !dry_run; i--)
        if (str_eqz(o->made[i - 1].kind, "folder") && !remove_folder(o, &o->made[i - 1], err))
            return false;
    return true;
}

/* Sessions and all notes in one transaction, after the files: a crash in between is finished by the
 * next removal. Ids begin with the time: from the back, no part is left without its parent. */
static bool remove_rows(Old *o, Err *err)
{
    bool ok = true;

    if (!own_store_begin(o->own, err))
        return false;
    for (size_t i = o->n; ok && i > 0; i--) {
        const Made *m = &o->made[i - 1];

        ok = (!str_eqz(m->kind, "session") || own_delete_session(o->own, m->name, err)) &&
             own_forget_made(o->own, MAKER, m, err);
    }
    return own_store_end(o->own, ok, err);
}

bool demo_remove_old(Arena *a, Str data_folder, bool dry_run, DemoReport *report, Err *err)
{
    Old o = { .arena = a, .folder = data_folder, .report = report };
    AUTO(OwnStore) *own = NULL;
    bool any;

    if (!own_has_made(data_folder, &any, err))
        return false;
    if (!any)
        return true;
    o.own = own = own_store_open(data_folder, err);
    if (!own || !own_list_made(own, a, MAKER, &o.made, &o.n, err))
        return false;
    for (size_t i = 0; i < o.n; i++)
        report->old_sessions += str_eqz(o.made[i].kind, "session");
    return o.n == 0 || (remove_files(&o, dry_run, err) && (dry_run || remove_rows(&o, err)));
}

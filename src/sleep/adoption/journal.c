/* Order of a transaction: journal, then for each document folders, backup, a last look, one rename, a
 * look at the result; then the receipts; then the journal goes. Recovery runs the same list backwards
 * and asks of each document which of three it is: as before (nothing to do), as we made it (put back),
 * or neither (somebody's work: leave it).
 *
 * Temporary names are fixed per document and known to recovery, so that a crash leaves no litter. */
#include "sleep/adoption/journal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "sleep/adoption/stage.h"
#include "text/sha256.h"

#define JOURNAL   ".adopt-transaction.json"
#define KEPT      ".adopt-transaction.kept.json"
#define TEMPORARY ".talaria-adopt.tmp"
enum { JOURNAL_VERSION = 2 };

/* What recovery needs to know of a document or of the receipts: before and after. */
typedef struct Target {
    Str path;
    bool had;
    Str original, before; /* bytes, hash */
    uint32_t mode;
    Str after; /* hash; "" where it is to be gone */
    Str *folders;
    size_t n_folders;
} Target;

/* -- files of the night ------------------------------------------------------------------------- */

static Str folder_of(Str path)
{
    size_t n = path.n;

    while (n && path.p[n - 1] != '/')
        n--;
    return str_head(path, n ? n - 1 : 0);
}

static Str beside(Arena *a, Str path, const char *name)
{
    return str_printf(a, "%.*s/%s", STR_FMT(folder_of(path)), name);
}

/* As file_write_atomic, but what a death leaves behind has a name that recovery knows. */
static bool put_own(Arena *a, Str path, Str bytes, Err *err)
{
    Str name = str_skip(path, folder_of(path).n + 1);
    char real[PATH_MAX];

    if (!realpath(str_z(a, folder_of(path)), real))
        return err_errno(err, "cannot write '%.*s'", STR_FMT(path));
    return live_replace(str_join_path(a, str_of(real), name), TEMPORARY, bytes, 0600, err);
}

static void sweep(Arena *a, Str path)
{
    (void)unlink(str_z(a, beside(a, path, TEMPORARY)));
}

/* -- the file ----------------------------------------------------------------------------------- */

static Target target_of(Arena *a, const Change *c)
{
    return (Target){ .path = c->live.path,
                     .had = c->live.exists,
                     .original = c->live.bytes,
                     .before = c->live.sha256,
                     .mode = c->live.mode,
                     .after = c->to_exist ? sha256_hex(a, c->to) : STR(""),
                     .folders = c->folders,
                     .n_folders = c->n_folders };
}

static void put_target(JsonWriter *w, const Target *t)
{
    json_field_str(w, "live_path", t->path);
    json_field_bool(w, "had_original", t->had);
    json_field_str(w, "original", t->original.p ? t->original : STR(""));
    json_field_int(w, "original_mode", t->mode);
    json_field_str(w, "baseline_sha256", t->before.p ? t->before : STR(""));
    json_field_str(w, "proposed_sha256", t->after);
    json_key(w, "created_dirs");
    json_begin(w, '[');
    for (size_t i = 0; i < t->n_folders; i++)
        json_put_str(w, t->folders[i]);
    json_end(w, ']');
}

static void put_journal(Buf *out, const Transaction *t, const Target *targets,
                        const Target *receipt)
{
    JsonWriter w = JSON_WRITER(out, 2);

    json_begin(&w, '{');
    json_field_int(&w, "version", JOURNAL_VERSION);
    json_field_str(&w, "action", t->action);
    json_key(&w, "targets");
    json_begin(&w, '[');
    for (size_t i = 0; i < t->n; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "key", t->changes[i].name);
        json_field_str(&w, "kind", str_of(item_kind_name(t->changes[i].kind)));
        json_field_str(&w, "backup_path", t->changes[i].backup);
        put_target(&w, &targets[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_key(&w, "receipt");
    json_begin(&w, '{');
    put_target(&w, receipt);
    json_end(&w, '}');
    json_end(&w, '}');
    buf_addc(out, '\n');
}

static bool read_target(Arena *a, Json v, Target *ret, Err *err)
{
    JsonIter it = json_each(json_get(v, STR("created_dirs")));
    Target t = { .path = str_dup(a, json_str(json_get(v, STR("live_path")))),
                 .original = str_dup(a, json_str(json_get(v, STR("original")))),
                 .before = str_dup(a, json_str(json_get(v, STR("baseline_sha256")))),
                 .after = str_dup(a, json_str(json_get(v, STR("proposed_sha256")))) };
    int64_t mode = 0600;
    size_t cap = 0;
    Str ignored;
    Json item;

    while (json_next(&it, &ignored, &item))
        ARENA_PUSH(a, t.folders, t.n_folders, cap, str_dup(a, json_str(item)));
    if (!t.path.n || t.path.p[0] != '/' || !json_bool(json_get(v, STR("had_original")), &t.had) ||
        !json_int(json_get(v, STR("original_mode")), &mode) ||
        (t.had && !str_eq(sha256_hex(a, t.original), t.before)))
        return err_set(err, ERR_CORRUPT, "a target does not say what it was");
    t.mode = (uint32_t)mode & 07777;
    *ret = t;
    return true;
}

/* -- the receipts as one more target -------------------------------------------------------------- */

static bool read_receipts(Arena *a, const Transaction *t, Target *ret, Err *err)
{
    Str path = str_join_path(a, t->folder, t->receipts_file);
    Target r = { .path = path, .mode = 0600, .after = sha256_hex(a, t->receipts) };

    r.had = access(str_z(a, path), F_OK) == 0;
    if (r.had && !file_read(a, str_z(a, path), LIMIT_SLEEP_FILE, &r.original, err))
        return false;
    if (r.had)
        r.before = sha256_hex(a, r.original);
    *ret = r;
    return true;
}

static bool restore_receipts(Arena *a, const Target *t, Err *err)
{
    char *path = str_z(a, t->path);
    Str now = STR("");
    bool there = access(path, F_OK) == 0;

    if (there && !file_read(a, path, LIMIT_SLEEP_FILE, &now, err))
        return false;
    if (!there || !str_eq(sha256_hex(a, now), t->after))
        return true; /* never written */
    return t->had ? put_own(a, t->path, t->original, err) : file_remove(path, err);
}

/* -- folders ------------------------------------------------------------------------------------ */

static bool make_folders(Arena *a, const Str *folders, size_t n, Err *err)
{
    for (size_t i = 0; i < n; i++) {
        char *path = str_z(a, folders[i]);

        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return err_errno(err, "cannot make folder '%s'", path);
    }
    return true;
}

/* Innermost first; one that is not empty, or gone, is left. */
static void remove_folders(Arena *a, const Str *folders, size_t n)
{
    while (n-- > 0)
        (void)rmdir(str_z(a, folders[n]));
}

/* -- backwards ---------------------------------------------------------------------------------- */

static bool put_back(Arena *a, const Target *t, Err *err)
{
    if (!t->had)
        return live_remove(t->path, err);
    return make_folders(a, t->folders, t->n_folders, err) &&
           live_replace(t->path, TEMPORARY, t->original, t->mode, err);
}

static bool roll_back(Arena *a, const Target *t, Recovery *recovery, Err *err)
{
    LiveDoc now;
    bool readable = live_read(a, t->path, &now, err);

    sweep(a, t->path);
    if (readable && now.exists == (t->after.n > 0) && str_eq(now.sha256, t->after) &&
        str_eq(now.path, t->path)) {
        if (!put_back(a, t, err))
            return false;
    } else if (!readable || now.exists != t->had || !str_eq(now.sha256, t->before)) {
        recovery->kept++;
        recovery->note = str_printf(a, "'%.*s' was changed by somebody else; it was left as it is",
                                    STR_FMT(t->path));
    }
    if (!t->had)
        remove_folders(a, t->folders, t->n_folders);
    return true;
}

static bool close_journal(Arena *a, Str folder, bool keep, Err *err)
{
    char *path = str_z(a, str_join_path(a, folder, STR(JOURNAL)));

    if (!keep)
        return file_remove(path, err);
    if (rename(path, str_z(a, str_join_path(a, folder, STR(KEPT)))) != 0)
        return err_errno(err, "cannot set '%s' aside", path);
    return folder_sync(str_z(a, folder), err);
}

static bool recover(Arena *a, Str folder, Json root, Recovery *ret, Err *err)
{
    Json list = json_get(root, STR("targets"));
    Target receipt, *targets = ARENA_ARRAY(a, Target, json_count(list) + 1);
    size_t n = json_count(list), kept = ret->kept;
    int64_t version = 0;

    if (!json_int(json_get(root, STR("version")), &version) || version != JOURNAL_VERSION)
        return err_set(err, ERR_CORRUPT, "version %lld is not known", (long long)version);
    if (!read_target(a, json_get(root, STR("receipt")), &receipt, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!read_target(a, json_at(list, i), &targets[i], err))
            return false;
        sweep(a,
              str_join_path(a, folder, json_str(json_get(json_at(list, i), STR("backup_path")))));
    }
    if (!restore_receipts(a, &receipt, err))
        return false;
    for (size_t i = n; i-- > 0;)
        if (!roll_back(a, &targets[i], ret, err))
            return false;
    ret->found++;
    return close_journal(a, folder, ret->kept > kept, err);
}

bool journal_recover(Arena *a, Str folder, Recovery *ret, Err *err)
{
    char *path = str_z(a, str_join_path(a, folder, STR(JOURNAL)));
    AUTO(JsonDoc) *doc = NULL;
    Str text;

    if (access(path, F_OK) != 0)
        return true;
    if (!file_read(a, path, LIMIT_SLEEP_FILE, &text, err))
        return false;
    doc = json_parse(text, err);
    return (doc && recover(a, folder, json_root(doc), ret, err)) ||
           err_wrap(err, "cannot roll back by '%s'", path);
}

bool journal_recover_all(Arena *a, const SleepHome *home, Recovery *ret, Err *err)
{
    Str *nights;
    size_t n;

    if (!stage_nights(a, home, &nights, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        Str folder = night_folder(a, home, nights[i]);

        (void)unlink(str_z(a, str_join_path(a, folder, STR(TEMPORARY))));
        if (!journal_recover(a, folder, ret, err))
            return false;
    }
    return true;
}

/* -- forwards ----------------------------------------------------------------------------------- */

/* The backup is written once and never again: one that is there must hold these very bytes. */
static bool keep_backup(Arena *a, const Transaction *t, const Change *c, Err *err)
{
    Str path = str_join_path(a, t->folder, c->backup), there;
    char *z = str_z(a, path);

    if (!c->backup.n)
        return true;
    if (access(z, F_OK) == 0)
        return (file_read(a, z, LIMIT_SLEEP_DOCUMENT, &there, err) &&
                str_eq(there, c->live.bytes)) ||
               err_set(err, ERR_CONFLICT, "backup '%s' holds something else", z);
    return folder_make(str_z(a, folder_of(path)), err) && put_own(a, path, c->live.bytes, err);
}

static bool is_as_wanted(Arena *a, const Change *c, Err *err)
{
    LiveDoc now;

    if (!live_read(a, c->live.path, &now, err))
        return false;
    return (now.exists == c->to_exist && str_eq(now.bytes, c->to_exist ? c->to : STR(""))) ||
           err_set(err, ERR_CONFLICT, "'%.*s' was changed at the same time", STR_FMT(c->live.path));
}

static bool make_change(Arena *a, const Transaction *t, const Change *c, Err *err)
{
    if (!keep_backup(a, t, c, err))
        return false;
    if (c->to_exist && !make_folders(a, c->folders, c->n_folders, err))
        return false;
    if (!live_unchanged(&c->live, err))
        return false;
    if (c->to_exist ? !live_replace(c->live.path, TEMPORARY, c->to, c->live.mode, err)
                    : !live_remove(c->live.path, err))
        return false;
    if (!is_as_wanted(a, c, err))
        return false;
    if (!c->to_exist)
        remove_folders(a, c->folders, c->n_folders);
    return true;
}

static bool make_changes(Arena *a, const Transaction *t, const Target *receipt, Err *err)
{
    for (size_t i = 0; i < t->n; i++)
        if (!make_change(a, t, &t->changes[i], err))
            return false;
    if (!put_own(a, receipt->path, t->receipts, err))
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (!is_as_wanted(a, &t->changes[i], err))
            return false;
    return true;
}

static bool write_journal(Arena *a, const Transaction *t, const Target *receipt, Err *err)
{
    Target *targets = ARENA_ARRAY(a, Target, t->n + 1);
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);

    for (size_t i = 0; i < t->n; i++)
        targets[i] = target_of(a, &t->changes[i]);
    put_journal(&text, t, targets, receipt);
    if (buf_full(&text))
        return err_set(err, ERR_TOO_LARGE, "the journal would be larger than %d bytes",
                       LIMIT_SLEEP_FILE);
    return put_own(a, str_join_path(a, t->folder, STR(JOURNAL)), buf_str(&text), err);
}

bool journal_run(Arena *a, const Transaction *t, Err *err)
{
    Recovery recovery = { 0 };
    Target receipt;
    Err failed;

    if (!read_receipts(a, t, &receipt, err) || !write_journal(a, t, &receipt, err))
        return false;
    if (make_changes(a, t, &receipt, err))
        return close_journal(a, t->folder, false, err);
    if (!journal_recover(a, t->folder, &recovery, &failed))
        return err_wrap(err, "%s; and before that", failed.text);
    return false;
}

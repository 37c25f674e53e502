/* Order of a transaction: journal; then for each document folders, backup, a last check, one
 * rename, a check of the result; then the receipts; then the journal is removed. Recovery runs the
 * same list backwards and asks of each document which of three it is: as before (nothing to do), as
 * we made it (put back), or neither (another program's work: leave it).
 *
 * Temporary names are fixed per document and known to recovery, so a crash leaves no stray files.
 *
 * Locks are flock on files that stay: the kernel releases them when the holder ends, however it
 * ends. Documents are locked in the order of their lock files' names, so two processes that want
 * the same pair cannot deadlock. */
#include "sleep/adoption/journal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "sleep/adoption/stage.h"
#include "sleep/task/names.h"
#include "text/sha256.h"

#define JOURNAL   ".adopt-transaction.json"
#define KEPT      ".adopt-transaction.kept.json"
#define TEMPORARY ".talaria-adopt.tmp"
enum { JOURNAL_VERSION = 2, LOCK_WAIT_MS = 10000 };

/* What recovery needs to know of a document or of the receipts: before and after. */
typedef struct Target {
    Str path;
    bool had;
    Str original, before; /* bytes, hash */
    uint32_t mode;
    Str after; /* hash; "" if it is to be removed */
    StrList folders;
} Target;

static const RecordField target_fields[] = {
    RECORD_FIELD(Target, path, .key = "live_path"),
    RECORD_FIELD(Target, had, .key = "had_original", .required = true),
    RECORD_FIELD(Target, original),
    RECORD_FIELD(Target, mode, .key = "original_mode", .required = true),
    RECORD_FIELD(Target, before, .key = "baseline_sha256"),
    RECORD_FIELD(Target, after, .key = "proposed_sha256"),
    RECORD_FIELD(Target, folders, .key = "created_dirs"),
};
static const RecordTable target_record = RECORD(Target, "target", target_fields, .lenient = true);

/* -- Locks of live documents -- */

typedef LIST_OF(FileLock *) TargetLocks;

/* A folder that only this user can write to: below /tmp another user could have made it. */
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

/* The locks are the caller's to release, also on failure. */
static bool lock_targets(Arena *a, const Transaction *t, TargetLocks *locks, Err *err)
{
    Str folder, *names = ARENA_ARRAY(a, Str, t->n + 1);

    if (!lock_folder(a, &folder, err))
        return false;
    for (size_t i = 0; i < t->n; i++)
        names[i] = str_printf(a, "%.*s/%.*s.lock", STR_FMT(folder),
                              STR_FMT(sha256_hex(a, name_key(a, t->changes[i].live.path))));
    qsort(names, t->n, sizeof *names, by_text);
    for (size_t i = 0; i < t->n; i++) {
        FileLock *lock = lock_take(str_z(a, names[i]), LOCK_WAIT_MS, err);

        if (!lock)
            return false;
        LIST_PUSH(a, locks, lock);
    }
    return true;
}

/* -- Files of the night -- */

/* As file_write_atomic, but what a death leaves behind has a name that recovery knows. */
static bool put_own(Arena *a, Str path, Str bytes, Err *err)
{
    Str name = str_file_name(path);
    char real[PATH_MAX];

    if (!realpath(str_z(a, str_folder(path)), real))
        return err_errno(err, "cannot write '%.*s'", STR_FMT(path));
    return live_replace(str_join_path(a, str_of(real), name), TEMPORARY, bytes, 0600, err);
}

static void remove_temporary(Arena *a, Str path)
{
    (void)unlink(str_z(a, str_join_path(a, str_folder(path), STR(TEMPORARY))));
}

/* -- The file -- */

static bool write_journal(Arena *a, const Transaction *t, const Target *receipt, Err *err)
{
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&text, 2);

    json_begin(&w, '{');
    json_field_int(&w, "version", JOURNAL_VERSION);
    json_field_str(&w, "action", t->action);
    json_field_begin(&w, "targets", '[');
    for (size_t i = 0; i < t->n; i++) {
        const Change *c = &t->changes[i];
        Target target = { .path = c->live.path,
                          .had = c->live.exists,
                          .original = c->live.bytes,
                          .before = c->live.sha256,
                          .mode = c->live.mode,
                          .after = c->to_exist ? sha256_hex(a, c->to) : STR(""),
                          .folders = c->folders };

        json_begin(&w, '{');
        json_field_str(&w, "key", c->name);
        json_field_str(&w, "kind", str_of(item_kind_name(c->kind)));
        json_field_str(&w, "backup_path", c->backup);
        record_put_fields(&w, &target_record, &target);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_key(&w, "receipt");
    record_put(&w, &target_record, receipt);
    json_end(&w, '}');
    buf_addc(&text, '\n');
    if (buf_full(&text))
        return err_set(err, ERR_TOO_LARGE, "the journal would be larger than %d bytes",
                       LIMIT_SLEEP_FILE);
    return put_own(a, str_join_path(a, t->folder, STR(JOURNAL)), buf_str(&text), err);
}

static bool read_target(Arena *a, Json v, Target *ret, Err *err)
{
    if (!record_read(a, &target_record, v, ret, err) || !ret->path.n || ret->path.p[0] != '/' ||
        (ret->had && !str_eq(sha256_hex(a, ret->original), ret->before)))
        return err_set(err, ERR_CORRUPT, "a target does not say what it was");
    ret->mode &= 07777;
    return true;
}

/* -- The receipts as one more target -- */

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

/* -- Folders -- */

static bool make_folders(Arena *a, const StrList *folders, Err *err)
{
    for (size_t i = 0; i < folders->n; i++) {
        char *path = str_z(a, folders->items[i]);

        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return err_errno(err, "cannot make folder '%s'", path);
    }
    return true;
}

/* Innermost first; a folder that is not empty stays. */
static void remove_folders(Arena *a, const StrList *folders)
{
    for (size_t i = folders->n; i-- > 0;)
        (void)rmdir(str_z(a, folders->items[i]));
}

/* -- Backwards -- */

static bool put_back(Arena *a, const Target *t, Err *err)
{
    if (!t->had)
        return live_remove(t->path, err);
    return make_folders(a, &t->folders, err) &&
           live_replace(t->path, TEMPORARY, t->original, t->mode, err);
}

static bool roll_back(Arena *a, const Target *t, Recovery *recovery, Err *err)
{
    LiveDoc now;
    bool readable = live_read(a, t->path, &now, err);

    remove_temporary(a, t->path);
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
        remove_folders(a, &t->folders);
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

static bool recover_by(Arena *a, Str folder, Json root, Recovery *ret, Err *err)
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
        remove_temporary(
            a, str_join_path(a, folder, json_str(json_get(json_at(list, i), STR("backup_path")))));
    }
    if (!restore_receipts(a, &receipt, err))
        return false;
    for (size_t i = n; i-- > 0;)
        if (!roll_back(a, &targets[i], ret, err))
            return false;
    ret->found++;
    return close_journal(a, folder, ret->kept > kept, err);
}

static bool recover_night(Arena *a, Str folder, Recovery *ret, Err *err)
{
    char *path = str_z(a, str_join_path(a, folder, STR(JOURNAL)));
    AUTO(JsonDoc) *doc = NULL;
    Str text;

    if (access(path, F_OK) != 0)
        return true;
    if (!file_read(a, path, LIMIT_SLEEP_FILE, &text, err))
        return false;
    doc = json_parse(text, err);
    return (doc && recover_by(a, folder, json_root(doc), ret, err)) ||
           err_wrap(err, "cannot roll back by '%s'", path);
}

static bool recover_all(Arena *a, const SleepHome *home, Recovery *ret, Err *err)
{
    Str *nights;
    size_t n;

    if (!stage_nights(a, home, &nights, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        Str folder = night_folder(a, home, nights[i]);

        (void)unlink(str_z(a, str_join_path(a, folder, STR(TEMPORARY))));
        if (!recover_night(a, folder, ret, err))
            return false;
    }
    return true;
}

FileLock *adopt_begin(Arena *a, const SleepHome *home, Recovery *ret, Err *err)
{
    FileLock *lock;

    if (!sleep_home_make(home, err))
        return NULL;
    lock =
        lock_take(str_z(a, str_join_path(a, home->folder, STR("adopt.lock"))), LOCK_WAIT_MS, err);
    if (lock && !recover_all(a, home, ret, err))
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
        /* An adoption is running, or the folder is read-only: nothing to repair either way. */
        return err->kind == ERR_BUSY || err->kind == ERR_READ_ONLY;
    ok = recover_all(a, home, ret, err);
    (void)lock_release(lock);
    return ok;
}

/* -- Forwards -- */

/* A backup is written once: one that exists must hold these very bytes. */
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
    return folder_make(str_z(a, str_folder(path)), err) && put_own(a, path, c->live.bytes, err);
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
    if (c->to_exist && !make_folders(a, &c->folders, err))
        return false;
    if (!live_unchanged(&c->live, err))
        return false;
    if (c->to_exist ? !live_replace(c->live.path, TEMPORARY, c->to, c->live.mode, err)
                    : !live_remove(c->live.path, err))
        return false;
    if (!is_as_wanted(a, c, err))
        return false;
    if (!c->to_exist)
        remove_folders(a, &c->folders);
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

static bool run_locked(Arena *a, const Transaction *t, Err *err)
{
    Recovery recovery = { 0 };
    Target receipt;
    Err failed;

    if (!read_receipts(a, t, &receipt, err) || !write_journal(a, t, &receipt, err))
        return false;
    if (make_changes(a, t, &receipt, err))
        return close_journal(a, t->folder, false, err);
    if (!recover_night(a, t->folder, &recovery, &failed))
        return err_wrap(err, "%s; and before that", failed.text);
    return false;
}

bool journal_run(Arena *a, const Transaction *t, Err *err)
{
    TargetLocks locks = { 0 };
    bool ok = lock_targets(a, t, &locks, err) && run_locked(a, t, err);

    while (locks.n)
        (void)lock_release(locks.items[--locks.n]);
    return ok;
}

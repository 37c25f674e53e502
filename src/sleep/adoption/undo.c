/* An undo is an adoption of what was there before: the same locks, the same journal, and a receipt of
 * its own. It needs the live document to be exactly what was adopted: whatever was written since is the
 * user's, and taking it away is not ours to decide. */
#include "base/clock.h"
#include "base/limits.h"
#include "sleep/adoption/adopt.h"
#include "sleep/adoption/stage.h"
#include "text/human.h"

typedef struct Undo {
    Arena *arena;
    const SleepHome *home;
    const Selection *selection;
    Receipt last; /* the newest adoption that the selection means */
    Str folder;
    Receipts receipts; /* of its night */
    Change *changes;
    size_t n;
} Undo;

static bool is_active(const Receipts *all, const Receipt *r)
{
    return receipt_active(all, r->kind, r->name) == r;
}

static bool is_meant(const Selection *s, const Receipt *r)
{
    for (size_t i = 0; i < s->n_skills; i++)
        if (r->kind == ITEM_SKILL && str_eq(s->skills[i], r->name))
            return true;
    if (s->n_skills)
        return false;
    return (!s->all_skills || r->kind == ITEM_SKILL) && (!s->legacy || r->kind != ITEM_SKILL);
}

/* -- which adoption ----------------------------------------------------------------------------- */

static bool look_in(Undo *u, Str night, Err *err)
{
    Str folder = night_folder(u->arena, u->home, night);
    Receipts all;

    if (!receipts_read(u->arena, folder, night, &all, err))
        return false;
    for (size_t i = 0; i < all.n; i++)
        if (is_active(&all, &all.all[i]) && is_meant(u->selection, &all.all[i]) &&
            all.all[i].number > u->last.number) {
            u->last = all.all[i];
            u->folder = folder;
            u->receipts = all;
        }
    return true;
}

static bool find_last(Undo *u, Err *err)
{
    Str *nights, folder;
    size_t n;

    if (u->selection->night.n) {
        if (!stage_find(u->arena, u->home, u->selection->night, &folder, err) ||
            !look_in(u, str_skip(folder, u->home->staging.n + 1), err))
            return false;
    } else {
        if (!stage_nights(u->arena, u->home, &nights, &n, err))
            return false;
        for (size_t i = 0; i < n; i++)
            if (!look_in(u, nights[i], err))
                return false;
    }
    return u->last.number || err_set(err, ERR_NOT_FOUND, "no adoption to undo");
}

/* Of the night of the last one: what was named, or what was adopted together with it. */
static bool belongs(const Undo *u, const Receipt *r)
{
    const Selection *s = u->selection;
    bool named = s->n_skills || s->all_skills || s->legacy;

    return is_active(&u->receipts, r) && is_meant(s, r) &&
           (named ? (r->kind == ITEM_SKILL) == (u->last.kind == ITEM_SKILL)
                  : r->number == u->last.number);
}

/* -- what it takes ------------------------------------------------------------------------------ */

static bool read_backup(Undo *u, const Receipt *r, Change *c, Err *err)
{
    LiveDoc backup;

    c->to_exist = r->sha256_before.n > 0;
    if (!c->to_exist)
        return true;
    if (!live_read(u->arena, str_join_path(u->arena, u->folder, r->backup_path), &backup, err))
        return false;
    c->to = backup.bytes;
    return str_eq(backup.sha256, r->sha256_before) ||
           err_set(err, ERR_REFUSED, "backup '%.*s' does not match its receipt",
                   STR_FMT(backup.path));
}

static bool check_live(const Undo *u, const Receipt *r, const LiveDoc *live, Err *err)
{
    if (!str_eq(live->path, r->live_path))
        return err_set(err, ERR_REFUSED, "'%.*s' moved to '%.*s'", STR_FMT(r->live_path),
                       STR_FMT(live->path));
    if (!live->exists)
        return err_set(err, ERR_CONFLICT, "'%.*s' was removed since it was adopted",
                       STR_FMT(live->path));
    return str_eq(live->sha256, r->sha256_after) ||
           err_set(err, ERR_CONFLICT,
                   "'%.*s' was changed after it was adopted, so it is kept; 'diff %.*s/%.*s %.*s' "
                   "shows "
                   "what changed",
                   STR_FMT(live->path), STR_FMT(u->folder),
                   STR_FMT(proposed_name(u->arena, r->kind, r->name)), STR_FMT(live->path));
}

static bool plan_one(Undo *u, const Receipt *r, Err *err)
{
    Change c = { .kind = r->kind,
                 .name = r->name,
                 .to = STR(""),
                 .backup = STR(""),
                 .folders = r->created,
                 .n_folders = r->n_created };

    if (!read_backup(u, r, &c, err) || !live_read(u->arena, r->live_path, &c.live, err) ||
        !check_live(u, r, &c.live, err))
        return false;
    if (c.to_exist)
        c.n_folders = 0;
    u->changes[u->n++] = c;
    return true;
}

static bool plan(Undo *u, Err *err)
{
    u->changes = ARENA_ARRAY(u->arena, Change, u->receipts.n);
    for (size_t i = 0; i < u->receipts.n; i++)
        if (belongs(u, &u->receipts.all[i]) && !plan_one(u, &u->receipts.all[i], err))
            return false;
    for (size_t i = 0; i < u->selection->n_skills; i++) {
        Str name = u->selection->skills[i];

        if (!receipt_active(&u->receipts, ITEM_SKILL, name))
            return err_set(err, ERR_NOT_FOUND, "skill '%.*s' is not adopted from night '%.*s'",
                           STR_FMT(name), STR_FMT(u->last.night));
    }
    return true;
}

/* -- doing it ----------------------------------------------------------------------------------- */

static Receipt receipt_of(const Undo *u, const Change *c, int64_t number)
{
    const Receipt *r = receipt_active(&u->receipts, c->kind, c->name);

    return (Receipt){ .undo = true,
                      .kind = c->kind,
                      .night = u->last.night,
                      .name = c->name,
                      .live_path = c->live.path,
                      .sha256_before = r->sha256_after,
                      .sha256_after = r->sha256_before,
                      .backup_path = STR(""),
                      .number = number,
                      .at = human_iso(u->arena, clock_wall()) };
}

static bool carry_out(Undo *u, const Adopted *done, Err *err)
{
    AUTO(TargetLocks) *locks = target_locks_take(u->arena, u->changes, u->n, err);
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    Transaction t = { .folder = u->folder,
                      .action = STR("undo"),
                      .changes = u->changes,
                      .n = u->n,
                      .receipts_file = receipts_file(u->last.kind) };

    if (!locks)
        return false;
    receipts_put(&text, &u->receipts, done->receipts, done->n, u->last.kind);
    if (buf_full(&text))
        return err_set(err, ERR_TOO_LARGE, "the receipts are larger than %d bytes",
                       LIMIT_SLEEP_FILE);
    t.receipts = buf_str(&text);
    return journal_run(u->arena, &t, err);
}

bool undo(Arena *a, const SleepHome *home, const Selection *selection, bool dry_run, Adopted *ret,
          Err *err)
{
    Undo u = { .arena = a, .home = home, .selection = selection };
    AUTO(FileLock) *lock = NULL;
    Adopted done = { 0 };
    int64_t number;

    if (!selection_check(selection, err))
        return false;
    lock = adopt_begin(a, home, &done.recovery, err);
    if (!lock || !find_last(&u, err) || !plan(&u, err) || !next_number(a, home, &number, err))
        return false;
    done.night = u.last.night;
    done.folder = u.folder;
    done.legacy = u.last.kind != ITEM_SKILL;
    done.receipts = ARENA_ARRAY(a, Receipt, u.n);
    for (size_t i = 0; i < u.n; i++)
        done.receipts[done.n++] = receipt_of(&u, &u.changes[i], number);
    if (!dry_run && !carry_out(&u, &done, err))
        return err_wrap(err, "nothing was undone");
    *ret = done;
    return true;
}

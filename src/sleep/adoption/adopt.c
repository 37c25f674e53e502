/* A night is checked as a whole before any of it is used: if one row was tampered with, the others
 * are doubtful too.
 *
 * An undo is an adoption of the previous content: the same locks, the same journal, and its own
 * receipt. It needs the live document to be exactly what was adopted: later changes are the
 * user's. */
#include "sleep/adoption/adopt.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "sleep/adoption/reject.h"
#include "sleep/adoption/stage.h"
#include "text/human.h"
#include "text/sha256.h"
#include "text/utf8.h"

typedef struct Work {
    Arena *arena;
    const SleepHome *home;
    const Selection *selection;
    bool is_undo;
    Str night, folder;
    Receipts receipts; /* of the night */
    Receipt last;      /* undo: the newest adoption that the selection means */
    Change *changes;
    size_t n;
} Work;

static bool names_skill(const Selection *s, Str name)
{
    for (size_t i = 0; i < s->n_skills; i++)
        if (str_eq(s->skills[i], name))
            return true;
    return false;
}

static bool is_proposed(const Manifest *m, Str skill)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->items[i].kind == ITEM_SKILL && str_eq(m->items[i].name, skill))
            return true;
    return false;
}

/* -- Adopting: what has to change -- */

/* Checks the selection against the proposals of the night. */
static bool check_choice(const Selection *s, const Manifest *m, Str night, Err *err)
{
    bool skills = manifest_has(m, ITEM_SKILL);
    bool legacy = manifest_has(m, ITEM_MANAGED) || manifest_has(m, ITEM_MEMORY);

    if (!m->n)
        return err_set(err, ERR_NOT_FOUND, "night '%.*s' has no proposal", STR_FMT(night));
    for (size_t i = 0; i < s->n_skills; i++)
        if (!is_proposed(m, s->skills[i]))
            return err_set(err, ERR_USAGE, "night '%.*s' proposes no skill '%.*s'", STR_FMT(night),
                           STR_FMT(s->skills[i]));
    if (!s->n_skills && !s->all_skills && !s->legacy && skills)
        return err_set(err, ERR_USAGE,
                       "night '%.*s' proposes skills; choose with --skill NAME or --all-skills%s",
                       STR_FMT(night), legacy ? ", or --legacy for the others" : "");
    if ((s->all_skills && !skills) || (s->legacy && !legacy))
        return err_set(err, ERR_USAGE, "night '%.*s' has no such proposal", STR_FMT(night));
    return true;
}

static bool read_proposal(Arena *a, Str folder, const StagedItem *item, Str *ret, Err *err)
{
    LiveDoc doc; /* by the rules for live documents: a regular UTF-8 file, no links */

    if (!live_read(a, str_join_path(a, folder, item->proposed_file), &doc, err))
        return false;
    if (!doc.exists)
        return err_set(err, ERR_REFUSED, "proposal '%.*s' is missing",
                       STR_FMT(item->proposed_file));
    if (!str_eq(doc.sha256, item->sha256))
        return err_set(err, ERR_REFUSED, "proposal '%.*s' was modified after it was staged",
                       STR_FMT(item->proposed_file));
    if (!str_trim(doc.bytes).n)
        return err_set(err, ERR_REFUSED, "proposal '%.*s' is empty", STR_FMT(item->proposed_file));
    *ret = doc.bytes;
    return true;
}

static Str backup_name(Arena *a, const StagedItem *item)
{
    if (!item->live_sha256.n)
        return STR("");
    if (item->kind == ITEM_SKILL)
        return str_printf(a, "backup/skills/%.*s/SKILL.md", STR_FMT(item->name));
    return item->kind == ITEM_MANAGED ? STR("backup/SKILL.md") : STR("backup/CLAUDE.md");
}

/* The backup of an adoption must still be what it was. */
static bool read_backup(Work *w, const Receipt *r, Str *ret, Err *err)
{
    LiveDoc backup;

    if (!live_read(w->arena, str_join_path(w->arena, w->folder, r->backup_path), &backup, err) ||
        !str_eq(backup.sha256, r->sha256_before))
        return err_set(err, ERR_REFUSED, "backup '%.*s' does not match its receipt",
                       STR_FMT(r->backup_path));
    *ret = backup.bytes;
    return true;
}

/* The live document must be what the night read. */
static bool check_unchanged(const StagedItem *item, const LiveDoc *live, Err *err)
{
    if (!str_eq(live->path, item->live_path))
        return err_set(err, ERR_REFUSED, "'%.*s' moved to '%.*s'", STR_FMT(item->live_path),
                       STR_FMT(live->path));
    if (live->exists != (item->live_sha256.n > 0))
        return err_set(err, ERR_CONFLICT, "'%.*s' %s since the night", STR_FMT(item->live_path),
                       live->exists ? "was made" : "was removed");
    return str_eq(live->sha256, item->live_sha256) ||
           err_set(err, ERR_CONFLICT,
                   "'%.*s' has changed since the night; run another night, or restore the file",
                   STR_FMT(item->live_path));
}

static bool plan_item(Work *w, const StagedItem *item, Err *err)
{
    const Receipt *adopted = receipt_active(&w->receipts, item->kind, item->name);
    Change c = { .kind = item->kind, .name = item->name, .to_exist = true };
    const Selection *s = w->selection;
    Str backup;

    if (!read_proposal(w->arena, w->folder, item, &c.to, err))
        return false;
    if (adopted && adopted->backup_path.n && !read_backup(w, adopted, &backup, err))
        return false;
    if (item->kind == ITEM_SKILL ? !s->all_skills && !names_skill(s, item->name)
                                 : s->all_skills || s->n_skills)
        return true;
    if (adopted)
        return err_set(err, ERR_CONFLICT, "'%.*s' of night '%.*s' is already adopted",
                       STR_FMT(item->name), STR_FMT(w->night));
    if (!live_read(w->arena, item->live_path, &c.live, err) || !check_unchanged(item, &c.live, err))
        return false;
    /* A skill that was looked up has its folder; only the managed skill may be new. */
    if (!live_missing_folders(w->arena, c.live.path, &c.folders, err))
        return false;
    if (c.folders.n && item->kind != ITEM_MANAGED)
        return err_set(err, ERR_CONFLICT, "the folder of '%.*s' is gone", STR_FMT(c.live.path));
    c.backup = backup_name(w->arena, item);
    w->changes[w->n++] = c;
    return true;
}

static bool find_night(Work *w, Err *err)
{
    Str night = w->selection->night;

    if ((!night.n && !night_proposed(w->arena, w->home, &night, err)) ||
        !stage_find(w->arena, w->home, night, &w->folder, err))
        return false;
    w->night = str_skip(w->folder, w->home->staging.n + 1);
    return true;
}

static bool plan_adoption(Work *w, Err *err)
{
    Manifest manifest;
    Rejection no;

    if (rejection_read(w->arena, w->folder, &no))
        return err_set(err, ERR_CONFLICT, "night '%.*s' was rejected", STR_FMT(w->night));
    if (!manifest_read(w->arena, w->folder, &manifest, err) ||
        !check_choice(w->selection, &manifest, w->night, err) ||
        !receipts_read(w->arena, w->folder, w->night, &w->receipts, err))
        return false;
    w->changes = ARENA_ARRAY(w->arena, Change, manifest.n);
    for (size_t i = 0; i < manifest.n; i++)
        if (!plan_item(w, &manifest.items[i], err))
            return false;
    return true;
}

/* -- Undoing: what has to change -- */

static bool is_active(const Receipts *all, const Receipt *r)
{
    return receipt_active(all, r->kind, r->name) == r;
}

static bool is_meant(const Selection *s, const Receipt *r)
{
    if (s->n_skills)
        return r->kind == ITEM_SKILL && names_skill(s, r->name);
    return (!s->all_skills || r->kind == ITEM_SKILL) && (!s->legacy || r->kind != ITEM_SKILL);
}

/* Looks for a newer adoption than the last one found. */
static bool look_in_night(Work *w, Str night, Err *err)
{
    Str folder = night_folder(w->arena, w->home, night);
    Receipts all;

    if (!receipts_read(w->arena, folder, night, &all, err))
        return false;
    for (size_t i = 0; i < all.n; i++) {
        const Receipt *r = &all.items[i];

        if (is_active(&all, r) && is_meant(w->selection, r) && r->number > w->last.number) {
            w->last = *r;
            w->folder = folder;
            w->receipts = all;
        }
    }
    return true;
}

static bool find_last_adoption(Work *w, Err *err)
{
    Str *nights, folder;
    size_t n;

    if (w->selection->night.n) {
        if (!stage_find(w->arena, w->home, w->selection->night, &folder, err) ||
            !look_in_night(w, str_skip(folder, w->home->staging.n + 1), err))
            return false;
    } else {
        if (!stage_nights(w->arena, w->home, &nights, &n, err))
            return false;
        for (size_t i = 0; i < n; i++)
            if (!look_in_night(w, nights[i], err))
                return false;
    }
    return w->last.number || err_set(err, ERR_NOT_FOUND, "no adoption to undo");
}

static bool check_still_adopted(const Work *w, const Receipt *r, const LiveDoc *live, Err *err)
{
    if (!str_eq(live->path, r->live_path))
        return err_set(err, ERR_REFUSED, "'%.*s' moved to '%.*s'", STR_FMT(r->live_path),
                       STR_FMT(live->path));
    if (!live->exists)
        return err_set(err, ERR_CONFLICT, "'%.*s' was removed since it was adopted",
                       STR_FMT(live->path));
    return str_eq(live->sha256, r->sha256_after) ||
           err_set(err, ERR_CONFLICT,
                   "'%.*s' was changed after it was adopted, so it is kept; "
                   "'diff %.*s/%.*s %.*s' shows what changed",
                   STR_FMT(live->path), STR_FMT(w->folder),
                   STR_FMT(proposed_name(w->arena, r->kind, r->name)), STR_FMT(live->path));
}

static bool plan_receipt(Work *w, const Receipt *r, Err *err)
{
    Change c = { .kind = r->kind,
                 .name = r->name,
                 .to_exist = r->sha256_before.n > 0,
                 .to = STR(""),
                 .backup = STR("") };

    if ((c.to_exist && !read_backup(w, r, &c.to, err)) ||
        !live_read(w->arena, r->live_path, &c.live, err) ||
        !check_still_adopted(w, r, &c.live, err))
        return false;
    if (!c.to_exist)
        c.folders = r->created;
    w->changes[w->n++] = c;
    return true;
}

/* Of the night of the last adoption: what the selection names, else what was adopted with it. */
static bool plan_undo(Work *w, Err *err)
{
    const Selection *s = w->selection;
    bool named = s->n_skills || s->all_skills || s->legacy;

    if (!find_last_adoption(w, err))
        return false;
    w->night = w->last.night;
    w->changes = ARENA_ARRAY(w->arena, Change, w->receipts.n);
    for (size_t i = 0; i < w->receipts.n; i++) {
        const Receipt *r = &w->receipts.items[i];

        if (is_active(&w->receipts, r) && is_meant(s, r) &&
            (named ? (r->kind == ITEM_SKILL) == (w->last.kind == ITEM_SKILL)
                   : r->number == w->last.number) &&
            !plan_receipt(w, r, err))
            return false;
    }
    for (size_t i = 0; i < s->n_skills; i++)
        if (!receipt_active(&w->receipts, ITEM_SKILL, s->skills[i]))
            return err_set(err, ERR_NOT_FOUND, "skill '%.*s' is not adopted from night '%.*s'",
                           STR_FMT(s->skills[i]), STR_FMT(w->night));
    return true;
}

/* -- Carrying it out -- */

/* The highest number of any receipt, and 1 more. */
static bool next_number(Arena *a, const SleepHome *home, int64_t *ret, Err *err)
{
    int64_t max = 0;
    Receipts r;
    Str *nights;
    size_t n;

    if (!stage_nights(a, home, &nights, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!receipts_read(a, night_folder(a, home, nights[i]), nights[i], &r, err))
            return false;
        for (size_t k = 0; k < r.n; k++)
            max = r.items[k].number > max ? r.items[k].number : max;
    }
    *ret = max + 1;
    return true;
}

static Receipt make_receipt(Work *w, const Change *c, int64_t number)
{
    const Receipt *undone = w->last.number ? receipt_active(&w->receipts, c->kind, c->name) : NULL;
    Receipt r = { .undo = undone != NULL,
                  .kind = c->kind,
                  .night = w->night,
                  .name = c->name,
                  .live_path = c->live.path,
                  .sha256_before = c->live.sha256,
                  .backup_path = c->backup,
                  .number = number,
                  .at = human_iso(w->arena, clock_wall()) };

    r.sha256_after = undone ? undone->sha256_before : sha256_hex(w->arena, c->to);
    if (!undone)
        r.created = c->folders;
    return r;
}

static bool carry_out(Work *w, const Receipts *more, Err *err)
{
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    ItemKind kind = w->changes[0].kind;
    Transaction t = { .folder = w->folder,
                      .action = w->is_undo ? STR("undo") : STR("adopt"),
                      .changes = w->changes,
                      .n = w->n,
                      .receipts_file = receipts_file(kind) };

    receipts_put(&text, &w->receipts, more, kind);
    if (buf_full(&text))
        return err_set(err, ERR_TOO_LARGE, "the receipts are larger than %d bytes",
                       LIMIT_SLEEP_FILE);
    t.receipts = buf_str(&text);
    return journal_run(w->arena, &t, err);
}

static bool run(Work *w, bool dry_run, Adopted *ret, Err *err)
{
    const Selection *s = w->selection;
    AUTO(FileLock) *lock = NULL;
    Adopted done = { 0 };
    int64_t number;

    if ((s->n_skills > 0) + s->all_skills + s->legacy > 1)
        return err_set(err, ERR_USAGE, "give only one of --skill, --all-skills and --legacy");
    if (!w->is_undo && !find_night(w, err))
        return false;
    lock = adopt_begin(w->arena, w->home, &done.recovery, err);
    if (!lock || !(w->is_undo ? plan_undo(w, err) : plan_adoption(w, err)) ||
        !next_number(w->arena, w->home, &number, err))
        return false;
    done.night = w->night;
    done.folder = w->folder;
    done.legacy = w->changes[0].kind != ITEM_SKILL;
    for (size_t i = 0; i < w->n; i++)
        LIST_PUSH(w->arena, &done.receipts, make_receipt(w, &w->changes[i], number));
    if (!dry_run && !carry_out(w, &done.receipts, err))
        return err_wrap(err, "nothing was %s", w->is_undo ? "undone" : "adopted");
    *ret = done;
    return true;
}

bool adopt(Arena *a, const SleepHome *home, const Selection *selection, bool dry_run, Adopted *ret,
           Err *err)
{
    Work w = { .arena = a, .home = home, .selection = selection };

    return run(&w, dry_run, ret, err);
}

bool undo(Arena *a, const SleepHome *home, const Selection *selection, bool dry_run, Adopted *ret,
          Err *err)
{
    Work w = { .arena = a, .home = home, .selection = selection, .is_undo = true };

    return run(&w, dry_run, ret, err);
}

/* -- Adopting right after a night --
 *
 * The request is staged with the proposal and removed once it was tried. If the process dies in
 * between, the next night sees to it; if a document was changed meanwhile, no later night tries
 * again. */

bool adopt_managed(Arena *a, const SleepHome *home, Str night, Adopted *ret, Err *err)
{
    const Selection selection = { .night = night, .legacy = true };
    Str request = str_join_path(a, night_folder(a, home, night), STR(ADOPT_REQUEST));
    bool ok = adopt(a, home, &selection, false, ret, err);

    if (ok || err->kind != ERR_BUSY)
        (void)unlink(str_z(a, request));
    return ok;
}

/* Whether the user has decided about the night since. */
static bool is_settled(Arena *a, Str folder, Str night)
{
    Rejection no;
    Receipts r;
    Err ignored;

    return rejection_read(a, folder, &no) || !receipts_read(a, folder, night, &r, &ignored) || r.n;
}

bool adopt_left_over(Arena *a, const SleepHome *home, Adopted *ret, bool *ret_done, Err *err)
{
    Recovery recovery = { 0 };
    FileLock *lock;
    Str night, folder;
    char *request;
    Err none;

    *ret_done = false;
    if (!stage_latest(a, home, &night, &none))
        return true;
    folder = night_folder(a, home, night);
    request = str_z(a, str_join_path(a, folder, STR(ADOPT_REQUEST)));
    if (access(request, F_OK) != 0)
        return true;
    /* Receipts of an interrupted adoption are not a decision: roll it back first. */
    lock = adopt_begin(a, home, &recovery, err);
    if (!lock)
        return false;
    (void)lock_release(lock);
    if (is_settled(a, folder, night)) {
        (void)unlink(request);
        return true;
    }
    *ret_done = adopt_managed(a, home, night, ret, err);
    return *ret_done;
}

/* A night is checked as a whole before any of it is used: a row that was tampered with makes the others
 * doubtful too. */
#include "sleep/adoption/adopt.h"

#include "base/clock.h"
#include "base/limits.h"
#include "sleep/adoption/reject.h"
#include "sleep/adoption/stage.h"
#include "text/human.h"
#include "text/sha256.h"
#include "text/utf8.h"

/* -- what is chosen ----------------------------------------------------------------------------- */

bool selection_check(const Selection *s, Err *err)
{
    if ((s->n_skills > 0) + s->all_skills + s->legacy > 1)
        return err_set(err, ERR_USAGE, "give only one of --skill, --all-skills and --legacy");
    return true;
}

static bool chosen(const Selection *s, const StagedItem *item)
{
    if (item->kind != ITEM_SKILL)
        return !s->n_skills && !s->all_skills;
    for (size_t i = 0; i < s->n_skills; i++)
        if (str_eq(s->skills[i], item->name))
            return true;
    return s->all_skills;
}

static bool is_proposed(const Manifest *m, Str skill)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->items[i].kind == ITEM_SKILL && str_eq(m->items[i].name, skill))
            return true;
    return false;
}

/* The selection against what the night has. */
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

/* -- the night's files --------------------------------------------------------------------------- */

typedef struct Work {
    Arena *arena;
    const Selection *selection;
    Str night, folder;
    Manifest manifest;
    Receipts receipts;
    Change *changes;
    size_t n;
} Work;

static bool read_proposal(Arena *a, Str folder, const StagedItem *item, Str *ret, Err *err)
{
    LiveDoc doc; /* the same rules hold: a regular file of one name, UTF-8, reached without links */

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

/* An adopted row: its backup must still be what it was. */
static bool check_adopted(Work *w, const Receipt *r, Err *err)
{
    LiveDoc backup;

    if (!r->backup_path.n)
        return true;
    return (live_read(w->arena, str_join_path(w->arena, w->folder, r->backup_path), &backup, err) &&
            str_eq(backup.sha256, r->sha256_before)) ||
           err_set(err, ERR_REFUSED, "backup '%.*s' does not match its receipt",
                   STR_FMT(r->backup_path));
}

/* What is there must be what the night read. */
static bool check_pin(const StagedItem *item, const LiveDoc *live, Err *err)
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

    if (!read_proposal(w->arena, w->folder, item, &c.to, err))
        return false;
    if (adopted && !check_adopted(w, adopted, err))
        return false;
    if (!chosen(w->selection, item))
        return true;
    if (adopted)
        return err_set(err, ERR_CONFLICT, "'%.*s' of night '%.*s' is already adopted",
                       STR_FMT(item->name), STR_FMT(w->night));
    if (!live_read(w->arena, item->live_path, &c.live, err) || !check_pin(item, &c.live, err))
        return false;
    /* A skill that was looked up has its folder; only what sleep keeps itself may be new. */
    if (!live_missing_folders(w->arena, c.live.path, &c.folders, &c.n_folders, err))
        return false;
    if (c.n_folders && item->kind != ITEM_MANAGED)
        return err_set(err, ERR_CONFLICT, "the folder of '%.*s' is gone", STR_FMT(c.live.path));
    c.backup = backup_name(w->arena, item);
    w->changes[w->n++] = c;
    return true;
}

static bool plan(Work *w, Err *err)
{
    Rejection no;

    if (rejection_read(w->arena, w->folder, &no))
        return err_set(err, ERR_CONFLICT, "night '%.*s' was rejected", STR_FMT(w->night));
    if (!manifest_read(w->arena, w->folder, &w->manifest, err) ||
        !check_choice(w->selection, &w->manifest, w->night, err) ||
        !receipts_read(w->arena, w->folder, w->night, &w->receipts, err))
        return false;
    w->changes = ARENA_ARRAY(w->arena, Change, w->manifest.n);
    for (size_t i = 0; i < w->manifest.n; i++)
        if (!plan_item(w, &w->manifest.items[i], err))
            return false;
    return true;
}

/* -- doing it ------------------------------------------------------------------------------------ */

bool next_number(Arena *a, const SleepHome *home, int64_t *ret, Err *err)
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
            max = r.all[k].number > max ? r.all[k].number : max;
    }
    *ret = max + 1;
    return true;
}

static Receipt receipt_of(Work *w, const Change *c, int64_t number)
{
    return (Receipt){ .kind = c->kind,
                      .night = w->night,
                      .name = c->name,
                      .live_path = c->live.path,
                      .sha256_before = c->live.sha256,
                      .sha256_after = sha256_hex(w->arena, c->to),
                      .backup_path = c->backup,
                      .created = c->folders,
                      .n_created = c->n_folders,
                      .number = number,
                      .at = human_iso(w->arena, clock_wall()) };
}

static bool carry_out(Work *w, const Adopted *done, Err *err)
{
    AUTO(TargetLocks) *locks = target_locks_take(w->arena, w->changes, w->n, err);
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    ItemKind kind = w->changes[0].kind;
    Transaction t = { .folder = w->folder,
                      .action = STR("adopt"),
                      .changes = w->changes,
                      .n = w->n,
                      .receipts_file = receipts_file(kind) };

    if (!locks)
        return false;
    receipts_put(&text, &w->receipts, done->receipts, done->n, kind);
    if (buf_full(&text))
        return err_set(err, ERR_TOO_LARGE, "the receipts are larger than %d bytes",
                       LIMIT_SLEEP_FILE);
    t.receipts = buf_str(&text);
    return journal_run(w->arena, &t, err);
}

static bool find_night(Arena *a, const SleepHome *home, const Selection *s, Work *w, Err *err)
{
    Str night = s->night;

    if (!night.n && !night_proposed(a, home, &night, err))
        return false;
    if (!stage_find(a, home, night, &w->folder, err))
        return false;
    w->night = str_skip(w->folder, home->staging.n + 1);
    return true;
}

bool adopt(Arena *a, const SleepHome *home, const Selection *selection, bool dry_run, Adopted *ret,
           Err *err)
{
    Work w = { .arena = a, .selection = selection };
    AUTO(FileLock) *lock = NULL;
    Adopted done = { 0 };
    int64_t number;

    if (!selection_check(selection, err) || !find_night(a, home, selection, &w, err))
        return false;
    lock = adopt_begin(a, home, &done.recovery, err);
    if (!lock || !plan(&w, err) || !next_number(a, home, &number, err))
        return false;
    done.night = w.night;
    done.folder = w.folder;
    done.legacy = w.changes[0].kind != ITEM_SKILL;
    done.receipts = ARENA_ARRAY(a, Receipt, w.n);
    for (size_t i = 0; i < w.n; i++)
        done.receipts[done.n++] = receipt_of(&w, &w.changes[i], number);
    if (!dry_run && !carry_out(&w, &done, err))
        return err_wrap(err, "nothing was adopted");
    *ret = done;
    return true;
}

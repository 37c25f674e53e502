#include "demo/demo.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "demo/files.h"

/* -- telling ---------------------------------------------------------------------------- */

enum { PAUSE_SECONDS = 120 }; /* one user: sessions stand in a row, not on top of each other */

bool demo_tell(double now, DemoFn *fn, void *ctx, Err *err)
{
    AUTO(Arena) *keep = arena_new(), *each = arena_new();
    AUTO(World) *w = world_open(err);
    Dice luck = dice_of("luck", 0);
    double earliest = 0;
    Plan plan;

    if (!w)
        return false;
    plan = plan_make(keep, w, now);
    for (size_t i = 0; i < plan.n; i++) {
        Planned *p = plan.all[i];
        Told told = talk_tell(each, w, &plan, p, earliest, &luck);

        if (!fn(ctx, &told, err))
            return false;
        earliest = ceil(told.session.ended_at) + PAUSE_SECONDS;
        arena_reset(each);
    }
    return true;
}

/* -- counting --------------------------------------------------------------------------- */

typedef struct NameSet {
    Str *names;
    size_t n, cap;
} NameSet;

typedef struct Filling {
    Arena *arena;
    Own *own; /* NULL: only count */
    DemoReport *report;
    NameSet tools, models;
} Filling;

static void name_add(Arena *a, NameSet *set, Str name)
{
    for (size_t i = 0; i < set->n; i++)
        if (str_eq(set->names[i], name))
            return;
    ARENA_PUSH(a, set->names, set->n, set->cap, str_dup(a, name));
}

static void count_session(Filling *f, const Told *told)
{
    DemoReport *r = f->report;

    r->sessions++;
    r->messages += told->n;
    r->tool_calls += (size_t)told->session.tool_call_count;
    name_add(f->arena, &f->models, told->session.model);
    for (size_t i = 0; i < told->n; i++)
        if (told->messages[i].tool_name.p)
            name_add(f->arena, &f->tools, told->messages[i].tool_name);
    if (r->oldest == 0)
        r->oldest = told->session.started_at;
    r->newest = told->session.ended_at;
    r->tools = f->tools.n;
    r->models = f->models.n;
}

static bool take_session(void *ctx, const Told *told, Err *err)
{
    Filling *f = ctx;
    Made made = { .kind = STR("session"), .name = told->session.id };

    count_session(f, told);
    if (!f->own)
        return true;
    if (!own_add_session(f->own, &told->session, err) ||
        !own_note_made(f->own, DEMO_MAKER, &made, err))
        return false;
    for (size_t i = 0; i < told->n; i++)
        if (!own_add_message(f->own, &told->messages[i], err))
            return false;
    return true;
}

/* -- what is there ----------------------------------------------------------------------- */

static bool has_database(Arena *a, Str folder)
{
    struct stat st;

    return stat(str_z(a, str_join_path(a, folder, STR("talaria.db"))), &st) == 0;
}

/* Filling and removing take several transactions and files between them, so one at a time. The lock
 * is on the folder itself: no file is left behind, and the kernel lets go of it when we die. */
static Own *open_alone(Arena *a, Str folder, int *ret_lock, Err *err)
{
    AUTO(Own) *own = own_open(folder, err);
    int fd;

    if (!own)
        return NULL;
    fd = open(str_z(a, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        (void)err_errno(err, "cannot lock '%.*s'", STR_FMT(folder));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    *ret_lock = fd;
    return TAKE(own);
}

static size_t count_made(const Made *made, size_t n, const char *kind)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += str_eqz(made[i].kind, kind);
    return count;
}

static bool list_made(Own *own, Arena *a, Made **ret, size_t *ret_n, DemoReport *report, Err *err)
{
    if (!own_list_made(own, a, DEMO_MAKER, ret, ret_n, err))
        return false;
    report->sessions = count_made(*ret, *ret_n, "session");
    report->already = report->sessions > 0;
    return true;
}

/* -- removing --------------------------------------------------------------------------- */

static bool remove_sessions(Own *own, const Made *made, size_t n, DemoReport *report, Err *err)
{
    if (!own_begin(own, err))
        return false;
    /* By id, which begins with the time: from the back, so that no part is left without its parent. */
    for (size_t i = n; i > 0; i--) {
        if (!str_eqz(made[i - 1].kind, "session"))
            continue;
        if (!own_delete_session(own, made[i - 1].name, err) ||
            !own_forget_made(own, DEMO_MAKER, &made[i - 1], err))
            return false;
        report->sessions++;
    }
    return own_commit(own, err);
}

static bool remove_all(Own *own, Arena *a, Str folder, bool dry_run, DemoReport *report, Err *err)
{
    Made *made;
    size_t n;

    if (!own_list_made(own, a, DEMO_MAKER, &made, &n, err))
        return false;
    if (dry_run)
        report->sessions = count_made(made, n, "session");
    else if (!remove_sessions(own, made, n, report, err))
        return false;
    return files_remove(own, a, folder, made, n, dry_run, report, err);
}

static bool remove_alone(Arena *a, Str folder, bool dry_run, DemoReport *report, Err *err)
{
    int lock = -1;
    AUTO(Own) *own = open_alone(a, folder, &lock, err);
    bool ok = own && remove_all(own, a, folder, dry_run, report, err);

    if (own)
        own_rollback(own);
    if (lock >= 0)
        close(lock);
    return ok;
}

/* -- filling ---------------------------------------------------------------------------- */

/* All sessions or none. */
static bool fill_sessions(Own *own, Arena *a, double now, DemoReport *report, Err *err)
{
    Filling f = { .arena = a, .own = own, .report = report };

    return own_begin(own, err) && demo_tell(now, take_session, &f, err) && own_commit(own, err);
}

static bool fill(Own *own, Arena *a, Str folder, const DemoWish *wish, DemoReport *report, Err *err)
{
    AUTO(World) *w = NULL;
    DemoReport there = { 0 }, gone = { 0 };
    Made *made;
    size_t n;

    if (!list_made(own, a, &made, &n, &there, err))
        return false;
    if (there.already && !wish->force) {
        *report = there;
        return true;
    }
    if (there.already && !remove_all(own, a, folder, false, &gone, err))
        return false;
    w = world_open(err);
    return w && files_make(own, a, w, folder, report, err) &&
           fill_sessions(own, a, wish->now, report, err);
}

/* Opening would make the database, so a dry run opens it only where there is one. */
static bool fill_dry(Arena *a, Str folder, const DemoWish *wish, DemoReport *report, Err *err)
{
    AUTO(World) *w = world_open(err);
    AUTO(Own) *own = NULL;
    Filling f = { .arena = a, .report = report };
    DemoReport there = { 0 };
    Made *made;
    size_t n;

    if (!w)
        return false;
    if (has_database(a, folder)) {
        own = own_open(folder, err);
        if (!own || !list_made(own, a, &made, &n, &there, err))
            return false;
    }
    if (there.already && !wish->force) {
        *report = there;
        return true;
    }
    if (!there.already)
        files_count(a, w, folder, report);
    return demo_tell(wish->now, take_session, &f, err);
}

static bool fill_alone(Arena *a, Str folder, const DemoWish *wish, DemoReport *report, Err *err)
{
    int lock = -1;
    AUTO(Own) *own = open_alone(a, folder, &lock, err);
    bool ok = own && fill(own, a, folder, wish, report, err);

    if (own)
        own_rollback(own);
    if (lock >= 0)
        close(lock);
    return ok;
}

bool demo_fill(Arena *a, Str data_folder, const DemoWish *wish, DemoReport *ret, Err *err)
{
    DemoReport report = { 0 };
    bool ok = wish->dry_run ? fill_dry(a, data_folder, wish, &report, err)
                            : fill_alone(a, data_folder, wish, &report, err);

    if (!ok)
        return err_wrap(err, "cannot make the demo");
    *ret = report;
    return true;
}

bool demo_remove(Arena *a, Str data_folder, bool dry_run, DemoReport *ret, Err *err)
{
    DemoReport report = { 0 };

    if (has_database(a, data_folder) && !remove_alone(a, data_folder, dry_run, &report, err))
        return err_wrap(err, "cannot remove the demo");
    *ret = report;
    return true;
}

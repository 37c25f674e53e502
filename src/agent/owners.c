/* Whose runs are whose, and what goes with time.
 *
 * Every process that runs turns holds the lock of its own name while it lives. A run whose owner's
 * lock can be taken has lost its process; the kernel says so, whatever ended it, and no clock or
 * process number is trusted. */
#include <unistd.h>

#include "agent/files.h"
#include "agent/service_inside.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

enum { PRUNE_MS = 24 * 3600 * 1000, OLD_S = 24 * 3600, MAX_LOCKS = 100000 };

static char *owner_path(Arena *a, Str data, Str owner)
{
    return str_z(a, str_printf(a, "%.*s/agent/%.*s.lock", STR_FMT(data), STR_FMT(owner)));
}

bool service_own(Service *s, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str folder = str_join_path(a, s->options.homes->data, STR("agent"));

    id_make('p', s->owner);
    s->owner_path = mem_strdup(str_of(owner_path(a, s->options.homes->data, str_of(s->owner))));
    if (!folder_make(str_z(a, folder), err))
        return false;
    s->owner_lock = lock_take(s->owner_path, 0, err);
    return s->owner_lock != NULL;
}

void service_disown(Service *s)
{
    if (s->owner_lock)
        (void)unlink(s->owner_path);
    lock_release(s->owner_lock);
    s->owner_path = mem_free(s->owner_path);
}

/* The file of an owner that is gone goes too: its name is never used again. */
static bool is_process_gone(Str data, Str owner)
{
    AUTO(Arena) *a = arena_new();
    AUTO(FileLock) *lock = NULL;
    Err err;

    lock = lock_take(owner_path(a, data, owner), 0, &err);
    if (lock)
        (void)unlink(owner_path(a, data, owner));
    return lock != NULL;
}

bool service_is_gone(void *service, Str run_id, Str owner)
{
    Service *s = service;

    return str_eqz(owner, s->owner) ? !runlog_is_live(s->log, run_id)
                                    : is_process_gone(s->options.homes->data, owner);
}

static bool is_gone_from(void *data, Str run_id, Str owner)
{
    (void)run_id;
    return is_process_gone(*(const Str *)data, owner);
}

bool service_close_dead(Str data, Err *err)
{
    AUTO(Runs) *r = runs_open(data, err);
    size_t n;

    return r && runs_recover(r, is_gone_from, &data, &n, err);
}

static bool prune(Runs *r, Err *err)
{
    int64_t keep_ms = (int64_t)LIMIT_RUN_KEEP_DAYS * 24 * 3600 * 1000;

    return runs_prune(r, clock_wall_ms() - keep_ms, err);
}

bool service_recover(Service *s, Err *err)
{
    Runs *r = service_borrow_runs(s, err);
    size_t n = 0;
    bool ok = r && runs_recover(r, service_is_gone, s, &n, err) && prune(r, err);

    if (n)
        log_note("%zu runs were left unfinished and are closed now", n);
    service_return_runs(s, r);
    return ok;
}

static bool prune_is_due(Service *s)
{
    int64_t now = clock_mono_ms();
    bool due;

    pthread_mutex_lock(&s->lock);
    due = !s->pruned_ms || now - s->pruned_ms > PRUNE_MS;
    if (due)
        s->pruned_ms = now;
    pthread_mutex_unlock(&s->lock);
    return due;
}

/* Of processes that were killed with nothing under way. Young ones stay: whoever made one may be
 * about to lock it. */
static void sweep_locks(const Service *s)
{
    AUTO(Arena) *a = arena_new();
    Str folder = str_join_path(a, s->options.homes->data, STR("agent"));
    FileEntry *all;
    size_t n = 0;
    Err none;

    if (!folder_list(a, str_z(a, folder), MAX_LOCKS, &all, &n, &none))
        return;
    for (size_t i = 0; i < n; i++) {
        char *path = str_z(a, str_join_path(a, folder, all[i].name));
        bool old = clock_wall() - all[i].mtime > OLD_S && str_ends(all[i].name, STR(".lock"));
        AUTO(FileLock) *lock = old ? lock_take(path, 0, &none) : NULL;

        if (lock)
            (void)unlink(path);
    }
}

static void tidy(void *service)
{
    Service *s = service;
    Err err = { 0 };
    Runs *r;

    sweep_locks(s);
    r = service_borrow_runs(s, &err);
    if (!r || !prune(r, &err))
        log_warning("old events of runs stay for now: %s", err.text);
    if (r)
        files_sweep(r, s->options.homes->data);
    service_return_runs(s, r);
}

void service_tidy(Service *s)
{
    if (prune_is_due(s))
        service_work(s, tidy, s);
}

/* Adoption right after a night. The wish is staged with the proposal and goes when it was tried, whatever
 * came of it: so a death in between leaves it for the next night to see to, and a document that was
 * changed meanwhile is not fought over night after night. */
#include <unistd.h>

#include "sleep/adoption/adopt.h"
#include "sleep/adoption/reject.h"
#include "sleep/adoption/stage.h"

bool adopt_managed(Arena *a, const SleepHome *home, Str night, Adopted *ret, Err *err)
{
    const Selection selection = { .night = night, .legacy = true };
    Str request = str_join_path(a, night_folder(a, home, night), STR(ADOPT_WISH));
    bool ok = adopt(a, home, &selection, false, ret, err);

    if (ok || err->kind != ERR_BUSY)
        (void)unlink(str_z(a, request));
    return ok;
}

/* Somebody has looked at it since, and decided. */
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
    request = str_z(a, str_join_path(a, folder, STR(ADOPT_WISH)));
    if (access(request, F_OK) != 0)
        return true;
    /* Receipts of an adoption that died are no decision: first it is rolled back. */
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

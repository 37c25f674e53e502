/* Every artefact is written whole by file_write_atomic; the batch is whole because of its order. */
#include "sleep/adoption/stage.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "text/sha256.h"
#include "text/utf8.h"

#define LATEST ".latest"

/* -- Names of nights -- */

static bool is_digits(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

bool night_name_ok(Str name)
{
    Str rest = name, day, time, n = STR("2");

    if (!str_split(&rest, '-', &day) || !str_split(&rest, '-', &time))
        return false;
    if (rest.n && !str_split(&rest, '-', &n))
        return false;
    return day.n == 8 && is_digits(day) && time.n == 6 && is_digits(time) && n.n <= 6 &&
           is_digits(n) && !rest.n && !str_ends(name, STR("-"));
}

Str night_folder(Arena *a, const SleepHome *home, Str night)
{
    return str_join_path(a, home->staging, night);
}

bool stage_reserve(Arena *a, const SleepHome *home, double now, Str *ret_night, Err *err)
{
    time_t seconds = (time_t)now;
    struct tm tm;
    char stamp[32];

    if (!sleep_home_make(home, err))
        return false;
    localtime_r(&seconds, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
    for (int n = 1; n <= LIMIT_SLEEP_NIGHTS; n++) {
        Str name = n == 1 ? str_dup(a, str_of(stamp)) : str_printf(a, "%s-%d", stamp, n);
        char *path = str_z(a, night_folder(a, home, name));

        if (mkdir(path, 0700) == 0) {
            *ret_night = name;
            return folder_sync(str_z(a, home->staging), err);
        }
        if (errno != EEXIST)
            return err_errno(err, "cannot make folder '%s'", path);
    }
    return err_set(err, ERR_CONFLICT, "no free name for a night at %s", stamp);
}

/* -- Publishing -- */

typedef struct Batch {
    Arena *arena;
    Str folder;
    Str *written; /* paths, so that they can be taken back */
    size_t n, cap;
} Batch;

static bool put_file(Batch *b, Str name, Str bytes, Err *err)
{
    Str path = str_join_path(b->arena, b->folder, name);

    if (!file_write_atomic(str_z(b->arena, path), bytes, err))
        return false;
    ARENA_PUSH(b->arena, b->written, b->n, b->cap, path);
    return true;
}

static bool put_proposal(Batch *b, const StageProposal *p, Manifest *m, Err *err)
{
    Str file = str_file_name(p->live->path);
    StagedItem item = { .kind = p->kind,
                        .live_path = p->live->path,
                        .sha256 = sha256_hex(b->arena, p->proposed),
                        .live_sha256 = p->live->sha256 };

    /* A managed skill is named by the folder of its SKILL.md. */
    item.name = p->kind == ITEM_SKILL ? p->name
                : p->kind == ITEM_MEMORY
                    ? file
                    : str_file_name(str_head(p->live->path, p->live->path.n - file.n - 1));
    item.proposed_file = proposed_name(b->arena, p->kind, item.name);
    if (utf8_valid_prefix(p->proposed) != p->proposed.n)
        return err_set(err, ERR_REFUSED, "the proposal for '%.*s' is not UTF-8",
                       STR_FMT(item.name));
    if (p->proposed.n > LIMIT_SLEEP_DOCUMENT)
        return err_set(err, ERR_TOO_LARGE, "the proposal for '%.*s' is larger than %d bytes",
                       STR_FMT(item.name), LIMIT_SLEEP_DOCUMENT);
    m->items[m->n++] = item;
    return live_unchanged(p->live, err) && manifest_check(m, err) &&
           put_file(b, item.proposed_file, p->proposed, err);
}

static bool put_all(Batch *b, const StageRequest *request, Manifest *m, Err *err)
{
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&text, 2);

    for (size_t i = 0; i < request->n_proposals; i++) {
        const StageProposal *p = &request->proposals[i];

        if (str_trim(p->proposed).n && !(p->live->exists && str_eq(p->live->bytes, p->proposed)) &&
            !put_proposal(b, p, m, err))
            return false;
    }
    for (size_t i = 0; i < request->n_files; i++)
        if (!put_file(b, request->files[i].name, request->files[i].bytes, err))
            return false;
    manifest_put(&w, m);
    buf_addc(&text, '\n');
    if (buf_full(&text))
        return err_set(err, ERR_TOO_LARGE, "the manifest is larger than %d bytes",
                       LIMIT_SLEEP_FILE);
    return put_file(b, STR(MANIFEST_FILE), buf_str(&text), err);
}

bool stage_publish(Arena *a, const SleepHome *home, const StageRequest *request, Manifest *ret,
                   Err *err)
{
    Batch batch = { .arena = a, .folder = night_folder(a, home, request->night) };
    Manifest m = { .accepted = request->accepted,
                   .live_skill_path = request->live_skill_path,
                   .live_memory_path = request->live_memory_path,
                   .items = ARENA_ARRAY(a, StagedItem, request->n_proposals + 1),
                   .skill_roots = request->skill_roots };
    Str latest = str_join_path(a, home->staging, STR(LATEST));

    if (!night_name_ok(request->night))
        return err_set(err, ERR_INVALID, "'%.*s' is not a night", STR_FMT(request->night));
    if (!sleep_home_make(home, err))
        return false;
    if (!put_all(&batch, request, &m, err)) {
        for (size_t i = batch.n; i-- > 0;)
            (void)unlink(str_z(a, batch.written[i]));
        return err_wrap(err, "cannot stage night '%.*s'", STR_FMT(request->night));
    }
    *ret = m;
    return file_write_atomic(str_z(a, latest), request->night, err);
}

bool stage_discard(Arena *a, const SleepHome *home, Str night, Err *err)
{
    Str folder = night_folder(a, home, night);
    FileEntry *entries;
    size_t n;

    if (!night_name_ok(night))
        return err_set(err, ERR_INVALID, "'%.*s' is not a night", STR_FMT(night));
    if (access(str_z(a, str_join_path(a, folder, STR(MANIFEST_FILE))), F_OK) == 0)
        return err_set(err, ERR_CONFLICT, "night '%.*s' is published", STR_FMT(night));
    if (!folder_list(a, str_z(a, folder), LIMIT_SLEEP_NIGHTS, &entries, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        char *path = str_z(a, str_join_path(a, folder, entries[i].name));

        if (unlink(path) != 0)
            return err_errno(err, "cannot remove '%s'", path);
    }
    return rmdir(str_z(a, folder)) == 0 || err_errno(err, "cannot remove '%.*s'", STR_FMT(folder));
}

/* -- Finding -- */

static bool is_published(Arena *a, const SleepHome *home, Str night, double *ret_when)
{
    Str path = str_join_path(a, night_folder(a, home, night), STR(MANIFEST_FILE));
    struct stat st;

    if (!night_name_ok(night) || lstat(str_z(a, path), &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    *ret_when = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
    return true;
}

bool stage_find(Arena *a, const SleepHome *home, Str night, Str *ret_folder, Err *err)
{
    Str name = night;
    double when;

    while (str_ends(name, STR("/")))
        name.n--;
    if (name.n && name.p[0] == '/' && str_starts(name, home->staging))
        name = str_file_name(name);
    if (!is_published(a, home, name, &when))
        return err_set(err, ERR_NOT_FOUND, "no staged night '%.*s'", STR_FMT(night));
    *ret_folder = night_folder(a, home, name);
    return true;
}

/* "-10" comes after "-9": of names with the same second, the shorter first. */
static int by_night(const void *x, const void *y)
{
    const Str *a = x, *b = y;
    int order = str_cmp(str_head(*a, 15), str_head(*b, 15));

    if (order == 0 && a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return order ? order : str_cmp(*a, *b);
}

bool stage_nights(Arena *a, const SleepHome *home, Str **ret, size_t *ret_n, Err *err)
{
    char *staging = str_z(a, home->staging);
    FileEntry *entries = NULL;
    size_t n = 0, kept = 0;
    Str *nights;
    double when;

    if (access(staging, F_OK) == 0 &&
        !folder_list(a, staging, LIMIT_SLEEP_NIGHTS, &entries, &n, err))
        return false;
    nights = ARENA_ARRAY(a, Str, n + 1);
    for (size_t i = 0; i < n; i++)
        if (is_published(a, home, entries[i].name, &when))
            nights[kept++] = entries[i].name;
    qsort(nights, kept, sizeof *nights, by_night);
    *ret = nights;
    *ret_n = kept;
    return true;
}

bool stage_latest(Arena *a, const SleepHome *home, Str *ret_night, Err *err)
{
    Str said, *nights, best = STR_NONE;
    double when, newest = 0;
    Err ignored;
    size_t n;

    if (file_read(a, str_z(a, str_join_path(a, home->staging, STR(LATEST))), 64, &said, &ignored) &&
        is_published(a, home, str_trim(said), &when)) {
        *ret_night = str_trim(said);
        return true;
    }
    if (!stage_nights(a, home, &nights, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (is_published(a, home, nights[i], &when) && (!best.p || when >= newest)) {
            best = nights[i];
            newest = when;
        }
    if (!best.p)
        return err_set(err, ERR_NOT_FOUND, "no night yet; 'talaria sleep run' runs one");
    *ret_night = best;
    return true;
}

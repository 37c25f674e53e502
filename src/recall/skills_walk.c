/* Walking the roots. Folders are opened one below the other without following links, so that no
 * link in a plugin leads out of it; a folder that holds a SKILL.md is a skill, and what lies below
 * it is its own business. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/limits.h"
#include "recall/skills_inside.h"

enum { DEPTH = 8, NAMES = 4096 };

typedef struct Walk {
    Arena *arena;
    const SkillRoot *root;
    size_t root_at;
    SkillFile *all;
    size_t n, cap, left, seen;
    uint64_t stamp;
} Walk;

static void mix_file(Walk *w, Str path, const struct stat *st)
{
    const int64_t facts[] = { st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_size,
                              (int64_t)st->st_ino };

    w->stamp = hash_bytes(hash_text(w->stamp, path), facts, sizeof facts);
}

static bool is_passed_over(Str name)
{
    return name.p[0] == '.' || str_is_one_of(name, "node_modules|__pycache__|build|dist|target");
}

static void add_skill(Walk *w, Str folder, Str name, Str above, const struct stat *st)
{
    SkillFile f = { .path = str_join_path(w->arena, folder, STR("SKILL.md")),
                    .name = name,
                    .category = above,
                    .origin = w->root->origin,
                    .root = w->root_at,
                    .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
                    .size = st->st_size };

    if (w->n >= LIMIT_SKILLS || st->st_size > LIMIT_SKILL_BYTES) {
        w->left++;
        return;
    }
    mix_file(w, f.path, st);
    ARENA_PUSH(w->arena, w->all, w->n, w->cap, f);
}

/* Names of the folders in a folder, in descending order: of two versions of a plugin the newer
 * first. */
static int descending(const void *a, const void *b)
{
    return str_cmp(*(const Str *)b, *(const Str *)a);
}

static Str *folders_in(Walk *w, DIR *dir, size_t *ret_n)
{
    Str *all = NULL;
    size_t n = 0, cap = 0;
    struct dirent *e;

    while (n < NAMES && (e = readdir(dir))) {
        Str name = str_of(e->d_name);

        if (is_passed_over(name) || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
            continue;
        name = str_dup(w->arena, name);
        ARENA_PUSH(w->arena, all, n, cap, name);
    }
    if (n)
        qsort(all, n, sizeof *all, descending);
    *ret_n = n;
    return all;
}

static Str category_below(Walk *w, Str above, Str name)
{
    return above.n ? str_printf(w->arena, "%.*s/%.*s", STR_FMT(above), STR_FMT(name)) : name;
}

static void walk_folder(Walk *w, int parent, Str folder, Str name, Str above, size_t depth)
{
    int fd = openat(parent, str_z(w->arena, depth ? name : folder),
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    struct stat st;
    DIR *dir;
    Str *names;
    size_t n;

    if (fd < 0)
        return;
    if (depth && fstatat(fd, "SKILL.md", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) {
        add_skill(w, folder, name, above, &st);
        close(fd);
        return;
    }
    dir = depth < DEPTH && w->seen++ < LIMIT_SKILLS * 8 ? fdopendir(fd) : NULL;
    if (!dir) {
        close(fd);
        return;
    }
    names = folders_in(w, dir, &n);
    for (size_t i = 0; i < n; i++)
        walk_folder(w, dirfd(dir), str_join_path(w->arena, folder, names[i]), names[i],
                    depth ? category_below(w, above, name) : STR(""), depth + 1);
    closedir(dir);
}

/* Files beside the skills that change what is made of them. */
static void mix_habits(Walk *w)
{
    static const char *const beside[] = { ".usage.json", "../config.yaml" };
    struct stat st;

    for (size_t i = 0; i < ARRAY_LEN(beside); i++) {
        Str path = str_join_path(w->arena, w->root->folder, str_of(beside[i]));

        if (stat(str_z(w->arena, path), &st) == 0)
            mix_file(w, path, &st);
    }
}

void skills_walk(Arena *a, const SkillRoot *roots, size_t n_roots, SkillFile **ret, size_t *ret_n,
                 size_t *ret_left, uint64_t *ret_stamp)
{
    Walk w = { .arena = a, .stamp = HASH_START };

    for (w.root_at = 0; w.root_at < n_roots; w.root_at++) {
        w.root = &roots[w.root_at];
        walk_folder(&w, AT_FDCWD, w.root->folder, STR(""), STR(""), 0);
        mix_habits(&w);
    }
    *ret = w.all;
    *ret_n = w.n;
    *ret_left = w.left;
    *ret_stamp = w.stamp;
}

/* Which transcripts are there: a walk that opens folders and no files.
 *
 * Below projects/ every .jsonl is a session or a side chain of one; below sessions/ and
 * archived_sessions/ every thread is one, in the newest of its rollouts; where the same is in both
 * places (Codex moves it) the longer one counts. Symbolic links below a root are not followed. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "transcripts/codex_base.h"
#include "transcripts/codex_names.h"
#include "transcripts/packed.h"
#include "transcripts/reader.h"
#include "transcripts/walk.h"

/* -- roots -- */

static bool is_folder(Arena *a, Str path)
{
    struct stat st;

    return path.n && stat(str_z(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

static bool absolute(Arena *a, Str path, Str *ret, Err *err)
{
    char here[LIMIT_PATH_BYTES];

    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    if (path.n && path.p[0] == '/') {
        *ret = str_dup(a, path);
        return true;
    }
    if (!getcwd(here, sizeof here))
        return err_errno(err, "cannot tell the current folder");
    *ret = str_join_path(a, str_of(here), path);
    return true;
}

/* Given, or by the environment, or the usual place below the user's home. */
static bool root_of(Arena *a, const char *given, const char *variable, Str usual, Str *ret,
                    bool *ret_present, Err *err)
{
    const char *set = getenv(variable), *home = getenv("HOME");
    Str path = given           ? str_of(given)
               : set && *set   ? str_of(set)
               : home && *home ? str_join_path(a, str_of(home), usual)
                               : STR_NONE;

    *ret = STR_NONE;
    *ret_present = false;
    if (!path.n)
        return true;
    if (!absolute(a, path, ret, err))
        return false;
    *ret_present = is_folder(a, *ret);
    if (given && !*ret_present)
        return err_set(err, ERR_NOT_FOUND, "no folder '%s'", given);
    return true;
}

bool transcript_roots(Arena *a, const char *claude_home, const char *codex_home,
                      TranscriptRoots *ret, Err *err)
{
    TranscriptRoots found;

    if (!root_of(a, claude_home, "CLAUDE_CONFIG_DIR", STR(".claude"), &found.claude,
                 &found.claude_present, err) ||
        !root_of(a, codex_home, "CODEX_HOME", STR(".codex"), &found.codex, &found.codex_present,
                 err))
        return false;
    *ret = found;
    return true;
}

/* -- what a file is by its place and name -- */

/* .../<session>/subagents/agent-x.jsonl: the folder above says whose it is. */
static Str parent_of(Str folder)
{
    size_t at = str_find(folder, STR("/subagents"));
    Str above = str_head(folder, at);

    if (at == folder.n)
        return STR_NONE;
    for (size_t i = above.n; i > 0; i--)
        if (above.p[i - 1] == '/')
            return str_skip(above, i);
    return above;
}

/* X(id, folder of its root, source, prefix, archived) */
#define PLACES(X)                                                                                  \
    X(CODEX_SESSIONS, "sessions", SOURCE_CODEX, "rollout-", false)                                 \
    X(CODEX_ARCHIVED, "archived_sessions", SOURCE_CODEX, "rollout-", true)                         \
    X(CLAUDE_PROJECTS, "projects", SOURCE_CLAUDE, "", false)

enum {
#define X(id, folder, source, prefix, archived) id,
    PLACES(X)
#undef X
        PLACE_COUNT
};

static const struct {
    const char *folder, *prefix;
    SourceKind source;
    bool archived;
} places[] = {
#define X(id, folder, source, prefix, archived) { folder, prefix, source, archived },
    PLACES(X)
#undef X
};

static TranscriptFile file_of(const WalkedFile *w, int place)
{
    TranscriptFile f = { .source = places[place].source,
                         .archived = places[place].archived,
                         .path = w->path,
                         .size = w->size,
                         .mtime_ns = w->mtime_ns,
                         .inode = w->inode };
    Str name = str_skip(w->path, w->name);

    f.stem = str_head(name, path_unpacked(name).n - 6);
    if (f.source == SOURCE_CODEX)
        (void)codex_name(w->path, &f.stem, &f.segment);
    if (f.source == SOURCE_CLAUDE) {
        f.parent = parent_of(str_head(w->path, w->name - 1));
        f.side_chain = f.parent.n > 0 || str_starts(name, STR("agent-"));
    }
    return f;
}

/* -- what is there twice -- */

/* Of the same stem: the one that counts first. A thread of Codex continues in the newest of its
 * files. */
static int by_stem(const void *left, const void *right)
{
    const TranscriptFile *a = *(TranscriptFile *const *)left, *b = *(TranscriptFile *const *)right;
    int order = str_cmp(a->stem, b->stem);

    if (order || (order = str_cmp(b->segment, a->segment)))
        return order;
    /* Codex unpacks what it continues with. */
    if ((order = path_is_packed(a->path) - path_is_packed(b->path)))
        return order;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->archived != b->archived ? a->archived - b->archived : str_cmp(a->path, b->path);
}

/* How many are left; their order stays. */
static size_t without_twins(Arena *a, TranscriptFile *all, size_t n)
{
    TranscriptFile **rollouts = ARENA_ARRAY(a, TranscriptFile *, n + 1);
    size_t n_rollouts = 0, kept = 0;

    for (size_t i = 0; i < n; i++)
        if (all[i].source == SOURCE_CODEX)
            rollouts[n_rollouts++] = &all[i];
    qsort(rollouts, n_rollouts, sizeof(TranscriptFile *), by_stem);
    for (size_t i = 1, first = 0; i < n_rollouts; i++) {
        if (str_eq(rollouts[i]->stem, rollouts[first]->stem))
            rollouts[i]->path = STR_NONE;
        else
            first = i;
    }
    for (size_t i = 0; i < n; i++)
        if (all[i].path.n)
            all[kept++] = all[i];
    return kept;
}

bool transcripts_look(Arena *a, const TranscriptRoots *roots, TranscriptFile **ret, size_t *ret_n,
                      Stamp *ret_stamp, Err *err)
{
    WalkRoot walked[PLACE_COUNT];
    int place_of[PLACE_COUNT];
    WalkedFile *found;
    size_t n_roots = 0, n;

    for (int i = 0; i < PLACE_COUNT; i++) {
        bool claude = places[i].source == SOURCE_CLAUDE;

        if (!(claude ? roots->claude_present : roots->codex_present))
            continue;
        place_of[n_roots] = i;
        walked[n_roots++] =
            (WalkRoot){ .path = str_join_path(a, claude ? roots->claude : roots->codex,
                                              str_of(places[i].folder)),
                        .prefix = str_of(places[i].prefix),
                        .suffix = STR(".jsonl"),
                        .packed = claude ? STR_NONE : STR(".jsonl" PACKED_SUFFIX) };
    }
    if (!walk_files(a, walked, n_roots, ret ? &found : NULL, &n, ret_stamp, err))
        return false;
    if (roots->codex_present)
        codex_names_stamp(a, roots->codex, ret_stamp);
    if (!ret)
        return true;
    *ret = ARENA_ARRAY(a, TranscriptFile, n + 1);
    for (size_t i = 0; i < n; i++)
        (*ret)[i] = file_of(&found[i], place_of[found[i].root]);
    *ret_n = without_twins(a, *ret, n);
    return true;
}

bool transcripts_find(Arena *a, const TranscriptRoots *roots, TranscriptFile **ret, size_t *ret_n,
                      Err *err)
{
    Stamp ignored;

    return transcripts_look(a, roots, ret, ret_n, &ignored, err);
}

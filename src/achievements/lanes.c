#include "achievements/lanes.h"

#include <sys/stat.h>
#include <unistd.h>

#include "achievements/cache.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "transcripts/reader.h"

enum { RACY_SECONDS = 2 };

static Homes empty_lanes(Arena *a, const Homes *homes)
{
    Homes lanes = *homes;

    lanes.all = ARENA_ARRAY(a, Home, homes->n + 2);
    lanes.n = 0;
    lanes.primary = NULL;
    return lanes;
}

static void add(Homes *lanes, const Home *home)
{
    lanes->all[lanes->n++] = *home;
    lanes->primary = &lanes->all[0];
}

Homes lanes_plugin(Arena *a, const Homes *homes)
{
    Homes lanes = empty_lanes(a, homes);

    for (size_t i = 0; i < homes->n; i++)
        if (homes->all[i].kind != HOME_OURS)
            add(&lanes, &homes->all[i]);
    return lanes;
}

static void add_files(Homes *lanes, HomeKind kind, const char *name, Str root, bool present)
{
    Home lane = {
        .kind = kind, .name = str_of(name), .path = root, .database = root, .present = present
    };

    if (root.n && lanes->n < LIMIT_HOMES)
        add(lanes, &lane);
}

bool lanes_all(Arena *a, const Homes *homes, Homes *ret, Err *err)
{
    Homes lanes = empty_lanes(a, homes);
    TranscriptRoots roots = { 0 };

    for (size_t i = 0; i < homes->n; i++)
        add(&lanes, &homes->all[i]);
    if (homes->primary->kind != HOME_GIVEN) {
        if (!transcript_roots(a, NULL, NULL, &roots, err))
            return false;
        add_files(&lanes, HOME_CLAUDE, "claude", roots.claude, roots.claude_present);
        add_files(&lanes, HOME_CODEX, "codex", roots.codex, roots.codex_present);
    }
    *ret = lanes;
    return true;
}

bool lane_is_files(const Home *lane)
{
    return lane->kind == HOME_CLAUDE || lane->kind == HOME_CODEX;
}

bool lane_there(const Home *lane)
{
    char path[LIMIT_PATH_BYTES];

    snprintf(path, sizeof path, "%.*s", STR_FMT(lane->database));
    return access(path, F_OK) == 0;
}

/* -- nothing new -- */

/* *ret_fresh: written within the clock's last ticks, so that a further write could look the
 * same. */
static uint64_t mix_home(uint64_t hash, const Home *home, bool *ret_fresh)
{
    static const char *const files[] = { "", "-wal", "-journal" };

    for (size_t k = 0; k < ARRAY_LEN(files); k++) {
        char path[LIMIT_PATH_BYTES];
        struct stat st = { 0 };

        snprintf(path, sizeof path, "%.*s%s", STR_FMT(home->database), files[k]);
        /* An empty log says nothing, and readers make it. */
        if (stat(path, &st) != 0 || st.st_size == 0)
            continue;
        hash = hash_bytes(hash, &st.st_ino, sizeof st.st_ino);
        hash = hash_bytes(hash, &st.st_size, sizeof st.st_size);
        hash = hash_bytes(hash, &st.st_mtim, sizeof st.st_mtim);
        *ret_fresh |= clock_wall() - (double)st.st_mtim.tv_sec < RACY_SECONDS;
    }
    return hash;
}

/* Transcripts only grow, so that a further write shows in the size. */
static uint64_t mix_files(uint64_t hash, const TranscriptRoots *roots, bool *ret_fresh)
{
    AUTO(Arena) *a = arena_new();
    Stamp stamp = { 0 };
    Err err;

    if (!roots->claude_present && !roots->codex_present)
        return hash;
    if (!transcripts_look(a, roots, NULL, NULL, &stamp, &err)) {
        *ret_fresh = true;
        return hash;
    }
    return hash_bytes(hash, &stamp, sizeof stamp);
}

uint64_t lanes_mark(const Homes *lanes)
{
    uint64_t hash = hash_number(HASH_START, RULES_VERSION);
    TranscriptRoots roots = { .claude = STR(""), .codex = STR("") };
    bool fresh = false;

    for (size_t i = 0; i < lanes->n; i++) {
        const Home *lane = &lanes->all[i];

        if (lane->kind == HOME_CLAUDE) {
            roots.claude = lane->path;
            roots.claude_present = lane_there(lane);
        } else if (lane->kind == HOME_CODEX) {
            roots.codex = lane->path;
            roots.codex_present = lane_there(lane);
        } else {
            hash = mix_home(hash, lane, &fresh);
        }
    }
    hash = mix_files(hash, &roots, &fresh);
    return fresh ? 0 : hash >> 1;
}

/* sleep_night.h - a staged night for tests, made through the interface that a real night uses. */
#ifndef TALARIA_TESTS_SLEEP_NIGHT_H
#define TALARIA_TESTS_SLEEP_NIGHT_H

#include "unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "sleep/adoption/adopt.h"
#include "sleep/adoption/stage.h"

typedef struct World {
    Arena *a;
    char root[64];
    SleepHome home;
    Str skills; /* a folder of skills */
    double now;
} World;

static inline World world_new(void)
{
    World w = { .a = arena_new(), .root = "/tmp/talaria-sleep-XXXXXX", .now = 1.8e9 };

    assert_non_null(mkdtemp(w.root));
    w.home = sleep_home(w.a, str_printf(w.a, "%s/data", w.root));
    w.skills = str_printf(w.a, "%s/skills", w.root);
    return w;
}

static inline Str skill_path(World *w, const char *name)
{
    return str_printf(w->a, "%.*s/%s/SKILL.md", STR_FMT(w->skills), name);
}

static inline void write_text(World *w, Str path, const char *text)
{
    size_t n = path.n;
    Err err;

    while (path.p[n - 1] != '/')
        n--;
    assert_true(folder_make(str_z(w->a, str_head(path, n - 1)), &err));
    assert_true(file_write_atomic(str_z(w->a, path), str_of(text), &err));
}

/* "" where there is no file. */
static inline Str read_text(World *w, Str path)
{
    Str text;
    Err err;

    return file_read(w->a, str_z(w->a, path), 1 << 20, &text, &err) ? text : STR("");
}

static inline LiveDoc *live_of(World *w, Str path)
{
    LiveDoc *doc = ARENA_NEW(w->a, LiveDoc);
    Err err;

    if (!live_read(w->a, path, doc, &err))
        fail_msg("%s", err.text);
    return doc;
}

static inline StageProposal proposal(World *w, ItemKind kind, const char *name, Str path,
                                     const char *text)
{
    return (StageProposal){
        .kind = kind, .name = str_of(name), .live = live_of(w, path), .proposed = str_of(text)
    };
}

static inline bool try_stage(World *w, const StageProposal *proposals, size_t n, Str *ret_night,
                             Manifest *m, Err *err)
{
    StageFile file = { STR("report.md"), STR("# Night 1\n") };
    StageRequest request = { .accepted = true,
                             .proposals = proposals,
                             .n_proposals = n,
                             .files = &file,
                             .n_files = 1,
                             .skill_roots = { .items = &w->skills, .n = 1 } };

    if (!stage_reserve(w->a, &w->home, w->now++, &request.night, err))
        return false;
    *ret_night = request.night;
    return stage_publish(w->a, &w->home, &request, m, err);
}

static inline Str stage_night(World *w, const StageProposal *proposals, size_t n)
{
    Str night = STR("");
    Manifest m;
    Err err;

    if (!try_stage(w, proposals, n, &night, &m, &err))
        fail_msg("%s", err.text);
    return night;
}

#endif

#include "achievements/paths.h"

#include <uthash.h>

#include "achievements/chars.h"
#include "base/arena.h"

typedef struct Entry {
    Str name;
    UT_hash_handle hh;
} Entry;

struct Paths {
    Entry *table; /* in the arena, with the names */
    Arena *names;
};

/* -- The set -- */

Paths *paths_new(void)
{
    Paths *set = mem_alloc(sizeof *set);

    set->names = arena_new();
    return set;
}

Paths *paths_free(Paths *set)
{
    if (set) {
        HASH_CLEAR(hh, set->table);
        arena_free(set->names);
        mem_free(set);
    }
    return NULL;
}

void paths_clear(Paths *set)
{
    HASH_CLEAR(hh, set->table);
    arena_reset(set->names);
}

size_t paths_count(const Paths *set)
{
    return HASH_COUNT(set->table);
}

static void add(Paths *set, Str name)
{
    Entry *e;

    HASH_FIND(hh, set->table, name.p, name.n, e);
    if (e)
        return;
    e = ARENA_NEW(set->names, Entry);
    e->name = str_dup(set->names, name);
    HASH_ADD_KEYPTR(hh, set->table, e->name.p, e->name.n, e);
}

/* -- runs -- */

static const Str extensions[] = {
    STR_INIT("py"),  STR_INIT("js"),   STR_INIT("ts"),  STR_INIT("tsx"),  STR_INIT("jsx"),
    STR_INIT("css"), STR_INIT("html"), STR_INIT("md"),  STR_INIT("json"), STR_INIT("yaml"),
    STR_INIT("yml"), STR_INIT("svg"),  STR_INIT("sql"), STR_INIT("sh"),
};

static const bool in_name[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['_'] = true,
    ['.'] = true,         ['/'] = true,         ['-'] = true,
};

static const char *run_end(const char *p, const char *end, bool ascii)
{
    for (;;) {
        size_t n;

        while (p < end && in_name[(unsigned char)*p])
            p++;
        if (p == end || ascii || (unsigned char)*p < 0x80 || !is_word(char_at(p, &n)))
            return p;
        p += n;
    }
}

static size_t extension_at(const char *p, const char *end)
{
    if (end - p < 2)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(extensions); i++) {
        Str e = extensions[i];

        /* Two letters tell nearly all of them apart. */
        if (p[0] == e.p[0] && p[1] == e.p[1] && (size_t)(end - p) >= e.n &&
            memcmp(p, e.p, e.n) == 0)
            return e.n;
    }
    return 0;
}

static void look_at_run(PathRun *run, const char *from, const char *end, bool ascii)
{
    run->end = run_end(from, end, ascii);
    run->dot = NULL;
    for (const char *p = run->end; p-- > from;) {
        size_t extension = *p == '.' ? extension_at(p + 1, run->end) : 0;

        if (extension) {
            run->dot = p;
            run->behind_dot = p + 1 + extension;
            return;
        }
    }
}

void paths_add_at(Paths *set, PathRun *run, const char *p, size_t n, const char *end, bool ascii)
{
    const char *from = p + n;

    if (run->done && p < run->done)
        return;
    if (!run->end || from >= run->end)
        look_at_run(run, from, end, ascii);
    if (!run->dot || run->dot <= from)
        return;
    add(set, (Str){ p, (size_t)(run->behind_dot - p) });
    run->done = run->behind_dot;
}

void paths_add_all(Paths *set, Str text, bool ascii)
{
    static const Str home = STR_INIT("/home/"), mnt = STR_INIT("/mnt/");
    const char *begin = text.p, *end = text.p + text.n;
    PathRun run = { 0 };

    for (const char *p = begin; p < end; p++) {
        Str rest = { p, (size_t)(end - p) };

        if ((*p != '/' && *p != '~') || !path_begins(p, begin, end))
            continue;
        if (*p == '~')
            paths_add_at(set, &run, p, 1, end, ascii);
        else if (p > begin && p[-1] == '.')
            paths_add_at(set, &run, p - 1, 2, end, ascii);
        if (str_starts(rest, home))
            paths_add_at(set, &run, p, home.n, end, ascii);
        else if (str_starts(rest, mnt))
            paths_add_at(set, &run, p, mnt.n, end, ascii);
    }
}

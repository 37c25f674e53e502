/* A hash table whose entries carry the number of the session they belong to: clearing it for the
 * next session is counting one up. */
#include "achievements/paths.h"

#include "achievements/chars.h"
#include "base/arena.h"

typedef struct Entry {
    uint32_t session, hash;
    Str name;
} Entry;

struct Paths {
    Entry *table;
    size_t mask, n;
    uint32_t session;
    Arena *names;
};

/* -- the set --------------------------------------------------------------------------- */

Paths *paths_new(void)
{
    Paths *set = mem_alloc(sizeof *set);

    set->mask = 255;
    set->table = mem_alloc((set->mask + 1) * sizeof *set->table);
    set->session = 1;
    set->names = arena_new();
    return set;
}

Paths *paths_free(Paths *set)
{
    if (set) {
        mem_free(set->table);
        arena_free(set->names);
        mem_free(set);
    }
    return NULL;
}

void paths_clear(Paths *set)
{
    set->n = 0;
    if (++set->session == 0) {
        memset(set->table, 0, (set->mask + 1) * sizeof *set->table);
        set->session = 1;
    }
    arena_reset(set->names);
}

size_t paths_count(const Paths *set)
{
    return set->n;
}

static uint32_t hash_of(Str s)
{
    uint64_t h = s.n * 0x9e3779b97f4a7c15u, word;

    for (; s.n >= 8; s = str_skip(s, 8)) {
        memcpy(&word, s.p, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    word = 0;
    if (s.n)
        memcpy(&word, s.p, s.n);
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    return (uint32_t)(h >> 32);
}

static Entry *entry_for(const Paths *set, uint32_t hash, Str name)
{
    size_t at = hash & set->mask;

    for (;; at = (at + 1) & set->mask) {
        Entry *e = &set->table[at];

        if (e->session != set->session || (e->hash == hash && str_eq(e->name, name)))
            return e;
    }
}

static void grow(Paths *set)
{
    Entry *old = set->table;
    size_t n = set->mask + 1;

    set->mask = n * 2 - 1;
    set->table = mem_alloc(n * 2 * sizeof *set->table);
    for (size_t i = 0; i < n; i++)
        if (old[i].session == set->session)
            *entry_for(set, old[i].hash, old[i].name) = old[i];
    mem_free(old);
}

static void add(Paths *set, Str name)
{
    uint32_t hash = hash_of(name);
    Entry *e = entry_for(set, hash, name);

    if (e->session == set->session)
        return;
    *e = (Entry){ set->session, hash, str_dup(set->names, name) };
    if (++set->n * 2 > set->mask)
        grow(set);
}

/* -- runs ------------------------------------------------------------------------------- */

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

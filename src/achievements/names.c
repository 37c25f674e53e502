#include "achievements/names.h"

#include <uthash.h>

#include "achievements/chars.h"
#include "achievements/rules.h"

enum { MAX_KEPT = 4096 }; /* names; above that the next session begins with none */

typedef struct Name {
    Str text;
    uint64_t metrics; /* a bit each */
    uint32_t session;
    UT_hash_handle hh;
    int64_t calls; /* in that session */
    int64_t last;  /* message that called it */
} Name;

struct Names {
    Name *table;
    Name **seen; /* the ones of this session */
    size_t n_seen, cap;
    uint32_t session;
    int64_t message, last_new; /* the one at hand; the one that used a tool first */
    bool map;
    Arena *texts;
};

_Static_assert(METRIC_COUNT <= 64, "a metric is a bit of Name.metrics");

Names *names_new(void)
{
    Names *names = mem_alloc(sizeof *names);

    names->texts = arena_new();
    return names;
}

Names *names_free(Names *names)
{
    if (names) {
        HASH_CLEAR(hh, names->table);
        mem_free(names->seen);
        arena_free(names->texts);
        mem_free(names);
    }
    return NULL;
}

void names_map(Names *names, bool on)
{
    names->map = on;
}

void names_begin(Names *names)
{
    names->n_seen = 0;
    names->message = names->last_new = 0;
    names->session++;
    if (HASH_COUNT(names->table) > MAX_KEPT || names->session == 0) {
        names->session = 1;
        HASH_CLEAR(hh, names->table);
        arena_reset(names->texts);
    }
}

/* -- what a name counts for -- */

/* As Python's lower() does it, as far as an ASCII needle can see: the sign for kelvin is a k. */
static Str lowered(Arena *a, Str name)
{
    char *out = arena_alloc(a, name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        if (str_starts(str_skip(name, i), STR("\xe2\x84\xaa"))) {
            out[n++] = 'k';
            i += 2;
        } else {
            out[n++] = lower(name.p[i]);
        }
    }
    return (Str){ out, n };
}

static const struct {
    Str tool, as;
    bool is_prefix;
} tools[] = {
#define TOOL(name, set, as, agent)        { STR_INIT(name), STR_INIT(as), false },
#define TOOL_PREFIX(name, set, as, agent) { STR_INIT(name), STR_INIT(as), true },
#include "../../data/tools.def"
#undef TOOL
#undef TOOL_PREFIX
};

/* Empty where the tool counts by its own name alone. */
static Str counts_as(Str name)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (tools[i].is_prefix ? str_starts(name, tools[i].tool) : str_eq(name, tools[i].tool))
            return tools[i].as;
    return STR("");
}

static uint64_t metrics_of(Arena *a, Str name)
{
    Str low = lowered(a, name);
    uint64_t bits = (uint64_t)1 << METRIC_TOOL_CALL_COUNT;

    for (size_t i = 0; i < rule_needles_n; i++)
        if (str_find(low, rule_needles[i].text) < low.n)
            bits |= (uint64_t)1 << rule_needles[i].metric;
    return bits;
}

static uint64_t metrics_for(const Names *names, Str name)
{
    Str as = names->map ? counts_as(name) : STR("");

    return metrics_of(names->texts, name) | (as.n ? metrics_of(names->texts, as) : 0);
}

/* -- the table -- */

static Name *name_for(Names *names, Str text)
{
    Name *name;

    HASH_FIND(hh, names->table, text.p, text.n, name);
    if (!name) {
        name = ARENA_NEW(names->texts, Name);
        name->text = str_dup(names->texts, text);
        name->metrics = metrics_for(names, text);
        HASH_ADD_KEYPTR(hh, names->table, name->text.p, name->text.n, name);
    }
    return name;
}

void names_row(Names *names, int64_t message)
{
    names->message = message;
}

void names_see(Names *names, Str name, bool called)
{
    Name *entry = name_for(names, name);

    if (entry->session != names->session) {
        entry->session = names->session;
        entry->calls = 0;
        names->last_new = names->message;
        if (names->n_seen == names->cap) {
            names->cap = names->cap ? names->cap * 2 : 64;
            names->seen = mem_resize(names->seen, names->cap, sizeof(Name *));
        }
        names->seen[names->n_seen++] = entry;
    }
    entry->calls += called;
    if (called)
        entry->last = names->message;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

void names_end(Names *names, Arena *a, SessionMetrics *ret)
{
    Str *texts = ARENA_ARRAY(a, Str, names->n_seen + 1);

    for (size_t i = 0; i < names->n_seen; i++) {
        const Name *name = names->seen[i];

        texts[i] = str_dup(a, name->text);
        if (!name->calls)
            continue;
        for (uint64_t bits = name->metrics; bits; bits &= bits - 1) {
            int metric = __builtin_ctzll(bits);

            ret->value[metric] += name->calls;
            if (name->last > ret->message[metric])
                ret->message[metric] = name->last;
        }
    }
    qsort(texts, names->n_seen, sizeof *texts, by_text);
    ret->tool_names = texts;
    ret->n_tool_names = names->n_seen;
    ret->value[METRIC_DISTINCT_TOOL_COUNT] = (int64_t)names->n_seen;
    ret->message[METRIC_DISTINCT_TOOL_COUNT] = names->last_new;
}

#include "achievements/match.h"

#include <hs/hs.h>
#include <pthread.h>

#include "achievements/rules.h"
#include "base/arena.h"

struct Matcher {
    hs_scratch_t *scratch;
    Hit *hits;
    size_t n, cap;
};

/* -- the words, once a process -- */

static hs_database_t *words;
static char trouble[200];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compile(void)
{
    AUTO(Arena) *a = arena_new();
    size_t n = rule_literals_n;
    const char **texts = ARENA_ARRAY(a, const char *, n);
    size_t *lengths = ARENA_ARRAY(a, size_t, n);
    unsigned *flags = ARENA_ARRAY(a, unsigned, n), *ids = ARENA_ARRAY(a, unsigned, n);
    hs_compile_error_t *why = NULL;

    for (size_t i = 0; i < n; i++) {
        texts[i] = rule_literals[i].text.p;
        lengths[i] = rule_literals[i].text.n;
        flags[i] = rule_literals[i].exact ? 0 : HS_FLAG_CASELESS;
        ids[i] = (unsigned)i;
    }
    if (hs_compile_lit_multi(texts, flags, ids, lengths, (unsigned)n, HS_MODE_BLOCK, NULL, &words,
                             &why) != HS_SUCCESS) {
        snprintf(trouble, sizeof trouble, "%s", why ? why->message : "no reason given");
        hs_free_compile_error(why);
        words = NULL;
    }
}

/* -- one thread -- */

Matcher *matcher_new(Err *err)
{
    Matcher *m;

    pthread_once(&once, compile);
    if (!words) {
        (void)err_set(err, ERR_INTERNAL, "cannot prepare the words of the achievements: %s",
                      trouble);
        return NULL;
    }
    m = mem_alloc(sizeof *m);
    if (hs_alloc_scratch(words, &m->scratch) != HS_SUCCESS) {
        (void)err_set(err, ERR_INTERNAL, "cannot prepare the search of the achievements");
        return matcher_free(m);
    }
    return m;
}

Matcher *matcher_free(Matcher *m)
{
    if (m) {
        hs_free_scratch(m->scratch);
        mem_free(m->hits);
        mem_free(m);
    }
    return NULL;
}

static int keep_hit(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                    void *ctx)
{
    Matcher *m = ctx;

    (void)from;
    (void)flags;
    if (m->n == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 4096;
        m->hits = mem_resize(m->hits, m->cap, sizeof *m->hits);
    }
    m->hits[m->n++] = (Hit){ (uint32_t)to, id };
    return 0;
}

const Hit *matcher_scan(Matcher *m, Str text, size_t *ret_n)
{
    m->n = 0;
    if (text.n)
        ASSERT(hs_scan(words, text.p, (unsigned)text.n, 0, m->scratch, keep_hit, m) == HS_SUCCESS);
    *ret_n = m->n;
    return m->hits;
}

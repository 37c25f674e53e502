/* Where each rule may apply.
 *
 * Every rule has an anchor of three bytes that are rare in ordinary text and that no match can do
 * without: "oke" for token, "ssw" for password and passwd, "h?_" for ghp_. One lookup per byte in
 * each of three tables (a bit a group of rules) finds them all at once; what follows runs only
 * there.
 *
 * To redact twice must change nothing. Two habits see to it. Nothing looks back behind a label:
 * scan_before() shows a ']' there, which is what the next reader will find. And no rule comes true
 * because text ahead of it became a label: '[' is in no set of bytes a secret is made of. */
#include "text/redact_table.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "base/limits.h"

/* -- tables -- */

/* Rules are put into groups, a bit each: names by themselves, tokens with others whose anchors are
 * alike. */
enum { GROUPS = 40, TOKEN_GROUPS = 22, GROUP_RULES = 64 };

static uint64_t anchors[ANCHOR_BYTES][256]; /* the groups that have this byte there */
uint8_t redact_lead_bytes[MAX_RULES];
static uint8_t anchor_of[MAX_RULES];
static uint16_t members[GROUPS][GROUP_RULES];
static uint8_t n_members[GROUPS];

/* Groups mix the bytes of their rules; which three bytes come together is a bit in another
 * table. */
enum { TRIPLES = 1 << 15, ENTRIES = 2048 };

static uint8_t triples[TRIPLES / 8];
static uint16_t triple_first[TRIPLES]; /* the first entry of the rules with these bytes; 0: none */
static struct {
    uint16_t next, rule;
} entries[ENTRIES];
static uint16_t n_entries = 1;
static uint64_t run_group;   /* that of redact_check_random */
static uint64_t open_groups; /* anchors with '?': too many to have their triples there */

static inline unsigned triple(const unsigned char *p)
{
    return ((p[0] * 41u + p[1]) * 41u + p[2]) % TRIPLES;
}

/* A '_' is everywhere, one with MIN_RUN letters and digits behind it, or as many as are there, is
 * rare. */
static inline bool run_follows(const unsigned char *p, size_t n)
{
    size_t at = n > MIN_RUN ? MIN_RUN : n - 1;

    while (at && redact_sets[p[at]] & SET_ALNUM)
        at--;
    return !at;
}

static inline uint64_t groups_at(const Scan *s, size_t i)
{
    const unsigned char *p = (const unsigned char *)s->p + i;
    uint64_t groups = anchors[0][p[0]] & anchors[1][p[1]] & anchors[2][p[2]];
    unsigned t;

    if (groups & run_group && !run_follows(p, s->n - i))
        groups &= ~run_group;
    if (!groups)
        return 0;
    t = triple(p);
    return triples[t / 8] >> t % 8 & 1 ? groups : groups & open_groups;
}

static size_t find_anchor_bytewise(const Scan *s, size_t i, uint64_t *ret_groups)
{
    for (; i + ANCHOR_BYTES <= s->n; i++)
        if ((*ret_groups = groups_at(s, i)))
            return i;
    *ret_groups = 0;
    return i;
}

#ifdef __SSE2__

/* The same for sixteen or thirty-two places at once: a byte is looked up by its two halves, for
 * eight groups in each table. That lets some wrong ones through, which groups_at then sees. */
enum { TABLES = GROUPS / 8 };

static uint8_t halves[TABLES][ANCHOR_BYTES][2][16]; /* eight groups, place, low or high, value */

typedef size_t FindAnchor(Scan *s, uint64_t *ret_groups);

/* The function for vectors of one width: V is their type, mm the prefix of what works on them. */
#define FIND_ANCHOR(name, isa, V, mm, si, load_table, bits)                                        \
    __attribute__((target(isa))) static inline bits name##_places(const char *p)                   \
    {                                                                                              \
        V low_bits = mm##_set1_epi8(15), all = mm##_setzero_##si(), low[ANCHOR_BYTES],             \
          high[ANCHOR_BYTES];                                                                      \
                                                                                                   \
        _Pragma("GCC unroll 8") for (int k = 0; k < ANCHOR_BYTES; k++)                             \
        {                                                                                          \
            V v = mm##_loadu_##si((const void *)(p + k));                                          \
                                                                                                   \
            low[k] = mm##_and_##si(v, low_bits);                                                   \
            high[k] = mm##_and_##si(mm##_srli_epi16(v, 4), low_bits);                              \
        }                                                                                          \
        _Pragma("GCC unroll 8") for (int t = 0; t < TABLES; t++)                                   \
        {                                                                                          \
            V a = mm##_set1_epi8(-1);                                                              \
                                                                                                   \
            _Pragma("GCC unroll 8") for (int k = 0; k < ANCHOR_BYTES; k++) a = mm##_and_##si(      \
                a, mm##_and_##si(mm##_shuffle_epi8(load_table(halves[t][k][0]), low[k]),           \
                                 mm##_shuffle_epi8(load_table(halves[t][k][1]), high[k])));        \
            all = mm##_or_##si(all, a);                                                            \
        }                                                                                          \
        return (bits) ~(unsigned)mm##_movemask_epi8(mm##_cmpeq_epi8(all, mm##_setzero_##si()));    \
    }                                                                                              \
                                                                                                   \
    __attribute__((target(isa))) static size_t name(Scan *s, uint64_t *ret_groups)                 \
    {                                                                                              \
        size_t i = s->pos;                                                                         \
        unsigned places;                                                                           \
                                                                                                   \
        if (i >= s->block &&                                                                       \
            i - s->block < s->block_bytes) { /* seen when the last one was found */                \
            places = s->places & (unsigned)(~0ull << (i - s->block));                              \
            i = s->block;                                                                          \
            goto found;                                                                            \
        }                                                                                          \
        for (; i + sizeof(V) + ANCHOR_BYTES <= s->n; i += sizeof(V)) {                             \
            places = name##_places(s->p + i);                                                      \
        found:                                                                                     \
            for (unsigned left = places; left; left &= left - 1) {                                 \
                size_t at = i + (size_t)__builtin_ctz(left);                                       \
                                                                                                   \
                if (!(*ret_groups = groups_at(s, at)))                                             \
                    continue;                                                                      \
                s->block = i;                                                                      \
                s->block_bytes = sizeof(V);                                                        \
                s->places = left;                                                                  \
                return at;                                                                         \
            }                                                                                      \
        }                                                                                          \
        return find_anchor_bytewise(s, i, ret_groups);                                             \
    }

#define LOAD_16(table) _mm_loadu_si128((const void *)(table))
#define LOAD_32(table) _mm256_broadcastsi128_si256(LOAD_16(table))

FIND_ANCHOR(find_anchor_16, "ssse3", __m128i, _mm, si128, LOAD_16, uint16_t)
FIND_ANCHOR(find_anchor_32, "avx2", __m256i, _mm256, si256, LOAD_32, uint32_t)

static size_t find_anchor_1(Scan *s, uint64_t *ret_groups)
{
    return find_anchor_bytewise(s, s->pos, ret_groups);
}

static FindAnchor *find_anchor;

size_t rules_find_anchor(Scan *s, uint64_t *ret_groups)
{
    return find_anchor(s, ret_groups);
}

#else

size_t rules_find_anchor(Scan *s, uint64_t *ret_groups)
{
    return find_anchor_bytewise(s, s->pos, ret_groups);
}

#endif

/* -- filling them -- */

static unsigned rarity(const Rule *r, char c)
{
    if (c == '*')
        return r->any[0] && !r->any[1] ? 3 : 1;
    if (c == '?')
        return 0;
    if (in_set((unsigned char)c, SET_DIGIT | SET_UPPER) || strchr("jqxzvk", c))
        return 4;
    return in_set((unsigned char)c, SET_ALPHA) ? 2 : 5;
}

/* Bytes before an anchor wait in a stream, and only SET_LEAD does. */
static uint8_t rarest_anchor(const Rule *r)
{
    unsigned best = 0;
    uint8_t at = 0;

    for (uint8_t i = 0; r->lead[i + 2]; i++) {
        unsigned sum =
            rarity(r, r->lead[i]) + rarity(r, r->lead[i + 1]) + rarity(r, r->lead[i + 2]);

        if (sum > best) {
            best = sum;
            at = i;
        }
        if (!in_set((unsigned char)r->lead[i], SET_LEAD))
            break;
    }
    return at;
}

/* The bytes that one place of a lead allows. */
typedef struct Bytes {
    unsigned char all[256];
    size_t n;
} Bytes;

static Bytes bytes_at(size_t i, size_t place)
{
    const Rule *r = &redact_rules[i];
    char want = r->lead[anchor_of[i] + place];
    Bytes b = { .n = 0 };

    if (want == '*')
        for (const char *c = r->any; *c; c++)
            b.all[b.n++] = (unsigned char)*c;
    else if (want == '?')
        for (int c = 1; c < 256; c++)
            b.all[b.n] = (unsigned char)c, b.n += in_set(c, SET_WORD);
    else
        b.all[b.n++] = (unsigned char)want;
    if (want != '?' && r->nocase)
        for (size_t k = 0, n = b.n; k < n; k++)
            if (in_set(b.all[k], SET_ALPHA))
                b.all[b.n++] = b.all[k] ^ 0x20;
    return b;
}

/* The halves of the bytes that a group has at each place. */
static uint16_t lows[GROUPS][ANCHOR_BYTES], highs[GROUPS][ANCHOR_BYTES];

/* How much the group lets through by halves of bytes, with these in it. */
static unsigned breadth(unsigned group, const uint16_t low[], const uint16_t high[])
{
    unsigned all = 1;

    for (size_t k = 0; k < ANCHOR_BYTES; k++)
        all *= (unsigned)(__builtin_popcount(lows[group][k] | low[k]) *
                          __builtin_popcount(highs[group][k] | high[k]));
    return all;
}

static bool same_anchor(size_t i, size_t k)
{
    return redact_rules[i].nocase == redact_rules[k].nocase &&
           memcmp(redact_rules[i].lead + anchor_of[i], redact_rules[k].lead + anchor_of[k],
                  ANCHOR_BYTES) == 0;
}

/* A name has its own group, or that of the one before it with the same anchor; others go where they
 * widen least. */
static unsigned choose_group(size_t i, const uint16_t low[], const uint16_t high[], unsigned *next)
{
    static const uint16_t none[ANCHOR_BYTES];
    const Rule *r = &redact_rules[i];
    unsigned best = 0, min = UINT32_MAX;

    if (r->nocase || memchr(r->lead + anchor_of[i], '?', ANCHOR_BYTES) ||
        r->check == redact_check_url)
        return i && same_anchor(i, i - 1) && *next > TOKEN_GROUPS ? *next - 1 : (*next)++;
    for (unsigned g = 0; g < TOKEN_GROUPS; g++) {
        unsigned wider = breadth(g, low, high) - breadth(g, none, none);

        if (n_members[g] < GROUP_RULES && wider < min) {
            min = wider;
            best = g;
        }
    }
    return best;
}

/* At the end of its chain: rules are asked in the order of the table. */
static void add_entry(size_t rule, unsigned t)
{
    uint16_t *at = &triple_first[t];

    triples[t / 8] |= (uint8_t)(1u << t % 8);
    for (; *at; at = &entries[*at].next)
        if (entries[*at].rule == rule)
            return;
    ASSERT(n_entries < ENTRIES);
    entries[n_entries].rule = (uint16_t)rule;
    *at = n_entries++;
}

/* Every way to write the anchor of a rule. */
static void fill_triples(size_t rule, const Bytes at[])
{
    for (size_t a = 0; a < at[0].n; a++)
        for (size_t b = 0; b < at[1].n; b++)
            for (size_t c = 0; c < at[2].n; c++) {
                unsigned char p[] = { at[0].all[a], at[1].all[b], at[2].all[c] };

                add_entry(rule, triple(p));
            }
}

static void fill_rule(size_t i, unsigned *next)
{
    const Rule *r = &redact_rules[i];
    uint16_t low[ANCHOR_BYTES] = { 0 }, high[ANCHOR_BYTES] = { 0 };
    Bytes at[ANCHOR_BYTES];
    unsigned group;

    redact_lead_bytes[i] = (uint8_t)strlen(r->lead);
    anchor_of[i] = r->anchor == ANCHOR_ANY ? rarest_anchor(r) : r->anchor;
    for (size_t k = 0; k < ANCHOR_BYTES; k++) {
        at[k] = bytes_at(i, k);
        for (size_t n = 0; n < at[k].n; n++) {
            low[k] |= (uint16_t)(1u << (at[k].all[n] & 15));
            high[k] |= (uint16_t)(1u << (at[k].all[n] >> 4));
        }
    }
    group = choose_group(i, low, high, next);
    ASSERT(group < GROUPS && n_members[group] < GROUP_RULES);
    members[group][n_members[group]++] = (uint16_t)i;
    for (size_t k = 0; k < ANCHOR_BYTES; k++) {
        lows[group][k] |= low[k];
        highs[group][k] |= high[k];
        for (size_t n = 0; n < at[k].n; n++)
            anchors[k][at[k].all[n]] |= (uint64_t)1 << group;
    }
    if (r->check == redact_check_random)
        run_group = (uint64_t)1 << group;
    if (memchr(r->lead + anchor_of[i], '?', ANCHOR_BYTES))
        open_groups |= (uint64_t)1 << group;
    else
        fill_triples(i, at);
}

#ifdef __SSE2__
static void fill_halves(unsigned group)
{
    for (size_t k = 0; k < ANCHOR_BYTES; k++)
        for (unsigned half = 0; half < 16; half++) {
            halves[group / 8][k][0][half] |= (uint8_t)((lows[group][k] >> half & 1u) << group % 8);
            halves[group / 8][k][1][half] |= (uint8_t)((highs[group][k] >> half & 1u) << group % 8);
        }
}
#endif

/* Before main, and only read from then on: no thread can meet them half done. */
__attribute__((constructor)) static void fill_tables(void)
{
    unsigned next = TOKEN_GROUPS;

    redact_fill_sets();
    for (size_t i = 0; i < redact_rules_n; i++)
        fill_rule(i, &next);
#ifdef __SSE2__
    for (unsigned g = 0; g < GROUPS; g++)
        fill_halves(g);
    __builtin_cpu_init();
    find_anchor = __builtin_cpu_supports("avx2")    ? find_anchor_32
                  : __builtin_cpu_supports("ssse3") ? find_anchor_16
                                                    : find_anchor_1;
#endif
}
static inline bool anchor_is(const Scan *s, size_t i, size_t at)
{
    const Rule *r = &redact_rules[i];

    for (size_t k = 0; k < ANCHOR_BYTES; k++)
        if (!redact_lead_takes(r, r->lead[anchor_of[i] + k], (unsigned char)s->p[at + k]))
            return false;
    return true;
}

/* True: s is done with; *ret says whether something was taken out. */
static inline bool apply_rule(Scan *s, size_t i, size_t anchor, bool *ret)
{
    const Rule *r = &redact_rules[i];

    /* Nothing is known of what stands before the floor, so no lead reaches back there. */
    if (anchor < s->floor + anchor_of[i] || !anchor_is(s, i, anchor))
        return false;
    *ret = redact_could_be(s, r, anchor - anchor_of[i]) && r->check(s, r, anchor - anchor_of[i]);
    return *ret || s->more;
}

bool rules_apply(Scan *s, uint64_t which, size_t anchor)
{
    uint16_t at = triple_first[triple((const unsigned char *)s->p + anchor)];
    bool done = false;

    for (s->more = false; at; at = entries[at].next)
        if (apply_rule(s, entries[at].rule, anchor, &done))
            return done;
    for (which &= open_groups; which; which &= which - 1) {
        unsigned group = (unsigned)__builtin_ctzll(which);

        for (size_t k = 0; k < n_members[group]; k++)
            if (apply_rule(s, members[group][k], anchor, &done))
                return done;
    }
    return false;
}

/* The rules, and where each may apply.
 *
 * Every rule has an anchor of three bytes that are rare in ordinary text and that no match can do
 * without: "oke" for token, "ssw" for password and passwd, "h?_" for ghp_. One lookup per byte in
 * each of three tables (a bit a group of rules) finds them all at once; what follows runs only there.
 *
 * To redact twice must change nothing. Two habits see to it. Nothing looks back behind a label:
 * scan_before() shows a ']' there, which is what the next reader will find. And no rule comes
 * true because text ahead of it became a label: '[' is in no set of bytes a secret is made of. */
#include "text/redact_table.h"

#ifdef __SSE2__
#include <tmmintrin.h>
#endif

#include "base/limits.h"

#define SECRET(name, before, lead, any, least, exact, set)                                         \
    { LABEL("_" #name), lead,   any,  ANCHOR_ANY, least, false, set, redact_check_token,           \
      redact_shape_run, before, exact },
#define NAME(word, anchor, check)                                                                  \
    {                                                                                              \
        LABEL(""), word, "", anchor, 0, true, 0, check, NULL                                       \
    }

const Rule redact_rules[] = {
#include "../../data/secrets.def"
    { LABEL("_JWT"), "eyJ", "", 0, 0, false, SET_WORD, redact_check_token, redact_shape_jwt },
    { LABEL("_DISCORD_TOKEN"), "*??", "MNO", 0, 0, false, SET_WORD, redact_check_token,
      redact_shape_discord },
    { LABEL("_TELEGRAM_TOKEN"), "*:?", "0123456789", 0, 35, false, SET_WORD, redact_check_telegram,
      redact_shape_telegram },
    { LABEL("_PRIVATE_KEY"), "-----BEGIN", "", 4, 0, false, 0, redact_check_pem, NULL },
    { LABEL("_URL_PASS"), "://", "", 0, 1, false, SET_URL_PASS, redact_check_url, NULL },
    { LABEL("_SAS_SIG"), "sig=", "", 1, 10, true, SET_SIG, redact_check_sig, NULL },
    NAME("key", 0, redact_check_key),
    NAME("token", 1, redact_check_token_name),
    NAME("secret", 1, redact_check_secret_name),
    NAME("password", 2, redact_check_password),
    NAME("passwd", 2, redact_check_password),
    NAME("pwd", 0, redact_check_pwd),
    NAME("authorization", 5, redact_check_authorization),
    NAME("bearer", 3, redact_check_bearer),
    NAME("passphrase", 4, redact_check_password),
    { LABEL(""), "pass*", "=:\"'", 2, 0, true, SET_ALPHA, redact_check_pass, NULL },
    { LABEL(""), "auth*", "=\"", 2, 0, true, SET_ALPHA, redact_check_auth, NULL },
    { LABEL("_COOKIE"), "cookie", "", 1, 0, true, 0, redact_check_cookie, NULL },
    { LABEL(""), " -*", "paw", 0, 0, false, SET_ALPHA, redact_check_argument, NULL },
    { LABEL(""), " -u", "", 0, 0, false, SET_ALPHA, redact_check_user, NULL },
    { LABEL(""), "--user", "", 0, 0, false, SET_ALPHA, redact_check_user, NULL },
};
const size_t redact_rules_n = ARRAY_LEN(redact_rules);

const Str redact_label_plain = LABEL(""), redact_label_db = LABEL("_DB_PASS"),
          redact_label_storage = LABEL("_STORAGE_KEY");

/* -- tables ------------------------------------------------------------------------ */

/* Rules are put into groups, a bit each: names by themselves, tokens with others whose anchors are alike. */
enum { GROUPS = 32, TOKEN_GROUPS = 17, GROUP_RULES = 64 };

static uint64_t anchors[ANCHOR_BYTES][256]; /* the groups that have this byte there */
uint8_t redact_lead_bytes[ARRAY_LEN(redact_rules)];
static uint8_t anchor_of[ARRAY_LEN(redact_rules)], group_of[ARRAY_LEN(redact_rules)];
static uint8_t members[GROUPS][GROUP_RULES], n_members[GROUPS];

_Static_assert(ARRAY_LEN(redact_rules) < 256, "rules are numbered in bytes");

/* Groups mix the bytes of their rules; what three bytes stand there together is a bit in another table. */
enum { TRIPLES = 1 << 15 };

static uint8_t triples[TRIPLES / 8];
static uint64_t open_groups; /* anchors with '?': too many to have their triples there */

static inline unsigned triple(const unsigned char *p)
{
    return ((p[0] * 41u + p[1]) * 41u + p[2]) % TRIPLES;
}

static inline uint64_t anchor_groups(const unsigned char *p)
{
    uint64_t groups = anchors[0][p[0]] & anchors[1][p[1]] & anchors[2][p[2]];
    unsigned t;

    if (!groups)
        return 0;
    t = triple(p);
    return triples[t / 8] >> t % 8 & 1 ? groups : groups & open_groups;
}

static size_t find_anchor_bytewise(const Scan *s, size_t i, uint64_t *ret_groups)
{
    for (; i + ANCHOR_BYTES <= s->n; i++)
        if ((*ret_groups = anchor_groups((const unsigned char *)s->p + i)))
            return i;
    *ret_groups = 0;
    return i;
}

#ifdef __SSE2__

/* The same for sixteen places at once: a byte is looked up by its two halves, for eight groups in each table. That
 * lets some wrong ones through, which anchor_groups then sees. */
enum { STEP = 16, TABLES = GROUPS / 8 };

static uint8_t halves[TABLES][ANCHOR_BYTES][2][16]; /* eight groups, place, low or high, value */
static bool can_shuffle;

__attribute__((target("ssse3"))) static inline __m128i look_up(const void *table, __m128i index)
{
    return _mm_shuffle_epi8(_mm_loadu_si128(table), index);
}

/* A bit for each of the sixteen places at p where an anchor may begin. */
__attribute__((target("ssse3"))) static inline unsigned anchors_in(const char *p)
{
    __m128i low_bits = _mm_set1_epi8(15), all = _mm_setzero_si128(), low[ANCHOR_BYTES],
            high[ANCHOR_BYTES];

    for (int k = 0; k < ANCHOR_BYTES; k++) {
        __m128i v = _mm_loadu_si128((const void *)(p + k));

        low[k] = _mm_and_si128(v, low_bits);
        high[k] = _mm_and_si128(_mm_srli_epi16(v, 4), low_bits);
    }
    for (int t = 0; t < TABLES; t++) {
        __m128i a = _mm_set1_epi8(-1);

        for (int k = 0; k < ANCHOR_BYTES; k++)
            a = _mm_and_si128(a, _mm_and_si128(look_up(halves[t][k][0], low[k]),
                                               look_up(halves[t][k][1], high[k])));
        all = _mm_or_si128(all, a);
    }
    return ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128())) & 0xffff;
}

__attribute__((target("ssse3"))) static size_t find_anchor_wide(const Scan *s, uint64_t *ret_groups)
{
    size_t i = s->pos;

    for (; i + STEP + ANCHOR_BYTES <= s->n; i += STEP)
        for (unsigned places = anchors_in(s->p + i); places; places &= places - 1) {
            size_t at = i + (size_t)__builtin_ctz(places);

            if ((*ret_groups = anchor_groups((const unsigned char *)s->p + at)))
                return at;
        }
    return find_anchor_bytewise(s, i, ret_groups);
}

size_t rules_find_anchor(const Scan *s, uint64_t *ret_groups)
{
    return can_shuffle ? find_anchor_wide(s, ret_groups)
                       : find_anchor_bytewise(s, s->pos, ret_groups);
}

#else

size_t rules_find_anchor(const Scan *s, uint64_t *ret_groups)
{
    return find_anchor_bytewise(s, s->pos, ret_groups);
}

#endif

/* -- filling them -------------------------------------------------------------------- */

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

/* The bytes that may stand at one place of a lead. */
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

/* A name has its own group, or that of the one before it with the same anchor; others go where they widen least. */
static unsigned choose_group(size_t i, const uint16_t low[], const uint16_t high[], unsigned *next)
{
    static const uint16_t none[ANCHOR_BYTES];
    const Rule *r = &redact_rules[i];
    unsigned best = 0, least = UINT32_MAX;

    if (r->nocase || memchr(r->lead + anchor_of[i], '?', ANCHOR_BYTES) ||
        r->check == redact_check_url)
        return i && same_anchor(i, i - 1) && *next > TOKEN_GROUPS ? *next - 1 : (*next)++;
    for (unsigned g = 0; g < TOKEN_GROUPS; g++) {
        unsigned wider = breadth(g, low, high) - breadth(g, none, none);

        if (n_members[g] < GROUP_RULES && wider < least) {
            least = wider;
            best = g;
        }
    }
    return best;
}

/* Every way to write the anchor of a rule. */
static void fill_triples(const Bytes at[])
{
    for (size_t a = 0; a < at[0].n; a++)
        for (size_t b = 0; b < at[1].n; b++)
            for (size_t c = 0; c < at[2].n; c++) {
                unsigned char p[] = { at[0].all[a], at[1].all[b], at[2].all[c] };
                unsigned t = triple(p);

                triples[t / 8] |= (uint8_t)(1u << t % 8);
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
    group_of[i] = (uint8_t)group;
    members[group][n_members[group]++] = (uint8_t)i;
    for (size_t k = 0; k < ANCHOR_BYTES; k++) {
        lows[group][k] |= low[k];
        highs[group][k] |= high[k];
        for (size_t n = 0; n < at[k].n; n++)
            anchors[k][at[k].all[n]] |= (uint64_t)1 << group;
    }
    if (memchr(r->lead + anchor_of[i], '?', ANCHOR_BYTES))
        open_groups |= (uint64_t)1 << group;
    else
        fill_triples(at);
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
    for (size_t i = 0; i < ARRAY_LEN(redact_rules); i++)
        fill_rule(i, &next);
#ifdef __SSE2__
    for (unsigned g = 0; g < GROUPS; g++)
        fill_halves(g);
    __builtin_cpu_init();
    can_shuffle = __builtin_cpu_supports("ssse3");
#endif
}
/* Most anchors of names are in "tokens", "keyboard" and "spoken": those end here. */
static bool could_be(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r);

    if (r->shape)
        return true;
    if (r->nocase && end < s->n && in_set((unsigned char)s->p[end], SET_ALNUM) && r->set == 0)
        return false;
    return redact_lead_end(s, r, start) != 0;
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
    if (anchor < s->floor + anchor_of[i] ||
        (n_members[group_of[i]] > 1 && !anchor_is(s, i, anchor)))
        return false;
    *ret = could_be(s, r, anchor - anchor_of[i]) && r->check(s, r, anchor - anchor_of[i]);
    return *ret || s->more;
}

bool rules_apply(Scan *s, uint64_t which, size_t anchor)
{
    bool done = false;

    for (s->more = false; which; which &= which - 1) {
        unsigned group = (unsigned)__builtin_ctzll(which);

        for (size_t k = 0; k < n_members[group]; k++)
            if (apply_rule(s, members[group][k], anchor, &done))
                return done;
    }
    return false;
}

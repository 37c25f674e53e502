/* The rules, and how each is checked once its anchor was seen.
 *
 * Every rule has an anchor of three bytes that are rare in ordinary text and that no match can do
 * without: "oke" for token, "ssw" for password and passwd, "h?_" for ghp_. One lookup per byte in
 * each of three tables (a bit a rule) finds them all at once; what follows runs only there.
 *
 * To redact twice must change nothing. Two habits see to it. Nothing looks back behind a label:
 * scan_before() shows a ']' there, which is what the next reader will find. And no rule comes
 * true because text ahead of it became a label: '[' is in no set of bytes a secret is made of. */
#include "text/redact_rules.h"

#ifdef __SSE2__
#include <tmmintrin.h>
#endif

#include "base/limits.h"

enum {
    SPOKEN_MOST = 256,  /* longer than this it is a secret, whatever it is made of */
    SPOKEN_LEAST = 6,   /* "token abc123" */
    LETTERS_LEAST = 16, /* "token abcdefghijklmnop" */
    BEARER_LEAST = 20,  /* "Bearer" is a word, too */
    JWT_PART_LEAST = 4, /* bytes of each of the three parts */
    URL_PART_MOST = 256 /* name or password in a URL */
};

typedef struct Rule Rule;
typedef bool Check(Scan *s, const Rule *r, size_t start);
typedef size_t Shape(Scan *s, const Rule *r, size_t from);

struct Rule {
    Str label;
    const char *lead; /* what it begins with: '*' is one of `any`, '?' a letter, digit, _ or - */
    const char *any;
    uint8_t anchor; /* where in the lead the anchor is */
    uint8_t least;  /* bytes of `set` that must follow */
    bool nocase;
    uint32_t set;
    Check *check;
    Shape *shape; /* NULL where the lead is a name, not part of a secret */
};

static Check check_token, check_telegram, check_pem, check_url, check_key, check_token_name,
    check_secret_name, check_password, check_pwd, check_sig, check_authorization, check_bearer;
static Shape shape_run, shape_jwt, shape_discord, shape_telegram;

#define LABEL(name) STR_INIT("[REDACTED" name "]")
#define TOKEN(name, lead, any, anchor, least, set)                                                 \
    {                                                                                              \
        LABEL("_" name), lead, any, anchor, least, false, set, check_token, shape_run              \
    }
#define NAME(word, anchor, check)                                                                  \
    {                                                                                              \
        LABEL(""), word, "", anchor, 0, true, 0, check, NULL                                       \
    }

static const Rule rules[] = {
    TOKEN("OPENAI_KEY", "sk-", "", 0, 10, SET_WORD),
    TOKEN("AWS_KEY", "A*IA", "KS", 1, 16, SET_CAPS),
    TOKEN("GITHUB_TOKEN", "gh*_", "pousr", 1, 20, SET_ALNUM),
    TOKEN("GITHUB_TOKEN", "github_pat_", "", 5, 20, SET_SNAKE),
    TOKEN("SLACK_TOKEN", "xox*-", "baprs", 0, 10, SET_WORD),
    TOKEN("SLACK_TOKEN", "xapp-", "", 2, 10, SET_WORD),
    TOKEN("SLACK_WEBHOOK", "hooks.slack.com/services/", "", 3, 10, SET_PATH),
    TOKEN("GOOGLE_KEY", "AIza", "", 1, 20, SET_WORD),
    TOKEN("GOOGLE_TOKEN", "ya29.", "", 1, 20, SET_WORD),
    TOKEN("GITLAB_TOKEN", "glpat-", "", 3, 20, SET_DOTTED),
    TOKEN("NPM_TOKEN", "npm_", "", 1, 30, SET_ALNUM),
    TOKEN("HF_TOKEN", "hf_", "", 0, 20, SET_ALNUM),
    TOKEN("STRIPE_KEY", "*k_live_", "sr", 1, 10, SET_ALNUM),
    TOKEN("STRIPE_KEY", "*k_test_", "sr", 1, 10, SET_ALNUM),
    TOKEN("GROQ_KEY", "gsk_", "", 1, 20, SET_ALNUM),
    TOKEN("SENDGRID_KEY", "SG.", "", 0, 40, SET_DOTTED),
    TOKEN("SHOPIFY_TOKEN", "shp*t_", "ap", 3, 20, SET_ALNUM),
    TOKEN("DO_TOKEN", "dop_v1_", "", 3, 40, SET_ALNUM),
    { LABEL("_JWT"), "eyJ", "", 0, 0, false, SET_WORD, check_token, shape_jwt },
    { LABEL("_DISCORD_TOKEN"), "*??", "MNO", 0, 0, false, SET_WORD, check_token, shape_discord },
    { LABEL("_TELEGRAM_TOKEN"), "*:?", "0123456789", 0, 35, false, SET_WORD, check_telegram,
      shape_telegram },
    { LABEL("_PRIVATE_KEY"), "-----BEGIN", "", 4, 0, false, 0, check_pem, NULL },
    { LABEL("_URL_PASS"), "://", "", 0, 1, false, SET_URL_PASS, check_url, NULL },
    { LABEL("_SAS_SIG"), "sig=", "", 1, 10, true, SET_SIG, check_sig, NULL },
    NAME("key", 0, check_key),
    NAME("token", 1, check_token_name),
    NAME("secret", 1, check_secret_name),
    NAME("password", 2, check_password),
    NAME("passwd", 2, check_password),
    NAME("pwd", 0, check_pwd),
    NAME("authorization", 5, check_authorization),
    NAME("bearer", 3, check_bearer),
};

static const Str label_plain = LABEL(""), label_db = LABEL("_DB_PASS"),
                 label_storage = LABEL("_STORAGE_KEY");

_Static_assert(ARRAY_LEN(rules) <= 32, "a rule is a bit in the masks of anchors");

/* -- tables ------------------------------------------------------------------------ */

static uint32_t anchors[ANCHOR_BYTES][256]; /* the rules that have this byte there: a bit each */
static uint8_t lead_bytes[ARRAY_LEN(rules)];

static bool lead_takes(const Rule *r, char want, int c)
{
    if (c <= 0)
        return false;
    if (want == '*')
        return strchr(r->any, c) != NULL;
    if (want == '?')
        return in_set(c, SET_WORD);
    return r->nocase ? scan_upper(c) == scan_upper(want) : c == want;
}

static inline uint32_t anchor_rules(const unsigned char *p)
{
    return anchors[0][p[0]] & anchors[1][p[1]] & anchors[2][p[2]];
}

static size_t find_anchor_bytewise(const Scan *s, size_t i, uint32_t *ret_rules)
{
    for (; i + ANCHOR_BYTES <= s->n; i++)
        if ((*ret_rules = anchor_rules((const unsigned char *)s->p + i)))
            return i;
    *ret_rules = 0;
    return i;
}

#ifdef __SSE2__

/* The same for sixteen places at once: rules are put into sixteen families, and a byte is looked
 * up by its two halves. That lets some wrong ones through, which anchor_rules then sees. */
enum { FAMILIES = 16, STEP = 16 };

static uint8_t halves[2][ANCHOR_BYTES][2][16]; /* eight families, place, low or high, value */
static bool can_shuffle;

/* Tokens together by what makes their anchors rare, the others by themselves. */
static unsigned family_of(const Rule *r)
{
    const char *anchor = r->lead + r->anchor;
    size_t from_end = (size_t)(rules + ARRAY_LEN(rules) - r);

    if (from_end <= FAMILIES - 3)
        return (unsigned)(FAMILIES - from_end);
    if (strchr("-._", anchor[2]))
        return 0;
    return anchor[0] == '_' || anchor[1] == '_' ? 1 : 2;
}

static void fill_halves(const Rule *r)
{
    unsigned family = family_of(r);

    for (size_t k = 0; k < ANCHOR_BYTES; k++)
        for (int c = 0; c < 256; c++)
            if (lead_takes(r, r->lead[r->anchor + k], c)) {
                halves[family / 8][k][0][c & 15] |= (uint8_t)(1u << family % 8);
                halves[family / 8][k][1][c >> 4] |= (uint8_t)(1u << family % 8);
            }
}

__attribute__((target("ssse3"))) static inline __m128i look_up(const void *table, __m128i index)
{
    return _mm_shuffle_epi8(_mm_loadu_si128(table), index);
}

/* A bit for each of the sixteen places at p where an anchor may begin. */
__attribute__((target("ssse3"))) static inline unsigned anchors_in(const char *p)
{
    __m128i low_bits = _mm_set1_epi8(15), a = _mm_set1_epi8(-1), b = a;

    for (int k = 0; k < ANCHOR_BYTES; k++) {
        __m128i v = _mm_loadu_si128((const void *)(p + k));
        __m128i low = _mm_and_si128(v, low_bits);
        __m128i high = _mm_and_si128(_mm_srli_epi16(v, 4), low_bits);

        a = _mm_and_si128(
            a, _mm_and_si128(look_up(halves[0][k][0], low), look_up(halves[0][k][1], high)));
        b = _mm_and_si128(
            b, _mm_and_si128(look_up(halves[1][k][0], low), look_up(halves[1][k][1], high)));
    }
    a = _mm_cmpeq_epi8(_mm_or_si128(a, b), _mm_setzero_si128());
    return ~(unsigned)_mm_movemask_epi8(a) & 0xffff;
}

__attribute__((target("ssse3"))) static size_t find_anchor_wide(const Scan *s, uint32_t *ret_rules)
{
    size_t i = s->pos;

    for (; i + STEP + ANCHOR_BYTES <= s->n; i += STEP)
        for (unsigned places = anchors_in(s->p + i); places; places &= places - 1) {
            size_t at = i + (size_t)__builtin_ctz(places);

            if ((*ret_rules = anchor_rules((const unsigned char *)s->p + at)))
                return at;
        }
    return find_anchor_bytewise(s, i, ret_rules);
}

size_t rules_find_anchor(const Scan *s, uint32_t *ret_rules)
{
    return can_shuffle ? find_anchor_wide(s, ret_rules)
                       : find_anchor_bytewise(s, s->pos, ret_rules);
}

#else

size_t rules_find_anchor(const Scan *s, uint32_t *ret_rules)
{
    return find_anchor_bytewise(s, s->pos, ret_rules);
}

#endif

static void fill_anchors(size_t i)
{
    const Rule *r = &rules[i];

    lead_bytes[i] = (uint8_t)strlen(r->lead);
    for (size_t k = 0; k < ANCHOR_BYTES; k++)
        for (int c = 0; c < 256; c++)
            if (lead_takes(r, r->lead[r->anchor + k], c))
                anchors[k][c] |= 1u << i;
}

/* Before main, and only read from then on: no thread can meet them half done. */
__attribute__((constructor)) static void fill_tables(void)
{
    redact_fill_sets();
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        fill_anchors(i);
#ifdef __SSE2__
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        fill_halves(&rules[i]);
    __builtin_cpu_init();
    can_shuffle = __builtin_cpu_supports("ssse3");
#endif
}

/* -- tokens that are known by their shape ------------------------------------------ */

static size_t lead_end(Scan *s, const Rule *r, size_t i)
{
    for (const char *want = r->lead; *want; want++, i++)
        if (!lead_takes(r, *want, scan_at(s, i)))
            return 0;
    return i;
}

/* Each shape answers from where on the rest is just a run of r->set, or 0. */
static size_t shape_run(Scan *s, const Rule *r, size_t from)
{
    size_t i = lead_end(s, r, from);

    return i && scan_run_end(s, i, r->set, r->least) == i + r->least ? i + r->least : 0;
}

static size_t shape_jwt(Scan *s, const Rule *r, size_t from)
{
    size_t i = lead_end(s, r, from);

    if (!i)
        return 0;
    for (int part = 0; part < 2; part++) {
        size_t end = scan_run_end(s, i, SET_WORD, LIMIT_REDACT_WINDOW / 4);

        if (end < i + JWT_PART_LEAST || scan_at(s, end) != '.')
            return 0;
        i = end + 1;
    }
    return scan_run_end(s, i, SET_WORD, JWT_PART_LEAST) == i + JWT_PART_LEAST ? i + JWT_PART_LEAST
                                                                              : 0;
}

/* 24 to 28 bytes, six, and at least 27, with dots between. */
static size_t shape_discord(Scan *s, const Rule *r, size_t from)
{
    size_t end = lead_end(s, r, from) ? scan_run_end(s, from, SET_WORD, 29) : 0;

    if (end < from + 24 || end > from + 28 || scan_at(s, end) != '.')
        return 0;
    if (scan_run_end(s, end + 1, SET_WORD, 7) != end + 7 || scan_at(s, end + 7) != '.')
        return 0;
    return scan_run_end(s, end + 8, SET_WORD, 27) == end + 35 ? end + 35 : 0;
}

/* A number of the bot and 35 bytes; the capitals tell it from a time and a hash. */
static size_t shape_telegram(Scan *s, const Rule *r, size_t from)
{
    size_t end = scan_run_end(s, from, SET_DIGIT, 11);

    if (end < from + 8 || end > from + 10 || scan_at(s, end) != ':' ||
        scan_run_end(s, end + 1, SET_WORD, r->least) != end + 1 + r->least)
        return 0;
    return scan_contains(s, end + 1, end + 1 + r->least, SET_UPPER) ? end + 1 + r->least : 0;
}

static bool check_token(Scan *s, const Rule *r, size_t start)
{
    size_t rest = scan_word_begins(s, start) ? r->shape(s, r, start) : 0;

    return rest &&
           scan_take_out(s, r->label, start, rest, (Skip){ .kind = SKIP_SET, .set = r->set });
}

static bool check_telegram(Scan *s, const Rule *r, size_t start)
{
    size_t rest, most = 10;

    if (!in_set(scan_before(s, start, 7), SET_DIGIT)) /* the minutes of a time, mostly */
        return false;
    for (; most && in_set(scan_before(s, start, 1), SET_DIGIT); most--)
        start--;
    if (!scan_word_begins(s, start) && scan_word_before(s, start, STR("bot")) == start)
        return false;
    rest = shape_telegram(s, r, start);
    return rest &&
           scan_take_out(s, r->label, start, rest, (Skip){ .kind = SKIP_SET, .set = r->set });
}

/* The rule whose shape begins at i, or NULL. */
static const Rule *token_at(Scan *s, size_t i)
{
    for (const Rule *r = rules; r < rules + ARRAY_LEN(rules); r++)
        if (r->shape && r->shape(s, r, i))
            return r;
    return NULL;
}

/* -- private keys ------------------------------------------------------------------ */

static bool check_pem(Scan *s, const Rule *r, size_t start)
{
    size_t end;

    return scan_pem_at(s, start, &end) &&
           scan_take_out(s, r->label, start, end,
                         (Skip){ .kind = SKIP_PEM, .left = (size_t)LIMIT_REDACT_WINDOW });
}

/* Takes out the value behind the sign. Quotes stay where the name has them (JSON stays JSON) and
 * around a token of known shape, which keeps its own label but behind a quoted name. */
static bool take_value(Scan *s, const Sign *sign, Str label)
{
    const Rule *token = NULL;
    size_t end;
    Value v;

    if (!scan_value_at(s, sign, &v) || scan_label_at(s, v.content) ||
        scan_pem_at(s, v.content, &end))
        return false;
    if (!sign->quoted)
        token = token_at(s, v.content);
    v.skip.keep = sign->quoted || token || sign->encoded;
    return scan_take_out(s, token ? token->label : label, v.skip.keep ? v.content : sign->value,
                         v.content, v.skip);
}

/* -- names that say secret ---------------------------------------------------------- */

/* "key" is one only as the end of these, in one word, with '_' or with '-'. */
static size_t key_name_start(const Scan *s, size_t key)
{
    size_t access = scan_part_before(s, key, STR("access")), at;

    if (access < key) {
        at = scan_part_before(s, access, STR("secret"));
        at = at < access ? at : scan_part_before(s, access, STR("shared"));
        return at < access ? at : key;
    }
    at = scan_part_before(s, key, STR("api"));
    at = at < key ? at : scan_part_before(s, key, STR("secret"));
    return at < key ? at : scan_part_before(s, key, STR("private"));
}

/* In one word more may stand before it: myApiKey. */
static bool begins_or_glued(const Scan *s, size_t start, size_t end)
{
    return scan_word_begins(s, start) ||
           (!memchr(s->p + start, '_', end - start) && !memchr(s->p + start, '-', end - start));
}

/* clientSecret is always one; botToken only as a name in JSON, since programs are full of them. */
static bool is_hump(const Scan *s, size_t start)
{
    int c = scan_before(s, start, 1);

    return in_set((unsigned char)s->p[start], SET_UPPER) && in_set(c, SET_ALNUM) &&
           !in_set(c, SET_UPPER) && !in_set((unsigned char)s->p[start + 1], SET_UPPER);
}

static bool name_ends_at(const Scan *s, size_t end)
{
    static const Str words[] = { STR_INIT("key"), STR_INIT("token"), STR_INIT("secret"),
                                 STR_INIT("password"), STR_INIT("passwd") };

    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (scan_word_before(s, end, words[k]) < end)
            return true;
    return false;
}

/* Whether what follows "token " is one: a digit or a mark, or longer than words are. Letters with
 * only - . / between ("and/or", "well-known") count as the words they are. */
static bool sounds_secret(const Scan *s, size_t from, size_t to)
{
    size_t letters = 0;

    if (to - from < SPOKEN_LEAST || !scan_contains(s, from, to, SET_ALNUM))
        return false;
    if (scan_contains(s, from, to, SET_DIGIT | SET_MARK))
        return true;
    for (size_t i = from; i < to; i++)
        letters += in_set((unsigned char)s->p[i], SET_ALPHA);
    return to - from >= LETTERS_LEAST && letters * 4 >= (to - from) * 3;
}

/* Where the words behind "token " end; from itself where they are part of a sentence or a program:
 * a call, a tag, a word of another script, or a name that has its own value to come. */
static size_t spoken_end(Scan *s, size_t from, size_t to)
{
    int c = scan_at(s, to);

    if (c >= 0x80 || c == '(' || c == '[' || c == '{' || c == '<')
        return from;
    while (to > from && strchr(".:?!", s->p[to - 1]))
        to--;
    for (size_t end = to; end > from; end--) {
        if (name_ends_at(s, end))
            return from;
        if (s->p[end - 1] != '=' && s->p[end - 1] != ':')
            break;
    }
    return to;
}

static bool check_spoken(Scan *s, size_t name, size_t name_end)
{
    size_t from = scan_blanks_end(s, name_end, false), to;
    Skip skip = { 0 };

    if (from == name_end || !scan_word_begins(s, name) || scan_before(s, name, 1) == '_')
        return false;
    to = scan_run_end(s, from, SET_SPOKEN, SPOKEN_MOST);
    if (to == from + SPOKEN_MOST)
        skip = (Skip){ .kind = SKIP_SET, .set = SET_SPOKEN };
    else
        to = spoken_end(s, from, to);
    return sounds_secret(s, from, to) && !token_at(s, from) &&
           scan_take_out(s, label_plain, from, to, skip);
}

static bool check_named(Scan *s, size_t start, size_t end, bool named)
{
    Sign sign;

    if (in_set(scan_at(s, end), SET_ALNUM) || !scan_sign_at(s, end, &sign))
        return false;
    if (!named) {
        named = sign.quoted && is_hump(s, start) && !sign.encoded &&
                in_set(scan_at(s, sign.value), SET_QUOTE);
    }
    return named && take_value(s, &sign, label_plain);
}

static bool check_token_name(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + lead_bytes[r - rules];
    bool named = scan_word_begins(s, start) || scan_word_before(s, start, STR("access")) < start ||
                 scan_word_before(s, start, STR("refresh")) < start;

    return check_named(s, start, end, named) || (!s->more && check_spoken(s, start, end));
}

static bool check_secret_name(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + lead_bytes[r - rules];
    bool named = scan_word_begins(s, start) || scan_word_before(s, start, STR("client")) < start;

    return check_named(s, start, end, named) || (!s->more && check_spoken(s, start, end));
}

/* Password= alone is how a connection string has it, and says so in its label. */
static bool check_password(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + lead_bytes[r - rules];
    bool begins = scan_word_begins(s, start), alone = !in_set(scan_before(s, start, 1), SET_WORD);
    Sign sign;

    if (r->lead[4] == 'w' && r->lead[5] == 'o' &&
        (alone || (begins && scan_behind_escape(s, start))) && scan_sign_at(s, end, &sign) &&
        sign.tight)
        return take_value(s, &sign, label_db);
    return check_named(s, start, end, begins) ||
           (!s->more && r->lead[5] == 'o' && check_spoken(s, start, end));
}

static bool check_key(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + lead_bytes[r - rules], name = key_name_start(s, start);
    size_t account = scan_word_before(s, start, STR("account"));
    Sign sign;

    if (account < start && scan_word_begins(s, account) && scan_sign_at(s, end, &sign))
        return take_value(s, &sign, sign.quoted ? label_plain : label_storage);
    if (name == start)
        return false;
    if (check_named(s, name, end, begins_or_glued(s, name, start)))
        return true;
    return !s->more && scan_part_before(s, start, STR("api")) == name && check_spoken(s, name, end);
}

/* PWD is a folder to every shell, and a password only in a connection string. */
static bool check_pwd(Scan *s, const Rule *r, size_t start)
{
    size_t back = 1;
    bool folder = memcmp(s->p + start, "PWD", 3) == 0;
    Sign sign;

    if (!scan_word_begins(s, start) || !scan_sign_at(s, start + lead_bytes[r - rules], &sign))
        return false;
    if (sign.quoted)
        return !folder && take_value(s, &sign, label_plain);
    while (folder && back < 4 && scan_before(s, start, back) == ' ')
        back++;
    if (folder && scan_before(s, start, back) != ';')
        return false;
    return (sign.tight || sign.encoded) && take_value(s, &sign, label_db);
}

/* -- names of other kinds ----------------------------------------------------------- */

static bool check_sig(Scan *s, const Rule *r, size_t start)
{
    size_t from = start + lead_bytes[r - rules], rest = from + r->least;

    return scan_word_begins(s, start) && !strchr("_-", scan_before(s, start, 1)) &&
           scan_run_end(s, from, r->set, r->least) == rest &&
           scan_take_out(s, r->label, from, rest, (Skip){ .kind = SKIP_SET, .set = r->set });
}

/* Where the credentials begin behind "Bearer ", or 0. */
static size_t scheme_end(Scan *s, size_t i, bool encoded)
{
    static const Str schemes[] = { STR_INIT("bearer"), STR_INIT("basic"), STR_INIT("token") };

    for (size_t k = 0; k < ARRAY_LEN(schemes); k++)
        if (scan_has(s, i, schemes[k])) {
            size_t end = i + schemes[k].n, from = scan_blanks_end(s, end, encoded);

            return from > end ? from : 0;
        }
    return 0;
}

static bool check_authorization(Scan *s, const Rule *r, size_t start)
{
    Sign sign, inner = { 0 };
    unsigned depth;
    size_t i;

    if (!scan_word_begins(s, start) || !scan_sign_at(s, start + lead_bytes[r - rules], &sign))
        return false;
    i = sign.value;
    if (!scan_quote_at(s, i, &depth, &i) && scan_has(s, i, STR("%22")))
        i += 3;
    inner.encoded = sign.encoded;
    inner.value = scheme_end(s, i, sign.encoded);
    if (inner.value)
        return take_value(s, &inner, r->label);
    return sign.quoted && in_set(scan_at(s, sign.value), SET_QUOTE) &&
           take_value(s, &sign, r->label);
}

static bool check_bearer(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + lead_bytes[r - rules], from = scan_blanks_end(s, end, true);
    size_t rest = scan_run_end(s, from, SET_BEARER, BEARER_LEAST);

    return from > end && scan_word_begins(s, start) && rest == from + BEARER_LEAST &&
           scan_contains(s, from, rest, SET_DIGIT) && !token_at(s, from) &&
           scan_take_out(s, r->label, from, rest, (Skip){ .kind = SKIP_SET, .set = SET_BEARER });
}

/* scheme://name:password@host. The name may be a token of its own (ghp_...:x@github.com), so the
 * scan reads it first. */
static bool check_url(Scan *s, const Rule *r, size_t start)
{
    size_t user, from, to;

    if (!in_set(scan_before(s, start, 1), SET_ALNUM))
        return false;
    user = scan_run_end(s, start + lead_bytes[r - rules], SET_URL_USER, URL_PART_MOST);
    if (scan_at(s, user) != ':')
        return false;
    from = user + 1;
    to = scan_run_end(s, from, r->set, URL_PART_MOST);
    if (scan_at(s, scan_run_end(s, from, SET_DIGIT, URL_PART_MOST)) == '/') /* only a port */
        return false;
    if (to > from && scan_at(s, to) == '@' && !s->more) {
        s->due_from = from;
        s->due_to = to;
        s->due_label = r->label;
    }
    return false;
}

/* Most anchors of names are in "tokens", "keyboard" and "spoken": those end here. */
static bool could_be(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + lead_bytes[r - rules];

    if (r->shape)
        return true;
    if (r->nocase && end < s->n && in_set((unsigned char)s->p[end], SET_ALNUM) && r->set == 0)
        return false;
    return lead_end(s, r, start) != 0;
}

bool rules_apply(Scan *s, uint32_t which, size_t anchor)
{
    for (s->more = false; which; which &= which - 1) {
        const Rule *r = &rules[__builtin_ctz(which)];

        /* Nothing is known of what stands before the floor, so no lead reaches back there. */
        if (anchor < s->floor + r->anchor)
            continue;
        if (could_be(s, r, anchor - r->anchor) && r->check(s, r, anchor - r->anchor))
            return true;
        if (s->more)
            return false;
    }
    return false;
}

/* Tokens of vendors that no row names: a short prefix, a '_' or '-', and many letters and digits
 * drawn by lot.
 *
 * What follows may be a label the next time, and must not make true what was not: so a '[' ends it
 * as a path does. */
#include "text/redact_table.h"

enum {
    MIN_PREFIX = 2,
    MAX_PREFIX = 20,     /* sk-ant-api03-, bedrock-api-key- */
    MAX_PREFIX_HEX = 10, /* what programs make of hashes has longer names */
    MIN_BODY = 20,
    BODY_SHORT =
        16, /* with capitals and digits behind a '_'; others of that length are numbers of things */
    MIN_BODY_HEX = 32, /* shorter ones are mostly numbers of versions and colours */
    MAX_BODY = 128,
    MIN_NAMED = 16 /* bytes of a value behind a name that may be something else, too */
};

/* The kinds of bytes, and how often one kind follows another. */
typedef struct Kinds {
    size_t digits, uppers, lowers, changes;
    size_t words; /* small letters with at least two others beside them */
    bool hex;
} Kinds;

static Kinds count_kinds(const Scan *s, size_t from, size_t to)
{
    Kinds k = { .hex = true };
    size_t small = 0;
    int last = -1;

    for (size_t i = from; i < to; i++) {
        int c = (unsigned char)s->p[i], kind;

        if (!in_set(c, SET_ALNUM))
            continue;
        kind = in_set(c, SET_DIGIT) ? 0 : in_set(c, SET_UPPER) ? 1 : 2;

        k.digits += kind == 0;
        k.uppers += kind == 1;
        k.lowers += kind == 2;
        k.changes += last >= 0 && kind != last;
        k.hex &= in_set(c, SET_HEX);
        small = kind == 2 ? small + 1 : 0;
        k.words += small > 3 ? 1 : small == 3 ? 3 : 0;
        last = kind;
    }
    return k;
}

/* Of bytes drawn by lot six of ten are of another kind than the one before them, four of ten
 * without capitals; in theNameOfX509Things it is three, in one case hardly any, and its small
 * letters stand together. */
bool redact_is_random(const Scan *s, size_t from, size_t to, size_t min, size_t least_hex)
{
    Kinds k = count_kinds(s, from, to);
    size_t n = k.digits + k.uppers + k.lowers;

    if (n < min || !k.digits || k.digits == n)
        return false;
    if (k.uppers && k.lowers)
        return k.digits * 20 >= n && k.words * 100 <= n * 45 && k.changes * 100 >= (n - 1) * 42;
    return n >= (k.hex ? least_hex : min) && k.digits * 8 >= n && k.changes * 100 >= (n - 1) * 25;
}

/* -- behind a name -- */

/* Takes out a value that looks drawn by lot, whatever a program could have there. */
bool redact_take_random_value(Scan *s, const Sign *sign, size_t least_hex)
{
    size_t end;
    Value v;
    int c;

    if (!scan_value_at(s, sign, &v) || (v.skip.kind != SKIP_QUOTED && v.skip.kind != SKIP_BARE))
        return false;
    end = scan_run_end(s, v.content, SET_BEARER, MAX_SPOKEN);
    c = scan_at(s, end);
    if (c == '(' || c == '[' || c == '{' ||
        (v.skip.kind == SKIP_QUOTED && c != v.skip.closer && c != '\\'))
        return false;
    return redact_is_random(s, v.content, end, MIN_NAMED, least_hex) &&
           !redact_is_placeholder(s, v.content, end) &&
           redact_take_any_value(s, sign, redact_label_plain);
}

/* -- behind a prefix -- */

/* "sha256=Xk3_...": in base64url a hash may have a '_' or '-' anywhere. */
static bool is_digest(const Scan *s, size_t from)
{
    static const char hashes[] = "sha1|sha224|sha256|sha384|sha512|md5|blake2b|blake3";
    char low[8];
    size_t n = 0, i;

    if (from <= s->floor || s->p[from - 1] != '=')
        return false;
    for (i = from - 1; i > s->floor && in_set((unsigned char)s->p[i - 1], SET_ALNUM); i--)
        if (++n > sizeof low)
            return false;
    for (size_t k = 0; k < n; k++)
        low[k] = (char)(s->p[i + k] | 0x20); /* digits have the bit, too */
    return str_is_one_of((Str){ low, n }, hashes);
}

/* Whether the prefix is that of a hash or of a number that is no secret: what models and services
 * name their answers by. */
static bool names_no_secret(const Scan *s, size_t from, size_t to)
{
    static const char words[] =
        "sha1|sha256|sha384|sha512|md5|blake3|crc32|integrity|hash|digest|commit|rev|etag|"
        "call|toolu|srvtoolu|msg|req|resp|rs|fc|ws|ci|chatcmpl|cmpl|gen|run|thread|asst|step|file|"
        "batch|evt|event|"
        "item|conv|session|sess|id|uuid|cus|pi|ch|sub|in|acct|price|chunk|index|main|vendor|"
        "require|init";
    char low[MAX_PREFIX];
    size_t n = 0, last = from;

    for (size_t i = from; i < to; i++)
        last = in_set((unsigned char)s->p[i], SET_ALNUM) ? last : i + 1;
    for (size_t i = last; i < to; i++)
        low[n++] = (char)(s->p[i] | 0x20);
    return str_is_one_of((Str){ low, n }, words);
}

static size_t prefix_start(const Scan *s, size_t end)
{
    size_t i = end;

    while (i > s->floor && end - i <= MAX_PREFIX &&
           in_set((unsigned char)s->p[i - 1], SET_DOTTED) && !scan_behind_escape(s, i))
        i--;
    return i;
}

bool redact_check_random(Scan *s, const Rule *r, size_t start)
{
    size_t body = start + 1, end = scan_run_end(s, body, SET_ALNUM, MAX_BODY);
    size_t from = prefix_start(s, start), min = MIN_BODY, hex;
    Kinds k;
    int c = scan_at(s, end);

    if (s->more || start < from + MIN_PREFIX || start > from + MAX_PREFIX ||
        !in_set((unsigned char)s->p[from], SET_ALPHA) || strchr("/+", scan_before(s, from, 1)))
        return false;
    if (c == '(' || c == '/' || c == '[' ||
        (c == '.' && in_set(scan_at(s, end + 1), SET_SPOKEN | SET_CLOSER)))
        return false;
    k = count_kinds(s, body, end);
    if (s->p[start] == '_' && !k.lowers && !count_kinds(s, from, start).lowers)
        return false; /* VK_FORMAT_G10X6B10X6R10X6 */
    if (s->p[start] == '_' && k.uppers && k.lowers && k.digits >= 2)
        min = BODY_SHORT;
    hex = s->p[start] == '_' && start <= from + MAX_PREFIX_HEX ? MIN_BODY_HEX : MAX_BODY + 1;
    return redact_is_random(s, body, end, min, hex) && !names_no_secret(s, from, start) &&
           !is_digest(s, from) &&
           scan_take_out(s, r->label, from, end, (Skip){ .kind = SKIP_SET, .set = SET_WORD });
}

/* Values behind names that say secret, spoken of or given with a sign. */
#include "text/redact_table.h"

#include "base/limits.h"

enum {
    MAX_NAME_TAIL = 24, /* token_for_tests */
    MIN_HEX_KEY = 32    /* a key may be the hash of something, one without a kind mostly is */
};

/* Takes out the value behind the sign. Quotes stay where the name has them (JSON stays JSON) and
 * around a token of known shape, which keeps its own label but behind a quoted name. */
bool redact_take_any_value(Scan *s, const Sign *sign, Str label)
{
    const Rule *token = NULL;
    size_t end;
    Value v;

    if (!scan_value_at(s, sign, &v) || scan_label_at(s, v.content) ||
        scan_pem_at(s, v.content, &end))
        return false;
    if (!sign->quoted)
        token = redact_token_at(s, v.content);
    v.skip.keep = sign->quoted || token || sign->encoded;
    return scan_take_out(s, token ? token->label : label, v.skip.keep ? v.content : sign->value,
                         v.content, v.skip);
}

/* The same behind a name, where a program may have something else. */
bool redact_take_value(Scan *s, const Sign *sign, Str label)
{
    Value v;

    if (!sign->encoded && scan_value_at(s, sign, &v) && redact_is_plain(s, sign, &v))
        return false;
    return redact_take_any_value(s, sign, label);
}

/* -- names that say secret -- */

/* "key" is one only as the end of these, in one word, with '_' or with '-'. */
static size_t key_name_start(const Scan *s, size_t key)
{
    static const Str kinds[] = { STR_INIT("api"),      STR_INIT("secret"),     STR_INIT("private"),
                                 STR_INIT("signing"),  STR_INIT("encryption"), STR_INIT("master"),
                                 STR_INIT("auth"),     STR_INIT("license"),    STR_INIT("webhook"),
                                 STR_INIT("deploy"),   STR_INIT("service"),    STR_INIT("app"),
                                 STR_INIT("preshared") };
    size_t access, at;

    if (!in_set(scan_before(s, key, 1), SET_WORD))
        return key;
    access = scan_part_before(s, key, STR("access"));
    if (access < key) {
        at = scan_part_before(s, access, STR("secret"));
        at = at < access ? at : scan_part_before(s, access, STR("shared"));
        return at < access ? at : access;
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if ((at = scan_part_before(s, key, kinds[i])) < key)
            return at;
    return key;
}

/* PGPASSWORD, REDISCLI_AUTH: a variable of the environment, all in capitals. */
bool redact_is_variable(const Scan *s, size_t start, size_t end)
{
    size_t i = start;

    if (!in_set((unsigned char)s->p[start], SET_UPPER))
        return false;
    while (start - i < 32 && i > s->floor && in_set(scan_before(s, i, 1), SET_CAPS))
        i--;
    for (size_t k = start; k < end; k++)
        if (!in_set((unsigned char)s->p[k], SET_UPPER))
            return false;
    return i < start && !in_set(scan_before(s, i, 1), SET_ALNUM);
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

/* Whether what follows "token " is one: a digit or a mark, or longer than words are. Letters with
 * only - . / between ("and/or", "well-known") count as the words they are. */
static bool sounds_secret(const Scan *s, size_t from, size_t to)
{
    size_t letters = 0;

    if (to - from < MIN_SPOKEN || !scan_contains(s, from, to, SET_ALNUM))
        return false;
    if (scan_contains(s, from, to, SET_DIGIT | SET_MARK))
        return true;
    for (size_t i = from; i < to; i++)
        letters += in_set((unsigned char)s->p[i], SET_ALPHA);
    return to - from >= MIN_LETTERS && letters * 4 >= (to - from) * 3;
}

/* Where the words behind "token " end; from itself where they are part of a sentence or a program:
 * a call, a tag, a word of another script, or a name that has its own value to come. */
static size_t spoken_end(Scan *s, size_t from, size_t to)
{
    int c = scan_at(s, to);

    if (to > from + 1 && s->p[from] == '*' && in_set((unsigned char)s->p[from + 1], SET_ALPHA))
        return from; /* Token *name2 */
    if (c >= 0x80 || c == '(' || c == '[' || c == '{' || c == '<')
        return from;
    while (to > from && strchr(".:?!", s->p[to - 1]))
        to--;
    for (size_t end = to; end > from; end--) {
        if (redact_name_ends_at(s, end))
            return from;
        if (s->p[end - 1] != '=' && s->p[end - 1] != ':')
            break;
    }
    return to;
}

/* --password x, --api-key x. */
static bool is_option(const Scan *s, size_t name)
{
    size_t back = 0;

    while (back < 32 && in_set(scan_before(s, name, back + 1), SET_WORD))
        back++;
    return back >= 2 && scan_before(s, name, back) == '-' && scan_before(s, name, back - 1) == '-';
}

static bool check_spoken(Scan *s, size_t name, size_t name_end)
{
    size_t from = scan_blanks_end(s, name_end, false), to;
    Skip skip = { 0 };

    if (from == name_end || !scan_word_begins(s, name) || scan_before(s, name, 1) == '_' ||
        scan_at(s, from) == '=' || scan_at(s, from) == ':') /* a sign: check_named's */
        return false;
    if (is_option(s, name) &&
        (in_set(scan_at(s, from), SET_QUOTE) ||
         !redact_is_reference(s, &(Sign){ .spaced = true }, from)) &&
        redact_take_argument(s, from))
        return true;
    to = scan_run_end(s, from, SET_SPOKEN, MAX_SPOKEN);
    if (to == from + MAX_SPOKEN)
        skip = (Skip){ .kind = SKIP_SET, .set = SET_SPOKEN };
    else
        to = spoken_end(s, from, to);
    return sounds_secret(s, from, to) && !redact_token_at(s, from) &&
           scan_take_out(s, redact_label_plain, from, to, skip);
}

/* this.password, url.password */
static bool is_member(const Scan *s, size_t start)
{
    return scan_before(s, start, 1) == '.' && in_set(scan_before(s, start, 2), SET_ALNUM);
}

/* 'API_KEY', 'x' and setToken("x") */
static bool argument_sign_at(Scan *s, size_t i, Sign *ret)
{
    unsigned depth;
    bool quoted = scan_quote_at(s, i, &depth, &i);

    i = scan_blanks_end(s, i, false);
    if (scan_at(s, i) != (quoted ? ',' : '('))
        return false;
    *ret = (Sign){ .quoted = true, .value = scan_blanks_end(s, i + 1, false) };
    return in_set(scan_at(s, ret->value), SET_QUOTE);
}

/* <apiKey>x</apiKey> */
static bool check_element(Scan *s, size_t end, bool named)
{
    size_t from = end + 1, to = scan_run_end(s, from, SET_SPOKEN, MAX_SPOKEN);

    return to < from + MAX_SPOKEN && scan_has(s, to, STR("</")) &&
           !redact_is_placeholder(s, from, to) &&
           (named ? sounds_secret(s, from, to)
                  : redact_is_random(s, from, to, MIN_LETTERS, MIN_HEX_KEY)) &&
           scan_take_out(s, redact_label_plain, from, to, (Skip){ 0 });
}

/* A name that is of other things, too, or continues: sortKey, token_for_tests. Only a value that
 * looks drawn by lot tells. */
static bool check_weak(Scan *s, size_t end)
{
    size_t on = scan_run_end(s, end, SET_WORD, MAX_NAME_TAIL);
    bool key = scan_word_before(s, end, STR("key")) < end;
    Sign sign;

    if (scan_at(s, on) == '>')
        return check_element(s, on, false);
    return (scan_sign_at(s, on, &sign) || argument_sign_at(s, on, &sign)) && !sign.encoded &&
           redact_take_random_value(s, &sign,
                                    !key                                       ? MIN_LETTERS
                                    : in_set(scan_before(s, end, 4), SET_WORD) ? MIN_HEX_KEY
                                                                               : MAX_SPOKEN);
}

static bool check_named(Scan *s, size_t start, size_t end, bool named)
{
    Sign sign;

    if (in_set(scan_at(s, end), SET_ALNUM))
        return false;
    if (scan_at(s, end) == '>')
        return check_element(s, end, named);
    if (!scan_sign_at(s, end, &sign))
        return check_weak(s, end);
    if (!named) {
        named = sign.quoted && is_hump(s, start) && !sign.encoded &&
                in_set(scan_at(s, sign.value), SET_QUOTE);
    }
    if (!sign.tight && !sign.spaced && scan_before(s, start, 1) == ':') /* arn:aws:…:secret:name */
        return false;
    sign.common = scan_word_before(s, end, STR("token")) < end;
    sign.member = is_member(s, start);
    return named ? redact_take_value(s, &sign, redact_label_plain) : check_weak(s, end);
}

bool redact_check_credential(Scan *s, const Rule *r, size_t start)
{
    return check_weak(s, start + redact_lead_n(r));
}

/* CREATE USER x IDENTIFIED BY 'y' */
bool redact_check_identified(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r), from = scan_blanks_end(s, end, false);

    return from > end && s->p[start] == 'I' && in_set(scan_at(s, from), SET_QUOTE) &&
           redact_take_argument(s, from);
}

/* nextToken, page_token, output_token: where a list continues, no secret. */
static bool is_cursor(const Scan *s, size_t start)
{
    static const Str words[] = { STR_INIT("next"),   STR_INIT("page"),  STR_INIT("continuation"),
                                 STR_INIT("change"), STR_INIT("input"), STR_INIT("output"),
                                 STR_INIT("sync"),   STR_INIT("cursor") };

    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (scan_part_before(s, start, words[k]) < start)
            return true;
    return false;
}

bool redact_check_token_name(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r);
    bool named = scan_word_begins(s, start) || scan_word_before(s, start, STR("access")) < start ||
                 scan_word_before(s, start, STR("refresh")) < start ||
                 scan_word_before(s, start, STR("auth")) < start ||
                 redact_is_variable(s, start, end);

    if (is_cursor(s, start))
        return false;
    return check_named(s, start, end, named) || (!s->more && check_spoken(s, start, end));
}

bool redact_check_secret_name(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r);
    bool named = scan_word_begins(s, start) || scan_word_before(s, start, STR("client")) < start ||
                 redact_is_variable(s, start, end);

    return check_named(s, start, end, named) || (!s->more && check_spoken(s, start, end));
}

/* Password= alone is how a connection string has it, and says so in its label. */
bool redact_check_password(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r);
    bool begins = scan_word_begins(s, start) || redact_is_variable(s, start, end);
    bool alone = !in_set(scan_before(s, start, 1), SET_WORD);
    Sign sign;

    if (r->lead[4] == 'w' && r->lead[5] == 'o' &&
        (alone || (begins && scan_behind_escape(s, start))) && scan_sign_at(s, end, &sign) &&
        sign.tight) {
        sign.member = is_member(s, start);
        return redact_take_value(s, &sign, redact_label_db);
    }
    return check_named(s, start, end, begins) ||
           (!s->more && r->lead[5] == 'o' && check_spoken(s, start, end));
}

bool redact_check_key(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r), name = key_name_start(s, start);
    size_t account = scan_word_before(s, start, STR("account"));
    Sign sign;

    if (account < start && scan_word_begins(s, account) && scan_sign_at(s, end, &sign))
        return redact_take_value(s, &sign, sign.quoted ? redact_label_plain : redact_label_storage);
    if (name == start)
        return !in_set(scan_at(s, end), SET_ALNUM) &&
               scan_part_before(s, start, STR("public")) == start &&
               scan_part_before(s, start, STR("pub")) == start && check_weak(s, end);
    if (check_named(s, name, end, begins_or_glued(s, name, start)))
        return true;
    return !s->more && scan_part_before(s, start, STR("api")) == name && check_spoken(s, name, end);
}

/* PWD is a folder to every shell, and a password only in a connection string. */
bool redact_check_pwd(Scan *s, const Rule *r, size_t start)
{
    size_t back = 1;
    bool folder = memcmp(s->p + start, "PWD", 3) == 0 && scan_before(s, start, 1) != '_';
    Sign sign;

    if (!scan_word_begins(s, start) || !scan_sign_at(s, start + redact_lead_n(r), &sign))
        return false;
    if (sign.quoted)
        return !folder && redact_take_value(s, &sign, redact_label_plain);
    while (folder && back < 4 && scan_before(s, start, back) == ' ')
        back++;
    if (folder && scan_before(s, start, back) != ';')
        return false;
    return (sign.tight || sign.encoded) && redact_take_value(s, &sign, redact_label_db);
}

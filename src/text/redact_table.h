/* redact_table.h - what a rule of redaction is; for the files that hold the table and the checks.
 *
 * redact_rules.c has the table, redact_anchor.c finds where a rule may apply, redact_tokens.c
 * checks tokens by their shape, redact_random.c by how random they are, redact_names.c values
 * behind names, redact_plain.c and redact_program.c what looks like one and is none,
 * redact_headers.c headers, URLs and arguments of commands. */
#ifndef TALARIA_TEXT_REDACT_TABLE_H
#define TALARIA_TEXT_REDACT_TABLE_H

#include "text/redact_rules.h"

enum {
    MAX_SPOKEN = 256,   /* longer than this it is a secret, whatever it is made of */
    MIN_SPOKEN = 6,     /* "token abc123" */
    MIN_LETTERS = 16,   /* "token abcdefghijklmnop" */
    MIN_BEARER = 20,    /* "Bearer" is a word, too */
    MIN_JWT_PART = 4,   /* bytes of each of the three parts */
    MIN_VALUE = 3,      /* a variable of a program that was made small is shorter */
    MAX_NUMBER = 5,     /* digits that are a count, not a code */
    MAX_REFERENCE = 80, /* a name in a program */
    MAX_COOKIE_NAME = 64,
    MIN_ARGUMENT = 4,
    MIN_MIXED = 14,
    MAX_MIXED = 64,
    MAX_URL_PART = 256, /* name or password in a URL */
    MIN_RUN = 16, /* letters and digits behind a prefix, for redact_check_random to be asked */
    ANCHOR_ANY = 255
};
/* What is asked of the bytes behind a token's lead, beside their number. */
typedef enum Follows { OPEN, EXACT, MIXED } Follows;

typedef struct Rule Rule;
typedef bool Check(Scan *s, const Rule *r, size_t start);
typedef size_t Shape(Scan *s, const Rule *r, size_t from);

struct Rule {
    Str label;
    const char *lead; /* what it begins with: '*' is one of `any`, '?' a letter, digit, _ or - */
    const char *any;
    uint8_t anchor; /* where in the lead the anchor is; ANCHOR_ANY: where it is rarest */
    uint8_t min;    /* bytes of `set` that must follow */
    bool nocase;
    uint32_t set;
    Check *check;
    Shape *shape;    /* NULL where the lead is a name, not part of a secret */
    uint8_t before;  /* bytes of `set` before the lead */
    uint8_t follows; /* Follows */
};

extern Check redact_check_token, redact_check_telegram, redact_check_pem, redact_check_url,
    redact_check_key, redact_check_token_name, redact_check_secret_name, redact_check_password,
    redact_check_pwd, redact_check_sig, redact_check_authorization, redact_check_bearer,
    redact_check_pass, redact_check_auth, redact_check_cookie, redact_check_argument,
    redact_check_user, redact_check_random, redact_check_credential, redact_check_identified;
extern Shape redact_shape_run, redact_shape_jwt, redact_shape_discord, redact_shape_telegram;

#define LABEL(name) STR_INIT("[REDACTED" name "]")

extern const Str redact_label_plain, redact_label_db, redact_label_storage;
extern const Rule redact_rules[];
extern const size_t redact_rules_n;
enum { MAX_RULES = 512 };
extern uint8_t redact_lead_bytes[MAX_RULES]; /* of each rule */

static inline bool redact_is_lower(int c)
{
    return c >= 'a' && c <= 'z';
}

static inline size_t redact_lead_n(const Rule *r)
{
    return redact_lead_bytes[r - redact_rules];
}

static inline bool redact_lead_takes(const Rule *r, char want, int c)
{
    if (c <= 0)
        return false;
    if (want == '*')
        return strchr(r->any, c) != NULL;
    if (want == '?')
        return in_set(c, SET_WORD);
    return r->nocase ? scan_upper(c) == scan_upper(want) : c == want;
}

/* Where the lead of r ends if it is at i, else 0. */
size_t redact_lead_end(Scan *s, const Rule *r, size_t i);

/* Whether a name's anchor can be the name: most are in "tokens", "keyboard" and "spoken". */
bool redact_could_be(Scan *s, const Rule *r, size_t start);

/* Whether letters and digits look drawn by lot, not written: a name of a program, a word and a
 * number are not. */
bool redact_is_random(const Scan *s, size_t from, size_t to, size_t min, size_t least_hex);

/* The rule whose shape begins at i, or NULL. */
const Rule *redact_token_at(Scan *s, size_t i);

/* Takes out the value behind the sign, with redact_take_value only where no program would have
 * something else. */
bool redact_take_any_value(Scan *s, const Sign *sign, Str label);
bool redact_take_value(Scan *s, const Sign *sign, Str label);

/* Only where the value looks drawn by lot: for names that are of other things, too. */
bool redact_take_random_value(Scan *s, const Sign *sign, size_t least_hex);

/* Takes out the argument of an option that begins at from; its quotes stay. */
bool redact_take_argument(Scan *s, size_t from);

/* What programs, sentences and examples have where a secret could be (redact_plain.c): the value as
 * a whole; one without quotes; the words of one. */
bool redact_is_plain(Scan *s, const Sign *sign, const Value *v);
bool redact_is_plain_text(Scan *s, const Sign *sign, const Value *v);
bool redact_is_reference(Scan *s, const Sign *sign, size_t from);
bool redact_is_placeholder(const Scan *s, size_t from, size_t to);
bool redact_is_example(const Scan *s, size_t from, size_t to);

/* `null`, `string`, `true`; a name such as token or password; a variable of the environment. */
bool redact_is_keyword(const Scan *s, size_t from, size_t to);
bool redact_name_ends_at(const Scan *s, size_t end);
bool redact_is_variable(const Scan *s, size_t start, size_t end);

#endif

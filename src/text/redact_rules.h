/* redact_rules.h - what the scanner of redact.c and the rules share; no other file includes this.
 *
 * A rule sees the text through scan_at(), which notes when it would have to know a byte that has
 * not come yet: the scanner then forgets the answer and asks again later. So a rule is written as
 * if the whole text were there, and the pieces it comes in cannot change what it says. */
#ifndef TALARIA_TEXT_REDACT_RULES_H
#define TALARIA_TEXT_REDACT_RULES_H

#include "base/buf.h"

enum {
    ANCHOR_BYTES = 3, /* see rules_find_anchor */
    MAX_BACK = 200,   /* bytes before an anchor that a rule may look at */
    MAX_LEAD = 64     /* bytes of a secret that may come before its anchor */
};

/* Sets of bytes: pairs of first and last, then single ones taken out again. */
#define BYTE_SETS(X)                                                                               \
    X(SET_DIGIT, "09", "")                                                                         \
    X(SET_UPPER, "AZ", "")                                                                         \
    X(SET_ALPHA, "AZaz", "")                                                                       \
    X(SET_ALNUM, "AZaz09", "")                                                                     \
    X(SET_HEX, "AFaf09", "")                                                                       \
    X(SET_HEX_LOWER, "af09", "")                                                                   \
    X(SET_CAPS, "AZ09", "")                                                                        \
    X(SET_CAPS_DASH, "AZ09--", "")                                                                 \
    X(SET_ALNUM_DOT, "AZaz09..", "")                                                               \
    X(SET_COOKIE, " ~\x80\xff", "\"'`\\<>")                                                        \
    X(SET_REFERENCE, "AZaz__$$..", "")                                                             \
    X(SET_IDENTIFIER, "AZaz09__$$", "")                                                            \
    X(SET_USER_PASS, "!~\x80\xff", "\"'`\\<>[]")                                                   \
    X(SET_SNAKE, "AZaz09__", "")                                                                   \
    X(SET_WORD, "AZaz09__--", "")                                                                  \
    X(SET_DOTTED, "AZaz09__--..", "")                                                              \
    X(SET_LEAD, "AZaz09__--..::~~", "")                                                            \
    X(SET_PATH_WORD, "AZaz09//__--@@", "")                                                         \
    X(SET_BASE64, "AZaz09++//==", "")                                                              \
    X(SET_SIG, "AZaz09%%++//==__--", "")                                                           \
    X(SET_BEARER, "AZaz09..__~~++//==--", "")                                                      \
    X(SET_SPOKEN, "AZaz09__..//++==::@@--$$!!##%%^^**??~~", "")                                    \
    X(SET_MARK, "__++==::@@", "")                                                                  \
    X(SET_PEM_NAME, "AZ09  ++%%__", "")                                                            \
    X(SET_URL_USER, "!~\x80\xff", "\"'<>@/:[]\\`;&?#")                                             \
    X(SET_URL_PASS, "!~\x80\xff", "\"'<>@[]\\`;&?#")                                               \
    X(SET_BARE, "!\xff", "\"'`;&,)]}")                                                             \
    X(SET_CLOSER, "))]]}}", "")                                                                    \
    X(SET_BLANK, "  \t\t", "")                                                                     \
    X(SET_LINE_END, "\n\n\r\r", "")                                                                \
    X(SET_QUOTE, "\"\"''``", "")

enum {
#define X(set, ranges, without) set##_BIT,
    BYTE_SETS(X)
#undef X
};

enum {
#define X(set, ranges, without) set = 1 << set##_BIT,
    BYTE_SETS(X)
#undef X
};

extern uint32_t redact_sets[256];

/* How the secret that was just named ends. Nothing of it is kept, so it may be of any length. */
typedef enum SkipKind {
    SKIP_NONE,
    SKIP_SET,    /* before the first byte outside `set` */
    SKIP_BARE,   /* where scan_bare_ends() */
    SKIP_QUOTED, /* with `closer` behind `depth` backslashes, or with the line */
    SKIP_BRACED, /* with `closer`, or with the line */
    SKIP_PEM     /* behind -----END ... KEY-----, or when `left` bytes have gone */
} SkipKind;

typedef struct Skip {
    SkipKind kind;
    uint32_t set;
    size_t left;
    unsigned depth; /* 0, 1, 3, 7: JSON in JSON in JSON */
    char closer;
    bool keep;    /* the closer is text again */
    bool encoded; /* URL-encoded: %26 ends as & does */
} Skip;

typedef struct Scan {
    const char *p;
    size_t n;
    size_t pos;   /* anchors before this are done with */
    size_t sent;  /* everything before this was written to out, or removed */
    size_t floor; /* nothing before this may be read: it was replaced by a label */
    bool last;    /* nothing comes after p[n - 1] */
    bool more;    /* a rule wanted to see p[n] */
    bool changed; /* something was taken out */
    Skip skip;
    size_t due_from, due_to; /* the password of a URL, when the name before it has been read */
    Str due_label;
    size_t block, block_bytes; /* where rules_find_anchor looked last; none: 0 bytes */
    unsigned places;           /* a bit a place in there that may be an anchor */
    Buf *out;
} Scan;

static inline int scan_at(Scan *s, size_t i)
{
    if (i < s->n)
        return (unsigned char)s->p[i];
    s->more |= !s->last;
    return -1;
}

static inline bool in_set(int c, uint32_t set)
{
    return c >= 0 && (redact_sets[c] & set);
}

static inline int scan_upper(int c)
{
    return c >= 'a' && c <= 'z' ? c - 32 : c;
}

/* The byte `back` places before i; a label's end where the text has been taken out. */
static inline int scan_before(const Scan *s, size_t i, size_t back)
{
    return i >= s->floor + back ? (unsigned char)s->p[i - back] : ']';
}

/* -- rules -- */

/* First place from s->pos on where there is an anchor, with the groups of rules it may belong to in
 * *ret_groups (a bit each); or, with none, the first place that could not be looked at. */
size_t rules_find_anchor(Scan *s, uint64_t *ret_groups);

/* Asks those rules. True: one took something out, and the scan continues at s->pos, inside of a
 * secret if s->skip says so. False with s->more set: cannot be told yet. */
bool rules_apply(Scan *s, uint64_t groups, size_t anchor);

/* The bytes in [start, from) are replaced by the label, and what follows goes as skip says.
 * Returns true, but false where a rule has looked beyond the end: then nothing happens. */
bool scan_take_out(Scan *s, Str label, size_t start, size_t from, Skip skip);

/* -- the text around a place -- */

void redact_fill_sets(void); /* once, before all else */

/* Behind the start of the text, something other than a letter or digit, or an escape: "\n",
 * "%26" and "\u0026" end in letters or digits and are none. */
bool scan_word_begins(const Scan *s, size_t i);
bool scan_behind_escape(const Scan *s, size_t i);

/* Whether `what` is at i, in any case. */
bool scan_has(Scan *s, size_t i, Str what);

/* Where `word` begins if it ends at i, else i. For a part one '_' or '-' may be between. */
size_t scan_word_before(const Scan *s, size_t i, Str word);
size_t scan_part_before(const Scan *s, size_t i, Str word);

/* Where a run of bytes from i on ends, after `max` at the latest. */
size_t scan_run_end(Scan *s, size_t i, uint32_t set, size_t max);
size_t scan_blanks_end(Scan *s, size_t i, bool encoded);
size_t scan_backslashes(Scan *s, size_t i);

bool scan_contains(const Scan *s, size_t from, size_t to, uint32_t set);

bool scan_label_at(Scan *s, size_t i);

/* Whether a private key begins at i, and where its first line ends. */
bool scan_pem_at(Scan *s, size_t i, size_t *ret_end);

/* The place behind a line such as -----END RSA PRIVATE KEY-----, or 0; `word` is BEGIN or END. */
size_t scan_pem_line_end(Scan *s, size_t i, Str word);

/* -- signs and values -- */

/* What is between a name and its value. */
typedef struct Sign {
    bool quoted;   /* the name has a quote behind it */
    bool ticked;   /* a backtick: `token`: what it is */
    bool compares; /* == or === */
    bool tight;    /* a '=' right behind the name */
    bool encoded;  /* %3D for = */
    bool spaced;   /* blanks before the value */
    bool common;   /* the name is one that programs have for other things, too: token */
    bool member;   /* the name is a member in a program: this.password */
    size_t value;  /* where it begins */
} Sign;

typedef struct Value {
    size_t content; /* behind the opening quote */
    Skip skip;
} Value;

/* A quote at i, or behind the backslashes there; false where there is none. */
bool scan_quote_at(Scan *s, size_t i, unsigned *ret_depth, size_t *ret_end);

bool scan_sign_at(Scan *s, size_t i, Sign *ret_sign);

/* The value behind a sign; false where there is none, or an empty one. */
bool scan_value_at(Scan *s, const Sign *sign, Value *ret);

/* Whether a value without quotes ends before p[i]. */
bool scan_bare_ends(Scan *s, size_t i, bool encoded);

#endif

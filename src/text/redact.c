/* One pass from left to right. rules_find_anchor() runs over ordinary text, sixteen bytes at a
 * time, and stops where a rule may apply; the rule looks ahead as far as it must and says where
 * a secret begins. From there on the scan is inside of it: bytes are dropped until it ends,
 * however long it is.
 *
 * The same scan serves whole texts and pieces. With pieces it stops at the first place it cannot
 * tell yet; the text before is written, the text behind waits. */
#include "text/redact.h"

#include "base/limits.h"
#include "text/redact_rules.h"

enum {
    MAX_PIECE = KIB(64), /* fed at once; more only costs memory */
    TRIM_AT = KIB(16),   /* done bytes before the held ones are moved down */
    EXPANSION = 8,       /* `pwd=a;` becomes four times as long, nothing more than that */
    MAX_SUFFIX = 32      /* of a key that is compared */
};

struct Redactor {
    Scan scan;
    Buf held;
    size_t retry_at; /* held bytes before which asking again is no use */
};

/* -- inside of a secret: each answers whether it ended, with *i where or how far -- */

/* In JSON in JSON a quote is \" and one inside of the value \\\". Fewer backslashes than the
 * opening quote had are the end of the JSON around it. */
static bool skip_deep_quoted_on(Scan *s, size_t *i)
{
    for (;;) {
        size_t run = scan_backslashes(s, *i), depth = s->skip.depth;
        int c = scan_at(s, *i + run);

        if (s->more || c < 0 || in_set(c, SET_LINE_END))
            return !s->more;
        if (c == s->skip.closer && run < depth)
            return true;
        if (c == s->skip.closer && run % (2 * (depth + 1)) == depth) {
            *i += run - depth + (s->skip.keep ? 0 : depth + 1);
            return true;
        }
        *i += run + 1;
    }
}

static bool skip_closed_on(Scan *s, size_t *i)
{
    for (;;) {
        int c = scan_at(s, *i), next;

        if (c < 0 || in_set(c, SET_LINE_END))
            return !s->more;
        if (c != '\\' && c != s->skip.closer) {
            ++*i;
            continue;
        }
        next = scan_at(s, *i + 1);
        if (s->more)
            return false;
        if (c == s->skip.closer && (next != c || c == ']')) {
            *i += !s->skip.keep;
            return true;
        }
        *i += next < 0 || in_set(next, SET_LINE_END) ? 1 : 2;
    }
}

static bool skip_pem_on(Scan *s, size_t *i)
{
    for (; s->skip.left; --s->skip.left, ++*i) {
        size_t end = scan_at(s, *i) == '-' ? scan_pem_line_end(s, *i, STR("END")) : 0;

        if (s->more)
            return false;
        if (end || *i >= s->n) {
            *i = end ? end : *i;
            return true;
        }
    }
    return true;
}

static bool skip_on(Scan *s)
{
    size_t i = s->pos;
    bool ended;

    s->more = false;
    if (s->skip.kind == SKIP_SET) {
        while (in_set(scan_at(s, i), s->skip.set))
            i++;
        ended = i < s->n;
    } else if (s->skip.kind == SKIP_BARE) {
        while (!scan_bare_ends(s, i, s->skip.encoded) && !s->more)
            i++;
        ended = !s->more;
    } else if (s->skip.kind == SKIP_PEM) {
        ended = skip_pem_on(s, &i);
    } else if (s->skip.depth) {
        ended = skip_deep_quoted_on(s, &i);
    } else {
        ended = skip_closed_on(s, &i);
    }
    s->pos = s->sent = s->floor = i;
    if (ended)
        s->skip.kind = SKIP_NONE;
    return ended;
}

/* -- the scan -- */

/* The password of a URL is next, unless what was taken out of its name went on into it. */
static bool take_due(Scan *s, size_t anchor)
{
    size_t to = s->due_to;

    if (!to || (s->due_from > anchor && s->due_from >= s->sent))
        return false;
    s->due_to = 0;
    return s->due_from >= s->sent && scan_take_out(s, s->due_label, s->due_from, to, (Skip){ 0 });
}

/* Leaves s->pos at the first place that needs more text, or at the end. */
static void scan(Scan *s)
{
    uint64_t which;

    s->more = false;
    s->block_bytes = 0;
    while (!s->skip.kind || skip_on(s)) {
        size_t anchor = rules_find_anchor(s, &which);

        s->more = false;
        if (take_due(s, anchor))
            continue;
        s->pos = anchor;
        if (!which)
            return;
        if (rules_apply(s, which, anchor))
            continue;
        if (s->more)
            return;
        s->pos = anchor + 1;
    }
}

static void send_up_to(Scan *s, size_t end)
{
    if (end <= s->sent)
        return;
    buf_add(s->out, (Str){ s->p + s->sent, end - s->sent });
    s->sent = end;
}

/* A secret may begin some bytes before its anchor, but only with bytes that lead to one: behind
 * a blank nothing has to wait. */
static void send_settled(Scan *s)
{
    size_t from = s->more ? s->pos : s->n, i = from;

    while (i > s->sent && from - i < MAX_LEAD && in_set((unsigned char)s->p[i - 1], SET_LEAD))
        i--;
    send_up_to(s, i);
}

void redact_to(Buf *out, Str text)
{
    Scan s = { .p = text.p, .n = text.n, .last = true, .out = out };

    scan(&s);
    send_up_to(&s, s.n);
}

Str redact_text(Arena *a, Str text)
{
    AUTO_BUF out = BUF(text.n * EXPANSION + KIB(1));
    Scan s = { .p = text.p, .n = text.n, .last = true, .out = &out };

    scan(&s);
    if (!s.changed)
        return text;
    send_up_to(&s, s.n);
    return str_dup(a, buf_str(&out));
}

/* -- keys of objects -- */

bool redact_key_is_secret(Str key)
{
    static const Str endings[] = { STR_INIT("apikey"),          STR_INIT("token"),
                                   STR_INIT("password"),        STR_INIT("passwd"),
                                   STR_INIT("secret"),          STR_INIT("secretkey"),
                                   STR_INIT("secretaccesskey"), STR_INIT("sharedaccesskey"),
                                   STR_INIT("privatekey"),      STR_INIT("accountkey"),
                                   STR_INIT("passphrase"),      STR_INIT("presharedkey") };
    char tail[MAX_SUFFIX];
    size_t n = 0;

    if (str_eq(key, STR("PWD"))) /* the folder of a shell */
        return false;
    for (size_t i = key.n; i > 0 && n < MAX_SUFFIX; i--)
        if (in_set((unsigned char)key.p[i - 1], SET_ALNUM))
            tail[MAX_SUFFIX - ++n] = (char)(key.p[i - 1] | 0x20); /* digits have the bit, too */
    key = (Str){ tail + MAX_SUFFIX - n, n };
    if (str_is_one_of(key, "pwd|sig|authorization|pass|cookie|setcookie"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (str_ends(key, endings[i]))
            return true;
    return false;
}

/* -- a piece at a time -- */

Redactor *redactor_new(Buf *out)
{
    Redactor *r = mem_alloc(sizeof *r);

    r->scan.out = out;
    r->held = BUF(2 * LIMIT_REDACT_WINDOW + 2 * MAX_PIECE);
    return r;
}

Redactor *redactor_free(Redactor *r)
{
    if (!r)
        return NULL;
    buf_done(&r->held);
    return mem_free(r);
}

static void look_again(Redactor *r, bool last)
{
    Scan *s = &r->scan;
    Str held = buf_str(&r->held);

    s->p = held.p;
    s->n = held.n;
    s->last = last;
    if (!last && s->n < r->retry_at)
        return;
    scan(s);
    send_settled(s);
    /* Byte by byte, a rule that reads far ahead would read it all again each time. */
    r->retry_at = s->n + (s->more ? (s->n - s->pos) / 8 : 0);
}

/* Bytes that went out stay for a while, for rules that look back. */
static void trim(Redactor *r)
{
    Scan *s = &r->scan;
    size_t done = s->sent < s->pos ? s->sent : s->pos;

    if (done < TRIM_AT + MAX_BACK)
        return;
    done -= MAX_BACK;
    memmove(r->held.p, r->held.p + done, r->held.n - done);
    r->held.n -= done;
    s->pos -= done;
    s->sent -= done;
    s->floor = s->floor > done ? s->floor - done : 0;
    if (s->due_from < done) /* gone with the secret that ran into it */
        s->due_to = 0;
    s->due_from -= s->due_to ? done : 0;
    s->due_to -= s->due_to ? done : 0;
    r->retry_at -= done;
}

void redactor_feed(Redactor *r, Str piece)
{
    while (piece.n) {
        Str part = str_head(piece, MAX_PIECE);

        buf_add(&r->held, part);
        ASSERT(!buf_full(&r->held));
        look_again(r, false);
        trim(r);
        piece = str_skip(piece, part.n);
    }
}

void redactor_finish(Redactor *r)
{
    Buf *out = r->scan.out;

    look_again(r, true);
    send_up_to(&r->scan, r->scan.n);
    buf_clear(&r->held);
    r->scan = (Scan){ .out = out };
    r->retry_at = 0;
}

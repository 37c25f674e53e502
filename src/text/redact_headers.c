/* Secrets in headers, URLs, signatures and arguments of commands. */
#include "text/redact_table.h"

#include "base/limits.h"

/* pass= and "pass": are names, "pass" in a report of tests is a number. */
bool redact_check_pass(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r) - 1, at;
    Sign sign;
    Value v;

    if (!(scan_word_begins(s, start) || redact_is_variable(s, start, end)) ||
        scan_word_before(s, start, STR("by")) < start || !scan_sign_at(s, end, &sign) ||
        !scan_value_at(s, &sign, &v))
        return false;
    at = scan_run_end(s, v.content, SET_DIGIT, 20);
    if (!in_set(scan_at(s, at), SET_BARE) || scan_at(s, v.content) == '[')
        return false;
    if (v.skip.kind == SKIP_QUOTED)
        for (size_t k = v.content; k < v.content + MAX_BACK; k++) {
            int c = scan_at(s, k);

            if (c < 0 || c == v.skip.closer)
                break;
            if (c == ' ' || c >= 0x80) /* what a report says of it */
                return false;
        }
    else if (!sign.tight && !sign.spaced && at == v.content) /* a:hover, pass:before */
        return false;
    return redact_take_value(s, &sign, redact_label_plain);
}

/* _auth= of npm and "auth" of docker: credentials in base64. */
bool redact_check_auth(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r) - 1, to;
    Sign sign;
    Value v;

    if (!scan_word_begins(s, start) || !scan_sign_at(s, end, &sign) || !scan_value_at(s, &sign, &v))
        return false;
    to = scan_run_end(s, v.content, SET_BASE64, MIN_BEARER);
    return to >= v.content + MIN_LETTERS &&
           scan_contains(s, v.content, to, SET_DIGIT | SET_UPPER) &&
           redact_take_value(s, &sign, redact_label_plain);
}

/* A header: `Cookie: a=b; c=d` to the end of the line or of the quotes around it. */
bool redact_check_cookie(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r), from, to;
    Sign sign;

    if (!scan_word_begins(s, start) || !scan_sign_at(s, end, &sign) || sign.tight || sign.encoded)
        return false;
    from = sign.value;
    if (sign.quoted) {
        unsigned depth;

        if (!scan_quote_at(s, from, &depth, &from))
            return false;
    }
    to = scan_run_end(s, from, SET_DOTTED, MAX_COOKIE_NAME);
    if (to == from || scan_at(s, to) != '=' || !in_set(scan_at(s, to + 1), SET_SPOKEN))
        return false;
    return sign.quoted ? redact_take_value(s, &sign, r->label)
                       : scan_take_out(s, r->label, from, to,
                                       (Skip){ .kind = SKIP_SET, .set = SET_COOKIE });
}

/* -- arguments of commands -- */

/* Whether one of the words is before i in this line, or as far back as can be seen. */
static bool command_before(const Scan *s, size_t i, const char *words)
{
    for (size_t back = 1; back < MAX_BACK && back <= i - s->floor; back++) {
        int c = scan_before(s, i, back);
        size_t n = 0;

        if (in_set(c, SET_LINE_END) || c == ']') /* the end of a label */
            return false;
        while (back + n < MAX_BACK && back + n <= i - s->floor &&
               in_set(scan_before(s, i, back + n), SET_WORD))
            n++;
        if (!n)
            continue;
        if (str_is_one_of((Str){ s->p + i - back - n + 1, n }, words))
            return true;
        back += n - 1;
    }
    return false;
}

bool redact_take_argument(Scan *s, size_t from)
{
    Sign none = { .value = from };
    Value v;
    int c = scan_at(s, from);

    if (c < 0 || c == '-' || c == '$' || in_set(c, SET_BLANK | SET_LINE_END) ||
        !scan_value_at(s, &none, &v) || scan_label_at(s, v.content) ||
        in_set(scan_at(s, v.content), SET_LINE_END) || scan_at(s, v.content) == '$')
        return false;
    if (scan_run_end(s, v.content, SET_BARE, MIN_ARGUMENT) < v.content + MIN_ARGUMENT)
        return false;
    v.skip.keep = true;
    return scan_take_out(s, redact_label_plain, v.content, v.content, v.skip);
}

/* sshpass -p x, docker login -p x, mysql -px, redis-cli -a x, ldapsearch -w x. */
bool redact_check_argument(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r), from = scan_blanks_end(s, end, false);
    char option = s->p[end - 1];

    if (option == 'a')
        return from > end && command_before(s, start, "redis-cli") && redact_take_argument(s, from);
    if (option == 'w')
        return from > end &&
               command_before(s, start, "ldapsearch|ldapadd|ldapmodify|ldapwhoami|ldappasswd") &&
               redact_take_argument(s, from);
    if (from > end)
        return command_before(
                   s, start,
                   "sshpass|login|mongo|mongosh|mongodump|mongorestore|htpasswd|vncpasswd") &&
               redact_take_argument(s, from);
    return command_before(s, start,
                          "mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|sshpass") &&
           redact_take_argument(s, from);
}

/* curl -u name:password; not a user and a group in numbers, nor a path. */
bool redact_check_user(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r), from, colon, to;
    unsigned depth;
    int c = scan_at(s, end);

    if (c != '=' && !in_set(c, SET_BLANK))
        return false;
    from = scan_blanks_end(s, end + 1, false);
    if (!scan_quote_at(s, from, &depth, &from) && in_set(scan_at(s, from), SET_QUOTE))
        return false;
    colon = scan_run_end(s, from, SET_URL_USER, MAX_URL_PART);
    if (colon == from || scan_at(s, colon) != ':')
        return false;
    to = scan_run_end(s, colon + 1, SET_USER_PASS, MAX_URL_PART);
    c = scan_at(s, colon + 1);
    if (to < colon + 1 + MIN_ARGUMENT || c == '/' || c == '$' || c == '.' ||
        scan_run_end(s, colon + 1, SET_DIGIT, MAX_URL_PART) == to)
        return false;
    if (!s->more) { /* the name before it may be its own token */
        s->due_from = colon + 1;
        s->due_to = to;
        s->due_label = redact_label_plain;
    }
    return false;
}

/* -- names of other kinds -- */

bool redact_check_sig(Scan *s, const Rule *r, size_t start)
{
    size_t from = start + redact_lead_n(r), rest = from + r->min;

    return scan_word_begins(s, start) && !strchr("_-", scan_before(s, start, 1)) &&
           scan_run_end(s, from, r->set, r->min) == rest &&
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

bool redact_check_authorization(Scan *s, const Rule *r, size_t start)
{
    Sign sign, inner = { 0 };
    unsigned depth;
    size_t i;

    if (!scan_word_begins(s, start) || !scan_sign_at(s, start + redact_lead_n(r), &sign))
        return false;
    i = sign.value;
    if (!scan_quote_at(s, i, &depth, &i) && scan_has(s, i, STR("%22")))
        i += 3;
    inner.encoded = sign.encoded;
    inner.value = scheme_end(s, i, sign.encoded);
    if (inner.value &&
        (memchr("<${\"'", scan_at(s, inner.value), 5) ||
         redact_is_placeholder(s, inner.value, scan_run_end(s, inner.value, SET_WORD, MAX_MIXED))))
        return false; /* a place for one */
    if (inner.value)
        return redact_take_any_value(s, &inner, r->label);
    return sign.quoted && in_set(scan_at(s, sign.value), SET_QUOTE) &&
           redact_take_value(s, &sign, r->label);
}

bool redact_check_bearer(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r), from = scan_blanks_end(s, end, true);
    size_t rest = scan_run_end(s, from, SET_BEARER, MIN_BEARER);

    return from > end && scan_word_begins(s, start) && rest == from + MIN_BEARER &&
           scan_contains(s, from, rest, SET_DIGIT) && !redact_token_at(s, from) &&
           scan_take_out(s, r->label, from, rest, (Skip){ .kind = SKIP_SET, .set = SET_BEARER });
}

/* scheme://name:password@host. The name may be its own token (ghp_...:x@github.com), so the
 * scan reads it first. */
bool redact_check_url(Scan *s, const Rule *r, size_t start)
{
    size_t user, from, to;

    if (!in_set(scan_before(s, start, 1), SET_ALNUM))
        return false;
    user = scan_run_end(s, start + redact_lead_n(r), SET_URL_USER, MAX_URL_PART);
    if (scan_at(s, user) != ':')
        return false;
    from = user + 1;
    to = scan_run_end(s, from, r->set, MAX_URL_PART);
    if (scan_at(s, scan_run_end(s, from, SET_DIGIT, MAX_URL_PART)) == '/') /* only a port */
        return false;
    if (redact_is_placeholder(s, from, to) || /* user:password@host, in words about it */
        (to < from + MIN_ARGUMENT && user < start + redact_lead_n(r) + MIN_ARGUMENT &&
         user > start + redact_lead_n(r)))
        return false; /* a:b@host */
    if (to > from && scan_at(s, to) == '@' && !s->more) {
        s->due_from = from;
        s->due_to = to;
        s->due_label = r->label;
    }
    return false;
}

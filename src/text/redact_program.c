/* Values behind a name that a program has there: a variable, a call, a member, a literal.
 *
 * What follows a value may be a label the next time: the answer must be the one it was before. */
#include "text/redact_table.h"

enum {
    TAIL_DIGITS = 2, /* parent2 */
    MAX_HEX = 8      /* digits of a number in a program */
};

static bool has_lower(const Scan *s, size_t from, size_t to)
{
    while (from < to && !redact_is_lower((unsigned char)s->p[from]))
        from++;
    return from < to;
}

/* Behind a.b2->c::d of a program that begins at i; i itself where none does. Digits end a part,
 * they do not begin or fill it, and stand only where a program is likely: `token=FAKE1` has to be
 * told at once. */
static size_t path_end(Scan *s, const Sign *sign, size_t i, bool *ret_parts)
{
    size_t end = i;

    *ret_parts = false;
    for (int max = 16; max; max--) {
        size_t from = end, word = scan_run_end(s, from, SET_REFERENCE, MAX_REFERENCE), digits;

        if (word == from || word == from + MAX_REFERENCE)
            return max == 16 ? i : from;
        if (s->p[word - 1] == '.' && scan_at(s, word) == '#') { /* this.#token */
            *ret_parts = true;
            end = word + 1;
            continue;
        }
        *ret_parts |= memchr(s->p + from + 1, '.', word - from - 1) != NULL;
        digits =
            sign->spaced || sign->member ? scan_run_end(s, word, SET_DIGIT, TAIL_DIGITS) : word;
        end = in_set(scan_at(s, digits), SET_ALNUM) ? word : digits;
        if (end > word && in_set(scan_at(s, end), SET_REFERENCE))
            continue; /* scanner2.scan, string_2_number */
        if (scan_has(s, end, STR("->")) || scan_has(s, end, STR("::")) ||
            scan_has(s, end, STR("?.")) || scan_has(s, end, STR("!."))) {
            *ret_parts = true;
            end += 2;
            continue;
        }
        break;
    }
    return end;
}

/* toB64Url( */
static bool is_call(Scan *s, const Sign *sign, size_t from)
{
    return sign->spaced && !sign->quoted && in_set(scan_at(s, from), SET_ALPHA) &&
           scan_at(s, scan_run_end(s, from, SET_IDENTIFIER, MAX_REFERENCE)) == '(';
}

/* 500 and 0x0B96 are numbers of a program; longer ones are codes. */
static bool is_number(Scan *s, size_t from)
{
    bool hex = scan_has(s, from, STR("0x"));
    size_t begin = hex ? from + 2 : from;
    size_t end = scan_run_end(s, begin, hex ? SET_HEX : SET_DIGIT, hex ? MAX_HEX : MAX_NUMBER);

    return end > begin && !in_set(scan_at(s, end), SET_BARE);
}

/* What begins as only a program has it. */
static bool begins_as_program(Scan *s, const Sign *sign, size_t from)
{
    int c = scan_at(s, from), next;

    if (c == '<' || c == '*' || c == '(')
        return true;
    if (c != '$' && c != '&' && c != '!' && c != '/')
        return false;
    next = scan_at(s, from + 1);
    if (c == '/') /* a remark or a regular expression */
        return sign->spaced && next > 0 && strchr("*/^(\\[", next);
    if (c == '$')
        return next == '{' || next == '(' || in_set(next, SET_ALPHA | SET_MARK);
    return sign->spaced && (in_set(next, SET_ALPHA) || next == c || next == '(');
}

/* a ?? b, a | b, a + b: a sign with a blank or its like behind it; -v is an option. */
static bool is_operator(Scan *s, size_t i)
{
    int c = scan_at(s, i), next = scan_at(s, i + 1);

    return c > 0 && strchr("|?&+=*<>-/", c) && (next == ' ' || next == c || next == '=');
}

/* What stands behind a name of a program: the end of a statement or of an argument, an operator,
 * more words. */
static bool goes_on_as_program(Scan *s, const Sign *sign, size_t from, size_t end, int c)
{
    if (!sign->spaced && !sign->member)
        return false;
    if (c == ' ' && (redact_is_lower(scan_at(s, end + 1)) || is_operator(s, end + 1) ||
                     scan_label_at(s, end + 1)))
        return true;
    if (c == ';' || (c == '|' && sign->common))
        return true;
    if (sign->quoted || !has_lower(s, from + 1, end))
        return false;
    if (c == ' ' && in_set(scan_at(s, end + 1), SET_CLOSER))
        return sign->common || sign->member;
    return c == ',' || c == ')' || ((sign->common || sign->member) && (c == '}' || c == ']')) ||
           ((sign->common || sign->member) && (c < 0 || in_set(c, SET_LINE_END)) &&
            !scan_contains(s, from, end, SET_DIGIT));
}

/* A value without quotes that a program or a sentence has: a variable, a call, a member, the name
 * of another secret, a word with more words behind it. */
bool redact_is_reference(Scan *s, const Sign *sign, size_t from)
{
    size_t end;
    bool parts;
    int c, next;

    if (begins_as_program(s, sign, from))
        return true;
    if (sign->ticked ||
        (sign->compares &&
         !scan_contains(s, from, scan_run_end(s, from, SET_WORD, MAX_REFERENCE), SET_DIGIT)))
        return true;
    end = scan_run_end(s, from, SET_BARE, MIN_VALUE);
    if (sign->quoted && end < from + MIN_VALUE && in_set(scan_at(s, from), SET_ALPHA))
        return true; /* {"x-api-key":e} */
    if (!sign->quoted && (end < from + MIN_VALUE || is_number(s, from)))
        return true;
    if (is_call(s, sign, from) ||
        (sign->spaced &&
         redact_is_keyword(s, from, scan_run_end(s, from, SET_SNAKE, MAX_REFERENCE))))
        return true;
    end = path_end(s, sign, from, &parts);
    if (end == from)
        return false;
    c = scan_at(s, end);
    c = c == '\\' && scan_bare_ends(s, end, false) ? '\n' : c; /* a program in JSON */
    if (c == '!' && sign->spaced && (next = scan_at(s, end + 1)) > 0 && strchr(",;)}", next))
        return true;
    if (c == '(' || c == '<' || c == '[' || c == '{')
        return true;
    if (c == '\'' &&
        (in_set(scan_at(s, end + 1), SET_ALPHA) || scan_label_at(s, end + 1))) /* don't */
        return true;
    if (!(c < 0 || in_set(c, SET_BLANK | SET_LINE_END | SET_CLOSER | SET_QUOTE) || c == ',' ||
          c == ';' || c == '|'))
        return false;
    if (redact_is_keyword(s, from, end) || redact_name_ends_at(s, end) || parts)
        return true;
    if (!sign->common && !sign->member && scan_contains(s, from, end, SET_DIGIT))
        return false;
    return goes_on_as_program(s, sign, from, end, c);
}

/* An object or a list of a program; {FAKE} behind `=` is how a connection string quotes. */
static bool is_literal(Scan *s, const Sign *sign, const Value *v)
{
    int c = scan_at(s, v->content), next = scan_at(s, v->content + 1);
    Value first = { .skip = { .kind = SKIP_QUOTED } };
    bool parts;
    size_t end;

    if (in_set(next, SET_BLANK | SET_LINE_END))
        return true;
    if (c == '{') {
        end = path_end(s, &(Sign){ .spaced = true }, v->content + 1, &parts);
        return !sign->tight || sign->spaced ||
               (parts && end > v->content + 1 && scan_at(s, end) == '}');
    }
    if (!scan_quote_at(s, v->content + 1, &first.skip.depth, &first.content))
        return true;
    first.skip.closer = s->p[first.content - 1];
    return redact_is_plain_text(s, sign, &first);
}

bool redact_is_plain(Scan *s, const Sign *sign, const Value *v)
{
    if (v->skip.kind == SKIP_BARE)
        return redact_is_reference(s, sign, v->content);
    return v->skip.kind == SKIP_QUOTED ? redact_is_plain_text(s, sign, v) : is_literal(s, sign, v);
}

/* Two passes: the first cuts the text into items (words, phrases, filters), the second decides what
 * they are together. A word that the index cuts in several terms ("src/main.c") is a phrase of
 * them. */
#include "recall/query.h"

#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "recall/history.h"
#include "recall/terms.h"
#include "text/human.h"
#include "text/when.h"

enum { ITEMS = 256 };

typedef struct Item {
    Str text;
    bool quoted, without, prefix;
    bool or_before; /* it, or the one before it */
} Item;

typedef struct Parse {
    Arena *arena;
    SearchQuery *query;
    Item items[ITEMS];
    size_t n;
    bool next_or, next_without; /* "OR" or "NOT" was read */
    Buf note, literal;
} Parse;

static void add_note_text(Parse *p, const char *before, Str what, const char *why)
{
    if (p->note.n)
        buf_addz(&p->note, "; ");
    buf_addf(&p->note, "%s'%.*s'%s", before, STR_FMT(str_head(what, 60)), why);
}

static void say_note(Parse *p, Str what, const char *why)
{
    AUTO_BUF after = BUF(KIB(1));

    buf_addf(&after, " %s", why);
    add_note_text(p, "", what, after.p);
}

/* -- filters -- */

bool doc_role_parse(Str name, int *ret)
{
    for (int i = 0; i < DOC_ROLE_COUNT; i++)
        if (str_eqz(name, doc_role_name((DocRole)i))) {
            *ret = i;
            return true;
        }
    if (!str_eqz(name, "tool"))
        return false;
    *ret = DOC_ROLE_COUNT;
    return true;
}

static bool set_role(Parse *p, Str value)
{
    return doc_role_parse(value, &p->query->filter.role);
}

static bool set_source(Parse *p, Str value)
{
    Origin origin;

    if (!value.n || (!origin_parse(value, &origin) &&
                     !(p->query->is_source && p->query->is_source(p->query->source_ctx, value))))
        return false;
    p->query->filter.source = str_dup(p->arena, value);
    return true;
}

static bool set_tool(Parse *p, Str value)
{
    p->query->filter.tool = str_dup(p->arena, value);
    return value.n > 0;
}

static bool set_project(Parse *p, Str value)
{
    p->query->filter.project = str_dup(p->arena, value);
    return value.n > 0;
}

static bool set_since(Parse *p, Str value)
{
    When when;

    if (!when_parse(value, clock_wall(), &when))
        return false;
    p->query->filter.since = when.from;
    return true;
}

static bool set_until(Parse *p, Str value)
{
    When when;

    if (!when_parse(value, clock_wall(), &when))
        return false;
    p->query->filter.until = when.from;
    return true;
}

static bool set_model(Parse *p, Str value)
{
    p->query->filter.model = str_dup(p->arena, value);
    return value.n > 0;
}

/* True: it was a filter. One whose value means nothing is text. */
static bool take_filter(Parse *p, Str word)
{
    static const struct {
        const char *name;
        bool (*set)(Parse *p, Str value);
    } filters[] = { { "role:", set_role },       { "source:", set_source }, { "tool:", set_tool },
                    { "project:", set_project }, { "model:", set_model },   { "since:", set_since },
                    { "until:", set_until } };

    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        Str name = str_of(filters[i].name);

        if (!str_starts(word, name))
            continue;
        if (filters[i].set(p, str_skip(word, name.n)))
            return true;
        add_note_text(p, "unknown filter ", word, "; searched as text");
        return false;
    }
    return false;
}

bool search_project_matches(Str project, Str folder)
{
    Str last = folder;

    while (project.n > 1 && project.p[project.n - 1] == '/')
        project.n--;
    if (project.n && project.p[0] == '/')
        return str_starts(folder, project) &&
               (folder.n == project.n || folder.p[project.n] == '/' || project.n == 1);
    for (size_t i = folder.n; i > 0; i--)
        if (folder.p[i - 1] == '/') {
            last = str_skip(folder, i);
            break;
        }
    return str_eq_nocase(last, project);
}

/* -- items -- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0;
}

static void keep_literal(Parse *p, Str text)
{
    if (p->literal.n)
        buf_addc(&p->literal, ' ');
    buf_add(&p->literal, text);
}

static void add_item(Parse *p, Item item)
{
    item.without |= p->next_without;
    item.or_before = p->next_or && !item.without;
    p->next_or = p->next_without = false;
    if (p->n == ITEMS)
        return;
    p->items[p->n++] = item;
    if (!item.without)
        keep_literal(p, item.text);
}

/* What stands between quotes; a quote that is never closed reaches to the end. */
static Str take_quoted(Parse *p, Str *rest)
{
    Str inside = str_skip(*rest, 1);
    size_t end = str_find(inside, STR("\""));

    if (end == inside.n)
        say_note(p, inside, "has no closing quote; used up to the end");
    *rest = str_skip(inside, end + 1);
    return str_head(inside, end);
}

static Str take_word(Str *rest)
{
    size_t n = 0;

    while (n < rest->n && !is_space(rest->p[n]) && (rest->p[n] != '"' || n == 0))
        n++;
    *rest = (Str){ rest->p + n, rest->n - n };
    return (Str){ rest->p - n, n };
}

/* OR, AND and NOT between words, in capitals, as FTS5 and Hermes have them. At the end or the
 * beginning they are words. */
static bool take_operator(Parse *p, Str word, Str rest)
{
    bool between = p->n > 0 && str_trim(rest).n > 0;

    if (str_eqz(word, "OR") && between && !p->items[p->n - 1].without)
        p->next_or = true;
    else if (str_eqz(word, "NOT") && between)
        p->next_without = true;
    else
        return str_eqz(word, "AND") && between;
    return true;
}

static void take_item(Parse *p, Str *rest)
{
    Item item = { 0 };

    if (rest->n > 1 && rest->p[0] == '-' && !is_space(rest->p[1]) && rest->p[1] != '-') {
        item.without = true;
        *rest = str_skip(*rest, 1);
    }
    if (rest->p[0] == '"') {
        item.quoted = true;
        item.text = take_quoted(p, rest);
    } else {
        item.text = take_word(rest);
        if (!item.without && (take_operator(p, item.text, *rest) || take_filter(p, item.text)))
            return;
        item.prefix = item.text.n > 2 && item.text.p[item.text.n - 1] == '*';
        if (item.prefix)
            item.text.n--;
        else if (item.text.n == 2 && item.text.p[1] == '*')
            say_note(p, item.text, "is too short for a prefix; searched as a word");
    }
    if (item.text.n)
        add_item(p, item);
}

static void take_items(Parse *p, Str rest)
{
    while (rest.n) {
        if (is_space(*rest.p))
            rest = str_skip(rest, 1);
        else
            take_item(p, &rest);
    }
}

/* -- whether it is a question -- */

static bool first_term(Str s, Term *ret)
{
    TermIter it = { .rest = s, .plain = true };

    return term_next(&it, ret);
}

static bool is_stop_item(const Item *item)
{
    Term t;

    return !item->quoted && !item->prefix && first_term(item->text, &t) &&
           t.place.n == item->text.n && term_is_stop(term_str(&t));
}

/* Whoever writes sentences means any of their words; whoever writes two or three words means
 * all. */
static bool is_question(const Parse *p, Str text)
{
    size_t stops = 0;
    bool paired = false;
    Term t;

    text = str_trim(text);
    for (size_t i = 0; i < p->n; i++) {
        if (p->items[i].quoted || p->items[i].prefix || p->items[i].without)
            return false;
        stops += is_stop_item(&p->items[i]);
        if (first_term(p->items[i].text, &t) && t.pair)
            paired |= p->items[i].text.n > 18; /* six characters: a sentence, not a word */
    }
    if (!p->n)
        return false;
    if (text.p[text.n - 1] == '?' || str_ends(text, STR("\xef\xbc\x9f")) || paired)
        return true;
    return (p->n >= 3 && first_term(p->items[0].text, &t) && term_asks(term_str(&t))) ||
           (p->n >= 5 && stops * 3 >= p->n) || p->n >= 9;
}

/* -- dates that a question names -- */

static int month_of(Str word)
{
    static const char *const months[] = { "january",   "february", "march",    "april",
                                          "may",       "june",     "july",     "august",
                                          "september", "october",  "november", "december" };

    for (int i = 0; i < 12; i++)
        if (str_eqz(word, months[i]) ||
            (word.n == 3 && i != 4 && i != 2 && str_starts(str_of(months[i]), word)))
            return i + 1;
    return 0;
}

static double utc(int year, int month, int day)
{
    struct tm tm = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day };

    return (double)timegm(&tm);
}

/* "in May 2023", "on 8 May, 2023", "2023-05-08", "in 2023". Without a year nothing is meant. */
static void find_date(Parse *p)
{
    int year = 0, month = 0, day = 0;

    for (size_t i = 0; i < p->n; i++) {
        TermIter it = { .rest = p->items[i].text, .plain = true };
        int64_t number;
        Term t;

        while (term_next(&it, &t)) {
            if (month_of(term_str(&t)))
                month = month_of(term_str(&t));
            else if (!str_to_int(term_str(&t), 1, 2100, &number))
                continue;
            else if (number >= 1990)
                year = (int)number;
            else if (number <= 12 && year && !month)
                month = (int)number;
            else if (number <= 31 && !day)
                day = (int)number;
        }
    }
    if (!year)
        return;
    if (!month)
        day = 0;
    p->query->from = utc(year, month ? month : 1, day ? day : 1);
    p->query->until = day     ? utc(year, month, day + 1)
                      : month ? utc(year, month + 1, 1)
                              : utc(year + 1, 1, 1);
}

/* -- atoms -- */

static void add_atom(Parse *p, bool without, Atom atom)
{
    SearchQuery *q = p->query;
    Atom *to = without ? q->without : q->atoms;
    size_t *n = without ? &q->n_without : &q->n;

    for (size_t i = 0; i < *n; i++)
        if (str_eq(to[i].match, atom.match))
            return;
    if (*n == LIMIT_SEARCH_TERMS)
        say_note(p, atom.text, "was ignored: too many words");
    else
        to[(*n)++] = atom;
}

static void set_beginning(Arena *a, Atom *atom, Str begins)
{
    atom->begins = str_dup(a, begins);
    atom->instead = str_printf(a, "\"%.*s\"", STR_FMT(begins));
    atom->match = str_printf(a, "%.*s*", STR_FMT(atom->instead));
}

/* What a beginning finds: the index has words without their endings, so the beginning is looked for
 * as it is, and as the whole word that it may be. */
static void set_prefix(Arena *a, Atom *atom)
{
    TermIter plain = { .rest = atom->text, .plain = true }, whole = TERMS(atom->text);
    Term p, w;
    Str or_whole;

    if (!term_next(&plain, &p) || !term_next(&whole, &w))
        return;
    set_beginning(a, atom, term_str(&p));
    if (str_starts(term_str(&p), term_str(&w)) && w.n == p.n)
        return;
    atom->phrases = 2;
    or_whole = str_printf(a, " OR \"%.*s\"", STR_FMT(term_str(&w)));
    atom->match = str_printf(a, "(%.*s%.*s)", STR_FMT(atom->match), STR_FMT(or_whole));
    atom->instead = str_printf(a, "(%.*s%.*s)", STR_FMT(atom->instead), STR_FMT(or_whole));
}

/* All terms of the text as one phrase. The last character of a run of pairs stands in the index
 * once more by itself; in a phrase it is only asked for where it is all there is. */
static void set_phrase(Arena *a, Atom *atom)
{
    AUTO_BUF b = BUF(KIB(16));
    TermIter it = TERMS(atom->text);
    bool in_run = false;
    size_t n = 0;
    Term t;

    while (term_next(&it, &t)) {
        if (t.last && in_run) {
            in_run = false;
            continue;
        }
        in_run = t.pair && !t.last;
        if (t.last && n == 0 && !it.rest.n) {
            set_beginning(a, atom, term_str(&t));
            return;
        }
        buf_addz(&b, n++ ? " " : "\"");
        buf_add(&b, term_str(&t));
    }
    if (!n)
        return;
    buf_addc(&b, '"');
    atom->match = str_dup(a, buf_str(&b));
}

/* Either of both, as one thing to look for. */
static bool join_atoms(Parse *p, Atom atom)
{
    SearchQuery *q = p->query;
    Atom *last = q->n ? &q->atoms[q->n - 1] : NULL;
    int phrases = atom.phrases;

    for (size_t i = 0; i < q->n; i++)
        phrases += q->atoms[i].phrases;
    if (!last || phrases > LIMIT_SEARCH_TERMS)
        return false;
    last->match = str_printf(p->arena, "(%.*s OR %.*s)", STR_FMT(last->match), STR_FMT(atom.match));
    last->text = str_printf(p->arena, "%.*s %.*s", STR_FMT(last->text), STR_FMT(atom.text));
    last->phrases += atom.phrases;
    last->begins = last->instead = STR("");
    return true;
}

/* Of a question: each term by itself. */
static void add_terms(Parse *p, const Item *item)
{
    TermIter it = TERMS(item->text);
    bool in_run = false;
    Term t;

    while (term_next(&it, &t)) {
        bool tail = t.last && in_run;
        Atom atom = { .text = t.place, .phrases = 1 };

        in_run = t.pair && !t.last;
        if (tail)
            continue;
        if (t.last)
            set_beginning(p->arena, &atom, term_str(&t));
        else
            atom.match = str_printf(p->arena, "\"%.*s\"", STR_FMT(term_str(&t)));
        add_atom(p, false, atom);
    }
}

static void make_atom(Parse *p, const Item *item)
{
    Atom atom = { .text = item->text, .phrases = 1 };

    if (item->prefix)
        set_prefix(p->arena, &atom);
    else
        set_phrase(p->arena, &atom);
    if (atom.match.n && (!item->or_before || !join_atoms(p, atom)))
        add_atom(p, item->without, atom);
    else if (!atom.match.n)
        say_note(p, item->text, "was ignored: no letters or digits");
}

static void make_atoms(Parse *p)
{
    bool meaning = false;

    for (size_t i = 0; i < p->n; i++)
        meaning |= !p->items[i].without && !is_stop_item(&p->items[i]);
    for (size_t i = 0; i < p->n; i++) {
        const Item *item = &p->items[i];

        /* Words that say nothing are asked for only where there are no others. */
        if (meaning && !item->without && is_stop_item(item))
            continue;
        if (p->query->question)
            add_terms(p, item);
        else
            make_atom(p, item);
    }
}

void search_query_parse(Arena *a, Str text, SearchQuery *ret)
{
    Parse p = { .arena = a, .query = ret, .note = BUF(KIB(4)), .literal = BUF(KIB(8)) };

    ret->atoms = ARENA_ARRAY(a, Atom, LIMIT_SEARCH_TERMS);
    ret->without = ARENA_ARRAY(a, Atom, LIMIT_SEARCH_TERMS);
    if (text.n > LIMIT_SEARCH_QUERY) {
        text.n = LIMIT_SEARCH_QUERY;
        say_note(&p, text, "is too long; the end was ignored");
    }
    text = str_dup(a, text);
    take_items(&p, text);
    ret->question = is_question(&p, text);
    if (ret->question)
        find_date(&p);
    make_atoms(&p);
    ret->note = str_dup(a, buf_str(&p.note));
    ret->literal = str_dup(a, buf_str(&p.literal));
    buf_done(&p.note);
    buf_done(&p.literal);
}

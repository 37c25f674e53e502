/* Taking a request apart. A list wins over prose: who makes one has cut the work already; what is
 * said before and after it comes before and after. In prose every clause is a step, whatever its
 * verb: nobody knows all verbs. Only a sentence that is built as a statement ("The build is
 * broken.") asks for nothing; it goes along with the step that it is about. So no word of the
 * request is lost on the way. */
#include "agent/graph_split.h"

#include <ctype.h>

#include "agent/graph_words.h"
#include "base/limits.h"
#include "text/letters.h"
#include "text/utf8.h"

enum { STEP_CHARS = 240, INTRODUCTION_WORDS = 4 };

/* More than punctuation. */
static bool has_words(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80 || isalnum((unsigned char)s.p[i]))
            return true;
    return false;
}

static void add_step(Arena *a, Split *s, Str text, size_t group)
{
    TaskNode *node = &s->nodes[s->n];

    text = without_closer(without_opener(text));
    if (!has_words(text))
        return;
    if (s->n == GRAPH_NODES) {
        s->dropped++;
        return;
    }
    *node = (TaskNode){ .text = text_clip(a, text_collapse(a, text), STEP_CHARS),
                        .position = s->n + 1 };
    task_describe(a, node);
    s->groups[s->n++] = group;
}

/* -- Prose -- */

/* "e.g.", "vs.", "J.": the dot is part of the word. */
static bool is_abbreviation(Str s, size_t dot)
{
    size_t from = dot;
    Str word;

    while (from > 0 && s.p[from - 1] != ' ' && s.p[from - 1] != '\n' && s.p[from - 1] != '(')
        from--;
    word = (Str){ s.p + from, dot - from };
    return (word.n == 1 && isupper((unsigned char)word.p[0])) ||
           str_is_one_of(word, "e.g|i.e|etc|vs|cf|approx|Mr|Mrs|Ms|Dr");
}

static bool ends_sentence(Str s, size_t at, size_t *ret_bytes)
{
    static const char *const wide[] = { "。", "！", "？" };

    *ret_bytes = 1;
    if (s.p[at] == '\n')
        return true;
    if (strchr(".!?", s.p[at]) && (at + 1 == s.n || s.p[at + 1] == ' ' || s.p[at + 1] == '\n'))
        return s.p[at] != '.' || !is_abbreviation(s, at);
    for (size_t i = 0; i < ARRAY_LEN(wide); i++)
        if (str_starts(str_skip(s, at), str_of(wide[i]))) {
            *ret_bytes = 3;
            return true;
        }
    return false;
}

/* "if it fails then stop" is one step. */
static bool is_condition(Str clause)
{
    clause = str_trim(clause);
    return str_starts(clause, STR("if ")) || str_starts(clause, STR("If ")) ||
           str_starts(clause, STR("when ")) || str_starts(clause, STR("如果"));
}

/* Pasted lines: code, quotations, a shell's, and what stands below a line that ends with a
 * colon. */
static bool is_material(Str line, bool below_colon)
{
    return below_colon || line.p[0] == ' ' || line.p[0] == '\t' || strchr(">$|{}<@", line.p[0]);
}

static bool ends_open(const Buf *out)
{
    return out->n && !strchr(".!?;:\n", out->p[out->n - 1]);
}

/* The request as sentences: lines that were only wrapped are joined, pasted material is left to the
 * request itself. */
static Str flatten(Arena *a, Str text)
{
    AUTO_BUF out = BUF(LIMIT_REQUEST_READ + 16);
    bool fenced = false, below_colon = false;
    Str line;

    while (str_split(&text, '\n', &line)) {
        bool fence = str_starts(str_trim(line), STR("```"));
        Str words = str_trim(line);

        fenced = fenced != fence;
        if (!words.n)
            below_colon = false;
        if (fence || fenced || !words.n || is_material(line, below_colon))
            continue;
        if (out.n)
            buf_addc(&out, ends_open(&out) && islower((unsigned char)words.p[0]) ? ' ' : '\n');
        buf_add(&out, words);
        below_colon = str_ends(words, STR(":")) || str_ends(words, STR("："));
    }
    return str_dup(a, buf_str(&out));
}

typedef struct Prose {
    Arena *arena;
    Split *split;
    size_t group;
    Str talk;         /* statements that wait for the step they are about */
    bool began;       /* the clause at hand began with a sentence */
    bool enumerating; /* "in parallel: this, that, and that" */
} Prose;

static Str join(Arena *a, Str x, Str y)
{
    return !x.n ? y : !y.n ? x : str_printf(a, "%.*s. %.*s", STR_FMT(x), STR_FMT(y));
}

/* The statements before it go along with the step: what it touches may stand in them. */
static void take_talk(Prose *p, TaskNode *node)
{
    TaskKind kind = node->kind;
    bool writes = node->writes, refers = node->refers;

    if (!p->talk.n)
        return;
    node->text = text_clip(p->arena, text_collapse(p->arena, join(p->arena, p->talk, node->text)),
                           STEP_CHARS);
    task_describe(p->arena, node);
    node->kind = kind;
    node->writes = writes;
    node->refers = refers;
    p->talk = STR("");
}

/* One noun behind "also" is done as the step before it. */
static void end_step(Prose *p, Str clause)
{
    Split *s = p->split;
    size_t n = s->n;

    add_step(p->arena, s, clause, p->group);
    if (s->n == n)
        return;
    if (!p->began && n > 0 && s->nodes[n].kind == STEP_OTHER && s->groups[n - 1] == p->group) {
        s->nodes[n].kind = s->nodes[n - 1].kind;
        s->nodes[n].writes = s->nodes[n - 1].writes;
    }
    take_talk(p, &s->nodes[n]);
}

static void end_enumeration(Prose *p, Str clause)
{
    static const char *const commas[] = { ",", "，", "、" };
    size_t from = 0;

    for (size_t i = 0; i < clause.n;) {
        size_t bytes = 0;

        for (size_t c = 0; c < ARRAY_LEN(commas); c++)
            if (str_starts(str_skip(clause, i), str_of(commas[c])))
                bytes = strlen(commas[c]);
        if (bytes) {
            end_step(p, (Str){ clause.p + from, i - from });
            from = i + bytes;
        }
        i += bytes ? bytes : 1;
    }
    end_step(p, str_skip(clause, from));
}

static void end_clause(Prose *p, Str clause, bool ended)
{
    if (p->enumerating)
        end_enumeration(p, clause);
    else if (p->began && ended && text_is_statement(clause))
        p->talk = p->talk.n < LIMIT_STEP_TEXT ? join(p->arena, p->talk, str_trim(clause)) : p->talk;
    else
        end_step(p, clause);
}

static size_t count_words(Str s)
{
    size_t n = 0;
    Str word;

    while (str_split(&s, ' ', &word))
        n += word.n > 0;
    return n;
}

/* Behind "in parallel": a colon, and then things with commas between them. */
static bool announces(Str rest)
{
    rest = str_trim(rest);
    return str_starts(rest, STR(":")) || str_starts(rest, STR("："));
}

/* "Then" makes a step of the statement before it: it is something that ends. */
static void at_marker(Prose *p, Marker m, Str clause, Str rest)
{
    bool list = m == MARKER_ALSO && announces(rest);

    if (m == MARKER_THEN && !has_words(clause) && p->talk.n) {
        clause = p->talk;
        p->talk = STR("");
    }
    if (!list || count_words(clause) > INTRODUCTION_WORDS)
        end_clause(p, clause, false);
    p->enumerating = list || (p->enumerating && m == MARKER_ALSO);
    p->group += m == MARKER_THEN && p->split->n > 0;
    p->began = false;
}

static void split_prose(Prose *p, Str text)
{
    Split *s = p->split;
    size_t from = 0;

    p->began = true;
    for (size_t i = 0; i < text.n;) {
        size_t bytes = 1;
        Str clause = { text.p + from, i - from };
        Marker m = marker_at(text, i, &bytes);

        if (m != MARKER_NONE && !(m == MARKER_THEN && is_condition(clause))) {
            at_marker(p, m, clause, str_skip(text, i + bytes));
            from = i + bytes;
        } else if (ends_sentence(text, i, &bytes)) {
            end_clause(p, text.p[i] == '?' ? (Str){ clause.p, clause.n + 1 } : clause, true);
            p->began = true;
            p->enumerating = false;
            from = i + bytes;
        } else {
            bytes = 1;
        }
        i += bytes;
    }
    end_clause(p, str_skip(text, from), true);
    if (p->talk.n && s->n) { /* statements at the end are about the last step */
        TaskNode *last = &s->nodes[s->n - 1];

        last->text = text_clip(
            p->arena, text_collapse(p->arena, join(p->arena, last->text, p->talk)), STEP_CHARS);
        p->talk = STR("");
    }
}

/* -- A list and what stands around it -- */

/* The last sentence before a list says what it is a list of. */
static Str without_introduction(Str before)
{
    size_t end;

    before = str_trim(before);
    if (!str_ends(before, STR(":")) && !str_ends(before, STR("：")) && !text_announces(before))
        return before;
    for (end = before.n; end > 0; end--) {
        size_t bytes;

        if (end < before.n && ends_sentence(before, end - 1, &bytes))
            break;
    }
    return str_head(before, end);
}

static void split_list(Prose *p, const List *l)
{
    bool ordered = list_is_ordered(l);
    size_t first;
    Split *s = p->split;

    split_prose(p, flatten(p->arena, without_introduction(l->before)));
    p->group += s->n > 0;
    first = s->n;
    for (size_t i = 0; i < l->n; i++) {
        add_step(p->arena, s, l->items[i], p->group);
        p->group += ordered;
    }
    s->unordered = !ordered && first == 0;
    s->dropped += l->dropped;
    if (!str_trim(l->after).n)
        return;
    s->unordered = false;
    p->group += !ordered;
    split_prose(p, flatten(p->arena, l->after));
}

void graph_split(Arena *a, Str request, Split *ret)
{
    Str text = utf8_head(request, LIMIT_REQUEST_READ);
    Prose p = { .arena = a, .split = ret };
    List list = { .before = STR(""), .after = STR("") };

    *ret = (Split){ .cut = text.n < request.n };
    list_read(a, text, &list);
    if (list.n > 1)
        split_list(&p, &list);
    else
        split_prose(&p, flatten(a, text));
    if (ret->n == 0) {
        ret->nodes[0] =
            (TaskNode){ .text = text_clip(a, text_collapse(a, text), STEP_CHARS), .position = 1 };
        task_describe(a, &ret->nodes[0]);
        ret->n = 1;
    }
}

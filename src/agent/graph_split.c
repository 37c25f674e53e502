/* Taking a request apart. A list wins over prose: who makes one has cut the work already. Code between
 * fences is neither. A numbered list is in order, and so is one whose items point at each other; any
 * other has none, unless the words before it say "in parallel" of a numbered one. */
#include "agent/graph_split.h"

#include "agent/graph_words.h"
#include "base/limits.h"
#include "text/letters.h"
#include "text/utf8.h"

enum { STEP_CHARS = 240, LEAST_CHARS = 2 };

static void add_step(Arena *a, Split *s, Str text, size_t group)
{
    TaskNode *node = &s->nodes[s->n];

    text = without_opener(text);
    if (utf8_count(str_head(text, 16)) < LEAST_CHARS)
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

/* -- lists --------------------------------------------------------------------------------------------- */

typedef enum ItemKind { ITEM_NONE, ITEM_BULLET, ITEM_NUMBER } ItemKind;

/* "1." "1)" "(1)" "1、"; the digits end at `at`. */
static size_t number_end(Str line, size_t at)
{
    static const char *const ends[] = { ".", ")", "、", "）" };
    size_t digits = at;

    while (digits < line.n && line.p[digits] >= '0' && line.p[digits] <= '9')
        digits++;
    if (digits == at || digits - at > 3)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_starts(str_skip(line, digits), str_of(ends[i])))
            return digits + strlen(ends[i]);
    return 0;
}

/* 一、 to 十、 */
static size_t han_number_end(Str line)
{
    static const char *const digits[] = {
        "一", "二", "三", "四", "五", "六", "七", "八", "九", "十"
    };

    for (size_t i = 0; i < ARRAY_LEN(digits); i++)
        if (str_starts(line, str_of(digits[i])) && str_starts(str_skip(line, 3), STR("、")))
            return 6;
    return 0;
}

static ItemKind item_of(Str line, Str *ret_text)
{
    size_t end;

    line = str_trim(line);
    if (line.n > 2 && strchr("-*+", line.p[0]) && line.p[1] == ' ') {
        *ret_text = str_skip(line, 2);
        return ITEM_BULLET;
    }
    if (str_starts(line, STR("•"))) {
        *ret_text = str_skip(line, 3);
        return ITEM_BULLET;
    }
    end = number_end(line, line.n && line.p[0] == '(');
    end = end ? end : han_number_end(line);
    /* "1.5 times" begins no item. */
    if (!end || (end < line.n && line.p[end - 1] == '.' && line.p[end] != ' '))
        return ITEM_NONE;
    *ret_text = str_skip(line, end);
    return ITEM_NUMBER;
}

typedef struct List {
    Str items[GRAPH_NODES];
    size_t n, dropped, numbers;
    Str before; /* what stands in front of the first item */
} List;

/* Lines that are indented below an item belong to it. */
static void read_list(Arena *a, Str text, List *ret)
{
    const char *begin = text.p;
    bool fenced = false;
    Str line, item;

    while (str_split(&text, '\n', &line)) {
        ItemKind kind = fenced ? ITEM_NONE : item_of(line, &item);

        if (str_starts(str_trim(line), STR("```")))
            fenced = !fenced;
        if (kind == ITEM_NONE) {
            if (ret->n && !fenced && line.n > 2 && line.p[0] == ' ' && str_trim(line).n)
                ret->items[ret->n - 1] = str_printf(a, "%.*s %.*s", STR_FMT(ret->items[ret->n - 1]),
                                                    STR_FMT(str_trim(line)));
            continue;
        }
        if (!ret->n)
            ret->before = (Str){ begin, (size_t)(line.p - begin) };
        ret->numbers += kind == ITEM_NUMBER;
        if (ret->n < GRAPH_NODES)
            ret->items[ret->n++] = item;
        else
            ret->dropped++;
    }
}

/* An item that begins with "then", or says "it", has an item before it in mind. */
static bool items_point_back(const List *l)
{
    for (size_t i = 0; i < l->n; i++) {
        TaskNode node = { .text = str_trim(l->items[i]) };
        AUTO(Arena) *a = arena_new();
        size_t bytes;

        task_describe(a, &node);
        if (node.refers || marker_at(node.text, 0, &bytes) == MARKER_THEN)
            return true;
    }
    return false;
}

static void split_list(Arena *a, const List *l, Split *ret)
{
    bool together = text_says_together(l->before);
    bool ordered = !together && (l->numbers * 2 > l->n || items_point_back(l));

    for (size_t i = 0; i < l->n; i++)
        add_step(a, ret, l->items[i], ordered ? i : 0);
    ret->unordered = !ordered;
    ret->dropped += l->dropped;
}

/* -- prose --------------------------------------------------------------------------------------------- */

static bool ends_sentence(Str s, size_t at, size_t *ret_bytes)
{
    static const char *const wide[] = { "。", "！", "？" };

    if (s.p[at] == '\n') {
        *ret_bytes = 1;
        return true;
    }
    if (strchr(".!?", s.p[at]) && (at + 1 == s.n || s.p[at + 1] == ' ' || s.p[at + 1] == '\n')) {
        *ret_bytes = 1;
        return true;
    }
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

typedef struct Prose {
    Arena *arena;
    Split *split;
    size_t group;
    bool begins_with_talk; /* nothing is to be done in the first sentence */
} Prose;

/* A sentence in which nothing is to be done tells about the others; one noun behind "also" is done as
 * the step before it. */
static void end_clause(Prose *p, Str clause, bool sentence)
{
    Split *s = p->split;
    size_t n = s->n;

    add_step(p->arena, s, clause, p->group);
    if (s->n == n)
        return;
    if (s->nodes[n].kind != STEP_OTHER)
        return;
    if (sentence && n == 0) {
        p->begins_with_talk = true;
    } else if (sentence) {
        s->n = n;
    } else if (n > 0 && s->groups[n - 1] == p->group) {
        s->nodes[n].kind = s->nodes[n - 1].kind;
        s->nodes[n].writes = s->nodes[n - 1].writes;
    }
}

/* It only counts where there is nothing else. */
static void drop_talk(Prose *p)
{
    Split *s = p->split;

    if (!p->begins_with_talk || s->n < 2)
        return;
    s->n--;
    memmove(s->nodes, s->nodes + 1, s->n * sizeof *s->nodes);
    memmove(s->groups, s->groups + 1, s->n * sizeof *s->groups);
    for (size_t i = 0; i < s->n; i++)
        s->nodes[i].position = i + 1;
}

static void split_prose(Arena *a, Str text, Split *ret)
{
    Prose p = { .arena = a, .split = ret };
    size_t from = 0;
    bool sentence = true; /* the clause at hand began with a sentence */

    for (size_t i = 0; i < text.n;) {
        size_t bytes = 1;
        Str clause = { text.p + from, i - from };
        Marker m = marker_at(text, i, &bytes);

        if (m != MARKER_NONE && !(m == MARKER_THEN && is_condition(clause))) {
            end_clause(&p, clause, sentence);
            p.group += m == MARKER_THEN && ret->n > 0;
            from = i + bytes;
            sentence = false;
        } else if (ends_sentence(text, i, &bytes)) {
            end_clause(&p, clause, sentence);
            from = i + bytes;
            sentence = true;
        }
        i += bytes;
    }
    end_clause(&p, str_skip(text, from), sentence);
    drop_talk(&p);
}

void graph_split(Arena *a, Str request, Split *ret)
{
    Str text = utf8_head(request, LIMIT_REQUEST_READ);
    List list = { 0 };

    *ret = (Split){ .cut = text.n < request.n };
    read_list(a, text, &list);
    if (list.n > 1)
        split_list(a, &list, ret);
    else
        split_prose(a, text, ret);
    if (ret->n == 0) {
        ret->nodes[0] =
            (TaskNode){ .text = text_clip(a, text_collapse(a, text), STEP_CHARS), .position = 1 };
        task_describe(a, &ret->nodes[0]);
        ret->n = 1;
    }
}

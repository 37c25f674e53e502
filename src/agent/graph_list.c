/* Lists in a request: items on lines of their own, or numbered ones on one line ("1. this 2.
 * that"). Code between fences has no items. A numbered list is in order, and so is one whose items
 * point at each other; any other has none, unless the words before it say "in parallel" of a
 * numbered one. */
#include <stdio.h>

#include "agent/graph_split.h"
#include "agent/graph_words.h"
#include "base/buf.h"
#include "base/limits.h"

/* -- Items -- */

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

static void list_add(List *l, Str item)
{
    if (l->n < GRAPH_NODES)
        l->items[l->n++] = item;
    else
        l->dropped++;
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

/* -- Numbers on one line -- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Where item `number` begins at or after `from`, as its own word; line.n: nowhere. */
static size_t find_number(Str line, size_t from, int number, size_t *ret_text)
{
    char digits[8];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%d", number);

    for (size_t i = from; i + n < line.n; i++) {
        bool bracket = line.p[i] == '(';
        size_t at = i + bracket, end;

        if (i > 0 && !is_blank(line.p[i - 1]) && line.p[i - 1] != ':')
            continue;
        if (!str_starts(str_skip(line, at), (Str){ digits, n }))
            continue;
        end = number_end(line, at);
        if (!end || end >= line.n || (line.p[end - 1] == '.' && !is_blank(line.p[end])))
            continue;
        *ret_text = end;
        return i;
    }
    return line.n;
}

/* The line up to its first number is `ret_before`; false: it has no two items. */
static bool cut_inline(Str line, List *ret, Str *ret_before)
{
    size_t text, next_text, from = find_number(line, 0, 1, &text), next;

    if (from == line.n || find_number(line, text, 2, &next_text) == line.n)
        return false;
    *ret_before = str_head(line, from);
    for (int number = 2;; number++) {
        next = find_number(line, text, number, &next_text);
        list_add(ret, (Str){ line.p + text, next - text });
        ret->numbers++;
        if (next == line.n)
            return true;
        text = next_text;
    }
}

/* -- Lists -- */

/* An item shows its beginning only: more of it need not be put together. */
static void lengthen(Arena *a, Str *item, Str line)
{
    if (item->n < LIMIT_STEP_TEXT)
        *item = str_printf(a, "%.*s %.*s", STR_FMT(*item), STR_FMT(line));
}

/* Lines that are indented below an item belong to it; what stands outside of the items is before or
 * after them. */
void list_read(Arena *a, Str text, List *ret)
{
    AUTO_BUF first = BUF(LIMIT_REQUEST_READ * 2);
    AUTO_BUF last = BUF(LIMIT_REQUEST_READ * 2);
    bool fenced = false;
    Str line, item, before;

    while (str_split(&text, '\n', &line)) {
        bool fence = str_starts(str_trim(line), STR("```"));

        fenced = fenced != fence;
        if (fence || fenced)
            continue;
        if (cut_inline(line, ret, &before)) {
            buf_add(&first, before);
            buf_addc(&first, '\n');
        } else if (item_of(line, &item) != ITEM_NONE) {
            ret->numbers += item_of(line, &item) == ITEM_NUMBER;
            list_add(ret, item);
        } else if (ret->n && !last.n && line.n > 2 && is_blank(line.p[0]) && str_trim(line).n) {
            lengthen(a, &ret->items[ret->n - 1], str_trim(line));
        } else if (str_trim(line).n) {
            buf_add(ret->n ? &last : &first, line);
            buf_addc(ret->n ? &last : &first, '\n');
        }
    }
    ret->before = str_dup(a, buf_str(&first));
    ret->after = str_dup(a, buf_str(&last));
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

bool list_is_ordered(const List *l)
{
    return !text_says_together(l->before) && (l->numbers * 2 > l->n || items_point_back(l));
}

#include "sleep/task/checks.h"

#include "sleep/task/judge.h"
#include "text/json.h"
#include "text/utf8.h"

enum { LOOKED_AT = 2000, MAX_DEMANDS = 24, MAX_NAMES = 12, MAX_NAME = 48 };

/* -- What a reader of demands is given -- */

typedef struct Demanding {
    Arena *arena;
    Str text; /* as it was said */
    Str low;  /* the same in lower case, byte for byte */
    bool telling;
    Demands *out;
} Demanding;

static void request(Demanding *d, const char *op, Str arg, Str says)
{
    Demand w = { op, arg, says, d->telling };

    for (size_t i = 0; i < d->out->n; i++)
        if (strcmp(d->out->items[i].op, op) == 0 && str_eq(d->out->items[i].arg, arg))
            return;
    if (arg.n && d->out->n < MAX_DEMANDS)
        ARENA_PUSH(d->arena, d->out->items, d->out->n, d->out->cap, w);
}

static bool says(const Demanding *d, const char *const *words)
{
    for (; *words; words++)
        if (str_find(d->low, str_of(*words)) < d->low.n)
            return true;
    return false;
}

#define SAYS(d, ...) says((d), (const char *const[]){ __VA_ARGS__, NULL })

/* -- Numbers -- */

static int chinese_digit(Str *s)
{
    static const char *const digits[] = {
        "零", "一", "二", "三", "四", "五", "六", "七", "八", "九"
    };

    for (int i = 0; i < 10; i++)
        if (str_starts(*s, str_of(digits[i]))) {
            *s = str_skip(*s, 3);
            return i;
        }
    if (!str_starts(*s, STR("两")))
        return -1;
    *s = str_skip(*s, 3);
    return 2;
}

/* "三百五十", "300"; takes it off *s. 0: there is none. */
static int64_t take_number(Str *s)
{
    int64_t total = 0;
    int digit;

    if (s->n && s->p[0] >= '0' && s->p[0] <= '9') {
        while (s->n && s->p[0] >= '0' && s->p[0] <= '9' && total <= MAX_BOUND) {
            total = total * 10 + (s->p[0] - '0');
            *s = str_skip(*s, 1);
        }
        return total;
    }
    while ((digit = chinese_digit(s)) >= 0) {
        int64_t unit = str_starts(*s, STR("千"))   ? 1000
                       : str_starts(*s, STR("百")) ? 100
                       : str_starts(*s, STR("十")) ? 10
                                                   : 1;

        total += digit * unit;
        if (unit > 1)
            *s = str_skip(*s, 3);
    }
    return total;
}

typedef enum Unit { UNIT_NONE, UNIT_CHARS, UNIT_WORDS, UNIT_LINES } Unit;

static Unit unit_at(Str s)
{
    static const struct {
        Str word;
        Unit unit;
    } units[] = {
        { STR_INIT("character"), UNIT_CHARS }, { STR_INIT("chars"), UNIT_CHARS },
        { STR_INIT("字"), UNIT_CHARS },        { STR_INIT("个字"), UNIT_CHARS },
        { STR_INIT("words"), UNIT_WORDS },     { STR_INIT("lines"), UNIT_LINES },
    };

    while (s.n && s.p[0] == ' ')
        s = str_skip(s, 1);
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_starts(s, units[i].word))
            return units[i].unit;
    return UNIT_NONE;
}

static void add_bound(Demanding *d, Unit unit, int64_t bound)
{
    Arena *a = d->arena;
    bool first_line = SAYS(d, "subject", "first line", "headline");

    if (unit == UNIT_CHARS && first_line)
        request(d, "regex", str_printf(a, "\\A[^\\n]{1,%d}(?:\\n|\\Z)", (int)bound),
                str_printf(a, "Keep the first line within %d characters.", (int)bound));
    else if (unit == UNIT_CHARS)
        request(d, "max_chars", str_printf(a, "%d", (int)bound), STR(""));
    else if (unit == UNIT_WORDS)
        request(d, "regex", str_printf(a, "\\A\\s*(?:\\S+\\s+){0,%d}\\S*\\s*\\Z", (int)bound - 1),
                str_printf(a, "Keep the answer within %d words.", (int)bound));
    else
        request(d, "regex", str_printf(a, "\\A(?:[^\\n]*\\n){0,%d}[^\\n]*\\Z", (int)bound - 1),
                str_printf(a, "Keep the answer within %d lines.", (int)bound));
}

/* "at most 300 characters", "150 words is the limit", "三百字以内" */
static void read_bounds(Demanding *d)
{
    Str rest = d->low;

    if (!SAYS(d, "at most", "within", "under ", "no more than", "max", "up to", "limit", "too long",
              "longer", "shorter", "over ", "不超过", "以内", "之内", "少于", "控制在", "太长"))
        return;
    while (rest.n) {
        Str at = rest;
        int64_t bound = take_number(&rest);
        Unit unit = bound > 1 && bound <= MAX_BOUND ? unit_at(rest) : UNIT_NONE;

        if (unit != UNIT_NONE)
            add_bound(d, unit, bound);
        if (rest.p == at.p)
            (void)utf8_next(&rest);
    }
}

static void read_one_line(Demanding *d)
{
    if (SAYS(d, "one line", "single line", "一行"))
        request(d, "regex", STR("\\A[^\\n]*\\Z"), STR("Answer on one line."));
}

/* -- Names -- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Commas, pipes, slashes, "and": what stands between the names of a list. */
static size_t separator_at(Str s)
{
    static const Str marks[] = { STR_INIT(", "),    STR_INIT(" | "), STR_INIT(" / "),
                                 STR_INIT(" and "), STR_INIT("、"),  STR_INIT("，") };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (str_starts(s, marks[i]))
            return marks[i].n;
    return 0;
}

static bool ends_name(Str s)
{
    static const Str ends[] = { STR_INIT("."), STR_INIT(";"),  STR_INIT(":"), STR_INIT("\n"),
                                STR_INIT("("), STR_INIT("。"), STR_INIT("；") };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_starts(s, ends[i]))
            return true;
    return !s.n || separator_at(s) > 0;
}

/* A name as a heading or a column has it: capitalised, or in CJK. */
static bool is_name(Str s)
{
    bool cjk = s.n && (unsigned char)s.p[0] >= 0xe3;
    size_t blanks = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (strchr("\\^$.|?*+()[]{}", s.p[i]))
            return false;
        blanks += s.p[i] == ' ';
    }
    return s.n >= 2 && s.n <= MAX_NAME && blanks <= 2 && (cjk || is_upper(s.p[0]));
}

/* "the table with Mount" before a separator: the list begins with its last word. */
static Str last_word(Str s)
{
    size_t at = s.n;

    while (at > 0 && s.p[at - 1] != ' ')
        at--;
    return str_skip(s, at);
}

/* The longest run of names with separators between them. */
static size_t names_in(Str text, Str names[MAX_NAMES])
{
    Str run[MAX_NAMES];
    size_t best = 0, n = 0;

    while (text.n) {
        Str name = text;
        size_t gap;

        while (!ends_name(text))
            (void)utf8_next(&text);
        name.n -= text.n;
        name = str_trim(name);
        gap = separator_at(text);
        if (!n && gap && !is_name(name))
            name = last_word(name);
        if (is_name(name) && n < MAX_NAMES)
            run[n++] = name;
        else
            n = 0;
        if (n > best) {
            best = n;
            memcpy(names, run, n * sizeof *run);
        }
        if (!gap)
            n = 0;
        text = str_skip(text, gap ? gap : text.n ? 1 : 0);
        while (text.n && text.p[0] == ' ')
            text = str_skip(text, 1);
    }
    return best >= 2 ? best : 0;
}

static bool says_headings(const Demanding *d)
{
    return SAYS(d, "heading", "section", "小节", "章节", "标题");
}

static void read_columns(Demanding *d)
{
    Str names[MAX_NAMES];
    AUTO_BUF pattern = BUF(4096);
    AUTO_BUF said = BUF(4096);
    size_t n = 0;

    if (!SAYS(d, "table", "column", "表格"))
        return;
    n = names_in(d->text, names);
    d->telling = n > 0;
    buf_addz(&pattern, n ? "\\|" : "(?m)^\\|.+\\|");
    buf_addz(&said, n ? "Answer with a table that has the columns" : "Answer with a table.");
    for (size_t i = 0; i < n; i++) {
        buf_addf(&pattern, "\\s*%.*s\\s*\\|", STR_FMT(names[i]));
        buf_addf(&said, " %.*s%s", STR_FMT(names[i]), i + 1 < n ? "," : ".");
    }
    request(d, "regex", str_dup(d->arena, buf_str(&pattern)), str_dup(d->arena, buf_str(&said)));
}

static void read_headings(Demanding *d)
{
    size_t mark = str_find(d->text, STR("## "));
    Str names[MAX_NAMES];
    size_t n = 0;

    if (mark < d->text.n) {
        Str name = str_skip(d->text, mark + 3), rest = name;

        while (!ends_name(rest))
            (void)utf8_next(&rest);
        name.n -= rest.n;
        request(d, "section_present", str_trim(name), STR(""));
    }
    if (says_headings(d))
        n = names_in(d->text, names);
    for (size_t i = 0; i < n; i++)
        request(d, "section_present", names[i], STR(""));
}

/* What was put in quotes is meant literally. */
static void read_quoted(Demanding *d)
{
    static const struct {
        Str open, close;
    } quotes[] = { { STR_INIT("\""), STR_INIT("\"") },
                   { STR_INIT("`"), STR_INIT("`") },
                   { STR_INIT("“"), STR_INIT("”") },
                   { STR_INIT("「"), STR_INIT("」") } };

    for (size_t i = 0; i < ARRAY_LEN(quotes); i++) {
        size_t open = str_find(d->text, quotes[i].open);
        Str inside = str_skip(d->text, open + quotes[i].open.n);
        size_t close = str_find(inside, quotes[i].close);

        if (open >= d->text.n || close >= inside.n || close < 2 || close > MAX_NAME)
            continue;
        inside = str_head(inside, close);
        if (says_headings(d))
            request(d, "section_present", inside, STR(""));
        else if (SAYS(d, "without", "never", "don't", "do not", "not use", "不要"))
            request(d, "not_contains", inside, STR(""));
        else
            request(d, "contains", inside, STR(""));
    }
}

/* "start with OK or NOT OK" */
static void read_beginning(Demanding *d)
{
    AUTO_BUF words = BUF(256);
    AUTO_BUF said = BUF(256);
    Str rest = d->text;

    if (!SAYS(d, "start with", "begin with", "first word", " first", "开头"))
        return;
    while (rest.n) {
        Str word = rest;

        while (rest.n && (is_upper(rest.p[0]) || (rest.p[0] == ' ' && rest.n > 1 &&
                                                  is_upper(rest.p[1]) && rest.p != word.p)))
            rest = str_skip(rest, 1);
        word.n -= rest.n;
        if (word.n >= 2 && (!rest.n || !(rest.p[0] >= 'a' && rest.p[0] <= 'z'))) {
            buf_addf(&words, "%s%.*s", words.n ? "|" : "", STR_FMT(word));
            buf_addf(&said, "%s%.*s", said.n ? " or " : "", STR_FMT(word));
        }
        if (rest.n)
            (void)utf8_next(&rest);
    }
    if (words.n && !buf_full(&words))
        request(d, "regex", str_printf(d->arena, "\\A(?:%.*s)\\b", STR_FMT(buf_str(&words))),
                str_printf(d->arena, "Begin the answer with %.*s.", STR_FMT(buf_str(&said))));
}

/* -- Shapes -- */

static void read_json(Demanding *d)
{
    if (SAYS(d, "json") && SAYS(d, "only", "nothing", "no prose", "just", "one json", "machine"))
        request(d, "regex", STR("\\A\\s*[\\[{][\\s\\S]*[\\]}]\\s*\\Z"),
                STR("Answer with one JSON value and nothing around it."));
}

static void read_dates(Demanding *d)
{
    if (SAYS(d, "yyyy-mm-dd", "iso date", "iso,", "iso 8601"))
        request(d, "regex", STR("\\b\\d{4}-\\d{2}-\\d{2}\\b"), STR("Write dates as YYYY-MM-DD."));
}

static void read_units(Demanding *d)
{
    static const char *const units[][2] = { { "millimet", "mm" }, { " mm", "mm" },
                                            { "kilomet", "km" },  { "kilogram", "kg" },
                                            { "percent", "%" },   { "milliseconds", "ms" } };
    const char *decimals = SAYS(d, "one decimal")    ? "\\.\\d"
                           : SAYS(d, "two decimals") ? "\\.\\d{2}"
                                                     : "";

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (says(d, (const char *const[]){ units[i][0], NULL }) ||
            (units[i][0][0] == ' ' && str_starts(d->low, str_of(units[i][0] + 1))))
            request(d, "regex", str_printf(d->arena, "\\d%s %s\\b", decimals, units[i][1]),
                    str_printf(d->arena, "Give quantities in %s%s.", units[i][1],
                               !*decimals                   ? ""
                               : strcmp(decimals, "\\.\\d") ? " with two decimals"
                                                            : " with one decimal"));
}

static void read_links(Demanding *d)
{
    d->telling = SAYS(d, "doi");
    if (d->telling)
        request(d, "regex", STR("doi\\.org/10\\."),
                STR("Give every source with its doi.org link."));
    else if (SAYS(d, "link", "url", "source of each"))
        request(d, "regex", STR("https?://"), STR("Give a link to every source."));
    if (SAYS(d, "issue number"))
        request(d, "regex", STR("#\\d+"), STR("Cite issues by their numbers, as #12."));
    if (SAYS(d, "exit with 0", "exit code 0", "exits with 0"))
        request(d, "regex", STR("exit\\w*(?: with)?(?: code| status)? 0"),
                STR("Show that the run ended with exit code 0."));
}

static void read_forbidden_marks(Demanding *d)
{
    static const char *const marks[][3] = { { "exclamation mark", "!", "exclamation marks" },
                                            { "question mark", "?", "question marks" },
                                            { "semicolon", ";", "semicolons" },
                                            { "em dash", "\xe2\x80\x94", "em dashes" } };

    if (!SAYS(d, "no ", "not one", "without", "never", "avoid"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (says(d, (const char *const[]){ marks[i][0], NULL }))
            request(d, "not_contains", str_of(marks[i][1]),
                    str_printf(d->arena, "Use no %s.", marks[i][2]));
}

/* "date,payee,amount,currency", "€49.00", "EUR": words that nobody says unless they mean them */
static void read_literals(Demanding *d)
{
    static const char *const currencies[] = { "EUR", "USD", "GBP", "CNY", "JPY" };
    Str rest = d->text;

    while (rest.n) {
        size_t end = str_find(rest, STR(" "));
        Str word = str_head(rest, end);
        size_t commas = 0;

        while (word.n && strchr(".,;:!?)", word.p[word.n - 1]))
            word.n--;
        for (size_t i = 0; i < word.n; i++)
            commas += word.p[i] == ',';
        if (commas >= 2 && word.n <= MAX_NAME)
            request(d, "contains", word, STR(""));
        if (str_starts(word, STR("€")) && word.n > 4 && word.p[3] >= '0' && word.p[3] <= '9')
            request(d, "regex", STR("€\\d+\\.\\d{2}"), STR("Write prices as €12.34."));
        for (size_t i = 0; i < ARRAY_LEN(currencies); i++)
            if (str_eqz(word, currencies[i])) {
                d->telling = false;
                request(d, "contains", word, STR(""));
                d->telling = true;
            }
        rest = str_skip(rest, end < rest.n ? end + 1 : rest.n);
    }
}

/* -- The whole -- */

/* A bound or a list of columns is particular to a task; dates and links are asked for
 * everywhere. */
static const struct {
    void (*read)(Demanding *d);
    bool telling;
} readers[] = {
    { read_bounds, true },   { read_one_line, false },        { read_columns, true },
    { read_headings, true }, { read_quoted, true },           { read_beginning, true },
    { read_json, false },    { read_dates, false },           { read_units, true },
    { read_links, false },   { read_forbidden_marks, false }, { read_literals, true },
};

void demands_of_correction(Arena *a, Str correction, Demands *ret)
{
    Demanding d = { .arena = a, .out = ret };
    char *low;

    d.text = str_dup(a, utf8_head(str_trim(correction), LOOKED_AT));
    low = str_z(a, d.text);
    for (size_t i = 0; i < d.text.n; i++)
        if (is_upper(low[i]))
            low[i] = (char)(low[i] | 0x20);
    d.low = (Str){ low, d.text.n };
    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        d.telling = readers[i].telling;
        readers[i].read(&d);
    }
}

/* -- As a judge -- */

Str demands_judge(Arena *a, const Demand *demands, size_t n)
{
    AUTO_BUF out = BUF((size_t)1 << 20);
    JsonWriter w = JSON_WRITER(&out, 0);

    if (!n)
        return STR("{}");
    json_begin(&w, '{');
    json_field_str(&w, "kind", STR("rule"));
    json_field_begin(&w, "checks", '[');
    for (size_t i = 0; i < n; i++) {
        int64_t bound;

        json_begin(&w, '{');
        json_field_str(&w, "op", str_of(demands[i].op));
        json_key(&w, "arg");
        if (strcmp(demands[i].op, "max_chars") == 0 &&
            str_to_int(demands[i].arg, 1, MAX_BOUND, &bound))
            json_put_int(&w, bound);
        else
            json_put_str(&w, demands[i].arg);
        if (demands[i].says.n)
            json_field_str(&w, "says", demands[i].says);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

/* -- Whether the history confirms a demand -- */

/* After a correction answers often begin with an apology: the check may pass on the rest as
 * well. */
static bool answer_passes(Arena *a, const Check *check, Str answer)
{
    enum { APOLOGY = 200 };
    size_t at = str_find(answer, STR("\n\n"));
    Str problem = STR_NONE;

    return check_passes(a, check, answer, NULL, &problem) ||
           (at < answer.n && at <= APOLOGY &&
            check_passes(a, check, str_trim(str_skip(answer, at)), NULL, &problem));
}

bool demands_not_met(Arena *a, Str request, Str answer)
{
    Demands demands = { 0 };
    Judge judge;

    demands_of_correction(a, request, &demands);
    if (!demands.n || !answer.n)
        return false;
    judge = judge_of(a, demands_judge(a, demands.items, demands.n));
    for (size_t i = 0; i < judge.n; i++)
        if (!answer_passes(a, &judge.checks[i], answer))
            return true;
    return false;
}

bool demand_is_confirmed(Arena *a, const Demand *one, const Tried *answers)
{
    Judge judge = judge_of(a, demands_judge(a, one, 1));
    size_t wrong = 0, right = 0;

    if (judge.n != 1)
        return false;
    for (size_t i = 0; i < answers->n_wrong; i++)
        wrong += !answer_passes(a, &judge.checks[0], answers->wrong[i]);
    for (size_t i = 0; i < answers->n_right; i++)
        right += answer_passes(a, &judge.checks[0], answers->right[i]);
    if (!answers->n_right)
        return wrong > 0 && wrong == answers->n_wrong;
    return wrong > 0 && right * 5 >= answers->n_right * 4;
}

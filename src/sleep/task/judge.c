/* Each op is a small function in one table. Headings and tool calls are found by patterns built
 * around the quoted name; the rest compares text. */
#include "sleep/task/judge.h"

#include <math.h>

#include "base/limits.h"
#include "sleep/task/regex.h"
#include "sleep/task/rules.h"
#include "text/letters.h"
#include "text/utf8.h"

typedef enum ArgKind { ARG_TEXT, ARG_PATTERN, ARG_BOUND, ARG_NONE } ArgKind;

static const struct {
    Str name;
    ArgKind arg;
    bool shape;
} ops[] = {
#define X(op, word, kind, is_shape) [op] = { STR_INIT(word), kind, is_shape },
    CHECK_OPS(X)
#undef X
};

static CheckOp op_of(Str name)
{
    for (CheckOp op = 0; op < CHECK_OP_COUNT; op++)
        if (str_eq(ops[op].name, name))
            return op;
    return CHECK_OTHER;
}

/* -- Reading -- */

bool check_bound(Json arg, int64_t *ret)
{
    Str text = text_trim(json_str(arg));
    double real;

    switch (json_type(arg)) {
    case JSON_INT:
        return json_int(arg, ret);
    case JSON_REAL:
        return json_double(arg, &real) && isfinite(real) && real == floor(real) &&
               json_int(arg, ret);
    case JSON_STRING:
        if (text.n > 1 && text.p[0] == '+' && text.p[1] != '-')
            text = str_skip(text, 1);
        return str_to_int(text, INT64_MIN, INT64_MAX, ret);
    default:
        return false;
    }
}

static Check check_of(Arena *a, Json v)
{
    Json arg = json_get(v, STR("arg"));
    Check check = { .name = str_dup(a, json_str(json_get(v, STR("op")))),
                    .arg = str_dup(a, json_str(arg)),
                    .says = str_dup(a, json_str(json_get(v, STR("says")))) };
    JsonType type = json_type(arg);

    if (type != JSON_STRING && type != JSON_NONE && type != JSON_NULL) {
        AUTO_BUF out = BUF(LIMIT_JSON_BYTES);
        JsonWriter w = JSON_WRITER(&out, 0);

        json_put(&w, arg);
        check.arg = str_dup(a, buf_str(&out));
    }
    check.op = op_of(check.name);
    check.has_bound = check_bound(arg, &check.bound);
    return check;
}

Judge judge_of(Arena *a, Str json)
{
    Err err;
    AUTO(JsonDoc) *doc = str_eq(json, STR("{}")) ? NULL : json_parse(json, &err);
    Json root, checks, item;
    Judge judge = { 0 };
    JsonIter it;
    Str key;

    if (!doc)
        return judge;
    root = json_root(doc);
    checks = json_get(root, STR("checks"));
    if (!str_eq(json_str(json_get(root, STR("kind"))), STR("rule")))
        return judge;
    judge.is_rule = true;
    judge.checks = ARENA_ARRAY(a, Check, json_count(checks) + 1);
    it = json_each(checks);
    if (json_type(checks) != JSON_ARRAY)
        return judge;
    while (json_next(&it, &key, &item) && judge.n < LIMIT_SLEEP_CHECKS)
        judge.checks[judge.n++] = check_of(a, item);
    return judge;
}

StrList judge_tools(Arena *a, const Judge *judge)
{
    StrList tools = { 0 };

    for (size_t i = 0; i < judge->n; i++)
        if (judge->checks[i].op == CHECK_TOOL_CALLED)
            strs_add_new(a, &tools, judge->checks[i].arg);
    return tools;
}

/* -- The checks -- */

typedef struct Asked {
    Arena *arena;
    const Check *check;
    Str answer;
    const StrList *tools;
    Str problem;
} Asked;

/* These patterns always compile: the name in them is quoted. */
static bool pattern_found(Asked *q, const char *before, const char *after)
{
    Str name = regex_quote(q->arena, text_trim(q->check->arg));
    Str pattern = str_printf(q->arena, "%s%.*s%s", before, STR_FMT(name), after);
    Err err;

    return regex_search(pattern, q->answer, &err) == REGEX_YES;
}

static bool section_present(Asked *q)
{
    return pattern_found(q, "(?im)^[^\\S\\n]{0,3}#{1,6}.*", "[^\\S\\n]*$") ||
           pattern_found(q, "(?im)^[^\\S\\n]*\\*\\*.*", ".*\\*\\*[^\\S\\n]*:?[^\\S\\n]*$") ||
           pattern_found(q, "(?im)^[^\\S\\n]*", "[^\\S\\n]*:");
}

/* The text of an ATX heading; false where the line is none. */
static bool heading(Str line, Str *ret)
{
    size_t blanks = 0, marks = 0;

    while (blanks < line.n && line.p[blanks] == ' ')
        blanks++;
    if (blanks > 3)
        return false;
    line = str_skip(line, blanks);
    while (marks < line.n && line.p[marks] == '#')
        marks++;
    line = str_skip(line, marks);
    if (!marks || marks > 6 ||
        (line.n && line.p[0] != ' ' && line.p[0] != '\t' && line.p[0] != '\r'))
        return false;
    *ret = line;
    return true;
}

static bool section_contains(Asked *q)
{
    Str name = text_fold(q->arena, text_trim(q->check->arg)), rest = q->answer, line, text;

    while (str_split(&rest, '\n', &line))
        if (heading(line, &text)) {
            Str folded = text_fold(q->arena, text);

            if (str_find(folded, name) < folded.n)
                return true;
        }
    return false;
}

static bool pattern(Asked *q)
{
    Err err;
    RegexAnswer answer = regex_search(q->check->arg, q->answer, &err);

    if (answer == REGEX_MALFORMED)
        q->problem = str_printf(q->arena, "invalid regex (%s)", err.text);
    if (answer == REGEX_COSTLY)
        q->problem = str_printf(q->arena, "%s", err.text);
    return answer == REGEX_YES;
}

static bool max_chars(Asked *q)
{
    return q->check->has_bound && (int64_t)utf8_count(q->answer) <= q->check->bound;
}

static bool min_chars(Asked *q)
{
    return q->check->has_bound && (int64_t)utf8_count(q->answer) >= q->check->bound;
}

static bool contains(Asked *q)
{
    Str text = text_lower(q->arena, q->answer), word = text_lower(q->arena, q->check->arg);

    return !word.n || str_find(text, word) < text.n;
}

static bool not_contains(Asked *q)
{
    return !contains(q);
}

/* Without the marks of quotes, lists, headings and numbering in front. */
static Str without_marks(Str s)
{
    for (;;) {
        size_t digits = 0;

        s = text_trim(s);
        while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
            digits++;
        if (digits && digits < s.n && (s.p[digits] == '.' || s.p[digits] == ')'))
            s = str_skip(s, digits + 1);
        else if (s.n && strchr(">-*#+\"'`", s.p[0]))
            s = str_skip(s, 1);
        else
            return s;
    }
}

static bool no_refusal(Asked *q)
{
    static const Str openings[] = { STR_INIT("cannot complete"), STR_INIT("i cannot"),
                                    STR_INIT("i can't"),         STR_INIT("i'm unable"),
                                    STR_INIT("i am unable"),     STR_INIT("unable to complete"),
                                    STR_INIT("sorry, i can't"),  STR_INIT("sorry, i cannot"),
                                    STR_INIT("no can do") };
    Str text = without_marks(q->answer), head = text_lower(q->arena, text_cut(text, 160));

    if (!text.n)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(openings); i++)
        if (str_starts(head, openings[i]))
            return utf8_count(text) >= 600;
    return true;
}

static bool tool_called(Asked *q)
{
    Str name = text_lower(q->arena, text_trim(q->check->arg));

    for (size_t i = 0; q->tools && i < q->tools->n; i++)
        if (str_eq(text_lower(q->arena, q->tools->items[i]), name))
            return true;
    return name.n && pattern_found(q, "(?i)\\btool_call\\s*:\\s*", "\\b");
}

static bool (*const functions[])(Asked *q) = {
    [CHECK_SECTION_PRESENT] = section_present,
    [CHECK_SECTION_CONTAINS] = section_contains,
    [CHECK_REGEX] = pattern,
    [CHECK_MAX_CHARS] = max_chars,
    [CHECK_MIN_CHARS] = min_chars,
    [CHECK_CONTAINS] = contains,
    [CHECK_NOT_CONTAINS] = not_contains,
    [CHECK_NO_REFUSAL] = no_refusal,
    [CHECK_TOOL_CALLED] = tool_called,
};

bool check_passes(Arena *a, const Check *check, Str answer, const StrList *tools, Str *ret_problem)
{
    Asked q = { .arena = a, .check = check, .answer = answer, .tools = tools };
    bool passes = check->op == CHECK_OTHER || functions[check->op](&q);

    *ret_problem = q.problem;
    return passes;
}

Score judge_score(Arena *a, const Judge *judge, Str answer, const StrList *tools)
{
    AUTO_BUF why = BUF(LIMIT_JSON_BYTES);
    size_t passed = 0;

    if (!judge->n)
        return (Score){ 0, 0, STR("no checks") };
    for (size_t i = 0; i < judge->n; i++) {
        Str problem, says;

        if (check_passes(a, &judge->checks[i], answer, tools, &problem)) {
            passed++;
            continue;
        }
        says = rule_of_check(a, &judge->checks[i]); /* a pattern means nothing to a person */
        if (str_ends(says, STR(".")))
            says.n--;
        buf_addf(&why, "%s%.*s", why.n ? "; " : "failed: ", STR_FMT(says));
        if (problem.n)
            buf_addf(&why, " [%.*s]", STR_FMT(problem));
    }
    return (Score){ .hard = passed == judge->n,
                    .soft = (double)passed / (double)judge->n,
                    .why = why.n ? str_dup(a, buf_str(&why)) : STR("all checks passed") };
}

/* -- Review -- */

/* True for a check that looks at the shape only. */
static bool review_check(Arena *a, JudgeReview *r, size_t nth, Json v)
{
    Json op_name = json_get(v, STR("op")), arg = json_get(v, STR("arg"));
    CheckOp op = op_of(json_str(op_name));
    Str name = json_str(op_name), text = json_str(arg);
    bool is_text = op != CHECK_OTHER && (ops[op].arg == ARG_TEXT || ops[op].arg == ARG_PATTERN);
    int64_t bound = 0;
    Err err;

    if (json_type(v) != JSON_OBJECT || json_type(op_name) != JSON_STRING) {
        LIST_PUSH(a, &r->errors, str_printf(a, "check %zu: no object with an op", nth));
        return false;
    }
    if (op == CHECK_OTHER) {
        LIST_PUSH(a, &r->warnings,
                  str_printf(a, "check %zu: unknown op '%.*s' always passes", nth, STR_FMT(name)));
        return false;
    }
    if (is_text && (json_type(arg) != JSON_STRING || !text_trim(text).n))
        LIST_PUSH(a, &r->errors, str_printf(a, "check %zu: %.*s needs a text", nth, STR_FMT(name)));
    else if (ops[op].arg == ARG_PATTERN && !regex_check(text, &err))
        LIST_PUSH(a, &r->errors, str_printf(a, "check %zu: invalid regex (%s)", nth, err.text));
    if (ops[op].arg == ARG_BOUND && (!check_bound(arg, &bound) || bound < 0))
        LIST_PUSH(a, &r->errors,
                  str_printf(a, "check %zu: %.*s needs a whole number that is not negative", nth,
                             STR_FMT(name)));
    else if (op == CHECK_MIN_CHARS && bound == 0)
        LIST_PUSH(a, &r->warnings, str_printf(a, "check %zu: min_chars 0 always passes", nth));
    return ops[op].shape;
}

JudgeReview judge_review(Arena *a, Json judge)
{
    JudgeReview r = { 0 };
    Json checks = json_get(judge, STR("checks")), item;
    JsonIter it = json_each(checks);
    size_t nth = 0, shape = 0;
    Str key;

    if (json_type(judge) == JSON_NULL || json_type(judge) == JSON_NONE)
        return r;
    if (json_type(judge) != JSON_OBJECT) {
        LIST_PUSH(a, &r.errors, STR("the judge is no object"));
        return r;
    }
    if (json_type(checks) == JSON_NONE)
        return r;
    if (json_type(checks) != JSON_ARRAY) {
        LIST_PUSH(a, &r.errors, STR("the checks are no array"));
        return r;
    }
    while (json_next(&it, &key, &item))
        shape += review_check(a, &r, ++nth, item);
    r.shape_only = nth && shape == nth;
    if (r.shape_only && !r.errors.n)
        LIST_PUSH(a, &r.warnings, STR("only the shape of an answer is checked"));
    return r;
}

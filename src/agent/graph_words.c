/* English words are matched whole and without regard to case; Chinese ones wherever they stand,
 * since nothing separates them. Tables, so that a word is added in one place. */
#include "agent/graph_words.h"

#include "text/letters.h"
#include "text/utf8.h"

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool word_at(Str s, size_t at, const char *word)
{
    size_t n = strlen(word);

    if (at + n > s.n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (lower(s.p[at + i]) != word[i])
            return false;
    if ((unsigned char)word[0] >= 0x80 || !is_letter((unsigned char)word[0]))
        return true;
    return (at == 0 || !is_letter((unsigned char)s.p[at - 1])) &&
           (at + n == s.n || !is_letter((unsigned char)s.p[at + n]));
}

static size_t find_word(Str s, const char *word)
{
    for (size_t i = 0; i < s.n; i++)
        if (word_at(s, i, word))
            return i;
    return s.n;
}

/* -- Markers -- */

typedef struct MarkerWord {
    const char *word;
    Marker marker;
} MarkerWord;

/* Longer ones before those that begin them. */
static const MarkerWord markers[] = {
    { "and then", MARKER_THEN },    { "then", MARKER_THEN },
    { "after that", MARKER_THEN },  { "afterwards", MARKER_THEN },
    { "finally", MARKER_THEN },     { "once that is done", MARKER_THEN },
    { "and also", MARKER_ALSO },    { "meanwhile", MARKER_ALSO },
    { "in parallel", MARKER_ALSO }, { "at the same time", MARKER_ALSO },
    { ";", MARKER_ALSO },           { "；", MARKER_ALSO },
    { "然后", MARKER_THEN },        { "接着", MARKER_THEN },
    { "随后", MARKER_THEN },        { "最后", MARKER_THEN },
    { "之后", MARKER_THEN },        { "再", MARKER_THEN },
    { "同时", MARKER_ALSO },        { "并且", MARKER_ALSO },
    { "另外", MARKER_ALSO },        { "以及", MARKER_ALSO },
};

/* 再 is a marker of order unless it is part of another word: 再次, 再见, 不再. */
static bool is_other_word(Str s, size_t at)
{
    static const char *const behind[] = { "次", "见", "三", "度", "也" };
    Str rest = str_skip(s, at + 3);

    for (size_t i = 0; i < ARRAY_LEN(behind); i++)
        if (str_starts(rest, str_of(behind[i])))
            return true;
    return at >= 3 && str_eqz((Str){ s.p + at - 3, 3 }, "不");
}

Marker marker_at(Str s, size_t at, size_t *ret_bytes)
{
    for (size_t i = 0; i < ARRAY_LEN(markers); i++) {
        if (!word_at(s, at, markers[i].word))
            continue;
        if (str_eqz(str_of(markers[i].word), "再") && is_other_word(s, at))
            return MARKER_NONE;
        *ret_bytes = strlen(markers[i].word);
        return markers[i].marker;
    }
    return MARKER_NONE;
}

bool text_says_together(Str s)
{
    static const char *const words[] = { "in parallel",    "at the same time",
                                         "simultaneously", "independently",
                                         "in any order",   "concurrently",
                                         "同时",           "并行",
                                         "任意顺序" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (find_word(s, words[i]) < s.n)
            return true;
    return false;
}

bool text_announces(Str s)
{
    static const char *const words[] = { "following", "below", "these", "以下", "下面", "如下" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (find_word(s, words[i]) < s.n)
            return true;
    return false;
}

static bool begins_with_any(Str s, const char *words)
{
    Str rest = str_of(words), word;

    while (str_split(&rest, '|', &word)) {
        char z[32];

        ASSERT(word.n < sizeof z);
        memcpy(z, word.p, word.n);
        z[word.n] = '\0';
        if (word_at(s, 0, z))
            return true;
    }
    return false;
}

/* The words of a language that nobody adds to: articles, pronouns, auxiliaries. A request begins
 * with a verb, of which there is no end; a statement begins with one of these, or has its auxiliary
 * soon. */
bool text_is_statement(Str s)
{
    static const char beginnings[] =
        "the|a|an|this|that|these|those|there|here|it|its|i|we|you|he|she|they|my|our|your|his|her|"
        "their|i'm|i've|we're|we've|it's|that's|there's|they're|because|since|although|as|thanks|"
        "thank you|hi|hello|hey|ok|okay|sure|我|我们|你|您|他|她|它|这|那|因为|由于|目前|谢谢|你好";
    static const char auxiliaries[] =
        "is|are|was|were|am|has|had|does|did|will|would|cannot|can't|isn't|aren't|wasn't|weren't|"
        "doesn't|didn't|won't|hasn't";
    static const char *const wishes[] = { "need",      "needs",   "want",     "should", "must",
                                          "have to",   "has to",  "please",   "let's",  "could you",
                                          "would you", "can you", "i'd like", "需要",   "请",
                                          "应该",      "必须",    "想要",     "希望",   "帮" };

    s = without_opener(s);
    if (str_ends(s, STR("?")) || str_ends(s, STR("？")))
        return false; /* it wants an answer */
    for (size_t i = 0; i < ARRAY_LEN(wishes); i++)
        if (find_word(s, wishes[i]) < s.n)
            return false;
    if (begins_with_any(s, beginnings))
        return true;
    for (int word = 0; word < 2; word++) {
        s = str_trim(str_skip(s, str_find(s, STR(" "))));
        if (s.n && begins_with_any(s, auxiliaries))
            return true;
    }
    return false;
}

Str without_opener(Str s)
{
    static const char *const openers[] = {
        "first of all", "first", "firstly", "next", "and", "also", "please", "then", "finally",
        "首先",         "先",    "，",      ",",    "、",  "。",   ".",      ":",    "："
    };

    for (size_t i = 0; i < ARRAY_LEN(openers);) {
        s = str_trim(s);
        if (word_at(s, 0, openers[i])) {
            s = str_skip(s, strlen(openers[i]));
            i = 0;
        } else {
            i++;
        }
    }
    return str_trim(s);
}

Str without_closer(Str s)
{
    static const char *const closers[] = { ",", ";", ":", "，", "；", "、", "：" };

    for (size_t i = 0; i < ARRAY_LEN(closers);) {
        s = str_trim(s);
        if (str_ends(s, str_of(closers[i]))) {
            s.n -= strlen(closers[i]);
            i = 0;
        } else {
            i++;
        }
    }
    return s;
}

/* -- Kinds -- */

static const struct {
    TaskKind kind;
    const char *words; /* "a|b" */
} verbs[] = {
    { STEP_RESEARCH, "research|investigate|search|compare|explore|find|look up|survey|evaluate|"
                     "study|analyse|analyze|调研|研究|搜索|查找|比较|分析|调查" },
    { STEP_READ,
      "read|open|inspect|view|list|check|look at|review|summarise|summarize|阅读|读|查看|"
      "检查|打开|列出|总结" },
    { STEP_CODE,
      "implement|code|fix|refactor|add|build|create|change|modify|update|remove|delete|"
      "rename|optimise|optimize|patch|migrate|port|编写代码|实现|修复|重构|添加|修改|更新|"
      "删除|优化|开发" },
    { STEP_TEST, "test|tests|run the tests|verify|benchmark|validate|lint|测试|验证|跑一下" },
    { STEP_WRITE, "write|document|draft|translate|note|compose|explain in|写|撰写|翻译|记录|起草" },
    { STEP_DEPLOY,
      "deploy|release|publish|ship|push|upload|install|roll out|部署|发布|上线|推送|上传|"
      "安装" },
    { STEP_ASK, "ask|confirm|tell me|let me know|询问|确认|问|告诉我" },
};

/* "the build", "a test" are things, not what is to be done. */
static bool is_noun_at(Str s, size_t at)
{
    static const char *const articles[] = { "the", "a", "an", "this", "our", "my", "its" };
    size_t end = at;

    while (end > 0 && s.p[end - 1] == ' ')
        end--;
    for (size_t i = 0; end < at && i < ARRAY_LEN(articles); i++) {
        size_t n = strlen(articles[i]);

        if (end >= n && word_at(s, end - n, articles[i]))
            return true;
    }
    return false;
}

static size_t find_verb(Str s, const char *word)
{
    for (size_t i = 0; i < s.n; i++)
        if (word_at(s, i, word) && !is_noun_at(s, i))
            return i;
    return s.n;
}

/* The verb that stands first decides; of two at one place the longer. */
static TaskKind kind_of(Str text)
{
    size_t best = text.n, length = 0;
    TaskKind kind = STEP_OTHER;

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        Str rest = str_of(verbs[i].words), word;

        while (str_split(&rest, '|', &word)) {
            char z[32];
            size_t at;

            ASSERT(word.n < sizeof z);
            memcpy(z, word.p, word.n);
            z[word.n] = '\0';
            at = find_verb(text, z);
            if (at < best || (at == best && at < text.n && word.n > length)) {
                best = at;
                length = word.n;
                kind = verbs[i].kind;
            }
        }
    }
    return kind;
}

static bool refers_back(Str text)
{
    static const char *const words[] = { "it",         "its",       "the result",   "the results",
                                         "those",      "these",     "them",         "that output",
                                         "the output", "the above", "the findings", "based on that",
                                         "结果",       "上面",      "上述",         "它" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (find_word(text, words[i]) < text.n)
            return true;
    return false;
}

/* -- Resources -- */

static void add_resource(Arena *a, TaskNode *node, Str name)
{
    while (name.n && (strchr(".,:)('\"!?", name.p[name.n - 1]) != NULL))
        name.n--;
    while (str_starts(name, STR("./")))
        name = str_skip(name, 2);
    if (name.n < 2 || node->n_resources == GRAPH_RESOURCES)
        return;
    name = text_lower(a, str_head(name, 200));
    for (size_t i = 0; i < node->n_resources; i++)
        if (str_eq(node->resources[i], name))
            return;
    node->resources[node->n_resources++] = name;
}

/* A file's ending: letters behind the last dot, few of them, and something before it. */
static bool has_ending(Str word)
{
    for (size_t i = word.n; i > 1; i--) {
        if (word.p[i - 1] == '.')
            return word.n - i >= 1 && word.n - i <= 5 && i > 1;
        if (!is_letter((unsigned char)word.p[i - 1]) ||
            (word.p[i - 1] >= '0' && word.p[i - 1] <= '9' && i == word.n && word.n < 4))
            return false;
    }
    return false;
}

static bool is_resource(Str word)
{
    size_t slash = str_find(word, STR("/"));

    if (str_find(word, STR("://")) < word.n)
        return true;
    if (slash < word.n)
        return word.n > 3 && !str_eq_nocase(word, STR("and/or")) && word.p[0] != '?';
    return has_ending(word) && !str_is_one_of(word, "e.g|i.e");
}

/* `name` in backticks; the word behind "table" or "package". */
static void add_named(Arena *a, TaskNode *node, Str before, Str word)
{
    static const char *const kinds[] = { "table", "package", "module", "branch", "表", "包" };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq_nocase(before, str_of(kinds[i])) && word.n > 1)
            add_resource(a, node, word);
}

static void add_quoted(Arena *a, TaskNode *node)
{
    Str rest = node->text;

    for (;;) {
        size_t from = str_find(rest, STR("`")), to;

        if (from == rest.n)
            return;
        rest = str_skip(rest, from + 1);
        to = str_find(rest, STR("`"));
        if (to == rest.n)
            return;
        add_resource(a, node, str_head(rest, to));
        rest = str_skip(rest, to + 1);
    }
}

static void add_resources(Arena *a, TaskNode *node)
{
    Str s = node->text, before = STR("");

    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        Str word;

        while (i < s.n &&
               (is_letter((unsigned char)s.p[i]) || strchr("-./:@~%?=&#+", s.p[i]) != NULL))
            i++;
        word = (Str){ s.p + from, i - from };
        while (word.n && strchr(".:?", word.p[word.n - 1]))
            word.n--;
        if (word.n && is_resource(word))
            add_resource(a, node, word);
        else if (word.n)
            add_named(a, node, before, word);
        if (word.n)
            before = word;
        i += i == from;
    }
    add_quoted(a, node);
}

void task_describe(Arena *a, TaskNode *node)
{
    node->kind = kind_of(node->text);
    node->refers = refers_back(node->text);
    node->n_resources = 0;
    add_resources(a, node);
    node->writes = node->kind == STEP_CODE || node->kind == STEP_WRITE || node->kind == STEP_DEPLOY;
}

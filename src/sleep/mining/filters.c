/* Phrases must be whole words: neither "piano," nor "undocumented" is a complaint. Negative ones
 * come first, in the order of the table. */
#include "sleep/mining/filters.h"

#include "sleep/task/answer.h"
#include "text/letters.h"
#include "text/utf8.h"

static const Str negative[] = {
    STR_INIT("still broken"), STR_INIT("still not"),     STR_INIT("still wrong"),
    STR_INIT("doesn't work"), STR_INIT("does not work"), STR_INIT("not working"),
    STR_INIT("that's wrong"), STR_INIT("thats wrong"),   STR_INIT("incorrect"),
    STR_INIT("wrong"),        STR_INIT("no,"),           STR_INIT("nope"),
    STR_INIT("fix it"),       STR_INIT("didn't"),        STR_INIT("did not"),
    STR_INIT("broken"),       STR_INIT("error again"),   STR_INIT("still failing"),
    STR_INIT("still fails"),  STR_INIT("not fixed"),     STR_INIT("revert"),
    STR_INIT("undo")
};
static const Str positive[] = {
    STR_INIT("thanks"),     STR_INIT("thank you"), STR_INIT("perfect"),    STR_INIT("great"),
    STR_INIT("works now"),  STR_INIT("fixed"),     STR_INIT("that works"), STR_INIT("lgtm"),
    STR_INIT("looks good"), STR_INIT("nice"),      STR_INIT("awesome"),    STR_INIT("correct")
};

/* In the first prompt of a program that drives an agent. */
static const Str agents[] = { STR_INIT(SLEEP_MARK), STR_INIT("You are a Claude-Mem"),
                              STR_INIT("Hello memory agent"),
                              STR_INIT("You are driving **SkillOpt-Sleep**"),
                              STR_INIT("<skillopt_sleep_internal_replay_v1>") };

/* Headings of replays. A person may paste one, so they count only if nothing else was said. */
static const Str replays[] = { STR_INIT("## CURRENT SKILL"),
                               STR_INIT("## FAILED TASKS"),
                               STR_INIT("## SUCCESSFUL TASKS"),
                               STR_INIT("## OUTPUT FORMAT"),
                               STR_INIT("You are a strict grader"),
                               STR_INIT("Score the response 0.0-1.0"),
                               STR_INIT("You are SkillOpt-Sleep"),
                               STR_INIT("You are an expert success-pattern analyst"),
                               STR_INIT("You are an expert failure-pattern analyst"),
                               STR_INIT("## TASK\n"),
                               STR_INIT("## SKILL\n"),
                               STR_INIT("## Skill\n") };

enum { COMMAND_WORDS = 3, TAG_CHARS = 200 };

static size_t word_count(Str s)
{
    size_t n = 0;
    bool in_word = false;

    while (s.n) {
        bool space = letter_is_space(utf8_next(&s));

        n += !space && !in_word;
        in_word = !space;
    }
    return n;
}

bool filter_is_meta(Str text)
{
    Str s = text_trim(text), head = text_cut(s, TAG_CHARS);

    if (!s.n || (s.p[0] == '<' && s.p[s.n - 1] == '>'))
        return true;
    if (s.p[0] == '/' && word_count(s) <= COMMAND_WORDS)
        return true;
    if (str_starts(s, STR("[Pasted text")) || str_starts(s, STR("Caveat:")) ||
        str_starts(s, STR("# /")))
        return true;
    return str_find(head, STR("<command-message>")) < head.n ||
           str_find(head, STR("<command-name>")) < head.n;
}

static bool has_one_of(Str text, const Str *marks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_find(text, marks[i]) < text.n)
            return true;
    return false;
}

bool filter_is_harness(const SessionDigest *digest)
{
    Str first = digest->user_prompts.n ? digest->user_prompts.items[0] : STR_NONE;

    return has_one_of(first, agents, ARRAY_LEN(agents)) ||
           (digest->n_user_turns == 1 && has_one_of(first, replays, ARRAY_LEN(replays)));
}

/* -- Feedback -- */

static bool word_at(Str s, size_t i)
{
    Str rest = str_skip(s, i);

    return rest.n && letter_is_word(utf8_next(&rest));
}

static bool word_before(Str s, size_t i)
{
    Str head = utf8_tail(str_head(s, i), 4);

    while (head.n) {
        uint32_t c = utf8_next(&head);

        if (!head.n)
            return letter_is_word(c);
    }
    return false;
}

/* The phrase as words of its own, from *from on; its place, or s.n. */
static size_t find_phrase(Str s, Str phrase, size_t from)
{
    while (from < s.n) {
        size_t at = from + str_find(str_skip(s, from), phrase), end = at + phrase.n;

        if (at >= s.n)
            break;
        if (!word_before(s, at) && !(word_at(phrase, phrase.n - 1) && word_at(s, end)))
            return at;
        from = at + 1;
    }
    return s.n;
}

static bool inside_complaint(Str s, size_t at, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(negative); i++)
        for (size_t k = find_phrase(s, negative[i], 0); k < s.n;
             k = find_phrase(s, negative[i], k + 1))
            if (k <= at && at + n <= k + negative[i].n)
                return true;
    return false;
}

void filter_feedback(Arena *a, Str text, StrList *signals)
{
    Str s = text_lower(a, text);

    for (size_t i = 0; i < ARRAY_LEN(negative); i++)
        if (find_phrase(s, negative[i], 0) < s.n)
            LIST_PUSH(a, signals, str_printf(a, "neg:%.*s", STR_FMT(negative[i])));
    for (size_t i = 0; i < ARRAY_LEN(positive); i++) {
        size_t at = find_phrase(s, positive[i], 0);

        while (at < s.n && inside_complaint(s, at, positive[i].n))
            at = find_phrase(s, positive[i], at + 1);
        if (at < s.n)
            LIST_PUSH(a, signals, str_printf(a, "pos:%.*s", STR_FMT(positive[i])));
    }
}

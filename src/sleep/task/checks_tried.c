/* Wishes as a judge, and whether answers bear them out. */
#include "sleep/task/checks.h"
#include "sleep/task/judge.h"
#include "text/json.h"

Str wishes_judge(Arena *a, const Wish *wishes, size_t n)
{
    AUTO_BUF out = BUF((size_t)1 << 20);
    JsonWriter w = JSON_WRITER(&out, 0);

    if (!n)
        return STR("{}");
    json_begin(&w, '{');
    json_field_str(&w, "kind", STR("rule"));
    json_key(&w, "checks");
    json_begin(&w, '[');
    for (size_t i = 0; i < n; i++) {
        int64_t bound;

        json_begin(&w, '{');
        json_field_str(&w, "op", str_of(wishes[i].op));
        json_key(&w, "arg");
        if (strcmp(wishes[i].op, "max_chars") == 0 &&
            str_to_int(wishes[i].arg, 1, MAX_BOUND, &bound))
            json_put_int(&w, bound);
        else
            json_put_str(&w, wishes[i].arg);
        if (wishes[i].says.n)
            json_field_str(&w, "says", wishes[i].says);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

/* -- trying them ---------------------------------------------------------------------------------------------- */

/* After a correction answers often begin with a word of apology; what was asked for stands behind it. */
static Str behind_apology(Str answer)
{
    enum { APOLOGY = 200 };
    size_t at = str_find(answer, STR("\n\n"));

    return at < answer.n && at <= APOLOGY ? str_trim(str_skip(answer, at)) : answer;
}

static bool answer_passes(Arena *a, const Check *check, Str answer)
{
    Str problem = STR_NONE, behind = behind_apology(answer);

    return check_passes(a, check, answer, NULL, &problem) ||
           (behind.p != answer.p && check_passes(a, check, behind, NULL, &problem));
}

bool wishes_correct(Arena *a, Str request, Str answer)
{
    Wishes wishes = { 0 };
    Judge judge;

    wishes_of_correction(a, request, &wishes);
    if (!wishes.n || !answer.n)
        return false;
    judge = judge_of(a, wishes_judge(a, wishes.items, wishes.n));
    for (size_t i = 0; i < judge.n; i++)
        if (!answer_passes(a, &judge.checks[i], answer))
            return true;
    return false;
}

bool wish_is_borne_out(Arena *a, const Wish *one, const Tried *answers)
{
    Judge judge = judge_of(a, wishes_judge(a, one, 1));
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

#include "demo/work.h"

#include "base/limits.h"
#include "demo/steps.h"
#include "demo/tools.h"

enum { FAIL_PERCENT = 9, TOGETHER_PERCENT = 34, TOGETHER_MOST = 4 };

/* -- messages --------------------------------------------------------------------------- */

Dice *work_dice(Talk *t)
{
    return &t->scene.dice;
}

void work_wait(Talk *t, int64_t least, int64_t most)
{
    t->clock_ms += dice_span(work_dice(t), least * 1000, most * 1000);
}

Message *work_add(Talk *t, const char *role, Str content)
{
    Message m = { .role = str_of(role),
                  .content = content,
                  .timestamp = (double)t->clock_ms / 1000,
                  .token_count = (int64_t)content.n / 4,
                  .active = 1 };

    ARENA_PUSH(t->arena, t->messages, t->n, t->cap, m);
    return &t->messages[t->n - 1];
}

void work_user_says(Talk *t, Str text)
{
    if (t->n)
        work_wait(t, 15, 260);
    work_add(t, "user", text);
}

static void think(Talk *t, Message *m, unsigned percent)
{
    if (dice_chance(work_dice(t), percent))
        m->reasoning = words_say(&t->scene, "thinking");
}

void work_answer(Talk *t, Str text)
{
    Message *m;

    work_wait(t, 4, 18);
    m = work_add(t, "assistant", text);
    m->finish_reason = STR("stop");
    think(t, m, 20);
}

/* -- work ------------------------------------------------------------------------------- */

static Str call_id(Talk *t)
{
    return str_printf(t->arena, "call_%016llx", (unsigned long long)dice_roll(work_dice(t)));
}

static Str calls_json(Talk *t, const Move *moves, const Str *ids, size_t n)
{
    AUTO_BUF buf = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&buf, 0);

    json_begin(&w, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "id", ids[i]);
        json_field_str(&w, "type", STR("function"));
        json_key(&w, "function");
        json_begin(&w, '{');
        json_field_str(&w, "name", moves[i].tool);
        json_field_str(&w, "arguments", moves[i].arguments);
        json_end(&w, '}');
        json_end(&w, '}');
    }
    json_end(&w, ']');
    return str_dup(t->arena, buf_str(&buf));
}

/* Results come back in the order in which the tools were done, which is not that of the calls. */
static void add_results(Talk *t, const Move *moves, const Str *ids, size_t n)
{
    bool backwards = n > 1 && dice_chance(work_dice(t), 60);

    for (size_t i = 0; i < n; i++) {
        size_t at = backwards ? n - 1 - i : i;
        Message *m;

        t->clock_ms += dice_span(work_dice(t), 120, 6500);
        m = work_add(t, "tool", moves[at].result);
        m->tool_call_id = ids[at];
        m->tool_name = moves[at].tool;
    }
}

/* One assistant message with n calls, and their results. Says which of them failed. */
static void call(Talk *t, const Str *steps, size_t n, Str say, bool *ret_failed)
{
    Move moves[TOGETHER_MOST];
    Str ids[TOGETHER_MOST];
    Message *m;

    for (size_t i = 0; i < n; i++) {
        ret_failed[i] = dice_chance(t->luck, FAIL_PERCENT);
        moves[i] = step_make(&t->scene, steps[i], ret_failed[i]);
        ids[i] = call_id(t);
    }
    if (!say.p)
        say = dice_chance(work_dice(t), 55) ? moves[0].say : STR("");
    work_wait(t, 3, 14);
    m = work_add(t, "assistant", say);
    m->tool_calls = calls_json(t, moves, ids, n);
    m->token_count += (int64_t)m->tool_calls.n / 4;
    m->finish_reason = STR("tool_calls");
    think(t, m, 12);
    t->calls += (int64_t)n;
    add_results(t, moves, ids, n);
}

static bool is_among(Str step, const Str *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(steps[i], step))
            return true;
    return false;
}

/* How many of the next steps go into one message: those that only look, and at different things. */
static size_t gather(Talk *t, const Str *steps, size_t n)
{
    size_t g = 1;

    if (step_only_looks(steps[0]) && dice_chance(work_dice(t), TOGETHER_PERCENT))
        while (g < TOGETHER_MOST && g < n && step_only_looks(steps[g]) &&
               !is_among(steps[g], steps, g))
            g++;
    return g;
}

/* What failed is tried again. How many calls there are is settled before the first is made, with luck
 * having no say in it: were it "until it works", the last calls of a session would fail less than
 * the others, and the demo would prove something. */
void work_steps(Talk *t, const Str *steps, size_t n)
{
    Str again[2 * TOGETHER_MOST], now;
    size_t n_again = 0, at = 0, budget = n;

    for (size_t i = 0; i < n; i++)
        budget += dice_chance(work_dice(t), FAIL_PERCENT);
    while (budget > 0) {
        bool retry = n_again > 0, failed[TOGETHER_MOST];
        const Str *next = &now;
        size_t g = 1;

        if (retry) {
            now = again[--n_again];
        } else if (at < n) {
            g = gather(t, steps + at, budget < n - at ? budget : n - at);
            next = steps + at;
            at += g;
        } else {
            now = step_random(&t->scene);
        }
        call(t, next, g, retry ? words_say(&t->scene, "fail") : STR_NONE, failed);
        for (size_t k = 0; k < g; k++)
            if (failed[k] && n_again < ARRAY_LEN(again))
                again[n_again++] = next[k];
        budget -= g;
    }
}

void work_random(Talk *t, size_t n)
{
    Str *steps = ARENA_ARRAY(t->arena, Str, n + 1);

    for (size_t i = 0; i < n; i++)
        steps[i] = step_random(&t->scene);
    work_steps(t, steps, n);
}

/* How much is done beyond the steps that the thread names: mostly little, sometimes a lot. */
static size_t effort(Talk *t)
{
    Json range = world_get(t->scene.thread, "effort");
    size_t at = dice_below(work_dice(t), 100);
    int64_t least, most;

    if (json_int(json_at(range, 0), &least) && json_int(json_at(range, 1), &most))
        return (size_t)dice_span(work_dice(t), least, most);
    return (size_t)(at < 35   ? dice_span(work_dice(t), 2, 6)
                    : at < 75 ? dice_span(work_dice(t), 8, 20)
                              : dice_span(work_dice(t), 22, 48));
}

void work_through(Talk *t, Json steps)
{
    JsonIter it = json_each(steps);
    Str *list = NULL, unused;
    size_t n = 0, cap = 0;
    Json item;

    while (json_next(&it, &unused, &item)) {
        Str step = json_str(item);
        int64_t more;

        if (!str_starts(step, STR("more"))) {
            ARENA_PUSH(t->arena, list, n, cap, step_complete(&t->scene, step));
            continue;
        }
        if (!str_to_int(str_skip(step, 5), 0, 1000, &more))
            more = (int64_t)effort(t);
        while (more-- > 0)
            ARENA_PUSH(t->arena, list, n, cap, step_random(&t->scene));
    }
    work_steps(t, list, n);
}

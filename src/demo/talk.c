#include "demo/talk.h"

#include <time.h>

#include "base/limits.h"
#include "demo/work.h"

enum {
    LONG_TURNS = 37, /* of the session that takes all day */
    SYSTEM_TOKENS = 5200
};

/* -- turns ------------------------------------------------------------------------------ */

static Json texts(Talk *t, const char *key)
{
    return world_get(t->scene.thread, key);
}

static void ask(Talk *t)
{
    Json asks = texts(t, "asks");
    Str text = words_fill(&t->scene, json_at(asks, t->p->nth % json_count(asks)));

    t->p->goal = text;
    work_user_says(t, text);
    /* A skill that exists is looked at, once it has been of use. */
    if (t->p->recurring && t->p->nth && world_str(t->scene.thread, "skill").p &&
        dice_chance(work_dice(t), 45)) {
        Str step = STR("extra skill_view");

        work_steps(t, &step, 1);
    }
}

static void go_on(Talk *t, int64_t least, int64_t most)
{
    work_user_says(t, words_say(&t->scene, "more"));
    work_random(t, (size_t)dice_span(work_dice(t), least, most));
    work_answer(t, words_say(&t->scene, "more_answer"));
}

/* The n-th further request of the session. */
static void follow_up(Talk *t, size_t n, size_t more)
{
    bool own = json_count(texts(t, "followups")) > 0;
    Json all = own ? texts(t, "followups") : world_get(t->scene.project, "followups");
    Json turn = json_at(all, (t->p->seed / 1000 + n) % json_count(all));

    if (!str_eqz(t->scene.lang, "en")) {
        go_on(t, 2, 5);
        return;
    }
    work_user_says(t, words_fill(&t->scene, world_get(turn, "ask")));
    work_through(t, world_get(turn, "steps"));
    work_random(t, more);
    work_answer(t, words_fill(&t->scene, world_get(turn, "answer")));
}

static void summarise(Talk *t, Str goal)
{
    scene_set(&t->scene, "goal", goal);
    work_add(t, "user", words_fill(&t->scene, world_get(t->scene.voice, "summary")));
}

/* What was said so far leaves the model's window; a summary takes its place. */
static void compact(Talk *t)
{
    for (size_t i = 0; i < t->n; i++) {
        t->messages[i].active = 0;
        t->messages[i].compacted = 1;
    }
    work_wait(t, 5, 30);
    summarise(t, t->p->goal);
}

/* After a correction the rule is written down, and sometimes the skill with it. */
static void learn(Talk *t)
{
    Str steps[2] = { STR("extra memory"), STR("extra skill_manage") };
    bool skill = world_str(t->scene.thread, "skill").p && dice_chance(work_dice(t), 40);

    scene_set(&t->scene, "fact", world_str(t->scene.thread, "rule"));
    if (dice_chance(work_dice(t), 85))
        work_steps(t, steps, skill ? 2 : 1);
}

static void correct(Talk *t, const char *then)
{
    Json words = texts(t, "corrections");
    Str answer, ack;

    work_user_says(t, words_fill(&t->scene, json_at(words, t->p->nth % json_count(words))));
    work_random(t, (size_t)dice_span(work_dice(t), 0, 3));
    learn(t);
    answer = words_pick(&t->scene, texts(t, then));
    ack = words_say(&t->scene, "ack");
    work_answer(t, str_printf(t->arena, "%.*s\n\n%.*s", STR_FMT(ack), STR_FMT(answer)));
}

static void verdict(Talk *t, const char *words)
{
    bool good = strcmp(words, "bad") != 0;

    work_user_says(t, words_say(&t->scene, words));
    work_answer(t, words_say(&t->scene, good ? "after_good" : "after_bad"));
}

/* A recurring task: the answer, what the user makes of it, perhaps more, and the verdict. */
static void tell_task(Talk *t)
{
    Outcome outcome = t->p->outcome;
    bool wrong = outcome == OUTCOME_FIXED || outcome == OUTCOME_WRONG;
    size_t more = dice_below(work_dice(t), 10);

    ask(t);
    work_through(t, texts(t, "steps"));
    work_answer(t, words_pick(&t->scene, texts(t, wrong ? "wrong" : "answers")));
    if (wrong)
        correct(t, outcome == OUTCOME_FIXED ? "answers" : "wrong");
    for (size_t i = 0; i < (more < 5 ? 0 : more < 8 ? 1 : 2) && outcome != OUTCOME_WRONG; i++)
        follow_up(t, i, 0);
    if (outcome != OUTCOME_SILENT)
        verdict(t, outcome == OUTCOME_WRONG ? "bad" : wrong ? "fixed" : "good");
}

static void tell_long(Talk *t)
{
    for (size_t i = 0; i < LONG_TURNS; i++)
        follow_up(t, i, (size_t)dice_span(work_dice(t), 9, 15));
}

/* One part of a chain that was cut by compression. */
static void tell_part(Talk *t)
{
    bool last = t->p->part == t->p->parts;

    if (t->p->parent) {
        t->p->goal = t->p->parent->goal;
        summarise(t, t->p->goal);
        go_on(t, 12, 24);
    } else {
        ask(t);
        work_through(t, texts(t, "steps"));
        work_answer(t, words_say(&t->scene, "more_answer"));
    }
    for (size_t i = 0; i < 3; i++)
        follow_up(t, t->p->part * 3 + i, 4);
    if (last) {
        work_user_says(t, words_say(&t->scene, "more"));
        work_random(t, 6);
        work_answer(t, words_pick(&t->scene, texts(t, "answers")));
        verdict(t, "good");
    }
}

static void tell_episode(Talk *t)
{
    bool cron = str_eqz(world_str(t->p->source, "name"), "cron");
    bool squeeze = world_flag(t->scene.thread, "compact");
    size_t more = dice_below(work_dice(t), 10), turns = more < 4   ? 0
                                                        : more < 7 ? 1
                                                        : more < 9 ? 2
                                                                   : 3;

    ask(t);
    work_through(t, texts(t, "steps"));
    if (world_flag(t->scene.thread, "long"))
        tell_long(t);
    work_answer(t, words_pick(&t->scene, texts(t, "answers")));
    if (squeeze)
        compact(t);
    for (size_t i = 0; i < turns + (squeeze ? 2 : 0) && !cron; i++)
        follow_up(t, i, 0);
    if (!cron && dice_chance(work_dice(t), 45))
        verdict(t, dice_chance(work_dice(t), 88) ? "good" : "bad");
}

/* -- the session's own row -------------------------------------------------------------- */

static Str session_id(Arena *a, double at, Dice *d)
{
    time_t seconds = (time_t)at;
    struct tm tm;

    gmtime_r(&seconds, &tm);
    return str_printf(a, "demo_%04d%02d%02d_%02d%02d%02d_%06llx", tm.tm_year + 1900, tm.tm_mon + 1,
                      tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                      (unsigned long long)(dice_roll(d) & 0xFFFFFF));
}

static bool title_is_taken(const Plan *plan, const Planned *p, Str title)
{
    for (size_t i = 0; i < plan->n; i++)
        if (plan->all[i] != p && str_eq(plan->all[i]->title, title))
            return true;
    return false;
}

static Str title_base(Talk *t)
{
    Json titles = texts(t, "titles");
    const Planned *first = t->p;

    while (first->parent)
        first = first->parent;
    if (first != t->p)
        return str_head(first->title, str_find(first->title, STR(" (demo)")));
    return words_fill(&t->scene, json_at(titles, t->p->nth % json_count(titles)));
}

/* Titles are unique in a database; a second one gets a number, as the agents do it. */
static Str title_of(Talk *t, const Plan *plan)
{
    Str base = title_base(t), title;
    unsigned n = t->p->part;

    do {
        title = n > 1 ? str_printf(plan->arena, "%.*s #%u (demo)", STR_FMT(base), n)
                      : str_printf(plan->arena, "%.*s (demo)", STR_FMT(base));
        n++;
    } while (title_is_taken(plan, t->p, title));
    return title;
}

static Str config_of(Talk *t)
{
    AUTO_BUF buf = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&buf, 0);

    json_begin(&w, '{');
    json_field_bool(&w, "demo", true);
    json_field_str(&w, t->p->recurring ? "demo_task" : "demo_episode",
                   world_str(t->scene.thread, "id"));
    json_end(&w, '}');
    return str_dup(t->arena, buf_str(&buf));
}

/* What a provider would have counted: every call to the model reads all that stands before it, and
 * most of that from its cache. */
static void count_tokens(const Talk *t, Session *s)
{
    int64_t context = SYSTEM_TOKENS;
    double in = 0, out = 0, cost;

    for (size_t i = 0; i < t->n; i++) {
        if (str_eqz(t->messages[i].role, "assistant")) {
            s->input_tokens += context / 8;
            s->cache_read_tokens += context - context / 8;
            s->output_tokens += t->messages[i].token_count;
            s->reasoning_tokens += (int64_t)t->messages[i].reasoning.n / 4;
            s->api_call_count++;
        }
        context += t->messages[i].token_count;
    }
    (void)json_double(world_get(t->p->model, "in"), &in);
    (void)json_double(world_get(t->p->model, "out"), &out);
    cost = ((double)s->input_tokens + (double)s->cache_read_tokens / 10) * in +
           (double)s->output_tokens * out;
    s->estimated_cost_usd = (double)(int64_t)(cost / 10 + 0.5) / 100000;
}

static Session session_of(Talk *t, const Plan *plan, double began)
{
    Dice d = dice_of("session", t->p->seed);
    bool cut = t->p->part < t->p->parts;
    double last = t->messages[t->n - 1].timestamp;
    Session s = { .source = world_str(t->p->source, "name"),
                  .model = world_str(t->p->model, "name"),
                  .model_config = config_of(t),
                  .cwd = t->scene.cwd,
                  .git_branch = t->scene.branch,
                  .started_at = began,
                  .ended_at = last,
                  .last_activity_at = last,
                  .message_count = (int64_t)t->n,
                  .tool_call_count = t->calls };

    s.id = t->p->id = session_id(plan->arena, began, &d);
    s.title = t->p->title = title_of(t, plan);
    s.parent_session_id = t->p->parent ? t->p->parent->id : STR_NONE;
    s.end_reason =
        cut ? STR("compression") : json_str(dice_pick(&d, world_get(t->p->source, "ends")));
    count_tokens(t, &s);
    return s;
}

/* The newest session ends where the plan ends, and none goes beyond it. Whole milliseconds, so that
 * nothing is a rounding later than it should be. */
static double move_to_end(Talk *t, double end)
{
    int64_t end_ms = (int64_t)end * 1000, shift = end_ms - t->clock_ms;

    if (!t->p->newest && shift >= 0)
        return 0;
    for (size_t i = 0; i < t->n; i++) {
        int64_t ms = (int64_t)(t->messages[i].timestamp * 1000 + 0.5) + shift;

        t->messages[i].timestamp = (double)ms / 1000;
    }
    return (double)shift / 1000;
}

Told talk_tell(Arena *a, const World *w, const Plan *plan, Planned *p, double earliest, Dice *luck)
{
    double began = p->at > earliest ? p->at : earliest;
    Talk t = { .arena = a, .p = p, .luck = luck, .clock_ms = (int64_t)began * 1000 };
    Told told;

    t.scene = scene_of(a, w, p->thread, began, p->seed);
    if (p->parts > 1)
        tell_part(&t);
    else if (p->recurring)
        tell_task(&t);
    else
        tell_episode(&t);
    p->goal = str_dup(plan->arena, p->goal);
    began += move_to_end(&t, plan->end);
    told = (Told){ session_of(&t, plan, began), t.messages, t.n };
    for (size_t i = 0; i < t.n; i++)
        t.messages[i].session_id = told.session.id;
    return told;
}

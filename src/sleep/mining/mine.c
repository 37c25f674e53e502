#include "sleep/mining/mine.h"

#include <stdlib.h>

#include "sleep/mining/intent.h"
#include "sleep/task/checks.h"
#include "sleep/task/rules.h"
#include "text/outcome.h"
#include "text/utf8.h"

enum {
    MIN_REQUEST = 8, /* characters: "hi" is not a task */
    MAX_INTENT = 800,
    MAX_SOLUTION = 600,
    MAX_CONTEXT = 600,
    MAX_CONTEXT_LINE = 200,
    MAX_RUBRIC = 1000,
    MAX_LIKE = 80, /* of a request, to name it by */
    MAX_TOOLS_TAG = 4,
    MAX_HEARD = 200,  /* different corrections of one task */
    MAX_ANSWERS = 64, /* of each sort, by which demands are tried */
};

/* The sessions of one task, oldest first. */
typedef struct Group {
    const Trace **traces;
    size_t n, cap;
    size_t corrected; /* sessions in which people had to insist */
} Group;

/* At most n characters, with a mark where it was cut. */
static Str cut(Arena *a, Str s, size_t n)
{
    Str rest = s;

    for (size_t i = 0; i < n && rest.n; i++)
        (void)utf8_next(&rest);
    if (!rest.n)
        return s;
    return str_printf(a, "%.*s …", (int)(rest.p - s.p), s.p);
}

static bool corrects(const Trace *t, size_t i)
{
    return i < t->turns.n && t->turns.items[i].corrects;
}

/* -- Grouping -- */

static int by_start(const void *left, const void *right)
{
    const SessionDigest *a = trace_digest(*(const Trace *const *)left);
    const SessionDigest *b = trace_digest(*(const Trace *const *)right);
    int order = str_cmp(a->started_at, b->started_at);

    return order ? order : str_cmp(a->session_id, b->session_id);
}

static Intent intent_of(Arena *a, const Trace *t)
{
    Intent intent = { .project = trace_digest(t)->project,
                      .request = t->turns.items[0].request,
                      .marks = t->marks.items,
                      .n_marks = t->marks.n };
    Str *demands = ARENA_ARRAY(a, Str, t->turns.n);

    for (size_t i = 1; i < t->turns.n; i++) {
        Str demand = corrects(t, i) ? intent_demand(a, t->turns.items[i].request) : STR_NONE;

        if (demand.n)
            demands[intent.n_demands++] = demand;
    }
    intent.demands = demands;
    return intent;
}

static size_t group_traces(Arena *a, const Trace **traces, size_t n, Group **ret)
{
    Intent *intents = ARENA_ARRAY(a, Intent, n + 1);
    size_t *group_of = ARENA_ARRAY(a, size_t, n + 1), n_groups;
    Group *groups;

    for (size_t i = 0; i < n; i++)
        intents[i] = intent_of(a, traces[i]);
    intents_group(a, intents, n, group_of, &n_groups);
    groups = ARENA_ARRAY(a, Group, n_groups + 1);
    for (size_t i = 0; i < n; i++) {
        Group *g = &groups[group_of[i]];
        bool corrected = false;

        ARENA_PUSH(a, g->traces, g->n, g->cap, traces[i]);
        for (size_t k = 1; k < traces[i]->turns.n; k++)
            corrected |= corrects(traces[i], k);
        g->corrected += corrected;
    }
    *ret = groups;
    return n_groups;
}

/* -- How an answer is judged -- */

typedef struct Pool {
    Str wrong[MAX_ANSWERS], right[MAX_ANSWERS];
    size_t n_wrong, n_right;
} Pool;

static void pool_answers(const Trace *t, Pool *pool)
{
    bool good = str_eqz(trace_outcome(t), "success");
    Str accepted = STR_NONE;

    for (size_t i = 0; i < t->turns.n; i++) {
        Str answer = t->turns.items[i].answer;

        bool wrong = corrects(t, i + 1);

        if (corrects(t, i))
            accepted = STR_NONE;
        if (answer.n && wrong && pool->n_wrong < MAX_ANSWERS)
            pool->wrong[pool->n_wrong++] = answer;
        else if (answer.n && !wrong && !accepted.n)
            accepted = answer;
    }
    if (good && accepted.n && pool->n_right < MAX_ANSWERS)
        pool->right[pool->n_right++] = accepted;
}

static void find_demands(Arena *a, const Group *g, Demands *ret)
{
    Pool *pool = ARENA_NEW(a, Pool);
    StrList heard = { 0 };
    Demands all = { 0 };
    Tried answers;

    for (size_t i = 0; i < g->n; i++) {
        const Trace *t = g->traces[i];

        pool_answers(t, pool);
        for (size_t k = 1; k < t->turns.n; k++)
            if (corrects(t, k) && heard.n < MAX_HEARD)
                strs_add_new(a, &heard, t->turns.items[k].request);
    }
    for (size_t i = 0; i < heard.n; i++)
        demands_of_correction(a, heard.items[i], &all);
    answers = (Tried){ pool->wrong, pool->n_wrong, pool->right, pool->n_right };
    for (size_t i = 0; i < all.n; i++)
        if (demand_is_confirmed(a, &all.items[i], &answers))
            ARENA_PUSH(a, ret->items, ret->n, ret->cap, all.items[i]);
}

/* What people insisted on, in their words, for a judge that can read. */
static Str rubric_of(Arena *a, const Group *g)
{
    AUTO_BUF out = BUF(MAX_RUBRIC * 4);
    StrList said = { 0 };

    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 1; k < g->traces[i]->turns.n; k++) {
            Str demand = corrects(g->traces[i], k)
                             ? intent_demand(a, g->traces[i]->turns.items[k].request)
                             : STR_NONE;

            if (demand.n && said.n < MAX_ANSWERS)
                strs_add_new(a, &said, demand);
        }
    for (size_t i = 0; i < said.n; i++)
        buf_addf(&out, "%s%.*s", i ? "; " : "", STR_FMT(said.items[i]));
    return cut(a, str_dup(a, buf_str(&out)), MAX_RUBRIC);
}

/* A demand on this task need not hold for others: the rule names the task. */
static void say_for_task(Arena *a, Str intent, Demands *demands)
{
    char *line = str_z(a, str_trim(intent)); /* one line, without the quotes it is put in */
    Str like;

    for (char *p = line; *p; p++)
        if (strchr("\n\r\t\"", *p))
            *p = *p == '"' ? '\'' : ' ';
    like = cut(a, str_of(line), MAX_LIKE);
    for (size_t i = 0; i < demands->n; i++) {
        Judge one = judge_of(a, demands_judge(a, &demands->items[i], 1));
        Str says = one.n ? rule_of_check(a, &one.checks[0]) : STR("");
        char *lower = str_z(a, says);

        if (!says.n)
            continue;
        if (lower[0] >= 'A' && lower[0] <= 'Z')
            lower[0] = (char)(lower[0] | 0x20);
        demands->items[i].says =
            str_printf(a, "For requests like \"%.*s\": %s", STR_FMT(like), lower);
    }
}

static void judge_task(Arena *a, const Group *g, TaskRecord *task)
{
    Demands demands = { 0 };

    if (g->corrected)
        find_demands(a, g, &demands);
    say_for_task(a, task->intent, &demands);
    task->judge = demands_judge(a, demands.items, demands.n);
    task->reference = demands.n || !g->corrected ? STR("") : rubric_of(a, g);
    task->reference_kind = demands.n           ? STR("rule")
                           : task->reference.n ? STR("rubric")
                                               : STR("none");
}

/* -- The record -- */

static int outcome_rank(Str outcome)
{
    static const char *const ranks[] = { "unknown", "mixed", "fail", "success" };

    for (size_t i = 0; i < ARRAY_LEN(ranks); i++)
        if (str_eqz(outcome, ranks[i]))
            return (int)i;
    return 0;
}

/* Further requests of the session, without remarks on the answers: a replay must not know how it
 * will be judged. */
static Str context_of(Arena *a, const Trace *t)
{
    AUTO_BUF out = BUF(MAX_CONTEXT * 8);
    size_t n = 0;

    for (size_t i = 1; i < t->turns.n && n < 3; i++) {
        Str request = t->turns.items[i].request;

        if (corrects(t, i) || t->turns.items[i].remark != REMARK_NONE)
            continue;
        buf_addf(&out, "%s- %.*s", n ? "\n" : "Also asked in the same session:\n",
                 STR_FMT(cut(a, request, MAX_CONTEXT_LINE)));
        n++;
    }
    return cut(a, str_dup(a, buf_str(&out)), MAX_CONTEXT);
}

static void add_tags(Arena *a, const Group *g, TaskRecord *task)
{
    const SessionDigest *first = trace_digest(g->traces[0]);
    AUTO_BUF tools = BUF(1024);

    for (size_t i = 0; i < first->tools_used.n && i < MAX_TOOLS_TAG; i++)
        buf_addf(&tools, "%s%.*s", i ? "+" : "tools:", STR_FMT(first->tools_used.items[i]));
    if (tools.n)
        LIST_PUSH(a, &task->tags, str_dup(a, buf_str(&tools)));
    if (first->git_branch.n)
        LIST_PUSH(a, &task->tags, str_printf(a, "branch:%.*s", STR_FMT(first->git_branch)));
    if (g->n > 1)
        LIST_PUSH(a, &task->tags, str_printf(a, "recurs:%zu", g->n));
}

/* The one skill that was used, where all who used one used the same. */
static Str skill_of(const Group *g)
{
    Str skill = STR("");

    for (size_t i = 0; i < g->n; i++) {
        const StrList *used = &trace_digest(g->traces[i])->skills_used;

        for (size_t k = 0; k < used->n; k++) {
            if (skill.n && !str_eq(skill, used->items[k]))
                return STR("");
            skill = used->items[k];
        }
    }
    return skill;
}

/* The task as this session put it. */
static void word_task(Arena *a, const Trace *t, TaskRecord *task)
{
    Str request = t->turns.items[0].request;

    task->id = id_of_request(a, trace_digest(t)->project, request);
    task->project = trace_digest(t)->project;
    task->intent = cut(a, request, MAX_INTENT);
    task->context_excerpt = context_of(a, t);
}

static void fill_task(Arena *a, const Group *g, TaskRecord *task)
{
    const Trace *last = g->traces[g->n - 1];

    task_init(task);
    word_task(a, g->traces[0], task);
    task->attempted_solution =
        last->turns.n ? cut(a, last->turns.items[last->turns.n - 1].answer, MAX_SOLUTION) : STR("");
    task->skill_hint = skill_of(g);
    for (size_t i = 0; i < g->n; i++) {
        Str outcome = trace_outcome(g->traces[i]);

        if (outcome_rank(outcome) > outcome_rank(task->outcome))
            task->outcome = outcome;
        LIST_PUSH(a, &task->source_sessions, trace_digest(g->traces[i])->session_id);
    }
    add_tags(a, g, task);
    judge_task(a, g, task);
}

/* -- Rank -- */

typedef struct Ranked {
    const Group *group;
    TaskRecord task;
    double worth;
} Ranked;

static int by_worth(const void *left, const void *right)
{
    const Ranked *a = left, *b = right;

    if (a->worth != b->worth)
        return a->worth > b->worth ? -1 : 1;
    return str_cmp(a->task.id, b->task.id);
}

/* The same task as others put it. */
static void push_instances(Arena *a, const Ranked *r, const MineOptions *options, TaskRecords *ret)
{
    size_t from = ret->n - 1;

    for (size_t i = 1; i < r->group->n && ret->n - from < options->instances; i++) {
        TaskRecord other = r->task;
        bool said = options->max && ret->n >= options->max;

        word_task(a, r->group->traces[i], &other);
        for (size_t k = from; k < ret->n && !said; k++)
            said = str_eq(ret->items[k].id, other.id);
        if (said)
            continue;
        other.derived_from = r->task.id;
        LIST_PUSH(a, ret, other);
    }
}

void mine_tasks(Arena *a, const Trace *const *traces, size_t n, const MineOptions *options,
                Mined *ret)
{
    const Trace **sorted = ARENA_ARRAY(a, const Trace *, n + 1);
    size_t n_sorted = 0, n_groups;
    Ranked *ranked;
    Group *groups;

    for (size_t i = 0; i < n; i++)
        if (traces[i]->turns.n &&
            utf8_count(str_trim(traces[i]->turns.items[0].request)) >= MIN_REQUEST)
            sorted[n_sorted++] = traces[i];
    qsort(sorted, n_sorted, sizeof *sorted, by_start);
    n_groups = group_traces(a, sorted, n_sorted, &groups);
    ranked = ARENA_ARRAY(a, Ranked, n_groups + 1);
    for (size_t i = 0; i < n_groups; i++) {
        Ranked *r = &ranked[i];

        fill_task(a, &groups[i], &r->task);
        r->group = &groups[i];
        /* Repetition counts once, a correction twice, and a task that can be checked most of
         * all. */
        r->worth = (double)groups[i].n + 2.0 * (double)groups[i].corrected;
        r->worth *= str_eqz(r->task.reference_kind, "rule")     ? 3
                    : str_eqz(r->task.reference_kind, "rubric") ? 1.5
                                                                : 1;
    }
    qsort(ranked, n_groups, sizeof *ranked, by_worth);
    *ret = (Mined){ 0 };
    for (size_t i = 0; i < n_groups; i++) {
        if (options->max && ret->tasks.n >= options->max) {
            ret->left_out = n_groups - i;
            break;
        }
        ret->recurring += ranked[i].group->n > 1;
        ret->checkable += str_eqz(ranked[i].task.reference_kind, "rule");
        LIST_PUSH(a, &ret->tasks, ranked[i].task);
        push_instances(a, &ranked[i], options, &ret->tasks);
    }
}

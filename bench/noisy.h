/* noisy.h - a backend that answers well only by chance, and whole nights over it.
 *
 * A task passes with the chance `base`, and with `effect` on top where the skill states the one
 * rule that reflection proposes. Every draw is fresh. */
#ifndef TALARIA_BENCH_NOISY_H
#define TALARIA_BENCH_NOISY_H

#include "sleep/learning/consolidate.h"
#include "sleep/task/rules.h"
#include "sleep/task/split.h"

typedef struct Noisy {
    double base, effect;
    uint64_t seed;
    int64_t max; /* draws that one task and document ever had in one gate */
} Noisy;

#define NOISY_RULE "Think twice."

static inline double noisy_random(Noisy *n)
{
    uint64_t z = (n->seed += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static inline bool noisy_attempt(Backend *b, Arena *a, const AttemptAsk *ask, Attempt *ret,
                                 Err *err)
{
    Noisy *n = b->ctx;
    bool with = rule_stated(a, ask->docs.skill, ask->docs.memory, STR(NOISY_RULE));

    (void)err;
    b->calls++;
    if (ask->fresh && ask->sample >= n->max)
        n->max = ask->sample + 1;
    ret->answer = noisy_random(n) < n->base + (with ? n->effect : 0) ? STR("good") : STR("bad");
    return true;
}

static inline bool noisy_reflect(Backend *b, Arena *a, const ReflectAsk *ask, EditRecords *ret,
                                 Err *err)
{
    EditRecord e;

    (void)b;
    (void)err;
    edit_init(&e);
    e.target = ask->target;
    e.content = STR(NOISY_RULE);
    LIST_PUSH(a, ret, e);
    return true;
}

static inline TaskRecords noisy_tasks(Arena *a, size_t n, size_t trial)
{
    TaskRecords tasks = { 0 };

    for (size_t i = 0; i < n; i++) {
        TaskRecord t;

        task_init(&t);
        t.id = str_printf(a, "night%zu_task%zu", trial, i);
        t.judge = STR("{\"kind\":\"rule\",\"checks\":[{\"op\":\"contains\",\"arg\":\"good\"}]}");
        LIST_PUSH(a, &tasks, t);
    }
    split_assign(a, SPLIT_RULE_DEFAULT, &tasks);
    return tasks;
}

typedef struct NoisyShares {
    double accepted, underpowered, calls; /* calls: the mean of a night */
    int64_t max_draws;
} NoisyShares;

/* Whole nights with the default rules over `tasks` mined tasks each. */
static inline NoisyShares noisy_nights(size_t tasks, double base, double effect, size_t trials,
                                       uint64_t seed)
{
    AUTO(Arena) *a = arena_new();
    NoisyShares shares = { 0 };
    Noisy n = { .base = base, .effect = effect, .seed = seed };
    ConsolidateRules rules = consolidate_rules();

    for (size_t i = 0; i < trials; i++) {
        Backend b = {
            .name = "noisy", .ctx = &n, .attempt = noisy_attempt, .reflect = noisy_reflect
        };
        KnownEdits known = { 0 };
        Consolidation c;
        TaskRecords mined;
        Err err;

        arena_reset(a);
        mined = noisy_tasks(a, tasks, i);
        ASSERT(consolidate(a, &b, &mined, (Docs){ .skill = STR("# Skill\n") }, &rules, &known, NULL,
                           NULL, &c, &err));
        shares.accepted += c.accepted;
        shares.underpowered += c.no_edits == NO_EDITS_UNDERPOWERED;
        shares.calls += (double)b.calls;
    }
    shares.accepted /= (double)trials;
    shares.underpowered /= (double)trials;
    shares.calls /= (double)trials;
    shares.max_draws = n.max;
    return shares;
}

#endif

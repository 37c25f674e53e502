#include "demo/plan.h"

#include <math.h>

enum { SPAN_DAYS = 91, DAY = 86400, HOUR = 3600, QUIET_HOURS = 9, NIGHT_PERCENT = 12 };

static Json source_of(const World *w, Json thread, Dice *d)
{
    Json sources = world_get(w->general, "sources");
    Str name = world_str(thread, "source");

    return name.p ? world_find(sources, "name", name) : dice_weighted(d, sources);
}

static Json model_of(const World *w, Json thread, Dice *d)
{
    Json models = world_get(w->general, "models");
    Str name = world_str(thread, "model");

    return name.p ? world_find(models, "name", name) : dice_weighted(d, models);
}

/* The first telling shows the rule being learned the hard way; the others fall as they fall. */
static Outcome outcome_of(size_t nth, Dice *d)
{
    static const Outcome often[] = { OUTCOME_RIGHT,  OUTCOME_RIGHT, OUTCOME_RIGHT, OUTCOME_FIXED,
                                     OUTCOME_FIXED,  OUTCOME_FIXED, OUTCOME_WRONG, OUTCOME_SILENT,
                                     OUTCOME_SILENT, OUTCOME_RIGHT };

    return nth == 0 ? OUTCOME_FIXED : often[dice_below(d, ARRAY_LEN(often))];
}

/* A time of day that fits the source, on the day that `share` of the three months points at. */
static double moment(const Plan *plan, Json source, double share, Dice *d)
{
    double t = plan->end - SPAN_DAYS * (double)DAY + share * SPAN_DAYS * DAY;
    Json hours = world_get(source, "hours");
    int64_t from = 8, to = 18, hour;

    (void)json_int(json_at(hours, 0), &from);
    (void)json_int(json_at(hours, 1), &to);
    hour = dice_span(d, from, to);
    if (from != to && dice_chance(d, NIGHT_PERCENT))
        hour = dice_span(d, 0, 4);
    t = floor(t / DAY) * DAY + (double)(hour * HOUR + dice_span(d, 0, HOUR - 1));
    while (t > plan->end - QUIET_HOURS * HOUR)
        t -= DAY;
    return t;
}

static void add(Plan *plan, const Planned *model)
{
    Planned *p = ARENA_NEW(plan->arena, Planned), *parent = NULL;

    *p = *model;
    for (p->part = 1;; parent = p, p = ARENA_NEW(plan->arena, Planned)) {
        if (parent) {
            *p = *parent;
            p->part++;
            p->at += 1;
            p->seed++;
        }
        p->parent = parent;
        ARENA_PUSH(plan->arena, plan->all, plan->n, plan->cap, p);
        if (p->part >= p->parts)
            return;
    }
}

static void add_thread(Plan *plan, const World *w, Json thread, bool recurring)
{
    int64_t times = world_int(thread, "times", 1);

    for (int64_t i = 0; i < times; i++) {
        Dice d = dice_of("plan", plan->n * 97 + 13);
        Planned p = { .thread = thread,
                      .recurring = recurring,
                      .nth = (size_t)i,
                      .seed = plan->n * 1000,
                      .newest = world_flag(thread, "newest"),
                      .parts = (unsigned)world_int(thread, "parts", 1) };
        double jitter = (double)dice_span(&d, 4, 96) / 100;

        p.source = source_of(w, thread, &d);
        p.model = model_of(w, thread, &d);
        p.outcome = recurring ? outcome_of(p.nth, &d) : OUTCOME_SILENT;
        p.at = p.newest ? plan->end - 2 * HOUR
                        : moment(plan, p.source, ((double)i + jitter) / (double)times, &d);
        add(plan, &p);
    }
}

static int by_time(const void *a, const void *b)
{
    const Planned *x = *(Planned *const *)a, *y = *(Planned *const *)b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->seed > y->seed) - (x->seed < y->seed);
}

static void add_all(Plan *plan, const World *w, Json threads, bool recurring)
{
    JsonIter it = json_each(threads);
    Json thread;
    Str unused;

    while (json_next(&it, &unused, &thread))
        add_thread(plan, w, thread, recurring);
}

Plan plan_make(Arena *a, const World *w, double now)
{
    Plan plan = { .arena = a, .end = floor(now) - HOUR };

    add_all(&plan, w, w->tasks, true);
    add_all(&plan, w, w->episodes, false);
    if (plan.n)
        qsort(plan.all, plan.n, sizeof *plan.all, by_time);
    return plan;
}

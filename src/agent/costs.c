/* How long steps take here: medians of the user's own runs, by kind. Only a request of one step says anything
 * of its kind, and a few of them are chance. */
#include <stdlib.h>

#include "agent/service_inside.h"
#include "base/clock.h"
#include "base/log.h"
#include "runtimes/runtimes.h"

enum { RUNS_READ = 400, ENOUGH = 5, FRESH_MS = 600000 };

typedef struct Samples {
    double all[TASK_KIND_COUNT][RUNS_READ];
    size_t n[TASK_KIND_COUNT];
} Samples;

static bool kind_of(Str graph, TaskKind *ret)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(graph, &err);
    Json nodes = doc ? json_get(json_root(doc), STR("nodes")) : (Json){ 0 };
    Str name;

    if (!doc || json_count(nodes) != 1)
        return false;
    name = json_str(json_get(json_at(nodes, 0), STR("kind")));
    for (int k = 0; k < TASK_KIND_COUNT; k++)
        if (str_eqz(name, task_kind_name((TaskKind)k))) {
            *ret = (TaskKind)k;
            return true;
        }
    return false;
}

static void add_sample(void *ctx, Str graph, int64_t ms)
{
    Samples *s = ctx;
    TaskKind kind;

    if (kind_of(graph, &kind) && s->n[kind] < RUNS_READ)
        s->all[kind][s->n[kind]++] = (double)ms / 1000;
}

static int shorter_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static bool load(Runs *r, double ret[TASK_KIND_COUNT], Err *err)
{
    AUTO(Arena) *a = arena_new();
    Samples *s = arena_alloc(a, sizeof *s);

    *s = (Samples){ 0 };
    /* One that only looks things up says nothing of how long work takes. */
    if (!runs_graphs(r, str_of(runtime_offline.name), RUNS_READ, add_sample, s, err))
        return false;
    for (int k = 0; k < TASK_KIND_COUNT; k++) {
        qsort(s->all[k], s->n[k], sizeof s->all[k][0], shorter_first);
        ret[k] = s->n[k] >= ENOUGH ? s->all[k][s->n[k] / 2] : 0;
    }
    return true;
}

void turn_costs(Turn *turn, Runs *r)
{
    Service *s = turn->service;
    double now[TASK_KIND_COUNT];
    bool stale;
    Err err;

    if (!s->knowledge)
        return;
    pthread_mutex_lock(&s->lock);
    stale = !s->costs_ms || clock_mono_ms() - s->costs_ms > FRESH_MS;
    if (stale)
        s->costs_ms = clock_mono_ms();
    pthread_mutex_unlock(&s->lock);
    if (stale && !load(r, now, &err)) {
        log_warning("how long steps take is not known: %s", err.text);
        stale = false;
    }
    pthread_mutex_lock(&s->lock);
    if (stale)
        memcpy(s->costs, now, sizeof now);
    memcpy(turn->costs, s->costs, sizeof turn->costs);
    pthread_mutex_unlock(&s->lock);
}

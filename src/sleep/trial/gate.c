/* The test. Let d be the differences candidate - baseline of all pairs. If the edit changes
 * nothing, both members of a pair come from one distribution, so every d is as likely as -d: given
 * the sizes, the sum is a walk of random signs, whose tail is counted exactly. No shape of the
 * scores is assumed, and tasks may be as different as they like. For scores of 0 and 1 it is the
 * sign test, which stays within its level also where an edit helps some tasks and harms others as
 * much.
 *
 * The looks. After 40, 70 and 100 % of the draws, with a tenth, two and seven tenths of alpha: the
 * sum of the levels is alpha, so the error rate holds whatever the looks have to do with each
 * other. Most is kept for the end, which costs little power; clear edits still end early. Stopping
 * for lack of hope cannot make an error of this kind.
 *
 * Before an edit is accepted, every task with a loss so far gets all its draws, and is tested the
 * other way at alpha / n: one task that has really become worse is enough to block. */
#include "sleep/trial/gate.h"

#include <math.h>

enum { LOOKS = 3, STEPS = 20 }; /* a difference of 1 is 20 steps */

static const double look_share[LOOKS] = { 0.4, 0.7, 1 };
static const double look_level[LOOKS] = { 0.1, 0.2, 0.7 };
static const double no_hope[LOOKS] = { -1, 0, 0 }; /* z below which there is no point in going on */

const char *verdict_name(Verdict v)
{
    static const char *const names[] = { [VERDICT_ACCEPT] = "accept",
                                         [VERDICT_REJECT] = "reject",
                                         [VERDICT_UNDERPOWERED] = "underpowered" };

    return names[v];
}

/* -- The exact tail -- */

static long gcd(long a, long b)
{
    while (b) {
        long rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* One more step of +size or -size with equal chance; `reach` is how far the walk may be from 0. */
static void walk(double *now, double *next, long reach, long size)
{
    memset(next, 0, sizeof *next * (size_t)(2 * (reach + size) + 1));
    for (long i = 0; i <= 2 * reach; i++) {
        next[i] += now[i] / 2;
        next[i + 2 * size] += now[i] / 2;
    }
}

double gate_sign_p(Arena *a, const double *differences, size_t n)
{
    long *sizes = ARENA_ARRAY(a, long, n + 1), unit = 0, sum = 0, all = 0, reach = 0;
    double *now, *next, p = 0;

    for (size_t i = 0; i < n; i++) {
        sizes[i] = lround(differences[i] * STEPS);
        sum += sizes[i];
        sizes[i] = labs(sizes[i]);
        all += sizes[i];
        unit = gcd(unit, sizes[i]);
    }
    if (!unit)
        return 1;
    now = ARENA_ARRAY(a, double, 2 * (size_t)(all / unit) + 1);
    next = ARENA_ARRAY(a, double, 2 * (size_t)(all / unit) + 1);
    now[0] = 1;
    for (size_t i = 0; i < n; i++) {
        double *swap = now;

        if (!sizes[i])
            continue;
        walk(now, next, reach, sizes[i] / unit);
        reach += sizes[i] / unit;
        now = next;
        next = swap;
    }
    for (long i = sum / unit + reach; i <= 2 * reach; i++)
        p += now[i];
    return p > 1 ? 1 : p;
}

/* -- Drawing -- */

typedef struct Trial {
    Arena *arena;
    const GateInput *in;
    GateResult r;
    double *differences; /* task by task, max_draws each */
} Trial;

static double within_unit(double score)
{
    return isfinite(score) ? fmin(1, fmax(0, score)) : 0;
}

/* One pair of one task. */
static bool draw_pair(Trial *t, size_t task, Err *err)
{
    GateTask *g = &t->r.tasks[task];
    double base, cand;
    int64_t nth = g->draws;

    if (!t->in->draw(t->in->ctx, task, false, nth, &base, &t->r.stopped, err))
        return false;
    if (t->r.stopped)
        return true;
    if (!t->in->draw(t->in->ctx, task, true, nth, &cand, &t->r.stopped, err))
        return false;
    if (t->r.stopped)
        return true;
    base = within_unit(base);
    cand = within_unit(cand);
    g->baseline += (base - g->baseline) / (double)(nth + 1);
    g->candidate += (cand - g->candidate) / (double)(nth + 1);
    t->differences[(int64_t)task * t->in->max_draws + nth] = cand - base;
    g->draws++;
    t->r.draws++;
    return true;
}

static bool settled(const Trial *t, Err *err)
{
    return !t->in->settled || t->in->settled(t->in->ctx, err);
}

static bool draw_until(Trial *t, int64_t draws, Err *err)
{
    for (int64_t round = 0; round < draws; round++)
        for (size_t i = 0; i < t->in->n && !t->r.stopped; i++)
            if (t->r.tasks[i].draws <= round && !draw_pair(t, i, err))
                return false;
    return settled(t, err);
}

static void set_means(Trial *t)
{
    double base = 0, cand = 0;

    for (size_t i = 0; i < t->in->n; i++) {
        base += t->r.tasks[i].baseline;
        cand += t->r.tasks[i].candidate;
    }
    t->r.baseline = t->in->n ? base / (double)t->in->n : 0;
    t->r.candidate = t->in->n ? cand / (double)t->in->n : 0;
}

/* -- Without chance -- */

static bool decide_once(Trial *t, Err *err)
{
    bool worse = false;

    if (!draw_until(t, 1, err))
        return false;
    set_means(t);
    for (size_t i = 0; i < t->in->n; i++) {
        GateTask *g = &t->r.tasks[i];

        g->regressed = g->candidate < g->baseline;
        worse |= g->regressed;
    }
    t->r.verdict = t->r.candidate > t->r.baseline ? VERDICT_ACCEPT : VERDICT_REJECT;
    if (t->r.stopped)
        t->r.verdict = VERDICT_UNDERPOWERED;
    if (t->r.verdict == VERDICT_ACCEPT && t->in->no_regression && worse) {
        t->r.blocked = true;
        t->r.verdict = VERDICT_REJECT;
    }
    return true;
}

/* -- With chance -- */

/* All differences so far in a row; how many. */
static size_t gather(const Trial *t, double *ret, double *ret_sum, double *ret_squares)
{
    size_t n = 0;

    *ret_sum = *ret_squares = 0;
    for (size_t i = 0; i < t->in->n; i++)
        for (int64_t k = 0; k < t->r.tasks[i].draws; k++) {
            double d = t->differences[(int64_t)i * t->in->max_draws + k];

            ret[n++] = d;
            *ret_sum += d;
            *ret_squares += d * d;
        }
    return n;
}

static bool got_worse(const Trial *t, size_t task)
{
    return t->r.tasks[task].candidate < t->r.tasks[task].baseline;
}

static bool any_regressed(Trial *t)
{
    double *back = ARENA_ARRAY(t->arena, double, (size_t)t->in->max_draws);
    bool any = false;

    for (size_t i = 0; i < t->in->n; i++) {
        GateTask *g = &t->r.tasks[i];

        if (!got_worse(t, i))
            continue;
        for (int64_t k = 0; k < g->draws; k++)
            back[k] = -t->differences[(int64_t)i * t->in->max_draws + k];
        g->regressed =
            gate_sign_p(t->arena, back, (size_t)g->draws) <= t->in->alpha / (double)t->in->n;
        any |= g->regressed;
    }
    return any;
}

static bool accept(Trial *t, Err *err)
{
    t->r.verdict = VERDICT_ACCEPT;
    if (!t->in->no_regression)
        return true;
    for (size_t i = 0; i < t->in->n; i++) /* tasks with a loss get all their draws */
        while (got_worse(t, i) && t->r.tasks[i].draws < t->in->max_draws && !t->r.stopped)
            if (!draw_pair(t, i, err))
                return false;
    if (!settled(t, err))
        return false;
    if (any_regressed(t)) {
        t->r.blocked = true;
        t->r.verdict = VERDICT_REJECT;
    }
    return true;
}

/* Looks once; true in *ret_done when it is decided. */
static bool look(Trial *t, int nth, double level, bool *ret_done, Err *err)
{
    double *d = ARENA_ARRAY(t->arena, double, t->in->n *(size_t)t->in->max_draws + 1), sum, squares;
    size_t n = gather(t, d, &sum, &squares);

    t->r.p = gate_sign_p(t->arena, d, n);
    *ret_done = true;
    if (sum > 0 && t->r.p <= level)
        return accept(t, err);
    t->r.verdict = sum > 0 ? VERDICT_UNDERPOWERED : VERDICT_REJECT;
    *ret_done = t->r.stopped || sum < no_hope[nth] * sqrt(squares);
    if (*ret_done && !t->r.stopped)
        t->r.verdict = VERDICT_REJECT;
    return true;
}

static bool decide_by_draws(Trial *t, Err *err)
{
    bool done = false;
    double level = 0;

    for (int i = 0; i < LOOKS && !done; i++) {
        int64_t until = (int64_t)ceil(look_share[i] * (double)t->in->max_draws);

        level += look_level[i] * t->in->alpha;
        if (i + 1 < LOOKS && ceil(look_share[i + 1] * (double)t->in->max_draws) <= (double)until)
            continue; /* too few draws for this look: the next one has its share */
        if (!draw_until(t, until, err) || !look(t, i, level, &done, err))
            return false;
        level = 0;
    }
    set_means(t);
    return true;
}

bool gate_decide(Arena *a, const GateInput *in, GateResult *ret, Err *err)
{
    Trial t = { .arena = a, .in = in, .r = { .verdict = VERDICT_UNDERPOWERED, .p = 1 } };

    ASSERT(in->max_draws > 0);
    t.r.tasks = ARENA_ARRAY(a, GateTask, in->n + 1);
    t.differences = ARENA_ARRAY(a, double, in->n *(size_t)in->max_draws + 1);
    if (!(in->deterministic ? decide_once(&t, err) : decide_by_draws(&t, err)))
        return false;
    *ret = t.r;
    return true;
}

/* -- What can be seen -- */

/* The 0.975 quantile of Student's t, from the normal one; off by less than 2 % from 2 degrees
 * on. */
static double student(double degrees)
{
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;

    return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees) +
           (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * degrees * degrees * degrees);
}

bool gate_interval(const GateTask *tasks, size_t n, double *ret_low, double *ret_high)
{
    double mean = 0, squares = 0, half;

    if (n < 3)
        return false;
    for (size_t i = 0; i < n; i++)
        mean += (tasks[i].candidate - tasks[i].baseline) / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += pow(tasks[i].candidate - tasks[i].baseline - mean, 2);
    half = student((double)n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
    *ret_low = fmax(-1, mean - half);
    *ret_high = fmin(1, mean + half);
    return true;
}

/* By the normal approximation of the last look: level 0.7 alpha, power 0.8. */
double gate_detectable(size_t n, double base, double alpha, int64_t max_draws)
{
    double pairs = (double)n * (double)max_draws, z = 0.8416, low = 0, high = 8;

    if (!n)
        return 1;
    for (int i = 0; i < 60; i++) { /* the quantile of the last look's level */
        double mid = (low + high) / 2;

        if (erfc(mid / sqrt(2)) / 2 > alpha * look_level[LOOKS - 1])
            low = mid;
        else
            high = mid;
    }
    z += low;
    for (double gain = 0.01; base + gain <= 1; gain += 0.01) {
        double q = base + gain;

        if (gain * sqrt(pairs) / sqrt(base + q - 2 * base * q) >= z)
            return gain;
    }
    return 1;
}

GateStep gate_step(double candidate, double current, double best, int64_t best_step, int64_t step)
{
    if (!(candidate > current))
        return (GateStep){ "reject", current, best, best_step };
    if (candidate > best)
        return (GateStep){ "accept_new_best", candidate, candidate, step };
    return (GateStep){ "accept", candidate, best, best_step };
}

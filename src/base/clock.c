#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static double (*wall)(void *ctx);
static void *wall_ctx;
static double fixed;

static struct timespec now_of(clockid_t clock)
{
    struct timespec t = { 0 };

    clock_gettime(clock, &t);
    return t;
}

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double clock_wall(void)
{
    struct timespec t;

    if (wall)
        return wall(wall_ctx);
    t = now_of(CLOCK_REALTIME);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int64_t clock_mono_ns(void)
{
    return ns_of(now_of(CLOCK_MONOTONIC));
}

int64_t clock_wall_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

int64_t clock_mono_ms(void)
{
    return clock_mono_ns() / 1000000;
}

int64_t clock_cpu_ns(void)
{
    return ns_of(now_of(CLOCK_PROCESS_CPUTIME_ID));
}

int64_t clock_thread_ns(void)
{
    return ns_of(now_of(CLOCK_THREAD_CPUTIME_ID));
}

void clock_set_wall(double (*fn)(void *ctx), void *ctx)
{
    wall = fn;
    wall_ctx = ctx;
}

static double fixed_wall(void *ctx)
{
    return *(const double *)ctx;
}

void clock_fix_wall(double seconds)
{
    fixed = seconds;
    clock_set_wall(fixed_wall, &fixed);
}

/* stalls.h - when the machine itself stood still.
 *
 * On a machine that is shared, all processors may be taken away for tens of milliseconds. A thread
 * on each, before all others by its priority, sleeps a millisecond at a time and notes when it was
 * woken late: nothing that an ordinary process does can hold it up. Where such a priority is not to
 * be had there are no stalls, and all counts as ours. */
#ifndef TALARIA_BENCH_STALLS_H
#define TALARIA_BENCH_STALLS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/clock.h"

enum { STALLS_MOST = 65536, STALL_NS = 3000000, STALL_NAP_US = 1000 };

typedef struct Stall {
    int64_t from, to;
} Stall;

static Stall stalls[STALLS_MOST];
static atomic_size_t n_stalls;

static void note_stall(int64_t from, int64_t to)
{
    size_t i = atomic_fetch_add(&n_stalls, 1);

    if (i < STALLS_MOST)
        stalls[i] = (Stall){ from, to };
}

static void *watch_processor(void *ctx)
{
    struct sched_param before_all = { .sched_priority = 50 };
    int64_t last;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)(intptr_t)ctx, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0 ||
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &before_all) != 0)
        return NULL;
    for (last = clock_mono_ns();; last = clock_mono_ns()) {
        usleep(STALL_NAP_US);
        if (clock_mono_ns() - last > STALL_NS)
            note_stall(last + STALL_NAP_US * 1000, clock_mono_ns());
    }
}

static void stalls_watch(void)
{
    for (intptr_t i = 0; i < get_nprocs(); i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, watch_processor, (void *)i) == 0)
            pthread_detach(thread);
    }
}

static bool in_a_stall(int64_t from, int64_t to)
{
    size_t n = atomic_load(&n_stalls);

    for (size_t i = 0; i < n && i < STALLS_MOST; i++)
        if (stalls[i].from < to && from < stalls[i].to)
            return true;
    return false;
}

#endif

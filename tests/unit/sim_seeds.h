/* sim_seeds.h - which schedules a simulation runs: TALARIA_SIM_SEED=n that one alone,
 * TALARIA_SIM_SEEDS: how many, from there on or from the first. */
#ifndef TALARIA_TESTS_SIM_SEEDS_H
#define TALARIA_TESTS_SIM_SEEDS_H

#include "unit.h"

#include <stdlib.h>

static void seeds_to_run(int64_t usual, int64_t *ret_first, int64_t *ret_last)
{
    const char *from = getenv("TALARIA_SIM_SEED"), *many = getenv("TALARIA_SIM_SEEDS");
    int64_t n = from ? 1 : usual;

    *ret_first = 1;
    if (from)
        assert_true(str_to_int(str_of(from), 1, UINT32_MAX, ret_first));
    if (many)
        assert_true(str_to_int(str_of(many), 1, UINT32_MAX, &n));
    *ret_last = *ret_first + n - 1;
}

#endif

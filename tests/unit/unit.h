/* unit.h - what every unit test needs: cmocka, and words for slices. */
#ifndef TALARIA_TESTS_UNIT_H
#define TALARIA_TESTS_UNIT_H

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"

#define assert_str(actual, expected)                                                               \
    do {                                                                                           \
        Str actual_ = (actual), expected_ = (expected);                                            \
        if (!str_eq(actual_, expected_))                                                           \
            fail_msg("got \"%.*s\", expected \"%.*s\"", STR_FMT(actual_), STR_FMT(expected_));     \
    } while (0)

#endif

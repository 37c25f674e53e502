/* The loop's timers against a plain list: whatever is set, moved and stopped, each fires once, and
 * in time. */
#include "unit.h"

#include <stdlib.h>

#include "net/timers.h"

enum { MANY = 200, ROUNDS = 3000 };

typedef struct Clocked {
    NetTimer timer;
    bool expected;  /* it is set, and has not fired */
    int64_t due;    /* at */
    int64_t set_in; /* the round; INT64_MIN: before any */
} Clocked;

static Timers timers;
static Clocked all[MANY];
static int64_t now, calls;

static void set(Clocked *c, int64_t at, int64_t in)
{
    c->expected = true;
    c->due = at;
    c->set_in = in;
    timers_set(&timers, &c->timer, at);
}

static void stop(Clocked *c)
{
    c->expected = false;
    timers_stop(&timers, &c->timer);
}

/* Sometimes a call moves or stops others, also such as are due in the same round, or sets itself
 * anew. */
static void on_time(void *ctx)
{
    Clocked *c = ctx, *other = &all[rand() % MANY];

    assert_true(c->expected);
    assert_true(c->due <= now);
    assert_false(c->timer.armed);
    c->expected = false;
    calls++;
    if (rand() % 4 == 0)
        set(c, now - rand() % 2, now);
    if (other == c)
        return;
    if (rand() % 4 == 0)
        stop(other);
    else if (rand() % 4 == 0)
        set(other, now + rand() % 40 - 10, now);
}

static void change_some(void)
{
    for (int i = 0; i < 10; i++) {
        Clocked *c = &all[rand() % MANY];

        if (rand() % 3 == 0)
            stop(c);
        else
            set(c, now + rand() % 60, INT64_MIN);
    }
}

static void each_fires_once_and_in_time(void **state)
{
    (void)state;
    srand(7);
    for (size_t i = 0; i < MANY; i++)
        all[i].timer = (NetTimer){ .fn = on_time, .ctx = &all[i] };
    for (int round = 0; round < ROUNDS; round++) {
        int64_t soonest = INT64_MAX;

        change_some();
        for (size_t i = 0; i < MANY; i++)
            if (all[i].expected && all[i].due < soonest)
                soonest = all[i].due;
        assert_true(timers_next(&timers) <= soonest);
        now += rand() % 5;
        timers_run(&timers, now);
        /* What is left is not due yet, or was set by a call of this round. */
        for (size_t i = 0; i < MANY; i++) {
            assert_int_equal(all[i].timer.armed, all[i].expected);
            assert_true(!all[i].expected || all[i].due > now || all[i].set_in == now);
        }
    }
    assert_true(calls > ROUNDS);
    timers_done(&timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_fires_once_and_in_time) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

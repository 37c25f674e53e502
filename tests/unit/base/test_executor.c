#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/cond.h"
#include "base/executor.h"

enum { KEYS = 7, JOBS = 50 };

/* What the jobs did, under its lock. */
typedef struct Seen {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int last[KEYS];     /* the number of the last job of a key */
    bool at_it[KEYS];   /* one of the key runs */
    int disorder;       /* jobs that ran beside or before an earlier one of their key */
    int n, dropped;     /* jobs that ran, that were dropped */
    int begun, ended;   /* workers */
    int rounds, inside; /* calls of idle; jobs that run now */
    bool open;          /* the gate that jobs wait at */
} Seen;

typedef struct TestJob {
    int key, number;
} TestJob;

static void seen_init(Seen *s)
{
    *s = (Seen){ .lock = PTHREAD_MUTEX_INITIALIZER };
    cond_init(&s->changed);
}

static void seen_done(Seen *s)
{
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
}

static TestJob *job_new(int key, int number)
{
    TestJob *job = mem_alloc(sizeof *job);

    *job = (TestJob){ key, number };
    return job;
}

static void wait_for(Seen *s, const int *value, int at_least)
{
    pthread_mutex_lock(&s->lock);
    while (*value < at_least)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void open_gate(Seen *s)
{
    pthread_mutex_lock(&s->lock);
    s->open = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void run_in_order(void *ctx, void *worker, void *job)
{
    TestJob *j = job;
    Seen *s = ctx;

    (void)worker;
    pthread_mutex_lock(&s->lock);
    s->disorder += s->at_it[j->key] || s->last[j->key] != j->number - 1;
    s->at_it[j->key] = true;
    pthread_mutex_unlock(&s->lock);
    sched_yield();
    pthread_mutex_lock(&s->lock);
    s->at_it[j->key] = false;
    s->last[j->key] = j->number;
    s->n++;
    pthread_mutex_unlock(&s->lock);
    mem_free(j);
}

static void run_at_gate(void *ctx, void *worker, void *job)
{
    Seen *s = ctx;

    (void)worker;
    pthread_mutex_lock(&s->lock);
    s->inside++;
    pthread_cond_broadcast(&s->changed);
    while (!s->open)
        pthread_cond_wait(&s->changed, &s->lock);
    s->inside--;
    s->n++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    mem_free(job);
}

static void drop(void *ctx, void *job)
{
    ((Seen *)ctx)->dropped++;
    mem_free(job);
}

static Executor *start(Seen *s, ExecutorOptions o)
{
    Executor *x;
    Err err;

    o.ctx = s;
    x = executor_start(&o, &err);
    assert_non_null(x);
    return x;
}

static void jobs_of_a_key_run_one_at_a_time_in_their_order(void **state)
{
    static const char *const keys[KEYS] = { "a", "b", "c", "d", "e", "f", "g" };
    Seen s;
    Executor *x;

    (void)state;
    seen_init(&s);
    x = start(&s, (ExecutorOptions){ .max_threads = 4, .run = run_in_order });
    for (int i = 1; i <= JOBS; i++)
        for (int k = 0; k < KEYS; k++)
            assert_true(executor_add(x, str_of(keys[k]), job_new(k, i)));
    executor_stop(x); /* without `drop` everything that waits still runs */
    assert_int_equal(s.n, JOBS * KEYS);
    assert_int_equal(s.disorder, 0);
    seen_done(&s);
}

static void keys_do_not_wait_for_each_other(void **state)
{
    Seen s;
    Executor *x;

    (void)state;
    seen_init(&s);
    x = start(&s, (ExecutorOptions){ .max_threads = 3, .run = run_at_gate, .drop = drop });
    assert_true(executor_add(x, STR("a"), job_new(0, 1)));
    assert_true(executor_add(x, STR("a"), job_new(0, 2)));
    assert_true(executor_add(x, STR("b"), job_new(1, 1)));
    assert_true(executor_add(x, STR_NONE, job_new(2, 1)));
    wait_for(&s, &s.inside, 3); /* one of a, one of b, the one without a key */
    assert_true(executor_has(x, STR("a")));
    assert_false(executor_has(x, STR("c")));
    open_gate(&s);
    wait_for(&s, &s.n, 4);
    executor_stop(x);
    assert_int_equal(s.dropped, 0);
    seen_done(&s);
}

static void *stop_main(void *x)
{
    executor_stop(x);
    return NULL;
}

static void a_full_queue_refuses_and_the_end_drops(void **state)
{
    pthread_t stopper;
    TestJob *more = job_new(0, 0);
    Seen s;
    Executor *x;

    (void)state;
    seen_init(&s);
    x = start(&s, (ExecutorOptions){
                      .max_threads = 1, .max_waiting = 2, .run = run_at_gate, .drop = drop });
    assert_true(executor_add(x, STR_NONE, job_new(0, 0)));
    wait_for(&s, &s.inside, 1);
    assert_true(executor_add(x, STR_NONE, job_new(0, 0)));
    assert_true(executor_add(x, STR("key"), job_new(0, 0)));
    assert_false(executor_add(x, STR_NONE, more));
    assert_int_equal(pthread_create(&stopper, NULL, stop_main, x), 0);
    while (!executor_stopping(x))
        sched_yield();
    assert_false(executor_add(x, STR_NONE, more));
    open_gate(&s);
    pthread_join(stopper, NULL);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.dropped, 2);
    mem_free(more);
    seen_done(&s);
}

static void *begin(void *ctx)
{
    Seen *s = ctx;

    pthread_mutex_lock(&s->lock);
    s->begun++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return mem_alloc(sizeof(int));
}

static void end(void *ctx, void *worker)
{
    Seen *s = ctx;

    pthread_mutex_lock(&s->lock);
    s->ended++;
    pthread_mutex_unlock(&s->lock);
    mem_free(worker);
}

static void threads_start_when_they_are_needed(void **state)
{
    Seen s;
    Executor *x;

    (void)state;
    seen_init(&s);
    x = start(
        &s,
        (ExecutorOptions){
            .min_threads = 1, .max_threads = 3, .run = run_at_gate, .begin = begin, .end = end });
    wait_for(&s, &s.begun, 1);
    for (int i = 0; i < 5; i++)
        assert_true(executor_add(x, STR_NONE, job_new(0, 0)));
    wait_for(&s, &s.inside, 3);
    open_gate(&s);
    executor_stop(x);
    assert_int_equal(s.n, 5);
    assert_int_equal(s.begun, 3);
    assert_int_equal(s.ended, 3);
    seen_done(&s);
}

static int64_t on_idle(void *ctx, void *worker)
{
    Seen *s = ctx;
    int rounds;

    (void)worker;
    pthread_mutex_lock(&s->lock);
    rounds = ++s->rounds;
    pthread_cond_broadcast(&s->changed);
    while (rounds == 4 && !s->open) /* a call during this one must not be lost */
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return rounds < 3 ? 1 : -1;
}

static void an_idle_thread_is_called_in_time_and_when_woken(void **state)
{
    Seen s;
    Executor *x;

    (void)state;
    seen_init(&s);
    x = start(&s, (ExecutorOptions){ .min_threads = 1, .max_threads = 1, .idle = on_idle });
    wait_for(&s, &s.rounds, 3); /* by itself, twice after a millisecond */
    executor_wake(x);
    wait_for(&s, &s.rounds, 4);
    executor_wake(x);
    open_gate(&s);
    wait_for(&s, &s.rounds, 5);
    executor_stop(x);
    seen_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_of_a_key_run_one_at_a_time_in_their_order),
        cmocka_unit_test(keys_do_not_wait_for_each_other),
        cmocka_unit_test(a_full_queue_refuses_and_the_end_drops),
        cmocka_unit_test(threads_start_when_they_are_needed),
        cmocka_unit_test(an_idle_thread_is_called_in_time_and_when_woken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

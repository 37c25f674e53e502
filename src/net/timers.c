/* A heap, in which a timer stands under the time at which it was filed.
 *
 * Deadlines of requests are moved on with every byte that arrives, nearly always to later: that is
 * one store. When the time comes under which the timer was filed, it is filed anew. libcurl moves
 * its own timer to now and back for every piece of an answer: that must not cost a walk over the
 * deadlines of a thousand others. */
#include "net/timers.h"

#include "base/arena.h"

static void put(Timers *t, size_t place, NetTimer *timer)
{
    t->heap[place] = timer;
    timer->place = place;
}

static void rise(Timers *t, size_t place)
{
    NetTimer *timer = t->heap[place];

    while (place && t->heap[(place - 1) / 2]->filed > timer->filed) {
        put(t, place, t->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(t, place, timer);
}

static void sink(Timers *t, size_t place)
{
    NetTimer *timer = t->heap[place];

    for (;;) {
        size_t child = 2 * place + 1;

        if (child + 1 < t->n && t->heap[child + 1]->filed < t->heap[child]->filed)
            child++;
        if (child >= t->n || t->heap[child]->filed >= timer->filed)
            break;
        put(t, place, t->heap[child]);
        place = child;
    }
    put(t, place, timer);
}

static void take_out(Timers *t, size_t place)
{
    NetTimer *last = t->heap[--t->n];

    if (place == t->n)
        return;
    put(t, place, last);
    sink(t, place);
    rise(t, last->place);
}

void timers_done(Timers *t)
{
    mem_free(t->heap);
    mem_free(t->due);
}

void timers_stop(Timers *t, NetTimer *timer)
{
    if (!timer->armed)
        return;
    if (timer->due)
        t->due[timer->place] = NULL;
    else
        take_out(t, timer->place);
    timer->armed = timer->due = false;
}

void timers_set(Timers *t, NetTimer *timer, int64_t at_ms)
{
    timer->at = at_ms;
    if (timer->due && at_ms <= t->now)
        return;
    if (timer->due)
        timers_stop(t, timer);
    if (!timer->armed) {
        timer->armed = true;
        timer->filed = at_ms;
        if (t->n == t->cap) {
            t->cap = t->cap ? t->cap * 2 : 64;
            t->heap = mem_resize(t->heap, t->cap, sizeof(NetTimer *));
            t->due = mem_resize(t->due, t->cap, sizeof(NetTimer *));
        }
        put(t, t->n++, timer);
        rise(t, timer->place);
    } else if (at_ms < timer->filed) {
        timer->filed = at_ms;
        rise(t, timer->place);
    }
}

int64_t timers_next(const Timers *t)
{
    return t->n ? t->heap[0]->filed : INT64_MAX;
}

/* As many as the heap has had are due at most, so that there is room. */
static void part_due(Timers *t)
{
    while (t->n && t->heap[0]->filed <= t->now) {
        NetTimer *timer = t->heap[0];

        if (timer->at > t->now) {
            timer->filed = timer->at;
            sink(t, 0);
        } else {
            take_out(t, 0);
            timer->due = true;
            timer->place = t->n_due;
            t->due[t->n_due++] = timer;
        }
    }
}

void timers_run(Timers *t, int64_t now_ms)
{
    t->now = now_ms;
    part_due(t);
    for (size_t i = 0; i < t->n_due; i++) {
        NetTimer *timer = t->due[i];

        if (!timer)
            continue;
        timers_stop(t, timer);
        timer->fn(timer->ctx);
    }
    t->n_due = 0;
}

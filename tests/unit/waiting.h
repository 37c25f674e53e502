/* waiting.h - a net to test with, and what its thread tells the test: both hold a Waiting while
 * they look. */
#ifndef TALARIA_TESTS_WAITING_H
#define TALARIA_TESTS_WAITING_H

#include "unit.h"

#include <pthread.h>

#include "base/buf.h"
#include "net/net.h"

typedef struct Waiting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
} Waiting;

static void waiting_init(Waiting *w)
{
    *w = (Waiting){ .over = false };
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
}

static void waiting_done(Waiting *w)
{
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
}

static void telling_begin(Waiting *w)
{
    pthread_mutex_lock(&w->lock);
}

static void telling_end(Waiting *w)
{
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void wait_over(Waiting *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->over)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

/* Until so many bytes came, or nothing more comes. */
static void wait_bytes(Waiting *w, const Buf *bytes, size_t n)
{
    pthread_mutex_lock(&w->lock);
    while (bytes->n < n && !w->over)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static Net *net;

static int net_up(void **state)
{
    Err err;

    (void)state;
    net = net_new(&err);
    return net ? 0 : -1;
}

static int net_down(void **state)
{
    (void)state;
    net = net_free(net);
    return 0;
}

#endif

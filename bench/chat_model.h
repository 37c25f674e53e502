/* chat_model.h - the model of bench_chat: a process of its own that takes questions and answers at
 * its pace.
 *
 * A word is the time at which it was said, which every process of the machine reads from the same
 * clock. The model begins when all have asked and the readers have caught up with what was said
 * before. Each turn has as many listeners as it is told: one, when the server listens, and all
 * readers, when they listen themselves. */
#ifndef TALARIA_BENCH_CHAT_MODEL_H
#define TALARIA_BENCH_CHAT_MODEL_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum { MODEL_TURNS = 1000, MODEL_LISTENERS = 3, MODEL_WORDS = 20, MODEL_PACE_MS = 200 };

typedef struct Speaker {
    int fd, said;
    bool asked;
} Speaker;

typedef struct SpokenModel {
    int epoll, listener;
    size_t n_turns, listeners;
    size_t n_speakers, n_asked;
    Speaker speakers[MODEL_TURNS * MODEL_LISTENERS];
} SpokenModel;

/* True when the whole request is there; its length is not looked at: a model's request ends with
 * its object. */
static bool is_asked(int fd)
{
    char text[65536];
    ssize_t n = recv(fd, text, sizeof text, 0);

    return n <= 0 || text[n - 1] == '}';
}

static void say(int fd, const char *text)
{
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void say_head(int fd)
{
    say(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
}

static void say_word(int fd)
{
    char text[160];

    snprintf(text, sizeof text,
             "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%lld \"}}]}\n\n",
             (long long)clock_mono_ns());
    say(fd, text);
}

static void say_end(int fd)
{
    say(fd, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
            "data: [DONE]\n\n");
    close(fd);
}

static void speak_on(Speaker *s)
{
    if (s->said > MODEL_WORDS)
        return;
    if (s->said++ < MODEL_WORDS)
        say_word(s->fd);
    else
        say_end(s->fd);
}

/* Every millisecond has its turns. */
static void speak_from_to(SpokenModel *m, int64_t from, int64_t to)
{
    for (; from < to; from++)
        for (size_t i = (size_t)(from % MODEL_PACE_MS); i < m->n_turns; i += MODEL_PACE_MS)
            for (size_t k = 0; k < m->listeners; k++)
                speak_on(&m->speakers[i * m->listeners + k]);
}

static void watch(int epoll, int fd, void *what)
{
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = what };

    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

static void take_question(SpokenModel *m, Speaker *s)
{
    if (!s) {
        s = &m->speakers[m->n_speakers++];
        s->fd = accept(m->listener, NULL, NULL);
        watch(m->epoll, s->fd, s);
    } else if (is_asked(s->fd)) {
        s->asked = true;
        m->n_asked++;
        say_head(s->fd);
        (void)epoll_ctl(m->epoll, EPOLL_CTL_DEL, s->fd, NULL);
    }
}

static void take_all(SpokenModel *m)
{
    size_t max = m->n_turns * m->listeners;
    struct epoll_event e;

    m->epoll = epoll_create1(0);
    watch(m->epoll, m->listener, NULL);
    while (m->n_asked < max && epoll_wait(m->epoll, &e, 1, 60000) == 1) {
        take_question(m, e.data.ptr);
        if (m->n_speakers == max)
            (void)epoll_ctl(m->epoll, EPOLL_CTL_DEL, m->listener, NULL);
    }
}

/* What the model and the readers tell each other. */
typedef struct Signals {
    _Atomic bool caught_up;   /* the readers have read all that came before the first word */
    _Atomic int64_t begun_ms; /* the model speaks since then */
} Signals;

/* The process. */
static pid_t model_start_speaking(int listener, size_t n_turns, size_t listeners, Signals *signals)
{
    static SpokenModel m;
    int64_t spoken = 0, now = 0;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    m = (SpokenModel){ .listener = listener, .n_turns = n_turns, .listeners = listeners };
    take_all(&m);
    for (int i = 0; i < 60000 && !atomic_load(&signals->caught_up); i++)
        usleep(1000);
    atomic_store(&signals->begun_ms, clock_mono_ms());
    while (spoken <= (MODEL_WORDS + 1) * MODEL_PACE_MS) {
        usleep(500);
        now = clock_mono_ms() - atomic_load(&signals->begun_ms);
        speak_from_to(&m, spoken, now);
        spoken = now;
    }
    _exit(0);
}

#endif

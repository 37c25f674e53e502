/* A write-ahead log that grew says only that something happened; the BoardMark says whether it
 * concerns a page. What happens while nobody listens is not looked at: whoever comes asks for the
 * state anew. */
#include "http/watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "handoff/board.h"
#include "text/json.h"

struct Watch {
    Sse *sse;
    char *data;
    int inotify, stop;
    pthread_t thread;
    OwnStore *journal; /* NULL: there is no database yet */
    BoardMark mark;
};

/* -- what is told -- */

static bool same_board(const BoardMark *a, const BoardMark *b)
{
    return a->steps == b->steps && a->handoffs == b->handoffs && a->links == b->links &&
           a->homes == b->homes && a->owners == b->owners && a->dead == b->dead &&
           a->parked == b->parked;
}

static bool same_rooms(const BoardMark *a, const BoardMark *b)
{
    return a->threads == b->threads && a->messages == b->messages;
}

static void tell(const Watch *w, const BoardMark *old, const BoardMark *now)
{
    AUTO_BUF data = BUF(KIB(1));
    JsonWriter j = JSON_WRITER(&data, 0);

    if (!same_board(old, now))
        sse_publish(w->sse, "handoffs", STR("{}"));
    if (old->talks != now->talks)
        sse_publish(w->sse, "chat", STR("{}"));
    if (same_rooms(old, now) && old->edited == now->edited && old->typing == now->typing)
        return;
    json_begin(&j, '{');
    json_field_bool(&j, "rooms", !same_rooms(old, now));
    json_end(&j, '}');
    sse_publish(w->sse, "local", buf_str(&data));
}

static bool has_database(const Watch *w)
{
    AUTO(Arena) *a = arena_new();

    return access(str_z(a, str_join_path(a, str_of(w->data), STR("talaria.db"))), F_OK) == 0;
}

static bool look(Watch *w, Err *err)
{
    BoardMark now;

    if (!w->journal && !has_database(w))
        return true;
    if (!w->journal)
        w->journal = own_store_open(str_of(w->data), err);
    if (!w->journal || !board_mark(w->journal, &now, err))
        return false;
    tell(w, &w->mark, &now);
    w->mark = now;
    return true;
}

/* -- the thread -- */

static bool about_database(const char *bytes, size_t n)
{
    for (size_t at = 0; at + sizeof(struct inotify_event) <= n;) {
        struct inotify_event e;

        memcpy(&e, bytes + at, sizeof e);
        /* Where some were lost, it may have been about it. */
        if (e.mask & IN_Q_OVERFLOW ||
            (e.len && strncmp(bytes + at + sizeof e, "talaria.db", 10) == 0))
            return true;
        at += sizeof e + e.len;
    }
    return false;
}

static bool drained(const Watch *w)
{
    char bytes[KIB(8)];
    bool concerns = false;
    ssize_t n;

    while ((n = read(w->inotify, bytes, sizeof bytes)) > 0)
        concerns |= about_database(bytes, (size_t)n);
    return concerns;
}

/* Whether it is time to end. */
static bool wait_for(const Watch *w, bool news, int ms)
{
    struct pollfd all[] = { { .fd = w->stop, .events = POLLIN },
                            { .fd = news ? w->inotify : -1, .events = POLLIN } };
    int n;

    do {
        n = poll(all, ARRAY_LEN(all), ms);
    } while (n < 0 && errno == EINTR);
    return n < 0 || (all[0].revents & POLLIN);
}

/* The log is written before its commit can be seen, and nothing says when that is: a sync may lie
 * in between. So there are a few more looks, each later than the one before, and then none. */
static const int later_ms[] = { 40, 120, 400, 1200, 3600 };

static void *run(void *ctx)
{
    size_t next = ARRAY_LEN(later_ms);
    Watch *w = ctx;
    Err err;

    while (!wait_for(w, true, next < ARRAY_LEN(later_ms) ? later_ms[next] : -1)) {
        if (drained(w))
            next = 0;
        else if (next < ARRAY_LEN(later_ms))
            next++;
        else
            continue;
        if (next == 0 && wait_for(w, false, WATCH_MS))
            break;
        if (sse_has_readers(w->sse) && !look(w, &err))
            log_debug("cannot look for news: %s", err.text);
    }
    return NULL;
}

Watch *watch_start(Sse *sse, Str data, Err *err)
{
    Watch *w = mem_alloc(sizeof *w);
    AUTO(Arena) *a = arena_new();

    *w = (Watch){ .sse = sse,
                  .data = mem_strdup(data),
                  .inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC),
                  .stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
    if (w->inotify < 0 || w->stop < 0 ||
        inotify_add_watch(w->inotify, str_z(a, data), IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
        err_set_errno(err, "cannot watch '%.*s'", STR_FMT(data));
    else if (pthread_create(&w->thread, NULL, run, w) == 0)
        return w;
    else
        (void)err_set(err, ERR_INTERNAL, "cannot start a thread");
    w->sse = NULL;
    return watch_stop(w);
}

Watch *watch_stop(Watch *w)
{
    if (!w)
        return NULL;
    if (w->sse) { /* it runs */
        (void)!eventfd_write(w->stop, 1);
        pthread_join(w->thread, NULL);
    }
    own_store_close(w->journal);
    if (w->inotify >= 0)
        close(w->inotify);
    if (w->stop >= 0)
        close(w->stop);
    mem_free(w->data);
    return mem_free(w);
}

/* A chat without a terminal: lines from a pipe, one turn after the other. Standard input is waited for together with
 * signals, so that Ctrl-C ends it also while nothing comes. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/signals.h"
#include "terminal/chat_inside.h"

typedef struct Input {
    char bytes[4096];
    size_t at, n;
} Input;

static bool told_to_leave(Chat *c)
{
    uint64_t count;

    (void)!read(c->wake_fd, &count, sizeof count);
    return signals_stop_came();
}

/* Whatever became of the turn: what was to come after it will not be. */
static void interrupted(Chat *c)
{
    c->leaving = c->failed = c->told = true;
    (void)err_set(&c->err, ERR_INTERRUPTED, "cancelled");
}

void chat_watch(Chat *c)
{
    struct pollfd fd = { .fd = c->wake_fd, .events = POLLIN };
    bool stop = false;

    for (chat_pump(c); c->running; chat_pump(c)) {
        if (poll(&fd, 1, -1) < 0 && errno != EINTR)
            break;
        if (told_to_leave(c)) {
            stop = c->leaving = true;
            chat_cancel(c);
        }
    }
    if (stop)
        interrupted(c);
}

/* False: there is no more. */
static bool refill(Chat *c, Input *in)
{
    struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                            { .fd = c->wake_fd, .events = POLLIN } };
    ssize_t n;

    while (poll(fds, ARRAY_LEN(fds), -1) < 0 || !fds[0].revents || fds[1].revents)
        if (fds[1].revents && told_to_leave(c)) {
            interrupted(c);
            return false;
        }
    n = read(STDIN_FILENO, in->bytes, sizeof in->bytes);
    in->at = 0;
    in->n = n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* The last line need not end. */
static bool read_line(Chat *c, Input *in, Buf *line)
{
    bool any = false;

    buf_clear(line);
    while (in->at < in->n || refill(c, in)) {
        char b = in->bytes[in->at++];

        any = true;
        if (b == '\n')
            return true;
        buf_addc(line, b);
    }
    return any && !c->leaving;
}

static void too_long(Chat *c)
{
    c->failed = true;
    (void)err_set(&c->err, ERR_TOO_LARGE, "a line is longer than %d bytes", LIMIT_RUN_ASK);
    chat_trouble(c, &c->err);
}

void chat_plainly(Chat *c)
{
    Input in = { .n = 0 };

    signals_catch(SIGNALS_STOP | SIGNALS_HANGUP, c->wake_fd);
    while (!c->leaving) {
        AUTO_BUF line = BUF(LIMIT_RUN_ASK);

        if (!read_line(c, &in, &line))
            break;
        if (buf_full(&line))
            too_long(c);
        else
            chat_take(c, buf_str(&line));
        chat_watch(c);
    }
    signals_release();
}

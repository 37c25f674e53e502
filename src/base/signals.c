#include "base/signals.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "base/str.h"

static struct {
    int number;
    SignalSet set;
    struct sigaction before;
    bool caught;
    _Atomic bool came;
} signals[] = {
    { .number = SIGINT, .set = SIGNALS_STOP },      { .number = SIGTERM, .set = SIGNALS_STOP },
    { .number = SIGHUP, .set = SIGNALS_HANGUP },    { .number = SIGWINCH, .set = SIGNALS_TERMINAL },
    { .number = SIGTSTP, .set = SIGNALS_TERMINAL },
};
static int wake = -1;

static void on_signal(int number)
{
    uint64_t one = 1;
    int kept = errno;

    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (signals[i].number == number)
            signals[i].came = true;
    (void)!write(wake, &one, sizeof one);
    errno = kept;
}

void signals_catch(unsigned set, int wake_fd)
{
    struct sigaction ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    if (set & SIGNALS_ONCE)
        ours.sa_flags |= (int)SA_RESETHAND;
    sigemptyset(&ours.sa_mask);
    wake = wake_fd;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        signals[i].caught = set & signals[i].set;
        if (signals[i].caught)
            (void)sigaction(signals[i].number, &ours, &signals[i].before);
    }
}

void signals_release(void)
{
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (signals[i].caught)
            (void)sigaction(signals[i].number, &signals[i].before, NULL);
}

bool signals_came(int number)
{
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (signals[i].number == number && signals[i].came) {
            signals[i].came = false;
            return true;
        }
    return false;
}

bool signals_stop_came(void)
{
    return signals_came(SIGINT) || signals_came(SIGTERM) || signals_came(SIGHUP);
}

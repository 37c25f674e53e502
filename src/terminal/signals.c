#include "terminal/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "base/str.h"

static const int numbers[] = {
#define X(name, signal) [name] = (signal),
    TERMINAL_SIGNALS(X)
#undef X
};

static struct sigaction before[CAME_COUNT];
static bool taken[CAME_COUNT];
static _Atomic bool came[CAME_COUNT];
static int wake = -1;

static void on_signal(int number)
{
    uint64_t one = 1;
    int kept = errno;

    for (size_t i = 0; i < CAME_COUNT; i++)
        if (numbers[i] == number)
            came[i] = true;
    (void)!write(wake, &one, sizeof one);
    errno = kept;
}

void signals_begin(int wake_fd, bool terminal)
{
    struct sigaction ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    sigemptyset(&ours.sa_mask);
    wake = wake_fd;
    for (size_t i = 0; i < CAME_COUNT; i++) {
        taken[i] = terminal || (i != CAME_RESIZE && i != CAME_SUSPEND);
        if (taken[i])
            (void)sigaction(numbers[i], &ours, &before[i]);
    }
}

void signals_end(void)
{
    for (size_t i = 0; i < CAME_COUNT; i++)
        if (taken[i])
            (void)sigaction(numbers[i], &before[i], NULL);
}

bool signals_came(Came which)
{
    bool yes = came[which];

    if (yes)
        came[which] = false;
    return yes;
}

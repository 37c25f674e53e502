/* What calls a gateway: also when the kernel could not keep count of it. */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "handoff/wake.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/talaria-unit-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int64_t most_events(Arena *a)
{
    int64_t n = 0;
    Str text;
    Err err;

    assert_true(file_read_any(a, "/proc/sys/fs/inotify/max_queued_events", 100, &text, &err));
    assert_true(str_to_int(str_trim(text), 1, INT32_MAX, &n));
    return n;
}

/* Two names in turn: the same event twice would be one. */
static void make_noise(Arena *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const char *path = str_printf(a, "%s/%s", folder, i % 2 ? "odd" : "even").p;
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(unlink(path), 0);
        arena_reset(a);
    }
}

static void events_that_were_lost_are_news(void **state)
{
    AUTO(Arena) *a = arena_new(), *names = arena_new();
    Homes homes = { .data = str_of(folder) };
    int64_t began, n = most_events(names);
    bool also;
    Wake *w;
    Err err;

    (void)state;
    if (n > 100000)
        skip();
    w = wake_watch(&homes);
    make_noise(a, n + 10);
    began = clock_mono_ms();
    assert_true(wake_wait(w, 60000, -1, &also, &err));
    assert_true(clock_mono_ms() - began < 30000);
    assert_true(wake_was_foreign(w));
    wake_close(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_that_were_lost_are_news),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

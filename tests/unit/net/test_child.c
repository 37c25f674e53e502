/* Programs of others: what they get, how they end, and that nothing of them is left. */
#include "loopback.h"
#include "waiting.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "net/child.h"
#include "net/spawn.h"

typedef struct Seen {
    Waiting waiting;
    int dones;
    ChildDone done;
    Buf output, errors;
} Seen;

static void take(Seen *seen, Buf *into, Str bytes)
{
    telling_begin(&seen->waiting);
    buf_add(into, bytes);
    telling_end(&seen->waiting);
}

static void on_output(void *ctx, Str bytes)
{
    take(ctx, &((Seen *)ctx)->output, bytes);
}

static void on_errors(void *ctx, Str bytes)
{
    take(ctx, &((Seen *)ctx)->errors, bytes);
}

static void on_done(void *ctx, const ChildDone *done)
{
    Seen *seen = ctx;

    telling_begin(&seen->waiting);
    seen->done = *done;
    seen->dones++;
    seen->waiting.over = true;
    telling_end(&seen->waiting);
}

static const ChildHandlers handlers = { on_output, on_errors, on_done };

static void seen_init(Seen *seen)
{
    memset(seen, 0, sizeof *seen);
    waiting_init(&seen->waiting);
    seen->output = BUF(4 << 20);
    seen->errors = BUF(1 << 20);
}

static void seen_done(Seen *seen)
{
    buf_done(&seen->output);
    buf_done(&seen->errors);
    waiting_done(&seen->waiting);
}

/* Runs a line of shell to its end. */
static void run(Seen *seen, const char *line, ChildSpec spec)
{
    const char *const argv[] = { "sh", "-c", line, NULL };
    NetId id;
    Err err;

    if (!spec.argv)
        spec.argv = argv;
    seen_init(seen);
    assert_true(child_start(net, &spec, &handlers, seen, &id, &err));
    wait_over(&seen->waiting);
    assert_int_equal(seen->dones, 1);
}

static const int64_t at_once[3] = { 0, 0, 0 };

static const struct {
    const char *line;
    Str input;
    int64_t total_ms;
    ChildEnd end;
    int code;
    const char *output, *errors;
} cases[] = {
    { "echo out; echo err >&2; exit 3", STR_INIT(""), 0, CHILD_EXITED, 3, "out\n", "err\n" },
    { "cat", STR_INIT("fed to it"), 0, CHILD_EXITED, 0, "fed to it", "" },
    { "exec true", STR_INIT("never read"), 0, CHILD_EXITED, 0, "", "" },
    { "printf a; kill -9 $$", STR_INIT(""), 0, CHILD_KILLED, SIGKILL, "a", "" },
    { "printf a; sleep 60", STR_INIT(""), 150, CHILD_TIMED_OUT, -1, "a", "" },
    { "trap '' INT TERM; printf a; while :; do sleep 60; done", STR_INIT(""), 150, CHILD_TIMED_OUT,
      SIGKILL, "a", "" },
    /* It ends; what it started keeps the pipe open and is ended with it. */
    { "sleep 60 & printf a", STR_INIT(""), 0, CHILD_EXITED, 0, "a", "" },
};

static void every_end_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *const env[] = { "PATH", NULL };
        Seen seen;

        run(&seen, cases[i].line,
            (ChildSpec){ .env = env,
                         .input = cases[i].input,
                         .total_ms = cases[i].total_ms,
                         .kill_after = at_once });
        if (seen.done.end != cases[i].end ||
            (cases[i].code >= 0 && seen.done.code != cases[i].code))
            fail_msg("%s: %s %d", cases[i].line, child_end_text(seen.done.end), seen.done.code);
        assert_str(buf_str(&seen.output), str_of(cases[i].output));
        assert_str(buf_str(&seen.errors), str_of(cases[i].errors));
        seen_done(&seen);
    }
}

static void what_cannot_be_started_says_why(void **state)
{
    static const struct {
        const char *program, *cwd;
        int code;
    } wrong[] = { { "/no/such/program", NULL, ENOENT },
                  { "no-such-program-anywhere", NULL, ENOENT },
                  { "/etc/passwd", NULL, EACCES },
                  { "true", "/no/such/folder", ENOENT } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const char *const argv[] = { wrong[i].program, NULL };
        Seen seen;

        run(&seen, NULL, (ChildSpec){ .argv = argv, .cwd = wrong[i].cwd });
        assert_int_equal(seen.done.end, CHILD_NOT_STARTED);
        assert_int_equal(seen.done.code, wrong[i].code);
        seen_done(&seen);
    }
}

static void it_gets_what_it_was_given_and_no_more(void **state)
{
    const char *const env[] = { "PATH", "GIVEN=by us", "NOT_SET_ANYWHERE", NULL };
    int stray = dup(2); /* not close-on-exec: a library's descriptor, say */
    Seen seen;

    (void)state;
    setenv("SECRET_KEY", "not for children", 1);
    run(&seen,
        "echo ${SECRET_KEY-none} \"$GIVEN\" ${NOT_SET_ANYWHERE-none}; pwd; ls /proc/self/fd | wc "
        "-l; "
        "ps -o pgid= -p $$ | tr -d ' ' | sed s/$$/leader/",
        (ChildSpec){ .env = env, .cwd = "/usr" });
    /* 0, 1, 2 and the folder that ls reads */
    assert_str(buf_str(&seen.output), STR("none by us none\n/usr\n4\nleader\n"));
    assert_int_equal(seen.errors.n, 0);
    seen_done(&seen);
    unsetenv("SECRET_KEY");
    close(stray);
}

/* Signals that a thread of ours blocks or ignores, and limits that we set for ourselves, are not
 * its. */
static void it_is_as_free_as_we_were(void **state)
{
    struct rlimit before, low, high;
    sigset_t all, was;
    Seen seen;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = high = before;
    low.rlim_cur = 333;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    spawn_keep_limits();
    high.rlim_cur = high.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &high), 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &was);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    run(&seen, "ulimit -n; grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\t'",
        (ChildSpec){ 0 });
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    signal(SIGUSR1, SIG_DFL);
    assert_str(buf_str(&seen.output),
               STR("333\nSigBlk:0000000000000000\nSigIgn:0000000000000000\n"));
    seen_done(&seen);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    spawn_keep_limits();
}

/* Slower than whoever writes: there is always more. */
static void on_output_slowly(void *ctx, Str bytes)
{
    usleep(20000);
    on_output(ctx, bytes);
}

/* One who left its group goes on writing for ever: what was in the pipe at its end is heard, and no
 * more. */
static void an_escaped_grandchild_holds_up_nobody(void **state)
{
    static const ChildHandlers slow = { on_output_slowly, on_errors, on_done };
    const char *const argv[] = { "sh", "-c",
                                 "echo said; setsid yes & setsid yes & setsid yes & "
                                 "while ! ps -o sid= -p $! | grep -qw $!; do :; done; exit 3",
                                 NULL };
    NetId id;
    Seen seen;
    Err err;

    (void)state;
    seen_init(&seen);
    assert_true(child_start(net, &(ChildSpec){ .argv = argv }, &slow, &seen, &id, &err));
    wait_over(&seen.waiting);
    assert_int_equal(seen.done.end, CHILD_EXITED);
    assert_int_equal(seen.done.code, 3);
    assert_true(str_starts(buf_str(&seen.output), STR("said\n")));
    seen_done(&seen);
}

/* Whoever is left of its group is killed while the group's number is still its own. */
static void its_group_goes_with_it(void **state)
{
    AUTO(Arena) *a = arena_new();
    int64_t left = 0;
    Seen seen;

    (void)state;
    run(&seen, "sleep 1000 >/dev/null 2>&1 & echo $!; exit 0", (ChildSpec){ 0 });
    assert_int_equal(seen.done.end, CHILD_EXITED);
    assert_true(str_to_int(str_trim(buf_str(&seen.output)), 1, INT32_MAX, &left));
    for (int i = 0; i < 5000 && kill((pid_t)left, 0) == 0; i++) {
        Str stat = STR_NONE;
        Err err;

        /* A zombie that init has not buried yet is dead, too. */
        if (file_read(a, str_printf(a, "/proc/%lld/stat", (long long)left).p, KIB(4), &stat,
                      &err) &&
            str_find(stat, STR(") Z ")) < stat.n)
            break;
        usleep(1000);
        assert_true(i < 4999);
    }
    seen_done(&seen);
}

static void input_can_follow_later(void **state)
{
    const char *const argv[] = { "cat", NULL };
    NetId id;
    Seen seen;
    Err err;

    (void)state;
    seen_init(&seen);
    assert_true(child_start(net,
                            &(ChildSpec){ .argv = argv, .input = STR("one "), .keep_input = true },
                            &handlers, &seen, &id, &err));
    wait_bytes(&seen.waiting, &seen.output, 4);
    child_write(net, id, STR("two "), false);
    wait_bytes(&seen.waiting, &seen.output, 8);
    child_write(net, id, STR("three"), true);
    wait_over(&seen.waiting);
    assert_int_equal(seen.done.end, CHILD_EXITED);
    assert_str(buf_str(&seen.output), STR("one two three"));
    child_write(net, id, STR("gone"), true);
    child_cancel(net, id);
    seen_done(&seen);
}

/* More than a pipe holds, both ways at once: nobody waits for the other for ever. */
static void much_goes_through(void **state)
{
    const char *const argv[] = { "cat", NULL };
    AUTO(Arena) *a = arena_new();
    size_t n = 3 << 20;
    char *bytes = arena_alloc(a, n);
    Seen seen;

    (void)state;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)('a' + i % 26);
    run(&seen, NULL, (ChildSpec){ .argv = argv, .input = { bytes, n } });
    assert_int_equal(seen.output.n, n);
    assert_memory_equal(seen.output.p, bytes, n);
    seen_done(&seen);
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0;
}

static pid_t number_in(Str text)
{
    int64_t n = 0;

    assert_true(str_to_int(str_trim(text), 2, INT32_MAX, &n));
    return (pid_t)n;
}

static void wait_gone(pid_t pid)
{
    int64_t until = clock_mono_ms() + 5000;

    while (is_alive(pid) && clock_mono_ms() < until)
        usleep(2000);
    assert_false(is_alive(pid));
}

static void cancelling_ends_the_whole_group(void **state)
{
    const char *const argv[] = { "sh", "-c", "trap '' INT; sleep 300 & echo $!; wait; wait", NULL };
    const char *const env[] = { "PATH", NULL };
    static const int64_t soon[3] = { 0, 50, 100 };
    pid_t grandchild;
    Seen seen;
    NetId id;
    Err err;

    (void)state;
    seen_init(&seen);
    assert_true(child_start(net, &(ChildSpec){ .argv = argv, .env = env, .kill_after = soon },
                            &handlers, &seen, &id, &err));
    wait_bytes(&seen.waiting, &seen.output, 2);
    grandchild = number_in(buf_str(&seen.output));
    assert_true(is_alive(grandchild));
    child_cancel(net, id);
    child_cancel(net, id);
    wait_over(&seen.waiting);
    assert_int_equal(seen.done.end, CHILD_CANCELLED);
    wait_gone(grandchild);
    seen_done(&seen);
}

static void the_end_of_the_loop_ends_children(void **state)
{
    const char *const argv[] = { "sleep", "300", NULL };
    Net *own;
    Seen seen[8];
    NetId id;
    Err err;

    (void)state;
    own = net_new(&err);
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        seen_init(&seen[i]);
        assert_true(child_start(own, &(ChildSpec){ .argv = argv }, &handlers, &seen[i], &id, &err));
    }
    net_free(own);
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        assert_int_equal(seen[i].dones, 1);
        assert_int_equal(seen[i].done.end, CHILD_CANCELLED);
        seen_done(&seen[i]);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left, not even a dead one */
}

/* A process that starts a child, tells its number and is killed: the child goes too. */
static void a_child_dies_with_us(void **state)
{
    int tell[2];
    pid_t parent, child = 0;

    (void)state;
    assert_int_equal(pipe(tell), 0);
    parent = fork();
    if (parent == 0) {
        const char *const argv[] = { "sh", "-c", "echo $$; exec sleep 300", NULL };
        const char *const env[] = { "PATH", NULL };
        Seen seen;
        NetId id;
        Err err;
        Net *own = net_new(&err);

        seen_init(&seen);
        if (!own || !child_start(own, &(ChildSpec){ .argv = argv, .env = env }, &handlers, &seen,
                                 &id, &err))
            _exit(1);
        wait_bytes(&seen.waiting, &seen.output, 2);
        child = number_in(buf_str(&seen.output));
        (void)!write(tell[1], &child, sizeof child);
        for (;;)
            pause();
    }
    close(tell[1]);
    assert_int_equal(read(tell[0], &child, sizeof child), sizeof child);
    assert_true(is_alive(child));
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    wait_gone(child);
    close(tell[0]);
}

static void a_thousand_failures_leave_nothing(void **state)
{
    const char *const missing[] = { "/no/such/program", NULL };
    const char *const fails[] = { "false", NULL };
    size_t fds, threads;
    Seen seen;

    (void)state;
    run(&seen, "true", (ChildSpec){ 0 });
    seen_done(&seen);
    fds = open_descriptors();
    threads = running_threads();
    for (int i = 0; i < 1000; i++) {
        run(&seen, NULL, (ChildSpec){ .argv = i % 10 ? missing : fails });
        assert_int_equal(seen.done.end, i % 10 ? CHILD_NOT_STARTED : CHILD_EXITED);
        seen_done(&seen);
    }
    assert_int_equal(open_descriptors(), fds);
    assert_int_equal(running_threads(), threads);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
    /* Forks, so it comes before there is a second thread. */
    const struct CMUnitTest alone[] = { cmocka_unit_test(a_child_dies_with_us) };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_is_told),
        cmocka_unit_test(what_cannot_be_started_says_why),
        cmocka_unit_test(it_gets_what_it_was_given_and_no_more),
        cmocka_unit_test(it_is_as_free_as_we_were),
        cmocka_unit_test(an_escaped_grandchild_holds_up_nobody),
        cmocka_unit_test(its_group_goes_with_it),
        cmocka_unit_test(input_can_follow_later),
        cmocka_unit_test(much_goes_through),
        cmocka_unit_test(cancelling_ends_the_whole_group),
        cmocka_unit_test(the_end_of_the_loop_ends_children),
        cmocka_unit_test(a_thousand_failures_leave_nothing),
    };

    return cmocka_run_group_tests(alone, NULL, NULL) +
           cmocka_run_group_tests(tests, net_up, net_down);
}

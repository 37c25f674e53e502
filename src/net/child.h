/* child.h - a program of others, run beside us and never left behind.
 *
 * Started without a shell, in its own process group, with the environment and the descriptors
 * that it was given and nothing else. It dies with us: the kernel kills it when this process ends,
 * however it ends; its own children, should it have any, are killed with the group where we end it.
 * Its end is always collected: there are no zombies.
 *
 * Callbacks run on the loop's thread: output as it comes, done exactly once and last, after the end
 * of the program and of its output. */
#ifndef TALARIA_NET_CHILD_H
#define TALARIA_NET_CHILD_H

#include "base/str.h"
#include "net/net.h"

#define CHILD_ENDS(X)                                                                              \
    X(CHILD_EXITED, "exited")                                                                      \
    X(CHILD_KILLED, "killed by a signal")                                                          \
    X(CHILD_NOT_STARTED, "could not be started")                                                   \
    X(CHILD_TIMED_OUT, "did not end in time")                                                      \
    X(CHILD_CANCELLED, "cancelled")

typedef enum ChildEnd {
#define X(end, text) end,
    CHILD_ENDS(X)
#undef X
} ChildEnd;

const char *child_end_text(ChildEnd end);

typedef struct ChildDone {
    ChildEnd end;
    int code; /* exit code; signal where it was killed; errno where it was not started */
} ChildDone;

typedef struct ChildHandlers {
    void (*output)(void *ctx, Str bytes); /* of its standard output */
    void (*errors)(void *ctx, Str bytes); /* of its standard error; NULL: thrown away */
    void (*done)(void *ctx, const ChildDone *done);
} ChildHandlers;

typedef struct ChildSpec {
    const char *const *argv;   /* argv[0] is a path, or looked up in our PATH; ended by NULL */
    const char *const *env;    /* names that it inherits, or NAME=value; ended by NULL; or NULL */
    const char *cwd;           /* or NULL: ours */
    Str input;                 /* for its standard input, first of all */
    bool keep_input;           /* standard input stays open for child_write */
    int64_t total_ms;          /* 0: no limit */
    const int64_t *kill_after; /* milliseconds to SIGINT, SIGTERM, SIGKILL after a cancel, or NULL:
                                    child_patience */
} ChildSpec;

/* How long a cancelled program may take: SIGINT at once, SIGTERM, SIGKILL. */
extern const int64_t child_patience[3];

/* Any thread. On failure (too many children) no callback comes; a program that cannot be started
 * ends with CHILD_NOT_STARTED. */
MUST_CHECK bool child_start(Net *net, const ChildSpec *spec, const ChildHandlers *handlers,
                            void *ctx, NetId *ret_id, Err *err);

/* More for its standard input; closed after it with `last`. What it does not read is kept up to
 * LIMIT_CHILD_INPUT, past which the child is cancelled. Any thread. */
void child_write(Net *net, NetId id, Str bytes, bool last);

/* Asks it to end, then makes it. Any thread; nothing where it has ended. */
void child_cancel(Net *net, NetId id);

#endif

/* spawn.h - fork and exec with nothing inherited by accident. */
#ifndef TALARIA_NET_SPAWN_H
#define TALARIA_NET_SPAWN_H

#include <sys/types.h>

#include "base/arena.h"

/* All that the child needs, put together before the fork. */
typedef struct SpawnPlan {
    char *const *argv;
    char *const *env;
    const char *const *paths; /* where the program may lie, in order */
    const char *cwd;
} SpawnPlan;

/* env: names of our environment to pass on, or NAME=value. PATH is looked at here, not in the
 * child. */
SpawnPlan spawn_plan(Arena *a, const char *const *argv, const char *const *env, const char *cwd);

/* Children get the resource limits that hold now, whatever we set for ourselves later. Before there
 * are threads. */
void spawn_keep_limits(void);

/* Starts it in its own process group, killed when the calling thread ends. 0, its number and
 * our ends of its three pipes (non-blocking, close-on-exec); else the errno, and nothing is left
 * over. */
int spawn(const SpawnPlan *plan, pid_t *ret_pid, int ret_fds[3]);

#endif

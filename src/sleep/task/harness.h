/* harness.h - prompts that programs write: they are nobody's task.
 *
 * Structure says it first (entrypoint, side chains); this catches what is left: engines that drive an
 * agent through its ordinary door, memory agents, and our own calls, which carry a mark. */
#ifndef TALARIA_SLEEP_TASK_HARNESS_H
#define TALARIA_SLEEP_TASK_HARNESS_H

#include "sleep/task/types.h"

/* Stands at the beginning of every prompt that a night sends. */
#define SLEEP_MARK "[talaria sleep]"

bool harness_wrote(const SessionDigest *digest);

#endif

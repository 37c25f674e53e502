/* cond.h - condition variables that wait by the monotonic clock: setting the system's time neither
 * ends a wait nor prolongs it. */
#ifndef TALARIA_BASE_COND_H
#define TALARIA_BASE_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

void cond_init(pthread_cond_t *cond);

/* Releases `lock` while it waits, at most until clock_mono_ms() reaches `until_ms` (INT64_MAX:
 * without a limit). False: that time has come. As always with condition variables, true may come
 * without a reason. */
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms);

#endif

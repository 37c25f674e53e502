/* clock.h - what time it is, for real or as a test says.
 *
 * Wall time is for what people and files see; monotonic time for waiting and measuring.
 * A test, `demo --now` and the environment variable TALARIA_NOW (unix seconds) may fix the
 * wall clock; nothing else in the program asks the system for the time. */
#ifndef TALARIA_BASE_CLOCK_H
#define TALARIA_BASE_CLOCK_H

#include <stdint.h>

double clock_wall(void); /* seconds since the epoch, with fraction */
int64_t clock_wall_ms(void);
int64_t clock_mono_ms(void);
int64_t clock_mono_ns(void);
int64_t clock_cpu_ns(void);    /* CPU time of this process, for the benches */
int64_t clock_thread_ns(void); /* of this thread: for budgets that a busy machine does not eat */

/* From now on clock_wall() answers `fn(ctx)`; NULL gives the system's clock back. */
void clock_set_wall(double (*fn)(void *ctx), void *ctx);

/* The wall clock stands still at `seconds`. */
void clock_fix_wall(double seconds);

#endif

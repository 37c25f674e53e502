/* log.h - talk for people, on stderr; data never goes here.
 *
 * One line a message: "talaria: warning: ...". --quiet silences everything below an
 * error. A filter, once set, sees every line first (that is where secrets are taken
 * out). Thread-safe: one write a line. */
#ifndef TALARIA_BASE_LOG_H
#define TALARIA_BASE_LOG_H

#include <stdatomic.h>

#include "base/buf.h"

typedef enum LogLevel { LOG_ERROR, LOG_WARNING, LOG_NOTE, LOG_DEBUG } LogLevel;

void log_at(LogLevel level, const char *fmt, ...) PRINTF(2, 3);
#define log_error(...)   log_at(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_at(LOG_WARNING, __VA_ARGS__)
#define log_note(...)    log_at(LOG_NOTE, __VA_ARGS__)
#define log_debug(...)   log_at(LOG_DEBUG, __VA_ARGS__)

/* A warning about something that is tried again and again: one line per cause, and then none (but
 * at LOG_DEBUG) until nobody has met that cause for LIMIT_LOG_AGAIN_MS. All zeros at first; any
 * thread. */
typedef struct LogOnce {
    struct {
        _Atomic uint64_t cause;
        _Atomic int64_t met_ms;
    } seen[16];
} LogOnce;
void log_once(LogOnce *seen, Str about, const char *cause); /* about empty: the cause says it all */

/* What is above this level is not said. The default is LOG_NOTE. */
void log_set_level(LogLevel max);
LogLevel log_level(void);

/* Called with each line before it is written; puts what is to be written into `out`. */
typedef void LogFilter(Str line, Buf *out);
LogFilter *log_set_filter(LogFilter *filter); /* the one before it */

/* -- progress of anything over a second -- */

/* Rewrites one line on stderr, at most ten times a second and only after the first second,
 * only where stderr is a terminal and --quiet was not given. total 0 = not known. */
void progress_show(const char *what, uint64_t done, uint64_t total);
/* The same without the silent second, for a wait that is over in about that time. */
void progress_show_now(const char *what, uint64_t done, uint64_t total);
void progress_end(void); /* takes the line away */

#endif

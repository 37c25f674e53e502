#include "base/log.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"

static const char *const labels[] = {
    [LOG_ERROR] = "", [LOG_WARNING] = "warning: ", [LOG_NOTE] = "", [LOG_DEBUG] = "debug: "
};

static LogLevel most_said = LOG_NOTE;
static LogFilter *line_filter;
static _Atomic int64_t progress_since, progress_drawn; /* any thread may have something to say */

void log_set_level(LogLevel max)
{
    most_said = max;
}

LogLevel log_level(void)
{
    return most_said;
}

LogFilter *log_set_filter(LogFilter *filter)
{
    LogFilter *before = line_filter;

    line_filter = filter;
    return before;
}

void log_at(LogLevel level, const char *fmt, ...)
{
    AUTO_BUF line = BUF(4096), filtered = BUF(8192);
    char text[2048];
    va_list args;
    Str out;

    if (level > most_said)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    progress_end();
    buf_addf(&line, "talaria: %s%s\n", labels[level], text);
    out = buf_str(&line);
    if (line_filter) {
        line_filter(out, &filtered);
        out = buf_str(&filtered);
    }
    /* Nothing is left to tell when stderr itself fails. */
    (void)!write(STDERR_FILENO, out.p, out.n);
}

void log_once(LogOnce *seen, Str about, const char *cause)
{
    uint64_t hash = hash_text(HASH_START, str_of(cause)) | 1; /* 0: nothing yet */
    int64_t now = clock_mono_ms(), before;
    size_t at = hash % ARRAY_LEN(seen->seen);
    bool same = atomic_exchange(&seen->seen[at].cause, hash) == hash;

    before = atomic_exchange(&seen->seen[at].met_ms, now);
    log_at(same && now - before < LIMIT_LOG_AGAIN_MS ? LOG_DEBUG : LOG_WARNING, "%.*s%s%s",
           STR_FMT(about), about.n ? ": " : "", cause);
}

static void show_progress(const char *what, uint64_t done, uint64_t total, int64_t silent_ms)
{
    enum { EVERY_MS = 100 };
    int64_t now = clock_mono_ms();

    if (!progress_since)
        progress_since = now;
    if (most_said < LOG_NOTE || now - progress_since < silent_ms ||
        now - progress_drawn < EVERY_MS || !isatty(STDERR_FILENO))
        return;
    progress_drawn = now;
    if (total)
        fprintf(stderr, "\r\033[K%s: %llu of %llu", what, (unsigned long long)done,
                (unsigned long long)total);
    else
        fprintf(stderr, "\r\033[K%s: %llu", what, (unsigned long long)done);
    fflush(stderr);
}

void progress_show(const char *what, uint64_t done, uint64_t total)
{
    show_progress(what, done, total, 1000);
}

void progress_show_now(const char *what, uint64_t done, uint64_t total)
{
    show_progress(what, done, total, 0);
}

void progress_end(void)
{
    if (progress_drawn)
        fputs("\r\033[K", stderr);
    progress_since = 0;
    progress_drawn = 0;
}

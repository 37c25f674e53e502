/* A crontab of the user, into which a line of ours goes and out of which it comes: every line that
 * is not ours is still there, in its order, and nothing else is. */
#include "base/limits.h"
#include "sleep/schedule/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char mark[] = "  # project-sha256=";

/* Our line, or one of the two that enclose ours. */
static bool is_ours(Str line)
{
    return str_find(line, STR("talaria-sleep (managed)")) < line.n ||
           (line.n > 64 && str_ends(str_head(line, line.n - 64), str_of(mark)));
}

/* What is left of a crontab without our lines. */
static Str others(Arena *a, Str crontab)
{
    AUTO_BUF out = BUF(MIB(4));
    Str line;

    if (str_ends(crontab, STR("\n")))
        crontab.n--;
    else if (!crontab.n)
        return STR("");
    while (str_split(&crontab, '\n', &line))
        if (!is_ours(line))
            buf_addf(&out, "%.*s\n", STR_FMT(line));
    return str_dup(a, buf_str(&out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str crontab = { (const char *)data, size }, key = schedule_key(a, STR("/p")), with, without;
    Str line = str_printf(a, "17 * * * * 'talaria' sleep run%s%.*s", mark, STR_FMT(key));
    size_t n;

    if (memchr(data, '\0', size))
        return 0;
    with = cron_merge(a, crontab, key, line, &n);
    ASSERT(str_find(with, line) < with.n);
    ASSERT(str_eq(others(a, with), others(a, crontab)));
    ASSERT(str_eq(cron_merge(a, with, key, line, &n), with) && n == 1);
    without = cron_merge(a, with, STR(""), STR(""), &n);
    ASSERT(n >= 1 && str_eq(others(a, without), others(a, crontab)));
    ASSERT(str_find(without, line) == without.n);
    return 0;
}

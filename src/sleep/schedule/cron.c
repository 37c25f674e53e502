/* A crontab knows two special characters in a command: an unquoted "%" is a line end, and a
 * backslash before it takes that meaning away, for cron and not for the shell. So words are quoted
 * for the shell first and "%" is escaped afterwards.
 *
 * Only the block between the two marks is changed. */
#include <unistd.h>

#include "base/limits.h"
#include "sleep/schedule/schedule.h"
#include "text/sha256.h"

#define BLOCK_BEGIN "# >>> talaria-sleep (managed) >>>"
#define BLOCK_END   "# <<< talaria-sleep (managed) <<<"
#define MARK        "  # project-sha256="

/* The longest command that every cron takes. */
enum { MAX_COMMAND = 990 };

/* -- The line -- */

/* 'it'\''s': for the shell, then "%" for cron. Crons differ in what two backslashes are, so a
 * backslash is followed by the end of its quotes and never by another, nor by "%". */
static void quote(Buf *out, Str word)
{
    buf_addc(out, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            buf_addz(out, "'\\''");
        else if (word.p[i] == '\\')
            buf_addz(out, "\\''");
        else if (word.p[i] == '%')
            buf_addz(out, "\\%");
        else
            buf_addc(out, word.p[i]);
    }
    buf_addc(out, '\'');
}

static void put_command(Buf *out, const SleepHome *home, const ScheduleSpec *spec, Arena *a)
{
    const StrList *args = &spec->args;

    for (size_t i = 0; i < spec->environment.n; i++) {
        Str value = spec->environment.items[i], name;

        (void)str_split(&value, '=', &name);
        buf_addf(out, "export %.*s=", STR_FMT(name));
        quote(out, value);
        buf_addz(out, "; ");
    }
    quote(out, spec->binary);
    buf_addz(out, " sleep schedule --due --quiet --project ");
    quote(out, spec->project);
    for (size_t i = 0; i + 1 < args->n; i++) /* schedules.json is in that folder */
        if (str_eqz(args->items[i], "--data")) {
            buf_addz(out, " --data ");
            quote(out, args->items[i + 1]);
        }
    buf_addz(out, " && ");
    quote(out, spec->binary);
    buf_addz(out, " sleep run");
    for (size_t i = 0; i < args->n; i++) {
        buf_addc(out, ' ');
        quote(out, args->items[i]);
    }
    buf_addz(out, " >> ");
    quote(out, str_join_path(a, home->folder, STR("cron.log")));
    buf_addz(out, " 2>&1");
}

bool cron_text(Arena *a, const SleepHome *home, const ScheduleSpec *spec, Str *ret_line, Err *err)
{
    AUTO_BUF command = BUF(KIB(64));

    put_command(&command, home, spec, a);
    if (command.n > MAX_COMMAND)
        return err_set(err, ERR_TOO_LARGE,
                       "the command has %zu characters, and cron takes %d: put flags into the "
                       "configuration file",
                       command.n, MAX_COMMAND);
    *ret_line = str_printf(a, "%d * * * * %.*s" MARK "%.*s", spec->minute,
                           STR_FMT(buf_str(&command)), STR_FMT(schedule_key(a, spec->project)));
    return true;
}

/* -- The block -- */

/* A line of ours says so at its end; with a key, one of this project. */
static bool is_of(Arena *a, Str line, Str key)
{
    size_t end = line.n > SHA256_HEX ? line.n - SHA256_HEX : 0;

    if (key.n)
        return str_ends(line, str_printf(a, MARK "%.*s", STR_FMT(key)));
    return str_ends(str_head(line, end), STR(MARK));
}

Str cron_merge(Arena *a, Str crontab, Str key, Str line, size_t *ret_n)
{
    /* Twice the size: the user's lines must never be cut, whatever is added. */
    AUTO_BUF outside = BUF(2 * LIMIT_CRONTAB_BYTES), inside = BUF(2 * LIMIT_CRONTAB_BYTES);
    bool ours = false;
    Str row;

    *ret_n = 0;
    /* The line feed at the end ends the last line and begins none. */
    if (str_ends(crontab, STR("\n")))
        crontab.n--;
    else if (!crontab.n)
        crontab = STR_NONE;
    while (str_split(&crontab, '\n', &row)) {
        if (str_eqz(row, BLOCK_BEGIN) || str_eqz(row, BLOCK_END)) {
            ours = str_eqz(row, BLOCK_BEGIN);
        } else if (!ours || !is_of(a, row, STR(""))) { /* users write between the marks too */
            buf_addf(&outside, "%.*s\n", STR_FMT(row));
        } else if (is_of(a, row, key)) {
            ++*ret_n;
        } else {
            buf_addf(&inside, "%.*s\n", STR_FMT(row));
        }
    }
    if (line.n)
        buf_addf(&inside, "%.*s\n", STR_FMT(line));
    if (inside.n)
        buf_addf(&outside, BLOCK_BEGIN "\n%.*s" BLOCK_END "\n", STR_FMT(buf_str(&inside)));
    return str_dup(a, buf_str(&outside));
}

/* -- The program -- */

static bool read_crontab(Arena *a, Str *ret, Err *err)
{
    static const char *const argv[] = { "crontab", "-l", NULL };
    ProgramResult r;

    if (!program_run(a, argv, STR(""), &r, err))
        return false;
    if (r.exit_code == 127)
        return err_set(err, ERR_NOT_FOUND, "there is no 'crontab' program, and no systemd either");
    /* "no crontab for user" is an exit code of 1 as any failure; only then it may be empty. */
    if (r.exit_code != 0 && str_find_nocase(r.errors, STR("no crontab")) == r.errors.n)
        return err_set(err, ERR_IO, "'crontab -l' failed: %.*s", STR_FMT(str_trim(r.errors)));
    *ret = r.exit_code == 0 ? r.output : STR("");
    return true;
}

static bool write_crontab(Arena *a, Str crontab, Err *err)
{
    static const char *const argv[] = { "crontab", "-", NULL };
    ProgramResult r;

    if (!program_run(a, argv, crontab, &r, err))
        return false;
    return r.exit_code == 0 ||
           err_set(err, ERR_IO, "'crontab -' failed: %.*s", STR_FMT(str_trim(r.errors)));
}

bool cron_set(Arena *a, Str key, Str line, Err *err)
{
    Str crontab;
    size_t replaced;

    return read_crontab(a, &crontab, err) &&
           write_crontab(a, cron_merge(a, crontab, key, line, &replaced), err);
}

bool cron_remove(Arena *a, Str key, size_t *ret_n, Err *err)
{
    Str crontab, merged;
    Err ignored;

    *ret_n = 0;
    if (!read_crontab(a, &crontab, &ignored))
        return true;
    merged = cron_merge(a, crontab, key, STR(""), ret_n);
    return !*ret_n || write_crontab(a, merged, err);
}

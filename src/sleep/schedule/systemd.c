/* Units in $XDG_CONFIG_HOME/systemd/user. In a unit a word stands in double quotes with C's
 * escapes,
 * "%" begins a specifier and "$" a variable: both are doubled. */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "sleep/schedule/schedule.h"

#define PREFIX "talaria-sleep-"
enum { KEY_DIGITS = 16, MAX_UNITS = 10000 };

/* -- Texts -- */

static void quote(Buf *out, Str word, bool variables)
{
    buf_addc(out, '"');
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];

        if (c == '"' || c == '\\')
            buf_addc(out, '\\');
        if (c == '%' || (c == '$' && variables))
            buf_addc(out, c);
        buf_addc(out, c);
    }
    buf_addc(out, '"');
}

/* Plain text: only "%" means something, and a backslash at the end would join lines. */
static void put_plain(Buf *out, Str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '%')
            buf_addc(out, '%');
        buf_addc(out, text.p[i] == '\\' ? '/' : text.p[i]);
    }
}

/* -- Places -- */

static bool unit_folder(Arena *a, Str *ret, Err *err)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *user = getenv("HOME");

    if (config && config[0] == '/')
        *ret = str_printf(a, "%s/systemd/user", config);
    else if (user && user[0] == '/')
        *ret = str_printf(a, "%s/.config/systemd/user", user);
    else
        return err_set(err, ERR_NOT_FOUND, "neither $XDG_CONFIG_HOME nor $HOME is set");
    return true;
}

static Str unit_name(Arena *a, Str key, const char *suffix)
{
    return str_printf(a, PREFIX "%.*s.%s", KEY_DIGITS, key.p, suffix);
}

bool systemd_units(Arena *a, const ScheduleSpec *spec, ScheduleFile ret[2], Err *err)
{
    Str key = schedule_key(a, spec->project), folder;
    AUTO_BUF service = BUF(KIB(256)), timer = BUF(KIB(16));

    if (!unit_folder(a, &folder, err))
        return false;
    buf_addz(&service, "[Unit]\nDescription=Talaria sleep for ");
    put_plain(&service, spec->project);
    buf_addz(&service, "\n\n[Service]\nType=oneshot\nNice=10\n");
    for (size_t i = 0; i < spec->environment.n; i++) {
        buf_addz(&service, "Environment=");
        quote(&service, spec->environment.items[i], false);
        buf_addc(&service, '\n');
    }
    /* No variable is looked for in the name of the program. */
    buf_addz(&service, "ExecStart=");
    quote(&service, spec->binary, false);
    buf_addz(&service, " sleep run");
    for (size_t i = 0; i < spec->args.n; i++) {
        buf_addc(&service, ' ');
        quote(&service, spec->args.items[i], true);
    }
    buf_addc(&service, '\n');
    buf_addz(&timer, "[Unit]\nDescription=Talaria sleep for ");
    put_plain(&timer, spec->project);
    buf_addf(&timer,
             "\n\n[Timer]\nOnCalendar=*-*-* %02d:%02d:00\nPersistent=true\n\n"
             "[Install]\nWantedBy=timers.target\n",
             spec->hour, spec->minute);
    if (buf_full(&service) || buf_full(&timer))
        return err_set(err, ERR_TOO_LARGE, "the command is too long for a unit");
    ret[0] = (ScheduleFile){ str_join_path(a, folder, unit_name(a, key, "service")),
                             str_dup(a, buf_str(&service)) };
    ret[1] = (ScheduleFile){ str_join_path(a, folder, unit_name(a, key, "timer")),
                             str_dup(a, buf_str(&timer)) };
    return true;
}

/* -- The program -- */

static bool systemctl(Arena *a, const char *verb, const char *flag, Str unit, Err *err)
{
    const char *argv[] = {
        "systemctl", "--user", verb, flag, unit.n ? str_z(a, unit) : NULL, NULL
    };
    ProgramResult r;

    if (!flag) {
        argv[3] = argv[4];
        argv[4] = NULL;
    }
    if (!program_run(a, argv, STR(""), &r, err))
        return false;
    return r.exit_code == 0 || err_set(err, ERR_IO, "'systemctl --user %s' failed: %.*s", verb,
                                       STR_FMT(str_trim(r.errors)));
}

Scheduler scheduler_here(Arena *a)
{
    Err ignored;

    return systemctl(a, "show-environment", NULL, STR(""), &ignored) ? SCHEDULER_SYSTEMD
                                                                     : SCHEDULER_CRON;
}

bool systemd_enable(Arena *a, const ScheduleFile units[2], Err *err)
{
    Str folder = str_folder(units[0].path);

    if (!folder_make(str_z(a, folder), err))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (!file_write_atomic(str_z(a, units[i].path), units[i].text, err))
            return false;
    return systemctl(a, "daemon-reload", NULL, STR(""), err) &&
           systemctl(a, "enable", "--now", str_file_name(units[1].path), err);
}

bool systemd_remove(Arena *a, Str key, size_t *ret_n, Err *err)
{
    Str folder, mine = key.n ? str_printf(a, PREFIX "%.*s", KEY_DIGITS, key.p) : STR(PREFIX);
    FileEntry *entries;
    Err stopped;
    size_t n;

    *ret_n = 0;
    if (!unit_folder(a, &folder, err))
        return false;
    if (access(str_z(a, folder), F_OK) != 0)
        return true;
    if (!folder_list(a, str_z(a, folder), MAX_UNITS, &entries, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        Str name = entries[i].name;

        if (!str_starts(name, mine) || entries[i].is_folder)
            continue;
        /* It may be stopped already, or systemd gone: the files go all the same. */
        if (str_ends(name, STR(".timer"))) {
            ++*ret_n;
            (void)!systemctl(a, "disable", "--now", name, &stopped);
        }
        if (!file_remove(str_z(a, str_join_path(a, folder, name)), err))
            return false;
    }
    if (*ret_n)
        (void)!systemctl(a, "daemon-reload", NULL, STR(""), &stopped);
    return true;
}

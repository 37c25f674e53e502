/* What doctor says of everything around the databases: versions, settings, clock, files, disk. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "cmd/doctor.h"
#include "cmd/version.h"
#include "recall/history.h"
#include "text/human.h"

void doctor_versions(Doctor *d)
{
    AUTO_BUF list = BUF(KIB(2));
    VersionPart parts[VERSION_PARTS];

    version_parts(parts);
    for (size_t i = 0; i < VERSION_PARTS; i++)
        buf_addf(&list, "%s%s %.*s", i ? ", " : "", parts[i].name,
                 STR_FMT(str_trim(str_of(parts[i].version))));
    doctor_say(d, FINDING_OK, STR(""), "", "%s", list.p);
}

void doctor_config(Doctor *d)
{
    const Settings *s = &d->cli->settings;

    if (d->config_wrong)
        doctor_say(d, FINDING_PROBLEM, STR("config.yaml"),
                   "correct it; until then every command but this one and help refuses to run",
                   "%s", d->config_error.text);
    else
        doctor_say(d, FINDING_OK, STR("config.yaml"), "", "%s",
                   s->found ? "read without complaint" : "no such file; using defaults");
}

/* -- clock -- */

/* An unknown zone silently counts as UTC. "CET-1CEST" needs no file. */
static bool zone_is_known(Arena *a, Str zone)
{
    struct stat st;
    bool digits = false;

    if (zone.n && zone.p[0] == ':')
        zone = str_skip(zone, 1);
    for (size_t i = 0; i < zone.n; i++)
        digits |= zone.p[i] >= '0' && zone.p[i] <= '9';
    return !zone.n || zone.p[0] == '/' || digits || str_eqz(zone, "UTC") ||
           stat(str_z(a, str_printf(a, "/usr/share/zoneinfo/%.*s", STR_FMT(zone))), &st) == 0;
}

void doctor_clock(Doctor *d)
{
    enum { DAY = 86400, YEAR_2024 = 1704067200 };
    const double nonsense = 1e11; /* a broken number, not a time */
    Str zone = str_of(getenv("TZ"));
    double now = clock_wall(), newest = 0;

    for (size_t i = 0; i < d->n_facts; i++)
        if (d->facts[i].readable && d->facts[i].newest > newest && d->facts[i].newest < nonsense)
            newest = d->facts[i].newest;
    if (now < YEAR_2024)
        doctor_say(d, FINDING_PROBLEM, STR(""), "set the clock", "it says %.*s",
                   STR_FMT(human_time(d->arena, now)));
    else if (newest > now + DAY)
        doctor_say(d, FINDING_WARNING, STR(""), "compare the clock with the one of another machine",
                   "it says %.*s, but there is a session of %.*s",
                   STR_FMT(human_time(d->arena, now)), STR_FMT(human_time(d->arena, newest)));
    else if (!zone_is_known(d->arena, zone))
        doctor_say(d, FINDING_WARNING, STR("TZ"), "give it a name below /usr/share/zoneinfo",
                   "time zone '%.*s' is not known; times are shown as UTC", STR_FMT(zone));
    else
        doctor_say(d, FINDING_OK, STR(""), "", "%.*s", STR_FMT(human_time(d->arena, now)));
}

/* -- sources -- */

static void say_source(Doctor *d, const SourceFacts *s)
{
    Str name = str_of(origin_title(s->origin));
    Arena *a = d->arena;

    if (!s->folder.n)
        return;
    if (!s->present && s->origin == ORIGIN_TALARIA)
        doctor_say(d, FINDING_NOTE, name, "", "no sessions yet in %.*s ($%s names another folder)",
                   STR_FMT(s->folder), s->variable);
    else if (!s->present)
        doctor_say(d, FINDING_NOTE, name, "", "not found in %.*s ($%s names another folder)",
                   STR_FMT(s->folder), s->variable);
    else
        doctor_say(d, s->counts.sessions ? FINDING_OK : FINDING_NOTE, name, "",
                   "%.*s in %.*s, last activity %.*s", STR_FMT(history_count_text(a, &s->counts)),
                   STR_FMT(s->folder), STR_FMT(human_ago(a, s->counts.newest, clock_wall())));
}

void doctor_sources(Doctor *d)
{
    enum { UPDATE_MS = 1000 };
    HistoryWhere where = { .homes = d->homes,
                           .files = !d->cli->where.home,
                           .budget_ms = UPDATE_MS };
    HistoryFacts all;
    Err err;

    if (!history_facts(&where, d->arena, d->facts, d->n_facts, &all, &err)) {
        doctor_say(d, FINDING_WARNING, STR(""), "", "transcripts cannot be listed: %s", err.text);
        return;
    }
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        say_source(d, &all.sources[i]);
}

/* -- permissions -- */

/* Of ours: for us alone, and ours. False where something was said. */
static bool look_at_ours(Doctor *d, Str path, bool folder)
{
    const char *z = str_z(d->arena, path);
    struct stat st;

    if (stat(z, &st) != 0)
        return true;
    if (st.st_uid != geteuid())
        doctor_say(d, FINDING_WARNING, path, "use talaria as the user whom it belongs to",
                   "belongs to another user (uid %u)", st.st_uid);
    else if (access(z, folder ? W_OK | X_OK : W_OK) != 0)
        doctor_say(d, FINDING_PROBLEM, path,
                   folder ? "chmod 700 makes it so" : "chmod 600 makes it so", "cannot be written");
    else if (st.st_mode & 077)
        doctor_say(d, FINDING_WARNING, path, folder ? "chmod 700 closes it" : "chmod 600 closes it",
                   "can be reached by others (mode %04o)", st.st_mode & 07777);
    else
        return true;
    return false;
}

/* Of others: an open file in a closed folder is closed. */
static bool look_at_theirs(Doctor *d, const Patient *p)
{
    struct stat file, folder;

    if (stat(str_z(d->arena, p->path), &file) != 0 ||
        stat(str_z(d->arena, p->folder), &folder) != 0)
        return true;
    if (access(str_z(d->arena, p->path), R_OK) != 0) {
        doctor_say(d, FINDING_PROBLEM, p->path, "use talaria as the user whom it belongs to",
                   "cannot be read by this user");
        return false;
    }
    if ((file.st_mode & 044) == 0 || (folder.st_mode & 011) == 0)
        return true;
    doctor_say(d, FINDING_WARNING, p->path, "chmod 600 closes it",
               "can be read by others (mode %04o)", file.st_mode & 07777);
    return false;
}

void doctor_permissions(Doctor *d)
{
    static const char *const files[] = { "talaria.db",  "talaria.db-wal", "talaria.db-shm",
                                         "index.db",    "index.db-wal",   "index.db-shm",
                                         "server-token" };
    Str data = d->homes->data;
    bool good = look_at_ours(d, data, true);

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        good &= look_at_ours(d, str_join_path(d->arena, data, str_of(files[i])), false);
    for (size_t i = 0; i < d->n_patients; i++)
        if (!d->patients[i].ours)
            good &= look_at_theirs(d, &d->patients[i]);
    if (good)
        doctor_say(d, FINDING_OK, STR(""), "", "Talaria's files are private and writable");
}

/* -- token -- */

void doctor_token(Doctor *d)
{
    enum { MIN_BYTES = 32 };
    Str path = str_join_path(d->arena, d->homes->data, STR("server-token"));
    struct stat st;

    if (stat(str_z(d->arena, path), &st) != 0)
        doctor_say(d, FINDING_NOTE, STR(""), "", "none yet: 'talaria serve' makes one");
    else if (!S_ISREG(st.st_mode) || st.st_size < MIN_BYTES)
        doctor_say(d, FINDING_PROBLEM, path, "delete it: 'talaria serve' makes a new one",
                   "is too short to be a secret");
    else
        doctor_say(d, FINDING_OK, STR(""), "", "'%.*s'", STR_FMT(path));
}

/* -- disk -- */

void doctor_space(Doctor *d)
{
    Str at = d->homes->data;
    struct statvfs vfs;
    int64_t left;

    /* The folder may not be there yet: then the one that it will lie in. */
    while (statvfs(str_z(d->arena, at), &vfs) != 0) {
        if (errno != ENOENT || at.n <= 1)
            return;
        while (at.n > 1 && at.p[at.n - 1] != '/')
            at.n--;
        if (at.n > 1)
            at.n--;
    }
    left = (int64_t)(vfs.f_bavail * vfs.f_frsize);
    doctor_say(d,
               left < (int64_t)MIB(64)     ? FINDING_PROBLEM
               : left < (int64_t)MIB(1024) ? FINDING_WARNING
                                           : FINDING_OK,
               at, left < (int64_t)MIB(1024) ? "make room: a full disk ends every write" : "",
               "%.*s free", STR_FMT(human_bytes(d->arena, left)));
}

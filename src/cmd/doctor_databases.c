/* What doctor says of databases: facts, columns, pages, search indexes, who has them open. */
#include <sys/stat.h>

#include "cmd/doctor.h"
#include "store/holders.h"
#include "text/human.h"

enum { SHOWN_COLUMNS = 300 };

void doctor_homes(Doctor *d)
{
    for (size_t i = 0; i < d->homes->n; i++)
        if (!d->homes->all[i].present)
            doctor_say(d, FINDING_NOTE, d->homes->all[i].name, "", "no database yet: '%.*s'",
                       STR_FMT(d->homes->all[i].database));
    for (size_t i = 0; i < d->n_patients; i++) {
        const Patient *p = &d->patients[i];
        const DbReport *r = &p->report;

        if (r->readable)
            doctor_say(d, FINDING_OK, p->name, "", "'%.*s', %.*s, journal %s, schema %lld",
                       STR_FMT(p->path), STR_FMT(human_bytes(d->arena, r->bytes)), r->journal,
                       (long long)r->version);
        else if (r->trouble.kind == ERR_BUSY)
            doctor_say(d, FINDING_WARNING, p->name,
                       "wait until the process listed below is done, then try again", "%s",
                       r->trouble.text);
        else if (r->trouble.kind == ERR_READ_ONLY)
            doctor_say(d, FINDING_PROBLEM, p->name,
                       "it is whole: copy it with its -wal, or make the folder writable", "%s",
                       r->trouble.text);
        else
            doctor_say(d, FINDING_PROBLEM, p->name,
                       p->ours ? "restore it from a backup, or move it away to start over"
                               : "do not write to it any more; restore it with its own program, or "
                                 "from a backup",
                       "%s", r->trouble.text);
    }
}

/* -- columns -- */

static size_t count_names(Str list)
{
    size_t n = list.n > 0;

    for (size_t i = 0; i < list.n; i++)
        n += list.p[i] == ',';
    return n;
}

static bool lacks_what_is_needed(Str missing)
{
    static const char *const needed[] = { "sessions.id",         "sessions.source",
                                          "sessions.started_at", "messages.session_id",
                                          "messages.role",       "messages.content",
                                          "messages.timestamp" };
    Str name;

    while (str_split(&missing, ',', &name))
        for (size_t i = 0; i < ARRAY_LEN(needed); i++)
            if (str_eqz(str_trim(name), needed[i]))
                return true;
    return false;
}

static void say_columns(Doctor *d, const Patient *p)
{
    const DbReport *r = &p->report;

    if (lacks_what_is_needed(r->missing))
        doctor_say(d, FINDING_PROBLEM, p->name, "this is not a session database, or a broken one",
                   "needed columns are missing: %.*s",
                   STR_FMT(str_head(r->missing, SHOWN_COLUMNS)));
    else if (r->missing.n)
        doctor_say(d, FINDING_NOTE, p->name, "", "an older shape, read with defaults; without %.*s",
                   STR_FMT(str_head(r->missing, SHOWN_COLUMNS)));
    else if (!p->ours && r->version > KNOWN_SCHEMA)
        doctor_say(d, FINDING_NOTE, p->name, "look for a newer talaria",
                   "schema %lld is newer than this program's (%d); all known columns exist",
                   (long long)r->version, KNOWN_SCHEMA);
    else
        doctor_say(d, FINDING_OK, p->name, "", "all known columns exist, and %zu more",
                   count_names(r->unknown));
}

void doctor_schema(Doctor *d)
{
    for (size_t i = 0; i < d->n_patients; i++)
        if (d->patients[i].report.readable &&
            (d->patients[i].report.missing.n || d->patients[i].report.unknown.n))
            say_columns(d, &d->patients[i]);
}

/* -- pages and search indexes -- */

static FindingLevel level_of(Verdict v, bool damage)
{
    switch (v) {
    case VERDICT_BROKEN:
        return damage ? FINDING_PROBLEM : FINDING_WARNING;
    case VERDICT_LOCKED:
        return FINDING_WARNING;
    case VERDICT_SKIPPED:
    case VERDICT_UNKNOWN:
        return FINDING_NOTE;
    default:
        return FINDING_OK;
    }
}

static const char *advice_for_pages(const Patient *p, Verdict v)
{
    if (v == VERDICT_SKIPPED)
        return "run 'talaria doctor --full', preferably while nothing is writing";
    if (v != VERDICT_BROKEN)
        return "";
    if (p->ours && str_ends(p->path, STR("index.db")))
        return "delete it; Talaria builds it again";
    return p->ours ? "restore it from a backup"
                   : "stop the programs that write it, keep a copy of all its files, then let "
                     "SQLite's .recover save what it holds";
}

/* One line for all that is sound, one for each that is not. */
void doctor_integrity(Doctor *d)
{
    for (size_t i = 0; i < d->n_patients; i++) {
        const Patient *p = &d->patients[i];
        size_t sound = 0;

        for (size_t k = 0; k < p->report.n_tables; k++) {
            const TableCheck *t = &p->report.tables[k];

            sound += t->verdict == VERDICT_OK;
            if (t->verdict != VERDICT_OK)
                doctor_say(d, level_of(t->verdict, true), p->name, advice_for_pages(p, t->verdict),
                           "%.*s: %s%s%.*s", STR_FMT(t->name), verdict_text(t->verdict),
                           t->verdict == VERDICT_BROKEN ? ": " : "",
                           STR_FMT(t->verdict == VERDICT_BROKEN ? t->why : STR("")));
        }
        if (sound && d->patients[i].report.n_tables == 1)
            doctor_say(d, FINDING_OK, p->name, "", "every page is sound");
        else if (sound)
            doctor_say(d, FINDING_OK, p->name, "", "%zu of %zu tables are sound", sound,
                       p->report.n_tables);
    }
}

void doctor_search(Doctor *d)
{
    for (size_t i = 0; i < d->n_patients; i++) {
        const Patient *p = &d->patients[i];

        for (size_t k = 0; k < p->report.n_searches; k++) {
            const TableCheck *t = &p->report.searches[k];
            const char *advice = t->verdict == VERDICT_SKIPPED  ? "talaria doctor --full checks it"
                                 : t->verdict != VERDICT_BROKEN ? ""
                                 : p->ours ? "delete index.db; Talaria builds it again"
                                           : "its own program can rebuild it: INSERT INTO "
                                             "<index>(<index>) VALUES('rebuild')";

            doctor_say(d, level_of(t->verdict, true), p->name, advice, "%.*s: %s%s%.*s",
                       STR_FMT(t->name), verdict_text(t->verdict), t->why.n ? ": " : "",
                       STR_FMT(t->why));
        }
    }
}

/* -- processes -- */

static void say_holder(Doctor *d, const Patient *p, const Holder *h)
{
    bool blocks = !p->report.readable && p->report.trouble.kind == ERR_BUSY;

    if (h->writes)
        doctor_say(d, blocks ? FINDING_WARNING : FINDING_NOTE, p->name,
                   blocks ? "wait for it, or stop it" : "",
                   "%.*s (pid %lld) holds it locked for "
                   "writing",
                   STR_FMT(h->name), (long long)h->pid);
    else
        doctor_say(d, FINDING_NOTE, p->name, "", "%.*s (pid %lld) has it open", STR_FMT(h->name),
                   (long long)h->pid);
}

void doctor_holders(Doctor *d)
{
    for (size_t i = 0; i < d->n_patients; i++) {
        const Patient *p = &d->patients[i];
        size_t open = 0;
        Holders all;

        holders_find(d->arena, p->path, &all);
        for (size_t k = 0; k < all.n; k++)
            if (all.all[k].open) {
                say_holder(d, p, &all.all[k]);
                open++;
            }
        if (!open)
            doctor_say(d, FINDING_OK, p->name, "", "not in use%s",
                       all.hidden ? ", as far as this user can see" : "");
    }
}

void doctor_deleted(Doctor *d)
{
    size_t found = 0;

    for (size_t i = 0; i < d->n_patients; i++) {
        const Patient *p = &d->patients[i];
        Holders all;

        holders_find(d->arena, p->path, &all);
        for (size_t k = 0; k < all.n; k++) {
            const Holder *h = &all.all[k];

            if (!h->deleted && !h->deleted_side)
                continue;
            found++;
            doctor_say(d, FINDING_PROBLEM, p->name,
                       "what it writes is lost when it ends: let it export what it knows, then "
                       "restart it",
                       "%.*s (pid %lld) works on a deleted %s", STR_FMT(h->name), (long long)h->pid,
                       h->deleted ? "database" : "write-ahead log");
        }
    }
    if (!found && d->n_patients)
        doctor_say(d, FINDING_OK, STR(""), "", "no process works on a deleted database or log");
}

/* A rollback journal that no process has open is an unfinished write. */
void doctor_journals(Doctor *d)
{
    for (size_t i = 0; i < d->n_patients; i++) {
        const Patient *p = &d->patients[i];
        bool in_use = false;
        struct stat st;
        Holders all;

        if (stat(str_printf(d->arena, "%.*s-journal", STR_FMT(p->path)).p, &st) != 0 ||
            st.st_size == 0)
            continue;
        holders_find(d->arena, p->path, &all);
        for (size_t k = 0; k < all.n; k++)
            in_use |= all.all[k].open;
        if (in_use)
            doctor_say(d, FINDING_NOTE, p->name, "", "a write is under way");
        else
            doctor_say(d, FINDING_WARNING, p->name,
                       "open it once with its own program; never delete the -journal",
                       "a write was left unfinished (%.*s of journal)",
                       STR_FMT(human_bytes(d->arena, st.st_size)));
    }
}

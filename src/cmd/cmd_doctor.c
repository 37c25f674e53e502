/* talaria doctor: is everything as it should be, and what to do where it is not.
 *
 * It looks and repairs nothing: most of what it looks at belongs to others, and what is ours is
 * made right by the commands that it names. */
#include <stdarg.h>
#include <unistd.h>

#include "base/limits.h"
#include "cmd/commands.h"
#include "cmd/doctor.h"
#include "cmd/table.h"

static const Option options[] = {
    { OPT_FLAG("full", "also check large databases completely; this may delay writers") },
    { 0 },
};

static const Example examples[] = {
    { "talaria doctor", "check the installation" },
    { "talaria doctor --full", "check every page of every database, however long it takes" },
    { "talaria doctor --json", "as JSON" },
    { 0 },
};

static const char *level_name(FindingLevel level)
{
    static const char *const names[] = {
#define X(id, name, mark, style) name,
        FINDING_LEVELS(X)
#undef X
    };
    return names[level];
}

void doctor_say(Doctor *d, FindingLevel level, Str subject, const char *advice, const char *fmt,
                ...)
{
    AUTO_BUF text = BUF(KIB(4));
    Finding f = { d->at, level, subject, STR(""), str_dup(d->arena, str_of(advice)) };
    char *room = buf_room(&text, KIB(2));
    va_list args;

    va_start(args, fmt);
    if (room)
        vsnprintf(room, KIB(2), fmt, args);
    va_end(args);
    f.text = str_dup(d->arena, str_of(room));
    ARENA_PUSH(d->arena, d->findings, d->n, d->cap, f);
}

/* -- the databases -- */

static void add_patient(Doctor *d, Str name, Str folder, Str path, bool ours, bool sessions)
{
    Patient *p = &d->patients[d->n_patients++];
    CheckOptions check = { .sessions = sessions, .whole = ours || d->full };

    *p = (Patient){ .name = name, .path = path, .folder = folder, .ours = ours };
    check_database(d->arena, str_z(d->arena, path), &check, &p->report);
}

/* Ours are looked at also where --home leaves them out. */
static void add_ours(Doctor *d, const char *file, bool sessions)
{
    Str path = str_join_path(d->arena, d->homes->data, str_of(file));

    for (size_t i = 0; i < d->n_patients; i++)
        if (str_eq(d->patients[i].path, path))
            return;
    if (access(str_z(d->arena, path), F_OK) == 0)
        add_patient(d, str_of(file), d->homes->data, path, true, sessions);
}

static void look_at_databases(Doctor *d)
{
    d->patients = ARENA_ARRAY(d->arena, Patient, d->homes->n + 2);
    for (size_t i = 0; i < d->homes->n; i++) {
        const Home *h = &d->homes->all[i];

        if (h->present)
            add_patient(d, h->name, h->path, h->database, h->kind == HOME_OURS, true);
    }
    add_ours(d, "talaria.db", true);
    add_ours(d, "index.db", false);
}

/* -- telling -- */

static size_t count(const Doctor *d, FindingLevel level)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += d->findings[i].level == level;
    return n;
}

static void print_finding(Cli *cli, const Finding *f)
{
    static const struct {
        const char *mark;
        Style style;
    } looks[] = {
#define X(id, name, mark, style) { mark, style },
        FINDING_LEVELS(X)
#undef X
    };

    say(cli, "  %s%s%s ", style(cli, looks[f->level].style), looks[f->level].mark,
        style(cli, STYLE_OFF));
    if (f->level >= FINDING_WARNING)
        say(cli, "%s: ", level_name(f->level));
    if (f->subject.n) {
        say_text(cli, f->subject, false);
        say(cli, ": ");
    }
    say_text(cli, f->text, false);
    say(cli, "\n");
    if (f->advice.n) {
        say(cli, "      %s→ ", style(cli, STYLE_DIM));
        say_text(cli, f->advice, false);
        say(cli, "%s\n", style(cli, STYLE_OFF));
    }
}

static void print_all(Cli *cli, const Doctor *d)
{
    static const struct {
        const char *id, *title;
    } sections[] = {
#define X(name, title) { #name, title },
        DOCTOR_CHECKS(X)
#undef X
    };
    size_t warnings = count(d, FINDING_WARNING), problems = count(d, FINDING_PROBLEM);

    for (size_t s = 0; s < ARRAY_LEN(sections); s++) {
        bool begun = false;

        for (size_t i = 0; i < d->n; i++) {
            if (strcmp(d->findings[i].id, sections[s].id) != 0)
                continue;
            if (!begun)
                say(cli, "%s%s%s\n", style(cli, STYLE_BOLD), sections[s].title,
                    style(cli, STYLE_OFF));
            begun = true;
            print_finding(cli, &d->findings[i]);
        }
    }
    if (!problems && !warnings)
        say(cli, "\nAll is well\n");
    else
        say(cli, "\n%zu problem%s, %zu warning%s\n", problems, problems == 1 ? "" : "s", warnings,
            warnings == 1 ? "" : "s");
}

/* In a pipe: one finding a line. */
static void list_all(Cli *cli, const Doctor *d)
{
    static const TableColumn columns[] = {
        { .title = "CHECK" }, { .title = "STATUS" }, { .title = "SUBJECT" },
        { .title = "TEXT" },  { .title = "ADVICE" },
    };
    AUTO(Table) *t = table_begin(cli, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < d->n; i++) {
        const Finding *f = &d->findings[i];

        table_cell(t, str_of(f->id));
        table_cell(t, str_of(level_name(f->level)));
        table_cell(t, f->subject);
        table_cell(t, f->text);
        table_cell(t, f->advice);
    }
    table_end(t);
}

static void put_all(Cli *cli, const Doctor *d)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_begin(&w, "checks", '[');
    for (size_t i = 0; i < d->n; i++) {
        const Finding *f = &d->findings[i];

        json_begin(&w, '{');
        json_field_str(&w, "id", str_of(f->id));
        json_field_str(&w, "status", str_of(level_name(f->level)));
        json_field_str(&w, "subject", f->subject);
        json_field_str(&w, "text", f->text);
        json_field_str(&w, "advice", f->advice.n ? f->advice : STR_NONE);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_field_int(&w, "problems", (int64_t)count(d, FINDING_PROBLEM));
    json_field_int(&w, "warnings", (int64_t)count(d, FINDING_WARNING));
    cli_json_end(cli, &w);
}

/* -- running -- */

static bool run_doctor(Cli *cli, const Args *args, Err *err)
{
    static const struct {
        const char *id;
        void (*run)(Doctor *d);
    } checks[] = {
#define X(name, title) { #name, doctor_##name },
        DOCTOR_CHECKS(X)
#undef X
    };
    Doctor d = { .cli = cli, .arena = cli->arena, .full = args_flag(args, "full") };
    Settings ignored;

    d.config_wrong = !settings_load(cli->arena, &ignored, &d.config_error);
    if (!cli_homes(cli, &d.homes, err))
        return false;
    store_facts(cli->arena, d.homes, &d.facts, &d.n_facts);
    look_at_databases(&d);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        d.at = checks[i].id;
        checks[i].run(&d);
    }
    if (cli->json)
        put_all(cli, &d);
    else if (cli_on_terminal(cli))
        print_all(cli, &d);
    else
        list_all(cli, &d);
    if (!count(&d, FINDING_PROBLEM))
        return true;
    cli->told = true;
    return err_set(err, ERR_INVALID, "there are problems");
}

const Command cmd_doctor = {
    .name = "doctor",
    .summary = "check the installation and suggest fixes",
    .details =
        "Checks versions, settings, history folders, databases and search indexes, which processes "
        "use them, deleted files that are still in use, permissions and disk space. Changes "
        "nothing: databases are opened read-only, for short reads. Large databases are checked "
        "completely only with --full. Exits with 1 if there is a problem.",
    .options = options,
    .examples = examples,
    .any_settings = true,
    .run = run_doctor,
};

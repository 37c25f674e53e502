/* talaria sessions import: what was exported elsewhere, and transcripts from another machine. */
#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd_sessions.h"
#include "recall/import.h"
#include "text/human.h"

const Option sessions_import_options[] = {
    { OPT_FLAG("dry-run", "print what would be done, change nothing"), .letter = 'n' },
    { OPT_FLAG("replace", "overwrite sessions that differ") },
    { 0 },
};

const Example sessions_import_examples[] = {
    { "talaria sessions import history.jsonl", "import an export from another machine" },
    { "talaria sessions import --dry-run *.jsonl", "show what would be imported" },
    { "ssh host talaria sessions export --all --raw | talaria sessions import -",
      "import everything from another machine" },
    { 0 },
};

enum { WARNINGS = 20 };

/* A reason that was named once, and how often it came again. */
typedef struct Reason {
    Str text, shape; /* shape: without its digits, so that line 3 and line 4 are alike */
    uint64_t more;
} Reason;

typedef struct Telling {
    Arena *arena;
    const char *file;
    uint64_t done, unnamed;
    Reason reasons[WARNINGS];
    size_t n;
} Telling;

/* Every line of a file of another kind is broken in the same way: that is said once. */
static void warn(Telling *t, Str text, Str shape)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_eq(t->reasons[i].shape, shape)) {
            t->reasons[i].more++;
            return;
        }
    if (t->n == WARNINGS) {
        t->unnamed++;
        return;
    }
    t->reasons[t->n++] =
        (Reason){ .text = str_dup(t->arena, text), .shape = str_dup(t->arena, shape) };
    log_warning("%s: %.*s", t->file, STR_FMT(text));
}

static void tell(void *ctx, ImportOutcome outcome, Str id, const char *why)
{
    AUTO_BUF text = BUF(KIB(8)), shape = BUF(KIB(8));
    Telling *t = ctx;

    progress_show("importing sessions", ++t->done, 0);
    if (outcome != IMPORT_BROKEN && outcome != IMPORT_CONFLICT)
        return;
    if (outcome == IMPORT_CONFLICT)
        buf_addf(&text, "session '%.*s' %s; %s", STR_FMT(id), import_outcome_text(outcome), why);
    else if (id.n)
        buf_addf(&text, "session '%.*s': %s", STR_FMT(id), why);
    else
        buf_addz(&text, why);
    for (size_t i = 0; i < text.n; i++)
        if (id.n || text.p[i] < '0' || text.p[i] > '9')
            buf_addc(&shape, text.p[i]);
    warn(t, buf_str(&text), buf_str(&shape));
}

static void end_file(Telling *t)
{
    progress_end();
    for (size_t i = 0; i < t->n; i++)
        if (t->reasons[i].more)
            log_warning("%s: %llu more like '%.*s'", t->file,
                        (unsigned long long)t->reasons[i].more, STR_FMT(t->reasons[i].text));
    if (t->unnamed)
        log_note("%s: %llu more are not named here", t->file, (unsigned long long)t->unnamed);
    t->n = 0;
    t->unnamed = 0;
}

static void report(Cli *cli, const ImportReport *r, bool dry_run)
{
    int64_t taken = r->sessions[IMPORT_ADDED] + r->sessions[IMPORT_REPLACED];
    JsonWriter w;

    if (!cli->json) {
        say(cli, "%s %.*s with %.*s", dry_run ? "Would import" : "Imported",
            STR_FMT(human_n(cli->arena, taken, "session")),
            STR_FMT(human_n(cli->arena, r->messages, "message")));
        for (size_t i = IMPORT_REPLACED; i < IMPORT_OUTCOME_COUNT; i++)
            if (r->sessions[i])
                say(cli, ", %lld %s", (long long)r->sessions[i],
                    import_outcome_name((ImportOutcome)i));
        say(cli, "\n");
        return;
    }
    w = cli_json_begin(cli);
    json_field_bool(&w, "dry_run", dry_run);
    for (size_t i = 0; i < IMPORT_OUTCOME_COUNT; i++)
        json_field_int(&w, import_outcome_name((ImportOutcome)i), r->sessions[i]);
    json_field_int(&w, "messages", r->messages);
    json_field_int(&w, "lines", r->lines);
    cli_json_end(cli, &w);
}

/* What could not be taken was said already; the exit code says it again. */
static bool verdict(Cli *cli, const ImportReport *r, Err *err)
{
    if (r->sessions[IMPORT_BROKEN])
        (void)err_set(err, ERR_INVALID, "some of it is broken");
    else if (r->sessions[IMPORT_CONFLICT])
        (void)err_set(err, ERR_CONFLICT, "some sessions differ from existing ones");
    else
        return true;
    cli->told = true;
    return false;
}

bool sessions_import(Cli *cli, const Args *args, Err *err)
{
    Telling telling = { .arena = cli->arena };
    ImportOptions options = { .dry_run = args_flag(args, "dry-run"),
                              .replace = args_flag(args, "replace"),
                              .tell = tell,
                              .ctx = &telling };
    AUTO(History) *h = sessions_history(cli, err);
    AUTO(Import) *im = NULL;
    const Homes *homes;

    if (!h || !cli_homes(cli, &homes, err))
        return false;
    im = import_open(h, homes, &options, err);
    if (!im)
        return false;
    for (size_t i = 0; i < args_count(args); i++) {
        telling.file = args_operand(args, i).p;
        if (!import_file(im, telling.file, err))
            return false;
        end_file(&telling);
    }
    report(cli, import_report(im), options.dry_run);
    return verdict(cli, import_report(im), err);
}

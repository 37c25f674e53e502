/* talaria sessions import: what was exported elsewhere, and transcripts from another machine. */
#include "base/log.h"
#include "cmd/cmd_sessions.h"
#include "recall/import.h"

const Option sessions_import_options[] = {
    { .kind = OPTION_FLAG,
      .name = "dry-run",
      .letter = 'n',
      .help = "print what would be done, change nothing" },
    { .kind = OPTION_FLAG, .name = "replace", .help = "overwrite sessions that differ" },
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

typedef struct Telling {
    const char *file;
    uint64_t done, warned;
} Telling;

/* What is added is counted; what is not is said one by one, but not for every line of some other file. */
static void tell(void *ctx, ImportOutcome outcome, Str id, const char *why)
{
    Telling *t = ctx;

    progress_show("importing sessions", ++t->done, 0);
    if (outcome != IMPORT_BROKEN && outcome != IMPORT_CONFLICT)
        return;
    if (++t->warned > WARNINGS)
        return;
    if (outcome == IMPORT_BROKEN && id.n)
        log_warning("%s: session '%.*s': %s", t->file, STR_FMT(id), why);
    else if (outcome == IMPORT_BROKEN)
        log_warning("%s: %s", t->file, why);
    else
        log_warning("%s: session '%.*s' %s; %s", t->file, STR_FMT(id), import_outcome_text(outcome),
                    why);
}

static void report(Cli *cli, const ImportReport *r, bool dry_run)
{
    int64_t taken = r->sessions[IMPORT_ADDED] + r->sessions[IMPORT_REPLACED];
    JsonWriter w;

    if (!cli->json) {
        say(cli, "%s %lld session%s with %lld messages", dry_run ? "Would import" : "Imported",
            (long long)taken, taken == 1 ? "" : "s", (long long)r->messages);
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
    Telling telling = { 0 };
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
    }
    progress_end();
    if (telling.warned > WARNINGS)
        log_note("%llu more are not named here", (unsigned long long)(telling.warned - WARNINGS));
    report(cli, import_report(im), options.dry_run);
    return verdict(cli, import_report(im), err);
}

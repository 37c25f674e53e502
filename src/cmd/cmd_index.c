/* talaria index: brings the catalogue and the search index up to date. */
#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/commands.h"
#include "cmd/searching.h"
#include "text/human.h"

/* -- what is searched -- */

bool searching_open(Cli *cli, Searching *ret, Err *err)
{
    CatalogueQuery query = { .hermes = cli->where.home != NULL };

    if (!cli_homes(cli, &ret->homes, err) ||
        !transcript_roots(cli->arena, NULL, NULL, &query.roots, err))
        return false;
    query.homes = ret->homes;
    ret->catalogue = catalogue_open(&query, err);
    if (!ret->catalogue)
        return false;
    ret->index = recall_index_open(catalogue_db(ret->catalogue), err);
    ret->recall = ret->index ? recall_open(catalogue_db(ret->catalogue), err) : NULL;
    return ret->recall != NULL;
}

void searching_close(Searching *s)
{
    s->recall = recall_close(s->recall);
    s->index = recall_index_close(s->index);
    s->catalogue = catalogue_close(s->catalogue);
}

/* -- the command -- */

static const Option options[] = {
    { OPT_FLAG("rebuild", "delete the index and build it again") },
    { 0 },
};

typedef struct Progress {
    const UpdateStats *stats;
    uint64_t done;
    bool stopped;
} Progress;

static bool stop(void *ctx)
{
    Progress *p = ctx;

    progress_show("indexing sessions", p->done++, (uint64_t)p->stats->due);
    p->stopped = p->stopped || signals_stop_came();
    return p->stopped;
}

static void print_json(Cli *cli, const UpdateStats *stats, const RecallSize *size, double cpu)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_int(&w, "read", stats->read);
    json_field_int(&w, "bytes_read", stats->bytes);
    json_field_int(&w, "broken_lines", stats->broken);
    json_field_int(&w, "gone", stats->gone);
    json_field_bool(&w, "busy", stats->busy);
    json_field_int(&w, "sessions", size->sessions);
    json_field_int(&w, "messages", size->documents);
    json_field_int(&w, "text_bytes", size->text_bytes);
    json_field_int(&w, "index_bytes", size->index_bytes);
    json_field_double(&w, "cpu_seconds", cpu);
    cli_json_end(cli, &w);
}

static void print_text(Cli *cli, const UpdateStats *stats, const RecallSize *size, double cpu)
{
    Arena *a = cli->arena;

    if (stats->busy)
        say(cli, "Another process is bringing the index up to date\n");
    else if (stats->read && !stats->bytes)
        say(cli, "Read %.*s of databases in %.2f s of CPU\n",
            STR_FMT(human_n(a, stats->read, "session")), cpu);
    else if (stats->read || stats->gone)
        say(cli, "Read %.*s of %.*s in %.2f s of CPU\n", STR_FMT(human_bytes(a, stats->bytes)),
            STR_FMT(human_n(a, stats->read, "session")), cpu);
    else
        say(cli, "Nothing new\n");
    say(cli, "  sessions  %.*s\n  messages  %.*s\n  text      %.*s\n  index     %.*s\n",
        STR_FMT(human_count(a, size->sessions)), STR_FMT(human_count(a, size->documents)),
        STR_FMT(human_bytes(a, size->text_bytes)), STR_FMT(human_bytes(a, size->index_bytes)));
}

static bool run(Cli *cli, const Args *args, Err *err)
{
    AUTO_SEARCHING s = { 0 };
    int64_t start = clock_cpu_ns();
    UpdateStats stats = { 0 };
    Progress progress = { .stats = &stats };
    RecallSize size;
    double cpu;
    bool ok;

    /* Searches use an index in memory where the data folder cannot be written; here that would be
     * for nothing. */
    if (!searching_open(cli, &s, err) || catalogue_is_private(s.catalogue, err))
        return false;
    if (args_flag(args, "rebuild") &&
        (!catalogue_clear(s.catalogue, err) || !recall_index_clear(s.index, err)))
        return false;
    signals_catch(SIGNALS_STOP | SIGNALS_ONCE, -1);
    ok = recall_update(s.index, s.catalogue, s.homes, stop, &progress, &stats, err);
    progress_end();
    if (!ok && err->kind == ERR_INTERRUPTED)
        (void)err_wrap(err, "interrupted; what was indexed is kept, and the next run resumes");
    if (!ok || !recall_index_size(catalogue_db(s.catalogue), &size, err))
        return false;
    cpu = (double)(clock_cpu_ns() - start) / 1e9;
    if (cli->json)
        print_json(cli, &stats, &size, cpu);
    else
        print_text(cli, &stats, &size, cpu);
    return true;
}

static const Example examples[] = {
    { "talaria index", "index new messages" },
    { "talaria index --rebuild", "build the index again from scratch" },
    { "talaria index --json", "print sizes and times as JSON" },
    { 0 },
};

const Command cmd_index = {
    .name = "index",
    .summary = "update the search index",
    .details = "Searches update the index themselves if there is little to read. The first time "
               "may take longer: this command shows its progress and can be interrupted; the next "
               "run resumes. The index is stored in index.db in the data folder. It contains no "
               "text and can be deleted at any time.",
    .options = options,
    .examples = examples,
    .acts = true,
    .run = run
};

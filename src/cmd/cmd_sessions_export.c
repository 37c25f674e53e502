/* talaria sessions export: to standard output, or to a file that is there whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd_sessions.h"
#include "recall/export.h"
#include "text/human.h"

const Option sessions_export_options[] = {
    { OPT_FLAG("all", "every session, archived ones and sub-agent runs included") },
    { OPT_CHOICE("format", "F", "JSON lines (lossless), Hermes' own export, or Markdown"),
      .fallback = "jsonl", .choices = "jsonl|hermes|md" },
    { OPT_TEXT("output", "FILE", "write to this file (mode 0600) instead of standard output"),
      .letter = 'o' },
    { OPT_FLAG("force", "overwrite an existing FILE") },
    { OPT_FLAG("raw", "do not redact secrets") },
    SESSIONS_FILTERS,
    { 0 },
};

const Example sessions_export_examples[] = {
    { "talaria sessions export 20261115_2030 --format md", "a readable transcript" },
    { "talaria sessions export --all --raw --output history.jsonl", "a complete backup" },
    { "talaria sessions export --source claude --since 2026-11-01 -o november.jsonl",
      "recent Claude Code sessions, to import elsewhere" },
    { 0 },
};

/* -- the file -- */

typedef struct Target {
    const char *path; /* NULL: standard output */
    char *part;       /* what is written until it is whole */
    int fd, failure;
    Buf out;
} Target;

static bool to_file(void *ctx, const char *p, size_t n)
{
    Target *t = ctx;

    while (n) {
        ssize_t put = write(t->fd, p, n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            t->failure = errno;
            return false;
        }
        p += put;
        n -= (size_t)put;
    }
    return true;
}

static bool target_open(Target *t, Arena *a, bool force, Err *err)
{
    struct stat st;

    t->fd = -1;
    if (!t->path)
        return true;
    /* What is put in the place of a device would take its name from every other program. */
    if (stat(t->path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID,
                       "'%s' is not a file; without --output the export goes to "
                       "standard output",
                       t->path);
    if (!force && access(t->path, F_OK) == 0)
        return err_set(err, ERR_CONFLICT, "'%s' exists already; --force overwrites it", t->path);
    t->part = str_z(a, str_printf(a, "%s.part-%ld", t->path, (long)getpid()));
    t->fd = open(t->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (t->fd < 0)
        return err_errno(err, "cannot write '%s'", t->path);
    t->out = (Buf){ .max = LIMIT_OUTPUT_BYTES, .sink = to_file, .sink_ctx = t };
    return true;
}

/* renameat2 so that a file which came meanwhile is not replaced; where the file system cannot do
 * that, a link fails the same way. */
static bool put_in_place(const Target *t, bool force)
{
    if (force)
        return rename(t->part, t->path) == 0;
    if (renameat2(AT_FDCWD, t->part, AT_FDCWD, t->path, RENAME_NOREPLACE) == 0)
        return true;
    return errno == EINVAL && link(t->part, t->path) == 0 && unlink(t->part) == 0;
}

static bool target_close(Target *t, bool ok, bool force, Err *err)
{
    if (!t->path || t->fd < 0)
        return ok;
    buf_flush(&t->out);
    if (t->failure) {
        errno = t->failure;
        ok = err_errno(err, "cannot write '%s'", t->path);
    }
    if (ok && (fsync(t->fd) != 0 || !put_in_place(t, force)))
        ok = err_errno(err, "cannot write '%s'", t->path);
    close(t->fd);
    if (!ok)
        (void)unlink(t->part);
    buf_done(&t->out);
    return ok;
}

/* -- which -- */

typedef struct Wish {
    ExportOptions options;
    Buf *out;
    uint64_t done;
} Wish;

static bool export_one(History *h, const HistoryItem *item, Wish *request, Err *err)
{
    if (request->done && request->options.format == EXPORT_MARKDOWN)
        buf_addz(request->out, "\n---\n\n");
    progress_show("exporting sessions", request->done++, 0);
    return export_session(h, item, &request->options, request->out, err);
}

static bool export_named(History *h, const Args *args, Wish *request, Err *err)
{
    AUTO(Arena) *a = arena_new();

    for (size_t i = 0; i < args_count(args); i++) {
        HistoryItem item;

        arena_reset(a);
        if (!history_find(h, a, args_operand(args, i), &item, err) ||
            !export_one(h, &item, request, err))
            return false;
    }
    return true;
}

static bool export_matching(History *h, const Args *args, Wish *request, Err *err)
{
    HistoryQuery query = sessions_filters(args);
    AUTO(HistoryList) *list = NULL;
    AUTO(Arena) *a = arena_new();
    bool more = false;

    if (args_flag(args, "all"))
        query.archived = query.side_chains = true;
    list = history_list(h, &query, err);
    while (list) {
        HistoryItem item;

        arena_reset(a);
        if (!history_next(list, a, &item, &more, err))
            return false;
        if (!more)
            return true;
        if (!export_one(h, &item, request, err))
            return false;
    }
    return false;
}

static bool check_selection(const Args *args, Err *err)
{
    static const char *const filters[] = { "source", "project", "model", "tool", "since", "until" };
    bool all = args_flag(args, "all");

    for (size_t i = 0; i < ARRAY_LEN(filters); i++)
        all |= args_given(args, filters[i]);
    if (!args_count(args) && !all)
        return err_set(err, ERR_USAGE, "which sessions? Give ids, --all, or a filter as --since");
    if (args_count(args) && all)
        return err_set(err, ERR_USAGE, "ids go with neither --all nor filters");
    if (args_flag(args, "force") && !args_given(args, "output"))
        return err_set(err, ERR_USAGE, "--force goes with --output");
    return true;
}

/* --json says what was done; the sessions themselves then go to --output. */
static void report(Cli *cli, const Target *target, uint64_t sessions, bool raw)
{
    JsonWriter w;

    if (!cli->json) {
        if (target->path)
            log_note("%llu session%s in '%s'%s", (unsigned long long)sessions,
                     sessions == 1 ? "" : "s", target->path, raw ? ", secrets and all" : "");
        else if (sessions == 0)
            log_note("no session is like that");
        return;
    }
    w = cli_json_begin(cli);
    json_field_int(&w, "sessions", (int64_t)sessions);
    json_field_str(&w, "output", str_of(target->path));
    json_field_bool(&w, "raw", raw);
    cli_json_end(cli, &w);
}

bool sessions_export(Cli *cli, const Args *args, Err *err)
{
    Target target = { .path = args_z(args, "output") };
    Wish request = { .options = { .raw = args_flag(args, "raw") } };
    AUTO(History) *h = NULL;
    bool force = args_flag(args, "force"), ok;

    if (!check_selection(args, err))
        return false;
    if (cli->json && !target.path)
        return err_set(err, ERR_USAGE,
                       "--json goes with --output: the export itself is the output");
    if (!export_format_parse(args_text(args, "format"), &request.options.format))
        return err_set(err, ERR_USAGE, "--format must be jsonl or md");
    h = sessions_history(cli, err);
    if (!h || !target_open(&target, cli->arena, force, err))
        return false;
    request.out = target.path ? &target.out : cli->out;
    ok = args_count(args) ? export_named(h, args, &request, err)
                          : export_matching(h, args, &request, err);
    if (!target.path && buf_full(request.out))
        return true; /* the frame says why nothing more could be written */
    if (!target_close(&target, ok, force, err))
        return false;
    progress_end();
    sessions_tell_partial(h);
    report(cli, &target, request.done, request.options.raw);
    return true;
}

/* talaria sessions rename, archive and delete: for sessions that Talaria keeps itself. */
#include <unistd.h>

#include "agent/manage.h"
#include "base/limits.h"
#include "cmd/cmd_sessions.h"
#include "text/utf8.h"

/* -- what they share -- */

typedef struct Managing {
    const Homes *homes;
    History *history;
    Runs *runs;
} Managing;

static void managing_close(Managing *m)
{
    history_close(m->history);
    runs_close(m->runs);
}
#define AUTO_MANAGING __attribute__((cleanup(managing_close))) Managing

static bool find_own(Cli *cli, Managing *m, Str id, HistoryItem *ret, Err *err)
{
    if (!m->history)
        m->history = sessions_history(cli, err);
    return m->history && cli_homes(cli, &m->homes, err) &&
           history_find(m->history, cli->arena, id, ret, err) &&
           manage_check_own(m->homes, ret, err);
}

/* Only once it is known that there is something to write. */
static bool open_runs(Managing *m, Err *err)
{
    m->runs = runs_open(m->homes->data, err);
    return m->runs != NULL;
}

/* -- rename -- */

const Example sessions_rename_examples[] = {
    { "talaria sessions rename c0ffee12 \"Login test\"", "by the beginning of its id" },
    { "talaria sessions rename c0ffee12 \"\"",
      "remove the title; the first words are shown again" },
    { 0 },
};

bool sessions_rename(Cli *cli, const Args *args, Err *err)
{
    Str title = str_trim(args_operand(args, 1));
    AUTO_MANAGING m = { 0 };
    HistoryItem item;
    JsonWriter w;

    if (!find_own(cli, &m, args_operand(args, 0), &item, err) || !open_runs(&m, err) ||
        !manage_rename(m.runs, m.homes, &item, title, err))
        return false;
    if (cli->json) {
        w = cli_json_begin(cli);
        json_field_str(&w, "id", item.lineage.tip.id);
        json_field_str(&w, "title", title.n ? title : STR_NONE);
        cli_json_end(cli, &w);
        return true;
    }
    say(cli, "Session %.*s is now called '", STR_FMT(item.lineage.tip.id));
    say_text(cli, title.n ? title : STR("(its first words)"), false);
    say(cli, "'\n");
    return true;
}

/* -- archive -- */

const Option sessions_archive_options[] = {
    { OPT_FLAG("undo", "take it out of the archive again") },
    { 0 },
};

const Example sessions_archive_examples[] = {
    { "talaria sessions archive c0ffee12", "keep it, but leave it out of lists" },
    { "talaria sessions archive c0ffee12 --undo", "list it again" },
    { "talaria sessions list --archived", "archived sessions too" },
    { 0 },
};

bool sessions_archive(Cli *cli, const Args *args, Err *err)
{
    bool archived = !args_flag(args, "undo");
    AUTO_MANAGING m = { 0 };
    HistoryItem item;
    JsonWriter w;

    if (!find_own(cli, &m, args_operand(args, 0), &item, err) || !open_runs(&m, err) ||
        !manage_archive(m.runs, m.homes, &item, archived, err))
        return false;
    if (cli->json) {
        w = cli_json_begin(cli);
        json_field_str(&w, "id", item.lineage.tip.id);
        json_field_bool(&w, "archived", archived);
        cli_json_end(cli, &w);
        return true;
    }
    say(cli, "Session %.*s is %s\n", STR_FMT(item.lineage.tip.id),
        archived ? "archived" : "no longer archived");
    return true;
}

/* -- delete -- */

const Option sessions_delete_options[] = {
    { OPT_FLAG("yes", "delete without asking"), .letter = 'y' },
    { 0 },
};

const Example sessions_delete_examples[] = {
    { "talaria sessions delete c0ffee12", "asks, then deletes it with all its messages" },
    { "talaria sessions delete c0ffee12 c1decafe --yes", "two sessions, without asking" },
    { 0 },
};

static bool find_all(Cli *cli, Managing *m, const Args *args, HistoryItem **ret, size_t *ret_n,
                     Err *err)
{
    HistoryItem *all = ARENA_ARRAY(cli->arena, HistoryItem, args_count(args));
    size_t n = 0;

    for (size_t i = 0; i < args_count(args); i++) {
        bool again = false;

        if (!find_own(cli, m, args_operand(args, i), &all[n], err))
            return false;
        for (size_t k = 0; k < n; k++)
            again |= str_eq(all[k].lineage.tip.id, all[n].lineage.tip.id);
        n += !again;
    }
    *ret = all;
    *ret_n = n;
    return true;
}

/* Asked on the terminal itself: standard output stays data. */
static bool confirm(const HistoryItem *all, size_t n, Err *err)
{
    AUTO_BUF text = BUF(MIB(1));
    char answer[8] = "";

    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return err_set(err, ERR_REFUSED, "this deletes %zu session%s for good; add --yes to do it",
                       n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        const Lineage *l = &all[i].lineage;

        buf_addf(&text, "  %.*s  ", STR_FMT(l->tip.id));
        utf8_show(&text, l->title, false);
        buf_addf(&text, " (%lld message%s)\n", (long long)l->messages, l->messages == 1 ? "" : "s");
    }
    fprintf(stderr, "%.*sDelete %zu session%s for good? [y/N] ", STR_FMT(buf_str(&text)), n,
            n == 1 ? "" : "s");
    if (!fgets(answer, sizeof answer, stdin) || (answer[0] | 0x20) != 'y')
        return err_set(err, ERR_REFUSED, "nothing was deleted");
    return true;
}

static void print_deleted(Cli *cli, const HistoryItem *all, size_t n)
{
    JsonWriter w;

    if (!cli->json) {
        for (size_t i = 0; i < n; i++)
            say(cli, "Deleted session %.*s\n", STR_FMT(all[i].lineage.tip.id));
        return;
    }
    w = cli_json_begin(cli);
    json_field_begin(&w, "deleted", '[');
    for (size_t i = 0; i < n; i++)
        json_put_str(&w, all[i].lineage.tip.id);
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

bool sessions_delete(Cli *cli, const Args *args, Err *err)
{
    AUTO_MANAGING m = { 0 };
    HistoryItem *all;
    size_t n, done = 0;
    bool ok;

    if (!find_all(cli, &m, args, &all, &n, err) ||
        (!args_flag(args, "yes") && !confirm(all, n, err)) || !open_runs(&m, err))
        return false;
    for (ok = true; ok && done < n; done += ok)
        ok = manage_delete(m.runs, m.homes, &all[done], err);
    if (ok || done)
        print_deleted(cli, all, done);
    return ok;
}
